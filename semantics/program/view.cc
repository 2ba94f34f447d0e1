// Views as boxes, their guards, and how an index is read.
#include "semantics/program/view.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "semantics/base/cat.h"
#include "semantics/program/agent_naming.h"

namespace palladion {
namespace {

template <class T>
std::int64_t ReadAs(const std::byte* memory, std::int64_t element) {
  T value;
  std::memcpy(&value, memory + static_cast<std::size_t>(element) * sizeof(T), sizeof(T));
  return static_cast<std::int64_t>(value);
}

// A guard that found what it guards against.
struct Caught {
  std::int64_t value, reach;
  bool outside;
};

void ReportGuard(const ViewGuard& guard, const Caught& caught, const ViewPlan& plan, const Step& step, Frame& frame) {
  const auto [value, reach, outside] = caught;
  const std::string& name = frame.program().refs[plan.ref.index()].name;
  const Site site = frame.site(step);
  const std::string slice = reach == 0 ? Cat(value) : Cat(value, "..", value + reach);
  Finding finding{.code = outside ? FindingCode::kOutOfBounds : FindingCode::kIllegal,
                  .severity = Severity::kDefect,
                  .loc = site.loc,
                  .text_line = site.text_line};
  const std::string program = AtAgent(NamingOf(frame.program()), site.program);
  if (outside) {
    finding.message = Cat("index ", slice, " into '", name, "'", program, " is out of bounds: at .at number ",
                          guard.level, " of the view, dimension ", guard.dimension, " has indices 0..", guard.size - 1,
                          "; the access goes to the address that the index gives");
    finding.fix = "keep the index inside what the view shows";
  } else {
    finding.message = Cat("a slice of '", name, "'", program, " starts at ", value, " of dimension ", guard.dimension,
                          ", which is tiled by ", guard.tile,
                          ": Mosaic GPU addresses whole tiles, so the start of a slice has to be a multiple of the "
                          "tile; the access starts at ",
                          FloorDiv(value, guard.tile) * guard.tile);
    finding.fix = Cat("start the slice at a multiple of ", guard.tile, ", or choose a smaller tile");
  }
  frame.machine().Report(std::move(finding));
}

// A size that is known only at run time: no product of it and an array's dimensions overflows.
std::int64_t ReadSize(const IndexValue& size, Frame& frame) {
  constexpr std::int64_t kLongest = std::int64_t{1} << 36;  // CheckLimits: no array has more elements
  return std::clamp<std::int64_t>(ReadPlace(frame.slot(size.slot), size.dtype, 0), 0, kLongest);
}

std::int64_t TimesOf(const AxisPlan& axis, Frame& frame) {
  return axis.times.slot.valid() ? ReadSize(axis.times, frame) : 1;
}

std::int64_t Saturated(std::int64_t a, std::int64_t b) { return b != 0 && a > kFarOutside / b ? kFarOutside : a * b; }

// From the first element of the slice to the last.
std::int64_t ReachOf(const ViewGuard& guard, Frame& frame) {
  if (!guard.extent.slot.valid()) return guard.reach;
  return ReadPlace(frame.slot(guard.extent.slot), guard.extent.dtype, 0) - 1;
}

}  // namespace

void CheckGuards(const ViewPlan& plan, bool bounds, const Step& step, Frame& frame) {
  for (const ViewGuard& guard : plan.guards) {
    const IndexValue& start = guard.value;
    const std::int64_t value = start.slot.valid() ? ReadPlace(frame.slot(start.slot), start.dtype, 0) : start.constant;
    const std::int64_t reach = ReachOf(guard, frame);
    const bool outside = value < 0 || value + reach >= guard.size;
    if (outside ? !bounds : value % guard.tile == 0) continue;
    ReportGuard(guard, {value, reach, outside}, plan, step, frame);
  }
}

std::int64_t ReadIndex(const std::byte* memory, DType dtype, std::int64_t element) {
  switch (dtype) {
    case DType::kI32:
      return ReadAs<std::int32_t>(memory, element);
    case DType::kU32:
      return ReadAs<std::uint32_t>(memory, element);
    case DType::kI64:
    case DType::kU64:
      return ReadAs<std::int64_t>(memory, element);
    case DType::kI16:
      return ReadAs<std::int16_t>(memory, element);
    case DType::kU16:
      return ReadAs<std::uint16_t>(memory, element);
    case DType::kU2:
    case DType::kU4:
    case DType::kU8:
    case DType::kBool:
      return ReadAs<std::uint8_t>(memory, element);
    default:
      return ReadAs<std::int8_t>(memory, element);
  }
}

std::int64_t ReadPlace(const std::byte* memory, DType dtype, std::int64_t element) {
  const std::int64_t index = ReadIndex(memory, dtype, element);
  if (dtype == DType::kU64 && index < 0) return kFarOutside;
  return std::clamp(index, -kFarOutside, kFarOutside);
}

absl::InlinedVector<PeerCoordinate, 3> PeerOf(const ViewPlan& plan, Frame& frame) {
  absl::InlinedVector<PeerCoordinate, 3> peer;
  for (const PeerIndex& entry : plan.peer) {
    const IndexValue& index = entry.index;
    const std::int64_t at = index.slot.valid() ? ReadPlace(frame.slot(index.slot), index.dtype, 0) : index.constant;
    const std::int64_t part = FloorDiv(at, entry.divisor);
    peer.push_back({entry.grid_dim, entry.size == 0 ? part : part - FloorDiv(part, entry.size) * entry.size});
  }
  return peer;
}

BufferId BufferOf(const ViewPlan& plan, const Step& step, Frame& frame) {
  const BufferId own = frame.ref(plan.ref).buffer;
  return plan.peer.empty() || !own.valid() ? own
                                           : frame.machine().PeerBuffer(own, PeerOf(plan, frame), frame.site(step));
}

bool HasNegativeSize(const ViewPlan& plan, Frame& frame) {
  const auto negative = [&](const IndexValue& size) {
    return size.slot.valid() && ReadPlace(frame.slot(size.slot), size.dtype, 0) < 0;
  };
  return std::any_of(plan.extents.begin(), plan.extents.end(), negative) ||
         std::any_of(plan.axes.begin(), plan.axes.end(), [&](const AxisPlan& axis) { return negative(axis.times); });
}

Shape ShapeOf(const ViewPlan& plan, Frame& frame) {
  Shape shape = plan.type.shape;
  for (std::size_t d = 0; d < plan.extents.size(); ++d) {
    if (plan.extents[d].slot.valid()) shape[d] = ReadSize(plan.extents[d], frame);
  }
  return shape;
}

std::int64_t ElementsOf(const ViewPlan& plan, Frame& frame) {
  std::int64_t elements = 1;
  const auto count = [&](const Shape& shape) {
    for (const std::int64_t size : shape) elements = Saturated(elements, size == kDynamicDim ? 1 : size);
  };
  if (!plan.extents.empty()) {
    count(ShapeOf(plan, frame));
    return elements;
  }
  count(plan.type.shape);
  for (const AxisPlan& axis : plan.axes) elements = Saturated(elements, TimesOf(axis, frame));
  return elements;
}

void ResolveBox(const ViewPlan& plan, const Step& step, Frame& frame, BoxAccess& box) {
  const RefState& state = frame.ref(plan.ref);
  const RefInfo& info = frame.program().refs[plan.ref.index()];
  box.buffer = BufferOf(plan, step, frame);
  box.rank = static_cast<int>(plan.axes.size());
  for (std::size_t d = 0; d < plan.axes.size(); ++d) {
    const AxisPlan& axis = plan.axes[d];
    std::int64_t start = state.origin[d] + axis.base;
    for (const AxisPlan::Term& term : axis.terms) {
      const std::int64_t value = ReadPlace(frame.slot(term.value.slot), term.value.dtype, 0);
      start += term.scale * (term.divisor == 1 ? value : FloorDiv(value, term.divisor));
    }
    box.start[d] = start;
    box.count[d] = axis.count * TimesOf(axis, frame);
    box.step[d] = axis.step;
    box.lower[d] = info.bounded_by_window ? state.origin[d] : std::numeric_limits<std::int64_t>::min();
    box.upper[d] = info.bounded_by_window ? state.origin[d] + info.window[d] : std::numeric_limits<std::int64_t>::max();
  }
  CheckGuards(plan, /*bounds=*/true, step, frame);
  box.value_rank = static_cast<int>(plan.order.size());
  for (std::size_t j = 0; j < plan.order.size(); ++j) box.order[j] = plan.order[j];
  box.outside = info.outside;
  box.site = frame.site(step);
}

}  // namespace palladion
