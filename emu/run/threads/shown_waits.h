// How a synchronisation is shown in a recorded schedule: its words, and which of the earlier arrivals, signals and ends
// a wait acquires. Every Waitable describes its own, so a recorder (emu/tools/schedule) needs no change for a new one.
// Limits: what an engine's completion releases is shown by the recorder itself.
#ifndef PALLADION_EMU_RUN_THREADS_SHOWN_WAITS_H_
#define PALLADION_EMU_RUN_THREADS_SHOWN_WAITS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace palladion::threads {

// Under which an arrival is kept for the waits that acquire it: the schedule object, or a name of several together.
using ReleaseKey = std::vector<std::int64_t>;

struct ShownArrival {
  std::string name;   // "barrier full[1]"
  std::string words;  // "arrives at barrier full[1], phase 2 (1 of 2)"
  ReleaseKey key;
  std::uint64_t phase = 0;  // of a barrier
  bool by_clock = true;     // the phase is not known: the clocks say which waits acquire it
};

struct ShownWait {
  enum class Acquires : std::uint8_t {
    kReleases,  // all under `keys` of this phase, or that the agent's clock covers
    kCredits,   // the oldest under `keys`, until they are `amount`
    kQueued,    // operations in the agent's queues that its clock covers
    kChildren,  // the last operations of the agents that it spawned
  };
  std::string name, words;
  Acquires acquires = Acquires::kReleases;
  std::vector<ReleaseKey> keys;
  std::uint64_t phase = 0;
  std::int64_t amount = 0;
  bool takes = false;  // the credits are gone after it
};

}  // namespace palladion::threads

#endif  // PALLADION_EMU_RUN_THREADS_SHOWN_WAITS_H_
