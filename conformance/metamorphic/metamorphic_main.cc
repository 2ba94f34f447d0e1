// `./dev metamorphic`: every harmless operation in every case, or in those that its words name, and how the reports
// differ.
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "conformance/case_selection.h"
#include "conformance/metamorphic/both_ways.h"
#include "conformance/metamorphic/insertion.h"
#include "conformance/metamorphic/metamorphic.h"
#include "emu/emulate.h"
#include "semantics/base/cat.h"

namespace palladion::conformance {
namespace {

constexpr std::string_view kUsage =
    "usage: metamorphic [--only OPERATION] [--sample TURN] [--show] [--ways] [--jobs N] [CASE, FOLDER or FILTER...]\n";

struct Options {
  std::string only;   // the operation; "": all
  long sample = -1;   // one operation for each case, chosen by its name and this turn; -1: all
  bool show = false;  // the texts that differ
  bool ways = false;  // no operations: each case in order and under a policy (both_ways.h)
  unsigned jobs = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::string> words;
};

absl::StatusOr<Options> ParseOptions(const std::vector<std::string>& arguments) {
  Options options;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (word == "--show") {
      options.show = true;
    } else if (word == "--ways") {
      options.ways = true;
    } else if (word == "--only" || word == "--sample" || word == "--jobs") {
      if (++i == arguments.size()) return absl::InvalidArgumentError(Cat(word, " needs a value"));
      if (word == "--only") options.only = arguments[i];
      if (word == "--sample") options.sample = std::atol(arguments[i].c_str());
      if (word == "--jobs") options.jobs = static_cast<unsigned>(std::max(1, std::atoi(arguments[i].c_str())));
    } else if (word.starts_with("--")) {
      return absl::InvalidArgumentError(Cat("there is no option ", word, "\n", kUsage));
    } else {
      options.words.push_back(word);
    }
  }
  return options;
}

std::vector<Change> Wanted(const Options& options, const SelectedCase& selected) {
  std::vector<Change> changes = ChangesFor(*selected.test);
  if (!options.only.empty()) {
    std::erase_if(changes, [&](const Change& change) { return change.Name().find(options.only) == std::string::npos; });
  }
  if (options.sample < 0 || changes.empty()) return changes;
  return {changes[Chosen(selected.name, static_cast<std::size_t>(options.sample), changes.size())]};
}

struct Totals {
  std::size_t cases = 0, comparisons = 0, wrong = 0;
};

void Report(const SelectedCase& selected, const std::vector<Comparison>& comparisons, bool show, Totals& totals) {
  ++totals.cases;
  for (const Comparison& comparison : comparisons) {
    totals.comparisons += comparison.applies;
    if (!comparison.wrong()) continue;
    ++totals.wrong;
    std::cout << selected.name << " " << comparison.change.Name() << "\n";
    for (const std::string& difference : comparison.differences) std::cout << "    " << difference << "\n";
    if (!show) continue;
    const auto inserted =
        Insert(CanonicalText(selected.test->kernel).value_or(""), *comparison.change.harmless, comparison.change.place);
    if (inserted.has_value()) std::cout << inserted->text << "\n";
  }
  std::cout.flush();
}

void ReportModes(const SelectedCase& selected, const BothWays& both, Totals& totals) {
  totals.cases += 1;
  totals.comparisons += both.applies;
  if (both.differences.empty()) return;
  ++totals.wrong;
  std::cout << selected.name << "\n";
  for (const std::string& difference : both.differences) std::cout << "    " << difference << "\n";
}

int Main(const std::vector<std::string>& arguments) {
  const absl::StatusOr<Options> options = ParseOptions(arguments);
  if (!options.ok()) return std::cerr << options.status().message() << "\n", 4;
  const auto cases = SelectCases(options->words, PALLADION_CASES);
  if (!cases.ok()) return std::cerr << cases.status().message() << "\n", 4;
  Totals totals;
  std::mutex mutex;
  std::atomic<std::size_t> next = 0;
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < options->jobs; ++t) {
    threads.emplace_back([&] {
      for (std::size_t i = next++; i < cases->size(); i = next++) {
        const SelectedCase& selected = (*cases)[i];
        if (!selected.test.ok()) {
          const std::lock_guard lock(mutex);
          std::cout << selected.name << ": " << selected.test.status().message() << "\n";
          ++totals.wrong;
          continue;
        }
        if (options->ways) {
          const BothWays both = RunBothWays(*selected.test);
          const std::lock_guard lock(mutex);
          ReportModes(selected, both, totals);
          continue;
        }
        const std::vector<Comparison> comparisons = Compare(*selected.test, Wanted(*options, selected));
        const std::lock_guard lock(mutex);
        Report(selected, comparisons, options->show, totals);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::cout << totals.cases << " cases, " << totals.comparisons << " comparisons, " << totals.wrong
            << " differ where they should not\n";
  return totals.wrong == 0 ? 0 : 1;
}

}  // namespace
}  // namespace palladion::conformance

int main(int argc, char** argv) { return palladion::conformance::Main({argv + 1, argv + argc}); }
