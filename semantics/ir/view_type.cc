#include "semantics/ir/view_type.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "semantics/base/cat.h"
#include "semantics/ir/view_layout.h"

namespace palladion {
namespace {

// Of a slice, from its first element to its last. Nothing that is computed with it overflows.
constexpr std::int64_t kMaxReach = std::int64_t{1} << 40;

// What a chain shows so far.
struct Shown {
  Shape shape;
  DType dtype;
};

absl::Status Invalid(const std::string& message) { return absl::InvalidArgumentError(message); }

std::optional<std::int64_t> StaticInt(const Arg& arg) {
  if (arg.kind != Arg::Kind::kLiteral) return std::nullopt;
  std::int32_t value = 0;  // the parser makes every bare number of an index an i32
  std::memcpy(&value, arg.literal.bytes.data(), sizeof(value));
  return value;
}

absl::Status CheckIndexType(const Kernel& kernel, const Arg& arg, bool scalar, std::size_t axis) {
  if (arg.kind == Arg::Kind::kLiteral && arg.literal.dtype == DType::kI32) return absl::OkStatus();
  const bool typed = arg.kind == Arg::Kind::kValue || arg.kind == Arg::Kind::kDense;
  const Type type = TypeOfArg(kernel, arg);
  if (!typed || !type.is_array() || !IsInteger(type.dtype) || (scalar && type.rank() > 0)) {
    return Invalid(Cat("expected ", scalar ? "an integer scalar" : "an integer or an array of integers", " as index ",
                       axis, " of .at, found ", typed ? ToString(type) : "another kind of argument"));
  }
  return absl::OkStatus();
}

absl::Status BroadcastInto(const Shape& shape, Shape* points) {
  if (shape.size() > points->size()) points->insert(points->begin(), shape.size() - points->size(), 1);
  const std::size_t skip = points->size() - shape.size();
  for (std::size_t i = 0; i < shape.size(); ++i) {
    std::int64_t& dim = (*points)[skip + i];
    if (dim != shape[i] && dim != 1 && shape[i] != 1) {
      return Invalid(
          Cat("expected index arrays that broadcast together, found ", ToString(shape), " and ", ToString(*points)));
    }
    if (dim == 1) dim = shape[i];
  }
  return absl::OkStatus();
}

// A slice may begin before its dimension and pass its end, by a constant as by a computed start: what it touches
// outside is found where it is touched, which code for another case may never do.
absl::StatusOr<std::int64_t> SliceSize(const Kernel& kernel, const Index& index, std::size_t axis) {
  PALLADION_RETURN_IF_ERROR(CheckIndexType(kernel, index.start, /*scalar=*/true, axis));
  const std::optional<std::int64_t> size = StaticInt(index.size);
  if (!size.has_value()) {
    PALLADION_RETURN_IF_ERROR(CheckIndexType(kernel, index.size, /*scalar=*/true, axis));
    if (index.stride == 1) return kDynamicDim;
    return Invalid(Cat("expected stride 1 of a slice whose size is known only at run time, at index ", axis,
                       " of .at, found ", index.stride));
  }
  if (*size < 0 || index.stride < 0) {
    return Invalid(Cat("expected a slice of size and stride 0 or more at index ", axis, " of .at, found ", *size, " : ",
                       index.stride));
  }
  if (*size > 1 && index.stride > kMaxReach / (*size - 1)) {
    return absl::ResourceExhaustedError(Cat("a slice of ", *size, " elements of stride ", index.stride, " at index ",
                                            axis, " of .at reaches further than ", kMaxReach,
                                            " elements (2^40); no array is as long"));
  }
  return *size;
}

absl::Status ApplyAt(const Kernel& kernel, const std::vector<Index>& indices, Shown* shown) {
  if (indices.size() != shown->shape.size()) {
    return Invalid(Cat("expected ", shown->shape.size(), " entries in .at, one for each dimension of ",
                       ToString(shown->shape), ", found ", indices.size(), "; write * for a whole dimension"));
  }
  Shape points, slices;
  int first = -1, last = -1, count = 0;
  for (std::size_t axis = 0; axis < indices.size(); ++axis) {
    const Index& index = indices[axis];
    const std::int64_t dim = shown->shape[axis];
    switch (index.kind) {
      case Index::Kind::kFull:
        slices.push_back(dim);
        break;
      case Index::Kind::kSlice: {
        PALLADION_ASSIGN_OR_RETURN(std::int64_t size, SliceSize(kernel, index, axis));
        slices.push_back(size);
        break;
      }
      case Index::Kind::kRef:
        return absl::UnimplementedError(
            "a ref as an index needs SparseCore: it is a gather or scatter by DMA, which JAX refuses on a TensorCore; "
            "SparseCore is not modelled (docs/reference/sparsecore.md). Copy row by row, with an index that is a "
            "scalar");
      case Index::Kind::kPoint: {
        PALLADION_RETURN_IF_ERROR(CheckIndexType(kernel, index.start, /*scalar=*/false, axis));
        // A constant outside is found where it is reached, as a computed index is: code for another case may hold one.
        PALLADION_RETURN_IF_ERROR(BroadcastInto(TypeOfArg(kernel, index.start).shape, &points));
        if (first < 0) first = static_cast<int>(slices.size());
        last = static_cast<int>(slices.size());
        ++count;
        break;
      }
    }
  }
  // Neighbouring points have the same number of slices before them.
  const std::ptrdiff_t position = count == 0 || first != last ? 0 : first;
  slices.insert(slices.begin() + position, points.begin(), points.end());
  shown->shape = std::move(slices);
  return CheckLimits(shown->shape).status();
}

absl::Status ApplyBitcast(DType to, Shown* shown) {
  const std::int64_t before = Info(shown->dtype).bits;
  const std::int64_t after = Info(to).bits;
  if (before != after) {
    if (shown->shape.size() < 2) {
      return Invalid(
          Cat("expected at least two dimensions for a bitcast to another width, found ", ToString(shown->shape)));
    }
    std::int64_t& rows = shown->shape[shown->shape.size() - 2];
    if (rows < 0 || rows * before % after != 0) {  // rows is at most 2^36
      return Invalid(Cat("expected a second-minor dimension that ", Name(shown->dtype), " fills whole ", Name(to),
                         " with, found ", rows));
    }
    rows = rows * before / after;
  }
  shown->dtype = to;
  return CheckLimits(shown->shape).status();
}

absl::Status ApplyReshape(const Shape& to, Shown* shown) {
  for (const std::int64_t dim : to) {
    if (dim < 0) return Invalid(Cat("expected sizes 0 or more in .reshape, found ", ToString(to)));
  }
  PALLADION_RETURN_IF_ERROR(CheckLimits(to).status());
  if (NumElements(to) != NumElements(shown->shape)) {
    return Invalid(Cat("expected as many elements after .reshape as before, found ", ToString(shown->shape), " to ",
                       ToString(to)));
  }
  shown->shape = to;
  return absl::OkStatus();
}

absl::Status ApplyTranspose(const std::vector<std::int64_t>& perm, Shown* shown) {
  std::vector<std::int64_t> sorted = perm;
  std::sort(sorted.begin(), sorted.end());
  bool ok = perm.size() == shown->shape.size();
  for (std::size_t i = 0; ok && i < sorted.size(); ++i) ok = sorted[i] == static_cast<std::int64_t>(i);
  if (!ok) {
    return Invalid(Cat("expected a permutation of the ", shown->shape.size(), " dimensions in .transpose, found ",
                       ToString(perm)));
  }
  Shape shape;
  for (const std::int64_t p : perm) shape.push_back(shown->shape[static_cast<std::size_t>(p)]);
  shown->shape = std::move(shape);
  return absl::OkStatus();
}

absl::Status CheckClusterIndices(const Kernel& kernel, const std::vector<Index>& indices) {
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const Arg& index = indices[i].start;
    const Type type = TypeOfArg(kernel, index);
    const bool literal = index.kind == Arg::Kind::kLiteral, value = index.kind == Arg::Kind::kValue;
    if (indices[i].kind == Index::Kind::kPoint && (literal || value) && type.is_array() && IsInteger(type.dtype) &&
        type.rank() == 0)
      continue;
    return Invalid(Cat("expected an integer scalar as index ", i, " of .cluster, found ",
                       value ? ToString(type) : "another kind of argument"));
  }
  return absl::OkStatus();
}

absl::Status Apply(const Kernel& kernel, const Transform& transform, Shown* shown) {
  switch (transform.kind) {
    case Transform::Kind::kAt:
      return ApplyAt(kernel, transform.indices, shown);
    case Transform::Kind::kBitcast:
      return ApplyBitcast(transform.dtype, shown);
    case Transform::Kind::kReshape:
      return ApplyReshape(transform.ints, shown);
    case Transform::Kind::kTranspose:
      return ApplyTranspose(transform.ints, shown);
    case Transform::Kind::kCluster:
      PALLADION_RETURN_IF_ERROR(CheckClusterIndices(kernel, transform.indices));
      return ApplyLayout(transform, &shown->shape, &shown->dtype);
    default:
      return ApplyLayout(transform, &shown->shape, &shown->dtype);
  }
}

}  // namespace

absl::StatusOr<std::int64_t> CheckLimits(const Shape& shape) {
  std::int64_t count = 1;
  bool empty = false;
  for (const std::int64_t dim : shape) {
    empty = empty || dim == 0;
    const std::int64_t factor = dim == 0 || dim == kDynamicDim ? 1 : dim;
    if (factor < 0) return Invalid(Cat("expected sizes 0 or more, found ", ToString(shape)));
    if (count > kMaxElements / factor) {
      return absl::ResourceExhaustedError(
          Cat("an array of shape ", ToString(shape), " has more than ", kMaxElements, " elements (2^36)"));
    }
    count *= factor;
  }
  if (shape.size() > static_cast<std::size_t>(kMaxRank)) {
    return absl::ResourceExhaustedError(
        Cat("an array of shape ", ToString(shape), " has more than ", kMaxRank, " dimensions"));
  }
  return empty ? 0 : count;
}

Type TypeOfArg(const Kernel& kernel, const Arg& arg) {
  switch (arg.kind) {
    case Arg::Kind::kValue:
      return kernel.values[arg.value.index()].type;
    case Arg::Kind::kLiteral: {
      Type type;
      type.dtype = arg.literal.dtype;
      type.weak = arg.literal.weak;
      return type;
    }
    case Arg::Kind::kDense: {
      Type type;
      type.dtype = arg.dense->dtype();
      type.shape = arg.dense->shape();
      return type;
    }
    case Arg::Kind::kNone:
    case Arg::Kind::kSelect:
      break;
  }
  return Type{};
}

absl::StatusOr<Type> ViewType(const Kernel& kernel, const Type& ref, absl::Span<const Transform> transforms) {
  Shown shown{ref.shape, ref.dtype};
  for (const Transform& transform : transforms) {
    if (ref.element != ElementKind::kData && transform.kind != Transform::Kind::kAt &&
        !NamesAnotherPlace(transform.kind)) {
      return Invalid(Cat("expected only .at, .cluster, .peer and .multicast on a ref of ", Name(ref.element),
                         ", found .", Name(transform.kind)));
    }
    if (transform.kind == Transform::Kind::kBitcast && !ref.key_impl.empty()) {
      return Invalid("expected a ref of numbers for .bitcast, found a ref of keys; use random_unwrap");
    }
    PALLADION_RETURN_IF_ERROR(Apply(kernel, transform, &shown));
  }
  Type type;
  type.kind = ref.element != ElementKind::kData ? TypeKind::kRef
              : ref.key_impl.empty()            ? TypeKind::kArray
                                                : TypeKind::kKey;
  type.dtype = shown.dtype;
  type.shape = std::move(shown.shape);
  type.key_impl = ref.key_impl;
  if (type.is_ref()) {
    type.element = ref.element;
    type.space = ref.space;
    type.attrs = ref.attrs;
  }
  return type;
}

}  // namespace palladion
