#include "emu/tools/hunt/hunt_credits.h"

#include <utility>

#include "scheduler/policies/random.h"

namespace palladion::hunt {

HuntKernel RandomCredits(std::uint64_t seed) {
  scheduler::Random random(seed * 0x9e3779b97f4a7c15 + 5);
  const auto below = [&](int n) { return static_cast<int>(random.Below(static_cast<std::uint64_t>(n))); };
  HuntKernel kernel;
  kernel.shared = true;
  kernel.semaphores = 2 + below(2);
  kernel.agents.resize(static_cast<std::size_t>(2 + below(3)));
  // The first one has the credits to give.
  for (int i = 0; i < kernel.semaphores; ++i)
    kernel.agents[0].push_back({.what = What::kSignal, .object = i, .amount = 1 + below(2)});
  for (std::vector<Op>& ops : kernel.agents) {
    for (int n = 1 + below(2); n > 0; --n) {
      int outer = below(kernel.semaphores), inner = below(kernel.semaphores);
      if (outer > inner && below(4) > 0) std::swap(outer, inner);
      const std::int64_t more = 1 + (below(5) == 0 ? 1 : 0);
      ops.push_back({.what = What::kSemWait, .object = outer, .amount = 1});
      if (outer != inner) ops.push_back({.what = What::kSemWait, .object = inner, .amount = more});
      if (outer != inner) ops.push_back({.what = What::kSignal, .object = inner, .amount = more});
      if (below(12) > 0) ops.push_back({.what = What::kSignal, .object = outer, .amount = 1});
    }
  }
  return kernel;
}

}  // namespace palladion::hunt
