// Takes elementwise operations into a group of strips (strips.h), and gives a finished group its memory: a value that
// only the group uses gets a strip, by last use inside the group; every other one the memory of a whole value.
#ifndef PALLADION_SEMANTICS_PROGRAM_STRIP_BUILDER_H_
#define PALLADION_SEMANTICS_PROGRAM_STRIP_BUILDER_H_

#include <cstddef>
#include <vector>

#include "semantics/base/units.h"
#include "semantics/ir/module.h"
#include "semantics/program/strips.h"
#include "semantics/program/value_slots.h"
#include "semantics/registry/value_kernel.h"

namespace palladion {

// Can the operation be one of a group?
bool FitsStrips(const ValueKernel& kernel, const ValueTypes& types);

class StripBuilder {
 public:
  StripBuilder(Program& program, ValueSlots& slots) : program_(program), slots_(slots) {}

  // A group has operations of one count of elements: before one of another count, it is to be finished.
  bool EndsBefore(const ValueTypes& types) const;
  void Add(const Instr& op, ValueKernel kernel, const ValueTypes& types, const std::vector<SlotId>& in);
  void Inspects(const Inspected* inspected) { group_.ops.back().inspected = inspected; }  // of the operation added last
  void Begin(const Instr* place) { place_ = place; }                                      // of the whole group

  bool empty() const { return group_.ops.empty(); }
  const Instr* place() const { return place_; }
  bool Reads(const std::vector<SlotId>& in) const;  // a result of the group
  // Nothing after the group reads it. True: the slot is one of the group's, which frees it.
  bool EndsInside(SlotId slot);

  // The group, with its memory; the slots' frees are held back until its step stands.
  StripParams Finish();

 private:
  // A value of the group whose memory is not decided yet.
  struct Unplaced {
    SlotId slot;
    bool inside;  // its last use is inside the group
  };

  bool IsInside(SlotId slot) const;
  bool UsedAfter(SlotId slot, std::size_t op) const;
  ByteCount PlaceInside(std::size_t parts);  // bytes of one part's strips

  Program& program_;
  ValueSlots& slots_;
  StripGroup group_;
  std::vector<Unplaced> unplaced_;
  const Instr* place_ = nullptr;
};

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_PROGRAM_STRIP_BUILDER_H_
