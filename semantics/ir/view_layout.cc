#include "semantics/ir/view_layout.h"

#include <algorithm>
#include <cstring>

#include "semantics/base/cat.h"
#include "semantics/ir/tmem_layout.h"
#include "semantics/ir/view_type.h"

namespace palladion {
namespace {

using Kind = Transform::Kind;

absl::Status Invalid(const std::string& message) { return absl::InvalidArgumentError(message); }

absl::Status CheckTile(const Transform& transform) {
  for (const std::int64_t t : transform.ints) {
    if (t < 1) {
      return Invalid(
          Cat("expected sizes 1 or more in .", Name(transform.kind), ", found ", ToString(Shape(transform.ints))));
    }
  }
  return absl::OkStatus();
}

// (..., m/t0, n/t1, t0, t1) -> (..., m, n)
absl::Status ApplyUntile(const Transform& transform, Shape* shape) {
  PALLADION_RETURN_IF_ERROR(CheckTile(transform));
  const Shape& tile = transform.ints;
  const std::size_t tiled = tile.size();
  if (shape->size() < 2 * tiled || !std::equal(tile.begin(), tile.end(), shape->end() - static_cast<long>(tiled))) {
    return Invalid(Cat("expected a ref of at least ", 2 * tiled, " dimensions that end in the tile ", ToString(tile),
                       " for .untile, found ", ToString(*shape)));
  }
  shape->resize(shape->size() - tiled);
  for (std::size_t i = 0; i < tiled; ++i) {
    std::int64_t& dim = (*shape)[shape->size() - tiled + i];
    if (dim > kMaxElements / tile[i]) return CheckLimits({dim, tile[i]}).status();
    dim *= tile[i];
  }
  return absl::OkStatus();
}

// (..., m, n) -> (..., m/t0, n/t1, t0, t1)
absl::Status ApplyTile(const Transform& transform, Shape* shape) {
  PALLADION_RETURN_IF_ERROR(CheckTile(transform));
  const Shape& tile = transform.ints;
  if (shape->size() < tile.size()) {
    return Invalid(Cat("expected a ref of at least ", tile.size(), " dimensions for .tile", ToString(tile), ", found ",
                       ToString(*shape)));
  }
  for (std::size_t i = 0; i < tile.size(); ++i) {
    std::int64_t& dim = (*shape)[shape->size() - tile.size() + i];
    if (dim % tile[i] != 0) {
      return Invalid(Cat("expected dimensions that the tile ", ToString(tile), " divides, found ", ToString(*shape)));
    }
    dim /= tile[i];
  }
  shape->insert(shape->end(), tile.begin(), tile.end());
  return absl::OkStatus();
}

absl::Status CheckSwizzle(const Transform& transform) {
  const std::int64_t bytes = transform.ints[0];
  if (bytes == 16 || bytes == 32 || bytes == 64 || bytes == 128) return absl::OkStatus();
  return Invalid(Cat("expected 16, 32, 64 or 128 bytes in .", Name(transform.kind), ", found ", bytes));
}

// (m, b*n) -> (*b, m, n)
absl::Status ApplyExpandBatch(const Transform& transform, Shape* shape) {
  PALLADION_RETURN_IF_ERROR(CheckTile(transform));
  PALLADION_ASSIGN_OR_RETURN(const std::int64_t batches, CheckLimits(transform.ints));
  if (shape->size() != 2 || (*shape)[1] % batches != 0) {
    return Invalid(Cat("expected two dimensions, the second a multiple of ", batches, ", for .expand_batch",
                       ToString(Shape(transform.ints)), ", found ", ToString(*shape)));
  }
  (*shape)[1] /= batches;
  shape->insert(shape->begin(), transform.ints.begin(), transform.ints.end());
  return absl::OkStatus();
}

// (*b, m, n) -> (m, b*n)
absl::Status ApplyCollapseBatch(Shape* shape) {
  if (shape->size() < 2) {
    return Invalid(Cat("expected at least two dimensions for .collapse_batch, found ", ToString(*shape)));
  }
  std::int64_t columns = shape->back();
  for (std::size_t i = 0; i + 2 < shape->size(); ++i) columns *= (*shape)[i];  // at most the ref's elements
  const std::int64_t rows = (*shape)[shape->size() - 2];
  shape->resize(2);  // g++ 14 takes an assignment of {rows, columns} for one past the end of the list
  (*shape)[0] = rows;
  (*shape)[1] = columns;
  return absl::OkStatus();
}

// A member in tensor memory: whole columns of it.
absl::Status CheckCells(const AliasMember& member, const Shape& shape, DType dtype) {
  if (dtype != DType::kI32 || shape.size() != 2 || shape[0] != kTmemLanes) {
    return Invalid(Cat("expected .alias with a layout on the columns of tensor memory, i32[128,n]; found ", Name(dtype),
                       ToString(shape)));
  }
  PALLADION_ASSIGN_OR_RETURN(const TmemLayout layout, ReadTmemLayout(member.layout, member.shape));
  PALLADION_RETURN_IF_ERROR(CheckTmemShape(layout, ArrayType(member.dtype, member.shape)));
  const int bits = Info(member.dtype).bits;
  if (bits < 8 || bits > kTmemCellBits) {
    return absl::UnimplementedError(Cat("a member of a union in tensor memory has elements of 8, 16 or 32 bits; of ",
                                        Name(member.dtype), " it is not modelled: allocate it by itself"));
  }
  const std::int64_t columns = TmemColumns(layout, member.shape);
  if (member.offset <= shape[1] - columns) return absl::OkStatus();
  return Invalid(Cat("expected a member inside the ", shape[1], " columns of the union, found ", columns,
                     " columns from column ", member.offset));
}

absl::Status CheckBytes(const AliasMember& member, const Shape& shape, DType dtype) {
  if (dtype != DType::kI8 || shape.size() != 1) {
    return Invalid(Cat("expected .alias on a ref of bytes, i8[n]; found ", Name(dtype), ToString(shape)));
  }
  const std::int64_t bytes = BytesOf(member);  // at most 2^39
  if (member.offset <= shape[0] - bytes) return absl::OkStatus();
  return Invalid(Cat("expected a member inside the ", shape[0], " bytes of the union, found ", bytes,
                     " bytes from byte ", member.offset));
}

absl::Status ApplyAlias(const Transform& transform, Shape* shape, DType* dtype) {
  PALLADION_ASSIGN_OR_RETURN(AliasMember member, ParseAlias(transform.attrs));
  PALLADION_RETURN_IF_ERROR(CheckLimits(member.shape).status());
  PALLADION_RETURN_IF_ERROR(member.in_tensor_memory ? CheckCells(member, *shape, *dtype)
                                                    : CheckBytes(member, *shape, *dtype));
  *shape = std::move(member.shape);
  *dtype = member.dtype;
  return absl::OkStatus();
}

absl::Status CheckMulticast(const AttrMap& attrs) {
  const Attr* axes = Find(attrs, "axes");
  const auto* names = axes == nullptr ? nullptr : std::get_if<AttrList>(&axes->value);
  if (names != nullptr && std::all_of(names->begin(), names->end(), [](const Attr& name) {
        return std::holds_alternative<std::string>(name.value);
      })) {
    return absl::OkStatus();
  }
  return Invalid(Cat("expected .multicast{axes=[\"axis\", ...]}, found .multicast", ToString(attrs)));
}

}  // namespace

absl::StatusOr<AliasMember> ParseAlias(const AttrMap& attrs) {
  AliasMember member;
  const Attr* dtype = Find(attrs, "dtype");
  const Attr* shape = Find(attrs, "shape");
  const Attr* offset = Find(attrs, "offset");
  const auto* name = dtype == nullptr ? nullptr : std::get_if<AttrIdent>(&dtype->value);
  const auto* dims = shape == nullptr ? nullptr : std::get_if<AttrList>(&shape->value);
  const auto* start = offset == nullptr ? nullptr : std::get_if<std::int64_t>(&offset->value);
  const std::optional<DType> type = name == nullptr ? std::nullopt : DTypeFromName(name->name);
  bool ok = type.has_value() && dims != nullptr && start != nullptr && *start >= 0;
  for (std::size_t i = 0; ok && i < dims->size(); ++i) {
    const auto* size = std::get_if<std::int64_t>(&(*dims)[i].value);
    ok = size != nullptr && *size >= 0;
    if (ok) member.shape.push_back(*size);
  }
  if (!ok) {
    return Invalid(Cat("expected .alias{dtype=f16, shape=[...], offset=0}, sizes and offset 0 or more, found .alias",
                       ToString(attrs)));
  }
  member.dtype = *type;
  member.offset = *start;
  for (const AttrEntry& entry : attrs) {
    if (entry.first != "dtype" && entry.first != "shape" && entry.first != "offset") member.layout.push_back(entry);
  }
  member.in_tensor_memory = !member.layout.empty();
  return member;
}

std::int64_t BytesOf(const AliasMember& member) {
  const std::int64_t elements = NumElements(member.shape);
  if (!IsPacked(member.dtype)) return elements * static_cast<std::int64_t>(StorageBytes(member.dtype));
  return (elements * Info(member.dtype).bits + 7) / 8;
}

absl::StatusOr<ClusterPlace> ParseCluster(const Transform& transform) {
  const Attr* dims = Find(transform.attrs, "dims");
  const Attr* idxs = Find(transform.attrs, "idxs");
  const auto* names = dims == nullptr ? nullptr : std::get_if<AttrList>(&dims->value);
  const auto* numbers = idxs == nullptr ? nullptr : std::get_if<AttrList>(&idxs->value);
  ClusterPlace place;
  bool ok = names != nullptr && (numbers != nullptr) == transform.indices.empty();
  for (std::size_t i = 0; ok && i < names->size(); ++i) {
    const auto* name = std::get_if<std::string>(&(*names)[i].value);
    ok = name != nullptr;
    if (ok) place.dims.push_back(*name);
  }
  for (std::size_t i = 0; ok && numbers != nullptr && i < numbers->size(); ++i) {
    const auto* number = std::get_if<std::int64_t>(&(*numbers)[i].value);
    ok = number != nullptr;
    if (!ok) break;
    Arg& index = place.indices.emplace_back();
    index.kind = Arg::Kind::kLiteral;
    index.literal.dtype = DType::kI64;
    std::memcpy(index.literal.bytes.data(), number, sizeof(*number));
  }
  for (const Index& index : transform.indices) {
    ok = ok && index.kind == Index::Kind::kPoint;
    place.indices.push_back(index.start);
  }
  if (ok && place.indices.size() == place.dims.size()) return place;
  return Invalid(
      Cat("expected .cluster{dims=[\"axis\", ...], idxs=[0, ...]}, or .cluster{dims=[\"axis\", ...]}[%index, ...] "
          "where one "
          "is computed, as many names as integers, found .cluster",
          ToString(transform.attrs), transform.indices.empty() ? "" : "[...]"));
}

absl::Status ApplyLayout(const Transform& transform, Shape* shape, DType* dtype) {
  switch (transform.kind) {
    case Kind::kUntile:
      PALLADION_RETURN_IF_ERROR(ApplyUntile(transform, shape));
      break;
    case Kind::kTile:
      PALLADION_RETURN_IF_ERROR(ApplyTile(transform, shape));
      break;
    case Kind::kUnswizzle:
    case Kind::kSwizzle:
      return CheckSwizzle(transform);
    case Kind::kExpandBatch:
      PALLADION_RETURN_IF_ERROR(ApplyExpandBatch(transform, shape));
      break;
    case Kind::kCollapseBatch:
      return ApplyCollapseBatch(shape);
    case Kind::kAlias:
      return ApplyAlias(transform, shape, dtype);
    case Kind::kCluster:
      return ParseCluster(transform).status();
    case Kind::kMulticast:
      return CheckMulticast(transform.attrs);
    case Kind::kPeer:
      return absl::OkStatus();
    case Kind::kAt:
    case Kind::kBitcast:
    case Kind::kReshape:
    case Kind::kTranspose:
      return absl::InternalError(Cat("cannot happen: .", Name(transform.kind), " is no layout"));
  }
  return CheckLimits(*shape).status();
}

bool NamesAnotherPlace(Kind kind) { return kind == Kind::kPeer || kind == Kind::kMulticast || kind == Kind::kCluster; }

}  // namespace palladion
