#include "emu/run/launch/launch_findings.h"

#include <algorithm>
#include <vector>

#include "emu/run/agents/spin.h"
#include "semantics/base/cat.h"

namespace palladion::launch {

Finding DeadlockFinding(const AgentsOfLaunch& who, const scheduler::LoopResult& run) {
  const scheduler::Wait& wait = scheduler::FirstToReport(run.deadlock);
  const bool partial = run.deadlock.partial;
  Finding finding{.code = FindingCode::kDeadlock,
                  .severity = RowOf(FindingCode::kDeadlock).severity,
                  .message = Cat(partial ? "some " : "no ", who.kind(),
                                 partial ? "s can never go on: " : " can go on: ", Describe(run.deadlock)),
                  .loc = wait.loc,
                  .text_line = wait.text_line,
                  .fix = who.FixOf(run.deadlock)};
  if (const std::string why = who.WhyNotBegun(); !why.empty()) {
    Append(&finding.message, "; ", why);
    finding.fix = std::string(who.begin_fix());
  }
  return finding;
}

Finding LivelockFinding(const AgentsOfLaunch& who, const scheduler::LoopResult& run, std::string_view budget_name) {
  constexpr std::size_t kShown = 4;
  const AgentsOfLaunch::Unfinished running = who.unfinished(kShown);
  std::string where;
  for (std::size_t i = 0; i < running.first.size() && !running.first[i].words.empty(); ++i)
    Append(&where, i == 0 ? ": " : ", ", running.first[i].words);
  if (running.count > static_cast<std::int64_t>(kShown) && !where.empty()) Append(&where, ", ...");
  Finding finding{
      .code = FindingCode::kLivelock,
      .severity = RowOf(FindingCode::kLivelock).severity,
      .message = Cat("after ", run.steps, " ", who.counted(), " ", running.count, " ", who.kind(), "s have not ended",
                     where, "; ", who.why_endless(), ", or the budget is too small: raise ", budget_name),
      .fix = "bound the loop, or let another agent write what it looks for",
      .confidence = Confidence::kPredicted};
  if (!running.first.empty()) {
    finding.loc = running.first[0].loc;
    finding.text_line = running.first[0].text_line;
  }
  return finding;
}

std::string FixOfSpins(const scheduler::Deadlock& deadlock) {
  const std::vector<scheduler::Wait>& waits = deadlock.waits;
  if (std::all_of(waits.begin(), waits.end(),
                  [](const scheduler::Wait& wait) { return wait.what == agents::kEndlessLoop; }))
    return "let the loop's body change what its condition looks at";
  // What another one wrote last is a lock that it took, perhaps, or a flag that it should have set.
  if (std::any_of(waits.begin(), waits.end(),
                  [](const scheduler::Wait& wait) { return wait.holder.has_value() && wait.holder->valid(); }))
    return "release each lock after it was taken, take several locks in one order everywhere, and write what a loop "
           "waits for from a program that runs at the same time";
  return "write what the loop waits for from a program that runs at the same time";
}

std::string FixOfWaits(const scheduler::Deadlock& deadlock) {
  return deadlock.cycle.size() > 1 ? "let one of them arrive or signal before it waits"
                                   : "arrive or signal once for each wait, or wait once less";
}

}  // namespace palladion::launch
