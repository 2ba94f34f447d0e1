// conformance_run, also as `palladion conformance`: runs cases by our own interpreter or by a backend, and says what
// became of them. For people who write cases and for backends that are compared with them; --write-hashes fills in the
// `hash` lines, so it is never part of a test. The exit codes are those of the command.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <system_error>

#include "conformance/case_file.h"
#include "conformance/case_runner.h"
#include "conformance/results_file.h"
#include "conformance/suite.h"
#include "conformance/suite_options.h"
#include "conformance/suite_report.h"
#include "emu/report.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/base/unfinished.h"
#include "semantics/base/whole_file.h"

namespace palladion::conformance {
namespace {

constexpr int kFailed = 1, kInterrupted = 6;

// A signal handler is given no object.
std::atomic<bool> interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free);
void Interrupt(int signal) {
  interrupted = true;
  std::signal(signal, SIG_DFL);  // a second one ends the process
}

void ListenFor(int signal) {
  if (std::signal(signal, Interrupt) == SIG_IGN) std::signal(signal, SIG_IGN);
}

std::optional<std::string> FromEnvironment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

// In a wheel the cases lie beside the program, in an installation in share, in a checkout beside its build folder.
std::string DefaultCases() {
  std::error_code error;
  const std::filesystem::path here = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  for (const std::filesystem::path& cases :
       {here / "conformance_cases", here / ".." / "share" / "palladion" / "conformance_cases",
        here / ".." / "conformance" / "cases"}) {
    if (std::filesystem::is_directory(cases, error)) return cases.lexically_normal().string();
  }
  return "conformance/cases";
}

absl::Status WriteWhole(const std::string& path, const std::string& text) {
  absl::StatusOr<WholeFile> file = WholeFile::Open(path);
  absl::Status status = file.status();
  if (file.ok()) status = file->Write(text);
  if (status.ok()) status = file->Commit();
  if (status.ok()) return status;
  return absl::InvalidArgumentError(Cat(path, ": cannot be written: ", ToStd(status.message())));
}

absl::Status WriteHashes(const std::vector<SelectedCase>& cases) {
  for (const SelectedCase& selected : cases) {
    if (!selected.test.ok()) continue;
    PALLADION_ASSIGN_OR_RETURN(std::string text, ReadText(selected.path));
    PALLADION_ASSIGN_OR_RETURN(const std::vector<CaseSource> sources, SplitCases(text, selected.path));
    const auto own = [&](const CaseSource& source) { return selected.name.ends_with("/" + source.name); };
    const CaseSource& source = *std::find_if(sources.begin(), sources.end(), own);
    const std::string written = WithHashes(std::string(source.text), *selected.test, RunCase(*selected.test));
    text.replace(static_cast<std::size_t>(source.text.data() - text.data()), source.text.size(), written);
    PALLADION_RETURN_IF_ERROR(WriteWhole(selected.path, text));
  }
  return absl::OkStatus();
}

// Lines of cases in the order of their names, though they end in another; progress where those are not visible.
class Shown {
 public:
  Shown(const ConformanceLine& line, const std::vector<SelectedCase>& cases,
        const std::vector<std::optional<CaseRecord>>& records)
      : cases_(cases),
        records_(records),
        lines_(line.format == ReportFormat::kText && line.output.empty()),
        progress_((!lines_ || ::isatty(STDOUT_FILENO) == 0) && ::isatty(STDERR_FILENO) != 0) {}
  Shown(const Shown&) = delete;
  Shown& operator=(const Shown&) = delete;
  ~Shown() {
    if (progress_) std::cerr << "\r\x1b[K" << std::flush;
  }

  void Update() {
    for (; lines_ && next_ < records_.size() && records_[next_].has_value(); ++next_)
      std::cout << CaseText(*records_[next_], cases_[next_].place) << std::flush;
    if (!progress_) return;
    const auto done = std::count_if(records_.begin(), records_.end(), [](const auto& r) { return r.has_value(); });
    const auto failed = std::count_if(records_.begin(), records_.end(),
                                      [](const auto& r) { return r.has_value() && r->outcome == Outcome::kFailed; });
    std::cerr << "\r" << done << " of " << records_.size() << " cases, " << failed << " failed\x1b[K" << std::flush;
  }

 private:
  const std::vector<SelectedCase>& cases_;
  const std::vector<std::optional<CaseRecord>>& records_;
  const bool lines_, progress_;
  std::size_t next_ = 0;
};

std::string Report(const ConformanceLine& line, const std::vector<SelectedCase>& cases, const SuiteReport& report) {
  if (line.format == ReportFormat::kJson) return ToJson(report);
  if (line.format == ReportFormat::kJUnit) return ToJUnit(report);
  if (line.format == ReportFormat::kSarif) return ToSarif(report);
  std::string text;
  for (const SelectedCase& selected : cases) {
    const auto same = [&](const CaseRecord& record) { return record.name == selected.name; };
    const auto record = std::find_if(report.records.begin(), report.records.end(), same);
    if (record != report.records.end()) text += CaseText(*record, selected.place);
  }
  return Cat(text, Summary(report), "\n");
}

absl::Status WriteReport(const ConformanceLine& line, const std::vector<SelectedCase>& cases,
                         const SuiteReport& report) {
  if (!line.output.empty()) {
    PALLADION_RETURN_IF_ERROR(WriteWhole(line.output, Report(line, cases, report)));
    std::cout << Summary(report) << "\n";
  } else if (line.format == ReportFormat::kText) {
    std::cout << Summary(report) << "\n";
  } else {
    std::cout << Report(line, cases, report);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<SelectedCase>> Select(const ConformanceLine& line) {
  PALLADION_ASSIGN_OR_RETURN(std::vector<SelectedCase> cases, SelectCases(line.words, DefaultCases()));
  if (!line.shard_status_file.empty()) std::ofstream(line.shard_status_file).close();
  return OfShard(OfTier(std::move(cases), line.tier), line.shard);
}

SuiteOptions OptionsOf(const ConformanceLine& line) {
  SuiteOptions options{.forms = line.tier == Tier::kQuick ? Forms::kAsWritten : Forms::kAll, .jobs = line.jobs};
  if (line.backend.has_value()) {
    std::error_code error;
    options.backend = {
        .command = *line.backend, .time = line.time, .folder = std::filesystem::temp_directory_path(error).string()};
  }
  return options;
}

absl::StatusOr<int> RunLine(const ConformanceLine& line) {
  PALLADION_ASSIGN_OR_RETURN(std::vector<SelectedCase> cases, Select(line));
  if (line.write_hashes) {
    PALLADION_RETURN_IF_ERROR(WriteHashes(cases));
    PALLADION_ASSIGN_OR_RETURN(cases, Select(line));
  }
  SuiteReport report{.backend = line.backend.value_or(""), .tier = line.tier == Tier::kQuick ? "quick" : "full"};
  std::optional<ResultsFile> results;
  std::vector<std::optional<CaseRecord>> records(cases.size());
  if (!line.resume.empty()) {
    const std::string suite = Cat(report.tier, report.backend.empty() ? "" : Cat(", ", report.backend));
    PALLADION_ASSIGN_OR_RETURN(ResultsFile file, ResultsFile::Open(line.resume, suite));
    results.emplace(std::move(file));
    for (std::size_t i = 0; i < cases.size(); ++i) {
      const auto done = results->done().find(cases[i].name);
      if (done != results->done().end() && done->second.hash == cases[i].hash)
        SetPlace(cases[i], records[i].emplace(done->second));
    }
  }
  {
    Shown shown(line, cases, records);
    shown.Update();
    PALLADION_RETURN_IF_ERROR(
        RunSuite(cases, OptionsOf(line), interrupted, records, [&](std::size_t, const CaseRecord& record) {
          shown.Update();
          return results.has_value() ? results->Add(record) : absl::OkStatus();
        }));
  }
  for (std::optional<CaseRecord>& record : records) {
    if (record.has_value()) report.records.push_back(*std::move(record));
  }
  report.not_run = cases.size() - report.records.size();
  PALLADION_RETURN_IF_ERROR(WriteReport(line, cases, report));
  return Count(report, Outcome::kFailed) > 0 ? kFailed : report.not_run > 0 ? kInterrupted : 0;
}

}  // namespace
}  // namespace palladion::conformance

int main(int argc, char** argv) {
  using namespace palladion::conformance;
  palladion::RemoveUnfinishedWhenKilled();
  for (const int signal : {SIGINT, SIGTERM}) ListenFor(signal);
  const auto line = ParseConformanceLine({argv + 1, argv + argc}, FromEnvironment);
  const absl::StatusOr<int> code = line.ok() ? RunLine(*line) : line.status();
  if (code.ok()) return *code;
  std::cerr << "palladion conformance: " << std::string(code.status().message()) << "\n";
  return static_cast<int>(palladion::ExitCodeOf(code.status()));
}
