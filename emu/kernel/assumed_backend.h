// The backend that was assumed for a chip, where neither the target nor the kernel names one. A JAX function is
// exported with the backend that the installed JAX compiles it for; a text exported without a target has none.
#ifndef PALLADION_EMU_KERNEL_ASSUMED_BACKEND_H_
#define PALLADION_EMU_KERNEL_ASSUMED_BACKEND_H_

#include <string_view>
#include <vector>

#include "emu/report.h"
#include "semantics/ir/module.h"

namespace palladion::kernel {

// What every report of the kernel on that target says of it: one remark, or none. `target` is the user's word.
std::vector<ReportedRemark> RemarksOf(const Kernel& kernel, std::string_view target);

}  // namespace palladion::kernel

#endif  // PALLADION_EMU_KERNEL_ASSUMED_BACKEND_H_
