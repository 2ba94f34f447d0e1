// Operands without blocks that a kernel only loads from and stores to by instructions of its own: all that is ever
// in them is what the caller gave and what these store. Others are copied by engines, changed by atomics, handed on to
// regions or functions, seen by other devices, or share their memory.
#ifndef PALLADION_EMU_RUN_LAUNCH_PLAIN_OPERANDS_H_
#define PALLADION_EMU_RUN_LAUNCH_PLAIN_OPERANDS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "semantics/ir/module.h"

namespace palladion::launch {

class PlainOperands {
 public:
  // None: for who wants to know of no operand.
  PlainOperands() = default;
  explicit PlainOperands(const Kernel& kernel);  // verified

  // The number of the plain operand whose ref that is, in the kernel's body or in an index map.
  std::optional<std::size_t> Of(ValueId ref) const;

 private:
  void NameParams(const Kernel& kernel);
  void Look(const Region& region);
  void Look(const Instr& op);
  void LookAtViews(const Arg& arg);
  void Drop(const Arg& arg);

  std::map<std::int32_t, std::size_t> operand_of_;  // by ref
};

}  // namespace palladion::launch

#endif  // PALLADION_EMU_RUN_LAUNCH_PLAIN_OPERANDS_H_
