// An observer's state for each TPU core, while the programs of several cores may take turns. A task (the programs with
// one index along all parallel dimensions) may be on a core of its own, whose pipeline is its own too: its state goes
// on where other tasks have run meanwhile.
#ifndef PALLADION_EMU_RUN_LAUNCH_CORE_STATES_H_
#define PALLADION_EMU_RUN_LAUNCH_CORE_STATES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "memory_model/sweep/sweep.h"
#include "semantics/base/running_agent.h"

namespace palladion::launch {

// How the cores of a launch run.
struct CoresOfLaunch {
  std::vector<memory_model::TaskDim> dims;
  std::size_t device_axes = 0;  // the leading ones
  bool take_turns = false;      // the programs of several tasks; else one runs to its end before the next begins
};

template <class State>
class CoreStates {
 public:
  explicit CoreStates(CoresOfLaunch cores)
      : cores_(std::move(cores)), keeps_all_(cores_.take_turns || memory_model::TaskClock(cores_.dims).returns()) {}

  void Running(const RunningAgent& now) {
    const std::int64_t task = TaskOf(now.index);
    if (here_ == nullptr || task != task_) {
      if (!keeps_all_) all_.clear();
      std::unique_ptr<Core>& core = all_[task];
      if (core == nullptr) core = std::make_unique<Core>();
      here_ = core.get();
      task_ = task;
    }
    if (!now.begins) return;
    here_->program.assign(now.index.begin(), now.index.end());
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

  // The number of its index, with its device.
  std::int64_t TaskOf(absl::Span<const std::int64_t> program) const {
    std::int64_t task = 0;
    for (std::size_t d = 0; d < program.size(); ++d) {
      if (d < cores_.device_axes || cores_.dims[d].parallel) task = task * cores_.dims[d].size + program[d];
    }
    return task;
  }

  CoresOfLaunch cores_;
  const bool keeps_all_;  // what a task left may be wanted again
  absl::flat_hash_map<std::int64_t, std::unique_ptr<Core>> all_;
  std::int64_t task_ = 0;
  const std::vector<std::int64_t> none_;
  Core* here_ = nullptr;
};

}  // namespace palladion::launch

#endif  // PALLADION_EMU_RUN_LAUNCH_CORE_STATES_H_
