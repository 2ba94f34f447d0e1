// palladion_draw of the C ABI: the programs of one launch and what each touches, as JSON and as a page
// (docs/guides/trace.md).
#include <optional>
#include <string>
#include <vector>

#include "emu/check.h"
#include "emu/check/inline_suppressions.h"
#include "emu/check/replayed_run.h"
#include "emu/front/bridge/c_arrays.h"
#include "emu/front/bridge/c_lines.h"
#include "emu/front/bridge/interrupt.h"
#include "emu/front/options/check_options.h"
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
                                                  absl::Span<const ConstArray> given, CheckOptions options) {
  if (request.check == 0) return std::nullopt;
  PALLADION_ASSIGN_OR_RETURN(const PreparedKernel kernel, PrepareText(TextOf(request.text, request.size),
                                                                      {.kernel = std::string(TextOf(request.kernel)),
                                                                       .target = std::string(TextOf(request.target))}));
  PALLADION_ASSIGN_OR_RETURN(const std::vector<Tensor> inputs, kernel::TensorsOf(given));
  options.seeds = 1;
  PALLADION_ASSIGN_OR_RETURN(Report report, Check(kernel, inputs, options));
  check::ApplyInlineSuppressions(&kernel.state().module(), report);
  if (report.verdict == Verdict::kClean) report.verdict = Verdict::kRan;
  return report;
}

// Recorders see one run, of `kernel` itself or, replayed, of what stands for it.
absl::Status Record(const PreparedKernel& kernel, absl::Span<const ConstArray> given, const CheckOptions& options,
                    const std::optional<check::ReplayedRun>& replayed, absl::Span<run::Watcher* const> recorders) {
  if (!replayed.has_value()) return debug::RecordLaunch(kernel, given, options.run, recorders);
  return replayed->Run({.run = options.run, .observers = {recorders.begin(), recorders.end()}}).status();
}

absl::StatusOr<std::string> DrawnData(const palladion_draw_request& request, const palladion_array* arrays,
                                      std::size_t n) {
  PALLADION_ASSIGN_OR_RETURN(const PreparedKernel plain, PrepareText(TextOf(request.text, request.size),
                                                                     {.kernel = std::string(TextOf(request.kernel)),
                                                                      .target = std::string(TextOf(request.target)),
                                                                      .observable = true}));
  PALLADION_ASSIGN_OR_RETURN(const std::vector<ConstArray> given, ConstArrays(arrays, n));
  InterruptibleRun interruptible;
  PALLADION_ASSIGN_OR_RETURN(CheckOptions options, options::RunOptionsOf(TextsOf(request.options)));
  const bool padded_bounds = options.run.padded_bounds;
  options.run = interruptible.Options(request.budget);
  options.run.padded_bounds = padded_bounds;
  std::vector<Tensor> inputs;
  std::optional<check::ReplayedRun> replayed;
  if (!options.replay.empty()) {
    PALLADION_ASSIGN_OR_RETURN(inputs, kernel::TensorsOf(given));
    PALLADION_ASSIGN_OR_RETURN(replayed, check::ReplayedRun::Of(plain, inputs, options));
  }
  const PreparedKernel& kernel = replayed.has_value() ? replayed->kernel() : plain;
  debug::TraceRecorder trace(kernel.state(), {});
  debug::StepRecorder steps(kernel.state(), {.elements = request.values != 0 ? debug::kPageElements : 0});
  const std::vector<run::Watcher*> recorders = {&trace, &steps};
  PALLADION_RETURN_IF_ERROR(Record(kernel, given, options, replayed, recorders));
  PALLADION_ASSIGN_OR_RETURN(const std::optional<Report> report, CheckedOnce(request, given, options));
  SourceLines lines(request.lines, request.n_lines);
  return debug::TraceData({.trace = trace,
                           .kernel = kernel.state(),
                           .steps = &steps,
                           .replayed = replayed.has_value(),
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
