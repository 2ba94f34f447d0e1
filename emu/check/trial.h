// The unit that a check repeats, compares and replays: one schedule of one launch with its observers; and the interface
// of its runners, for kernel text (trial_runner.h) and C++ functions (emu/front/cpp/function_trials.h). The code that
// shortens schedules, compares outputs and tries other operands uses only this interface.
#ifndef PALLADION_EMU_CHECK_TRIAL_H_
#define PALLADION_EMU_CHECK_TRIAL_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "emu/check.h"
#include "emu/check/evidence.h"
#include "emu/run/agents/launch_options.h"
#include "scheduler/policies/schedule.h"
#include "scheduler/run_loop.h"

namespace palladion::check {

struct Trial {
  scheduler::Schedule schedule;
  std::vector<Tensor> outputs;
  std::vector<Finding> findings;
  std::map<CheckKind, std::int64_t> tallies;  // how often each check looked at something
  std::vector<std::string> printed;
  std::int64_t programs = 0, accesses = 0;
  FactSet facts;                    // that this schedule showed, where everything watched
  WhyWithheld why;                  // facts are
  bool every_order_alike = false;   // programs in order: other orders make the same outputs and findings
  std::vector<NeverRan> never_ran;  // where coverage was recorded
  agents::ExecutionMode mode = agents::ExecutionMode::kInOrder;  // in which it ran; of functions in C++ always this
  bool all_fit = true;                                           // all that interacts could be resident at once
  bool engines = false;                                          // asynchronous operations ran
  bool undefined_arrived = false;                                // where it matters, reported or not
  scheduler::LoopResult run;                                     // of programs under a policy only
  bool values_of_first = false;  // outputs are those of program order: it ran without values
  agents::LaunchLeft left;       // to later launches
  absl::Status trouble;          // why the run did not end, or why a finding is incomplete
};

enum class Watch : std::uint8_t {
  kEverything,  // what the options request
  kOutputs,     // nothing: only the outputs are wanted
};

// "program order", "reverse order", or the schedule's policy and seed.
std::string InWords(const scheduler::Schedule& schedule);

// What runs the schedules of one kernel with one set of inputs.
class Trials {
 public:
  virtual ~Trials() = default;

  // `lengths`: of seed 0, for policies that need them. `extra`: what else watches; its observers see every access too.
  // An error that comes after findings is in the trial, as `trouble`.
  absl::StatusOr<Trial> Run(const scheduler::Schedule& schedule, Watch watch, const scheduler::RunLengths& lengths,
                            const agents::LaunchOptions* extra = nullptr) const {
    return RunOnce(schedule, watch, lengths, extra);
  }

  virtual absl::Span<const ConstArray> inputs() const = 0;
  // Does a list of moves mean anything to it? Else programs run one after another, in one of two orders.
  virtual bool interact() const = 0;
  virtual std::string NameOf(scheduler::Schedule schedule) const = 0;  // as a report gives it for a replay
  // Is program order, by its name, as plain as a schedule gets? Else a list of moves is.
  virtual bool names_program_order() const { return true; }

  // The same kernel with other inputs and options, which outlive it.
  virtual absl::StatusOr<std::unique_ptr<Trials>> With(absl::Span<const ConstArray> inputs,
                                                       const CheckOptions& options) const = 0;
  // The inputs that hold nothing but numbers, by their places among the inputs.
  virtual std::vector<std::size_t> InputsOfNumbers() const = 0;
  // Writes that nothing orders are a defect; else nothing says in which order programs run, and they are a note.
  virtual bool races_are_defects() const = 0;

 private:
  virtual absl::StatusOr<Trial> RunOnce(const scheduler::Schedule& schedule, Watch watch,
                                        const scheduler::RunLengths& lengths,
                                        const agents::LaunchOptions* extra) const = 0;
};

}  // namespace palladion::check

#endif  // PALLADION_EMU_CHECK_TRIAL_H_
