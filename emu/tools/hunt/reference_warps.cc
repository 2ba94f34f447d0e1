// The reference machine's warps of a thread. Rules: docs/spec/gpu-warps.md, docs/spec/gpu-order.md#copies (groups) and
// #barriers. What the warpgroup copies out is of its first warp.
#include <algorithm>

#include "emu/tools/hunt/reference_machine.h"

namespace palladion::hunt {
namespace {

// Of each thread: where its warps begin, and where they have ended.
constexpr int kForks = kMeshes, kJoins = 2 * kMeshes;

}  // namespace

bool ReferenceMachine::WarpsEnded(int thread) const {
  for (int w = 0; w < kWarpsOfThread; ++w) {
    if (Next(WarpOf(thread, w)) != nullptr) return false;
  }
  return true;
}

std::vector<int> ReferenceMachine::QueuesOf(int agent) const {
  const int thread = ThreadOf(agent), second = WarpOf(thread, 1);
  if (second >= agents()) return {agent};
  if (!IsWarp(agent)) return {thread, second};
  return {agent == second ? second : thread};
}

// Warps begin with what their thread knows and has seen.
void ReferenceMachine::Fork(int thread) {
  begun_[static_cast<std::size_t>(thread)] = true;
  if (listener_ != nullptr) listener_->Arrive(thread, {kForks + thread, 0}, true);
  for (int w = 0; w < kWarpsOfThread; ++w) {
    const int warp = WarpOf(thread, w);
    if (listener_ != nullptr) listener_->Wait(warp, {kForks + thread, 0});
    sums_[static_cast<std::size_t>(warp)] = sums_[static_cast<std::size_t>(thread)];
    for (BarrierState& barrier : barriers_)
      barrier.seen[static_cast<std::size_t>(warp)] = barrier.seen[static_cast<std::size_t>(thread)];
    Settle(warp);
  }
}

void ReferenceMachine::Join(int thread) {
  for (int w = 0; w < kWarpsOfThread; ++w) {
    if (listener_ != nullptr) listener_->Arrive(WarpOf(thread, w), {kJoins + thread, 0}, true);
  }
  if (listener_ != nullptr) listener_->Wait(thread, {kJoins + thread, 0});
}

// The other two warps have waited for nothing: a thread whose warps have would wait for two phases at once.
void ReferenceMachine::CheckUneven(int agent, int barrier) {
  if (IsWarp(agent) || !begun_[static_cast<std::size_t>(agent)] || WarpOf(agent, 0) >= agents()) return;
  const std::vector<int>& seen = barriers_[static_cast<std::size_t>(barrier)].seen;
  for (int w = 0; w < kWarpsOfThread; ++w)
    broken_ |= seen[static_cast<std::size_t>(WarpOf(agent, w))] > seen[static_cast<std::size_t>(agent)];
}

}  // namespace palladion::hunt
