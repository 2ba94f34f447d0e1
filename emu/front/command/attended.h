// An interactive run of the command: Ctrl-C and SIGTERM end it early, and on a terminal a line shows its progress.
// Silent in pipes, and for short runs.
#ifndef PALLADION_EMU_FRONT_COMMAND_ATTENDED_H_
#define PALLADION_EMU_FRONT_COMMAND_ATTENDED_H_

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "emu/front/bridge/interrupt.h"
#include "emu/front/command/command_common.h"

namespace palladion::command {

// Around the run alone: nothing else prints to the console's error stream while it lives.
class Attended {
 public:
  Attended(const Console& console, std::string kernel);
  ~Attended();
  Attended(const Attended&) = delete;
  Attended& operator=(const Attended&) = delete;

  RunControl* control() { return &control_; }

 private:
  void Show();

  const Console& console_;
  const std::string kernel_;
  const bridge::InterruptListener listener_;
  RunControl control_{bridge::InterruptCount()};
  std::mutex mutex_;
  std::condition_variable over_changed_;
  bool over_ = false;
  std::thread shows_;
};

}  // namespace palladion::command

#endif  // PALLADION_EMU_FRONT_COMMAND_ATTENDED_H_
