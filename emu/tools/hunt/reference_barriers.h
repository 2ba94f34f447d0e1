// The reference machine's barriers, named barriers, and where the threads of a block meet before the second scope.
// Rules: docs/spec/gpu-barriers.md, docs/spec/gpu-named-barriers.md.
#ifndef PALLADION_EMU_TOOLS_HUNT_REFERENCE_BARRIERS_H_
#define PALLADION_EMU_TOOLS_HUNT_REFERENCE_BARRIERS_H_

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "emu/tools/hunt/reference_layout.h"
#include "emu/tools/hunt/reference_listener.h"

namespace palladion::hunt {

// Products and copies to tensor memory by their number: issued, as far as an agent knows.
using Issues = std::bitset<256>;

class ReferenceBarriers {
 public:
  ReferenceBarriers(const HuntKernel& kernel, std::shared_ptr<const ReferenceLayout> layout);

  void ListenWith(Listener* listener) { listener_ = listener; }

  // `told`: the operations of tensor cores that the one who arrives knows; nullptr: it knows of none.
  void Arrive(int who, int barrier, const Issues* released);
  // At each of a cluster's blocks, or at its own.
  void ArriveFrom(int agent, int object, const Issues& known);
  bool CanTake(int agent, int barrier) const;
  // The next phase that the agent has not seen: the products that it orders.
  const Issues& Take(int agent, int barrier);
  int completed(int barrier) const { return StateOf(barrier).completed; }
  // Bytes that the phase under way expects, and those that have landed.
  void Expect(int barrier, std::int64_t bytes) { StateOf(barrier).bytes += bytes; }
  void Land(int who, int barrier, std::int64_t bytes);
  // Warps begin with what their thread has seen. The other two have waited for nothing: a thread whose warps have would
  // wait for two phases at once.
  void Fork(int thread, int warp);
  void CheckUneven(int thread, int barrier);

  void ArriveNamed(int agent, int object);
  bool CanGoNamed(int agent, int object) const;
  void WaitNamed(int agent, int object);

  void Meet(int agent);
  bool HaveMet(int block) const { return met_[static_cast<std::size_t>(block)] == layout_->threads(); }
  void Enter(int agent);

  // A barrier completed twice without a wait between, or was used as is not specified.
  bool broken() const { return broken_; }

  void AddState(std::string* state) const;       // of barriers
  void AddBytesState(std::string* state) const;  // of what they expect
  void AddNamedState(std::string* state) const;
  // The products that each phase of each barrier orders.
  template <class Visit>
  void VisitReleased(const Visit& visit) const {
    for (const State& barrier : barriers_) {
      for (const Issues& released : barrier.released) visit(released);
    }
  }

 private:
  struct State {
    int arrivals = 1, arrived = 0, completed = 0;
    std::vector<int> seen;         // by agent
    std::vector<Issues> released;  // by phase, the one under way last
    std::int64_t bytes = 0;        // that the phase under way expects and that have not landed
  };
  struct Named {
    int of = 1, arrived = 0, completed = 0;
    std::vector<int> here, joined;  // by agent: it has arrived at the phase under way; at which it arrived last
  };

  State& StateOf(int barrier) { return barriers_[static_cast<std::size_t>(barrier)]; }
  const State& StateOf(int barrier) const { return barriers_[static_cast<std::size_t>(barrier)]; }
  void Complete(State* state);  // its phase, if all is there

  std::shared_ptr<const ReferenceLayout> layout_;
  std::vector<State> barriers_;
  std::vector<Named> named_;
  std::vector<int> met_;  // threads that have come to the second scope, by block
  bool broken_ = false;
  Listener* listener_ = nullptr;
};

}  // namespace palladion::hunt

#endif  // PALLADION_EMU_TOOLS_HUNT_REFERENCE_BARRIERS_H_
