// `palladion check`: options in, a report out in one of four formats. Any error after the options are parsed is also a
// report, so that readers of files see it too.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <limits>

#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "emu/check.h"
#include "emu/check/checkers.h"
#include "emu/check/inline_suppressions.h"
#include "emu/check/refusal.h"
#include "emu/check/suppressions.h"
#include "emu/front/command/attended.h"
#include "emu/front/command/command_common.h"
#include "emu/front/command/output_file.h"
#include "emu/front/options/check_options.h"
#include "emu/front/reports/fidelity_text.h"
#include "emu/front/reports/part_json.h"
#include "emu/front/reports/report_formats.h"
#include "semantics/base/cat.h"
#include "semantics/base/printable.h"
#include "semantics/base/source_lines.h"
#include "semantics/base/status.h"

namespace palladion::command {
namespace {

absl::Status ChooseChecks(const CommandLine& line, CheckOptions& options) {
  const std::vector<std::string> all = check::CheckNames();
  if (line.Has("checks")) {
    const std::vector<std::string> names = absl::StrSplit(line.Flag("checks"), ',');
    for (const std::string& name : names) {
      if (std::find(all.begin(), all.end(), name) == all.end()) {
        return absl::InvalidArgumentError(
            Cat("--checks must be a list of ", absl::StrJoin(all, ", "), ", with commas; found '", name, "'"));
      }
    }
    for (const std::string& name : all) {
      if (bool* const choice = check::ChoiceOf(name, options); choice != nullptr)
        *choice = std::find(names.begin(), names.end(), name) != names.end();
    }
  }
  for (const std::string& name : all) {
    bool* const choice = check::ChoiceOf(name, options);
    const std::string flag = Cat("no-", name);
    if (choice == nullptr || !line.Has(flag)) continue;
    if (line.Has("checks")) return absl::InvalidArgumentError(Cat("give either --checks or --", flag, ", not both"));
    *choice = false;
  }
  return absl::OkStatus();
}

struct Seeds {
  std::int64_t first = 1, last = 1;  // both of them
};

absl::StatusOr<Seeds> PartOf(const CommandLine& line) {
  const std::pair<std::string, std::string> ends = absl::StrSplit(line.Flag("part"), absl::MaxSplits('-', 1));
  Seeds seeds;
  if (absl::SimpleAtoi(ends.first, &seeds.first) && absl::SimpleAtoi(ends.second, &seeds.last) && seeds.first >= 1 &&
      seeds.first <= seeds.last && seeds.last < std::numeric_limits<std::int64_t>::max())
    return seeds;
  return absl::InvalidArgumentError(
      Cat("--part must be FIRST-LAST, two seeds of 1 or more in their order, such as 1-99; found '", line.Flag("part"),
          "'"));
}

absl::StatusOr<std::vector<CheckPart>> ReadParts(const CommandLine& line) {
  std::vector<CheckPart> parts;
  const std::vector<std::string> paths = absl::StrSplit(line.Flag("parts"), ',');
  for (const std::string& path : paths) {
    PALLADION_ASSIGN_OR_RETURN(const std::string text, ReadFile(path, "parts"));
    const absl::StatusOr<std::vector<CheckPart>> found = reports::PartsOfJson(Cat("[", text, "]"));
    if (!found.ok()) return absl::InvalidArgumentError(Cat(path, ": ", found.status().message()));
    parts.insert(parts.end(), found->begin(), found->end());
  }
  return parts;
}

// But --parts, which names files.
std::vector<std::string_view> FlagsOfChecks() {
  std::vector<std::string_view> names;
  for (const options::CheckOption& option : options::CheckOptionTable()) {
    if (option.on(options::kFlag) && option.name != "parts") names.push_back(option.name);
  }
  return names;
}

absl::StatusOr<CheckOptions> OptionsOf(const CommandLine& line) {
  CheckOptions options;
  options.run.budget_name = kBudgetFlag;
  PALLADION_RETURN_IF_ERROR(SetOptions(line, FlagsOfChecks(), options));
  PALLADION_ASSIGN_OR_RETURN(options.replay, ReplayOf(options.replay));
  if (line.Has("replay") && options.replay.empty())
    return absl::InvalidArgumentError("--replay needs the schedule that a report names; found ''");
  for (const char* other : {"seeds", "all-seeds", "exhaustive", "part", "parts"}) {
    if (line.Has("replay") && line.Has(other))
      return absl::InvalidArgumentError(Cat("--replay runs one schedule, so --", other, " does not go with it"));
  }
  for (const char* other : {"seeds", "all-seeds", "part", "parts"}) {
    if (line.Has("exhaustive") && line.Has(other))
      return absl::InvalidArgumentError(Cat("--exhaustive runs every schedule, so --", other, " does not go with it"));
  }
  if (line.Has("part") && line.Has("parts"))
    return absl::InvalidArgumentError("--part is some of the seeds and --parts are all: give one of the two");
  if (line.Has("parts")) {
    PALLADION_ASSIGN_OR_RETURN(options.parts, ReadParts(line));
  }
  PALLADION_RETURN_IF_ERROR(ChooseChecks(line, options));
  return options;
}

absl::StatusOr<check::Suppressions> ReadSuppressions(const CommandLine& line) {
  if (!line.Has("suppressions")) return check::Suppressions();
  PALLADION_ASSIGN_OR_RETURN(const std::string text, ReadFile(line.Flag("suppressions"), "suppressions"));
  return check::Suppressions::Parse(text, line.Flag("suppressions"));
}

bool DecidesReplay(const std::string& flag) {
  if (flag == "in" || flag == "kernel" || flag == "target" || flag == "launches" || flag == "checks") return true;
  const absl::Span<const options::CheckOption> table = options::CheckOptionTable();
  return std::any_of(table.begin(), table.end(), [&](const options::CheckOption& option) {
    return option.on(options::kReplays) && (flag == option.flag || flag == Cat("no-", option.flag));
  });
}

// What --replay is put after: the same kernel, inputs and checks.
std::string CommandFor(const CommandLine& line) {
  std::string command = "palladion check";
  for (const std::string& word : line.words) Append(&command, " ", Quoted(word));
  for (const auto& [flag, value] : line.flags) {
    if (!DecidesReplay(flag)) continue;
    Append(&command, " --", flag);
    if (line.command->Find(flag)->value != "") Append(&command, " ", Quoted(value));
  }
  return command;
}

class CheckCommand {
 public:
  CheckCommand(const CommandLine& line, const Console& console) : line_(line), console_(console) {}

  absl::StatusOr<ExitCode> Run() {
    PALLADION_ASSIGN_OR_RETURN(format_, ChoiceFlag(line_, "format"));
    PALLADION_ASSIGN_OR_RETURN(color_, ChoiceFlag(line_, "color"));
    std::optional<OutputFile> file;
    if (line_.Has("output")) {
      PALLADION_ASSIGN_OR_RETURN(OutputFile opened, OutputFile::Open(line_, "output"));
      file.emplace(std::move(opened));
    }
    if (line_.Has("part")) return RunPart(file.has_value() ? &*file : nullptr);
    absl::StatusOr<Report> checked = Checked();
    const Report report = checked.ok() ? *std::move(checked) : Refused(checked.status());
    if (!checked.ok() && report.findings.empty() && format_ == "text" && !file.has_value()) return checked.status();
    if (file.has_value()) PALLADION_RETURN_IF_ERROR(file->Write(Formatted(report, false)));
    if (report.error.has_value()) {
      if (!file.has_value()) console_.out << Formatted(report, false);
      console_.err << "palladion: " << PrintableLines(report.error->message) << "\n";
    } else {
      if (file.has_value()) format_ = "text";
      console_.out << Formatted(report, ColorWanted(color_, console_.out_is_terminal));
    }
    return ExitCodeOf(report);
  }

 private:
  absl::StatusOr<ExitCode> RunPart(OutputFile* file) {
    PALLADION_ASSIGN_OR_RETURN(const Seeds seeds, PartOf(line_));
    PALLADION_ASSIGN_OR_RETURN(CheckOptions options, OptionsOf(line_));
    PALLADION_ASSIGN_OR_RETURN(const KernelFile kernel, LoadKernel(line_));
    PALLADION_ASSIGN_OR_RETURN(const std::vector<Tensor> inputs, ReadInputs(line_, kernel.kernel));
    Attended attended(console_, kernel.kernel.name());
    options.run.control = attended.control();
    PALLADION_ASSIGN_OR_RETURN(const CheckPart part,
                               CheckSeeds(kernel.kernel, inputs, options, seeds.first, seeds.last + 1));
    const std::string text = reports::PartJson(part) + "\n";
    if (file != nullptr) {
      PALLADION_RETURN_IF_ERROR(file->Write(text));
    } else {
      console_.out << text;
    }
    return ExitCode::kClean;
  }

  absl::StatusOr<Report> Checked() {
    PALLADION_ASSIGN_OR_RETURN(CheckOptions options, OptionsOf(line_));
    contracts_ = options.contracts && options.run.legality != LegalityMode::kOff;
    PALLADION_ASSIGN_OR_RETURN(const check::Suppressions suppressions, ReadSuppressions(line_));
    kernel_name_ = line_.Flag("kernel");
    target_ = line_.Flag("target");
    PALLADION_ASSIGN_OR_RETURN(KernelFile file, LoadKernel(line_));
    kernel_name_ = file.kernel.name();
    target_ = file.kernel.target();
    kernel_text_ = std::move(file.text);
    prepared_ = true;
    PALLADION_ASSIGN_OR_RETURN(const std::vector<Tensor> inputs, ReadInputs(line_, file.kernel));
    Attended attended(console_, kernel_name_);
    options.run.control = attended.control();
    PALLADION_ASSIGN_OR_RETURN(Report report, Check(file.kernel, inputs, options));
    suppressions.Apply(report);
    check::ApplyInlineSuppressions(&file.kernel.state().module(), report);
    return report;
  }

  // Where the kernel was not prepared, what its target refuses is said all the same, and may be suppressed.
  Report Refused(const absl::Status& status) {
    Report report = ErrorReport(status, kernel_name_, target_);
    if (prepared_ || line_.words.empty() || !contracts_) return report;
    absl::StatusOr<std::string> text = ReadFile(line_.words[0]);
    if (!text.ok()) return report;
    kernel_text_ = *std::move(text);
    report = check::RefusalReport(
        status, kernel_text_, {.kernel = line_.Flag("kernel"), .target = line_.Flag("target"), .path = line_.words[0]});
    if (const absl::StatusOr<check::Suppressions> suppressions = ReadSuppressions(line_); suppressions.ok())
      suppressions->Apply(report);
    check::ApplyInlineSuppressions(nullptr, report);
    return report;
  }

  std::string Formatted(const Report& report, bool color) {
    if (format_ == "json") return ToJson(report) + "\n";
    const std::string path = line_.words.empty() ? "kernel" : line_.words[0];
    if (format_ == "sarif")
      return reports::ToSarif(report, {path, kernel_text_}, std::filesystem::current_path().string());
    const TextOptions options{.color = color,
                              .kernel_text = kernel_text_,
                              .kernel_path = path,
                              .command = CommandFor(line_),
                              .source_line = [&](const std::string& f, int n) { return sources_.Line(f, n); }};
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - started_;
    if (format_ == "junit") return reports::ToJUnit(report, path, options, seconds.count());
    std::string printed;
    for (const std::string& text : report.printed) Append(&printed, PrintableLines(text), "\n");
    reports::ReportDocument document;
    document.calls.push_back({.report = report, .replay_before = options.command + " --replay "});
    const reports::RenderOptions rendering{
        .kernel_text = options.kernel_text, .kernel_path = options.kernel_path, .source_line = options.source_line};
    return printed + reports::ToText(document, rendering, {.color = color, .details = line_.Has("details")}) +
           (line_.Has("fidelity") ? reports::FidelityTable(report) : "");
  }

  const CommandLine& line_;
  const Console& console_;
  std::string format_, color_, kernel_name_, target_, kernel_text_;
  bool prepared_ = false, contracts_ = true;
  SourceFiles sources_;
  const std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
};

}  // namespace

absl::StatusOr<ExitCode> CommandCheck(const CommandLine& line, const Console& console) {
  return CheckCommand(line, console).Run();
}

}  // namespace palladion::command
