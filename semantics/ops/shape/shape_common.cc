#include "semantics/ops/shape/shape_common.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <set>
#include <utility>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/registry/attrs.h"
#include "semantics/simd/moves.h"

namespace palladion {
namespace {

struct OneCopyParams {
  BoxCopy copy;
};
void EvalOneCopy(const OneCopyParams& p, const ValueOperands& operands) { p.copy(operands.in[0], operands.out[0]); }

struct SameBytesParams {
  std::size_t bytes;
};
void EvalSameBytes(const SameBytesParams& p, const ValueOperands& operands) {
  if (p.bytes != 0) std::memcpy(operands.out[0], operands.in[0], p.bytes);
}

// Drops dimensions of one element and joins neighbours that are contiguous on both sides. No dimension is empty.
std::vector<CopyDim> Simplified(absl::Span<const CopyDim> dims) {
  std::vector<CopyDim> out;
  for (const CopyDim& dim : dims) {
    const std::int64_t count = dim.count.value();
    if (count == 1) continue;
    if (!out.empty() && out.back().source_stride == count * dim.source_stride &&
        out.back().destination_stride == count * dim.destination_stride) {
      out.back() = {count * out.back().count, dim.source_stride, dim.destination_stride};
    } else {
      out.push_back(dim);
    }
  }
  return out;
}

template <class T>
T Load(const std::byte* data, std::size_t index) {
  T value;
  std::memcpy(&value, data + index * sizeof(T), sizeof(T));
  return value;
}

// One element; the sizes are spelled out because a copy of a size that is not known costs a call.
void CopyElement(const std::byte* source, std::byte* destination, ElementSize size) {
  switch (size.value()) {
    case 1:
      *destination = *source;
      return;
    case 2:
      std::memcpy(destination, source, 2);
      return;
    case 4:
      std::memcpy(destination, source, 4);
      return;
    default:
      std::memcpy(destination, source, 8);
      return;
  }
}

void FillRows(const BoxCopy& copy, absl::Span<const CopyDim> dims, const std::byte* source, std::byte* destination) {
  if (dims.empty()) {
    simd::Fill(source, copy.element_size.size(), destination, copy.fill_count.size());
    return;
  }
  const std::int64_t from = dims[0].source_stride.value(), to = dims[0].destination_stride.value();
  for (std::int64_t i = 0; i < dims[0].count.value(); ++i) {
    FillRows(copy, dims.subspan(1), source + i * from, destination + i * to);
  }
}

}  // namespace

ElementSize SizeOfElement(const Type& type) {
  constexpr std::size_t kWordsOfKey = 2;
  return ElementSize(static_cast<std::int64_t>(StorageBytes(type.dtype) * (type.is_key() ? kWordsOfKey : 1)));
}

Type WithShape(const Type& type, Shape shape) {
  Type result = type;
  result.shape = std::move(shape);
  return result;
}

absl::Status ExpectData(const VerifyContext& context, std::size_t index) {
  const Type& type = context.in[index];
  if (type.is_array() || type.is_key()) return absl::OkStatus();
  return absl::InvalidArgumentError(Cat("operand ", index, " must be an array; found ", ToString(type)));
}

absl::Status ExpectOneToOne(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectOperands(context, 1));
  PALLADION_RETURN_IF_ERROR(ExpectData(context, 0));
  return ExpectResults(op, 1);
}

absl::Status ExpectAxes(absl::Span<const std::int64_t> axes, int rank, std::string_view what) {
  std::set<std::int64_t> seen;
  for (std::int64_t axis : axes) {
    PALLADION_RETURN_IF_ERROR(ExpectAxis(axis, rank, what));
    if (!seen.insert(axis).second) {
      return absl::InvalidArgumentError(Cat(what, " must be different; found ", axis, " twice"));
    }
  }
  return absl::OkStatus();
}

absl::Status ExpectSizes(absl::Span<const std::int64_t> sizes, std::string_view what) {
  for (std::int64_t size : sizes) {
    if (size < 0) return absl::InvalidArgumentError(Cat(what, " must not be negative; found ", size));
  }
  return absl::OkStatus();
}

absl::Status ExpectLength(std::size_t found, int rank, std::string_view what) {
  if (found == static_cast<std::size_t>(rank)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      Cat(what, " must have one entry for each of the ", rank, " dimensions; found ", found));
}

absl::Status ExpectPossible(absl::Span<const std::int64_t> shape) {
  if (shape.size() > static_cast<std::size_t>(kMaxRank)) {
    return absl::InvalidArgumentError(Cat("an array has at most ", kMaxRank, " dimensions; found ", shape.size()));
  }
  std::int64_t elements = 1;
  for (std::int64_t size : shape) {
    if (size < 0 || size > kMaxElements / elements) {
      return absl::InvalidArgumentError(Cat("the shape ", ToString(Shape(shape.begin(), shape.end())),
                                            " must have no negative size and at most 2^36 elements"));
    }
    elements *= std::max<std::int64_t>(size, 1);
  }
  return absl::OkStatus();
}

bool Contains(absl::Span<const std::int64_t> axes, std::int64_t axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

std::vector<ByteCount> DenseStrides(const Shape& shape, ElementSize element_size) {
  std::vector<ByteCount> strides;
  for (const std::int64_t stride : ElementStrides(shape)) strides.push_back(ElementCount(stride) * element_size);
  return strides;
}

void BoxCopy::operator()(const std::byte* source, std::byte* destination) const {
  source += source_offset.value();
  destination += destination_offset.value();
  switch (row) {
    case Row::kNothing:
      return;
    case Row::kElement:
      return CopyElement(source, destination, element_size);
    case Row::kFill:
      return FillRows(*this, dims, source, destination);
    case Row::kBox:
      return CopyBox(source, destination, dims, element_size);
  }
}

absl::StatusOr<BoxCopy> MakeBoxCopy(absl::Span<const CopyDim> dims, ElementSize element_size, ByteCount source_offset,
                                    ByteCount destination_offset) {
  BoxCopy copy;
  copy.element_size = element_size;
  copy.source_offset = source_offset;
  copy.destination_offset = destination_offset;
  for (const CopyDim& dim : dims) {
    if (dim.count.value() == 0) return copy;
  }
  copy.row = BoxCopy::Row::kBox;
  copy.dims = Simplified(dims);
  if (copy.dims.size() > static_cast<std::size_t>(kMaxRank)) {
    return absl::UnimplementedError(
        Cat("it moves a box of ", copy.dims.size(), " dimensions; at most ", kMaxRank, " are done"));
  }
  if (copy.dims.empty()) {
    copy.row = BoxCopy::Row::kElement;
    return copy;
  }
  const CopyDim& inner = copy.dims.back();
  if (inner.source_stride.value() == 0 && inner.destination_stride.value() == element_size.value()) {
    copy.row = BoxCopy::Row::kFill;
    copy.fill_count = inner.count;
    copy.dims.pop_back();
  }
  return copy;
}

absl::StatusOr<ValueKernel> CopyKernel(absl::Span<const CopyDim> dims, ElementSize element_size,
                                       ByteCount source_offset) {
  PALLADION_ASSIGN_OR_RETURN(BoxCopy copy, MakeBoxCopy(dims, element_size, source_offset));
  return Bind<EvalOneCopy>(OneCopyParams{std::move(copy)});
}

absl::StatusOr<ValueKernel> GatherStridesKernel(const Shape& shape, absl::Span<const ByteCount> strides,
                                                ElementSize element_size, ByteCount source_offset) {
  const std::vector<ByteCount> dense = DenseStrides(shape, element_size);
  std::vector<CopyDim> dims;
  for (std::size_t d = 0; d < shape.size(); ++d) dims.push_back({ElementCount(shape[d]), strides[d], dense[d]});
  return CopyKernel(dims, element_size, source_offset);
}

absl::StatusOr<ValueKernel> PrepareSameBytes(const Instr&, const ValueTypes& types) {
  return Bind<EvalSameBytes>(SameBytesParams{.bytes = Bytes(types.out[0])});
}

std::int64_t IntegerAt(const std::byte* data, DType dtype, std::size_t index) {
  switch (dtype) {
    case DType::kI32:
      return Load<std::int32_t>(data, index);
    case DType::kI64:
      return Load<std::int64_t>(data, index);
    case DType::kI16:
      return Load<std::int16_t>(data, index);
    case DType::kU32:
      return Load<std::uint32_t>(data, index);
    case DType::kU16:
      return Load<std::uint16_t>(data, index);
    case DType::kU64: {
      constexpr auto kLargest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
      return static_cast<std::int64_t>(std::min(Load<std::uint64_t>(data, index), kLargest));
    }
    default:  // a byte each
      return IsSigned(dtype) ? std::int64_t{Load<std::int8_t>(data, index)}
                             : std::int64_t{Load<std::uint8_t>(data, index)};
  }
}

}  // namespace palladion
