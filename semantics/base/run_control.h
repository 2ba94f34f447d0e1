// A run polls this to see whether it must stop, and reports its progress here. The caller that starts the run owns it;
// it is read and written from several threads, and a poll costs one load. Based on: a count of interrupts that only
// grows, so that a signal handler needs nothing but an addition, and what was asked for before a run began does not end
// it. What it does not do: nothing that a run computes depends on it, but that it ended early.
#ifndef PALLADION_SEMANTICS_BASE_RUN_CONTROL_H_
#define PALLADION_SEMANTICS_BASE_RUN_CONTROL_H_

#include <atomic>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/cord.h"

namespace palladion {

class RunControl {
 public:
  RunControl() = default;  // is never interrupted
  // Interrupted as soon as `interrupts`, which outlives it, is another number than now.
  explicit RunControl(const std::atomic<std::int64_t>& interrupts)
      : interrupts_(&interrupts), before_(interrupts.load()) {}
  RunControl(const RunControl&) = delete;
  RunControl& operator=(const RunControl&) = delete;

  bool interrupted() const { return interrupts_ != nullptr && interrupts_->load(std::memory_order_relaxed) != before_; }

  // How far it is. Numbers for people: they may be a little late, and of several launches at once they are the sum.
  void BeginLaunch(std::int64_t programs) { programs_.store(programs, std::memory_order_relaxed); }
  void EndPrograms(std::int64_t n) { programs_done_.fetch_add(n, std::memory_order_relaxed); }
  void BeginSchedules(std::int64_t schedules) { schedules_.store(schedules, std::memory_order_relaxed); }
  void EndSchedules(std::int64_t done) {
    schedules_done_.store(done, std::memory_order_relaxed);
    before_schedule_.store(programs_done_.load(std::memory_order_relaxed), std::memory_order_relaxed);
  }
  void Spent(std::int64_t work, std::int64_t budget) {
    spent_.store(work, std::memory_order_relaxed);
    budget_.store(budget, std::memory_order_relaxed);
  }

  struct Counts {
    std::int64_t schedules_done = 0, schedules = 0;  // 0: one, or unknown
    std::int64_t programs_done = 0, programs = 0;    // of the schedules that are not done
    std::int64_t spent = 0, budget = 0;              // by the program, or the schedule, that looked last
  };
  Counts counts() const {
    return {.schedules_done = schedules_done_.load(),
            .schedules = schedules_.load(),
            .programs_done = programs_done_.load() - before_schedule_.load(),
            .programs = programs_.load(),
            .spent = spent_.load(),
            .budget = budget_.load()};
  }

 private:
  const std::atomic<std::int64_t>* interrupts_ = nullptr;
  std::int64_t before_ = 0;
  std::atomic<std::int64_t> schedules_done_ = 0, schedules_ = 0, programs_done_ = 0, programs_ = 0,
                            before_schedule_ = 0, spent_ = 0, budget_ = 0;
};

inline bool Interrupted(const RunControl* control) { return control != nullptr && control->interrupted(); }

// How an interrupted run ends: not an error.
inline absl::Status InterruptedStatus() {
  absl::Status status = absl::CancelledError("interrupted");
  status.SetPayload("palladion/interrupted", absl::Cord());
  return status;
}
inline bool IsInterrupted(const absl::Status& status) {
  return absl::IsCancelled(status) && status.GetPayload("palladion/interrupted").has_value();
}

// The budget of loop iterations is spent; the caller that knows its name says how to raise it.
inline absl::Status BudgetStatus(const std::string& message) {
  absl::Status status = absl::ResourceExhaustedError(message);
  status.SetPayload("palladion/budget", absl::Cord());
  return status;
}
inline bool IsBudget(const absl::Status& status) { return status.GetPayload("palladion/budget").has_value(); }

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_BASE_RUN_CONTROL_H_
