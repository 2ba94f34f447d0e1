// The reference machine's copies that the two blocks of a cluster make together: each block sends its half of a row to
// both, and each half lands in each block at a time of its own. Rules: docs/spec/gpu-copies.md#copy_gmem_to_smem.
#ifndef PALLADION_EMU_TOOLS_HUNT_REFERENCE_MULTICAST_H_
#define PALLADION_EMU_TOOLS_HUNT_REFERENCE_MULTICAST_H_

#include <cstddef>
#include <string>
#include <vector>

#include "emu/tools/hunt/reference_state.h"

namespace palladion::hunt {

class Multicasts {
 public:
  explicit Multicasts(int agents) : together_(static_cast<std::size_t>(agents)) {}

  // The call is an arrival, which expects both halves; it and what has landed before it have to be of one phase.
  void Start(int agent, const Instr& instr, ReferenceState& state);
  // `ended`: the block that the copy writes is over.
  void DoHalf(std::size_t at, bool ended, ReferenceState& state);
  void AddState(int blocks, std::string* state) const;

 private:
  // What an agent's n-th such copy expects, and the halves of it that have landed in its block.
  struct Together {
    const Op* op = nullptr;  // nullptr: it has not come to it
    int phase = -1;          // of its barrier, which expects the bytes
    int landed = 0;
  };
  Together& TogetherOf(int agent, int number);
  static void ExpectPhase(Together* together, int phase, Faults* faults);

  std::vector<std::vector<Together>> together_;  // by agent
};

}  // namespace palladion::hunt

#endif  // PALLADION_EMU_TOOLS_HUNT_REFERENCE_MULTICAST_H_
