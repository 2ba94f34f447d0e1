// The lines of a kernel in its timing report: of the user's Python, where the text has them.
#ifndef PALLADION_EMU_TIMING_REPORT_LINE_PLACES_H_
#define PALLADION_EMU_TIMING_REPORT_LINE_PLACES_H_

#include <string>

#include "semantics/ir/module.h"

namespace palladion::timing::report {

// "line 12" of a text without lines of Python, else "kernels.py:41".
std::string LineText(const Module& module, const Kernel& kernel, int text_line);

}  // namespace palladion::timing::report

#endif  // PALLADION_EMU_TIMING_REPORT_LINE_PLACES_H_
