// palladion time: how long a kernel takes on a chip, as text or JSON, and what happened when as a page and a trace.
#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emu/chip/machines/description.h"
#include "emu/chip/machines/informative.h"
#include "emu/chip/machines/keys.h"
#include "emu/front/command/attended.h"
#include "emu/front/command/command_common.h"
#include "emu/front/command/command_replay.h"
#include "emu/front/command/command_timeline.h"
#include "emu/front/command/output_file.h"
#include "emu/kernel/prepared_kernel.h"
#include "emu/run/agents/host_memory.h"
#include "emu/run/launch/launch.h"
#include "emu/timing/report/format.h"
#include "emu/timing/time_kernel.h"
#include "semantics/base/cat.h"
#include "semantics/base/source_lines.h"
#include "semantics/base/status.h"

namespace palladion::command {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFiles[] = {"page", "trace", "schedule"};

// Known to be writable before the run.
absl::StatusOr<std::vector<std::pair<std::string, OutputFile>>> OpenFiles(const CommandLine& line) {
  std::map<fs::path, std::string> flag_of;
  for (const char* flag : kFiles) {
    if (!line.Has(flag)) continue;
    const auto [other, is_new] = flag_of.emplace(fs::weakly_canonical(line.Flag(flag)), flag);
    if (!is_new)
      return absl::InvalidArgumentError(
          Cat("--", other->second, " and --", flag, " are the same file ", line.Flag(flag), "; give two"));
  }
  std::vector<std::pair<std::string, OutputFile>> files;
  for (const char* flag : kFiles) {
    if (!line.Has(flag)) continue;
    PALLADION_ASSIGN_OR_RETURN(OutputFile file, OutputFile::Open(line, flag));
    files.emplace_back(flag, std::move(file));
  }
  return files;
}

// The options of the timeline; nothing where the command line names no file for it.
absl::StatusOr<std::optional<timing::timeline::TimelineOptions>> DrawnOf(const CommandLine& line,
                                                                         const machines::Machine& machine) {
  PALLADION_ASSIGN_OR_RETURN(const timing::timeline::TimelineOptions drawn, UnitDrawn(line, machine));
  if (line.Has("page") || line.Has("trace")) return drawn;
  const std::string flag = UnitFlag(machine);
  if (line.Has("device") && !line.Has(flag))
    return absl::InvalidArgumentError(
        "--device says which device is drawn, and nothing is; give --page PAGE.html, --trace TRACE.json, or both");
  if (!line.Has(flag)) return std::nullopt;
  return absl::InvalidArgumentError(Cat("--", flag, " says which ", flag == "core" ? "core" : "SM",
                                        " is drawn, and nothing is; give --page PAGE.html, --trace TRACE.json, "
                                        "or both"));
}

// Fails on options whose output the model does not have.
absl::Status CheckOutputs(const CommandLine& line, const machines::Machine& machine, const timing::base::Timed& timed) {
  if ((line.Has("page") || line.Has("trace")) && !timed.timeline.has_value())
    return absl::UnimplementedError(Cat("the model of ", machine.name(),
                                        " does not say yet what happened when; without --page and --trace its times "
                                        "are printed"));
  if (line.Has("schedule") && !timed.schedule.has_value())
    return absl::UnimplementedError(Cat("on ", machine.name(),
                                        " programs run in the order of the text, so there is no schedule to write; "
                                        "without --schedule its times are printed"));
  return absl::OkStatus();
}

// What was set, not what follows from it, and changes nothing.
void WarnOfUnread(const PreparedKernel& kernel, const machines::Machine& machine, const Console& console) {
  const bool links = kernel.state().program().several_devices();
  const bool triton = kernel.state().program().target.backend == TargetBackend::kTriton;
  for (std::size_t row = 0; row < machines::key_table::kCount; ++row) {
    const std::optional<machines::Number>& number = machine.At(row);
    const machines::KeyRow& key = machines::key_table::kRows[row];
    if (!number.has_value() || number->note.rfind("set; ", 0) != 0) continue;
    if (machines::IsInformative(key.name))
      console.err << "palladion: note: " << key.name << " is set, and no law of time reads it\n";
    else if (machines::IsForTriton(key.name) && !triton)
      console.err << "palladion: note: " << key.name << " is set, and only kernels of Triton read it\n";
    else if (key.group() == "link" && !links)
      console.err << "palladion: note: " << key.name << " is set, and a kernel of one device uses no links\n";
  }
}

class TimeOutput {
 public:
  // `compared`: ComparedPage's.
  struct Of {
    const KernelFile& file;
    const timing::base::Timed& timed;
    const std::string& compared;
  };
  TimeOutput(const CommandLine& line, const Console& console, const Of& of)
      : line_(line),
        console_(console),
        file_(of.file),
        timed_(of.timed),
        compared_(of.compared),
        module_(of.file.kernel.state().module()) {}

  void Print(std::string_view format, std::size_t lines) {
    json_ = format == "json";
    if (json_) {
      console_.out << timing::report::TimingJson(timed_.timing, module_) << "\n";
    } else {
      console_.out << file_.kernel.name() << " "
                   << timing::report::TimingText(
                          timed_.timing, module_,
                          {.kernel_path = file_.path, .lines = lines, .source_line = source_line_});
    }
  }

  absl::Status WriteTo(const std::string& flag, OutputFile& target) {
    const Picture picture = flag == "page" ? Picture::kPage : Picture::kTrace;
    PALLADION_RETURN_IF_ERROR(target.Write(
        flag == "schedule" ? *timed_.schedule + "\n" : TextOf(picture, file_, {timed_, timed_.report, compared_})));
    (json_ ? console_.err : console_.out) << "wrote " << line_.Flag(flag) << "\n";
    return absl::OkStatus();
  }

 private:
  const CommandLine& line_;
  const Console& console_;
  const KernelFile& file_;
  const timing::base::Timed& timed_;
  const std::string& compared_;
  const Module& module_;
  SourceFiles sources_;
  std::function<std::optional<std::string>(const std::string& file, int line)> source_line_ =
      [this](const std::string& file, int line) { return sources_.Line(file, line); };
  bool json_ = false;
};

}  // namespace

absl::StatusOr<ExitCode> CommandTime(const CommandLine& line, const Console& console) {
  PALLADION_ASSIGN_OR_RETURN(const std::string format, ChoiceFlag(line, "format"));
  PALLADION_ASSIGN_OR_RETURN(const std::int64_t lines, PositiveFlag(line, "lines", 12));
  PALLADION_ASSIGN_OR_RETURN(RunOptions options, RunOptionsOf(line));
  std::string replay;
  if (line.Has("replay")) {
    PALLADION_ASSIGN_OR_RETURN(replay, ScheduleOf(line));
  }
  PALLADION_ASSIGN_OR_RETURN(const std::string compared, ComparedPage(line));  // which --page may replace
  PALLADION_ASSIGN_OR_RETURN(auto files, OpenFiles(line));
  PALLADION_ASSIGN_OR_RETURN(KernelFile file, LoadKernel(line, /*observable=*/true));
  std::vector<std::string> changes;
  for (const auto& [flag, value] : line.flags) {
    if (flag == "set") changes.push_back(value);
  }
  PALLADION_ASSIGN_OR_RETURN(const machines::Machine machine, timing::MachineOf(file.kernel, changes));
  WarnOfUnread(file.kernel, machine, console);
  PALLADION_ASSIGN_OR_RETURN(const std::optional<timing::timeline::TimelineOptions> drawn, DrawnOf(line, machine));
  PALLADION_RETURN_IF_ERROR(agents::CheckMemory(file.kernel.state(), agents::HostMemoryLimit()));
  PALLADION_ASSIGN_OR_RETURN(std::vector<Tensor> inputs, ReadInputs(line, file.kernel));
  Attended attended(console, file.kernel.name());
  options.control = attended.control();
  PALLADION_ASSIGN_OR_RETURN(const timing::base::Timed timed,
                             timing::TimeKernel({.kernel = file.kernel,
                                                 .inputs = inputs,
                                                 .machine = machine,
                                                 .run = options,
                                                 .timeline = drawn,
                                                 .schedule = line.Has("schedule"),
                                                 .replay = replay,
                                                 .every_wave = line.Has("every-wave")}));
  PALLADION_RETURN_IF_ERROR(launch::EndOf(timed.report));
  PALLADION_RETURN_IF_ERROR(CheckOutputs(line, machine, timed));
  TimeOutput output(line, console, {file, timed, compared});
  output.Print(format, static_cast<std::size_t>(lines));
  for (auto& [flag, target] : files) PALLADION_RETURN_IF_ERROR(output.WriteTo(flag, target));
  const auto wrong = std::count_if(timed.report.findings.begin(), timed.report.findings.end(),
                                   [](const ReportedFinding& finding) { return finding.severity != Severity::kNote; });
  if (wrong > 0)
    console.err << "palladion: note: that run had " << wrong
                << " findings, so its time is not that of a correct kernel; `palladion check` reports them\n";
  return ExitCodeOf(timed.report);
}

}  // namespace palladion::command
