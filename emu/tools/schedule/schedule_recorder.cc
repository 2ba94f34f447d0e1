#include "emu/tools/schedule/schedule_recorder.h"

#include <algorithm>
#include <optional>
#include <variant>

#include "emu/run/threads/schedule_objects.h"
#include "emu/run/threads/thread_machine.h"
#include "emu/run/watch/access_text.h"
#include "semantics/base/cat.h"
#include "semantics/program/agent_naming.h"

namespace palladion::schedule {
namespace {

constexpr std::int64_t kRecordedAfter = 400;  // operations after the finding that is sought
constexpr std::size_t kFewActors = 256;       // that are all recorded
constexpr std::size_t kLongestText = 200;
constexpr std::size_t kMostAccesses = 64;   // of one operation
constexpr std::size_t kMostReleases = 256;  // of one object: older ones no wait is for any more

}  // namespace

std::string_view Does(AccessKind kind) {
  constexpr std::string_view kVerbs[] = {"reads", "writes", "updates", "allocates", "frees"};
  return kVerbs[static_cast<std::size_t>(kind)];
}

std::string_view WithoutLane(std::string_view agent) {
  for (const std::string_view prefix : {"a lane of ", "another lane of ", "lanes of "}) {
    if (agent.substr(0, prefix.size()) == prefix) return agent.substr(prefix.size());
  }
  return agent;
}

std::string_view Name(OpKind kind) {
  constexpr std::string_view kNames[] = {"access", "issue", "phase", "arrive", "wait", "waiting", "memory", "begin"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string_view Name(EdgeKind kind) {
  constexpr std::string_view kNames[] = {"sync", "issue", "spawn"};
  return kNames[static_cast<std::size_t>(kind)];
}

void Recording::PutFirst(Op op) {
  ops.insert(ops.begin(), std::move(op));
  if (forgotten > 0) {
    --forgotten;
    return;
  }
  for (Edge& edge : edges) ++edge.from, ++edge.to;
  for (Found& one : found) one.op += one.op < 0 ? 0 : 1;
}

bool ScheduleRecorder::Sought::Is(const Finding& finding) const {
  const auto line = [](const std::optional<FindingAccess>& side) { return side.has_value() ? side->text_line : 0; };
  if (finding.code != code) return false;
  const int a = line(finding.first), b = line(finding.second);
  return finding.text_line == text_line || (a == first && b == second) || (a == second && b == first);
}

void ScheduleRecorder::Begun(const threads::ThreadMachine& machine) { machine_ = &machine; }

// Where a check runs a kernel another way, after this one was stuck, the second run is the one that counts.
void ScheduleRecorder::Bound(memory_model::Memory& memory, absl::Span<const BufferId>) {
  memory_ = &memory;
  if (ops_.empty() && forgotten_ == 0) return;
  ops_.clear();
  forgotten_ = 0;
  recording_ = {};
  of_model_ = of_memory_ = 0;
  stop_at_ = std::numeric_limits<std::int64_t>::max();
  actor_of_.clear(), line_of_.clear(), last_of_.clear(), phase_of_.clear();
  flights_.clear(), releases_.clear(), queued_.clear();
}

void ScheduleRecorder::Running(const RunningAgent& now) {
  const auto [name, first] = name_of_.try_emplace(now.id.value);
  if (first) name->second = AgentName(NamingOf(kernel_.program()), now.index);
}

std::string ScheduleRecorder::NameOf(AgentId id) const {
  if (machine_ != nullptr && (memory_model::IsOperation(id) || machine_->model().agents().Lives(id)))
    return machine_->NameOf(id);
  const auto found = name_of_.find(id.value);
  return found == name_of_.end() ? "the launch" : found->second;
}

// Programs synchronise by memory alone: what others did explains nothing, and a grid may have millions of them.
bool ScheduleRecorder::Skips(const Who& who) {
  const bool few = recording_.actors.size() < kFewActors;
  if (few || machine_ != nullptr || sought_.first_agent.empty() || sought_.second_agent.empty()) return false;
  if (actor_of_.find(who.agent.value) != actor_of_.end()) return false;
  const std::string name = NameOf(who.agent);
  if (name == WithoutLane(sought_.first_agent) || name == WithoutLane(sought_.second_agent)) return false;
  ++recording_.other_operations;
  if (last_other_ != who.agent) ++recording_.other_actors;
  last_other_ = who.agent;
  return true;
}

std::size_t ScheduleRecorder::ActorOf(const Who& who) {
  const AgentId id = who.of_engine() ? who.operation : who.agent;
  const auto [at, added] = actor_of_.try_emplace(id.value, recording_.actors.size());
  if (!added) return at->second;
  recording_.actors.push_back({.id = id, .name = NameOf(id), .issuer = who.of_engine() ? who.agent : AgentId()});
  return at->second;
}

void ScheduleRecorder::Before(const Step& step, Frame& frame) {
  line_of_[frame.agent().value] = {.loc = step.loc, .text_line = step.text_line};
}

void ScheduleRecorder::After(const Step&, Frame& frame) { line_of_[frame.agent().value].op = -1; }

void ScheduleRecorder::ForgetOldest() {
  ops_.pop_front();
  ++forgotten_;
}

// What memory or the model has found since the operation before belongs to that one.
void ScheduleRecorder::NoteFindings() {
  const std::int64_t last = forgotten_ + static_cast<std::int64_t>(ops_.size()) - 1;
  const auto note = [&](const std::vector<Finding>& findings, std::size_t* seen) {
    for (; *seen < findings.size(); ++*seen) {
      recording_.found.push_back({findings[*seen], last});
      if (sought_.Is(findings[*seen])) stop_at_ = std::min(stop_at_, last + kRecordedAfter);
    }
  };
  if (machine_ != nullptr) note(machine_->model().findings(), &of_model_);
  if (memory_ != nullptr) note(memory_->findings(), &of_memory_);
}

std::int64_t ScheduleRecorder::OpOf(const Who& who, OpKind kind, const CodeSite& site) {
  const std::pair<std::int32_t, int> phase{who.operation.value, static_cast<int>(who.half)};
  Line& line = line_of_[who.agent.value];
  std::int64_t& known = who.of_engine() ? phase_of_.try_emplace(phase, -1).first->second : line.op;
  if (known >= forgotten_) {
    Op& op = At(known);
    if (op.kind == OpKind::kAccess || op.kind == OpKind::kMemory) op.kind = kind;
    return known;
  }
  NoteFindings();
  const std::size_t actor = ActorOf(who);
  if (recording_.actors[actor].operations++ == 0 && !who.of_engine()) {
    if (ops_.size() == most_ops_) ForgetOldest();
    ops_.push_back({.actor = actor, .kind = OpKind::kBegin, .text = "begins"});
  }
  if (ops_.size() == most_ops_) ForgetOldest();
  known = forgotten_ + static_cast<std::int64_t>(ops_.size());
  const bool own = site.text_line == 0 && !who.of_engine();
  ops_.push_back({.actor = actor,
                  .kind = kind,
                  .loc = own ? line.loc : site.loc,
                  .text_line = own ? line.text_line : site.text_line});
  const AgentId id = who.of_engine() ? who.operation : who.agent;
  const auto [last, first] = last_of_.try_emplace(id.value, known);
  if (first && !who.of_engine() && machine_ != nullptr && machine_->model().agents().Lives(id)) {
    const AgentId parent = machine_->model().agents().ParentOf(id);
    const auto from = parent.valid() ? last_of_.find(parent.value) : last_of_.end();
    if (from != last_of_.end()) Connect(from->second, known, EdgeKind::kSpawn);
  }
  last->second = known;
  return known;
}

void ScheduleRecorder::Say(Op& op, std::string_view text, std::string_view object) {
  if (op.text.find(text) == std::string::npos && op.text.size() < kLongestText)
    Append(&op.text, op.text.empty() ? "" : "; ", text);
  if (!object.empty()) Append(&op.objects, op.objects.empty() ? "" : " ", object);
}

void ScheduleRecorder::Note(Op& op, OpAccess access) {
  const bool known = std::any_of(op.accesses.begin(), op.accesses.end(), [&](const OpAccess& one) {
    return one.kind == access.kind && one.object == access.object && one.box == access.box;
  });
  if (!known && op.accesses.size() < kMostAccesses) op.accesses.push_back(std::move(access));
}

void ScheduleRecorder::Connect(std::int64_t from, std::int64_t to, EdgeKind kind) {
  if (from < 0 || from == to) return;
  recording_.edges.push_back({from, to, kind});
}

// ---- accesses

void ScheduleRecorder::Touched(const Who& who, AccessKind kind, BufferId buffer, std::string_view box,
                               const Site& site) {
  if (!who.agent.valid() || memory_ == nullptr || forgotten_ + std::ssize(ops_) > stop_at_) return;
  if (Skips(who)) return;
  const std::string name(memory_->NameOf(buffer));
  const std::int64_t number = OpOf(who, who.of_engine() ? OpKind::kPhase : OpKind::kAccess, CodeSite::Of(site));
  Say(At(number), Cat(Does(kind), " ", name, box), name);
  Note(At(number), {kind, name, std::string(box)});
}

void ScheduleRecorder::Box(const Who& who, AccessKind kind, const BoxAccess& access,
                           const memory_model::BoxReach& reach, const std::byte*) {
  if (!reach.empty) Touched(who, kind, access.buffer, watch::BoxText(access), access.site);
}

void ScheduleRecorder::Points(const Who& who, AccessKind kind, const PointAccess& access, const std::byte*) {
  Touched(who, kind, access.buffer, "[...]", access.site);
}

void ScheduleRecorder::Free(const Who& who, BufferId buffer) {
  if (!who.agent.valid() || memory_ == nullptr || forgotten_ + std::ssize(ops_) > stop_at_) return;
  if (Skips(who)) return;
  const std::string name(memory_->NameOf(buffer));
  const std::int64_t number = OpOf(who, OpKind::kMemory, {});
  Say(At(number), Cat("leaves the scope of ", name), name);
  Note(At(number), {AccessKind::kFree, name, ""});
}

// ---- asynchronous operations

void ScheduleRecorder::Issued(const Who& who, const AsyncRequest& request) {
  if (who.at_once || !who.agent.valid() || memory_ == nullptr || forgotten_ + std::ssize(ops_) > stop_at_) return;
  const std::int64_t number = OpOf(who.agent.valid() ? Who{.agent = who.agent} : who, OpKind::kIssue, request.site);
  std::string from, to;
  for (const AsyncOperand& source : request.sources)
    Append(&from, from.empty() ? "" : ", ", memory_->NameOf(source.buffer()));
  for (const AsyncOperand& target : request.destinations)
    Append(&to, to.empty() ? "" : ", ", memory_->NameOf(target.buffer()));
  Op& op = At(number);
  Say(op, Cat("starts ", request.name, from.empty() && to.empty() ? "" : Cat(": ", from, " → ", to)), "");
  op.objects = Cat(op.objects, " ", from, " ", to);
  for (std::size_t part = 0; part < request.parts(); ++part) {
    const AgentId id = memory_model::AgentTable::PartOf(who.operation, part);
    flights_[id.value] = {number, request.site, request.completions, request.queue};
  }
  if (!request.expects_at.valid() || machine_ == nullptr) return;
  const memory_model::Barrier& barrier = machine_->model().Of(request.expects_at);
  Say(op, Cat("arrives at ", barrier.spec().name), barrier.spec().name);
  Keep({threads::ObjectOf(request.expects_at)},
       {.op = number, .epoch = NowOf(who.agent), .phase = barrier.completed() + 1});
}

void ScheduleRecorder::HalfDone(const Who& who) {
  const auto flight = flights_.find(who.operation.value);
  if (flight == flights_.end() || forgotten_ + std::ssize(ops_) > stop_at_) return;
  const Flight& of = flight->second;
  const std::int64_t number = OpOf(who, OpKind::kPhase, of.site);
  const bool write = who.half == Half::kWrite;
  if (At(number).text.empty()) Say(At(number), write ? "is complete" : "has read", "");
  Connect(of.issue, number, EdgeKind::kIssue);
  const memory_model::Epoch epoch{who.operation, static_cast<std::uint32_t>(who.half)};
  for (const Completion& completion : of.completions) {
    if (completion.after != who.half || machine_ == nullptr) continue;
    Release release{.op = number, .epoch = epoch, .amount = completion.amount};
    if (completion.of.has_value()) release.epoch.who = memory_model::AgentTable::PartOf(who.operation, *completion.of);
    std::string words;
    if (const auto* barrier = std::get_if<BarrierId>(&completion.object)) {
      const memory_model::Barrier& at = machine_->model().Of(*barrier);
      release.by_clock = completion.unit == CompletionUnit::kBytes;
      release.phase = at.completed() + (at.arrived() == 0 ? 0 : 1);
      words = release.by_clock ? Cat("its bytes arrive at ", at.spec().name)
                               : Cat("arrives at ", at.spec().name, ", phase ", release.phase);
      Say(At(number), words, at.spec().name);
    } else {
      const auto& at = machine_->model().Of(std::get<SemaphoreId>(completion.object));
      words = Cat("signals ", at.spec().name, " +", completion.amount);
      Say(At(number), words, at.spec().name);
    }
    Keep({threads::ObjectOf(completion)}, std::move(release));
  }
  if (of.queue.valid()) queued_[who.agent.value].push_back({.op = number, .epoch = epoch});
  if (write) flights_.erase(flight);
}

// ---- synchronisation

memory_model::Epoch ScheduleRecorder::NowOf(AgentId agent) const {
  return {agent, machine_->model().agents().NowOf(agent)};
}

bool ScheduleRecorder::Knows(AgentId agent, const memory_model::Epoch& epoch) const {
  const memory_model::AgentTable& agents = machine_->model().agents();
  return agents.Lives(agent) && agents.ClockOf(agent)[memory_model::ClockPart::kGeneric].Covers(epoch);
}

void ScheduleRecorder::Arrives(const Who& who, const Arrival& arrival) {
  if (machine_ == nullptr || !who.agent.valid() || forgotten_ + std::ssize(ops_) > stop_at_) return;
  const std::int64_t number = OpOf(who, OpKind::kArrive, {});
  threads::ShownArrival shown = machine_->waitables().Of(arrival.at).ShowArrival(who.agent, arrival);
  Say(At(number), shown.words, shown.name);
  Keep(std::move(shown.key), {.op = number,
                              .epoch = NowOf(who.agent),
                              .phase = shown.phase,
                              .amount = arrival.amount,
                              .by_clock = shown.by_clock});
}

void ScheduleRecorder::Keep(threads::ReleaseKey key, Release release) {
  std::deque<Release>& releases = releases_[std::move(key)];
  const bool credit = release.phase == 0 && !release.by_clock;  // none of these is out of date
  releases.push_back(std::move(release));
  if (!credit && releases.size() > kMostReleases) releases.pop_front();
}

void ScheduleRecorder::Awaited(const Who& who, const WaitTarget& target) {
  if (!who.agent.valid() || forgotten_ + std::ssize(ops_) > stop_at_ || machine_ == nullptr) return;
  const threads::Waitable& awaited = machine_->waitables().Of(target);
  if (!awaited.IsVisible()) return;
  const auto before = last_of_.find(who.agent.value);
  const std::int64_t last = before == last_of_.end() ? -1 : before->second;
  const std::int64_t number = OpOf(who, OpKind::kWait, {});
  const threads::ShownWait shown = awaited.ShowWait(who.agent, target);
  Say(At(number), shown.words, shown.name);
  const std::size_t edges = recording_.edges.size();
  Acquire(who.agent, shown, number);
  for (std::size_t e = edges; e < recording_.edges.size(); ++e)
    At(number).blocked = At(number).blocked || recording_.edges[e].from > last;
}

void ScheduleRecorder::Acquire(AgentId agent, const threads::ShownWait& wait, std::int64_t op) {
  using enum threads::ShownWait::Acquires;
  switch (wait.acquires) {
    case kReleases:
      for (const threads::ReleaseKey& key : wait.keys) AcquireFrom(releases_[key], agent, wait.phase, op);
      return;
    case kCredits:
      for (const threads::ReleaseKey& key : wait.keys) AcquireCredits(releases_[key], wait, op);
      return;
    case kQueued:
      return AcquireQueued(agent, op);
    case kChildren:
      return AcquireChildren(agent, op);
  }
}

void ScheduleRecorder::AcquireChildren(AgentId agent, std::int64_t op) {
  for (const Actor& actor : recording_.actors) {
    if (actor.is_operation() || !machine_->model().agents().Lives(actor.id)) continue;
    const auto last = last_of_.find(actor.id.value);
    if (machine_->model().agents().ParentOf(actor.id) == agent && last != last_of_.end())
      Connect(last->second, op, EdgeKind::kSpawn);
  }
}

void ScheduleRecorder::AcquireFrom(std::deque<Release>& releases, AgentId agent, std::uint64_t phase, std::int64_t op) {
  for (Release& release : releases) {
    const bool taken = std::find(release.taken_by.begin(), release.taken_by.end(), agent) != release.taken_by.end();
    if (taken || !(release.by_clock ? Knows(agent, release.epoch) : release.phase == phase)) continue;
    release.taken_by.push_back(agent);
    Connect(release.op, op, EdgeKind::kSync);
  }
}

// A wait takes the oldest credits; one that leaves them there finds them again.
void ScheduleRecorder::AcquireCredits(std::deque<Release>& credits, const threads::ShownWait& wait, std::int64_t op) {
  std::int64_t needed = wait.amount;
  for (std::size_t i = 0; i < credits.size() && needed > 0; ++i) {
    const std::int64_t taken = std::min(needed, credits[i].amount);
    needed -= taken;
    Connect(credits[i].op, op, EdgeKind::kSync);
    if (wait.takes) credits[i].amount -= taken;
  }
  while (!credits.empty() && credits.front().amount <= 0) credits.pop_front();
}

void ScheduleRecorder::AcquireQueued(AgentId agent, std::int64_t op) {
  std::vector<Release>& phases = queued_[agent.value];
  std::vector<Release> left;
  for (Release& phase : phases) {
    if (Knows(agent, phase.epoch)) {
      Connect(phase.op, op, EdgeKind::kSync);
    } else {
      left.push_back(std::move(phase));
    }
  }
  phases = std::move(left);
}

Recording ScheduleRecorder::Take() {
  recording_.ops.assign(std::make_move_iterator(ops_.begin()), std::make_move_iterator(ops_.end()));
  recording_.forgotten = forgotten_;
  return std::move(recording_);
}

}  // namespace palladion::schedule
