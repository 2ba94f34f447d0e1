// A recorded launch as one self-contained HTML page: the grid, each operand with the blocks that each program reads and
// writes, padding shaded, findings marked, and a way to step through the programs. The page is
// emu/tools/debug/page/trace_page.html, which holds all its code; here it is given its data. It shows at most
// kPagePrograms programs and says so.
#ifndef PALLADION_EMU_TOOLS_DEBUG_TRACE_PAGE_H_
#define PALLADION_EMU_TOOLS_DEBUG_TRACE_PAGE_H_

#include <string>

#include "emu/report.h"
#include "emu/tools/debug/trace_recorder.h"

namespace palladion::debug {

inline constexpr std::size_t kPagePrograms = 4096;

// `report`: of a check of the same kernel and inputs, whose findings are marked; nullptr: nothing was looked for.
std::string TracePage(const TraceRecorder& trace, const kernel::PreparedKernelState& kernel, const Report* report);

}  // namespace palladion::debug

#endif  // PALLADION_EMU_TOOLS_DEBUG_TRACE_PAGE_H_
