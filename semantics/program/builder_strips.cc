// Builder: taking elementwise operations into a group, and giving a finished group its memory.
#include <algorithm>
#include <thread>

#include "semantics/program/builder.h"

namespace palladion {
namespace {

bool IsScalar(const Type& type) { return type.shape.empty(); }

// Waking a thread takes some tens of microseconds; an element takes some tenths of a nanosecond in each operation.
std::size_t PartsFor(const StripGroup& group) {
  constexpr std::size_t kWorthwhile = std::size_t{1} << 20;  // elements times operations
  if (group.ops.size() < 2 || group.elements * group.ops.size() < kWorthwhile) return 1;
  return std::max(1u, std::thread::hardware_concurrency());
}

}  // namespace

bool Builder::FitsStrips(const ValueKernel& kernel, const ValueTypes& types) const {
  if (kernel.strip == nullptr || types.out.size() != 1 || types.in.size() > kMaxStripOperands) return false;
  const auto elements = static_cast<std::size_t>(NumElements(types.out[0].shape));
  if (elements < kMinStripElements || !types.out[0].is_array()) return false;
  return std::all_of(types.in.begin(), types.in.end(), [&](const Type& type) {
    return type.is_array() && (IsScalar(type) || static_cast<std::size_t>(NumElements(type.shape)) == elements);
  });
}

void Builder::AddToStrips(const Instr& op, ValueKernel kernel, const ValueTypes& types, const std::vector<SlotId>& in,
                          const Inspected* inspected) {
  if (!op.results[0].valid()) return;  // pure, and nobody reads it
  const auto elements = static_cast<std::size_t>(NumElements(types.out[0].shape));
  if (strips_.elements != elements) FlushStrips();
  strips_.elements = elements;
  StripOp strip{.kernel = std::move(kernel), .in = {}, .out = {}, .op = &op, .inspected = inspected};
  for (std::size_t i = 0; i < in.size(); ++i) {
    strip.in.push_back({in[i], IsScalar(types.in[i]) ? 0 : BytesPerElement(types.in[i])});
  }
  const ValueId value = op.results[0];
  if (!borrowed_slot_[value.index()]) {
    // Its memory is given when the group ends: a strip if nothing after the group reads it.
    program_.slots.push_back({.bytes = ByteSize(types.out[0]), .elements = elements});
    slot_of_[value.index()] = SlotId{static_cast<std::int32_t>(program_.slots.size() - 1)};
    unplaced_.push_back({slot_of_[value.index()], false});
  }
  strip.out = {slot_of_[value.index()], BytesPerElement(types.out[0])};
  if (strips_.ops.empty()) strips_place_ = current_;
  strips_.ops.push_back(std::move(strip));
}

bool Builder::ReadsStrips(const std::vector<SlotId>& in) const {
  return std::any_of(strips_.ops.begin(), strips_.ops.end(),
                     [&](const StripOp& op) { return std::find(in.begin(), in.end(), op.out.slot) != in.end(); });
}

bool Builder::ForgetUnplaced(SlotId slot) {
  for (Unplaced& unplaced : unplaced_) {
    if (unplaced.slot != slot) continue;
    unplaced.inside = true;
    return true;
  }
  return false;
}

// Strips of memory by last use inside the group, from one region that is free again when the group has run.
std::size_t Builder::PlaceInsideStrips(std::size_t parts) {
  SlotMemory inside;
  std::vector<std::pair<SlotId, std::size_t>> live;  // slot and bytes
  const auto is_inside = [&](SlotId slot) {
    return std::any_of(unplaced_.begin(), unplaced_.end(),
                       [&](const Unplaced& u) { return u.slot == slot && u.inside; });
  };
  const auto used_after = [&](SlotId slot, std::size_t i) {
    return std::any_of(strips_.ops.begin() + static_cast<std::ptrdiff_t>(i) + 1, strips_.ops.end(),
                       [&](const StripOp& op) {
                         return std::any_of(op.in.begin(), op.in.end(),
                                            [&](const StripOperand& operand) { return operand.slot == slot; });
                       });
  };
  std::vector<SlotId> placed;
  for (std::size_t i = 0; i < strips_.ops.size(); ++i) {
    StripOp& op = strips_.ops[i];
    for (StripOperand& operand : op.in) operand.advances = !is_inside(operand.slot);
    if (is_inside(op.out.slot)) {
      op.out.advances = false;
      SlotInfo& info = program_.slots[op.out.slot.index()];
      info.bytes = kStripElements * op.out.element_bytes;
      info.elements = kStripElements;
      info.offset = inside.Allocate(info.bytes);
      placed.push_back(op.out.slot);
      live.emplace_back(op.out.slot, info.bytes);
    }
    std::erase_if(live, [&](const auto& entry) {
      if (used_after(entry.first, i)) return false;
      inside.Free(program_.slots[entry.first.index()].offset, entry.second);
      return true;
    });
  }
  if (placed.empty()) return 0;
  const std::size_t base = memory_.Allocate(inside.size() * parts);
  for (SlotId slot : placed) program_.slots[slot.index()].offset += base;
  pending_frees_.push_back({base, inside.size() * parts});
  return inside.size();
}

void Builder::FlushStrips() {
  if (strips_.ops.empty()) return;
  // A group of one needs whole memory like any other operation.
  if (strips_.ops.size() == 1) {
    for (Unplaced& unplaced : unplaced_) unplaced.inside = false;
  }
  for (const Unplaced& unplaced : unplaced_) {
    SlotInfo& info = program_.slots[unplaced.slot.index()];
    if (!unplaced.inside) info.offset = memory_.Allocate(info.bytes);
  }
  const std::size_t parts = PartsFor(strips_);
  program_.wants_threads |= parts > 1;
  const std::size_t inside_bytes = PlaceInsideStrips(parts);
  StripGroup group = std::move(strips_);
  strips_ = {};
  unplaced_.clear();
  const Instr* now = current_;
  current_ = strips_place_;
  if (group.ops.size() == 1) {
    StripOp& op = group.ops[0];
    std::vector<SlotId> in;
    for (const StripOperand& operand : op.in) in.push_back(operand.slot);
    EmitValue(std::move(op.kernel), in, {op.out.slot}, op.op);
    program_.steps.back().inspected = op.inspected;
  } else {
    const double work = static_cast<double>(group.elements) * static_cast<double>(group.ops.size());
    EmitAs(StepKind::kStrips, RunStrips, StripParams{group.elements, std::move(group.ops), parts, inside_bytes});
    SetWork(work);
  }
  current_ = now;
  for (const Range& range : pending_frees_) memory_.Free(range.offset, range.bytes);
  pending_frees_.clear();
}

}  // namespace palladion
