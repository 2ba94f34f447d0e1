// What outlives a launch: semaphores that one kernel gives and the next one takes, the copies that were started on them
// and that nobody has waited for, and the barrier semaphores of collective ids.
//
//   palladion::Session session;
//   auto started = palladion::Run(*start, {x, y}, {.session = &session});       // outputs: y, and a semaphore
//   auto ended = palladion::Run(*wait, started->outputs, {.session = &session});
//   session.End();                                                              // what nobody waited for
//
// Between launches a semaphore is an i16 array of its shape, which holds the session's number of it; nobody reads it
// but Palladion. Spec: docs/spec/tpu-sessions.md. May be used from any thread.
#ifndef PALLADION_EMU_SESSION_H_
#define PALLADION_EMU_SESSION_H_

#include <memory>
#include <vector>

#include "emu/export.h"
#include "emu/report.h"

namespace palladion {

class SessionState;

class PALLADION_EXPORT Session {
 public:
  Session();
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // No launch follows: copies that nobody has waited for, and semaphores that are not zero, as findings of the kernels
  // that left them, one report for each kernel. Afterwards the session is as new.
  std::vector<Report> End();

  SessionState& state() { return *state_; }

 private:
  std::unique_ptr<SessionState> state_;
};

}  // namespace palladion

#endif  // PALLADION_EMU_SESSION_H_
