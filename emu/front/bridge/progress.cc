#include "emu/front/bridge/progress.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <mutex>
#include <utility>

#include "absl/strings/str_format.h"
#include "semantics/base/cat.h"
#include "semantics/base/json.h"

namespace palladion::bridge {
namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

struct Entry {
  std::string kernel;
  std::int64_t session;
  const RunControl* control;
  Clock::time_point start;
};

// Callers have no object: the C API.
struct Runs {
  std::mutex mutex;
  std::map<std::int64_t, Entry> entries;
  std::int64_t last = 0;
};
Runs& ProcessRuns() {
  static Runs* const runs = new Runs;  // never destroyed: XLA's threads may still call when the process ends
  return *runs;
}

double Fraction(std::int64_t done, std::int64_t total) {
  return total <= 0 ? 0 : std::clamp(static_cast<double>(done) / static_cast<double>(total), 0.0, 1.0);
}

// "0.52", "3.1", "1400".
std::string Short(double value) { return absl::StrFormat("%.2g", value); }
std::string Rate(double rate) { return rate < 10 ? Short(rate) : absl::StrFormat("%.0f", rate); }

std::string Duration(double seconds) {
  if (seconds < 10) return Cat(Short(std::max(0.1, seconds)), " s");
  const auto whole = static_cast<std::int64_t>(std::min(seconds, 1e9));
  if (whole < 120) return Cat(whole, " s");
  if (whole < 7200) return Cat(whole / 60, " min");
  return Cat(whole / 3600, " h");
}

}  // namespace

Progress ProgressOf(const RunControl::Counts& counts, double seconds) {
  Progress progress{.unit = "schedules", .done = counts.schedules_done, .total = counts.schedules};
  const double of_one = Fraction(counts.programs_done, counts.programs);
  double done = static_cast<double>(counts.schedules_done) + (counts.schedules > 0 ? std::min(of_one, 0.99) : 0);
  if (counts.schedules <= 1 && counts.schedules_done == 0) {
    const bool one = counts.programs <= 1;
    progress = {.unit = one ? "budget" : "programs",
                .done = one ? counts.spent : std::min(counts.programs_done, counts.programs),
                .total = one ? counts.budget : counts.programs};
    done = static_cast<double>(progress.done);
  }
  progress.rate = seconds > 0 ? done / seconds : 0;
  if (progress.total > 0 && progress.rate > 0)
    progress.seconds_left = std::max(0.0, (static_cast<double>(progress.total) - done) / progress.rate);
  return progress;
}

std::string ProgressText(std::string_view kernel, const RunControl::Counts& counts, double seconds) {
  const Progress progress = ProgressOf(counts, seconds);
  std::string text = Cat("@", std::string(kernel), ": ");
  if (progress.unit == "budget") {
    if (progress.done == 0) return Cat(text, Duration(seconds));
    Append(&text, Duration(seconds), ", ", Short(100 * Fraction(progress.done, progress.total)), " % of the budget");
    if (progress.seconds_left >= 0) Append(&text, ", at most ", Duration(progress.seconds_left), " left");
    return text;
  }
  Append(&text, progress.done, progress.total > 0 ? Cat(" of ", progress.total) : std::string(), " ",
         std::string(progress.unit));
  if (progress.unit == "schedules" && counts.programs > 1)
    Append(&text, ", ", std::min(counts.programs_done, counts.programs), " of ", counts.programs,
           " programs of the next");
  if (progress.rate > 0) Append(&text, ", ", Rate(progress.rate), " a second");
  if (progress.seconds_left >= 0) Append(&text, ", ", Duration(progress.seconds_left), " left");
  return text;
}

ShownRun::ShownRun(std::string kernel, std::int64_t session, const RunControl& control) {
  Runs& runs = ProcessRuns();
  const std::lock_guard<std::mutex> lock(runs.mutex);
  number_ = ++runs.last;
  runs.entries.emplace(number_, Entry{std::move(kernel), session, &control, Clock::now()});
}

ShownRun::~ShownRun() {
  Runs& runs = ProcessRuns();
  const std::lock_guard<std::mutex> lock(runs.mutex);
  runs.entries.erase(number_);
}

std::string RunsInProgress() {
  Runs& runs = ProcessRuns();
  const std::lock_guard<std::mutex> lock(runs.mutex);
  std::string json = "[";
  for (const auto& [number, entry] : runs.entries) {
    const RunControl::Counts counts = entry.control->counts();
    const double seconds = SecondsSince(entry.start);
    const Progress progress = ProgressOf(counts, seconds);
    Append(&json, json.size() > 1 ? ", " : "", "{\"kernel\": ", JsonString(entry.kernel),
           ", \"session\": ", entry.session, ", \"seconds\": ", seconds,
           ", \"unit\": ", JsonString(std::string(progress.unit)), ", \"done\": ", progress.done,
           ", \"total\": ", progress.total, ", \"rate\": ", progress.rate,
           ", \"seconds_left\": ", progress.seconds_left,
           ", \"text\": ", JsonString(ProgressText(entry.kernel, counts, seconds)), "}");
  }
  return Cat(json, "]");
}

}  // namespace palladion::bridge
