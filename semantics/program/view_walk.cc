#include "semantics/program/view_walk.h"

#include <algorithm>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/ir/tmem_layout.h"

namespace palladion {

WalkSteps::WalkSteps(const RefInfo& info, ViewPlan& plan)
    : plan_(plan), dtype_(info.dtype), places_(info.places_of_byte) {
  for (const int axis : info.kept) shape_.push_back(info.window[static_cast<std::size_t>(axis)]);
  plan_.piece_bytes = StorageBytes(dtype_) * info.words_per_element;
}

absl::Status WalkSteps::Add(const Transform& t) {
  switch (t.kind) {
    case Transform::Kind::kTranspose:
      Transpose(t.ints);
      return absl::OkStatus();
    case Transform::Kind::kReshape:
      Reshape(t.ints);
      return absl::OkStatus();
    case Transform::Kind::kUntile:
      Untile(t.ints);
      return absl::OkStatus();
    case Transform::Kind::kTile:
      Tile(t.ints);
      return absl::OkStatus();
    case Transform::Kind::kExpandBatch:
      ExpandBatch(t.ints);
      return absl::OkStatus();
    case Transform::Kind::kCollapseBatch:
      CollapseBatch();
      return absl::OkStatus();
    case Transform::Kind::kBitcast:
      return Bitcast(t.dtype);
    case Transform::Kind::kAlias:
      return Alias(t);
    case Transform::Kind::kUnswizzle:
    case Transform::Kind::kSwizzle:  // of addresses, not of coordinates: ViewPlan::swizzle_mask
    case Transform::Kind::kCluster:  // ViewPlan::peer
    case Transform::Kind::kPeer:
    case Transform::Kind::kMulticast:
      return absl::OkStatus();
    case Transform::Kind::kAt:
      break;
  }
  return absl::InternalError("cannot happen: .at is planned elsewhere");
}

void WalkSteps::Push(WalkStep step, Shape after) {
  step.before = std::move(shape_);
  shape_ = std::move(after);
  step.after = shape_;
  extents_ = step.extents;
  plan_.walk.push_back(std::move(step));
}

void WalkSteps::Transpose(const std::vector<std::int64_t>& perm) {
  Shape after;
  for (const std::int64_t p : perm) after.push_back(shape_[static_cast<std::size_t>(p)]);
  WalkStep step{.kind = Transform::Kind::kTranspose};
  step.perm = perm;
  if (!extents_.empty()) {
    for (const std::int64_t p : perm) step.extents.push_back(extents_[static_cast<std::size_t>(p)]);
  }
  Push(std::move(step), std::move(after));
}

void WalkSteps::Reshape(const Shape& to) { Push({.kind = Transform::Kind::kReshape}, to); }

// (..., m/t0, n/t1, t0, t1) -> (..., m/t0, t0, n/t1, t1) -> (..., m, n)
void WalkSteps::Untile(const Shape& tile) {
  const std::size_t tiled = tile.size(), leading = shape_.size() - 2 * tiled;
  Shape perm, to(shape_.begin(), shape_.end() - static_cast<std::ptrdiff_t>(tiled));
  for (std::size_t d = 0; d < leading; ++d) perm.push_back(static_cast<std::int64_t>(d));
  for (std::size_t d = leading; d < leading + tiled; ++d) {
    perm.push_back(static_cast<std::int64_t>(d));
    perm.push_back(static_cast<std::int64_t>(d + tiled));
    to[d] *= shape_[d + tiled];
  }
  Transpose(perm);
  Reshape(to);
}

void WalkSteps::Tile(const Shape& tile) {
  const std::size_t tiled = tile.size(), leading = shape_.size() - tiled;
  Shape perm, split(shape_.begin(), shape_.begin() + static_cast<std::ptrdiff_t>(leading));
  for (std::size_t i = 0; i < tiled; ++i) {
    split.push_back(shape_[leading + i] / tile[i]);
    split.push_back(tile[i]);
  }
  for (std::size_t d = 0; d < leading; ++d) perm.push_back(static_cast<std::int64_t>(d));
  for (std::size_t i = 0; i < 2 * tiled; ++i) {
    perm.push_back(static_cast<std::int64_t>(leading + (i < tiled ? 2 * i : 2 * (i - tiled) + 1)));
  }
  Reshape(split);
  Transpose(perm);
}

// (m, b*n) -> (m, *b, n) -> (*b, m, n)
void WalkSteps::ExpandBatch(const Shape& batch) {
  Shape split = {shape_[0]}, perm;
  split.insert(split.end(), batch.begin(), batch.end());
  split.push_back(shape_[1] / NumElements(batch));
  for (std::size_t i = 0; i < batch.size(); ++i) perm.push_back(static_cast<std::int64_t>(i) + 1);
  perm.push_back(0);
  perm.push_back(static_cast<std::int64_t>(batch.size()) + 1);
  Reshape(split);
  Transpose(perm);
}

void WalkSteps::CollapseBatch() {
  const auto batches = static_cast<std::int64_t>(shape_.size()) - 2;
  Shape perm = {batches};
  for (std::int64_t i = 0; i < batches; ++i) perm.push_back(i);
  perm.push_back(batches + 1);
  Transpose(perm);
  Shape to = {shape_[0], 1};
  for (std::size_t d = 1; d < shape_.size(); ++d) to[1] *= shape_[d];
  Reshape(to);
}

absl::Status WalkSteps::Bitcast(DType to) {
  WalkStep step{.kind = Transform::Kind::kBitcast};
  step.width_before = static_cast<std::int64_t>(StorageBytes(dtype_));
  step.width_after = static_cast<std::int64_t>(StorageBytes(to));
  if (plan_.unit_bits != 0) {
    step.width_before = Info(dtype_).bits / plan_.unit_bits;
    step.width_after = Info(to).bits / plan_.unit_bits;
  } else if (Info(dtype_).bits != Info(to).bits && (Info(dtype_).bits < 8 || Info(to).bits < 8)) {
    return absl::UnimplementedError(Cat("a view that bitcasts ", Name(dtype_), " to ", Name(to),
                                        " needs packed sub-byte memory, which is not modelled"));
  }
  Shape after = shape_;
  if (step.width_before != step.width_after) {
    std::int64_t& rows = after[after.size() - 2];
    rows = rows * step.width_before / step.width_after;
  }
  step.extents = extents_;  // never of the rows, whose number the types say
  Push(std::move(step), std::move(after));
  dtype_ = to;
  plan_.piece_bytes = std::min(plan_.piece_bytes, plan_.unit_bits != 0 ? 1 : StorageBytes(to));
  return absl::OkStatus();
}

// A whole element is one piece where its bytes are known to be neighbours, in one chunk of a swizzle.
absl::Status WalkSteps::Alias(const Transform& t) {
  PALLADION_ASSIGN_OR_RETURN(AliasMember member, ParseAlias(t.attrs));
  if (member.in_tensor_memory) return Cells(member);
  WalkStep step{.kind = Transform::Kind::kAlias};
  step.width_after = static_cast<std::int64_t>(StorageBytes(member.dtype));
  step.width_before = IsPacked(member.dtype) ? places_ * Info(member.dtype).bits / 8 : places_ * step.width_after;
  step.offset = member.offset * places_;
  const bool dense = step.width_before == step.width_after;
  if (plan_.walk.empty() && dense && step.offset % step.width_after == 0)
    plan_.piece_bytes = StorageBytes(member.dtype);
  Push(std::move(step), std::move(member.shape));
  dtype_ = member.dtype;
  return absl::OkStatus();
}

void WalkSteps::Part(const Shape& start, Shape after) {
  WalkStep step{.kind = Transform::Kind::kAt};
  for (std::size_t d = 0; d < shape_.size(); ++d) {
    step.entries.push_back(Index::Kind::kSlice);
    step.start.push_back(IndexValue{.constant = start[d]});
    step.stride.push_back(1);
    step.tile.push_back(1);
  }
  Push(std::move(step), std::move(after));
}

// Lanes and columns are cut into what rows and columns of the member are made of: the table of
// docs/spec/kernel-text.md, "Tensor memory", read from the cells. Of what is stored several times the first is seen.
absl::Status WalkSteps::Cells(const AliasMember& member) {
  PALLADION_ASSIGN_OR_RETURN(const TmemLayout layout, ReadTmemLayout(member.layout, member.shape));
  const std::int64_t columns = TmemColumns(layout, member.shape), packing = layout.packing;
  const std::int64_t down = member.shape[0] / layout.tile_rows, across = member.shape[1] / layout.tile_columns;
  Part({0, member.offset}, {kTmemLanes / layout.copies, columns});
  PALLADION_RETURN_IF_ERROR(Bitcast(member.dtype));
  const std::int64_t parts = kTmemCellBits / Info(member.dtype).bits;
  Reshape({kTmemLanes / layout.copies, parts, columns});
  if (parts != packing) Part({0, 0, 0}, {kTmemLanes / layout.copies, packing, columns});
  switch (layout.name) {
    case TmemLayoutName::kDefault:  // lane; part; tile down, across
      Reshape({kTmemLanes, packing, down, across});
      Transpose({2, 0, 3, 1});
      break;
    case TmemLayoutName::kHalfLane:  // 16 rows, half, row; part; tile down, across, column
      Reshape({4, 2, 16, packing, down, across, columns / (down * across)});
      Transpose({4, 0, 2, 5, 1, 6, 3});
      break;
    case TmemLayoutName::kM64Collective:  // half, row; part; tile down, across, column
      Reshape({2, 64, packing, down, across, columns / (down * across)});
      Transpose({3, 1, 4, 0, 5, 2});
      break;
    case TmemLayoutName::kScales:  // row; part; tile down, across, 32 rows
      Reshape({32, packing, down, across, 4});
      Transpose({2, 4, 0, 3, 1});
      break;
    case TmemLayoutName::kScalesM64Collective:  // 128 rows, row; part; tile down, across, 32 rows
      Reshape({2, 32, packing, down, across, 4});
      Transpose({3, 0, 5, 1, 4, 2});
      break;
    case TmemLayoutName::kSparseMetadata:
      return absl::InternalError("cannot happen: elements of two bits are refused by CheckCells");
  }
  Reshape(member.shape);
  return absl::OkStatus();
}

}  // namespace palladion
