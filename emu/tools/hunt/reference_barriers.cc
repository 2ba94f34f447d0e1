// The reference machine's barriers. Rules: docs/spec/gpu-barriers.md.
#include <algorithm>

#include "emu/tools/hunt/reference_machine.h"

namespace palladion::hunt {

// `told`: the operations of tensor cores that the arriving agent is ordered after; nullptr: none.
void ReferenceMachine::ArriveAt(int who, int barrier, const Issues* told) {
  BarrierState& state = barriers_[static_cast<std::size_t>(barrier)];
  const bool tells = told != nullptr && OrdersTensorCore(barrier);
  if (listener_ != nullptr) listener_->Arrive(who, {barrier, state.completed}, tells);
  if (tells) state.told.back() |= *told;
  ++state.arrived;
  Complete(&state);
}

void ReferenceMachine::Complete(BarrierState* state) {
  if (state->arrived < state->arrivals || state->bytes != 0) return;
  state->arrived = 0;
  broken_ |= std::all_of(state->seen.begin(), state->seen.end(), [&](int seen) { return seen < state->completed; });
  ++state->completed;
  state->told.emplace_back();
}

// An arrival at a cluster's barrier counts in each block.
void ReferenceMachine::ArriveFrom(int agent, int object) {
  const bool of_cluster = of_cluster_[static_cast<std::size_t>(object)];
  for (int block = 0; block < blocks_; ++block) {
    if (of_cluster || block == Instance(agent))
      ArriveAt(agent, block * barriers_per_ + object, &issues_[static_cast<std::size_t>(agent)]);
  }
}

void ReferenceMachine::TakePhase(int agent, int barrier) {
  BarrierState& state = barriers_[static_cast<std::size_t>(barrier)];
  int& seen = state.seen[static_cast<std::size_t>(agent)];
  if (listener_ != nullptr) listener_->Wait(agent, {barrier, seen});
  broken_ |= state.completed > seen + 1;  // hardware keeps only whether the number is odd
  issues_[static_cast<std::size_t>(agent)] |= state.told[static_cast<std::size_t>(seen)];
  ++seen;
}

// All threads of a block come before any goes on: it is modelled as a barrier of its own. Then the first scope's memory
// is the second's, and no copy may have it in hand.
void ReferenceMachine::Meet(int agent, bool enters) {
  const int block = Instance(agent), barrier = static_cast<int>(barriers_.size()) + block;
  if (!enters) ++met_[static_cast<std::size_t>(block)];
  if (listener_ != nullptr && !enters) listener_->Arrive(agent, {barrier, 0}, false);
  if (listener_ != nullptr && enters) listener_->Wait(agent, {barrier, 0});
  for (const Copy& copy : copies_) {
    const bool reads_it = copy.what == What::kCopyOut || copy.what == What::kTensorCopy;
    const int halves = reads_it ? 1 : copy.what == What::kCopyIn ? 2 : 0;
    stale_ |= enters && !copy.later && Instance(copy.issuer) == block && copy.halves < halves;
  }
}

}  // namespace palladion::hunt
