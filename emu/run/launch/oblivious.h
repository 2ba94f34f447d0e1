// Whether a value can reach anything but values. A kernel is *oblivious* where nothing that an agent loads reaches
// control, an index, a mask, a size, a device id or the amount of a signal: then each agent makes the same accesses and
// the same waits in every schedule (docs/checks.md#schedules-without-values). A fact of the kernel text, by the facts
// that the registry has of its operations; where they do not say enough, the worst is assumed.
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
