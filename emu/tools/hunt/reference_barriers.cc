#include "emu/tools/hunt/reference_barriers.h"

#include <algorithm>
#include <utility>

#include "semantics/base/cat.h"

namespace palladion::hunt {

ReferenceBarriers::ReferenceBarriers(const HuntKernel& kernel, std::shared_ptr<const ReferenceLayout> layout)
    : layout_(std::move(layout)), met_(static_cast<std::size_t>(layout_->blocks()), 0) {
  if (layout_->is_tpu()) return;
  const auto agents = static_cast<std::size_t>(layout_->agents());
  for (int block = 0; block < layout_->blocks(); ++block) {
    for (const int arrivals : kernel.arrivals)
      barriers_.push_back(
          {arrivals == 0 ? layout_->blocks() : arrivals, 0, 0, std::vector<int>(agents, 0), {Issues()}});
    for (const int of : kernel.named)
      named_.push_back({of, 0, 0, std::vector<int>(agents, 0), std::vector<int>(agents, -1)});
  }
}

void ReferenceBarriers::Arrive(int who, int barrier, const Issues* released) {
  State& state = StateOf(barrier);
  const bool releases = released != nullptr && layout_->OrdersTensorCore(barrier);
  if (listener_ != nullptr) listener_->Arrive(who, {barrier, state.completed}, releases);
  if (releases) state.released.back() |= *released;
  ++state.arrived;
  Complete(&state);
}

void ReferenceBarriers::Complete(State* state) {
  if (state->arrived < state->arrivals || state->bytes != 0) return;
  state->arrived = 0;
  broken_ |= std::all_of(state->seen.begin(), state->seen.end(), [&](int seen) { return seen < state->completed; });
  ++state->completed;
  state->released.emplace_back();
}

void ReferenceBarriers::ArriveFrom(int agent, int object, const Issues& known) {
  for (int block = 0; block < layout_->blocks(); ++block) {
    if (layout_->IsOfCluster(object) || block == layout_->BlockOf(agent))
      Arrive(agent, layout_->BarrierOfBlock(block, object), &known);
  }
}

bool ReferenceBarriers::CanTake(int agent, int barrier) const {
  const State& state = StateOf(barrier);
  return state.completed > state.seen[static_cast<std::size_t>(agent)];
}

const Issues& ReferenceBarriers::Take(int agent, int barrier) {
  State& state = StateOf(barrier);
  int& seen = state.seen[static_cast<std::size_t>(agent)];
  if (listener_ != nullptr) listener_->Wait(agent, {barrier, seen});
  broken_ |= state.completed > seen + 1;  // hardware keeps only whether the number is odd
  return state.released[static_cast<std::size_t>(seen++)];
}

void ReferenceBarriers::Land(int who, int barrier, std::int64_t bytes) {
  State& state = StateOf(barrier);
  if (listener_ != nullptr) listener_->Arrive(who, {barrier, state.completed}, false);
  state.bytes -= bytes;
  Complete(&state);
}

void ReferenceBarriers::Fork(int thread, int warp) {
  for (State& barrier : barriers_)
    barrier.seen[static_cast<std::size_t>(warp)] = barrier.seen[static_cast<std::size_t>(thread)];
}

void ReferenceBarriers::CheckUneven(int thread, int barrier) {
  const std::vector<int>& seen = StateOf(barrier).seen;
  for (int w = 0; w < kWarpsOfThread; ++w)
    broken_ |= seen[static_cast<std::size_t>(layout_->WarpOf(thread, w))] > seen[static_cast<std::size_t>(thread)];
}

// To come a second time before the phase is over, or one more than are counted, is not specified.
void ReferenceBarriers::ArriveNamed(int agent, int object) {
  const int named = layout_->NamedOf(agent, object);
  Named& state = named_[static_cast<std::size_t>(named)];
  int& here = state.here[static_cast<std::size_t>(agent)];
  broken_ |= here != 0;
  here = 1;
  state.joined[static_cast<std::size_t>(agent)] = state.completed;
  if (listener_ != nullptr) listener_->Arrive(agent, {layout_->PhasesOfNamed(named), state.completed}, false);
  if (++state.arrived < state.of) return;
  state.arrived = 0;
  ++state.completed;
  state.here.assign(state.here.size(), 0);
}

bool ReferenceBarriers::CanGoNamed(int agent, int object) const {
  const Named& named = named_[static_cast<std::size_t>(layout_->NamedOf(agent, object))];
  return named.completed > named.joined[static_cast<std::size_t>(agent)];
}

void ReferenceBarriers::WaitNamed(int agent, int object) {
  const int named = layout_->NamedOf(agent, object);
  const int joined = named_[static_cast<std::size_t>(named)].joined[static_cast<std::size_t>(agent)];
  if (listener_ != nullptr) listener_->Wait(agent, {layout_->PhasesOfNamed(named), joined});
}

void ReferenceBarriers::Meet(int agent) {
  const int block = layout_->BlockOf(agent);
  ++met_[static_cast<std::size_t>(block)];
  if (listener_ != nullptr) listener_->Arrive(agent, {layout_->MeetingOf(block), 0}, false);
}

void ReferenceBarriers::Enter(int agent) {
  if (listener_ != nullptr) listener_->Wait(agent, {layout_->MeetingOf(layout_->BlockOf(agent)), 0});
}

void ReferenceBarriers::AddState(std::string* state) const {
  for (const State& barrier : barriers_) {
    Append(state, barrier.arrived, ",", barrier.completed, ",");
    for (const int seen : barrier.seen) Append(state, seen, ",");
  }
}

void ReferenceBarriers::AddBytesState(std::string* state) const {
  for (const State& barrier : barriers_) {
    if (barrier.bytes != 0) Append(state, "b", barrier.bytes);
    Append(state, ";");
  }
}

void ReferenceBarriers::AddNamedState(std::string* state) const {
  for (const Named& named : named_) {
    Append(state, named.arrived, ",", named.completed, ",");
    for (const int here : named.here) Append(state, here);
    for (const int joined : named.joined) Append(state, ",", joined);
  }
}

}  // namespace palladion::hunt
