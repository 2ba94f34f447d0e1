// A second, independent semantics of small kernels: a deliberately simple machine for the kernels of hunt_kernel.h. It
// shares no code with memory_model, scheduler or the operations, so a mistake there is not repeated here. Here is what
// an agent does next, and what then happens; what is there is ReferenceState, and each kind of asynchronous operation
// has a file of its own. Rules: docs/spec/gpu-order.md. Limits: memory is sequentially consistent; copies happen in two
// phases, each atomic.
#ifndef PALLADION_EMU_TOOLS_HUNT_REFERENCE_MACHINE_H_
#define PALLADION_EMU_TOOLS_HUNT_REFERENCE_MACHINE_H_

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "emu/tools/hunt/hunt_kernel.h"
#include "emu/tools/hunt/reference_bulk.h"
#include "emu/tools/hunt/reference_listener.h"
#include "emu/tools/hunt/reference_multicast.h"
#include "emu/tools/hunt/reference_state.h"
#include "emu/tools/hunt/reference_tensor.h"

namespace palladion::hunt {

// A mistake in an oracle, to see whether it is contradicted then.
enum class Mutation : std::uint8_t {
  kNone,
  // The slow race checker leaves out an order.
  kNoBarrierEdges,
  kNoSemaphoreEdges,
  kNoCompletions,
  kNoFences,
  kAllOrderTensor,
  kNoPipelines,
  kNoMeshes,
  // The reference machine: a wait for a semaphore takes nothing.
  kCreditsStay,
  // The one of launch control: work that is not done is not lost.
  kNothingLost,
};

struct Choice {
  int agent = 0;
  int copy = -1;  // the place in copies(): its next half; -1: the agent
};

class ReferenceMachine {
 public:
  ReferenceMachine(const HuntKernel& kernel, const Written& written, Mutation mutation = Mutation::kNone);

  void ListenWith(Listener* listener) { state_.ListenWith(listener); }

  std::vector<Choice> Choices() const;
  void Do(const Choice& choice);
  void Look(int agent);  // its loop that waits looks, and goes on if it has seen what it waits for

  // The agent's next operation that others can see; nullptr at its end.
  const Instr* Next(int agent) const;
  bool CanGo(int agent) const;
  bool Done() const;
  const std::vector<Copy>& copies() const { return state_.copies; }  // under way, oldest first
  int agents() const { return layout().agents(); }

  // All that later steps depend on.
  std::string State() const;
  // Of a run that has ended: what it leaves in o and m, "deadlock" where an agent is left, or which of its Faults it
  // has: "undefined" where data has leaked, "broken" also where a barrier completed twice without a wait between,
  // "stale".
  std::string Outcome() const;
  std::vector<std::int64_t> Sums() const { return results_; }
  std::vector<std::int64_t> CellsOfM() const;
  bool lost() const { return state_.faults.lost; }
  bool early() const { return state_.faults.early; }
  bool LeavesSemaphores() const;  // is one of them not zero?
  int thread_of(int agent) const { return layout().ThreadOf(agent); }
  bool SameBlock(int agent, int other) const { return layout().BlockOf(agent) == layout().BlockOf(other); }
  std::set<int> CellsOfTensor() const { return layout().CellsOfTensor(); }
  int first_shared_cell() const { return layout().is_tpu() ? state_.memory.size() : 2 * layout().rows() * kCellsOfRow; }

 private:
  const ReferenceLayout& layout() const { return *state_.layout; }
  bool broken() const { return state_.faults.broken || state_.barriers.broken(); }

  void Settle(int agent);
  void Memory(int agent, const Instr& instr);
  bool SpinEnds(int agent, const Op& op) const;
  void Sync(int agent, const Op& op);
  void TakePhase(int agent, int barrier);
  void Enter(int agent);
  bool MayGo(const Copy& copy) const;
  void DoHalf(std::size_t at);
  bool BlockHasEnded(int block) const;

  bool HasBegun(int agent) const {
    return !layout().IsWarp(agent) || begun_[static_cast<std::size_t>(layout().ThreadOf(agent))];
  }
  bool WarpsEnded(int thread) const;
  void Fork(int thread);
  void Join(int thread);
  void CheckUneven(int agent, int barrier);

  const Written& written_;
  Mutation mutation_;
  ReferenceState state_;
  BulkCopies bulk_;
  Multicasts multicasts_;
  TensorCores tensor_;
  std::vector<int> pc_;                // by agent
  std::vector<bool> begun_;            // have the thread's warps begun? By thread
  std::vector<std::int64_t> results_;  // by agent of the kernel
};

}  // namespace palladion::hunt

#endif  // PALLADION_EMU_TOOLS_HUNT_REFERENCE_MACHINE_H_
