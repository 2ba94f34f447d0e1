#include "semantics/program/view_affine.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "semantics/ir/view_layout.h"

namespace palladion {
namespace {

std::size_t Place(std::int64_t i) { return static_cast<std::size_t>(i); }

}  // namespace

AffineView::AffineView(const RefInfo& info, bool layouts, ViewPlan& plan)
    : layouts_(layouts), places_(info.places_of_byte), plan_(plan) {
  plan_.axes.assign(info.window.size(), AxisPlan{});
  for (const int axis : info.kept) {
    dims_.push_back({.parts = {{.axis = axis, .count = info.window[static_cast<std::size_t>(axis)], .stride = 1}}});
  }
}

std::int64_t AffineView::Size(const Dim& dim) {
  std::int64_t size = 1;
  for (const Part& part : dim.parts) size *= part.count;
  return size;
}

bool AffineView::Layout(const Transform& transform) {
  if (transform.kind == Transform::Kind::kTranspose) {
    Transpose(transform.ints);
    return true;
  }
  // ViewPlan::peer, or the operation's own business.
  if (transform.kind == Transform::Kind::kPeer || transform.kind == Transform::Kind::kMulticast) return true;
  if (!layouts_) return false;
  switch (transform.kind) {
    case Transform::Kind::kReshape:
      return Reshape(transform.ints);
    case Transform::Kind::kUntile:
      Untile(transform.ints);
      return true;
    case Transform::Kind::kTile:
      return Tile(transform.ints);
    case Transform::Kind::kExpandBatch:
      return ExpandBatch(transform.ints);
    case Transform::Kind::kCollapseBatch:
      CollapseBatch();
      return true;
    case Transform::Kind::kUnswizzle:
    case Transform::Kind::kSwizzle:
      return true;  // whose memory is stored unswizzled: swizzle_use.h
    case Transform::Kind::kCluster:
      return true;  // ViewPlan::peer
    case Transform::Kind::kAlias:
      return Alias(transform);
    default:
      return false;
  }
}

void AffineView::Transpose(const std::vector<std::int64_t>& perm) {
  std::vector<Dim> permuted;
  for (const std::int64_t p : perm) permuted.push_back(dims_[Place(p)]);
  dims_ = std::move(permuted);
}

// A member of a union is a run of its bytes.
bool AffineView::Alias(const Transform& transform) {
  const absl::StatusOr<AliasMember> member = ParseAlias(transform.attrs);
  if (!member.ok() || dims_.size() != 1 || !dims_[0].own || level_ > 0) return false;
  const auto bytes = static_cast<std::int64_t>(StorageBytes(member->dtype));
  if (member->offset % bytes != 0) return false;  // its elements would not lie as values do
  const int axis = dims_[0].parts[0].axis;
  plan_.axes[static_cast<std::size_t>(axis)].base += member->offset * places_;
  dims_.assign(member->shape.size(), Dim{.parts = {}, .tile = 1, .own = false});
  std::int64_t stride = IsPacked(member->dtype) ? places_ * Info(member->dtype).bits / 8 : places_ * bytes;
  for (std::size_t d = dims_.size(); d-- > 0;) {
    dims_[d].parts.push_back({axis, member->shape[d], stride});
    stride *= member->shape[d];
  }
  plan_.unit = bytes;
  element_ = {axis, bytes, places_};
  return true;
}

AffineView::Dim AffineView::Joined(std::vector<Dim>::const_iterator first, std::vector<Dim>::const_iterator last) {
  Dim joined{.parts = {}, .tile = 1, .own = false};
  for (auto dim = first; dim != last; ++dim) {
    joined.parts.insert(joined.parts.end(), dim->parts.begin(), dim->parts.end());
  }
  return joined;
}

// Minor to major: each size takes whole parts, or the minor end of one.
bool AffineView::Split(const Dim& dim, const Shape& sizes, std::vector<Dim>& out) {
  std::vector<Part> left = dim.parts;
  std::vector<Dim> split(sizes.size());
  for (std::size_t d = sizes.size(); d-- > 0;) {
    split[d].own = false;
    std::int64_t wanted = sizes[d];
    while (wanted > 1) {
      while (!left.empty() && left.back().count == 1) left.pop_back();
      if (left.empty()) return false;
      Part& part = left.back();
      const std::int64_t taken = std::min(wanted, part.count);
      if (taken == 0 || wanted % taken != 0 || part.count % taken != 0) return false;
      split[d].parts.insert(split[d].parts.begin(), {part.axis, taken, part.stride});
      part.count /= taken;
      part.stride *= taken;
      wanted /= taken;
    }
    if (wanted == 0) return false;
  }
  std::move(split.begin(), split.end(), std::back_inserter(out));
  return true;
}

// Runs of dimensions before and after that have the same number of elements belong together. A dimension that is a run
// of its own on both sides is not touched.
bool AffineView::Reshape(const Shape& to) {
  if (std::any_of(dims_.begin(), dims_.end(), [](const Dim& dim) { return Size(dim) < 0; })) return false;
  std::vector<Dim> after;
  auto from = dims_.cbegin();
  std::size_t next = 0;
  while (from != dims_.cend() || next < to.size()) {
    if (from != dims_.cend() && next < to.size() && Size(*from) == to[next]) {
      after.push_back(*from++);
      ++next;
      continue;
    }
    if (next < to.size() && to[next] == 1) {
      after.push_back({.parts = {}, .tile = 1, .own = false});
      ++next;
      continue;
    }
    if (from != dims_.cend() && Size(*from) == 1) {
      ++from;
      continue;
    }
    auto last = from;
    std::size_t end = next;
    std::int64_t before_size = 1, after_size = 1;
    do {
      const bool take_from = last != dims_.cend() && (before_size <= after_size || end == to.size());
      if (take_from) {
        before_size *= Size(*last++);
      } else if (end < to.size()) {
        after_size *= to[end++];
      } else {
        return false;
      }
      if (before_size == 0 || after_size == 0) return false;
    } while (before_size != after_size);
    const Shape sizes(to.begin() + static_cast<std::ptrdiff_t>(next), to.begin() + static_cast<std::ptrdiff_t>(end));
    if (!Split(Joined(from, last), sizes, after)) return false;
    from = last;
    next = end;
  }
  dims_ = std::move(after);
  return true;
}

// (..., m/t0, n/t1, t0, t1) -> (..., m, n)
void AffineView::Untile(const std::vector<std::int64_t>& tile) {
  const std::size_t leading = dims_.size() - 2 * tile.size();
  std::vector<Dim> untiled(dims_.begin(), dims_.begin() + static_cast<std::ptrdiff_t>(leading));
  for (std::size_t i = 0; i < tile.size(); ++i) {
    Dim dim = dims_[leading + i];
    const Dim& inside = dims_[leading + tile.size() + i];
    dim.parts.insert(dim.parts.end(), inside.parts.begin(), inside.parts.end());
    dim.own = false;
    dim.tile = tile[i];
    untiled.push_back(std::move(dim));
  }
  dims_ = std::move(untiled);
}

// (..., m, n) -> (..., m/t0, n/t1, t0, t1)
bool AffineView::Tile(const std::vector<std::int64_t>& tile) {
  const std::size_t leading = dims_.size() - tile.size();
  std::vector<Dim> tiled(dims_.begin(), dims_.begin() + static_cast<std::ptrdiff_t>(leading)), inside;
  for (std::size_t i = 0; i < tile.size(); ++i) {
    const Dim& dim = dims_[leading + i];
    std::vector<Dim> both;
    if (!Split(dim, {Size(dim) / tile[i], tile[i]}, both)) return false;
    tiled.push_back(std::move(both[0]));
    inside.push_back(std::move(both[1]));
  }
  std::move(inside.begin(), inside.end(), std::back_inserter(tiled));
  dims_ = std::move(tiled);
  return true;
}

// (m, b*n) -> (*b, m, n)
bool AffineView::ExpandBatch(const std::vector<std::int64_t>& batch) {
  Shape sizes = batch;
  sizes.push_back(Size(dims_[1]) / NumElements(batch));
  std::vector<Dim> split;
  if (!Split(dims_[1], sizes, split)) return false;
  split.insert(split.end() - 1, dims_[0]);
  dims_ = std::move(split);
  return true;
}

// (*b, m, n) -> (m, b*n)
void AffineView::CollapseBatch() {
  const auto rows = dims_.end() - 2;
  Dim columns = Joined(dims_.cbegin(), rows);
  columns.parts.insert(columns.parts.end(), dims_.back().parts.begin(), dims_.back().parts.end());
  dims_ = {*rows, std::move(columns)};
}

bool AffineView::At(const std::vector<AffineEntry>& entries) {
  ++level_;
  std::vector<Dim> kept;
  for (std::size_t d = 0; d < entries.size(); ++d) {
    Dim& dim = dims_[d];
    const AffineEntry& entry = entries[d];
    if (entry.kind != Index::Kind::kFull) {
      const bool sized = entry.size == kDynamicDim;
      if (Size(dim) < 0 || (sized && entry.stride != 1)) return false;
      const std::int64_t reach = entry.size == 0 ? -1 : (entry.size - 1) * entry.stride;
      const std::int64_t first = entry.start.constant;  // where the index is one
      const bool passes = !entry.start.slot.valid() && (first < 0 || first + reach >= Size(dim));
      // Of a constant so far outside the walk takes care: no product overflows here.
      if (passes && dim.own && std::abs(first) > kFarOutside / std::max<std::int64_t>(1, dim.parts[0].stride))
        return false;
      if ((entry.start.slot.valid() || sized || passes) && (level_ > 1 || !dim.own)) {
        if (!layouts_) return false;
        plan_.guards.push_back({.value = entry.start,
                                .size = Size(dim),
                                .reach = reach,
                                .dimension = static_cast<int>(d),
                                .level = level_,
                                .extent = entry.extent});
      }
      if (!Narrow(entry, dim)) return false;
    }
    if (entry.kind != Index::Kind::kPoint) kept.push_back(std::move(dim));
  }
  dims_ = std::move(kept);
  return true;
}

bool AffineView::Narrow(const AffineEntry& entry, Dim& dim) {
  const bool slice = entry.kind == Index::Kind::kSlice;
  if (dim.own) {
    Part& part = dim.parts[0];
    if (entry.start.slot.valid()) {
      Axis(part).terms.push_back({.value = entry.start, .scale = part.stride});
    } else {
      Axis(part).base += entry.start.constant * part.stride;
    }
    part.count = slice ? entry.size : 1;
    part.stride = part.count != 1 ? part.stride * entry.stride : 1;
    if (part.count == kDynamicDim) Axis(part).times = entry.extent;
    return true;
  }
  if (slice && entry.size > 1 && entry.stride != 1) return false;
  if (entry.start.slot.valid() || entry.size == kDynamicDim) return NarrowDynamic(entry, dim);
  return NarrowStatic(entry.start.constant, slice ? entry.size : 1, dim);
}

bool AffineView::NarrowStatic(std::int64_t start, std::int64_t size, Dim& dim) {
  std::int64_t inner = Size(dim);  // elements of a part's one step
  if (start < 0 || size < 1 || start + size > inner) return false;
  for (Part& part : dim.parts) {
    inner /= part.count;
    const std::int64_t first = start / inner;
    if (start % inner == 0 && size % inner == 0) {
      Axis(part).base += first * part.stride;
      part.count = size / inner;
      return true;
    }
    if ((start + size - 1) / inner != first) return false;
    Axis(part).base += first * part.stride;
    part.count = 1;
    start -= first * inner;
  }
  return true;
}

// The one part of several elements takes the start; else the major one of them takes whole tiles.
bool AffineView::NarrowDynamic(const AffineEntry& entry, Dim& dim) {
  const bool slice = entry.kind == Index::Kind::kSlice;
  const auto several = [](const Part& part) { return part.count != 1; };
  const auto major = std::find_if(dim.parts.begin(), dim.parts.end(), several);
  const auto next = major == dim.parts.end() ? major : std::find_if(major + 1, dim.parts.end(), several);
  if (next == dim.parts.end()) {
    if (dim.parts.empty()) return entry.size != kDynamicDim;  // size 1: the guard says the rest
    Part& part = major == dim.parts.end() ? dim.parts.back() : *major;
    if (entry.start.slot.valid()) {
      Axis(part).terms.push_back({.value = entry.start, .scale = part.stride});
    } else {
      Axis(part).base += entry.start.constant * part.stride;
    }
    part.count = slice ? entry.size : 1;
    if (part.count == kDynamicDim) Axis(part).times = entry.extent;
    return true;
  }
  const bool whole_tiles = slice && major->count > 0 && entry.size > 0 && entry.size % dim.tile == 0;
  if (!whole_tiles || Size(dim) / major->count != dim.tile) return false;
  plan_.guards.back().tile = dim.tile;
  Axis(*major).terms.push_back({.value = entry.start, .scale = major->stride, .divisor = dim.tile});
  major->count = entry.size / dim.tile;
  return true;
}

// Appends a part to the run of its buffer dimension that ends the value so far, or begins one.
bool AffineView::Append(const Part& part, std::vector<Part>& runs) {
  Part* last = runs.empty() ? nullptr : &runs.back();
  if (last != nullptr && last->axis == part.axis && last->stride == part.stride * part.count) {
    last->count *= part.count;
    last->stride = part.stride;
    return true;
  }
  for (const Part& run : runs) {
    if (run.axis == part.axis) return false;
  }
  runs.push_back(part);
  return true;
}

bool AffineView::Finish() {
  std::vector<Part> runs;
  plan_.order.clear();
  plan_.type.shape.clear();
  for (const Dim& dim : dims_) {
    plan_.type.shape.push_back(std::max(Size(dim), kDynamicDim));
    for (const Part& part : dim.parts) {
      if (part.count == 1 && !dim.own) continue;
      if (!Append(part, runs)) return false;
    }
  }
  if (plan_.unit != 1 && !Append(element_, runs)) return false;
  for (const Part& part : runs) {
    plan_.order.push_back(static_cast<std::uint8_t>(part.axis));
    Axis(part).count = std::abs(part.count);
    Axis(part).step = part.count > 1 || part.count < 0 ? part.stride : 1;
  }
  return true;
}

}  // namespace palladion
