#include "emu/run/agents/in_flight_watch.h"

#include <algorithm>

#include "memory_model/sets/operand_set.h"
#include "semantics/base/cat.h"

namespace palladion::agents {
namespace {

struct ArrayForm {
  absl::Span<const std::int64_t> shape;
  ElementSize element_size;
};

// Ascending.
std::vector<memory_model::ByteRange> RangesOf(const memory_model::AccessSet& set, const ArrayForm& array) {
  if (!set.is_box) return set.ranges;
  std::vector<memory_model::ByteRange> ranges;
  memory_model::ForEachRun(set.box, array.shape, array.element_size, [&](std::int64_t begin, std::int64_t end) {
    ranges.push_back({begin, end});
  });
  return ranges;
}

bool Meet(const memory_model::AccessSet& a, const memory_model::AccessSet& b, const ArrayForm& array) {
  if (a.is_box && b.is_box) return memory_model::Relate(a.box, b.box) != memory_model::BoxRelation::kDisjoint;
  const std::vector<memory_model::ByteRange> left = RangesOf(a, array), right = RangesOf(b, array);
  for (std::size_t i = 0, j = 0; i < left.size() && j < right.size();) {
    if (left[i].begin < right[j].end && right[j].begin < left[i].end) return true;
    left[i].end <= right[j].end ? ++i : ++j;
  }
  return false;
}

memory_model::AccessSet SetIn(const AsyncOperand& operand, const ArrayForm& array) {
  return memory_model::SetOfOperand(operand, array.shape, array.element_size);
}

ArrayForm FormOf(const memory_model::Memory& memory, BufferId array) {
  return {memory.ShapeOf(array), memory.ElementSizeOf(array)};
}

}  // namespace

InFlightWatch::InFlightWatch(memory_model::Memory& memory, BufferId array, const HeldCopy& copy)
    : memory_(memory), array_(array), copy_(copy.name), written_(SetIn(copy.destination, FormOf(memory, array))) {}

void InFlightWatch::Box(const Who&, AccessKind kind, const BoxAccess& access, const memory_model::BoxReach& reach,
                        const std::byte*) {
  if (access.buffer != array_ || reach.empty || reach.none_copied) return;
  Look(kind, memory_model::SetOf(memory_.ShapeOf(array_), FormOf(memory_, array_).element_size, access, reach),
       access.site);
}

void InFlightWatch::Points(const Who&, AccessKind kind, const PointAccess& access, const std::byte*) {
  if (access.buffer == array_) Look(kind, memory_model::SetOf(access), access.site);
}

void InFlightWatch::Look(AccessKind kind, const memory_model::AccessSet& set, const Site& site) {
  const bool touches = kind == AccessKind::kRead || kind == AccessKind::kWrite || kind == AccessKind::kAtomic;
  if (!touches || set.empty() || !Meet(set, written_, FormOf(memory_, array_))) return;
  memory_.Report({.code = FindingCode::kRaceAsync,
                  .message = Cat("a ", Name(kind), " of '", std::string(memory_.NameOf(array_)), "', which ", copy_,
                                 " writes: the copy may still be in flight"),
                  .loc = site.loc,
                  .text_line = site.text_line,
                  .why = "an earlier kernel has started the copy, and this one is not given its semaphore",
                  .fix = "let a kernel that is given the semaphore and the array wait for the copy, and pass on the "
                         "array that it gives"});
}

}  // namespace palladion::agents
