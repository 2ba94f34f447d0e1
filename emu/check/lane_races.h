// Hazards between the lanes of one agent: a program of Triton, or a thread of Mosaic GPU whose kernel does without
// JAX's automatic barriers (unsafe_no_auto_barriers). Accesses of two lanes to one element are ordered only by a
// barrier between them (docs/spec/races.md#lanes). It runs in addition to the checker for agents, and its findings do
// not depend on the schedule.
//
//   if (LaneRaces::Looks(kernel)) ...
//   LaneRaces lanes(kernel, mode);
//   launch.observers.push_back(&lanes);
//   ... the launch ...
//   for (Finding& finding : lanes.Found()) ...
//
// Where two accesses are at the same position of their values, but it is not known that one lane makes both
// (emu/check/legality/lanes_of_accesses.h), there is no finding, and unseen() says why that is not a proof. Also not
// checked, and listed there: releases by one lane before the others have finished (an atomic of Triton by which
// programs see each other, a signal, a commit of the tensor core), warps that a thread forks, and scopes that reuse the
// bytes of one that was left.
#ifndef PALLADION_EMU_CHECK_LANE_RACES_H_
#define PALLADION_EMU_CHECK_LANE_RACES_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "emu/check/legality/lanes_of_accesses.h"
#include "emu/kernel/prepared_kernel.h"
#include "emu/run/events.h"
#include "emu/run/launch/execution_mode.h"
#include "memory_model/sweep/lane_history.h"
#include "semantics/base/finding.h"

namespace palladion::check {

class LaneRaces final : public run::Watcher {
 public:
  static bool Looks(const kernel::PreparedKernelState& kernel);

  // The kernel outlives the object.
  LaneRaces(const kernel::PreparedKernelState& kernel, launch::ExecutionMode mode);

  // After the launch, or what was found before it failed.
  std::vector<Finding> Found() const;
  std::int64_t accesses() const { return accesses_; }    // that were looked at
  const std::string& unseen() const { return unseen_; }  // the first thing that was not looked at; "" for none

  memory_model::EventSet wants() const override {
    return {memory_model::EventKind::kTurn,  memory_model::EventKind::kAccess, memory_model::EventKind::kAlloc,
            memory_model::EventKind::kIssue, memory_model::EventKind::kArrive, memory_model::EventKind::kLanes};
  }
  void Begun(const threads::ThreadMachine& machine) override;
  void Bound(memory_model::Memory& memory, absl::Span<const BufferId> arrays) override;
  void Running(const RunningAgent& now) override;
  void Alloc(const Who&, BufferId buffer) override { made_[buffer.value] = ++allocations_; }
  void Free(const Who& who, BufferId buffer) override;
  void Box(const Who& who, AccessKind kind, const BoxAccess& access, const memory_model::BoxReach& reach,
           const std::byte* value) override;
  void Points(const Who& who, AccessKind kind, const PointAccess& access, const std::byte* value) override;
  void Issued(const Who& who, const AsyncRequest& request) override;
  void Arrives(const Who& who, const Arrival& arrival) override;
  void LanesMet(const Who& who) override;
  void LanesMetUntil(const Who& who, std::uint32_t time) override;

 private:
  // The agent that the lanes belong to. Its time is counted in intervals, which end where it publishes something or its
  // lanes synchronise.
  struct Agent {
    std::string name;
    std::uint32_t when = 1, met = 1;
    std::uint32_t acted = 0, spread = 0;  // when it last made an access, and one that is not the first lane's alone
    std::vector<std::pair<std::uint32_t, std::uint32_t>> times;  // the model's time, and the first stretch of it
    std::int64_t left_at = 0;  // memory with something that is not ordered: allocation
    absl::flat_hash_map<std::int32_t, std::unique_ptr<memory_model::LaneHistory>> memory;  // by buffer
  };
  using Place = std::pair<std::int32_t, int>;                     // of the user's code, and of the text
  using Key = std::tuple<std::string, bool, Place, Place, bool>;  // object, do both write, where, at once

  // The later access of a conflict.
  struct Later {
    const Who& who;
    AccessKind kind;
    BufferId buffer;
    const CodeSite& site;
  };

  Agent& Of(AgentId id);
  memory_model::LaneHistory* HistoryOf(Agent& agent, BufferId buffer);
  bool Watches(const Who& who, BufferId buffer) const;
  memory_model::LaneAccess AccessOf(const Who& who, AccessKind kind, const Site& site, const std::byte* value);
  void Publish(Agent& agent, const memory_model::LaneAccess& access, bool of_one_element);
  static bool HoldsUnordered(const Agent& agent);
  void Unseen(const std::string& what);
  void TakeDoubt(Agent& agent, BufferId buffer);
  std::string PlaceOf(const CodeSite& site) const;
  void Take(const Who& who, AccessKind kind, BufferId buffer, const Site& site);
  Finding FindingOf(const Later& later, const memory_model::LaneConflict& conflict) const;
  std::string ElementAt(BufferId buffer, std::int64_t byte) const;

  const kernel::PreparedKernelState& kernel_;
  const bool triton_, in_order_;
  const legality::LanesOfAccesses& lanes_;
  const threads::ThreadMachine* machine_ = nullptr;
  memory_model::Memory* memory_ = nullptr;
  std::set<BufferId> arrays_;                             // of the caller's, that the kernel writes
  std::set<BufferId> globals_;                            // all of the caller's
  absl::flat_hash_map<std::int32_t, std::int64_t> made_;  // by buffer: which allocation of the launch it was
  std::int64_t allocations_ = 0, accesses_ = 0;
  std::string unseen_;
  absl::flat_hash_map<std::int32_t, std::unique_ptr<Agent>> agents_;  // in order: one, for all
  Agent* last_ = nullptr;                                             // that was looked up, and its key
  std::int32_t last_id_ = 0;
  std::vector<std::int64_t> index_;                    // of the program that runs
  std::vector<memory_model::LaneConflict> conflicts_;  // of one access: memory is kept
  std::vector<std::pair<Key, Finding>> found_;
};

}  // namespace palladion::check

#endif  // PALLADION_EMU_CHECK_LANE_RACES_H_
