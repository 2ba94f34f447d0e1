#include "semantics/program/strip_builder.h"

#include <algorithm>
#include <thread>
#include <utility>

namespace palladion {
namespace {

bool IsScalar(const Type& type) { return type.shape.empty(); }

std::size_t ElementsOf(const ValueTypes& types) { return static_cast<std::size_t>(NumElements(types.out[0].shape)); }

// Waking a thread takes some tens of microseconds; an element takes some tenths of a nanosecond in each operation.
std::size_t PartsFor(const StripGroup& group) {
  constexpr std::size_t kWorthwhile = std::size_t{1} << 20;  // elements times operations
  if (group.ops.size() < 2 || group.elements * group.ops.size() < kWorthwhile) return 1;
  return std::max(1u, std::thread::hardware_concurrency());
}

}  // namespace

bool FitsStrips(const ValueKernel& kernel, const ValueTypes& types) {
  if (kernel.strip == nullptr || types.out.size() != 1 || types.in.size() > kMaxStripOperands) return false;
  const std::size_t elements = ElementsOf(types);
  if (elements < kMinStripElements || !types.out[0].is_array()) return false;
  return std::all_of(types.in.begin(), types.in.end(), [&](const Type& type) {
    return type.is_array() && (IsScalar(type) || static_cast<std::size_t>(NumElements(type.shape)) == elements);
  });
}

bool StripBuilder::EndsBefore(const ValueTypes& types) const { return group_.elements != ElementsOf(types); }

void StripBuilder::Add(const Instr& op, ValueKernel kernel, const ValueTypes& types, const std::vector<SlotId>& in) {
  group_.elements = ElementsOf(types);
  StripOp strip{.kernel = std::move(kernel), .in = {}, .out = {}, .op = &op};
  for (std::size_t i = 0; i < in.size(); ++i) {
    strip.in.push_back({in[i], IsScalar(types.in[i]) ? 0 : BytesPerElement(types.in[i])});
  }
  const ValueId value = op.results[0];
  // Its memory is given when the group ends: a strip if nothing after the group reads it.
  if (!slots_.Borrowed(value)) unplaced_.push_back({slots_.DefineUnplaced(value), false});
  strip.out = {slots_.Of(value), BytesPerElement(types.out[0])};
  slots_.HoldFrees();
  group_.ops.push_back(std::move(strip));
}

bool StripBuilder::Reads(const std::vector<SlotId>& in) const {
  return std::any_of(group_.ops.begin(), group_.ops.end(),
                     [&](const StripOp& op) { return std::find(in.begin(), in.end(), op.out.slot) != in.end(); });
}

bool StripBuilder::EndsInside(SlotId slot) {
  for (Unplaced& unplaced : unplaced_) {
    if (unplaced.slot != slot) continue;
    unplaced.inside = true;
    return true;
  }
  return false;
}

bool StripBuilder::IsInside(SlotId slot) const {
  return std::any_of(unplaced_.begin(), unplaced_.end(), [&](const Unplaced& u) { return u.slot == slot && u.inside; });
}

bool StripBuilder::UsedAfter(SlotId slot, std::size_t op) const {
  return std::any_of(group_.ops.begin() + static_cast<std::ptrdiff_t>(op) + 1, group_.ops.end(),
                     [&](const StripOp& later) {
                       return std::any_of(later.in.begin(), later.in.end(),
                                          [&](const StripOperand& operand) { return operand.slot == slot; });
                     });
}

ByteCount StripBuilder::PlaceInside(std::size_t parts) {
  SlotMemory inside;
  std::vector<std::pair<SlotId, std::size_t>> live;  // slot and bytes
  std::vector<SlotId> placed;
  for (std::size_t i = 0; i < group_.ops.size(); ++i) {
    StripOp& op = group_.ops[i];
    for (StripOperand& operand : op.in) operand.advances = !IsInside(operand.slot);
    if (IsInside(op.out.slot)) {
      op.out.advances = false;
      SlotInfo& info = program_.slots[op.out.slot.index()];
      info.bytes = kStripElements * op.out.element_bytes;
      info.elements = kStripElements;
      info.offset = inside.Allocate(info.bytes);
      placed.push_back(op.out.slot);
      live.emplace_back(op.out.slot, info.bytes);
    }
    std::erase_if(live, [&](const auto& entry) {
      if (UsedAfter(entry.first, i)) return false;
      inside.Free(program_.slots[entry.first.index()].offset, entry.second);
      return true;
    });
  }
  if (placed.empty()) return {};
  const std::size_t base = slots_.Borrow(inside.size() * parts);
  for (SlotId slot : placed) program_.slots[slot.index()].offset += base;
  return ByteCount(static_cast<std::int64_t>(inside.size()));
}

StripParams StripBuilder::Finish() {
  // A group of one needs whole memory like any other operation.
  for (Unplaced& unplaced : unplaced_) {
    if (group_.ops.size() == 1) unplaced.inside = false;
    if (!unplaced.inside) slots_.Place(unplaced.slot);
  }
  const std::size_t parts = PartsFor(group_);
  const ByteCount inside = PlaceInside(parts);
  StripGroup group = std::exchange(group_, {});
  unplaced_.clear();
  return {group.elements, std::move(group.ops), parts, inside};
}

}  // namespace palladion
