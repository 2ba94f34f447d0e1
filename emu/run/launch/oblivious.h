// Can a value reach anything but values? A kernel is *oblivious* where nothing that an agent loads reaches control, an
// index, a mask, a size, a device id or the amount of a signal: then every schedule has the same accesses
// of each agent, and whatever waits, waits for the same (docs/checks.md#schedules-without-values). A fact of the kernel
// text, by the facts that the registry has of its operations; of what they leave unsaid the worst is taken.
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
  bool Needs(ValueId value) const { return value.valid() && needed[value.index()]; }
};

// `kernel` is verified.
Obliviousness ObliviousnessOf(const Kernel& kernel);

}  // namespace palladion::launch

#endif  // PALLADION_EMU_RUN_LAUNCH_OBLIVIOUS_H_
