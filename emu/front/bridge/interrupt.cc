#include "emu/front/bridge/interrupt.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <mutex>

namespace palladion::bridge {
namespace {

// The only things that a signal handler can reach: no object is passed to it.
std::atomic<std::int64_t> interrupts{0};
static_assert(std::atomic<std::int64_t>::is_always_lock_free);

// Leaves errno as it was: the interrupted code may be about to read it.
void SayIt() {
  constexpr char kText[] = "\nstopping; press again to end now\n";
  const int before = errno;
  if (::isatty(STDERR_FILENO) != 0) {
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, kText, sizeof kText - 1);
  }
  errno = before;
}

void Receive(int) {
  interrupts.fetch_add(1);
  SayIt();
}

constexpr std::array<int, 2> kSignals = {SIGINT, SIGTERM};

struct Eavesdropped {
  std::array<struct ::sigaction, 2> before;
  std::array<bool, 2> ours;
  std::atomic<std::int64_t> runs{0}, presses{0};  // presses: since the first of the running ones began
  int listeners = 0;
};
Eavesdropped eavesdropped;

std::mutex& ListenersMutex() {
  static std::mutex mutex;
  return mutex;
}

bool HandsOn(const struct ::sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 || (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN);
}

void Overhear(int signal, siginfo_t* info, void* context) {
  interrupts.fetch_add(1);
  if (eavesdropped.runs.load() > 0) {
    const bool again = eavesdropped.presses.fetch_add(1) > 0;
    if (!again) SayIt();
    if (again && ::isatty(STDERR_FILENO) != 0) {
      ::signal(signal, SIG_DFL);
      ::raise(signal);
    }
  }
  const struct ::sigaction& before = eavesdropped.before[signal == SIGINT ? 0 : 1];
  if ((before.sa_flags & SA_SIGINFO) != 0) {
    before.sa_sigaction(signal, info, context);
  } else if (HandsOn(before)) {
    before.sa_handler(signal);
  }
}

bool IsOverhear(const struct ::sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == Overhear;
}

}  // namespace

const std::atomic<std::int64_t>& InterruptCount() { return interrupts; }

void InterruptRuns() { interrupts.fetch_add(1); }

InterruptListener::InterruptListener() : before_(interrupts.load()) {
  struct ::sigaction action = {};
  action.sa_handler = Receive;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  ::sigemptyset(&action.sa_mask);
  ::sigaction(SIGINT, &action, &old_int_);
  ::sigaction(SIGTERM, &action, &old_term_);
  if (old_int_.sa_handler == SIG_IGN) ::sigaction(SIGINT, &old_int_, nullptr);
  if (old_term_.sa_handler == SIG_IGN) ::sigaction(SIGTERM, &old_term_, nullptr);
}

InterruptListener::~InterruptListener() {
  ::sigaction(SIGINT, &old_int_, nullptr);
  ::sigaction(SIGTERM, &old_term_, nullptr);
}

InterruptEavesdropper::InterruptEavesdropper(For whom) : whom_(whom) {
  const std::lock_guard<std::mutex> lock(ListenersMutex());
  if (whom_ == For::kRun && eavesdropped.runs.fetch_add(1) == 0) eavesdropped.presses.store(0);
  if (eavesdropped.listeners++ > 0) return;
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    struct ::sigaction& before = eavesdropped.before[i];
    ::sigaction(kSignals[i], nullptr, &before);
    eavesdropped.ours[i] = HandsOn(before);
    if (!eavesdropped.ours[i]) continue;
    struct ::sigaction action = {};
    action.sa_sigaction = Overhear;
    action.sa_flags = SA_SIGINFO | (before.sa_flags & (SA_RESTART | SA_ONSTACK));
    ::sigemptyset(&action.sa_mask);
    ::sigaction(kSignals[i], &action, nullptr);
  }
}

InterruptEavesdropper::~InterruptEavesdropper() {
  const std::lock_guard<std::mutex> lock(ListenersMutex());
  if (whom_ == For::kRun) eavesdropped.runs.fetch_sub(1);
  if (--eavesdropped.listeners > 0) return;
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    if (!eavesdropped.ours[i]) continue;
    struct ::sigaction now = {};
    ::sigaction(kSignals[i], &eavesdropped.before[i], &now);
    if (!IsOverhear(now)) ::sigaction(kSignals[i], &now, nullptr);
  }
}

}  // namespace palladion::bridge
