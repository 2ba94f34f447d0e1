#include "emu/threads/thread_agents.h"

#include <algorithm>
#include <utility>

#include "emu/agents/program_agents.h"
#include "memory_model/sets/access_set.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/program/frame_shadow.h"

namespace palladion::threads {

// ---- accesses

void ThreadAccesses::Box(AccessKind kind, const BoxAccess& access, const memory_model::BoxReach& reach,
                         const std::byte*) {
  if (machine_.operations().performing() || reach.empty || reach.none_copied || !machine_.model().Tracks(access.buffer))
    return;
  ++accesses_;
  const memory_model::AccessSet set = memory_model::SetOf(
      memory_.ShapeOf(access.buffer), static_cast<std::int64_t>(memory_.ElementBytesOf(access.buffer)), access, reach);
  machine_.model().Touch(machine_.current(), access.buffer, kind, set, CodeSite::Of(access.site));
}

void ThreadAccesses::Points(AccessKind kind, const PointAccess& access, const std::byte*) {
  if (machine_.operations().performing() || !machine_.model().Tracks(access.buffer)) return;
  ++accesses_;
  machine_.model().Touch(machine_.current(), access.buffer, kind, memory_model::SetOf(access),
                         CodeSite::Of(access.site));
}

// ---- a thread

ThreadAgent::ThreadAgent(agents::LaunchState& state, ThreadMachine& machine, std::unique_ptr<Frame> frame,
                         StepHooks* watcher, CurrentGate& current, ThreadAgents& all)
    : state_(state),
      machine_(machine),
      frame_(std::move(frame)),
      watcher_(watcher),
      current_(current),
      all_(all),
      port_(PortOf()),
      spin_(all.spins(), &frame_->program(), &port_),
      spinning_(spin_, [this](scheduler::AgentOrdinal other) { return all_.NameOf(other); }),
      wait_(machine, all) {
  frame_->hooks = this;
  frame_->Ask(machine);
}

void ThreadAgent::Begin(AgentId thread, agents::AgentPrograms programs) {
  id_ = thread;
  agents::StartPrograms(*frame_, programs);
  frame_->agent = thread;
  started_ = false;
}

void ThreadAgent::PutOn(std::int64_t device) { state_.PutOn(device, *frame_); }

void ThreadAgent::BeginWarp(AgentId warp, std::int64_t number, std::size_t first, const ThreadAgent& parent) {
  id_ = warp;
  is_warp_ = true;
  started_ = false;
  parent.frame_->CopyTo(*frame_);
  if (frame_->shadow != nullptr) frame_->shadow->CopyFrom(*parent.frame_->shadow);
  frame_->pc = first;
  frame_->agent = warp;
  frame_->forked_by = parent.id_;
  frame_->warp = number;
}

absl::Status ThreadAgent::Resume(scheduler::Gate& gate) {
  gate_ = current_.gate = &gate;
  current_.agent = this;
  machine_.SetCurrent(id_);
  if (all_.spins() != nullptr) all_.spins()->SetCurrent(&spin_, spin_.agent());
  if (is_warp_ && !started_) gate.TakeGrant();  // to begin
  if (started_ || is_warp_) state_.memory().Running({.id = id_, .index = frame_->grid_index});
  started_ = true;
  const absl::Status status = frame_->Run();
  if (is_warp_ && frame_->done()) {
    machine_.EndWarp(id_);
    all_.WarpEnds(id_);
    current_.free_warps.push_back(this);
  }
  return status.ok() ? status : state_.AtStep(status, *frame_);
}

// ---- a thread's loops

// Of a barrier: has its next phase come? Of a semaphore: its count.
std::int64_t ThreadAgent::Look(const WaitTarget& target) const {
  const bool sync = target.kind == WaitTarget::Kind::kBarrier || target.kind == WaitTarget::Kind::kSemaphore;
  if (sync && !machine_.syncs().Lives(target.object.array))
    return -1;  // a loop polled it, and has left its scope since
  if (target.kind == WaitTarget::Kind::kSemaphore) return CountOf(target.object).count();
  return machine_.CanWait(id_, target) ? 1 : 0;
}

agents::Spin::Port ThreadAgent::PortOf() {
  return {.look = [this](const WaitTarget& target) { return Look(target); },
          .describe =
              [this](const WaitTarget& target) {
                if (target.kind != WaitTarget::Kind::kSemaphore) return machine_.DescribeWait(id_, target);
                const memory_model::Semaphore& semaphore = CountOf(target.object);
                return Cat(semaphore.spec().name, " to change (it is ", semaphore.count(), ")");
              },
          .may_signal = [this](const WaitTarget& target,
                               scheduler::AgentOrdinal other) { return all_.MaySignal(id_, target, other); },
          .object = [this](const WaitTarget& target) { return machine_.ObjectOf(id_, target); }};
}

bool ThreadAgent::MayGoRound(const Step& step, Frame& frame) {
  if (all_.spins() == nullptr || !spin_.MustWait(step, frame)) return true;
  const bool goes = gate_->MayGo(
      {.footprint = spin_.footprint(), .waits_for = &spinning_, .loc = step.loc, .text_line = step.text_line});
  if (goes) spin_.Wake();
  return goes;
}

bool ThreadAgent::MayGo(const Step& step, Frame& frame) {
  if (gate_->TakeGrant()) {
    spin_.Wake();
    return true;
  }
  if (step.loop >= 0) return MayGoRound(step, frame);
  scheduler::Operation operation{.loc = step.loc, .text_line = step.text_line, .work = agents::WorkOf(step, frame)};
  // Copies of blocks are complete when they are asked for.
  if (step.waits != nullptr && step.kind != StepKind::kAwaitBlocks) {
    wait_.Ask(id_, step.waits(step.params, step, frame), &operation);
    return gate_->MayGo(operation);
  }
  if (step.own_memory) return true;
  const BufferId buffer = step.ref.valid() ? frame.ref(step.ref).buffer : BufferId{};
  operation.footprint = !buffer.valid()   ? scheduler::Footprint::Everything()
                        : step.only_reads ? scheduler::Footprint::Reads(buffer.value)
                                          : scheduler::Footprint::Writes(buffer.value);
  return gate_->MayGo(operation);
}

void ThreadAgent::Before(const Step& step, Frame& frame) {
  if (watcher_ != nullptr) watcher_->Before(step, frame);
  if (step.polls == nullptr || !spin_.in_loop()) return;
  const WaitTarget target = step.polls(step.params, step, frame);
  // A test of a barrier that has come takes the phase.
  const bool takes = target.kind == WaitTarget::Kind::kBarrier && Look(target) != 0;
  takes ? spin_.Changed() : spin_.Polled(target);
}

void ThreadAgent::After(const Step& step, Frame& frame) {
  if (watcher_ != nullptr) watcher_->After(step, frame);
  if (all_.spins() != nullptr) all_.spins()->Settle();
  if ((step.lasting && step.polls == nullptr) || step.waits != nullptr) spin_.Changed();
}

// ---- all of them

ThreadAgents::ThreadAgents(agents::LaunchState& state, ThreadMachine& machine, StepHooks* watcher, const Kernel& kernel,
                           Residency residency)
    : state_(state),
      machine_(machine),
      watcher_(watcher),
      residency_(std::move(residency)),
      free_clusters_(residency_.clusters),
      reach_(kernel) {
  if (!state.program().loops.empty()) state.memory().Observe(&spins_.emplace(state.memory()));
  machine.OnStart([this](AgentId operation) { Spawn(operation); });
  machine.OnFork([this](AgentId warp, std::int64_t number, std::size_t first) { return Fork(warp, number, first); });
  const Program& program = state.program();
  if (!program.device_axes.empty()) EnterDevices(kernel);
  if (!program.mesh.has_value()) return;
  const std::vector<std::int64_t>& grid = state.frame().grid_size;
  const std::size_t block_dims = grid.size() - (program.mesh->thread_dim ? 1 : 0);
  if (program.mesh->thread_dim) threads_ = grid.back();
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

void ThreadAgents::Start(AgentId agent, const Started& started) {
  if (started_.size() <= agent.index()) started_.resize(agent.index() + 1);
  started_[agent.index()] = started;
}

const ThreadAgents::Started* ThreadAgents::StartedAs(AgentId agent) const {
  return memory_model::AgentTable::IsOperation(agent) ? nullptr : &started_[agent.index()];
}

void ThreadAgents::Spawn(AgentId operation) {
  auto agent = std::make_shared<EngineAgent>(machine_, operation, *this);
  engines_ = true;
  agent->SetOrdinal(Add(operation, {.engine = agent.get()}));
  const scheduler::Operation first = agent->Next();
  current_.gate->Spawn(std::move(agent), first);
}

bool ThreadAgents::Ready() const { return next_ % (threads_ * blocks_) != 0 || free_clusters_ > 0; }

absl::StatusOr<scheduler::Agent*> ThreadAgents::Next() {
  if (next_ == state_.walk().programs()) return nullptr;
  ThreadAgent* agent = nullptr;
  if (free_.empty()) {
    PALLADION_ASSIGN_OR_RETURN(std::unique_ptr<Frame> frame, state_.NewFrame());
    agents_.push_back(std::make_unique<ThreadAgent>(state_, machine_, std::move(frame), watcher_, current_, *this));
    agent = agents_.back().get();
  } else {
    agent = free_.back();
    free_.pop_back();
  }
  if (next_ % (threads_ * blocks_) == 0) --free_clusters_;
  std::vector<std::int64_t> index(state_.frame().grid_size.size());
  state_.walk().At(next_, absl::MakeSpan(index));
  if (!blocks_added_.empty()) {
    first_ = blocks_added_.front();
    blocks_added_.pop_front();
  } else if (next_ % threads_ == 0) {
    first_ = machine_.AddBlock(index, threads_);
  }
  const std::int64_t thread = threads_ == 1 ? 0 : index.back();  // whatever the order of the walk
  const agents::AgentPrograms programs = state_.ProgramsOfAgent(next_);
  if (!state_.program().device_axes.empty()) agent->PutOn(machine_.shape().DeviceOf(index));
  agent->Begin({first_.value + static_cast<std::int32_t>(thread)}, programs);
  Start(agent->id(), {.program = static_cast<std::int32_t>(next_)});
  agent->SetOrdinal(Add(agent->id(), {.agent = agent}));
  next_ = programs.last;
  return agent;
}

// Its first visible step it asks for itself; before that it touches nothing but its thread.
absl::Status ThreadAgents::Fork(AgentId warp, std::int64_t number, std::size_t first) {
  if (current_.free_warps.empty()) {
    PALLADION_ASSIGN_OR_RETURN(std::unique_ptr<Frame> frame, state_.NewFrame());
    warps_.push_back(std::make_unique<ThreadAgent>(state_, machine_, std::move(frame), watcher_, current_, *this));
    current_.free_warps.push_back(warps_.back().get());
  }
  ThreadAgent* const agent = current_.free_warps.back();
  current_.free_warps.pop_back();
  current_.agent->spin().Changed();
  agent->BeginWarp(warp, number, first, *current_.agent);
  const std::int32_t program = started_[current_.agent->id().index()].program;
  Start(warp, {.program = program, .warp = static_cast<std::int32_t>(number)});
  agent->SetOrdinal(Add(warp, {.agent = agent}));
  const auto owned_here = [](scheduler::Agent*) {};
  current_.gate->Spawn(std::shared_ptr<scheduler::Agent>(agent, owned_here),
                       {.footprint = scheduler::Footprint::Everything()});
  return absl::OkStatus();
}

void ThreadAgents::Retire(scheduler::Agent* agent) {
  RunControl* const control = state_.frame().control;
  if (control != nullptr && !state_.program().grid_in_agent) control->EndPrograms(1);
  auto* thread = static_cast<ThreadAgent*>(agent);
  live_.erase(thread->id().value);
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

const AsyncRequest* ThreadAgents::RequestOf(scheduler::AgentOrdinal engine) const {
  const auto live = live_.find(ordinals_.Of(engine).value);
  return live == live_.end() || live->second.engine == nullptr ? nullptr : &live->second.engine->request();
}

void ThreadAgents::EngineResumes(scheduler::AgentOrdinal engine) {
  if (spins() != nullptr) spins()->SetCurrent(nullptr, engine);
}

bool ThreadAgents::MaySignal(AgentId waiter, const WaitTarget& target, scheduler::AgentOrdinal other) const {
  const AgentId who = ordinals_.Of(other);
  const auto at = live_.find(who.value);
  Live live = at == live_.end() ? Live{} : at->second;
  if (live.agent != nullptr && live.agent->done()) live.agent = nullptr;  // searches retire nobody
  if (live.engine != nullptr) return Tells(machine_, live.engine->request(), waiter, target);
  const Started* const started = StartedAs(who);
  if (target.kind == WaitTarget::Kind::kGroups || started == nullptr) return false;
  const std::vector<std::int64_t> index = IndexOf(*started);
  if (target.kind == WaitTarget::Kind::kMeeting) return machine_.residents().IsOf(waiter, index);
  if (target.kind == WaitTarget::Kind::kSpawned)
    return started->warp >= 0 && machine_.residents().Of(waiter).index == index;
  const SyncArray& array = machine_.syncs()[target.object.array];
  const SyncRequest& request = array.request;
  if (request.collective >= 0) return live.agent != nullptr;  // any line of the kernel may ask for it
  const SyncObject object{request.site.text_line, request.name};
  if (live.agent != nullptr && next_ < state_.walk().programs() && !array.block.valid() &&
      reach_.MayComeFromStart(object)) {
    return true;  // its end lets another block begin
  }
  if (!machine_.syncs().Sees(index, target.object.array)) return false;
  if (live.agent == nullptr) return reach_.MayComeFromStart(object);
  const Frame& frame = live.agent->frame();
  return reach_.MayCome(frame.program().steps[frame.pc].text_line, object);
}

std::vector<std::int64_t> ThreadAgents::IndexOf(const Started& started) const {
  std::vector<std::int64_t> index(state_.frame().grid_size.size());
  state_.walk().At(started.program, absl::MakeSpan(index));
  return index;
}

// Also of one that has ended, whose thread the machine has retired.
std::string ThreadAgents::NameOf(scheduler::AgentOrdinal other) const {
  const Started* const started = StartedAs(ordinals_.Of(other));
  if (started == nullptr) return "";
  const std::string thread = machine_.shape().NameOf(IndexOf(*started));
  return started->warp < 0 ? thread : Cat("warp ", started->warp, " of ", thread);
}

std::string ThreadAgents::WhyNotBegun() const {
  if (next_ == state_.walk().programs() || residency_.why.empty()) return "";
  std::vector<std::int64_t> index(state_.frame().grid_size.size());
  state_.walk().At(next_, absl::MakeSpan(index));
  if (state_.program().mesh.has_value() && state_.program().mesh->thread_dim) index.pop_back();
  return Cat(NameOfBlock(index), " cannot begin before another one ends: ", residency_.why, ", and ",
             residency_.clusters * blocks_, " blocks are there");
}

}  // namespace palladion::threads
