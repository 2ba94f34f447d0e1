// Ctrl-C, and the SIGTERM that a CI job gets before it is killed, during a long operation: the first one makes it
// stop and report its results so far; on a terminal a message says that a second one ends the process. There are two
// modes: a command takes the signals over, a library only observes them in addition. What it does not do: handle a
// signal that has no other handler (the process ends then, as it would without us), or one that is ignored (nohup, a
// shell's background job).
#ifndef PALLADION_EMU_FRONT_BRIDGE_INTERRUPT_H_
#define PALLADION_EMU_FRONT_BRIDGE_INTERRUPT_H_

#include <atomic>
#include <csignal>
#include <cstdint>

#include "emu/emulate.h"

namespace palladion::bridge {

// Signals received so far, by all listeners: for RunControl. It never gets smaller.
const std::atomic<std::int64_t>& InterruptCount();

// As if a signal had been heard.
void InterruptRuns();

// Takes SIGINT and SIGTERM over while it lives, and restores the handlers from before: a second signal ends the process
// as if it had no handler. One at a time.
class InterruptListener {
 public:
  InterruptListener();
  ~InterruptListener();
  InterruptListener(const InterruptListener&) = delete;
  InterruptListener& operator=(const InterruptListener&) = delete;

  bool interrupted() const { return InterruptCount().load() != before_; }

 private:
  std::int64_t before_;
  struct ::sigaction old_int_, old_term_;
};

// Hears SIGINT and SIGTERM while it lives, where some handler has them, and hands them on to it. Any number at a time,
// on any thread. A handler that is installed meanwhile stays. On a terminal, the second signal that comes before all
// runs have ended ends the process.
class InterruptEavesdropper {
 public:
  enum class For : std::uint8_t { kRun, kSession };  // a session only spares its runs the beginning
  explicit InterruptEavesdropper(For whom);
  ~InterruptEavesdropper();
  InterruptEavesdropper(const InterruptEavesdropper&) = delete;
  InterruptEavesdropper& operator=(const InterruptEavesdropper&) = delete;

 private:
  const For whom_;
};

// A run that a call of the C ABI starts: while it lives, the first signal ends the run.
class InterruptibleRun {
 public:
  RunControl* control() { return &control_; }
  // `budget`: loop iterations of a program; 0: the default.
  RunOptions Options(std::int64_t budget) {
    RunOptions options;
    if (budget != 0) options.loop_budget = budget;
    options.budget_name = "the argument budget";
    options.control = &control_;
    return options;
  }

 private:
  const InterruptEavesdropper listener_{InterruptEavesdropper::For::kRun};
  RunControl control_{InterruptCount()};
};

}  // namespace palladion::bridge

#endif  // PALLADION_EMU_FRONT_BRIDGE_INTERRUPT_H_
