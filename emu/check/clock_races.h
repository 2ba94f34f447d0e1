// Races between programs that see each other's effects while they run (interaction.h), in one schedule: two accesses of
// one element, one of them a write, that no chain of atomics orders (memory_model/order/atomic_order.h). A plain read
// of a flag orders nothing. Races are judged by the order of this schedule's atomics, not by its timing: most races are
// found in every schedule.
//
//   ClockRaces races(kernel, inputs);
//   races.Attach(launch);
//   Run({kernel, inputs, outputs}, options, policy);
//   std::vector<Finding> found = races.Found();  // EqualWrites may say more of them
//   std::vector<Finding> worded = races.InWords(found);
//
// Limits: races under another order of atomics are found in the schedules that have it. Programs of one task
// (docs/spec/races.md) keep their order.
#ifndef PALLADION_EMU_CHECK_CLOCK_RACES_H_
#define PALLADION_EMU_CHECK_CLOCK_RACES_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "emu/kernel/prepared_kernel.h"
#include "emu/run/agents/launch_options.h"
#include "emu/run/launch/grid_words.h"
#include "memory_model/bytes/events.h"
#include "memory_model/concurrency_model.h"
#include "memory_model/order/atomic_order.h"

namespace palladion::check {

class ClockRaces final : public run::Watcher {
 public:
  // The kernel outlives the object; the inputs hold the bounds of its grid.
  ClockRaces(const kernel::PreparedKernelState& kernel, absl::Span<const ConstArray> inputs);

  // Adds what the launch needs to be watched.
  void Attach(agents::LaunchOptions& launch);

  // After the run, or what was found before it failed.
  const std::vector<Finding>& Found() const { return model_.findings(); }
  // The same findings with the words for programs that conflict, which every race check uses:
  // docs/spec/races.md#findings.
  std::vector<Finding> InWords(absl::Span<const Finding> found) const;
  std::int64_t accesses() const { return accesses_; }  // that were looked at

  memory_model::EventSet wants() const override {
    return {memory_model::EventKind::kTurn, memory_model::EventKind::kAccess};
  }
  std::int64_t most_values() const override { return 0; }
  void Running(const RunningAgent& now) override { current_ = TaskOf(now.index); }
  void Box(const Who& who, AccessKind kind, const BoxAccess& access, const memory_model::BoxReach& reach,
           const std::byte* value) override;
  void Points(const Who& who, AccessKind kind, const PointAccess& access, const std::byte* value) override;

 private:
  // An array that some program writes.
  struct Shared {
    BufferId id;
    const OperandInfo* operand = nullptr;
    std::string name;  // the user's
    std::vector<std::int64_t> shape;
    ElementSize element_size;
    memory_model::AtomicOrder atomics;
  };

  void Bound(memory_model::Memory& memory, absl::Span<const BufferId> arrays) override;
  Shared* Find(BufferId id);
  AgentId TaskOf(absl::Span<const std::int64_t> index);
  launch::MeetingSide SideOf(const FindingAccess& access) const;

  const kernel::PreparedKernelState& kernel_;
  const launch::GridWords words_;
  memory_model::ConcurrencyModel model_{memory_model::FenceRule(), /*proxies=*/false};
  std::vector<Shared> shared_;
  static constexpr std::int64_t kAnyIndex = -1;
  // Programs of one task keep their order, so that they are one agent to the clocks: by the index, kAnyIndex along
  // sequential dimensions.
  std::map<std::vector<std::int64_t>, AgentId> agents_;
  std::vector<std::int64_t> task_;  // of the program that goes on: memory is kept
  AgentId current_;
  std::int64_t accesses_ = 0;
};

}  // namespace palladion::check

#endif  // PALLADION_EMU_CHECK_CLOCK_RACES_H_
