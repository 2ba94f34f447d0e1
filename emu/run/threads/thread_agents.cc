#include "emu/run/threads/thread_agents.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "emu/run/threads/answer_agent.h"
#include "emu/run/threads/footprints.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/registry/cluster_launch_control.h"
#include "semantics/registry/op_id.h"

namespace palladion::threads {

namespace {

std::int64_t ThreadsOfBlock(const LaunchShape& shape, const Program& program) {
  return program.mesh.has_value() && shape.counts_threads() ? shape.size(shape.block_dims()) : 1;
}

bool WaitsForClusters(const Region& region) {
  return std::any_of(region.body.begin(), region.body.end(), [](const Instr& op) {
    return Is(op, OpId::kBarrierClusterWait) ||
           std::any_of(op.regions.begin(), op.regions.end(), [](const Region& of) { return WaitsForClusters(of); });
  });
}

bool WaitsForClusters(const Kernel& kernel) {
  return std::any_of(kernel.bodies.begin(), kernel.bodies.end(),
                     [](const Body& body) { return WaitsForClusters(body.region); });
}

std::int64_t BlocksOfCluster(const LaunchShape& shape, const Program& program) {
  std::int64_t blocks = 1;
  for (std::size_t d = program.first_cluster_dim(); d < program.block_dims(); ++d) blocks *= shape.size(d);
  return blocks;
}

}  // namespace

ThreadAgents::ThreadAgents(agents::LaunchState& state, ThreadMachine& machine, const Kernel& kernel,
                           Residency residency)
    : state_(state),
      machine_(machine),
      started_(state, machine, kernel),
      residency_(std::move(residency)),
      threads_(ThreadsOfBlock(machine.shape(), state.program())),
      blocks_(BlocksOfCluster(machine.shape(), state.program())),
      order_({.programs = state.walk().programs(),
              .devices = state.program().devices,
              .of_cluster = threads_ * blocks_,
              .at_once = residency_.clusters}) {
  machine.OnStart([this](AgentId operation) { Spawn(operation); });
  machine.OnFork([this](AgentId warp, std::int64_t number, std::size_t first) { return Fork(warp, number, first); });
  if (machine.shape().tpus()) EnterDevices(kernel);
  if (TakesWork(kernel)) machine.launch_control().Use();
  if (WaitsForClusters(kernel)) machine.UseClusterBarrier();
}

// All TPUs are there from the start, as those of a machine are. Without a collective id the compiler puts a barrier of
// all devices before a kernel that reaches others (CompilerParams.skip_device_barrier leaves it out). For GPUs the
// runtime does, always, and what lies in their global memory is there whether a block has begun or not.
void ThreadAgents::EnterDevices(const Kernel& kernel) {
  const std::int64_t programs = state_.walk().programs();
  for (std::int64_t program = 0; program < programs;) {
    blocks_added_[program] = machine_.AddBlock(IndexOf(program), threads_);
    program = threads_ > 1 ? program + threads_ : state_.ProgramsOfAgent(program).last;
  }
  const Attr *skip = Find(kernel.params, "skip_device_barrier"), *id = Find(kernel.params, "collective_id");
  const bool skips = skip != nullptr && skip->value == Attr{true}.value;
  const bool own = id != nullptr && std::holds_alternative<std::int64_t>(id->value);
  machine_.operands().EnterDevices(/*meet=*/!own && !skips);
}

std::vector<std::int64_t> ThreadAgents::IndexOf(std::int64_t program) const {
  std::vector<std::int64_t> index(state_.frame().grid_size().size());
  state_.walk().At(program, absl::MakeSpan(index));
  return index;
}

absl::StatusOr<ThreadAgent*> ThreadAgents::NewAgent(std::vector<std::unique_ptr<ThreadAgent>>* all) {
  PALLADION_ASSIGN_OR_RETURN(std::unique_ptr<Frame> frame, state_.NewFrame());
  all->push_back(std::make_unique<ThreadAgent>(state_, machine_, std::move(frame), current_, started_));
  return all->back().get();
}

// Of the block of which a thread with this index begins: its first thread.
AgentId ThreadAgents::FirstOfBlock(std::int64_t program, absl::Span<const std::int64_t> index) {
  if (program % threads_ != 0) return first_;
  const auto added = blocks_added_.find(program);
  first_ = added != blocks_added_.end() ? added->second : machine_.AddBlock(index, threads_);
  return first_;
}

bool ThreadAgents::Ready() const { return order_.Ready(); }

absl::StatusOr<scheduler::Agent*> ThreadAgents::Next() {
  if (order_.AllHaveBegun()) return nullptr;
  ThreadAgent* agent = nullptr;
  if (free_.empty()) {
    PALLADION_ASSIGN_OR_RETURN(agent, NewAgent(&agents_));
  } else {
    agent = free_.back();
    free_.pop_back();
  }
  const std::int64_t program = order_.Next();
  const std::vector<std::int64_t> index = IndexOf(program);
  const std::int64_t thread = threads_ == 1 ? 0 : index.back();  // whatever the order of the walk
  const AgentId id{FirstOfBlock(program, index).value + static_cast<std::int32_t>(thread)};
  const agents::AgentPrograms programs = state_.ProgramsOfAgent(program);
  if (machine_.shape().several_devices()) agent->PutOn(machine_.shape().DeviceOf(index));
  agent->PutOnCore(machine_.shape().DeviceOf(index), programs.first);
  agent->Begin(id, programs);
  agent->SetOrdinal(started_.AddThread(id, program, agent->frame()));
  order_.Begin(programs.last);
  if (order_.AllHaveBegun()) started_.AllHaveBegun();
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
                       {.footprint = FootprintOf(OtherRequest::kFork)});
  return absl::OkStatus();
}

void ThreadAgents::SpawnAnswers(AgentId operation) {
  auto request = std::make_shared<AnswerAgent::Request>(AnswerAgent::Request{.operation = operation});
  for (const WorkChoice choice : machine_.launch_control().Choices(current_.agent->id())) {
    auto agent = std::make_shared<AnswerAgent>(machine_, request, choice, started_);
    agent->SetOrdinal(started_.AddOperation(operation));
    const scheduler::Operation first = agent->Next();
    current_.gate->Spawn(std::move(agent), first);
  }
}

void ThreadAgents::Spawn(AgentId operation) {
  if (machine_.launch_control().asking()) return SpawnAnswers(operation);
  std::shared_ptr<EngineAgent> agent = started_.NewEngine(operation);
  const scheduler::Operation first = agent->Next();
  current_.gate->Spawn(std::move(agent), first);
}

void ThreadAgents::Retire(scheduler::Agent* agent) {
  RunControl* const control = state_.frame().control();
  if (control != nullptr && !state_.program().grid_in_agent) control->EndPrograms(1);
  auto* thread = static_cast<ThreadAgent*>(agent);
  started_.Ends(thread->id());
  if (!order_.AllHaveBegun() && machine_.touches() != nullptr) machine_.touches()->Everything();  // others may begin
  if (machine_.EndThread(thread->id())) order_.ClusterEnds(thread->frame().program_number());
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
  if (order_.AllHaveBegun() || residency_.why.empty()) return "";
  return Cat(machine_.shape().BlockNameOf(IndexOf(order_.Next())),
             " cannot begin before another one ends: ", residency_.why, ", and ", residency_.clusters * blocks_,
             " blocks are there");
}

}  // namespace palladion::threads
