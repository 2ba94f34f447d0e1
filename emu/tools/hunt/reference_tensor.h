// The reference machine's tensor cores: tensor memory, products, and what each agent knows of them. A product is of one
// row of operands: its first element times each of them. Rules: docs/spec/gpu-order.md#tmem, gpu-tmem.md,
// gpu-tcgen05.md.
#ifndef PALLADION_EMU_TOOLS_HUNT_REFERENCE_TENSOR_H_
#define PALLADION_EMU_TOOLS_HUNT_REFERENCE_TENSOR_H_

#include <cstddef>
#include <string>
#include <vector>

#include "emu/tools/hunt/reference_state.h"

namespace palladion::hunt {

class TensorCores {
 public:
  explicit TensorCores(int agents)
      : known_(static_cast<std::size_t>(agents)),
        loads_(static_cast<std::size_t>(agents)),
        stores_(static_cast<std::size_t>(agents)),
        given_(static_cast<std::size_t>(agents)) {}

  // What the agent knows to be issued; barriers tell of it.
  const Issues& KnownOf(int agent) const { return known_[static_cast<std::size_t>(agent)]; }
  void Acquire(int agent, const Issues& released) { known_[static_cast<std::size_t>(agent)] |= released; }

  // An operation on tensor memory, of those that need no wait.
  void Do(int agent, const Instr& instr, ReferenceState& state);
  static bool AreStoresDone(int agent, const ReferenceState& state);
  static bool MayGo(const Copy& copy, const ReferenceState& state);
  static void DoHalf(std::size_t at, ReferenceState& state);

  void AddState(const ReferenceState& state, std::string* text) const;

 private:
  struct TensorOp {
    int copy = 0;  // its number
    What what = What::kProduct;
    int row = 0;
  };

  void Load(int agent, const Instr& instr, ReferenceState& state);
  void Start(int agent, const Instr& instr, ReferenceState& state);
  void FollowEarlier(Copy* product, const ReferenceState& state) const;
  void StartCommit(int agent, const Instr& instr, ReferenceState& state);

  std::vector<Issues> known_;  // by agent
  std::vector<TensorOp> ops_;
  std::vector<std::vector<int>> loads_, stores_, given_;  // of each agent: its loads, stores, and what it gave the core
};

}  // namespace palladion::hunt

#endif  // PALLADION_EMU_TOOLS_HUNT_REFERENCE_TENSOR_H_
