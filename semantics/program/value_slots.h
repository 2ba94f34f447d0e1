// Where the values of a program under construction lie: a slot for each, and the memory of those that are no constants.
// A value's memory is free again after its last use in the region that defines it, so a loop body needs what it holds
// at once. While a group of strips is under construction (strip_builder.h), what is freed is held back: its operations,
// which are not emitted yet, still read it.
#ifndef PALLADION_SEMANTICS_PROGRAM_VALUE_SLOTS_H_
#define PALLADION_SEMANTICS_PROGRAM_VALUE_SLOTS_H_

#include <cstddef>
#include <map>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "semantics/ir/module.h"
#include "semantics/program/program.h"
#include "semantics/program/slot_memory.h"

namespace palladion {

Type TypeOf(const Kernel& kernel, const Arg& arg);  // of an array operand

class ValueSlots {
 public:
  ValueSlots(const Kernel& kernel, Program& program);

  const Type& TypeOf(ValueId value) const { return kernel_.values[value.index()].type; }

  // The slot of an array operand; a literal or constant gets one of its own.
  absl::StatusOr<SlotId> In(const Arg& arg);
  SlotId Of(ValueId value) const { return slot_of_[value.index()]; }       // invalid: it has none
  bool Borrowed(ValueId value) const { return borrowed_[value.index()]; }  // it lives in another value's slot
  bool IsConstant(SlotId slot) const { return program_.slots[slot.index()].constant != nullptr; }

  SlotId New(const Type& type);
  SlotId Define(ValueId value);               // new memory for a result
  void DefineAs(ValueId value, SlotId slot);  // a result that lives in another value's slot
  void DefineAsConstant(ValueId value, SlotId slot) { slot_of_[value.index()] = slot; }
  void Own(ValueId value, absl::Span<const SlotId> owned);  // these are freed with the value

  // A slot that has no memory yet, for the value unless it lives in another's: Place gives it some.
  SlotId DefineUnplaced(ValueId value);
  void Place(SlotId slot);
  // Memory for a group of strips, free when its frees are let go.
  std::size_t Borrow(std::size_t bytes);

  void Free(SlotId slot);
  std::vector<SlotId> SlotsOf(ValueId value);  // what is freed with the value: its slot, or those that it owns
  void HoldFrees() { holds_ = true; }
  void LetFreesGo();

  // The last slot, a constant whose bytes the caller writes; nullptr: too large for the program, and there is none.
  std::byte* NewConstant(std::size_t bytes);
  SlotId last() const { return SlotId{static_cast<std::int32_t>(program_.slots.size() - 1)}; }

  std::size_t arena_bytes() const { return memory_.size(); }

 private:
  struct Range {
    std::size_t offset, bytes;
  };

  const Kernel& kernel_;
  Program& program_;
  SlotMemory memory_;
  std::size_t folded_bytes_ = 0;                          // of constants that NewConstant gave
  std::vector<SlotId> slot_of_;                           // by ValueId
  std::vector<bool> borrowed_;                            // by ValueId
  std::map<std::int32_t, std::vector<SlotId>> owned_by_;  // values that free other slots
  bool holds_ = false;
  std::vector<Range> held_;
};

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_PROGRAM_VALUE_SLOTS_H_
