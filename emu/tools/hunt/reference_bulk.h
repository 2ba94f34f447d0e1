// The reference machine's bulk copies of a GPU, into shared memory and out of it: two phases, each atomic. Rules:
// docs/spec/gpu-copies.md, docs/spec/gpu-order.md#copies (groups).
#ifndef PALLADION_EMU_TOOLS_HUNT_REFERENCE_BULK_H_
#define PALLADION_EMU_TOOLS_HUNT_REFERENCE_BULK_H_

#include <cstddef>
#include <vector>

#include "emu/tools/hunt/reference_state.h"

namespace palladion::hunt {

class BulkCopies {
 public:
  explicit BulkCopies(int agents) : copies_out_(static_cast<std::size_t>(agents), 0) {}

  void Start(int agent, const Instr& instr, ReferenceState& state);
  // Copies out of one agent read in the order of issue, and write in it; copies in have no order.
  static bool MayGo(const Copy& copy, const ReferenceState& state);
  static void DoHalf(std::size_t at, ReferenceState& state);

  // What an agent waits for: its copies out, or the reading of them, but for the last few.
  bool AwaitDone(int agent, const Op& op, const ReferenceState& state) const;
  void NotifyAwaited(int agent, const Op& op, const ReferenceState& state) const;

 private:
  int& IssuedOf(int queue) { return copies_out_[static_cast<std::size_t>(queue)]; }
  int IssuedOf(int queue) const { return copies_out_[static_cast<std::size_t>(queue)]; }

  std::vector<int> copies_out_;  // issued, by queue, which is an agent's
};

}  // namespace palladion::hunt

#endif  // PALLADION_EMU_TOOLS_HUNT_REFERENCE_BULK_H_
