#include "emu/hunt/hunt_trace.h"

#include "semantics/base/cat.h"

namespace palladion::hunt {

TraceRecorder::TraceRecorder(const Written& written, int blocks)
    : threads_(static_cast<std::int64_t>(written.code.size()) / blocks) {
  for (const std::vector<Instr>& code : written.code) {
    for (const Instr& instr : code) {
      if (instr.what == What::kIf || instr.what >= What::kJump) continue;
      lines_.insert(instr.line);
      if (instr.what == What::kCopyIn || instr.what == What::kCopyOut) copies_.insert(instr.line);
    }
  }
}

void TraceRecorder::Attach(agents::LaunchOptions& launch) { launch.observers.push_back(this); }

void TraceRecorder::Add(absl::Span<const std::int64_t> index, int line, bool half) {
  if (runs_ != 1) return;
  const std::int64_t agent = index.size() == 2 ? index[0] * threads_ + index[1] : index.empty() ? 0 : index[0];
  events_.push_back({static_cast<int>(agent), line, half});
}

void TraceRecorder::After(const Step& step, Frame& frame) {
  if (step.visible && lines_.count(step.text_line) > 0) Add(frame.grid_index, step.text_line, false);
}

void TraceRecorder::Box(AccessKind, const BoxAccess& access, const memory_model::BoxReach&, const std::byte*) {
  if (copies_.count(access.site.text_line) > 0) Add(access.site.program, access.site.text_line, true);
}

namespace {

// Scopes are entered without a word: whoever does something there has met the others.
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

std::string FollowHalf(const Event& event, ReferenceMachine* machine) {
  for (const Choice& choice : machine->Choices()) {
    if (choice.copy < 0) continue;
    const Copy& copy = machine->copies()[static_cast<std::size_t>(choice.copy)];
    if (copy.issuer != event.agent || copy.line != event.line) continue;
    machine->Do(choice);
    return "";
  }
  return Cat("a half of the copy of line ", event.line, " by agent ", event.agent, " that cannot happen here");
}

}  // namespace

std::string Follow(const std::vector<Event>& events, ReferenceMachine* machine) {
  for (const Event& event : events) {
    if (event.half) {
      if (const std::string wrong = FollowHalf(event, machine); !wrong.empty()) return wrong;
      continue;
    }
    Meet(event.agent, machine);
    const Instr* next = machine->Next(event.agent);
    if (next == nullptr || next->line != event.line)
      return Cat("agent ", event.agent, " did line ", event.line, ", and the reference machine expects ",
                 next == nullptr ? "its end" : Cat("line ", next->line));
    if (!machine->CanGo(event.agent))
      return Cat("agent ", event.agent, " went on at line ", event.line, ", where it has to wait");
    machine->Do({event.agent, -1});
  }
  return "";
}

}  // namespace palladion::hunt
