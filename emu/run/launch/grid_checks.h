// Conflicts between the programs of a grid: races of unordered programs (docs/spec/races.md), output blocks that are
// left and visited again, index maps that read what bodies store just before. One launch with this observer detects
// conflicts; if there are any, the same launch runs once more and finds the two accesses of each.
//
//   GridChecks grid(kernel, inputs);
//   LaunchOptions launch = ...;
//   grid.Attach(launch);
//   Run({kernel, inputs, outputs}, launch);
//   grid.Finish([&](const LaunchOptions& again) { return Run({kernel, inputs, outputs}, again).status(); });
//
// Limits: for kernels in which no task orders another one (NothingOrdersTasks, interaction.h), in any execution mode.
// The order made by atomics is not known here (clock_races.h), and engines are judged by the clocks of their machine.
#ifndef PALLADION_EMU_RUN_LAUNCH_GRID_CHECKS_H_
#define PALLADION_EMU_RUN_LAUNCH_GRID_CHECKS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "emu/kernel/prepared_kernel.h"
#include "emu/report.h"
#include "emu/run/agents/launch_options.h"
#include "emu/run/launch/block_checks.h"
#include "emu/run/launch/emitted_revisits.h"
#include "emu/run/launch/grid_words.h"
#include "emu/run/launch/index_map_checks.h"
#include "emu/run/launch/input_blocks.h"
#include "memory_model/sweep/sweep.h"
#include "memory_model/sweep/witness.h"
#include "semantics/program/blocks.h"

namespace palladion::launch {

// The grid of a launch; `inputs` hold its bounds.
std::vector<memory_model::TaskDim> GridDims(const Program& program, absl::Span<const ConstArray> inputs);
// Are some of its programs without an order?
bool HasTasks(absl::Span<const memory_model::TaskDim> dims);

class GridChecks final : public run::Watcher {
 public:
  // kBlocks: all but races in arrays, for tasks that may be ordered by what they wait for: these are the clocks' to
  // judge. kRevisits: only output blocks that are visited again, which a plain run looks for too; programs run as they
  // would without it.
  enum class Looks : std::uint8_t { kAll, kBlocks, kRevisits };
  struct Options {
    Looks looks = Looks::kAll;
    bool take_turns = false;  // the programs of several tasks: under a policy
  };

  // `kernel` outlives the checks. `inputs` are those of the launch: they hold the bounds of the grid.
  GridChecks(const kernel::PreparedKernelState& kernel, absl::Span<const ConstArray> inputs)
      : GridChecks(kernel, inputs, Options()) {}
  GridChecks(const kernel::PreparedKernelState& kernel, absl::Span<const ConstArray> inputs, const Options& options);

  // Adds what the launch needs to be watched: itself, tasks apart.
  void Attach(agents::LaunchOptions& launch);

  // After the launch. Calls `rerun`, at most once, with the same launch and another observer. Its errors are returned,
  // and then the findings name one access each; so they do where there is no `rerun`.
  // ResourceExhausted: a grid of more tasks than can be numbered, with parallel dimensions inside sequential ones.
  absl::Status Finish(const std::function<absl::Status(const agents::LaunchOptions& launch)>& rerun);

  // After Finish: whatever order its programs have, is this what each of them finds in memory? Then no task reads what
  // another task writes, and where several write one element, they all store the same bytes, defined ones.
  bool order_is_no_matter() const { return order_is_no_matter_; }
  const std::vector<Finding>& findings() const { return findings_.all(); }
  std::int64_t accesses() const { return sweep_.accesses(); }  // that were looked at
  bool looks_at_blocks() const { return checks_blocks_; }
  std::int64_t block_copies() const { return blocks_.copies(); }  // these too

 private:
  // The operand that a buffer belongs to; of an input and the output that shares its memory, the output.
  struct Array {
    BufferId buffer;
    const OperandInfo* operand = nullptr;
  };

  // Of memory the sweep does, and who looks at blocks.
  memory_model::EventSet wants() const override {
    const bool steps = (watches_inputs() && inputs_.watches_scratch()) || (judges_scratch_ && take_turns_);
    return steps ? memory_model::EventSet{memory_model::EventKind::kStep} : memory_model::EventSet{};
  }
  bool watches_inputs() const { return looks_ != Looks::kRevisits && inputs_.any(); }
  bool sweeps() const { return judges_arrays_ || judges_scratch_; }
  void After(const Step& step, Frame& frame) override;
  void Bound(memory_model::Memory& memory, absl::Span<const BufferId> arrays) override;
  void WatchOperand(const memory_model::Memory& memory, std::size_t i, BufferId array);
  void SweepOperand(const OperandInfo& info, BufferId array);
  CoresOfLaunch CoresOf(const Options& options) const;
  void WatchBlocks(const memory_model::Memory& memory, std::size_t i, BufferId array);
  const OperandInfo& OperandOf(BufferId buffer) const;
  std::string NameOf(BufferId buffer) const { return words_.NameOf(OperandOf(buffer)); }
  Meeting MeetingOf(const memory_model::SweepConflict& conflict) const;
  Finding FindingOf(const Revisit& revisit, const std::optional<memory_model::WitnessAccess>& first) const;
  Finding FindingOf(const LateIndex& late) const;
  Finding FindingOf(const EmittedRevisit& revisit) const;
  Finding FindingOf(const HandedBlock& handed) const;
  FindingAccess Describe(const memory_model::WitnessAccess& access, BufferId buffer) const {
    return GridWords::Describe(access, NameOf(buffer));
  }
  void AddOfBlocks();
  void AddOneSided();  // the first access of each is not known
  absl::Status AddPairs(const std::function<absl::Status(const agents::LaunchOptions& launch)>& rerun);

  const kernel::PreparedKernelState& kernel_;
  std::vector<memory_model::TaskDim> dims_;
  const Looks looks_;
  const bool take_turns_;
  const GridWords words_;
  agents::LaunchOptions launch_;  // as it was given, for the second run
  memory_model::Sweep sweep_;
  BlockChecks blocks_;
  IndexMapChecks maps_;
  EmittedRevisits emitted_;
  InputBlocks inputs_;
  const memory_model::Memory* memory_ = nullptr;  // once operands are bound
  // Of what tasks do to each other: in arrays of the caller, and in scratch that is handed on.
  bool judges_arrays_ = false, judges_scratch_ = false;
  bool checks_blocks_ = false, checks_maps_ = false, checks_emitted_ = false;
  bool order_is_no_matter_ = false;
  std::vector<Array> arrays_;
  GridFindings findings_;
};

}  // namespace palladion::launch

#endif  // PALLADION_EMU_RUN_LAUNCH_GRID_CHECKS_H_
