#include "emu/interrupt.h"

#include <atomic>

namespace palladion {
namespace {

// The only thing that a signal handler can reach: no object is passed to it.
std::atomic<bool> received{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void Receive(int) { received.store(true); }

}  // namespace

InterruptListener::InterruptListener() {
  received.store(false);
  struct ::sigaction action = {};
  action.sa_handler = Receive;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  ::sigemptyset(&action.sa_mask);
  ::sigaction(SIGINT, &action, &old_int_);
  ::sigaction(SIGTERM, &action, &old_term_);
  // What somebody chose to ignore (nohup, a shell's background job) stays ignored.
  if (old_int_.sa_handler == SIG_IGN) ::sigaction(SIGINT, &old_int_, nullptr);
  if (old_term_.sa_handler == SIG_IGN) ::sigaction(SIGTERM, &old_term_, nullptr);
}

InterruptListener::~InterruptListener() {
  ::sigaction(SIGINT, &old_int_, nullptr);
  ::sigaction(SIGTERM, &old_term_, nullptr);
}

bool InterruptListener::interrupted() const { return received.load(); }

}  // namespace palladion
