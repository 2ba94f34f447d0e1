// Kernels made small: counterexamples, whose operations are left out one by one as long as the contradiction stays, and
// kernels for a trial of every interleaving.
#include <algorithm>
#include <vector>

#include "emu/tools/hunt/hunt_ends.h"
#include "emu/tools/hunt/hunt_oracle.h"
#include "scheduler/policies/random.h"

namespace palladion::hunt {
namespace {

bool Shows(const HuntKernel& kernel, const std::string& kind, const HuntOptions& options) {
  const HuntResult result = Judge(kernel, options);
  return std::any_of(result.contradictions.begin(), result.contradictions.end(),
                     [&](const Contradiction& contradiction) { return contradiction.kind == kind; });
}

// Every kernel that has one operation less.
void Smaller(std::vector<Op>* ops, HuntKernel* kernel, std::vector<HuntKernel>* out) {
  for (std::size_t i = 0; i < ops->size(); ++i) {
    const std::vector<Op> before = *ops;
    ops->erase(ops->begin() + static_cast<std::ptrdiff_t>(i));
    out->push_back(*kernel);
    const Op& op = before[i];
    if (!op.body.empty() || !op.otherwise.empty()) {  // what is inside instead
      ops->insert(ops->begin() + static_cast<std::ptrdiff_t>(i), op.body.begin(), op.body.end());
      out->push_back(*kernel);
    }
    *ops = before;
    Smaller(&(*ops)[i].body, kernel, out);
    Smaller(&(*ops)[i].otherwise, kernel, out);
  }
}

// The same, and those that have a thread less, one that does nothing.
std::vector<HuntKernel> AllSmaller(const HuntKernel& kernel) {
  std::vector<HuntKernel> all;
  HuntKernel work = kernel;
  const bool fewer = work.family != Family::kTpu && work.blocks == 1;
  if (fewer && work.later.empty() && work.agents.size() > 1 && work.agents.back().empty()) {
    all.push_back(work);
    all.back().agents.pop_back();
  }
  const bool both = !work.later.empty() && work.agents.back().empty() && work.later.back().empty();
  if (fewer && both && work.agents.size() > 1) {
    all.push_back(work);
    all.back().agents.pop_back();
    all.back().later.pop_back();
  }
  for (std::vector<Op>& ops : work.agents) Smaller(&ops, &work, &all);
  for (std::vector<Op>& ops : work.later) Smaller(&ops, &work, &all);
  return all;
}

}  // namespace

HuntKernel ShrinkKernel(const HuntKernel& kernel, const std::string& kind, const HuntOptions& options) {
  HuntKernel best = kernel;
  for (bool smaller = true; smaller;) {
    smaller = false;
    for (const HuntKernel& candidate : AllSmaller(best)) {
      if (!Shows(candidate, kind, options)) continue;
      best = candidate;
      smaller = true;
      break;
    }
  }
  return best;
}

HuntKernel CutTo(HuntKernel kernel, int ops, std::uint64_t seed) {
  scheduler::Random random(seed);
  while (CountOps(kernel) > ops) {
    const std::vector<HuntKernel> smaller = AllSmaller(kernel);
    kernel = smaller[random.Below(smaller.size())];
  }
  return kernel;
}

int CountOps(const std::vector<Op>& ops) {
  int n = 0;
  for (const Op& op : ops) n += 1 + CountOps(op.body) + CountOps(op.otherwise);
  return n;
}

int CountOps(const HuntKernel& kernel) {
  int n = 0;
  for (const std::vector<Op>& ops : kernel.agents) n += CountOps(ops);
  for (const std::vector<Op>& ops : kernel.later) n += CountOps(ops);
  return n;
}

}  // namespace palladion::hunt
