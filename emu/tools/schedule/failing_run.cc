#include "emu/tools/schedule/failing_run.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "emu/check/trial_runner.h"
#include "emu/kernel/arrays.h"
#include "emu/kernel/float_environment.h"
#include "emu/run/launch/meeting_blocks.h"
#include "emu/tools/schedule/schedule_recorder.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"

namespace palladion::schedule {
namespace {

int LineOf(const std::optional<ReportedAccess>& side) { return side.has_value() ? side->text_line : 0; }

std::string AgentOf(const std::optional<ReportedAccess>& side) { return side.has_value() ? side->agent : ""; }

bool Fits(const ReportedFinding& finding, const WhichFinding& which) {
  const auto fits = [](int wanted, int line) { return wanted == 0 || wanted == line; };
  return (which.code.empty() || which.code == Code(finding.code)) && fits(which.text_line, finding.text_line) &&
         fits(which.first, LineOf(finding.first)) && fits(which.second, LineOf(finding.second));
}

// May it be what follows from another mistake?
bool MayFollow(FindingCode code) {
  return code == FindingCode::kUninitialised || code == FindingCode::kNondeterministic ||
         code == FindingCode::kSemaphoreLeak || code == FindingCode::kNotAwaited || code == FindingCode::kOutMissing ||
         code == FindingCode::kBarrierUnawaited;
}

// The worst that a run shows, and of these rather one that follows from no other; of equal ones the first.
const ReportedFinding* Choose(const Report& report, const WhichFinding& which) {
  const ReportedFinding* chosen = nullptr;
  const auto rank = [&](const ReportedFinding& finding) {
    return std::pair(Counts(finding, report), !MayFollow(finding.code));
  };
  for (const ReportedFinding& finding : report.findings) {
    if (finding.replay.empty() || !Fits(finding, which)) continue;
    if (chosen == nullptr || rank(finding) > rank(*chosen)) chosen = &finding;
  }
  return chosen;
}

absl::Status NothingToDraw(const Report& report, const WhichFinding& which, bool replayed) {
  const std::string wanted = which.code.empty() ? "" : Cat(" ", which.code);
  if (report.findings.empty())
    return absl::NotFoundError(Cat("kernel @", report.kernel, ": nothing was found",
                                   replayed ? " under this schedule" : "",
                                   ", so there is no failing run to draw (verdict: ", Name(report.verdict), ")"));
  const bool any = std::any_of(report.findings.begin(), report.findings.end(),
                               [](const ReportedFinding& finding) { return !finding.replay.empty(); });
  if (any)
    return absl::NotFoundError(Cat("kernel @", report.kernel, ": there is no finding", wanted,
                                   which.text_line > 0 ? Cat(" of line ", which.text_line, " of the kernel text") : "",
                                   "; found: ", Code(report.findings.front().code)));
  return absl::NotFoundError(Cat("kernel @", report.kernel, ": ", Code(report.findings.front().code),
                                 " is known before anything runs, so no schedule shows it"));
}

struct Range {
  std::int64_t first = 0, end = 0;
};

// "[0, 16:32]"; nothing where it is written in another way.
std::optional<std::vector<Range>> RangesOf(std::string_view box) {
  if (box.size() < 2 || box.front() != '[' || box.back() != ']') return std::nullopt;
  std::vector<Range> ranges;
  for (const absl::string_view part : absl::StrSplit(absl::string_view(box.data() + 1, box.size() - 2), ", ")) {
    const std::vector<absl::string_view> numbers = absl::StrSplit(part, ':');
    Range range;
    if (!absl::SimpleAtoi(numbers[0], &range.first)) return std::nullopt;
    range.end = range.first + 1;
    if (numbers.size() > 1 && !absl::SimpleAtoi(numbers[1], &range.end)) return std::nullopt;
    ranges.push_back(range);
  }
  return ranges;
}

// As far as both say which elements they are.
bool MayMeet(std::string_view a, std::string_view b) {
  const auto first = RangesOf(a), second = RangesOf(b);
  if (!first.has_value() || !second.has_value() || first->size() != second->size()) return true;
  for (std::size_t d = 0; d < first->size(); ++d) {
    const Range &one = (*first)[d], &other = (*second)[d];
    if (one.end <= other.first || other.end <= one.first) return false;
  }
  return true;
}

// Does the operation do that to elements that the side is about?
bool Did(const Op& op, const ReportedAccess& side) {
  return std::any_of(op.accesses.begin(), op.accesses.end(), [&](const OpAccess& access) {
    return access.kind == side.kind && access.object == side.object && MayMeet(access.box, side.box);
  });
}

// Where a side of a finding is among the operations of its run.
class Sides {
 public:
  explicit Sides(const Recording& run) : run_(run) {}

  // Nearest to an operation, before it rather than after it; the last of all where that is -1. What is known of the
  // side least certainly (its object, its agent) is given up first.
  std::int64_t Find(const ReportedAccess& side, std::int64_t near, std::int64_t but = -1) const {
    if (side.text_line == 0 && side.kind == AccessKind::kAlloc) return BeginOf(side.agent);
    const bool agent_ran = std::any_of(run_.actors.begin(), run_.actors.end(),
                                       [&](const Actor& actor) { return actor.name == WithoutLane(side.agent); });
    for (const int known : {3, 2, 1, 0}) {
      if (known == 0 && agent_ran) continue;        // no other agent did it
      if (known < 3 && side.text_line == 0) break;  // a copy of a block has no line
      std::int64_t found = -1;
      for (std::int64_t number = run_.forgotten; number < run_.end(); ++number) {
        if (number == but || !Is(run_[number], side, known)) continue;
        if (near >= 0 && number > near && found >= 0) break;
        found = number;
      }
      if (found >= 0) return found;
    }
    return -1;
  }

  // What is there from an agent's beginning has no operation of its own.
  std::int64_t BeginOf(const std::string& agent) const {
    for (std::int64_t number = run_.forgotten; number < run_.end(); ++number) {
      if (run_[number].kind == OpKind::kBegin && run_.actors[run_[number].actor].name == agent) return number;
    }
    return -1;
  }

  std::int64_t OfLine(int text_line) const {
    for (std::int64_t number = run_.end(); number-- > run_.forgotten;) {
      if (run_[number].text_line == text_line) return number;
    }
    return -1;
  }

  bool Is(const Op& op, const ReportedAccess& side, int known) const {
    if (side.text_line != 0 && op.text_line != side.text_line) return false;
    if (known >= 1 && run_.actors[op.actor].name != WithoutLane(side.agent)) return false;
    if (known < 2) return true;
    if (known == 2) return side.object.empty() || op.objects.find(side.object) != std::string::npos;
    return Did(op, side);
  }

 private:
  const Recording& run_;
};

// What was before the run, as the kernel before this one is, has no operation in it: it gets one before all others.
void AddBefore(const std::optional<ReportedAccess>& side, Recording* run) {
  const auto is = [&](const Actor& actor) { return actor.name == WithoutLane(side->agent); };
  if (!side.has_value() || side->text_line != 0 || side->agent.empty() || side->kind == AccessKind::kAlloc) return;
  if (std::any_of(run->actors.begin(), run->actors.end(), is)) return;
  run->actors.push_back({.id = {}, .name = side->agent, .issuer = {}, .operations = 1});
  run->PutFirst({.actor = run->actors.size() - 1,
                 .kind = OpKind::kAccess,
                 .text = Cat(Does(side->kind), " ", side->object, side->box),
                 .objects = side->object,
                 .accesses = {{side->kind, side->object, side->box}}});
}

void FindSides(FailingRun* run, const ScheduleRecorder::Sought& sought) {
  AddBefore(run->finding.first, &run->recording);
  const Sides sides(run->recording);
  std::int64_t came = -1;
  for (const Recording::Found& found : run->recording.found) {
    if (came < 0 && sought.Is(found.finding)) came = found.op;
  }
  const ReportedFinding& finding = run->finding;
  if (finding.second.has_value()) {
    run->second = sides.Find(*finding.second, came);  // an operation is judged when it is issued
  }
  if (finding.first.has_value()) run->first = sides.Find(*finding.first, run->second, run->second);
  for (const auto& [side, found] : {std::pair(finding.first, run->first), std::pair(finding.second, run->second)}) {
    if (found < 0 || run->recording[found].kind != OpKind::kBegin) continue;
    Op& begin = run->recording.ops[static_cast<std::size_t>(found - run->recording.forgotten)];
    begin.text = Cat("begins, and with it ", side->object);
  }
  if (run->first >= 0 || run->second >= 0) return;
  if (!finding.first.has_value() && !finding.second.has_value()) {
    const bool there = run->recording.Has(came) && run->recording[came].text_line == finding.text_line;
    run->second = there ? came : sides.OfLine(finding.text_line);
  }
  if (run->second < 0) run->near = run->recording.Has(came) ? came : run->recording.end() - 1;
}

// What waits for ever comes after all that ran, by agent.
void AddWaits(const scheduler::Deadlock& deadlock, FailingRun* run) {
  Recording& recording = run->recording;
  std::map<std::int32_t, std::int64_t> number_of;
  for (const scheduler::Wait& wait : deadlock.waits) {
    const auto of = std::find_if(recording.actors.begin(), recording.actors.end(),
                                 [&](const Actor& actor) { return actor.name == wait.agent_name; });
    const auto actor = static_cast<std::size_t>(of - recording.actors.begin());
    if (of == recording.actors.end()) recording.actors.push_back({.id = {}, .name = wait.agent_name, .issuer = {}});
    ++recording.actors[actor].operations;
    number_of[wait.agent.value] = recording.end();
    run->waiting.push_back(recording.end());
    recording.ops.push_back({.actor = actor,
                             .kind = OpKind::kWaiting,
                             .text = Cat("waits for ever: ", wait.what),
                             .objects = wait.what,
                             .loc = wait.loc,
                             .text_line = wait.text_line,
                             .blocked = true});
  }
  for (const scheduler::AgentOrdinal agent : deadlock.cycle) {
    if (const auto at = number_of.find(agent.value); at != number_of.end()) run->circle.push_back(at->second);
  }
}

absl::Status Record(const PreparedKernel& kernel, absl::Span<const Tensor> inputs, const CheckOptions& options,
                    FailingRun* run) {
  const kernel::FloatEnvironment environment;
  const std::vector<ConstArray> arrays = kernel::ArraysOf(inputs);
  const check::TrialRunner runner = check::TrialRunner::Create(kernel, arrays, options);
  PALLADION_ASSIGN_OR_RETURN(const scheduler::Schedule schedule, scheduler::ParseSchedule(run->replay));
  PALLADION_RETURN_IF_ERROR(scheduler::ExpectMadeFor(schedule, runner.Origin()));
  // Policies that need it know how long seed 0 is.
  PALLADION_ASSIGN_OR_RETURN(const check::Trial first,
                             runner.Run(runner.ScheduleOfSeed(0), check::Watch::kOutputs, {}));
  const scheduler::RunLengths lengths{
      .steps = std::max<std::int64_t>(1, first.run.steps), .operations = first.run.operations, .work = first.run.work};
  const ScheduleRecorder::Sought sought{.code = run->finding.code,
                                        .text_line = run->finding.text_line,
                                        .first = LineOf(run->finding.first),
                                        .second = LineOf(run->finding.second),
                                        .first_agent = AgentOf(run->finding.first),
                                        .second_agent = AgentOf(run->finding.second)};
  ScheduleRecorder recorder(kernel.state(), sought);
  const agents::LaunchOptions watched{.observers = {&recorder}};
  PALLADION_ASSIGN_OR_RETURN(const check::Trial trial,
                             runner.Run(schedule, check::Watch::kEverything, lengths, &watched));
  run->recording = recorder.Take();
  if (run->finding.code == FindingCode::kDeadlock) AddWaits(trial.run.deadlock, run);
  if (run->waiting.empty()) FindSides(run, sought);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<FailingRun> ReplayFailing(const PreparedKernel& kernel, absl::Span<const Tensor> inputs,
                                         const CheckOptions& options, const WhichFinding& which) {
  PALLADION_ASSIGN_OR_RETURN(const Report report, Check(kernel, inputs, options));
  const ReportedFinding* const finding = Choose(report, which);
  if (finding == nullptr) return NothingToDraw(report, which, !options.replay.empty());
  FailingRun run{.finding = *finding,
                 .kernel = kernel.name(),
                 .target = kernel.target(),
                 .replay = options.replay.empty() ? finding->replay : options.replay,
                 .recording = {}};
  absl::Status recorded = Record(kernel, inputs, options, &run);
  if (launch::HaveMet(recorded)) {  // the copies of its blocks overlap: only its pipeline shows what then happens
    PALLADION_ASSIGN_OR_RETURN(const PreparedKernel pipelined, launch::WithPipeline(kernel));
    recorded = Record(pipelined, inputs, options, &run);
  }
  PALLADION_RETURN_IF_ERROR(recorded);
  return run;
}

}  // namespace palladion::schedule
