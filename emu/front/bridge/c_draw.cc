// palladion_draw of the C ABI: the programs of one launch and what each touches, as JSON and as a page (docs/trace.md).
#include <optional>
#include <string>
#include <vector>

#include "emu/check.h"
#include "emu/front/bridge/c_arrays.h"
#include "emu/front/bridge/c_lines.h"
#include "emu/front/bridge/interrupt.h"
#include "emu/kernel/arrays.h"
#include "emu/kernel/prepared_kernel.h"
#include "emu/tools/debug/recorded_launch.h"
#include "emu/tools/debug/step_recorder.h"
#include "emu/tools/debug/trace_page.h"
#include "emu/tools/debug/trace_recorder.h"
#include "semantics/base/status.h"

namespace palladion::bridge {
namespace {

// What a check of one schedule finds, which is no pass; nothing where none is wanted.
absl::StatusOr<std::optional<Report>> CheckedOnce(const palladion_draw_request& request,
                                                  absl::Span<const ConstArray> given, const RunOptions& run) {
  if (request.check == 0) return std::nullopt;
  PALLADION_ASSIGN_OR_RETURN(const PreparedKernel kernel, PrepareText(TextOf(request.text, request.size),
                                                                      {.kernel = std::string(TextOf(request.kernel)),
                                                                       .target = std::string(TextOf(request.target))}));
  PALLADION_ASSIGN_OR_RETURN(const std::vector<Tensor> inputs, kernel::TensorsOf(given));
  CheckOptions options{.seeds = 1};
  options.run = run;
  PALLADION_ASSIGN_OR_RETURN(Report report, Check(kernel, inputs, options));
  if (report.verdict == Verdict::kClean) report.verdict = Verdict::kRan;
  return report;
}

absl::StatusOr<std::string> DrawnData(const palladion_draw_request& request, const palladion_array* arrays,
                                      std::size_t n) {
  PALLADION_ASSIGN_OR_RETURN(const PreparedKernel kernel, PrepareText(TextOf(request.text, request.size),
                                                                      {.kernel = std::string(TextOf(request.kernel)),
                                                                       .target = std::string(TextOf(request.target)),
                                                                       .observable = true}));
  PALLADION_ASSIGN_OR_RETURN(const std::vector<ConstArray> given, ConstArrays(arrays, n));
  InterruptibleRun interruptible;
  const RunOptions run = interruptible.Options(request.budget);
  debug::TraceRecorder trace(kernel.state(), {});
  debug::StepRecorder steps(kernel.state(), {.elements = request.values != 0 ? debug::kPageElements : 0});
  const std::vector<run::Watcher*> recorders = {&trace, &steps};
  PALLADION_RETURN_IF_ERROR(debug::RecordLaunch(kernel, given, run, recorders));
  PALLADION_ASSIGN_OR_RETURN(const std::optional<Report> report, CheckedOnce(request, given, run));
  SourceLines lines(request.lines, request.n_lines);
  return debug::TraceData({.trace = trace,
                           .kernel = kernel.state(),
                           .steps = &steps,
                           .report = report ? &*report : nullptr,
                           .source_line = [&](const std::string& file, int line) { return lines.Line(file, line); }});
}

}  // namespace
}  // namespace palladion::bridge

char* palladion_draw(const palladion_draw_request* request, const palladion_array* inputs, size_t n_inputs, char** page,
                     palladion_error* error) {
  namespace bridge = palladion::bridge;
  char* json = nullptr;
  const absl::Status status = bridge::Guarded([&]() -> absl::Status {
    if (request == nullptr) return absl::InvalidArgumentError("no request");
    PALLADION_ASSIGN_OR_RETURN(const std::string data, bridge::DrawnData(*request, inputs, n_inputs));
    json = bridge::CopyText(data);
    bridge::SetText(page, palladion::debug::TracePage(data));
    return absl::OkStatus();
  });
  bridge::SetError(status, error);
  return json;
}
