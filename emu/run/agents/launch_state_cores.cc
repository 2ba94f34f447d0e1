// Which programs of a launch belong to an agent, where agents are a TPU's cores or tasks, and which memory is private
// to each.
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "emu/run/agents/core_copies.h"
#include "emu/run/agents/launch_state.h"

namespace palladion::agents {

// Of a core that walks all tasks; where each is an agent's, it makes its own when it starts. On `generic` scratch is
// handed from program to program: what depends on it there depends on the grid's order, which is the sweep's business.
void LaunchState::KeepScratchApart() {
  const auto is_scratch = [](const OperandInfo& info) {
    return info.role == Role::kScratch && info.type.element == ElementKind::kData;
  };
  const std::vector<OperandInfo>& infos = program().operand_infos;
  if (!options_.tasks_apart || !options_.definedness || !program().grid_in_agent ||
      std::none_of(infos.begin(), infos.end(), is_scratch))
    return;
  std::vector<memory_model::TaskDim> dims;
  for (std::size_t d = 0; d < frame_.grid_size().size(); ++d)
    dims.push_back({frame_.grid_size()[d], program().dim_order[d] == DimOrder::kParallel});
  const auto scratch = [this, &infos, is_scratch] {
    std::vector<BufferId> buffers;
    Frame& core = core_ == nullptr ? frame_ : *core_;
    for (const OperandInfo& info : infos) {
      if (is_scratch(info) && !tasks_are_agents_) buffers.push_back(core.ref(info.ref).buffer);
    }
    return buffers;
  };
  scratch_of_tasks_ = std::make_unique<ScratchOfTasks>(std::move(dims), memory_, scratch);
  memory_.Observe(scratch_of_tasks_.get());
}

GridWalk LaunchState::WalkOfDevice() const {
  const std::size_t axes = program().device_axes.size();
  return {absl::MakeConstSpan(frame_.grid_size()).subspan(axes), absl::MakeConstSpan(program().dim_order).subspan(axes),
          WalkOrder::kRowMajor};
}

// The one array is the first core's. A caller that looks for what depends on the cores' parts gets copies only where
// these are sure: one index for each core, along all parallel dimensions.
void LaunchState::CopyForSecondCore() {
  const GridWalk walk = WalkOfDevice();
  if (own_of_core_.empty() || walk.FirstHalf() == walk.programs()) return;
  std::int64_t indices = 1;
  for (std::size_t d = program().device_axes.size(); d < frame_.grid_size().size(); ++d)
    indices *= program().dim_order[d] == DimOrder::kParallel ? frame_.grid_size()[d] : 1;
  if ((options_.tasks_apart || options_.definedness) && indices > kCoresOfMegacore) return;
  second_core_.resize(arrays_.size());
  for (binding_ = 0; binding_ < program().devices; ++binding_) {
    for (const std::size_t i : own_of_core_) {
      if (arrivals_.Lands({i, binding_})) continue;
      const std::size_t at = static_cast<std::size_t>(binding_) * program().operand_infos.size() + i;
      std::byte* data = memory_.DataOf(arrays_[at]);
      if (Moves(i)) data = copies_.emplace_back(data, data + ByteSize(program().operand_infos[i].type)).data();
      second_core_[at] = Adopt(i, data);
    }
  }
}

absl::Span<const BufferId> LaunchState::CopiesOfSecondCore(std::int64_t device) const {
  if (second_core_.empty()) return {};
  const std::size_t operands = program().operand_infos.size();
  return absl::MakeConstSpan(second_core_).subspan(static_cast<std::size_t>(device) * operands, operands);
}

void LaunchState::PutOnCore(std::int64_t device, std::int64_t first_program, Frame& frame) const {
  const absl::Span<const BufferId> copies = CopiesOfSecondCore(device);
  if (copies.empty()) return;
  const bool second = first_program % (walk_.programs() / program().devices) >= FirstCorePrograms();
  for (const std::size_t i : own_of_core_) {
    const BufferId here = second && copies[i].valid() ? copies[i] : ArraysOf(device)[i];
    frame.ref(program().operand_infos[i].ref).buffer = here;
  }
}

std::int64_t LaunchState::FirstCorePrograms() const {
  const GridWalk walk = WalkOfDevice();
  const bool split = HasSeveralCores(program()) && (!options_.tasks_apart || !second_core_.empty());
  return split ? walk.FirstHalf() : walk.programs();
}

AgentPrograms LaunchState::ProgramsOfAgent(std::int64_t first) const {
  const std::int64_t programs = walk_.programs();
  if (!program().grid_in_agent && !tasks_are_agents_) return {first, first + 1};
  if (!tasks_are_agents_) {
    const std::int64_t each = programs / program().devices, start = first / each * each;
    return {first, first == start ? start + FirstCorePrograms() : start + each};
  }
  std::int64_t each = 1;
  for (std::size_t d = 0; d < frame_.grid_size().size(); ++d) {
    if (program().dim_order[d] != DimOrder::kParallel) each *= frame_.grid_size()[d];
  }
  return {first, first + each};
}

void LaunchState::WalkInOrder() {
  walk_ = GridWalk(frame_.grid_size(), kernel_.program().dim_order, WalkOrder::kRowMajor);
  if (tasks_are_agents_) walk_.TasksFirst();
}

void LaunchState::TasksAreAgents() {
  tasks_are_agents_ = options_.tasks_apart || !program().grid_in_agent;
  if (tasks_are_agents_) walk_.TasksFirst();
}

}  // namespace palladion::agents
