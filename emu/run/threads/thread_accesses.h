// Threads' accesses to memory, passed to the model of their machine. Limits: what engines do was judged at its
// issue, and memory that is not tracked is not passed.
#ifndef PALLADION_EMU_RUN_THREADS_THREAD_ACCESSES_H_
#define PALLADION_EMU_RUN_THREADS_THREAD_ACCESSES_H_

#include <cstdint>

#include "emu/run/threads/thread_machine.h"
#include "memory_model/bytes/events.h"

namespace palladion::threads {

class ThreadAccesses : public memory_model::MemoryWatcher {
 public:
  // Both outlive it.
  ThreadAccesses(const memory_model::Memory& memory, ThreadMachine& machine) : memory_(memory), machine_(machine) {}
  memory_model::EventSet wants() const override { return {memory_model::EventKind::kAccess}; }
  std::int64_t most_values() const override { return 0; }
  void Box(const Who& who, AccessKind kind, const BoxAccess& access, const memory_model::BoxReach& reach,
           const std::byte* value) override;
  void Points(const Who& who, AccessKind kind, const PointAccess& access, const std::byte* value) override;
  std::int64_t accesses() const { return accesses_; }

 protected:
  ThreadMachine& machine() { return machine_; }
  const memory_model::Memory& memory() const { return memory_; }
  // Of an engine's access the order was judged when it was asked for; of memory that no agent writes there is none.
  bool Judges(const Who& who, BufferId buffer) const { return !who.of_engine() && machine_.model().Tracks(buffer); }

 private:
  const memory_model::Memory& memory_;
  ThreadMachine& machine_;
  std::int64_t accesses_ = 0;
};

}  // namespace palladion::threads

#endif  // PALLADION_EMU_RUN_THREADS_THREAD_ACCESSES_H_
