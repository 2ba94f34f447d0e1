// palladion trace: one launch, recorded for people to look at: in virtual time where the chip has a model of it
// (docs/guides/timeline.md), else what each program touched, in program order.
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emu/check.h"
#include "emu/front/command/attended.h"
#include "emu/front/command/command_common.h"
#include "emu/front/command/command_replay.h"
#include "emu/front/command/command_schedule.h"
#include "emu/front/command/command_timeline.h"
#include "emu/front/command/output_file.h"
#include "emu/kernel/arrays.h"
#include "emu/run/agents/host_memory.h"
#include "emu/timing/time_kernel.h"
#include "emu/tools/debug/recorded_launch.h"
#include "emu/tools/debug/step_recorder.h"
#include "emu/tools/debug/trace_json.h"
#include "emu/tools/debug/trace_page.h"
#include "emu/tools/debug/trace_recorder.h"
#include "semantics/base/cat.h"
#include "semantics/base/source_lines.h"
#include "semantics/base/status.h"

namespace palladion::command {
namespace {

namespace fs = std::filesystem;

using Files = std::vector<std::pair<std::string, OutputFile>>;

absl::StatusOr<Files> OpenFiles(const CommandLine& line) {
  if (!line.Has("out") && !line.Has("page"))
    return absl::InvalidArgumentError(
        "trace writes files: give --out TRACE.json (for Perfetto), --page PAGE.html, or both");
  if (line.Has("out") && line.Has("page") &&
      fs::weakly_canonical(line.Flag("out")) == fs::weakly_canonical(line.Flag("page")))
    return absl::InvalidArgumentError(Cat("--out and --page are the same file ", line.Flag("out"), "; give two"));
  Files files;
  for (const char* flag : {"out", "page"}) {
    if (!line.Has(flag)) continue;
    PALLADION_ASSIGN_OR_RETURN(OutputFile file, OutputFile::Open(line, flag));
    files.emplace_back(flag, std::move(file));
  }
  return files;
}

// Why a kernel that can run has no picture in time.
bool HasNoTime(const absl::Status& status) {
  return absl::IsUnimplemented(status) || absl::IsNotFound(status) || absl::IsInvalidArgument(status);
}

class Tracing {
 public:
  Tracing(const CommandLine& line, const Console& console) : line_(line), console_(console) {}

  absl::StatusOr<ExitCode> Trace() {
    for (const char* flag : {"seeds", "fill", "proxy", "links", "bounds"}) {
      if (line_.Has(flag) && (flag == std::string_view("seeds") || !line_.Has("replay")))
        return absl::InvalidArgumentError(Cat("--", flag, " is of the check whose schedule --view schedule draws"));
    }
    PALLADION_ASSIGN_OR_RETURN(Files files, OpenFiles(line_));
    options_.run.budget_name = kBudgetFlag;
    PALLADION_RETURN_IF_ERROR(SetOptions(line_, kReadings, options_));
    PALLADION_ASSIGN_OR_RETURN(options_.run.loop_budget, PositiveFlag(line_, "budget", options_.run.loop_budget));
    if (line_.Has("replay")) {
      PALLADION_ASSIGN_OR_RETURN(options_.replay, ScheduleOf(line_));
    }
    PALLADION_ASSIGN_OR_RETURN(events_, PositiveFlag(line_, "events", 200000));
    PALLADION_ASSIGN_OR_RETURN(const std::string view, ChoiceFlag(line_, "view"));
    PALLADION_ASSIGN_OR_RETURN(const KernelFile file, LoadKernel(line_));
    PALLADION_ASSIGN_OR_RETURN(inputs_, ReadInputs(line_, file.kernel));
    const TargetBackend backend = file.kernel.state().program().target.backend;
    const bool has_machine = backend == TargetBackend::kMosaicGpu || backend == TargetBackend::kMosaicTpu;
    const bool in_time = view == "time" || (view == "auto" && has_machine);
    if (!in_time && (line_.Has("sm") || line_.Has("core") || line_.Has("device")))
      return absl::InvalidArgumentError(Cat("--",
                                            line_.Has("sm")     ? "sm"
                                            : line_.Has("core") ? "core"
                                                                : "device",
                                            " says which part of a chip is drawn in time, and programs are "
                                            "drawn; leave it out, or give --view time"));
    if (in_time) {
      const absl::StatusOr<ExitCode> code = DrawTime(file, files);
      if (view == "time" || code.ok() || drawn_ || !HasNoTime(code.status())) return code;
      console_.err << "palladion: note: programs and operands are drawn, as this kernel has no time: "
                   << code.status().message() << "\n";
    }
    return DrawPrograms(file, files);
  }

 private:
  // Of the same kernel and inputs; none with --no-check.
  absl::StatusOr<std::optional<Report>> Checked(const KernelFile& file) const {
    if (line_.Has("no-check")) return std::nullopt;
    PALLADION_ASSIGN_OR_RETURN(Report report, Check(file.kernel, inputs_, options_));
    if (report.verdict == Verdict::kClean) report.verdict = Verdict::kRan;  // one schedule is no pass
    return report;
  }

  absl::Status Write(Files& files, const std::string& flag, std::string_view text) {
    for (auto& [of, file] : files) {
      if (of != flag) continue;
      PALLADION_RETURN_IF_ERROR(file.Write(text));
      console_.out << "wrote " << line_.Flag(flag) << "\n";
    }
    return absl::OkStatus();
  }

  absl::StatusOr<ExitCode> DrawTime(const KernelFile& plain, Files& files) {
    PALLADION_ASSIGN_OR_RETURN(const machines::Machine machine, timing::MachineOf(plain.kernel, {}));
    const absl::StatusOr<timing::timeline::TimelineOptions> unit = UnitDrawn(line_, machine);
    drawn_ = !unit.ok();  // a wrong name must not draw another picture
    PALLADION_RETURN_IF_ERROR(unit.status());
    PALLADION_RETURN_IF_ERROR(agents::CheckMemory(plain.kernel.state(), agents::HostMemoryLimit()));
    PALLADION_ASSIGN_OR_RETURN(const KernelFile file, LoadKernel(line_, /*observable=*/true));
    Attended attended(console_, file.kernel.name());
    options_.run.control = attended.control();
    timing::timeline::TimelineOptions drawn = *unit;
    drawn.spans = static_cast<std::size_t>(events_);
    PALLADION_ASSIGN_OR_RETURN(const timing::base::Timed timed, timing::TimeKernel({.kernel = file.kernel,
                                                                                    .inputs = inputs_,
                                                                                    .machine = machine,
                                                                                    .run = options_.run,
                                                                                    .timeline = drawn,
                                                                                    .races = !line_.Has("no-check")}));
    drawn_ = true;
    PALLADION_ASSIGN_OR_RETURN(const std::optional<Report> checked, Checked(plain));
    const Report& report = checked.has_value() ? *checked : timed.report;
    for (const auto& [flag, picture] : {std::pair("out", Picture::kTrace), std::pair("page", Picture::kPage)}) {
      if (line_.Has(flag)) PALLADION_RETURN_IF_ERROR(Write(files, flag, TextOf(picture, file, {timed, report})));
    }
    console_.out << "kernel @" << file.kernel.name() << ": " << timed.timeline->spans.size() << " spans of "
                 << timed.timeline->of;
    if (timed.timeline->dropped > 0) console_.out << "; " << timed.timeline->dropped << " past --events were left out";
    console_.out << "\n";
    return ExitCodeOf(report);
  }

  absl::StatusOr<ExitCode> DrawPrograms(const KernelFile& file, Files& files) {
    // The page steps through instructions, which run by themselves in an observable kernel only.
    PALLADION_ASSIGN_OR_RETURN(const KernelFile loaded, LoadKernel(line_, /*observable=*/line_.Has("page")));
    PALLADION_ASSIGN_OR_RETURN(const auto replayed, ReplayedRunOf(line_, console_, loaded.kernel, inputs_));
    const PreparedKernel& recorded = replayed.has_value() ? replayed->kernel() : loaded.kernel;
    std::optional<Attended> attended(std::in_place, console_, file.kernel.name());
    options_.run.control = attended->control();
    debug::TraceLimits limits;
    limits.events = static_cast<std::size_t>(events_);
    limits.accesses = limits.flows = 2 * limits.events;
    const kernel::PreparedKernelState& state = recorded.state();
    debug::TraceRecorder recorder(state, limits);
    debug::StepRecorder steps(state, {.elements = line_.Has("values") ? debug::kPageElements : 0});
    std::vector<run::Watcher*> recorders = {&recorder};
    if (line_.Has("page")) recorders.push_back(&steps);
    PALLADION_RETURN_IF_ERROR(replayed.has_value()
                                  ? replayed->Run({.run = options_.run, .observers = recorders}).status()
                                  : debug::RecordLaunch(recorded, kernel::ArraysOf(inputs_), options_.run, recorders));
    PALLADION_ASSIGN_OR_RETURN(const std::optional<Report> report, Checked(file));
    attended.reset();
    if (line_.Has("out")) PALLADION_RETURN_IF_ERROR(Write(files, "out", debug::TraceJson(recorder, state)));
    if (line_.Has("page")) {
      SourceFiles sources;
      const debug::PageContents contents{
          .trace = recorder,
          .kernel = state,
          .steps = &steps,
          .replayed = replayed.has_value(),
          .report = report ? &*report : nullptr,
          .source_line = [&](const std::string& path, int number) { return sources.Line(path, number); }};
      PALLADION_RETURN_IF_ERROR(Write(files, "page", debug::TracePage(debug::TraceData(contents))));
    }
    console_.out << "kernel @" << file.kernel.name() << ": " << recorder.events().size() << " events of "
                 << recorder.programs().size() << " programs";
    if (recorder.dropped() > 0)
      console_.out << "; " << recorder.dropped() << " events and accesses past --events were left out";
    console_.out << "\n";
    return report.has_value() ? ExitCodeOf(*report) : ExitCode::kClean;
  }

  const CommandLine& line_;
  const Console& console_;
  CheckOptions options_{.seeds = 1};
  std::int64_t events_ = 0;
  std::vector<Tensor> inputs_;
  bool drawn_ = false;  // in time, so that an error is no reason to draw programs
};

}  // namespace

absl::StatusOr<ExitCode> CommandTrace(const CommandLine& line, const Console& console) {
  return AsksForSchedule(line) ? TraceSchedule(line, console) : Tracing(line, console).Trace();
}

}  // namespace palladion::command
