// Whether a value can reach anything but values. A kernel is *oblivious* where nothing that an agent loads reaches
// control, an index, a mask, a size, a device id or the amount of a signal: then each agent makes the same accesses and
// the same waits in every schedule (docs/explanation/checks.md#schedules-without-values). A fact of the kernel text, by
// the facts that the registry has of its operations; where they do not say enough, the worst is assumed.
#ifndef PALLADION_EMU_RUN_LAUNCH_OBLIVIOUS_H_
#define PALLADION_EMU_RUN_LAUNCH_OBLIVIOUS_H_

#include <vector>

#include "semantics/ir/module.h"

namespace palladion::launch {

struct Obliviousness {
  bool oblivious = false;
  // By ValueId: what control, indices, masks and synchronisation are computed from. Of an oblivious kernel nothing of
  // it comes from memory.
  std::vector<bool> needed;
  // By operand: what is in it decides, too, and what is stored there is needed. Of ObliviousButForOperands.
  std::vector<bool> contents;
  bool Needs(ValueId value) const { return value.valid() && needed[value.index()]; }
};

// `kernel` is verified.
Obliviousness ObliviousnessOf(const Kernel& kernel);

// The same where what plain operands hold (plain_operands.h) may decide, such as the scalars that index maps read:
// then two runs make the same accesses if they have the same schedule, and such an operand the same contents.
Obliviousness ObliviousButForOperands(const Kernel& kernel);

}  // namespace palladion::launch

#endif  // PALLADION_EMU_RUN_LAUNCH_OBLIVIOUS_H_
