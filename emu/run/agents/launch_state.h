// State common to all execution modes of a launch: operands become buffers, the grid becomes a walk, an agent gets a
// frame. The caller's arrays are used in place where the kernel cannot modify them.
#ifndef PALLADION_EMU_RUN_AGENTS_LAUNCH_STATE_H_
#define PALLADION_EMU_RUN_AGENTS_LAUNCH_STATE_H_

#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "emu/emulate.h"
#include "emu/kernel/prepared_kernel.h"
#include "emu/run/agents/in_flight_watch.h"
#include "emu/run/agents/launch_options.h"
#include "emu/run/agents/scratch_of_tasks.h"
#include "memory_model/bytes/memory.h"
#include "semantics/program/frame_shadow.h"
#include "semantics/program/program.h"

namespace palladion::agents {

// Programs of a grid as numbers of its walk: the n-th agent's are [first, last).
struct AgentPrograms {
  std::int64_t first = 0, last = 0;
};

class LaunchState {
 public:
  // All outlive the launch; its memory is what options.run.memory_limit leaves beside the operands.
  LaunchState(const kernel::PreparedKernelState& kernel, const LaunchOptions& options);

  // Gives every operand its memory and settles the grid; outputs are poison. InvalidArgument: a grid bound that is
  // negative or too large. ResourceExhausted: more programs than the budget, no memory for scratch.
  absl::Status Bind(absl::Span<const ConstArray> inputs, absl::Span<const MutableArray> outputs);

  const Program& program() const { return kernel_.program(); }
  const Module& module() const { return kernel_.module(); }
  const kernel::PreparedKernelState& kernel() const { return kernel_; }
  memory_model::Memory& memory() { return memory_; }
  const GridWalk& walk() const { return walk_; }
  const LaunchArrivals& arrivals() const { return arrivals_; }  // from earlier launches of the session
  // Which output the buffer is; none of another one.
  std::optional<OperandPlace> OutputOf(BufferId buffer) const;
  bool tracks_definedness() const { return shadow_rules_ != nullptr; }

  // From here on the walk is forward, whatever the options say.
  void WalkInOrder();
  // Each task is an agent's, which keeps the order of its programs. Of cores with tasks apart: it has scratch, blocks
  // and semaphores of its own; else one core walks them all.
  void TasksAreAgents();

  // What the operands of a device are, one for each; and a frame's refs become these. There is one device but where the
  // kernel names a mesh.
  absl::Span<const BufferId> ArraysOf(std::int64_t device) const;
  void PutOn(std::int64_t device, Frame& frame) const;

  // The same of what each core has a copy of (core_copies.h), for the agent that begins with that program. Where a
  // check gives each index along parallel dimensions a core of its own, and the chip has fewer, all see one copy, in
  // which what depends on who shares a core is found.
  void PutOnCore(std::int64_t device, std::int64_t first_program, Frame& frame) const;
  // Those of a device's second core, by operand; empty: it has none.
  absl::Span<const BufferId> CopiesOfSecondCore(std::int64_t device) const;

  // Where one agent is a TPU core: how many programs of a device the first core has. On a chip with two cores, each
  // walks a part of the leading parallel dimensions; else these are all.
  std::int64_t FirstCorePrograms() const;

  // The programs of the agent that begins with this one: a task's; where agents are cores, a core's, or with tasks
  // apart a task's.
  AgentPrograms ProgramsOfAgent(std::int64_t first) const;

  // The observer of steps; nullptr: none.
  StepHooks* watchers() { return watchers_.empty() ? nullptr : &watchers_; }

  // Operands are bound in it. There is one, enough for agents that run one after another.
  Frame& frame() { return frame_; }

  // When every agent has come to its end: observers are notified, and undefined elements of the outputs go to the
  // memory's findings. How often definedness was looked at, in all.
  std::int64_t Finish();

  // One more, for an agent that runs while others do. Scratch operands are its own, as a block's are.
  absl::StatusOr<std::unique_ptr<Frame>> NewFrame();
  // New scratch for a frame.
  absl::Status NewScratch(Frame& frame);

  // An error of a step, with the step's place: it is the one before the frame's program counter.
  absl::Status AtStep(const absl::Status& status, const Frame& frame) const;

 private:
  absl::Status BindOperands(absl::Span<const ConstArray> inputs, absl::Span<const MutableArray> outputs);
  BufferId& ArrayOf(std::size_t i) {
    return arrays_[static_cast<std::size_t>(binding_) * kernel_.program().operand_infos.size() + i];
  }
  // Where the device's part of an array of the caller's begins.
  std::ptrdiff_t PartOf(const OperandInfo& info) const {
    return binding_ * static_cast<std::ptrdiff_t>(ByteSize(info.type));
  }
  absl::Status BindBound(std::size_t i, const ConstArray& array);
  void BindInput(std::size_t i, const ConstArray& array);
  void BindOutput(std::size_t i, const MutableArray& array, absl::Span<const ConstArray> inputs);
  absl::StatusOr<BufferId> AllocScratch(std::size_t i);
  BufferId Adopt(std::size_t i, std::byte* data);
  bool Moves(std::size_t i) const { return !options_.moves_nothing || (!options_.moved.empty() && options_.moved[i]); }
  void Attach(std::size_t i, BufferId buffer);
  void Equip(Frame& frame);
  void KeepScratchApart();
  GridWalk WalkOfDevice() const;  // of its own programs, in program order
  void CopyForSecondCore();
  void WatchInFlight();
  AllocRequest RequestFor(std::size_t i) const;
  Site DeclaredAt(std::size_t i) const;
  std::string DeviceNameOf(std::size_t device) const;
  absl::Status ResolveGrid();
  absl::Status CheckGrid() const;

  const kernel::PreparedKernelState& kernel_;
  const LaunchOptions& options_;
  run::StepWatchers watchers_;
  memory_model::Memory memory_;
  Frame frame_;
  GridWalk walk_;
  bool tasks_are_agents_ = false;
  Frame* core_ = nullptr;                       // the frame that was made last
  std::vector<BufferId> arrays_;                // of every device's operands
  const std::vector<std::size_t> own_of_core_;  // operands of which each core has a copy
  std::vector<BufferId> second_core_;           // as arrays_; empty: what the cores of a device see is the same
  std::int64_t binding_ = 0;                    // the device whose operands get their memory
  std::vector<std::pair<std::size_t, std::int64_t>> bounds_;
  std::vector<std::vector<std::byte>> copies_;
  LaunchArrivals arrivals_;
  std::vector<std::unique_ptr<InFlightWatch>> in_flight_;
  const ShadowRules* shadow_rules_ = nullptr;  // while definedness is tracked
  std::vector<std::unique_ptr<FrameShadow>> shadows_;
  std::unique_ptr<ScratchOfTasks> scratch_of_tasks_;
};

}  // namespace palladion::agents

#endif  // PALLADION_EMU_RUN_AGENTS_LAUNCH_STATE_H_
