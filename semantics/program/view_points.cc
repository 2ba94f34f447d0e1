// Views that are walked: each element of the value is taken back through the chain to its place in the buffer.
#include <algorithm>
#include <array>
#include <utility>

#include "semantics/program/swizzle_use.h"
#include "semantics/program/view.h"

namespace palladion {
namespace {

using Coords = std::array<std::int64_t, kMaxBoxRank>;

// The element of a broadcast index array that stands at coordinates `p` of the point shape (NumPy's alignment at the
// end).
std::int64_t BroadcastElement(const Shape& shape, const Shape& point_shape, const std::int64_t* p) {
  std::int64_t element = 0;
  const std::size_t skip = point_shape.size() - shape.size();
  for (std::size_t d = 0; d < shape.size(); ++d) {
    element = element * shape[d] + (shape[d] == 1 ? 0 : p[skip + d]);
  }
  return element;
}

// Walks one element of a value back to its place in the buffer.
class PointWalker {
 public:
  PointWalker(const ViewPlan& plan, Frame& frame)
      : plan_(plan), frame_(frame), info_(frame.program().refs[plan.ref.index()]), state_(frame.ref(plan.ref)) {
    // What a first .at names are places of the ref itself, also behind transpositions.
    root_at_ = plan.walk.data();
    while (root_at_ != plan.walk.data() + plan.walk.size() && root_at_->kind == Transform::Kind::kTranspose) ++root_at_;
  }

  // `coords` are those of the value's element and are overwritten; `byte` is the piece's place in the element.
  std::int64_t Offset(Coords& coords, std::int64_t byte) {
    for (std::size_t i = plan_.walk.size(); i-- > 0;) {
      if (!StepBack(plan_.walk[i], coords, byte)) return PointAccess::kOutOfBounds;
    }
    return RootOffset(coords, byte);
  }

 private:
  bool StepBack(const WalkStep& step, Coords& coords, std::int64_t& byte) {
    switch (step.kind) {
      case Transform::Kind::kAt:
        return StepBackAt(step, coords, &step == root_at_);
      case Transform::Kind::kTranspose:
        return StepBackTranspose(step, coords);
      case Transform::Kind::kReshape:
        return StepBackReshape(step, coords);
      case Transform::Kind::kAlias:
        return StepBackAlias(step, coords, byte);
      default:
        return StepBackBitcast(step, coords, byte);
    }
  }

  bool StepBackAt(const WalkStep& step, Coords& coords, bool is_root) {
    const auto point_rank = static_cast<int>(step.point_shape.size());
    const std::int64_t* p = coords.data() + step.point_position;
    Coords before;
    int slice_axis = 0;
    for (std::size_t d = 0; d < step.entries.size(); ++d) {
      if (step.entries[d] == Index::Kind::kPoint) {
        const IndexValue& index = step.start[d];
        before[d] = Read(index, index.shape.empty() ? 0 : BroadcastElement(index.shape, step.point_shape, p));
      } else {
        if (slice_axis == step.point_position) slice_axis += point_rank;
        before[d] = FloorDiv(Read(step.start[d], 0), step.tile[d]) * step.tile[d] +
                    coords[static_cast<std::size_t>(slice_axis++)] * step.stride[d];
      }
      const bool beyond = step.before[d] != kDynamicDim && before[d] >= step.before[d];
      if ((before[d] < 0 || beyond) && (!is_root || info_.bounded_by_window)) return false;
    }
    coords = before;
    return true;
  }

  static bool StepBackTranspose(const WalkStep& step, Coords& coords) {
    Coords before;
    for (std::size_t i = 0; i < step.perm.size(); ++i) before[static_cast<std::size_t>(step.perm[i])] = coords[i];
    coords = before;
    return true;
  }

  static bool StepBackReshape(const WalkStep& step, Coords& coords) {
    std::int64_t linear = 0;
    for (std::size_t d = 0; d < step.after.size(); ++d) linear = linear * step.after[d] + coords[d];
    for (std::size_t d = step.before.size(); d-- > 0;) {
      coords[d] = linear % step.before[d];
      linear /= step.before[d];
    }
    return true;
  }

  static bool StepBackAlias(const WalkStep& step, Coords& coords, std::int64_t& byte) {
    std::int64_t linear = 0;
    for (std::size_t d = 0; d < step.after.size(); ++d) linear = linear * step.after[d] + coords[d];
    coords[0] =
        step.offset + linear * step.width_before + std::exchange(byte, 0) * step.width_before / step.width_after;
    return true;
  }

  // Row r*k + j of the narrow side is piece j, lowest first, of row r of the wide side.
  static bool StepBackBitcast(const WalkStep& step, Coords& coords, std::int64_t& byte) {
    if (step.width_before == step.width_after) return true;
    std::int64_t& row = coords[step.after.size() - 2];
    if (step.width_before > step.width_after) {
      const std::int64_t k = step.width_before / step.width_after;
      byte += (row % k) * step.width_after;
      row /= k;
    } else {
      const std::int64_t k = step.width_after / step.width_before;
      row = row * k + byte / step.width_before;
      byte %= step.width_before;
    }
    return true;
  }

  std::int64_t RootOffset(const Coords& coords, std::int64_t byte) const {
    std::array<std::int64_t, kMaxBoxRank> index;
    for (std::size_t d = 0; d < info_.buffer_shape.size(); ++d) index[d] = state_.origin[d];
    for (std::size_t i = 0; i < info_.kept.size(); ++i) index[static_cast<std::size_t>(info_.kept[i])] += coords[i];
    std::int64_t linear = 0;
    for (std::size_t d = 0; d < info_.buffer_shape.size(); ++d) {
      if (index[d] < 0 || index[d] >= info_.buffer_shape[d]) {
        return info_.outside == Outside::kPad ? PointAccess::kPadding : PointAccess::kOutOfBounds;
      }
      linear = linear * info_.buffer_shape[d] + index[d];
    }
    const auto element_bytes = static_cast<std::int64_t>(StorageBytes(info_.dtype) * info_.words_per_element);
    if (plan_.unit_bits != 0) return Unit(linear * element_bytes, byte);
    if (info_.places_of_byte == 1) return Swizzled(linear * element_bytes + byte, plan_.swizzle_mask);
    const std::int64_t places = info_.places_of_byte;
    return Swizzled(linear / places, plan_.swizzle_mask) * places + linear % places;
  }

  // As ViewPlan::unit_bits counts: `byte` is a unit's place in its element.
  std::int64_t Unit(std::int64_t element_offset, std::int64_t byte) const {
    const std::int64_t parts = std::min(8, Info(info_.dtype).bits) / plan_.unit_bits;
    return element_offset * parts + byte;
  }

  std::int64_t Read(const IndexValue& index, std::int64_t element) {
    if (!index.slot.valid()) return index.constant;
    return ReadPlace(frame_.slot(index.slot), index.dtype, element);
  }

  const ViewPlan& plan_;
  Frame& frame_;
  const RefInfo& info_;
  const RefState& state_;
  const WalkStep* root_at_ = nullptr;
};

bool NextCoords(const Shape& shape, Coords& coords) {
  for (std::size_t d = shape.size(); d-- > 0;) {
    if (++coords[d] < shape[d]) return true;
    coords[d] = 0;
  }
  return false;
}

// Offsets add up over the value's axes. A place that is padding or out of bounds adds a number so negative that the sum
// shows it, whatever the other axes add (a buffer has fewer than 2^50 bytes).
constexpr std::int64_t kPaddingMark = -(std::int64_t{1} << 52);
constexpr std::int64_t kOutOfBoundsMark = -(std::int64_t{1} << 58);

std::int64_t PlaceOf(std::int64_t sum) {
  if (sum >= 0) return sum;
  return sum < kOutOfBoundsMark / 2 ? PointAccess::kOutOfBounds : PointAccess::kPadding;
}

// One .at on the ref itself: what dimension `d` at index `i` adds to the byte offset.
class AtOffsets {
 public:
  AtOffsets(const RefInfo& info, const RefState& state, const WalkStep& at) : info_(info), state_(state), at_(at) {
    stride_.resize(info.buffer_shape.size());
    auto stride = static_cast<std::int64_t>(StorageBytes(info.dtype) * info.words_per_element);
    for (std::size_t d = stride_.size(); d-- > 0;) {
      stride_[d] = stride;
      stride *= info.buffer_shape[d];
    }
  }

  std::int64_t Add(std::size_t d, std::int64_t i) const {
    if (info_.bounded_by_window && (i < 0 || i >= at_.before[d])) return kOutOfBoundsMark;
    const auto axis = static_cast<std::size_t>(info_.kept[d]);
    return AddAxis(axis, state_.origin[axis] + i);
  }

  // The dimensions that the ref does not show stand at the origin.
  std::int64_t Base() const {
    std::int64_t sum = 0;
    std::size_t shown = 0;
    for (std::size_t axis = 0; axis < stride_.size(); ++axis) {
      if (shown < info_.kept.size() && info_.kept[shown] == static_cast<int>(axis)) {
        ++shown;
      } else {
        sum += AddAxis(axis, state_.origin[axis]);
      }
    }
    return sum;
  }

 private:
  std::int64_t AddAxis(std::size_t axis, std::int64_t index) const {
    if (index >= 0 && index < info_.buffer_shape[axis]) return index * stride_[axis];
    return info_.outside == Outside::kPad ? kPaddingMark : kOutOfBoundsMark;
  }

  const RefInfo& info_;
  const RefState& state_;
  const WalkStep& at_;
  Shape stride_;
};

using AxisOffsets = std::vector<std::int64_t>;

// What the index arrays together add, for every element of the shape they are broadcast to.
AxisOffsets PointOffsets(const WalkStep& at, const AtOffsets& offsets, Frame& frame) {
  AxisOffsets sums(static_cast<std::size_t>(NumElements(at.point_shape)), 0);
  for (std::size_t d = 0; d < at.entries.size(); ++d) {
    if (at.entries[d] != Index::Kind::kPoint) continue;
    const IndexValue& index = at.start[d];
    const std::byte* memory = index.slot.valid() ? frame.slot(index.slot) : nullptr;
    const bool same_shape = index.shape == at.point_shape;
    Coords p{};
    for (std::size_t e = 0; e < sums.size(); ++e) {
      std::int64_t i = index.constant;
      if (memory != nullptr) {
        const std::int64_t element =
            same_shape ? static_cast<std::int64_t>(e) : BroadcastElement(index.shape, at.point_shape, p.data());
        i = ReadPlace(memory, index.dtype, element);
      }
      sums[e] += offsets.Add(d, i);
      if (!same_shape) NextCoords(at.point_shape, p);
    }
  }
  return sums;
}

// The value's axes in order: the slices, and the points as one axis at their place.
std::vector<AxisOffsets> AxesOf(const WalkStep& at, const Shape& after, const AtOffsets& offsets, Frame& frame) {
  std::vector<AxisOffsets> axes;
  for (std::size_t d = 0; d < at.entries.size(); ++d) {
    if (at.entries[d] == Index::Kind::kPoint) continue;
    const auto axis =
        axes.size() + (axes.size() >= static_cast<std::size_t>(at.point_position) ? at.point_shape.size() : 0);
    const std::int64_t start =
        at.start[d].slot.valid() ? ReadPlace(frame.slot(at.start[d].slot), at.start[d].dtype, 0) : at.start[d].constant;
    AxisOffsets& out = axes.emplace_back();
    for (std::int64_t i = 0; i < after[axis]; ++i) out.push_back(offsets.Add(d, start + i * at.stride[d]));
  }
  axes.insert(axes.begin() + at.point_position, PointOffsets(at, offsets, frame));
  return axes;
}

// out[i][j]... = base + axes[0][i] + axes[1][j] + ...
void AddOuter(absl::Span<const AxisOffsets> axes, std::int64_t base, std::int64_t*& out) {
  if (axes.size() == 1) {
    for (std::int64_t add : axes[0]) *out++ = PlaceOf(base + add);
    return;
  }
  for (std::int64_t add : axes[0]) AddOuter(axes.subspan(1), base + add, out);
}

bool IsOneAt(const ViewPlan& plan) {
  return plan.walk.size() == 1 && plan.walk[0].kind == Transform::Kind::kAt && plan.swizzle_mask == 0;
}

void WalkAllPoints(const ViewPlan& plan, const Shape& shape, std::size_t pieces, Frame& frame) {
  PointWalker walker(plan, frame);
  Coords element{};
  for (std::size_t next = 0; next < frame.points().size();) {
    for (std::size_t piece = 0; piece < pieces; ++piece) {
      Coords coords = element;
      frame.points()[next++] = walker.Offset(coords, static_cast<std::int64_t>(piece * plan.piece_bytes));
    }
    NextCoords(shape, element);
  }
}

}  // namespace

void ResolvePoints(const ViewPlan& plan, const Step& step, Frame& frame, PointAccess& points) {
  CheckGuards(plan, /*bounds=*/false, step, frame);
  const RefInfo& info = frame.program().refs[plan.ref.index()];
  const std::size_t element_bytes = StorageBytes(plan.type.dtype) * info.words_per_element;
  const std::size_t pieces = plan.unit_bits != 0 ? static_cast<std::size_t>(Info(plan.type.dtype).bits / plan.unit_bits)
                                                 : element_bytes / plan.piece_bytes;
  const Shape shape = ShapeOf(plan, frame);
  frame.points().resize(static_cast<std::size_t>(NumElements(shape)) * pieces);
  if (IsOneAt(plan)) {
    const AtOffsets offsets(info, frame.ref(plan.ref), plan.walk[0]);
    std::int64_t* out = frame.points().data();
    AddOuter(AxesOf(plan.walk[0], shape, offsets, frame), offsets.Base(), out);
  } else {
    WalkAllPoints(plan, shape, pieces, frame);
  }
  points.buffer = BufferOf(plan, step, frame);
  points.offset = frame.points();
  points.piece_bytes = plan.piece_bytes;
  points.pieces_per_element = pieces;
  points.site = frame.site(step);
}

}  // namespace palladion
