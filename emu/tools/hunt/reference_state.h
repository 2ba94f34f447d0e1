// What the agents and the engines of the reference machine change together: memory, barriers, semaphores, the agents'
// sums, and the operations that are under way. A plain value: a search copies it for each order.
#ifndef PALLADION_EMU_TOOLS_HUNT_REFERENCE_STATE_H_
#define PALLADION_EMU_TOOLS_HUNT_REFERENCE_STATE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "emu/tools/hunt/hunt_kernel.h"
#include "emu/tools/hunt/reference_barriers.h"
#include "emu/tools/hunt/reference_layout.h"
#include "emu/tools/hunt/reference_listener.h"
#include "emu/tools/hunt/reference_memory.h"

namespace palladion::hunt {

// An operation in flight, which ends later: a copy, or one of the tensor core.
struct Copy {
  int issuer = 0, sequence = 0;  // among the copies out of its queue
  int queue = -1;                // of copies out
  const Op* op = nullptr;
  What what = What::kCopyIn;  // a product that commits is two of them
  int tensor = -1;            // of Issues
  Issues known;               // of a product: what it follows; of a commit: what it tells
  int line = 0, number = 0;   // of all copies
  bool later = false;         // of the second scope
  int into = 0;               // of a multicast, which is one for each block that it writes: that block
  int halves = 0;             // that are done
  std::int64_t values[4] = {};
  unsigned undefined = 0;  // a bit for each cell
};

struct Faults {
  bool leaked = false;  // undefined data reached a branch, an index or an output
  bool broken = false;  // something was done that is not specified
  bool stale = false;   // a copy had memory in hand when another scope got it
  bool lost = false;    // a copy has landed in a block that has ended
  bool early = false;   // one has landed in another phase than that which expects it
};

struct ReferenceState {
  ReferenceState(const HuntKernel& kernel, const Written& written);

  CellSpan CellsOf(const Scoped& where, Array array, int row, Part part) const {
    return layout->CellsOf(where, array, row, part, slots);
  }
  CellSpan CellsOf(const Scoped& where, const Op& op);  // whose row may depend on the agent's sum
  CellValue& SumOf(int agent) { return sums[static_cast<std::size_t>(agent)]; }
  const CellValue& SumOf(int agent) const { return sums[static_cast<std::size_t>(agent)]; }
  void Add(int agent, const CellValue& value);  // to its sum
  std::int64_t& CountOf(int semaphore) { return semaphores[static_cast<std::size_t>(semaphore)]; }
  std::int64_t CountOf(int semaphore) const { return semaphores[static_cast<std::size_t>(semaphore)]; }

  int WhoOf(const Copy& copy) const { return layout->agents() + copy.number; }  // as the listener has it
  Copy Take(std::size_t at);                                                    // one that is over
  // What a copy reads there, or writes.
  void MoveHalf(Copy* copy, const CellSpan& cells, bool reads);

  void ListenWith(Listener* to) { barriers.ListenWith(listener = to); }

  std::shared_ptr<const ReferenceLayout> layout;
  ReferenceMemory memory;
  ReferenceBarriers barriers;
  std::vector<std::int64_t> semaphores;
  std::vector<CellValue> sums;  // by agent
  std::vector<Copy> copies;     // under way, oldest first
  int copy_count = 0;           // that were ever issued
  Slots slots;
  Faults faults;
  Listener* listener = nullptr;
};

}  // namespace palladion::hunt

#endif  // PALLADION_EMU_TOOLS_HUNT_REFERENCE_STATE_H_
