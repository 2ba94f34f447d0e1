// What looks for races in one schedule, whoever runs in it. There is one for each way of running (way.h): programs one
// after another (the sweep of grid_checks.h, which holds for every order of programs that do not synchronise), programs
// under a policy (vector clocks fed by their atomics, clock_races.h), threads of GPU blocks (the clocks of their
// machine); and beside each, where an agent has lanes that nothing orders, lane_races.h. Seen from outside they are
// one:
//
//   const std::unique_ptr<RaceCheck> races = MakeRaceCheck(kernel, inputs, {.way = way, .judges = true});
//   races->Attach(options);
//   ... the launch runs with these options ...
//   races->Finish(result, [&](const ScheduledOptions& again) { the same schedule, for no outputs });
#ifndef PALLADION_EMU_CHECKS_RACE_CHECK_H_
#define PALLADION_EMU_CHECKS_RACE_CHECK_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "emu/agents/prepared_kernel.h"
#include "emu/checks/evidence.h"
#include "emu/launch/scheduled_launch.h"
#include "emu/launch/way.h"

namespace palladion::checks {

// What a schedule showed.
struct RaceEvidence {
  FactSet facts;
  WhyWithheld why;
  std::map<std::string, std::int64_t> tallies;  // how often each check looked at something
  bool every_order_alike = false;               // programs in order: other orders make the same outputs and findings
};

class RaceCheck {
 public:
  // Runs the same schedule once more, with these options and outputs of its own.
  using Rerun = std::function<absl::Status(const launch::ScheduledOptions& options)>;

  virtual ~RaceCheck() = default;

  // Adds what the launch needs to be watched.
  virtual void Attach(launch::ScheduledOptions& /*options*/) {}

  // After the launch: adds to its findings, or says of one what is known now. Calls `rerun` for what needs it; its
  // error is returned, and costs details of findings, never a finding. nullptr: a plain run, which does not run twice.
  virtual absl::Status Finish(launch::ScheduledResult& result, const Rerun& rerun) = 0;

  // The launch failed. What had been seen before; it cannot run again to see more.
  virtual std::vector<Finding> FoundBefore(const absl::Status& /*failed*/) { return {}; }

  const RaceEvidence& evidence() const { return evidence_; }  // after Finish

 protected:
  RaceEvidence evidence_;
};

// `judges`: else races are not asked for, and only what a plain run sees is looked at. The kernel and the inputs
// outlive the check.
struct RaceCheckOptions {
  launch::Way way = launch::Way::kInOrder;
  bool judges = false;
  bool backwards = false;  // the reverse order: a plain run's looks have been taken in program order
  bool values = true;      // else no value is there; then what lanes do is what a schedule with values has shown
};
std::unique_ptr<RaceCheck> MakeRaceCheck(const agents::PreparedKernelState& kernel, absl::Span<const ConstArray> inputs,
                                         const RaceCheckOptions& options);

// Of threads alone, which may be functions in C++: `program` is the shape of their launch, and outlives the check.
std::unique_ptr<RaceCheck> MakeRaceCheckOfThreads(const Program& program, bool judges);

}  // namespace palladion::checks

#endif  // PALLADION_EMU_CHECKS_RACE_CHECK_H_
