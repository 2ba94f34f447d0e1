// A recorded launch as one self-contained HTML page: the grid, each operand with the blocks that each program reads and
// writes, padding shaded, findings marked, the user's source, and a way to step through the programs and through the
// instructions of one. The page is emu/tools/debug/page/trace_page.html, which holds all its code; here is its data,
// as JSON, from which pictures are drawn too (python/palladion/report/pictures). It shows at most
// kPagePrograms programs and says so.
#ifndef PALLADION_EMU_TOOLS_DEBUG_TRACE_PAGE_H_
#define PALLADION_EMU_TOOLS_DEBUG_TRACE_PAGE_H_

#include <functional>
#include <optional>
#include <string>

#include "emu/report.h"
#include "emu/tools/debug/step_recorder.h"
#include "emu/tools/debug/trace_recorder.h"

namespace palladion::debug {

inline constexpr std::size_t kPagePrograms = 4096;
inline constexpr std::size_t kPageElements = 200000;  // of values, where they are wanted

// All outlive the call.
struct PageContents {
  const TraceRecorder& trace;
  const kernel::PreparedKernelState& kernel;
  const StepRecorder* steps = nullptr;  // nullptr: the instructions are not shown
  bool replayed = false;                // the run was that of a schedule: its steps are put in their order, too
  const Report* report = nullptr;       // of a check of the same kernel and inputs; nullptr: nothing was looked for
  // Of the user's files; may be empty.
  std::function<std::optional<std::string>(const std::string& file, int line)> source_line = {};
};

std::string TraceData(const PageContents& contents);
std::string TracePage(const std::string& data);

}  // namespace palladion::debug

#endif  // PALLADION_EMU_TOOLS_DEBUG_TRACE_PAGE_H_
