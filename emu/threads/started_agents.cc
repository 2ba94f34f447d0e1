#include "emu/threads/started_agents.h"

#include "semantics/base/cat.h"

namespace palladion::threads {

StartedAgents::StartedAgents(agents::LaunchState& state, const ThreadMachine& machine, const Kernel& kernel)
    : state_(state), machine_(machine), reach_(kernel) {
  if (!state.program().loops.empty()) state.memory().Observe(&spins_.emplace(state.memory()));
}

scheduler::AgentOrdinal StartedAgents::Add(AgentId agent, const Live& live) {
  live_[agent.value] = live;
  return ordinals_.Add(agent);
}

void StartedAgents::Remember(AgentId agent, const Started& started) {
  if (started_.size() <= agent.index()) started_.resize(agent.index() + 1);
  started_[agent.index()] = started;
}

scheduler::AgentOrdinal StartedAgents::AddThread(AgentId thread, std::int64_t program, const Frame& frame) {
  Remember(thread, {.program = static_cast<std::int32_t>(program)});
  return Add(thread, {.frame = &frame});
}

scheduler::AgentOrdinal StartedAgents::AddWarp(AgentId warp, std::int64_t number, const Frame& frame, AgentId parent) {
  Remember(warp, {.program = started_[parent.index()].program, .warp = static_cast<std::int32_t>(number)});
  return Add(warp, {.frame = &frame});
}

scheduler::AgentOrdinal StartedAgents::AddOperation(AgentId operation, const EngineAgent& engine) {
  engines_ = true;
  return Add(operation, {.engine = &engine});
}

const StartedAgents::Started* StartedAgents::StartedAs(AgentId agent) const {
  return memory_model::AgentTable::IsOperation(agent) ? nullptr : &started_[agent.index()];
}

std::vector<std::int64_t> StartedAgents::IndexOf(const Started& started) const {
  std::vector<std::int64_t> index(state_.frame().grid_size.size());
  state_.walk().At(started.program, absl::MakeSpan(index));
  return index;
}

// Also of one that has ended, whose thread the machine has retired.
std::string StartedAgents::NameOf(scheduler::AgentOrdinal other) const {
  const Started* const started = StartedAs(ordinals_.Of(other));
  if (started == nullptr) return "";
  const std::string thread = machine_.shape().NameOf(IndexOf(*started));
  return started->warp < 0 ? thread : Cat("warp ", started->warp, " of ", thread);
}

const AsyncRequest* StartedAgents::RequestOf(scheduler::AgentOrdinal engine) const {
  const auto live = live_.find(ordinals_.Of(engine).value);
  return live == live_.end() || live->second.engine == nullptr ? nullptr : &live->second.engine->request();
}

void StartedAgents::EngineResumes(scheduler::AgentOrdinal engine) {
  if (spins() != nullptr) spins()->SetCurrent(nullptr, engine);
}

bool StartedAgents::MaySignal(AgentId waiter, const WaitTarget& target, scheduler::AgentOrdinal other) const {
  const AgentId who = ordinals_.Of(other);
  const auto at = live_.find(who.value);
  Live live = at == live_.end() ? Live{} : at->second;
  if (live.frame != nullptr && live.frame->done()) live.frame = nullptr;  // searches retire nobody
  if (live.engine != nullptr) return Tells(machine_, live.engine->request(), waiter, target);
  const Started* const started = StartedAs(who);
  if (target.kind == WaitTarget::Kind::kGroups || started == nullptr) return false;
  const std::vector<std::int64_t> index = IndexOf(*started);
  if (target.kind == WaitTarget::Kind::kMeeting) return machine_.residents().IsOf(waiter, index);
  if (target.kind == WaitTarget::Kind::kSpawned)
    return started->warp >= 0 && machine_.residents().Of(waiter).index == index;
  return MayTell(live.frame, target, index);
}

// The barrier or semaphore: by a thread of this index, which has ended if it has no frame.
bool StartedAgents::MayTell(const Frame* frame, const WaitTarget& target, absl::Span<const std::int64_t> index) const {
  const SyncArray& array = machine_.syncs()[target.object.array];
  if (array.request.collective >= 0) return frame != nullptr;  // any line of the kernel may ask for it
  const SyncObject object{array.request.site.text_line, array.request.name};
  if (frame != nullptr && more_begin_ && !array.block.valid() && reach_.MayComeFromStart(object))
    return true;  // its end lets another block begin
  if (!machine_.syncs().Sees(index, target.object.array)) return false;
  if (frame == nullptr) return reach_.MayComeFromStart(object);
  return reach_.MayCome(frame->program().steps[frame->pc].text_line, object);
}

}  // namespace palladion::threads
