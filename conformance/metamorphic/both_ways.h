// Which way a kernel's programs run is an optimisation that no report may tell of: where no program can see another's
// effects they run one after another, and here once more under a policy, as those that can do. A kernel of a TPU gets a
// semaphore that is never used, so that its tasks are cores.
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

// Compares codes, severities and lines of all findings, and of tasks that meet on a TPU every word. Limits: of other
// programs that meet it compares the code, the severity and the array: which two of them are named, and how, is said by
// two checkers.
BothWays RunBothWays(const Case& test);

}  // namespace palladion::conformance

#endif  // PALLADION_CONFORMANCE_METAMORPHIC_BOTH_WAYS_H_
