#include "emu/run/threads/started_agents.h"

#include "semantics/base/cat.h"

namespace palladion::threads {
namespace {

// A core of a TPU runs the body once more for each further program of its part of the grid.
bool RunsBodyAgain(const Frame& frame) { return frame.program().grid_in_agent && frame.has_next_program(); }

}  // namespace

StartedAgents::StartedAgents(agents::LaunchState& state, ThreadMachine& machine, const Kernel& kernel)
    : AgentsInFlight(machine), state_(state), reach_(kernel) {
  if (!state.program().loops.empty()) state.memory().Observe(&spins_.emplace(state.memory()));
}

void StartedAgents::Remember(AgentId agent, const Started& started) {
  if (started_.size() <= agent.index()) started_.resize(agent.index() + 1);
  started_[agent.index()] = started;
}

scheduler::AgentOrdinal StartedAgents::AddThread(AgentId thread, std::int64_t program, const Frame& frame) {
  Remember(thread, {.program = static_cast<std::int32_t>(program)});
  return AgentsInFlight::AddThread(thread, &frame);
}

scheduler::AgentOrdinal StartedAgents::AddWarp(AgentId warp, std::int64_t number, const Frame& frame, AgentId parent) {
  Remember(warp, {.program = started_[parent.index()].program, .warp = static_cast<std::int32_t>(number)});
  return AgentsInFlight::AddThread(warp, &frame);
}

const StartedAgents::Started* StartedAgents::StartedAs(AgentId agent) const {
  return memory_model::AgentTable::IsOperation(agent) ? nullptr : &started_[agent.index()];
}

std::vector<std::int64_t> StartedAgents::IndexOf(const Started& started) const {
  std::vector<std::int64_t> index(state_.frame().grid_size().size());
  state_.walk().At(started.program, absl::MakeSpan(index));
  return index;
}

// Also of one that has ended, whose thread the machine has retired.
std::string StartedAgents::NameOf(scheduler::AgentOrdinal other) const {
  const Started* const started = StartedAs(AgentOf(other));
  if (started == nullptr) return "";
  const std::string thread = machine().shape().NameOf(IndexOf(*started));
  return started->warp < 0 ? thread : Cat("warp ", started->warp, " of ", thread);
}

void StartedAgents::EngineResumes(scheduler::AgentOrdinal engine) {
  if (spins() != nullptr) spins()->SetCurrent(nullptr, engine);
}

bool StartedAgents::ThreadMaySignal(AgentId waiter, const WaitTarget& target, const Signaller& other) const {
  const Started* const started = StartedAs(other.who);
  if (started == nullptr) return false;
  const bool goes_on = other.frame != nullptr && !other.frame->done();  // searches retire no agent
  const std::vector<std::int64_t> index = IndexOf(*started);
  const Waitable& what = machine().waitables().Of(target);
  const std::optional<bool> known = what.ThreadMaySignal(waiter, {.index = index, .is_warp = started->warp >= 0});
  return known.has_value() ? *known : MaySignalByText(goes_on ? other.frame : nullptr, target, index);
}

// The target's array: by a thread of this index, which has ended if it has no frame.
bool StartedAgents::MaySignalByText(const Frame* frame, const WaitTarget& target,
                                    absl::Span<const std::int64_t> index) const {
  const SyncArray& array = machine().syncs()[target.object.array];
  if (array.request.collective >= 0) return frame != nullptr;  // any line of the kernel may ask for it
  const SyncObject object{array.request.site.text_line, array.request.name};
  if (frame != nullptr && more_begin_ && !array.block.valid() && reach_.MayComeFromStart(object))
    return true;  // its end lets another block begin
  if (!machine().syncs().Sees(index, target.object.array)) return false;
  if (frame == nullptr || (RunsBodyAgain(*frame) && reach_.MayComeFromStart(object)))
    return reach_.MayComeFromStart(object);
  return reach_.MayCome(frame->program().steps[frame->pc()].text_line, object);
}

}  // namespace palladion::threads
