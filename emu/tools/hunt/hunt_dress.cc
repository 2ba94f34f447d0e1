#include "emu/tools/hunt/hunt_dress.h"

#include <vector>

namespace palladion::hunt {
namespace {

class Dresser {
 public:
  Dresser(scheduler::Random* random, HuntKernel* kernel) : random_(*random), kernel_(*kernel) {}

  void Sizes() {
    static constexpr Family kFamilies[] = {Family::kThreads, Family::kThreads, Family::kThreads, Family::kBlocks,
                                           Family::kPrograms};
    kernel_.family = kFamilies[Below(5)];
    kernel_.rows = 2 + Below(2);
    const bool programs = kernel_.family == Family::kPrograms, threads = kernel_.family == Family::kThreads;
    if (programs) kernel_.target = Below(3) == 0 ? "generic" : "triton/h100";
    if (programs && Below(4) == 0) {
      kernel_.window = Below(3);
      kernel_.window_start = Below(kernel_.rows);
    }
    kernel_.shared = !programs;
    kernel_.unions = threads && Below(4) == 0;
    const int agents = threads ? 1 + (Below(8) > 0) + (Below(3) == 0) : 2 + (Below(3) == 0);
    kernel_.blocks = threads ? 1 : agents;
    if (threads && agents == 2 && Below(8) == 0) kernel_.blocks = 2;
    kernel_.agents.resize(static_cast<std::size_t>(threads ? agents * kernel_.blocks : agents));
    kernel_.cluster = kernel_.blocks == 2 && !programs && Below(2) == 0;
  }

  // How indices are written, and rows that depend on values.
  void Dress(std::vector<Op>* ops, int agent) {
    for (Op& op : *ops) {
      Dress(&op.body, agent);
      Dress(&op.otherwise, agent);
      if (op.what > What::kExchange && op.what != What::kSpin) continue;
      const bool programs = kernel_.family == Family::kPrograms, m = op.array == Array::kM;
      const bool window = m && kernel_.window >= 0;
      if (window) op.row = (kernel_.window * agent + kernel_.window_start) % kernel_.rows;
      if (op.what == What::kSpin) continue;
      op.dynamic = !window && Below(12) == 0;
      const bool plain = op.what == What::kLoad || op.what == What::kStore;
      op.style = Below(3) == 0 ? Below(programs && plain ? 4 : 2) : 0;
      if (window && op.style == 1) op.style = 0;
      op.alias = m && Below(6) == 0;
    }
  }

 private:
  int Below(int n) { return static_cast<int>(random_.Below(static_cast<std::uint64_t>(n))); }

  scheduler::Random& random_;
  HuntKernel& kernel_;
};

}  // namespace

HuntKernel RandomSizes(scheduler::Random* random) {
  HuntKernel kernel;
  Dresser(random, &kernel).Sizes();
  return kernel;
}

void Dress(scheduler::Random* random, HuntKernel* kernel) {
  const std::size_t most = kernel->tensor ? 10 : 8;
  for (std::vector<std::vector<Op>>* agents : {&kernel->agents, &kernel->later}) {
    for (std::vector<Op>& ops : *agents) {
      if (ops.size() > most) ops.resize(most);
    }
  }
  Dresser dresser(random, kernel);
  for (std::size_t i = 0; i < kernel->agents.size(); ++i) dresser.Dress(&kernel->agents[i], static_cast<int>(i));
  for (std::size_t i = 0; i < kernel->later.size(); ++i) dresser.Dress(&kernel->later[i], static_cast<int>(i));
}

}  // namespace palladion::hunt
