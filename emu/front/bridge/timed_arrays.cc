#include "emu/front/bridge/timed_arrays.h"

#include <utility>
#include <vector>

#include "emu/kernel/arrays.h"
#include "emu/kernel/prepared_kernel.h"
#include "emu/run/launch/launch.h"
#include "emu/timing/report/format.h"
#include "emu/timing/time_kernel.h"
#include "emu/timing/timeline/page.h"
#include "emu/timing/timeline/trace.h"
#include "emu/tools/advice/advice_format.h"
#include "emu/tools/advice/advise.h"
#include "semantics/base/cat.h"
#include "semantics/base/source_lines.h"
#include "semantics/base/status.h"

namespace palladion::bridge {

absl::StatusOr<TimeReport> TimeOfArrays(const PreparedKernel& kernel, absl::Span<const ConstArray> arrays,
                                        const TimeWanted& wanted, const RunOptions& run) {
  PALLADION_ASSIGN_OR_RETURN(const machines::Machine machine, timing::MachineOf(kernel, wanted.changes));
  std::string compared;
  if (!wanted.compare.empty()) {
    PALLADION_ASSIGN_OR_RETURN(compared, timing::timeline::DataOfPage(wanted.compare));
  }
  PALLADION_ASSIGN_OR_RETURN(const std::vector<Tensor> inputs, kernel::TensorsOf(arrays));
  PALLADION_ASSIGN_OR_RETURN(const timing::base::Timed timed, timing::TimeKernel({.kernel = kernel,
                                                                                  .inputs = inputs,
                                                                                  .machine = machine,
                                                                                  .run = run,
                                                                                  .timeline = wanted.timeline,
                                                                                  .replay = wanted.replay}));
  PALLADION_RETURN_IF_ERROR(launch::EndOf(timed.report));
  const Module& module = kernel.state().module();
  SourceFiles sources;
  const auto source_line = [&](const std::string& file, int line) { return sources.Line(file, line); };
  const timing::report::TimingTextOptions options{.kernel_path = "<text>", .source_line = source_line};
  TimeReport rendered{.json = timing::report::TimingJson(timed.timing, module),
                      .text = Cat(kernel.name(), " ", timing::report::TimingText(timed.timing, module, options))};
  if (!timed.timeline.has_value()) return rendered;
  const timing::timeline::TimelineShown shown{.timeline = *timed.timeline,
                                              .timing = timed.timing,
                                              .report = timed.report,
                                              .module = module,
                                              .kernel_text = wanted.kernel_text,
                                              .kernel_path = "<text>",
                                              .source_line = source_line,
                                              .compared = compared};
  rendered.page = timing::timeline::TimelinePage(shown);
  rendered.trace = timing::timeline::TimelineTrace(shown);
  return rendered;
}

absl::StatusOr<TimeReport> AdviceOfArrays(const PreparedKernel& kernel, absl::Span<const ConstArray> arrays,
                                          const TimeWanted& wanted, const RunOptions& run,
                                          const AdviceWanted& advice_wanted) {
  PALLADION_ASSIGN_OR_RETURN(const machines::Machine machine, timing::MachineOf(kernel, wanted.changes));
  PALLADION_ASSIGN_OR_RETURN(const std::vector<Tensor> inputs, kernel::TensorsOf(arrays));
  PALLADION_ASSIGN_OR_RETURN(const advice::Advice advice,
                             advice::Advise({.kernel = kernel,
                                             .inputs = inputs,
                                             .machine = machine,
                                             .run = run,
                                             .seeds = advice_wanted.seeds == 0 ? advice::kSeeds : advice_wanted.seeds,
                                             .what_ifs = advice_wanted.what_ifs}));
  const Module& module = kernel.state().module();
  return TimeReport{advice::AdviceJson(advice, module), Cat(kernel.name(), " ", advice::AdviceText(advice, module))};
}

}  // namespace palladion::bridge
