#include "emu/threads/thread_agents.h"

#include <utility>
#include <variant>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"

namespace palladion::threads {

ThreadAgents::ThreadAgents(agents::LaunchState& state, ThreadMachine& machine, const Kernel& kernel,
                           Residency residency)
    : state_(state),
      machine_(machine),
      started_(state, machine, kernel),
      residency_(std::move(residency)),
      free_clusters_(residency_.clusters) {
  machine.OnStart([this](AgentId operation) { Spawn(operation); });
  machine.OnFork([this](AgentId warp, std::int64_t number, std::size_t first) { return Fork(warp, number, first); });
  if (machine.shape().several_devices()) EnterDevices(kernel);
  const Program& program = state.program();
  if (!program.mesh.has_value()) return;
  const std::vector<std::int64_t>& grid = state.frame().grid_size;
  const std::size_t block_dims = machine.shape().block_dims();
  if (machine.shape().counts_threads()) threads_ = grid.back();
  for (std::size_t d = block_dims - program.mesh->cluster_dims; d < block_dims; ++d) blocks_ *= grid[d];
}

// All devices are there from the start, as those of a machine are. Without a collective id the compiler puts a barrier
// of all devices before a kernel that reaches others (CompilerParams.skip_device_barrier leaves it out).
void ThreadAgents::EnterDevices(const Kernel& kernel) {
  std::vector<std::int64_t> index(state_.frame().grid_size.size());
  for (std::int64_t program = 0; program < state_.walk().programs(); program = state_.ProgramsOfAgent(program).last) {
    state_.walk().At(program, absl::MakeSpan(index));
    blocks_added_.push_back(machine_.AddBlock(index, 1));
  }
  const Attr *skip = Find(kernel.params, "skip_device_barrier"), *id = Find(kernel.params, "collective_id");
  const bool skips = skip != nullptr && skip->value == Attr{true}.value;
  const bool own = id != nullptr && std::holds_alternative<std::int64_t>(id->value);
  machine_.operands().EnterDevices(/*meet=*/!own && !skips);
}

std::vector<std::int64_t> ThreadAgents::NextIndex() const {
  std::vector<std::int64_t> index(state_.frame().grid_size.size());
  state_.walk().At(next_, absl::MakeSpan(index));
  return index;
}

absl::StatusOr<ThreadAgent*> ThreadAgents::NewAgent(std::vector<std::unique_ptr<ThreadAgent>>* all) {
  PALLADION_ASSIGN_OR_RETURN(std::unique_ptr<Frame> frame, state_.NewFrame());
  all->push_back(std::make_unique<ThreadAgent>(state_, machine_, std::move(frame), current_, started_));
  return all->back().get();
}

// Of the block of which a thread with this index begins: its first thread.
AgentId ThreadAgents::FirstOfBlock(absl::Span<const std::int64_t> index) {
  if (!blocks_added_.empty()) {
    first_ = blocks_added_.front();
    blocks_added_.pop_front();
  } else if (next_ % threads_ == 0) {
    first_ = machine_.AddBlock(index, threads_);
  }
  return first_;
}

bool ThreadAgents::Ready() const { return next_ % (threads_ * blocks_) != 0 || free_clusters_ > 0; }

absl::StatusOr<scheduler::Agent*> ThreadAgents::Next() {
  if (next_ == state_.walk().programs()) return nullptr;
  ThreadAgent* agent = nullptr;
  if (free_.empty()) {
    PALLADION_ASSIGN_OR_RETURN(agent, NewAgent(&agents_));
  } else {
    agent = free_.back();
    free_.pop_back();
  }
  if (next_ % (threads_ * blocks_) == 0) --free_clusters_;
  const std::vector<std::int64_t> index = NextIndex();
  const std::int64_t thread = threads_ == 1 ? 0 : index.back();  // whatever the order of the walk
  const AgentId id{FirstOfBlock(index).value + static_cast<std::int32_t>(thread)};
  const agents::AgentPrograms programs = state_.ProgramsOfAgent(next_);
  if (machine_.shape().several_devices()) agent->PutOn(machine_.shape().DeviceOf(index));
  agent->Begin(id, programs);
  agent->SetOrdinal(started_.AddThread(id, next_, agent->frame()));
  next_ = programs.last;
  if (next_ == state_.walk().programs()) started_.AllHaveBegun();
  return agent;
}

// Its first visible step it asks for itself; before that it touches nothing but its thread.
absl::Status ThreadAgents::Fork(AgentId warp, std::int64_t number, std::size_t first) {
  if (current_.free_warps.empty()) {
    PALLADION_ASSIGN_OR_RETURN(ThreadAgent* const added, NewAgent(&warps_));
    current_.free_warps.push_back(added);
  }
  ThreadAgent* const agent = current_.free_warps.back();
  current_.free_warps.pop_back();
  current_.agent->spin().Changed();
  agent->BeginWarp(warp, number, first, *current_.agent);
  agent->SetOrdinal(started_.AddWarp(warp, number, agent->frame(), current_.agent->id()));
  const auto owned_here = [](scheduler::Agent*) {};
  current_.gate->Spawn(std::shared_ptr<scheduler::Agent>(agent, owned_here),
                       {.footprint = scheduler::Footprint::Everything()});
  return absl::OkStatus();
}

void ThreadAgents::Spawn(AgentId operation) {
  auto agent = std::make_shared<EngineAgent>(machine_, operation, started_);
  agent->SetOrdinal(started_.AddOperation(operation, *agent));
  const scheduler::Operation first = agent->Next();
  current_.gate->Spawn(std::move(agent), first);
}

void ThreadAgents::Retire(scheduler::Agent* agent) {
  RunControl* const control = state_.frame().control;
  if (control != nullptr && !state_.program().grid_in_agent) control->EndPrograms(1);
  auto* thread = static_cast<ThreadAgent*>(agent);
  started_.Ends(thread->id());
  if (machine_.EndThread(thread->id())) ++free_clusters_;
  free_.push_back(thread);
}

std::vector<const ThreadAgent*> ThreadAgents::Unfinished() const {
  std::vector<const ThreadAgent*> unfinished;
  for (const std::unique_ptr<ThreadAgent>& agent : agents_) {
    if (!agent->done()) unfinished.push_back(agent.get());
  }
  return unfinished;
}

std::string ThreadAgents::WhyNotBegun() const {
  if (next_ == state_.walk().programs() || residency_.why.empty()) return "";
  std::vector<std::int64_t> index = NextIndex();
  index.resize(machine_.shape().block_dims());
  return Cat(NameOfBlock(index), " cannot begin before another one ends: ", residency_.why, ", and ",
             residency_.clusters * blocks_, " blocks are there");
}

}  // namespace palladion::threads
