// Random choices of the pattern generators: numbers, rows, barriers. A kernel's number determines its choices and their
// order.
#ifndef PALLADION_EMU_TOOLS_HUNT_HUNT_PATTERNS_H_
#define PALLADION_EMU_TOOLS_HUNT_HUNT_PATTERNS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "emu/tools/hunt/hunt_kernel.h"
#include "scheduler/policies/random.h"

namespace palladion::hunt {

inline int Below(scheduler::Random* random, int n) {
  return static_cast<int>(random->Below(static_cast<std::uint64_t>(n)));
}

// One that completes after so many arrivals: now and then one that is there, else a new one while there is room.
inline int DrawBarrier(scheduler::Random* random, HuntKernel* kernel, int arrivals) {
  constexpr int kMaxBarriers = 4;
  std::vector<int>& barriers = kernel->arrivals;
  for (std::size_t i = 0; i < barriers.size(); ++i) {
    if (barriers[i] == arrivals && Below(random, 3) == 0) return static_cast<int>(i);
  }
  if (static_cast<int>(barriers.size()) == kMaxBarriers) return Below(random, kMaxBarriers);
  barriers.push_back(arrivals);
  return static_cast<int>(barriers.size()) - 1;
}

// Adds to the body of each agent of the kernel.
class PatternMaker {
 public:
  PatternMaker(scheduler::Random* random, HuntKernel* kernel, std::vector<std::vector<Op>>* body)
      : kernel_(*kernel), body_(*body), random_(*random) {}

 protected:
  int Below(int n) { return hunt::Below(&random_, n); }
  int Row() { return Below(kernel_.rows); }
  int Barrier(int arrivals) { return DrawBarrier(&random_, &kernel_, arrivals); }
  static Op On(What what, int barrier) { return {.what = what, .object = barrier, .amount = 1}; }
  static Op Fence() { return {.what = What::kFence}; }

  HuntKernel& kernel_;
  std::vector<std::vector<Op>>& body_;

 private:
  scheduler::Random& random_;
};

}  // namespace palladion::hunt

#endif  // PALLADION_EMU_TOOLS_HUNT_HUNT_PATTERNS_H_
