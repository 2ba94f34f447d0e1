// Index arrays that turn out to be runs: `base + iota`, which is how Triton kernels write a slice. Such an access is a
// box, which moves whole rows, where points move element by element. What it does not see: an index array that runs
// over two dimensions, a run that falls, and views of more than one .at; these stay points.
#include <cstring>
#include <limits>

#include "semantics/program/view.h"

namespace palladion {
namespace {

struct Run {
  std::int64_t first = 0;
  std::int64_t step = 1;
};

// first, first + step, ... with step > 0, none of it wrapped around or beyond kFarOutside.
template <class T>
bool FindRun(const std::byte* memory, std::int64_t count, Run& run) {
  using Bits = std::make_unsigned_t<T>;
  constexpr std::int64_t kStrip = 64;
  const auto at = [memory](std::int64_t i) {
    T value;
    std::memcpy(&value, memory + static_cast<std::size_t>(i) * sizeof(T), sizeof(T));
    return value;
  };
  run.first = static_cast<std::int64_t>(at(0));
  if (run.first < -kFarOutside || run.first > kFarOutside) return false;
  if (count > 1 && __builtin_sub_overflow(static_cast<std::int64_t>(at(1)), run.first, &run.step)) return false;
  std::int64_t last;
  if (run.step < 1 || __builtin_mul_overflow(run.step, count - 1, &last) ||
      __builtin_add_overflow(last, run.first, &last))
    return false;
  if (last > kFarOutside || static_cast<std::int64_t>(at(count - 1)) != last) return false;
  // Each differs from the next by the step; in strips, whose loop the compiler makes vectors of.
  const auto step = static_cast<Bits>(run.step);
  const auto differs = [&](std::int64_t i) {
    return static_cast<Bits>(static_cast<Bits>(at(i + 1)) - static_cast<Bits>(at(i))) ^ step;
  };
  std::int64_t i = 0;
  for (; i + kStrip < count; i += kStrip) {
    Bits any = 0;
    for (std::int64_t j = 0; j < kStrip; ++j) any |= differs(i + j);
    if (any != 0) return false;
  }
  for (; i + 1 < count; ++i) {
    if (differs(i) != 0) return false;
  }
  return true;
}

bool FindRun(const std::byte* memory, DType dtype, std::int64_t count, Run& run) {
  switch (dtype) {
    case DType::kI32:
      return FindRun<std::int32_t>(memory, count, run);
    case DType::kU32:
      return FindRun<std::uint32_t>(memory, count, run);
    case DType::kI64:
      return FindRun<std::int64_t>(memory, count, run);
    default:
      return false;
  }
}

// The dimension of the points' shape that an index array runs over: its only one of more than one element. -1: it has
// none, the array is one index. -2: it has several.
int RunDimension(const Shape& shape, std::size_t point_rank) {
  int found = -1;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 1) continue;
    if (found != -1) return -2;
    found = static_cast<int>(i + point_rank - shape.size());
  }
  return found;
}

constexpr std::uint8_t kNoAxis = 255;

class RunResolver {
 public:
  RunResolver(const ViewPlan& plan, Frame& frame, BoxAccess& box)
      : at_(plan.walk[0]),
        frame_(frame),
        info_(frame.program().refs[plan.ref.index()]),
        state_(frame.ref(plan.ref)),
        box_(box) {}

  bool Resolve() {
    point_axis_.fill(kNoAxis);
    PlaceAtOrigin();
    for (std::size_t d = 0; d < at_.entries.size(); ++d) {
      const auto axis = static_cast<std::size_t>(info_.kept[d]);
      const bool ok = at_.entries[d] == Index::Kind::kPoint ? AddPoint(at_.start[d], axis) : AddSlice(d, axis);
      if (!ok) return false;
    }
    int rank = 0;
    for (int s = 0; s < at_.point_position; ++s)
      box_.order[static_cast<std::size_t>(rank++)] = slices_[static_cast<std::size_t>(s)];
    for (std::size_t q = 0; q < at_.point_shape.size(); ++q) {
      if (point_axis_[q] != kNoAxis) box_.order[static_cast<std::size_t>(rank++)] = point_axis_[q];
    }
    for (int s = at_.point_position; s < n_slices_; ++s)
      box_.order[static_cast<std::size_t>(rank++)] = slices_[static_cast<std::size_t>(s)];
    box_.value_rank = rank;
    return true;
  }

 private:
  void PlaceAtOrigin() {
    box_.rank = static_cast<int>(info_.buffer_shape.size());
    box_.outside = info_.outside;
    for (std::size_t d = 0; d < info_.buffer_shape.size(); ++d) {
      box_.start[d] = state_.origin[d];
      box_.count[d] = box_.step[d] = 1;
      box_.lower[d] = info_.bounded_by_window ? state_.origin[d] : std::numeric_limits<std::int64_t>::min();
      box_.upper[d] =
          info_.bounded_by_window ? state_.origin[d] + info_.window[d] : std::numeric_limits<std::int64_t>::max();
    }
  }

  std::int64_t Scalar(const IndexValue& index) {
    return index.slot.valid() ? ReadPlace(frame_.slot(index.slot), index.dtype, 0) : index.constant;
  }

  bool AddSlice(std::size_t d, std::size_t axis) {
    const auto points_before = n_slices_ >= at_.point_position ? at_.point_shape.size() : 0;
    box_.start[axis] += Scalar(at_.start[d]);
    box_.count[axis] = at_.after[static_cast<std::size_t>(n_slices_) + points_before];
    box_.step[axis] = at_.stride[d];
    slices_[static_cast<std::size_t>(n_slices_++)] = static_cast<std::uint8_t>(axis);
    return true;
  }

  bool AddPoint(const IndexValue& index, std::size_t axis) {
    const int dimension = index.slot.valid() ? RunDimension(index.shape, at_.point_shape.size()) : -1;
    if (dimension == -1) {
      box_.start[axis] += Scalar(index);
      return true;
    }
    if (dimension < 0 || point_axis_[static_cast<std::size_t>(dimension)] != kNoAxis) return false;
    const std::int64_t count = at_.point_shape[static_cast<std::size_t>(dimension)];
    Run run;
    if (count == 0 || !FindRun(frame_.slot(index.slot), index.dtype, count, run)) return false;
    box_.start[axis] += run.first;
    point_axis_[static_cast<std::size_t>(dimension)] = static_cast<std::uint8_t>(axis);
    box_.count[axis] = count;
    box_.step[axis] = run.step;
    return true;
  }

  const WalkStep& at_;
  Frame& frame_;
  const RefInfo& info_;
  const RefState& state_;
  BoxAccess& box_;
  std::array<std::uint8_t, kMaxBoxRank> slices_;  // axes of the slices, in the value's order
  int n_slices_ = 0;
  std::array<std::uint8_t, kMaxBoxRank> point_axis_;  // per dimension of the points' shape
};

}  // namespace

bool ResolveRuns(const ViewPlan& plan, const Step& step, Frame& frame, BoxAccess& box) {
  if (plan.walk.size() != 1 || plan.walk[0].kind != Transform::Kind::kAt ||
      plan.walk[0].point_shape.size() > kMaxBoxRank || plan.swizzle_mask != 0)
    return false;
  if (!RunResolver(plan, frame, box).Resolve()) return false;
  box.buffer = BufferOf(plan, step, frame);
  box.site = frame.site(step);
  return true;
}

}  // namespace palladion
