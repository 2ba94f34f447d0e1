// Mosaic TPU's operations on the bits of elements: bitcast along the second-minor dimension, packing and unpacking;
// specified in docs/spec/tpu.md. Based on: jax.experimental.pallas.tpu of JAX 0.10.2.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/ops/families.h"
#include "semantics/ops/shape/shape_common.h"
#include "semantics/registry/attrs.h"
#include "semantics/tensor/convert.h"
#include "semantics/tensor/element.h"

namespace palladion {
namespace {

absl::Status VerifyBitcast(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectOperands(context, 1));
  PALLADION_RETURN_IF_ERROR(ExpectKind(context, 0, kNumbers));
  PALLADION_RETURN_IF_ERROR(ExpectResults(op, 1));
  const Type& x = context.in[0];
  PALLADION_ASSIGN_OR_RETURN(const DType to, DTypeAttr(op, "to"));
  if (IsBool(to)) return absl::InvalidArgumentError("bool has no bits to reinterpret; found the attribute to=bool");
  if (x.rank() < 2) return absl::InvalidArgumentError(Cat("the rank must be at least 2; found ", ToString(x)));
  const std::int64_t from_bits = Info(x.dtype).bits;
  const std::int64_t to_bits = Info(to).bits;
  Shape shape = x.shape;
  std::int64_t& rows = shape[shape.size() - 2];
  const bool divides = from_bits % to_bits == 0 || to_bits % from_bits == 0;
  if (!divides || rows * from_bits % to_bits != 0) {
    return absl::InvalidArgumentError(Cat("the second-minor dimension of ", ToString(x), ", ", rows, " rows of ",
                                          from_bits, " bits, cannot be packed into rows of ", to_bits, " bits"));
  }
  rows = rows * from_bits / to_bits;
  return ExpectType(op, 0, ArrayType(to, std::move(shape)));
}

// Rows r·ratio + j of the narrow array are pieces j, lowest first, of row r of the wide one.
struct BitcastParams {
  std::size_t planes, wide_rows, ratio, columns;
  DType from, to;
  int narrow_bits;
};

std::uint64_t ElementBits(const std::byte* data, DType dtype, std::size_t i) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, data + i * StorageBytes(dtype), StorageBytes(dtype));
  return Info(dtype).bits == 64 ? bits : bits & ((std::uint64_t{1} << Info(dtype).bits) - 1);
}

// Signed integers narrower than a byte are stored sign-extended.
void StoreBits(std::byte* data, DType dtype, std::size_t i, std::uint64_t bits) {
  const int width = Info(dtype).bits;
  if (IsSigned(dtype) && width < 8 && (bits >> (width - 1) & 1) != 0) bits |= ~std::uint64_t{0} << width;
  std::memcpy(data + i * StorageBytes(dtype), &bits, StorageBytes(dtype));
}

// Types narrower than a byte, each element in a byte of its own in memory.
void EvalBitcast(const BitcastParams& p, const ValueOperands& operands) {
  const bool narrows = Info(p.from).bits >= Info(p.to).bits;
  for (std::size_t row = 0; row < p.planes * p.wide_rows; ++row) {
    for (std::size_t c = 0; c < p.columns; ++c) {
      std::uint64_t joined = 0;
      for (std::size_t j = 0; j < p.ratio; ++j) {
        const std::size_t wide = row * p.columns + c;
        const std::size_t narrow = (row * p.ratio + j) * p.columns + c;
        const int place = static_cast<int>(j) * p.narrow_bits;
        if (narrows) {
          StoreBits(operands.out[0], p.to, narrow,
                    ElementBits(operands.in[0], p.from, wide) >> place & (~std::uint64_t{0} >> (64 - p.narrow_bits)));
        } else {
          joined |= ElementBits(operands.in[0], p.from, narrow) << place;
          StoreBits(operands.out[0], p.to, wide, joined);
        }
      }
    }
  }
}

absl::StatusOr<ValueKernel> PrepareBitcast(const Instr&, const ValueTypes& types) {
  const Type& x = types.in[0];
  const DType to = types.out[0].dtype;
  const int from_bits = Info(x.dtype).bits, to_bits = Info(to).bits;
  const Shape& wide = from_bits >= to_bits ? x.shape : types.out[0].shape;
  const std::int64_t ratio = std::max(from_bits, to_bits) / std::min(from_bits, to_bits);
  const std::int64_t rows = wide[wide.size() - 2], columns = wide.back();
  std::int64_t planes = 1;
  for (std::size_t d = 0; d + 2 < wide.size(); ++d) planes *= wide[d];
  if (std::min(from_bits, to_bits) < 8) {
    return Bind<EvalBitcast>(BitcastParams{.planes = static_cast<std::size_t>(planes),
                                           .wide_rows = static_cast<std::size_t>(rows),
                                           .ratio = static_cast<std::size_t>(ratio),
                                           .columns = static_cast<std::size_t>(columns),
                                           .from = x.dtype,
                                           .to = to,
                                           .narrow_bits = std::min(from_bits, to_bits)});
  }
  if (ratio == 1) return PrepareSameBytes({}, types);
  const std::int64_t narrow = std::min(from_bits, to_bits) / 8;
  const ElementSize size(narrow);
  const auto bytes = [&](std::int64_t elements) { return ElementCount(elements) * size; };
  std::vector<CopyDim> dims = {{ElementCount(planes * rows), bytes(ratio * columns), bytes(ratio * columns)},
                               {ElementCount(ratio), bytes(1), bytes(columns)},
                               {ElementCount(columns), bytes(ratio), bytes(1)}};
  if (from_bits < to_bits) {
    for (CopyDim& dim : dims) std::swap(dim.source_stride, dim.destination_stride);
  }
  return CopyKernel(dims, size);
}

DType UnsignedOf(DType dtype) {
  switch (Info(dtype).bits) {
    case 2:
      return DType::kU2;
    case 4:
      return DType::kU4;
    case 8:
      return DType::kU8;
    case 16:
      return DType::kU16;
    case 32:
      return DType::kU32;
    default:
      return DType::kU64;
  }
}

// How many elements of `packed` fill one of `word`; InvalidArgument where they do not.
absl::StatusOr<std::int64_t> PackingFactor(DType word, DType packed) {
  const int bits = Info(word).bits;
  if (bits % Info(packed).bits == 0) return bits / Info(packed).bits;
  return absl::InvalidArgumentError(Cat("elements of ", Name(packed), " do not fill one of ", Name(word)));
}

absl::Status VerifyPack(const Instr& op, const VerifyContext& context) {
  if (context.in.empty()) return ExpectOperands(context, 1);
  const Type& first = context.in[0];
  for (std::size_t i = 0; i < context.in.size(); ++i) {
    PALLADION_RETURN_IF_ERROR(ExpectKind(context, i, kNumbers));
    PALLADION_RETURN_IF_ERROR(ExpectSameDType(context, i, 0));
    if (context.in[i].shape != first.shape) {
      return absl::InvalidArgumentError(Cat("operands must have one shape; operand 0 is ", ToString(first),
                                            ", operand ", i, " is ", ToString(context.in[i])));
    }
  }
  PALLADION_ASSIGN_OR_RETURN(const DType to, DTypeAttr(op, "to"));
  const bool is_float = first.dtype == DType::kF32 && to == DType::kBF16;
  if (!is_float && !(IsInteger(first.dtype) && IsInteger(to))) {
    return absl::InvalidArgumentError(
        Cat("f32 is packed to bf16, integers to integers; found ", Name(first.dtype), " to ", Name(to)));
  }
  PALLADION_ASSIGN_OR_RETURN(const std::int64_t factor, PackingFactor(first.dtype, to));
  PALLADION_RETURN_IF_ERROR(ExpectOperands(context, static_cast<std::size_t>(factor)));
  PALLADION_RETURN_IF_ERROR(ExpectResults(op, 1));
  return ExpectType(op, 0, ArrayType(UnsignedOf(first.dtype), first.shape));
}

struct PackParams {
  std::size_t n, sources;
  DType source, packed, out;
};
void EvalPack(const PackParams& p, const ValueOperands& operands) {
  const int width = Info(p.packed).bits;
  const std::uint64_t mask = ~std::uint64_t{0} >> (64 - width);
  for (std::size_t i = 0; i < p.n; ++i) {
    std::uint64_t word = 0;
    for (std::size_t s = 0; s < p.sources; ++s) {
      std::uint64_t field = ElementBits(operands.in[s], p.source, i);
      if (p.source == DType::kF32) {
        field = Element<DType::kBF16>::FromFloat(std::bit_cast<float>(static_cast<std::uint32_t>(field)));
      }
      word |= (field & mask) << (static_cast<int>(s) * width);
    }
    StoreBits(operands.out[0], p.out, i, word);
  }
}

absl::StatusOr<ValueKernel> PreparePack(const Instr& op, const ValueTypes& types) {
  PALLADION_ASSIGN_OR_RETURN(const DType to, DTypeAttr(op, "to"));
  return Bind<EvalPack>(PackParams{.n = Elements(types.out[0]),
                                   .sources = types.in.size(),
                                   .source = types.in[0].dtype,
                                   .packed = to,
                                   .out = types.out[0].dtype});
}

absl::Status VerifyUnpack(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectOperands(context, 1));
  PALLADION_RETURN_IF_ERROR(ExpectKind(context, 0, kNumbers));
  PALLADION_RETURN_IF_ERROR(ExpectResults(op, 1));
  const Type& x = context.in[0];
  PALLADION_ASSIGN_OR_RETURN(const DType packed, DTypeAttr(op, "packed"));
  PALLADION_ASSIGN_OR_RETURN(const DType to, DTypeAttr(op, "to"));
  if (Info(x.dtype).bits != Info(to).bits) {
    return absl::InvalidArgumentError(
        Cat("the operand's elements must have the width of ", Name(to), "; found ", ToString(x)));
  }
  if (IsBool(to) || IsBool(packed) || IsFloat(packed) != IsFloat(to)) {
    return absl::InvalidArgumentError(
        Cat("floats are unpacked to floats, integers to integers; found ", Name(packed), " to ", Name(to)));
  }
  PALLADION_ASSIGN_OR_RETURN(const std::int64_t factor, PackingFactor(to, packed));
  PALLADION_ASSIGN_OR_RETURN(const std::int64_t index, IntAttr(op, "index"));
  PALLADION_RETURN_IF_ERROR(ExpectAxis(index, static_cast<int>(factor), "attribute 'index'"));
  return ExpectType(op, 0, ArrayType(to, x.shape));
}

struct UnpackParams {
  std::size_t n;
  DType word, packed;
  int place;  // of the field, in bits
  ConvertFn convert;
};
void EvalUnpack(const UnpackParams& p, const ValueOperands& operands) {
  const std::uint64_t mask = ~std::uint64_t{0} >> (64 - Info(p.packed).bits);
  for (std::size_t i = 0; i < p.n; ++i) {
    StoreBits(operands.scratch, p.packed, i, ElementBits(operands.in[0], p.word, i) >> p.place & mask);
  }
  p.convert(operands.scratch, operands.out[0], p.n);
}

absl::StatusOr<ValueKernel> PrepareUnpack(const Instr& op, const ValueTypes& types) {
  PALLADION_ASSIGN_OR_RETURN(const DType packed, DTypeAttr(op, "packed"));
  const int place = static_cast<int>(Int(op, "index")) * Info(packed).bits;
  const std::size_t n = Elements(types.out[0]);
  return Bind<EvalUnpack>(UnpackParams{.n = n,
                                       .word = types.in[0].dtype,
                                       .packed = packed,
                                       .place = place,
                                       .convert = FindConvert(packed, types.out[0].dtype)},
                          n * StorageBytes(packed));
}

constexpr OpRow Row(std::string_view name, std::string_view spec, VerifyFn verify, PrepareFn prepare, Flow flow) {
  return {.dialect = "tpu",
          .name = name,
          .spec = spec,
          .verify = verify,
          .prepare = prepare,
          .flow = flow,
          .backends = kTpu};
}

constexpr OpRow kTpuBitOps[] = {
    Row("bitcast", "tpu.md#tpu.bitcast", VerifyBitcast, PrepareBitcast, Flow::kParts),
    Row("pack_elementwise", "tpu.md#tpu.pack_elementwise", VerifyPack, PreparePack, Flow::kElementwise),
    Row("unpack_elementwise", "tpu.md#tpu.unpack_elementwise", VerifyUnpack, PrepareUnpack, Flow::kElementwise),
};

}  // namespace

absl::Span<const OpRow> TpuBitOps() { return kTpuBitOps; }

}  // namespace palladion
