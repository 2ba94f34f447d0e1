// Random numbers as JAX's threefry2x32 keys give them, bit for bit; specified in docs/spec/random.md.
// Based on: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (SC 2011), 20 rounds of Threefry-2x32, and
// JAX 0.10.2 with jax_threefry_partitionable on (its default). A key value is its two u32 words, in a trailing
// dimension. Not here: other implementations of keys (rbg, philox), which are refused, and the TPU's own generator.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/ops/families.h"
#include "semantics/ops/value/elementwise_common.h"
#include "semantics/registry/attrs.h"
#include "semantics/simd/threefry.h"

namespace palladion {
namespace {

constexpr std::string_view kThreefry = "fry";  // JAX's tag of the implementation "threefry2x32"

Type KeyType(Shape shape) {
  Type type = ArrayType(DType::kU32, std::move(shape));
  type.kind = TypeKind::kKey;
  type.key_impl = std::string(kThreefry);
  return type;
}

Shape Concat(const Shape& a, const Shape& b) {
  Shape shape = a;
  shape.insert(shape.end(), b.begin(), b.end());
  return shape;
}

absl::Status ExpectKey(const VerifyContext& context, std::size_t index) {
  const Type& type = context.in[index];
  if (!type.is_key()) {
    return absl::InvalidArgumentError(Cat("operand ", index, " must be a key; found ", ToString(type)));
  }
  if (type.key_impl == kThreefry) return absl::OkStatus();
  return absl::UnimplementedError(
      Cat("keys of the implementation '", type.key_impl, "' are not done yet; use threefry2x32 keys (key<fry>)"));
}

absl::Status ExpectKeyResult(const Instr& op, Shape shape) {
  PALLADION_RETURN_IF_ERROR(ExpectResults(op, 1));
  PALLADION_RETURN_IF_ERROR(ExpectType(op, 0, KeyType(std::move(shape))));
  if (op.types[0].key_impl == kThreefry) return absl::OkStatus();
  return absl::InvalidArgumentError(Cat("the result must be key<fry>; found ", ToString(op.types[0])));
}

absl::Status ExpectThreefryAttr(const Instr& op) {
  PALLADION_ASSIGN_OR_RETURN(const std::string impl, StringAttr(op, "impl"));
  if (impl == kThreefry || impl == "threefry2x32") return absl::OkStatus();
  return absl::UnimplementedError(Cat("keys of the implementation '", impl, "' are not done yet; use threefry2x32"));
}

absl::StatusOr<Shape> ShapeAttr(const Instr& op) {
  PALLADION_ASSIGN_OR_RETURN(Shape shape, IntsAttr(op, "shape"));
  for (std::int64_t d : shape) {
    if (d < 0) return absl::InvalidArgumentError(Cat("attribute 'shape' must not be negative; found ", d));
  }
  return shape;
}

absl::Status VerifySeed(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectOperands(context, 1));
  PALLADION_RETURN_IF_ERROR(ExpectKind(context, 0, kInts));
  PALLADION_RETURN_IF_ERROR(ExpectThreefryAttr(op));
  return ExpectKeyResult(op, context.in[0].shape);
}

absl::Status VerifyWrap(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectOperands(context, 1));
  PALLADION_RETURN_IF_ERROR(ExpectThreefryAttr(op));
  const Type& words = context.in[0];
  if (!words.is_array() || words.dtype != DType::kU32 || words.shape.empty() || words.shape.back() != 2) {
    return absl::InvalidArgumentError(Cat("the words of keys must be u32[...,2]; found ", ToString(words)));
  }
  return ExpectKeyResult(op, Shape(words.shape.begin(), words.shape.end() - 1));
}

absl::Status VerifyUnwrap(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectOperands(context, 1));
  PALLADION_RETURN_IF_ERROR(ExpectKey(context, 0));
  PALLADION_RETURN_IF_ERROR(ExpectResults(op, 1));
  return ExpectType(op, 0, ArrayType(DType::kU32, Concat(context.in[0].shape, {2})));
}

absl::StatusOr<DType> BitsType(const Instr& op) {
  PALLADION_ASSIGN_OR_RETURN(const std::int64_t bits, IntAttr(op, "bits"));
  switch (bits) {
    case 8:
      return DType::kU8;
    case 16:
      return DType::kU16;
    case 32:
      return DType::kU32;
    case 64:
      return DType::kU64;
    default:
      return absl::InvalidArgumentError(Cat("attribute 'bits' must be 8, 16, 32 or 64; found ", bits));
  }
}

absl::Status VerifyBits(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectOperands(context, 1));
  PALLADION_RETURN_IF_ERROR(ExpectKey(context, 0));
  PALLADION_ASSIGN_OR_RETURN(const DType dtype, BitsType(op));
  PALLADION_ASSIGN_OR_RETURN(const Shape shape, ShapeAttr(op));
  PALLADION_RETURN_IF_ERROR(ExpectResults(op, 1));
  return ExpectType(op, 0, ArrayType(dtype, Concat(context.in[0].shape, shape)));
}

absl::Status VerifySplit(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectOperands(context, 1));
  PALLADION_RETURN_IF_ERROR(ExpectKey(context, 0));
  PALLADION_ASSIGN_OR_RETURN(const Shape shape, ShapeAttr(op));
  return ExpectKeyResult(op, Concat(context.in[0].shape, shape));
}

absl::Status VerifyFoldIn(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectOperands(context, 2));
  PALLADION_RETURN_IF_ERROR(ExpectKey(context, 0));
  PALLADION_RETURN_IF_ERROR(ExpectKind(context, 1, kInts));
  PALLADION_ASSIGN_OR_RETURN(Shape shape, BroadcastShape(context));
  return ExpectKeyResult(op, std::move(shape));
}

absl::Status VerifyThreefry(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectOperands(context, 4));
  for (std::size_t i = 0; i < 4; ++i) {
    PALLADION_RETURN_IF_ERROR(ExpectKind(context, i, kInts));
    if (context.in[i].dtype != DType::kU32) {
      return absl::InvalidArgumentError(Cat("operand ", i, " must be u32; found ", ToString(context.in[i])));
    }
  }
  PALLADION_ASSIGN_OR_RETURN(const Shape shape, BroadcastShape(context));
  PALLADION_RETURN_IF_ERROR(ExpectResults(op, 2));
  PALLADION_RETURN_IF_ERROR(ExpectType(op, 0, ArrayType(DType::kU32, shape)));
  return ExpectType(op, 1, ArrayType(DType::kU32, shape));
}

absl::Status VerifyIota2x32(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectOperands(context, 0));
  PALLADION_ASSIGN_OR_RETURN(const Shape shape, ShapeAttr(op));
  PALLADION_RETURN_IF_ERROR(ExpectResults(op, 2));
  PALLADION_RETURN_IF_ERROR(ExpectType(op, 0, ArrayType(DType::kU32, shape)));
  return ExpectType(op, 1, ArrayType(DType::kU32, shape));
}

const std::uint32_t* Words(const std::byte* p) { return reinterpret_cast<const std::uint32_t*>(p); }
std::uint32_t* Words(std::byte* p) { return reinterpret_cast<std::uint32_t*>(p); }

struct CopyParams {
  std::size_t bytes;
};
void EvalCopy(const CopyParams& p, const ValueOperands& operands) {
  if (p.bytes != 0) std::memcpy(operands.out[0], operands.in[0], p.bytes);
}
absl::StatusOr<ValueKernel> PrepareCopy(const Instr&, const ValueTypes& types) {
  return Bind<EvalCopy>(CopyParams{.bytes = Bytes(types.in[0])});
}

// Element i of an integer array, sign- or zero-extended to 64 bits.
std::uint64_t IntegerAt(const std::byte* data, DType dtype, std::size_t i) {
  std::uint64_t value = 0;
  const std::size_t size = StorageBytes(dtype);
  std::memcpy(&value, data + i * size, size);
  const int unused = static_cast<int>(64 - 8 * size);
  value <<= unused;
  return IsSigned(dtype) ? static_cast<std::uint64_t>(static_cast<std::int64_t>(value) >> unused) : value >> unused;
}

struct SeedParams {
  std::size_t n;
  DType dtype;
};
void EvalSeed(const SeedParams& p, const ValueOperands& operands) {
  std::uint32_t* out = Words(operands.out[0]);
  for (std::size_t i = 0; i < p.n; ++i) {
    const std::uint64_t seed = IntegerAt(operands.in[0], p.dtype, i);
    out[2 * i] = Info(p.dtype).bits == 64 ? static_cast<std::uint32_t>(seed >> 32) : 0;
    out[2 * i + 1] = static_cast<std::uint32_t>(seed);
  }
}
absl::StatusOr<ValueKernel> PrepareSeed(const Instr&, const ValueTypes& types) {
  return Bind<EvalSeed>(SeedParams{.n = Elements(types.in[0]), .dtype = types.in[0].dtype});
}

struct FoldInParams {
  std::size_t n;
  DType dtype;
  bool one_key;
  bool one_datum;
};
void EvalFoldIn(const FoldInParams& p, const ValueOperands& operands) {
  const std::uint32_t* keys = Words(operands.in[0]);
  std::uint32_t* out = Words(operands.out[0]);
  for (std::size_t i = 0; i < p.n; ++i) {
    const std::uint32_t* key = keys + (p.one_key ? 0 : 2 * i);
    const auto datum = static_cast<std::uint32_t>(IntegerAt(operands.in[1], p.dtype, p.one_datum ? 0 : i));
    const simd::U32Pair words = simd::Threefry2x32(key[0], key[1], 0, datum);
    out[2 * i] = words.first;
    out[2 * i + 1] = words.second;
  }
}
absl::StatusOr<ValueKernel> PrepareFoldIn(const Instr&, const ValueTypes& types) {
  return Bind<EvalFoldIn>(FoldInParams{.n = Elements(types.out[0]),
                                       .dtype = types.in[1].dtype,
                                       .one_key = IsBroadcast(types, 0),
                                       .one_datum = IsBroadcast(types, 1)});
}

// For each key, `each` draws: draw i hashes the 64-bit counter i.
struct DrawParams {
  std::size_t keys;
  std::size_t each;
  simd::ThreefryFn hash;
};
template <class Draw>
void ForEachDraw(const DrawParams& p, const std::byte* key_words, Draw draw) {
  constexpr std::size_t kStrip = 256;  // draws hashed at a time
  std::uint32_t high[kStrip], low[kStrip], first[kStrip], second[kStrip];
  const std::uint32_t* keys = Words(key_words);
  for (std::size_t k = 0; k < p.keys; ++k) {
    for (std::size_t begin = 0; begin < p.each; begin += kStrip) {
      const std::size_t n = std::min(kStrip, p.each - begin);
      for (std::size_t i = 0; i < n; ++i) {
        const auto count = static_cast<std::uint64_t>(begin + i);
        high[i] = static_cast<std::uint32_t>(count >> 32);
        low[i] = static_cast<std::uint32_t>(count);
      }
      p.hash({{keys + 2 * k, 0}, {keys + 2 * k + 1, 0}, {high, 1}, {low, 1}}, n, first, second);
      for (std::size_t i = 0; i < n; ++i) draw(k * p.each + begin + i, simd::U32Pair(first[i], second[i]));
    }
  }
}
DrawParams DrawsOf(const Instr& op, const ValueTypes& types) {
  return {.keys = Elements(types.in[0]),
          .each = static_cast<std::size_t>(NumElements(Ints(op, "shape"))),
          .hash = simd::FindThreefry(simd::ActiveTarget())};
}

template <class Word>
void EvalBits(const DrawParams& p, const ValueOperands& operands) {
  auto* out = reinterpret_cast<Word*>(operands.out[0]);
  ForEachDraw(p, operands.in[0], [out](std::size_t i, simd::U32Pair words) {
    if constexpr (sizeof(Word) == 8) {
      out[i] = static_cast<Word>(words.first) << 32 | words.second;
    } else {
      out[i] = static_cast<Word>(words.first ^ words.second);
    }
  });
}
absl::StatusOr<ValueKernel> PrepareBits(const Instr& op, const ValueTypes& types) {
  const DrawParams params = DrawsOf(op, types);
  switch (types.out[0].dtype) {
    case DType::kU8:
      return Bind<EvalBits<std::uint8_t>>(params);
    case DType::kU16:
      return Bind<EvalBits<std::uint16_t>>(params);
    case DType::kU32:
      return Bind<EvalBits<std::uint32_t>>(params);
    default:
      return Bind<EvalBits<std::uint64_t>>(params);
  }
}

void EvalSplit(const DrawParams& p, const ValueOperands& operands) {
  std::uint32_t* out = Words(operands.out[0]);
  ForEachDraw(p, operands.in[0], [out](std::size_t i, simd::U32Pair words) {
    out[2 * i] = words.first;
    out[2 * i + 1] = words.second;
  });
}
absl::StatusOr<ValueKernel> PrepareSplit(const Instr& op, const ValueTypes& types) {
  return Bind<EvalSplit>(DrawsOf(op, types));
}

struct ThreefryParams {
  std::size_t n;
  std::size_t step[4];  // 0: one element for all
  simd::ThreefryFn hash;
};
void EvalThreefry(const ThreefryParams& p, const ValueOperands& operands) {
  simd::ThreefryOperand in[4];
  for (std::size_t i = 0; i < 4; ++i) in[i] = {Words(operands.in[i]), p.step[i]};
  p.hash(in, p.n, Words(operands.out[0]), Words(operands.out[1]));
}
absl::StatusOr<ValueKernel> PrepareThreefry(const Instr&, const ValueTypes& types) {
  ThreefryParams params{.n = Elements(types.out[0]), .step = {}, .hash = simd::FindThreefry(simd::ActiveTarget())};
  for (std::size_t i = 0; i < 4; ++i) params.step[i] = IsBroadcast(types, i) ? 0 : 1;
  return Bind<EvalThreefry>(params);
}

struct Iota2x32Params {
  std::size_t n;
};
void EvalIota2x32(const Iota2x32Params& p, const ValueOperands& operands) {
  for (std::size_t i = 0; i < p.n; ++i) {
    Words(operands.out[0])[i] = static_cast<std::uint32_t>(static_cast<std::uint64_t>(i) >> 32);
    Words(operands.out[1])[i] = static_cast<std::uint32_t>(i);
  }
}
absl::StatusOr<ValueKernel> PrepareIota2x32(const Instr&, const ValueTypes& types) {
  return Bind<EvalIota2x32>(Iota2x32Params{.n = Elements(types.out[0])});
}

constexpr OpRow kRandomOps[] = {
    {.name = "random_seed",
     .spec = "random.md#random_seed",
     .verify = VerifySeed,
     .prepare = PrepareSeed,
     .flow = Flow::kElementwise,
     .backends = kTpu},
    {.name = "random_wrap",
     .spec = "random.md#random_wrap",
     .verify = VerifyWrap,
     .prepare = PrepareCopy,
     .flow = Flow::kParts,
     .backends = kTpu},
    {.name = "random_unwrap",
     .spec = "random.md#random_unwrap",
     .verify = VerifyUnwrap,
     .prepare = PrepareCopy,
     .flow = Flow::kParts,
     .backends = kTpu},
    {.name = "random_bits",
     .spec = "random.md#random_bits",
     .verify = VerifyBits,
     .prepare = PrepareBits,
     .flow = Flow::kParts,
     .backends = kTpu},
    {.name = "random_fold_in",
     .spec = "random.md#random_fold_in",
     .verify = VerifyFoldIn,
     .prepare = PrepareFoldIn,
     .flow = Flow::kElementwise,
     .backends = kTpu},
    {.name = "random_split",
     .spec = "random.md#random_split",
     .verify = VerifySplit,
     .prepare = PrepareSplit,
     .flow = Flow::kParts,
     .backends = kNoBackend},
    {.name = "threefry2x32",
     .spec = "random.md#threefry2x32",
     .verify = VerifyThreefry,
     .prepare = PrepareThreefry,
     .flow = Flow::kElementwise,
     .backends = kTpu},
    {.name = "iota_2x32_shape",
     .spec = "random.md#iota_2x32_shape",
     .verify = VerifyIota2x32,
     .prepare = PrepareIota2x32,
     .backends = kTpu},
};

}  // namespace

absl::Span<const OpRow> RandomOps() { return kRandomOps; }

}  // namespace palladion
