#include "emu/run/threads/thread_agent.h"

#include <utility>

#include "emu/run/agents/program_agents.h"
#include "emu/run/threads/footprints.h"
#include "semantics/program/frame_shadow.h"

namespace palladion::threads {

ThreadAgent::ThreadAgent(agents::LaunchState& state, ThreadMachine& machine, std::unique_ptr<Frame> frame,
                         CurrentGate& current, StartedAgents& all)
    : state_(state),
      machine_(machine),
      frame_(std::move(frame)),
      watcher_(state.watchers()),
      current_(current),
      all_(all),
      port_(PortOf()),
      spin_(all.spins(), &frame_->program(), &port_),
      spinning_(spin_, [this](scheduler::AgentOrdinal other) { return all_.NameOf(other); }),
      wait_(machine, all) {
  frame_->Watch(this);
  frame_->Ask(machine);
}

void ThreadAgent::Begin(AgentId thread, agents::AgentPrograms programs) {
  id_ = thread;
  frame_->BeginPrograms(programs.first, programs.last);
  frame_->RunsAs(thread);
  started_ = false;
}

void ThreadAgent::PutOn(std::int64_t device) { state_.PutOn(device, *frame_); }

void ThreadAgent::PutOnCore(std::int64_t device, std::int64_t first_program) {
  state_.PutOnCore(device, first_program, *frame_);
}

void ThreadAgent::BeginWarp(AgentId warp, std::int64_t number, std::size_t first, const ThreadAgent& parent) {
  id_ = warp;
  is_warp_ = true;
  started_ = false;
  parent.frame_->CopyTo(*frame_);
  if (frame_->shadow() != nullptr) frame_->shadow()->CopyFrom(*parent.frame_->shadow());
  frame_->JumpTo(first);
  frame_->RunsAs(warp, {.thread = parent.id_, .number = number});
}

absl::Status ThreadAgent::Resume(scheduler::Gate& gate) {
  gate_ = current_.gate = &gate;
  current_.agent = this;
  machine_.SetCurrent(id_);
  if (all_.spins() != nullptr) all_.spins()->SetCurrent(&spin_, spin_.agent());
  if (ending_) {
    MayEnd();
    return absl::OkStatus();
  }
  if (is_warp_ && !started_) gate.TakeGrant();  // to begin
  if (!started_ && !is_warp_ && !MayBegin()) return absl::OkStatus();
  if (started_ || is_warp_ || machine_.launch_control().used())
    state_.memory().Running({.id = id_, .index = frame_->grid_index()});
  started_ = true;
  const absl::Status status = frame_->Run();
  if (is_warp_ && frame_->done()) {
    machine_.EndWarp(id_);
    all_.Ends(id_);
    current_.free_warps.push_back(this);
  }
  if (status.ok() && frame_->done() && !is_warp_ && machine_.uses_cluster_barrier()) MayEnd();
  return status.ok() ? status : state_.AtStep(status, *frame_);
}

// Where others may take its work, that it begins is an operation too: until then its work may be taken, and then it
// has come to its end.
bool ThreadAgent::MayBegin() {
  LaunchControl& control = machine_.launch_control();
  if (!control.used()) return true;
  if (!gate_->TakeGrant() && !gate_->MayGo({.footprint = FootprintOf(BeginRequest{})})) return false;
  if (machine_.touches() != nullptr) machine_.touches()->Object(kLaunchControlObject, /*writes=*/false);
  if (control.Begin(machine_.residents().BlockOf(id_).cluster)) return true;
  frame_->JumpToEnd();
  return false;
}

// Where others wait for its end, that is an operation.
void ThreadAgent::MayEnd() {
  const WaitTarget cluster{.kind = WaitTarget::Kind::kClusterSync};
  ending_ = !gate_->MayGo({.footprint = FootprintOf(machine_, id_, cluster)});
  if (!ending_) machine_.LeaveCluster();
}

// ---- a thread's loops

agents::Spin::Port ThreadAgent::PortOf() {
  const Waitables& waitables = machine_.waitables();
  return {.look = [&, this](const WaitTarget& target) { return waitables.Of(target).Look(id_, target); },
          .describe = [&, this](const WaitTarget& target) { return waitables.Of(target).DescribeChange(id_, target); },
          .may_signal = [this](const WaitTarget& target,
                               scheduler::AgentOrdinal other) { return all_.MaySignal(id_, target, other); },
          .object = [&, this](const WaitTarget& target) { return waitables.Of(target).Object(id_, target); }};
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
    if (step.loop >= 0 && machine_.touches() != nullptr) machine_.touches()->log().Add(spin_.footprint());
    spin_.Wake();
    return true;
  }
  if (step.loop >= 0) return MayGoRound(step, frame);
  scheduler::Operation operation{.loc = step.loc, .text_line = step.text_line, .work = agents::WorkOf(step, frame)};
  if (step.waits != nullptr) {
    const WaitTarget target = step.waits(step.params, step, frame);
    if (machine_.waitables().Of(target).IsVisible()) {
      wait_.Ask(id_, target, &operation);
      return gate_->MayGo(operation);
    }
  }
  if (step.own_memory) return true;
  operation.footprint = Touches(step, frame);
  return gate_->MayGo(operation);
}

scheduler::Footprint ThreadAgent::Touches(const Step& step, Frame& frame) const {
  if (step.polls != nullptr) return FootprintOf(machine_, id_, step.polls(step.params, step, frame));
  if (step.signals == nullptr) return FootprintOf(step, frame);
  const WaitTarget signalled = step.signals(step.params, step, frame);
  if (!Waitables::IsWait(signalled)) return {};
  return FootprintOf(machine_, SyncObjectRequest{signalled.object});
}

void ThreadAgent::Before(const Step& step, Frame& frame) {
  if (watcher_ != nullptr) watcher_->Before(step, frame);
  if (step.polls == nullptr || !spin_.in_loop()) return;
  const WaitTarget target = step.polls(step.params, step, frame);
  machine_.waitables().Of(target).LookTakes(id_, target) ? spin_.Changed() : spin_.Polled(target);
}

void ThreadAgent::After(const Step& step, Frame& frame) {
  if (watcher_ != nullptr) watcher_->After(step, frame);
  if (all_.spins() != nullptr) all_.spins()->Settle();
  if ((step.lasting && step.polls == nullptr) || step.waits != nullptr) spin_.Changed();
}

}  // namespace palladion::threads
