// What a request to memory touches, to a scheduler: of a step of kernel text and of a call of a C++ function alike. The
// requests of threads, barriers and engines are in emu/run/threads/footprints.h. Limits: a step declares which ref it
// touches, not which elements, so an access counts as one of the whole buffer.
#ifndef PALLADION_EMU_RUN_AGENTS_FOOTPRINTS_H_
#define PALLADION_EMU_RUN_AGENTS_FOOTPRINTS_H_

#include "scheduler/operation.h"
#include "semantics/program/program.h"

namespace palladion::agents {

// A load, a store or an atomic update.
struct MemoryRequest {
  BufferId buffer;
  bool only_reads = false;
};

inline scheduler::Footprint FootprintOf(const MemoryRequest& request) {
  return request.only_reads ? scheduler::Footprint::Reads(request.buffer.value)
                            : scheduler::Footprint::Writes(request.buffer.value);
}

// Of a visible step that neither waits nor looks at a barrier or semaphore.
inline scheduler::Footprint FootprintOf(const Step& step, Frame& frame) {
  if (step.own_memory) return {};
  const BufferId buffer = step.ref.valid() ? frame.ref(step.ref).buffer : BufferId{};
  return buffer.valid() ? FootprintOf(MemoryRequest{buffer, step.only_reads}) : scheduler::Footprint::Everything();
}

}  // namespace palladion::agents

#endif  // PALLADION_EMU_RUN_AGENTS_FOOTPRINTS_H_
