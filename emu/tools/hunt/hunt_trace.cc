#include "emu/tools/hunt/hunt_trace.h"

#include <algorithm>
#include <vector>

#include "semantics/base/cat.h"

namespace palladion::hunt {

TraceRecorder::TraceRecorder(const Written& written, const HuntKernel& kernel)
    : threads_(static_cast<std::int64_t>(kernel.agents.size()) / kernel.blocks),
      devices_(kernel.family == Family::kTpu && kernel.cores == Cores::kDevices ? kernel.blocks : 1) {
  for (std::size_t agent = 0; agent < written.code.size(); ++agent) {
    for (const Instr& instr : written.code[agent]) {
      if (kernel.family == Family::kTpu || HasWarps(kernel)) agents_[instr.line] = static_cast<int>(agent);
      if (instr.what == What::kIf || instr.what >= What::kFork) continue;
      lines_.insert(instr.line);
      const bool tensor = instr.what == What::kProduct || instr.what == What::kTensorCopy;
      const bool copy = instr.what == What::kCopyIn || instr.what == What::kCopyOut || instr.what == What::kDma ||
                        instr.what == What::kMulticast;
      if (tensor || copy || instr.what == What::kTensorStore) copies_.insert(instr.line);
    }
  }
}

void TraceRecorder::Attach(agents::LaunchOptions& launch) { launch.observers.push_back(this); }

void TraceRecorder::Add(absl::Span<const std::int64_t> index, int line, bool half) {
  if (bound_ > devices_) return;
  if (const auto at = agents_.find(line); at != agents_.end()) return events_.push_back({at->second, line, half});
  const std::int64_t agent = index.size() == 2 ? index[0] * threads_ + index[1] : index.empty() ? 0 : index[0];
  events_.push_back({static_cast<int>(agent), line, half});
}

void TraceRecorder::After(const Step& step, Frame& frame) {
  if (step.visible && lines_.count(step.text_line) > 0) Add(frame.grid_index(), step.text_line, false);
}

void TraceRecorder::Issued(const Who& who, const AsyncRequest& request) {
  if (copies_.count(request.site.text_line) > 0 && !request.destinations.empty())
    in_flight_[who.operation] = {request.program, request.site.text_line};
}

void TraceRecorder::HalfDone(const Who& who) {
  const auto at = in_flight_.find(who.operation);
  if (at == in_flight_.end()) return;
  Add(at->second.program, at->second.line, true);
  if (who.half == Half::kWrite) in_flight_.erase(at);
}

namespace {

// Entering a scope is not traced: a thread that acts there has met the others.
void Meet(int agent, ReferenceMachine* machine) {
  const auto at = [&](int who, What what) {
    const Instr* next = machine->Next(who);
    return next != nullptr && next->what == what;
  };
  if (!at(agent, What::kMeet) && !at(agent, What::kEnter)) return;
  for (int i = 0; i < machine->agents(); ++i) {
    if (at(i, What::kMeet)) machine->Do({i, -1});
  }
  if (machine->CanGo(agent)) machine->Do({agent, -1});
}

// Nor is it said when warps begin and have ended: a thread that goes on has done so.
void MeetWarps(int agent, ReferenceMachine* machine) {
  const auto pass = [&](int thread, What what) {
    const Instr* next = machine->Next(thread);
    if (next == nullptr || next->what != what || !machine->CanGo(thread)) return;
    machine->Do({thread, -1});
  };
  pass(machine->thread_of(agent), What::kFork);
  pass(agent, What::kJoin);
}

// The commits of a block that can complete now at a barrier, -1: at any, in the order in which they were issued.
std::vector<Choice> ReadyCommits(const ReferenceMachine& machine, int agent, int object) {
  std::vector<Choice> ready;
  for (const Choice& choice : machine.Choices()) {
    if (choice.copy < 0) continue;
    const Copy& copy = machine.copies()[static_cast<std::size_t>(choice.copy)];
    const bool there = machine.SameBlock(copy.issuer, agent) && (object < 0 || copy.op->object == object);
    if (copy.what == What::kTensorCommit && there) ready.push_back(choice);
  }
  return ready;
}

// May an arrival of the event's, or its test, have come before or after that of a commit?
bool IsUnknown(const ReferenceMachine& machine, int agent, What what, int object) {
  const bool asks = what == What::kArrive || what == What::kTest || what == What::kCopyIn;
  return asks && !ReadyCommits(machine, agent, object).empty();
}

// A copy of several blocks together is written to all of them at once.
void FollowMulticast(const Copy& first, ReferenceMachine* machine) {
  const Copy one = first;
  for (bool more = true; more;) {
    more = false;
    for (const Choice& choice : machine->Choices()) {
      if (choice.copy < 0) continue;
      const Copy& copy = machine->copies()[static_cast<std::size_t>(choice.copy)];
      if (copy.what != What::kMulticast || copy.issuer != one.issuer || copy.sequence != one.sequence ||
          copy.halves != one.halves)
        continue;
      machine->Do(choice);
      more = true;
      break;
    }
  }
}

std::string FollowHalf(const Event& event, ReferenceMachine* machine) {
  for (const Choice& choice : machine->Choices()) {
    if (choice.copy < 0) continue;
    const Copy& copy = machine->copies()[static_cast<std::size_t>(choice.copy)];
    if (copy.issuer != event.agent || copy.line != event.line || copy.what == What::kTensorCommit) continue;
    if (copy.halves == 1 && IsUnknown(*machine, event.agent, copy.what, copy.op->object)) return kUnknown;
    if (copy.what == What::kMulticast) {
      FollowMulticast(copy, machine);
    } else {
      machine->Do(choice);
    }
    return "";
  }
  return Cat("a half of the copy of line ", event.line, " by agent ", event.agent, " that cannot happen here");
}

// Commits of a thread come one after another: of those that can complete now, one that another one at the barrier is
// behind.
std::vector<Choice> CommitsBefore(const ReferenceMachine& machine, int agent, int object) {
  std::vector<Choice> before;
  for (const Choice& choice : ReadyCommits(machine, agent, -1)) {
    const Copy& first = machine.copies()[static_cast<std::size_t>(choice.copy)];
    const bool awaited = std::any_of(machine.copies().begin(), machine.copies().end(), [&](const Copy& copy) {
      return copy.what == What::kTensorCommit && copy.issuer == first.issuer && copy.number > first.number &&
             copy.op->object == object;
    });
    if (awaited) before.push_back(choice);
  }
  return before;
}

// What a wait needs of commits.
std::string ReportCommits(int agent, ReferenceMachine* machine) {
  while (!machine->CanGo(agent)) {
    const Instr& next = *machine->Next(agent);
    if (next.what != What::kWait) return "";
    std::vector<Choice> ready = ReadyCommits(*machine, agent, next.op->object);
    if (ready.empty()) ready = CommitsBefore(*machine, agent, next.op->object);
    if (ready.empty()) return "";
    if (ready.size() > 1) return kUnknown;
    machine->Do(ready.front());
  }
  return "";
}

std::string FollowStep(const Event& event, ReferenceMachine* machine) {
  Meet(event.agent, machine);
  MeetWarps(event.agent, machine);
  const Instr* next = machine->Next(event.agent);
  if (next == nullptr || next->line != event.line)
    return Cat("agent ", event.agent, " did line ", event.line, ", and the reference machine expects ",
               next == nullptr ? "its end" : Cat("line ", next->line));
  if (next->what == What::kSpin) {
    machine->Look(event.agent);
    return "";
  }
  if (const std::string unknown = ReportCommits(event.agent, machine); !unknown.empty()) return unknown;
  if (next->op != nullptr && IsUnknown(*machine, event.agent, next->what, next->op->object)) return kUnknown;
  if (!machine->CanGo(event.agent))
    return Cat("agent ", event.agent, " went on at line ", event.line, ", where it has to wait");
  machine->Do({event.agent, -1});
  return "";
}

}  // namespace

std::string Follow(const std::vector<Event>& events, ReferenceMachine* machine) {
  for (const Event& event : events) {
    const std::string wrong = event.half ? FollowHalf(event, machine) : FollowStep(event, machine);
    if (machine->lost()) return kUnknown;
    if (!wrong.empty()) return wrong;
  }
  return "";
}

}  // namespace palladion::hunt
