// State that outlives a launch: semaphores that one kernel returns and the next one takes, the copies in flight on
// them, and the barrier semaphores of collective ids.
//
//   palladion::Session session;
//   auto started = palladion::Run(*start, {x, y}, {.session = &session});       // outputs: y, and a semaphore
//   auto ended = palladion::Run(*wait, started->outputs, {.session = &session});
//   session.End();                                                              // copies without a wait
//
// Between launches a semaphore is an i16 array of its shape, which holds the number by which the session identifies it;
// only Palladion reads it. Spec: docs/spec/tpu-sessions.md. May be used from any thread.
#ifndef PALLADION_EMU_SESSION_H_
#define PALLADION_EMU_SESSION_H_

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "emu/emulate.h"
#include "emu/export.h"
#include "emu/report.h"

namespace palladion::agents {
class SessionState;
}  // namespace palladion::agents

namespace palladion {

class PALLADION_EXPORT Session {
 public:
  Session();
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // No launch follows: copies without a wait, and semaphores that are not zero, as findings of the kernels
  // that left them, one report for each kernel. Afterwards the session is as new.
  std::vector<Report> End();

  agents::SessionState& state() { return *state_; }

 private:
  std::unique_ptr<agents::SessionState> state_;
};

// Several launches of the kernel in a row, as one kernel: as PrepareText, and a device that has ended its part of one
// launch goes on with the next, so that it may be ahead of the others. Inputs are the kernel's; outputs those of the
// first launch, then of the second (docs/spec/tpu-sessions.md#launches-in-a-row). Unimplemented: a kernel of more than
// one program, with blocks, or whose launches begin with a barrier of all devices.
PALLADION_EXPORT absl::StatusOr<PreparedKernel> PrepareLaunches(std::string_view text, std::int64_t launches,
                                                                const PrepareOptions& options = {});

}  // namespace palladion

#endif  // PALLADION_EMU_SESSION_H_
