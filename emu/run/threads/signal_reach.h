// Which barriers and semaphores a thread may still arrive at or signal, from where it stands in the kernel's text: for
// saying which agents could end a wait, and that none can. It does not know which element of an array an instruction
// will name, nor which way a branch will go, so it may say "may" where the thread never will; a ref that is handed to a
// call counts as signalled there.
#ifndef PALLADION_EMU_RUN_THREADS_SIGNAL_REACH_H_
#define PALLADION_EMU_RUN_THREADS_SIGNAL_REACH_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "semantics/ir/module.h"

namespace palladion::threads {

// Barriers or semaphores by the line of the text that makes them, and their name.
using SyncObject = std::pair<int, std::string>;

class SignalReach {
 public:
  explicit SignalReach(const Kernel& kernel) : kernel_(kernel) {}

  // May an agent at the instruction of a line come to one that arrives at, or signals, the object?
  bool MayCome(int line, const SyncObject& object);
  bool MayComeFromStart(const SyncObject& object);

 private:
  struct Reach {
    std::map<int, bool> at;  // by line
    bool from_start = false;
  };
  const Reach& Of(const SyncObject& object);

  const Kernel& kernel_;
  std::map<SyncObject, Reach> reach_;
};

}  // namespace palladion::threads

#endif  // PALLADION_EMU_RUN_THREADS_SIGNAL_REACH_H_
