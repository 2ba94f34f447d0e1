// The table of checkers, which are the same in every execution mode (execution_mode.h). Each checker attaches its
// observers before the run, and afterwards returns its findings, how often it looked, and which facts it established
// for this run.
// docs/explanation/checks.md has the table; `--checks` and the words of tallies are its columns.
//
//   Checkers checkers = Checkers::Of({.program = program, .kernel = &kernel, .inputs = inputs, .mode = mode, ...});
//   checkers.Attach(options);
//   ... the launch runs with these options ...
//   checkers.Finish(ran, [&](const LaunchOptions& again) { the same schedule, for no outputs });
//
// Not covered by checkers: what is known before anything runs (contracts.h), and differences between runs (check.cc).
#ifndef PALLADION_EMU_CHECK_CHECKERS_H_
#define PALLADION_EMU_CHECK_CHECKERS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "emu/check.h"
#include "emu/check/evidence.h"
#include "emu/kernel/prepared_kernel.h"
#include "emu/run/agents/launch_options.h"

namespace palladion::check {

// A run that is to be checked. All outlive its checkers.
struct CheckedRun {
  const Program& program;
  const kernel::PreparedKernelState* kernel = nullptr;  // nullptr: functions in C++, in the shape of `program`
  absl::Span<const ConstArray> inputs;
  agents::ExecutionMode mode = agents::ExecutionMode::kInOrder;
  bool races = false, definedness = false, contracts = false;  // what the options request
  bool counts = false;                                         // what always looks is counted
  bool backwards = false;  // the reverse order: a plain run's looks have been taken in program order
  bool values = true;      // else no value is there; then what lanes do is what a schedule with values has shown
};

// What the checkers of a run know after it.
struct Looked {
  FactSet facts;                              // that they established for this run
  WhyWithheld why;                            // others are
  std::map<CheckKind, std::int64_t> tallies;  // how often each looked at something
  bool every_order_alike = false;             // programs in order: other orders make the same outputs and findings
};

// Runs the same schedule once more, with these options and outputs of its own.
using Rerun = std::function<absl::Status(const agents::LaunchOptions& options)>;

class Checker {
 public:
  virtual ~Checker() = default;

  // Adds what the launch needs to be watched.
  virtual void Attach(agents::LaunchOptions& /*options*/) {}

  // After the launch: adds to its findings, or says of one what is known now, and to what is known. Calls `rerun` for
  // what needs it; its error is returned, and costs details of findings, never a finding. Empty: a run that is not
  // repeated.
  virtual absl::Status Finish(agents::Ran& ran, const Rerun& rerun, Looked& looked) = 0;

  // The launch failed. What had been seen before; it cannot run again to see more.
  virtual std::vector<Finding> FoundBefore(const absl::Status& /*failed*/) { return {}; }
};

struct CheckerRow {
  CheckKind kind;              // of its tally in a report
  std::string_view option;     // of --checks; "": none leaves it out
  bool CheckOptions::*choice;  // where that is said; nullptr: it always looks
  std::string_view looks;      // what it looks for
  std::string_view where;      // in which runs
  FactSet establishes;
  bool (*applies)(const CheckedRun& run);
  std::unique_ptr<Checker> (*make)(const CheckedRun& run);
};
absl::Span<const CheckerRow> AllCheckers();  // in the order in which they are attached

// The names of --checks, in the order of the table.
std::vector<std::string> CheckNames();
// What the options say of one of them; nullptr: it is no choice.
bool* ChoiceOf(std::string_view name, CheckOptions& options);

class Checkers {
 public:
  static Checkers Of(const CheckedRun& run);

  void Attach(agents::LaunchOptions& options);
  // The first error of a checker; all of them finish.
  absl::Status Finish(agents::Ran& ran, const Rerun& rerun);
  std::vector<Finding> FoundBefore(const absl::Status& failed);

  const Looked& looked() const { return looked_; }  // after Finish

 private:
  std::vector<std::unique_ptr<Checker>> checkers_;
  Looked looked_;
};

}  // namespace palladion::check

#endif  // PALLADION_EMU_CHECK_CHECKERS_H_
