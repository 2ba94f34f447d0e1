// How a kernel's programs run is an optimisation that must not change any report: where no program can see another's
// effects they run one after another, and here once more under a policy, as those that can do, with as many seeds as
// the case has schedules. A kernel of a TPU gets a semaphore that is never used, so that its tasks are cores.
#ifndef PALLADION_CONFORMANCE_METAMORPHIC_BOTH_WAYS_H_
#define PALLADION_CONFORMANCE_METAMORPHIC_BOTH_WAYS_H_

#include <string>
#include <vector>

#include "conformance/case_file.h"

namespace palladion::conformance {

struct BothWays {
  bool applies = false;  // the kernel runs in order, and can run under a policy
  int conflicts = 0;     // findings of tasks that meet
  std::vector<std::string> differences;
};

// Compares verdicts, codes, severities and lines of all findings, and of tasks that meet every word. Limits: symptoms
// of what is found depend on the schedule, and are not compared.
BothWays RunBothWays(const Case& test);

}  // namespace palladion::conformance

#endif  // PALLADION_CONFORMANCE_METAMORPHIC_BOTH_WAYS_H_
