// Ctrl-C, and the SIGTERM that a CI job gets before it is killed, while a long command runs: the first one asks it to
// stop and say what it knows, a second one ends the process as if nobody listened.
#ifndef PALLADION_EMU_INTERRUPT_H_
#define PALLADION_EMU_INTERRUPT_H_

#include <csignal>

namespace palladion {

// Listens while it lives, and puts back what listened before. One at a time.
class InterruptListener {
 public:
  InterruptListener();
  ~InterruptListener();
  InterruptListener(const InterruptListener&) = delete;
  InterruptListener& operator=(const InterruptListener&) = delete;

  bool interrupted() const;

 private:
  struct ::sigaction old_int_, old_term_;
};

}  // namespace palladion

#endif  // PALLADION_EMU_INTERRUPT_H_
