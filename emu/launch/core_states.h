// What somebody who watches a launch keeps of each TPU core, while the programs of several may take turns. A task (the
// programs with one index along all parallel dimensions) may be on a core of its own, whose pipeline is new: its state
// is too.
#ifndef PALLADION_EMU_LAUNCH_CORE_STATES_H_
#define PALLADION_EMU_LAUNCH_CORE_STATES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "memory_model/sweep/sweep.h"
#include "semantics/base/running_agent.h"

namespace palladion::launch {

// How the cores of a launch run.
struct CoresOfLaunch {
  std::vector<memory_model::TaskDim> dims;
  std::size_t device_axes = 0;  // the leading ones
  bool take_turns = false;      // else a core runs to its end before the next begins
};

template <class State>
class CoreStates {
 public:
  explicit CoreStates(CoresOfLaunch cores) : cores_(std::move(cores)), clock_(cores_.dims), leading_(Leading()) {}

  void Running(const RunningAgent& now) {
    const std::vector<std::int64_t> program(now.index.begin(), now.index.end());
    std::vector<std::int64_t> key(program.begin(),
                                  program.begin() + static_cast<std::ptrdiff_t>(std::min(leading_, program.size())));
    if (here_ == nullptr || key != key_) {
      if (!cores_.take_turns) all_.clear();
      here_ = &all_[key];
      key_ = std::move(key);
    }
    if (!now.begins) return;
    const bool another = here_->step > 0 && !clock_.SameTask(here_->program, program);
    if (another) *here_ = Core();
    here_->program = program;
    ++here_->step;
  }

  bool any() const { return here_ != nullptr; }  // has a program begun?
  // Of the core that runs: its state, how many programs it has begun, and the last one's index.
  State& here() { return here_->state; }
  std::int64_t step() const { return here_ == nullptr ? 0 : here_->step; }
  const std::vector<std::int64_t>& program() const { return here_ == nullptr ? none_ : here_->program; }

 private:
  struct Core {
    State state;
    std::int64_t step = 0;
    std::vector<std::int64_t> program;
  };

  // So many dimensions tell cores apart that take turns: those of devices, and all parallel ones where they lead.
  std::size_t Leading() const {
    if (clock_.returns()) return cores_.device_axes;
    std::size_t leading = cores_.device_axes;
    for (std::size_t d = 0; d < cores_.dims.size(); ++d) {
      if (cores_.dims[d].parallel && cores_.dims[d].size > 1) leading = std::max(leading, d + 1);
    }
    return leading;
  }

  CoresOfLaunch cores_;
  memory_model::TaskClock clock_;
  std::size_t leading_;
  std::map<std::vector<std::int64_t>, Core> all_;
  std::vector<std::int64_t> key_;
  const std::vector<std::int64_t> none_;
  Core* here_ = nullptr;
};

}  // namespace palladion::launch

#endif  // PALLADION_EMU_LAUNCH_CORE_STATES_H_
