#include "emu/tools/hunt/hunt_oracle.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <set>
#include <utility>

#include "emu/check.h"
#include "emu/check/for_tests.h"
#include "emu/check/trial_runner.h"
#include "emu/kernel/arrays.h"
#include "emu/run/launch/interaction.h"
#include "emu/tools/hunt/hunt_related.h"
#include "emu/tools/hunt/hunt_trace.h"
#include "emu/tools/hunt/reference_explore.h"
#include "emu/tools/hunt/reference_machine.h"
#include "semantics/base/cat.h"

namespace palladion::hunt {
namespace {

const std::set<FindingCode> kRaces = {FindingCode::kRaceWriteWrite, FindingCode::kRaceReadWrite,
                                      FindingCode::kRaceAsync,      FindingCode::kSameValue,
                                      FindingCode::kGridOrder,      FindingCode::kRaceCrossDevice};
// With these a barrier is not what it was: what a wait acquires is unspecified.
const std::set<FindingCode> kBroken = {FindingCode::kBarrierDouble, FindingCode::kBarrierPhaseSkip,
                                       FindingCode::kBarrierBytes, FindingCode::kPeerLifetime,
                                       FindingCode::kCollectiveMismatch};

bool Has(const Report& report, FindingCode code) {
  return std::any_of(report.findings.begin(), report.findings.end(),
                     [&](const ReportedFinding& finding) { return finding.code == code; });
}

Tensor Rows(const HuntKernel& kernel, std::int64_t (*value)(int)) {
  const bool devices = kernel.family == Family::kTpu && kernel.cores == Cores::kDevices && kernel.blocks > 1;
  std::vector<std::int64_t> shape = {kernel.rows, kRowElements};
  if (devices) shape.insert(shape.begin(), kernel.blocks);
  Tensor tensor(DType::kI32, shape);
  const auto numbers = tensor.span<std::int32_t>();
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = static_cast<std::int32_t>(value(static_cast<int>(static_cast<std::int64_t>(i) / kRowElements)));
  return tensor;
}

std::string PairsText(const std::set<LinePair>& pairs) {
  std::string text;
  for (const auto& [first, second] : pairs) Append(&text, " ", first, "-", second);
  return text.empty() ? " none" : text;
}

class Judgement {
 public:
  Judgement(const HuntKernel& kernel, const HuntOptions& options)
      : kernel_(kernel), options_(options), written_(Write(kernel)) {
    result_.text = written_.text;
    inputs_ = InputsOf(kernel);
  }

  HuntResult Take() {
    absl::StatusOr<PreparedKernel> prepared =
        PrepareText(written_.text, {.kernel = "", .target = kernel_.target, .path = ""});
    if (!prepared.ok()) {
      Contradict("refused", prepared.status().ToString());
      return std::move(result_);
    }
    prepared_ = *std::move(prepared);
    reached_ = ExploreFrom(ReferenceMachine(kernel_, written_, options_.mutation), options_.max_states);
    result_.searched = reached_.complete;
    const std::optional<Report> report = RunCheck({.seeds = options_.seeds, .contracts = false, .threads = 1});
    if (!report.has_value()) return std::move(result_);
    report_ = *report;
    result_.verdict = Name(report_.verdict);
    for (const ReportedFinding& finding : report_.findings) {
      if (result_.codes.find(Code(finding.code)) == std::string::npos)
        Append(&result_.codes, result_.codes.empty() ? "" : " ", Code(finding.code));
    }
    CompareWithReference(report_, "seeds");
    if (options_.max_schedules > 0) CompareWithExhaustive();
    if (Proved() && options_.more_seeds > 0) CompareWithMoreSeeds();
    if (!kernel_.pipelined()) CompareTrials();  // what a pipeline does is not in a trace
    if (options_.elided_seeds > 0) CompareWithElided();
    if (options_.part_seeds > 0) CompareWithParts();
    if (options_.related_seeds > 0) CompareWithRelated(kernel_.target, inputs_, options_.related_seeds, &result_);
    return std::move(result_);
  }

 private:
  void Contradict(std::string kind, std::string detail) { result_.Contradict(std::move(kind), std::move(detail)); }

  std::optional<Report> RunCheck(const CheckOptions& options) {
    absl::StatusOr<Report> report = Check(*prepared_, inputs_, options);
    if (report.ok()) return *std::move(report);
    Contradict("error", report.status().ToString());
    return std::nullopt;
  }

  bool Proved() const { return report_.proved || (options_.lie && report_.verdict == Verdict::kClean); }

  std::string OutcomesText() const {
    std::string text;
    int shown = 0;
    for (const std::string& outcome : reached_.outcomes) {
      if (shown++ < 3) Append(&text, " [", outcome, "]");
    }
    return Cat(reached_.outcomes.size(), " outcomes:", text);
  }

  bool Reaches(const std::string& outcome) const { return reached_.outcomes.count(outcome) > 0; }
  std::size_t Values() const {
    return reached_.outcomes.size() - (Reaches("deadlock") ? 1 : 0) - (Reaches("broken") ? 1 : 0) -
           (Reaches("stale") ? 1 : 0) - (Reaches("undefined") ? 1 : 0);
  }

  void CompareWithReference(const Report& report, const std::string& how) {
    if (Has(report, FindingCode::kLivelock)) Contradict("a livelock in a kernel whose loops only wait", how);
    if (!reached_.complete || Has(report, FindingCode::kGridOrder))
      return;  // on generic, another order is no order of the kernel
    const bool counts = !report.findings.empty(), tpu = kernel_.family == Family::kTpu;
    if (how == "seeds" && Proved() && report.verdict != Verdict::kDefect) {
      if (Reaches("deadlock")) Contradict("proved, but an order deadlocks", OutcomesText());
      if (Reaches("broken")) Contradict("proved, but a barrier completes twice", OutcomesText());
      if (Reaches("stale")) Contradict("proved, but a copy has memory of another scope", OutcomesText());
      if (Reaches("undefined")) Contradict("proved, but an order shows undefined data", OutcomesText());
      if (Values() > 1) Contradict("proved, but orders differ", OutcomesText());
      if (tpu && reached_.leaves) Contradict("proved, but an order leaves a semaphore", OutcomesText());
    }
    if (!counts && !Proved() && (Values() > 1 || Reaches("deadlock") || Reaches("undefined"))) result_.missed = true;
    const bool promised = std::none_of(kBroken.begin(), kBroken.end(), [&](FindingCode c) { return Has(report, c); });
    if (Reaches("broken") || !promised) return;  // what comes after is not specified
    if (Has(report, FindingCode::kDeadlock) && !Reaches("deadlock"))
      Contradict("a deadlock that no order has", OutcomesText());
    if (Has(report, FindingCode::kNondeterministic) && Values() < 2 && !Reaches("undefined"))
      Contradict("outputs differ, but no two orders do", OutcomesText());
    const bool undefined = Has(report, FindingCode::kUninitialised) || Has(report, FindingCode::kPaddingLeak);
    if (undefined && !Reaches("undefined") && !Reaches("deadlock"))
      Contradict("undefined data that no order shows", OutcomesText());
  }

  void CompareWithElided() {
    std::atomic<std::int64_t> elided = 0;
    CheckOptions options{.seeds = options_.elided_seeds, .all_seeds = true, .contracts = false, .threads = 1};
    check::ForTests how{.elided = &elided};
    options.for_tests = &how;
    const std::optional<Report> without = RunCheck(options);
    how.elide = false;
    const std::optional<Report> full = RunCheck(options);
    result_.elided = elided;
    if (!without.has_value() || !full.has_value() || ToJson(*without) == ToJson(*full)) return;
    Contradict("schedules without values change the report", Cat(ToJson(*without), " against ", ToJson(*full)));
  }

  // Parts of one, two, four, ... seeds.
  void CompareWithParts() {
    CheckOptions options{.seeds = options_.part_seeds, .all_seeds = true, .contracts = false, .threads = 1};
    const std::optional<Report> whole = RunCheck(options);
    std::vector<CheckPart> parts;
    for (std::int64_t first = 1; first < options.seeds; first *= 2) {
      absl::StatusOr<CheckPart> part =
          CheckSeeds(*prepared_, inputs_, options, first, std::min(2 * first, options.seeds));
      if (!part.ok()) return Contradict("error", part.status().ToString());
      result_.in_parts += part->schedules;
      result_.again += static_cast<std::int64_t>(part->news.size());
      parts.insert(parts.begin(), *std::move(part));
    }
    options.parts = std::move(parts);
    const std::optional<Report> joined = RunCheck(options);
    if (!whole.has_value() || !joined.has_value() || ToJson(*whole) == ToJson(*joined)) return;
    Contradict("a check in parts has another report", Cat(ToJson(*joined), " against ", ToJson(*whole)));
  }

  void CompareWithExhaustive() {
    std::int64_t polls = 0;
    CheckOptions options{.exhaustive = true, .contracts = false, .threads = 1};
    options.interrupted = [&] { return ++polls > options_.max_schedules; };
    const std::optional<Report> all = RunCheck(options);
    if (!all.has_value()) return;
    result_.exhausted = all->argument.rfind("all schedules were run", 0) == 0 && !all->interrupted;
    CompareWithReference(*all, "exhaustive");
    if (Proved() && report_.verdict != Verdict::kDefect && all->verdict != Verdict::kProved &&
        all->verdict != Verdict::kClean)
      Contradict("proved, but the exhaustive search finds a defect", FindingsText(*all));
    if (!result_.exhausted || Has(*all, FindingCode::kPeerLifetime)) return;
    const bool fine = all->verdict == Verdict::kProved || all->verdict == Verdict::kClean;
    if (report_.verdict == Verdict::kClean && !fine) result_.missed = true;
    if (!reached_.complete || Has(*all, FindingCode::kGridOrder)) return;
    if (Reaches("broken")) {
      // Where no order ends, a copy that one block of the two makes alone leaves a deadlock, and that is said.
      if (kernel_.cluster && Values() == 0 && Has(*all, FindingCode::kDeadlock)) return;
      if (std::none_of(kBroken.begin(), kBroken.end(), [&](FindingCode c) { return Has(*all, c); }))
        Contradict("exhaustive, but without the barrier that completes twice", OutcomesText());
      return;
    }
    if (Reaches("deadlock") && !Has(*all, FindingCode::kDeadlock))
      Contradict("exhaustive, but without the deadlock", OutcomesText());
    if (kernel_.pipelined() && !fine) return;  // what a hazard of the pipeline does need not show
    const bool undefined = Has(*all, FindingCode::kUninitialised) || Has(*all, FindingCode::kPaddingLeak) ||
                           Has(*all, FindingCode::kOutMissing);
    if (Reaches("stale") && !Has(*all, FindingCode::kUseAfterScope))
      Contradict("exhaustive, but without the copy that has memory of another scope", OutcomesText());
    if (Reaches("undefined") && !undefined) Contradict("exhaustive, but without the undefined data", OutcomesText());
    // Outputs are compared with those of program order, where that came to an end.
    if (Values() > 1 && !Has(*all, FindingCode::kNondeterministic) && !Has(*all, FindingCode::kDeadlock) && !undefined)
      Contradict("exhaustive, but orders differ", OutcomesText());
  }

  static std::string FindingsText(const Report& report) {
    std::string text;
    for (const ReportedFinding& finding : report.findings)
      Append(&text, Code(finding.code), "@", finding.text_line, ": ", finding.message, "; ");
    return text;
  }

  void CompareWithMoreSeeds() {
    const check::TrialRunner runner =
        check::TrialRunner::Create(*prepared_, arrays_ = kernel::ArraysOf(inputs_), trial_options_);
    std::optional<check::Trial> first;
    for (std::int64_t seed = 0; seed < options_.more_seeds; ++seed) {
      absl::StatusOr<check::Trial> trial = runner.Run(runner.ScheduleOfSeed(seed), check::Watch::kOutputs, lengths_);
      if (!trial.ok()) return Contradict("error", trial.status().ToString());
      if (!first.has_value()) {
        first = *std::move(trial);
        lengths_ = {.steps = std::max<std::int64_t>(1, first->run.steps), .operations = first->run.operations};
        continue;
      }
      if (trial->run.outcome != first->run.outcome) Contradict("proved, but a seed ends otherwise", Cat("seed ", seed));
      for (std::size_t i = 0; i < trial->outputs.size(); ++i) {
        if (!trial->outputs[i].BitwiseEquals(first->outputs[i]))
          Contradict("proved, but a seed gives other outputs", Cat("seed ", seed));
      }
    }
  }

  void CompareTrials() {
    const check::TrialRunner runner =
        check::TrialRunner::Create(*prepared_, arrays_ = kernel::ArraysOf(inputs_), trial_options_);
    for (std::int64_t seed = 0; seed < options_.trials; ++seed) {
      TraceRecorder recorder(written_, kernel_);
      agents::LaunchOptions launch;
      recorder.Attach(launch);
      const absl::StatusOr<check::Trial> trial =
          runner.Run(runner.ScheduleOfSeed(seed), check::Watch::kEverything, lengths_, &launch);
      if (!trial.ok()) return Contradict("error", trial.status().ToString());
      if (!trial->trouble.ok()) return Contradict("error", trial->trouble.ToString());
      if (seed == 0)
        lengths_ = {.steps = std::max<std::int64_t>(1, trial->run.steps), .operations = trial->run.operations};
      CompareTrial(*trial, recorder, Cat("seed ", seed));
    }
  }

  void CompareTrial(const check::Trial& trial, const TraceRecorder& recorder, const std::string& which) {
    ReferenceMachine machine(kernel_, written_);
    const bool acquires = kernel_.family == Family::kPrograms && launch::ProgramsInteract(prepared_->state().program());
    SimpleRaces races(machine.agents(), machine.first_shared_cell(), acquires, options_.mutation,
                      machine.CellsOfTensor());
    machine.ListenWith(&races);
    const bool broken = std::any_of(trial.findings.begin(), trial.findings.end(), [](const Finding& finding) {
      return kBroken.count(finding.code) > 0 || finding.code == FindingCode::kUseAfterScope;
    });
    if (broken) return;
    const std::string wrong = Follow(recorder.events(), &machine);
    // Of a run that is stuck that is said, and not which bytes came too early for a phase that no agent waits for.
    const bool stuck = trial.run.outcome == palladion::scheduler::Outcome::kDeadlock;
    if (wrong == kUnknown || (machine.early() && stuck)) return;
    if (!wrong.empty()) return Contradict("the run is not one of the reference machine", Cat(which, ": ", wrong));
    if (trial.run.outcome == palladion::scheduler::Outcome::kFinished) {
      CompareEnd(trial, machine, which);
    } else if (trial.run.outcome == palladion::scheduler::Outcome::kDeadlock) {
      const Reached rest = ExploreFrom(machine, options_.max_states);
      if (rest.outcomes != std::set<std::string>{"deadlock"} && rest.outcomes.count("broken") == 0)
        Contradict("a deadlock from which there is a way on", Cat(which, ": ", rest.outcomes.size(), " outcomes"));
    }
    CompareRaces(trial, races, which);
  }

  void CompareEnd(const check::Trial& trial, const ReferenceMachine& machine, const std::string& which) {
    if (!machine.Done()) return Contradict("a run that ended is not at its end", which);
    const std::string outcome = machine.Outcome();
    const bool undefined = std::any_of(trial.findings.begin(), trial.findings.end(), [](const Finding& finding) {
      return finding.code == FindingCode::kUninitialised || finding.code == FindingCode::kPaddingLeak ||
             finding.code == FindingCode::kOutMissing;  // copies carry unwritten memory
    });
    if (outcome == "stale") return;
    if (undefined != (outcome == "undefined"))
      return Contradict("one of two finds undefined data", Cat(which, ": the reference machine says ", outcome));
    if (undefined) return;
    const auto sums = trial.outputs[0].span<std::int32_t>(), elements = trial.outputs[1].span<std::int32_t>();
    const std::vector<std::int64_t> cells = machine.CellsOfM(), results = machine.Sums();
    bool same = std::equal(results.begin(), results.end(), sums.begin());
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const std::size_t cell = i / 64 * 2 + (i % 64 == 0 ? 0 : 1);
      same &= elements[i] == cells[cell];
    }
    if (!same) Contradict("outputs that the reference machine does not give", Cat(which, ": ", outcome));
  }

  void CompareRaces(const check::Trial& trial, const SimpleRaces& races, const std::string& which) {
    std::set<LinePair> found, unfenced, plainly_ordered;
    std::set<int> found_later;
    const std::set<int> later = races.LaterLines(SimpleRaces::OwnReads::kIn),
                        needed = races.LaterLines(SimpleRaces::OwnReads::kOut);
    for (const Finding& finding : trial.findings) {
      if (!finding.first.has_value() || !finding.second.has_value()) continue;
      const int a = finding.first->text_line, b = finding.second->text_line;
      if (kRaces.count(finding.code) > 0) {
        found.insert({std::min(a, b), std::max(a, b)});
        // Programs that nothing orders are named in their own order: that one of the two came later is enough.
        found_later.insert(kernel_.family == Family::kPrograms && later.count(a) > 0 ? a : b);
      }
      if (finding.code == FindingCode::kBarrierTensorOrder) plainly_ordered.insert({std::min(a, b), std::max(a, b)});
      if (finding.code == FindingCode::kProxy && finding.first->kind != AccessKind::kRead)
        unfenced.insert({std::min(a, b), std::max(a, b)});
    }
    ++result_.races_compared;
    const std::set<LinePair> expected = races.Races(), expected_unfenced = races.Unfenced();
    if (!expected.empty()) ++result_.racy;
    const std::string both = Cat(which, ": found", PairsText(found), ", expected", PairsText(expected));
    if (found.empty() != expected.empty()) Contradict(found.empty() ? "a race is missed" : "a race that is none", both);
    if (!std::includes(expected.begin(), expected.end(), found.begin(), found.end()))
      Contradict("a race that is none", both);
    const bool each = trial.run.steps > 0;  // else the sweep, which looks at programs as a whole
    std::set<int> named;                    // a pair that meets in both orders is one finding
    for (const LinePair& pair : found) named.insert({pair.first, pair.second});
    if (each && !std::includes(named.begin(), named.end(), needed.begin(), needed.end()))
      Contradict("a line that races is not named", both);
    if (each && !std::includes(later.begin(), later.end(), found_later.begin(), found_later.end()))
      Contradict("a race that is none", both);
    const std::set<LinePair> expected_plain = races.PlainlyOrdered();
    if (expected.empty() && plainly_ordered.empty() != expected_plain.empty())
      Contradict("one of two misses what orders the tensor core",
                 Cat(which, ": found", PairsText(plainly_ordered), ", expected", PairsText(expected_plain)));
    if (expected.empty() && unfenced.empty() != expected_unfenced.empty())
      Contradict("one of two misses a fence",
                 Cat(which, ": found", PairsText(unfenced), ", expected", PairsText(expected_unfenced)));
  }

  const HuntKernel& kernel_;
  const HuntOptions& options_;
  const Written written_;
  std::optional<PreparedKernel> prepared_;
  std::vector<Tensor> inputs_;
  std::vector<ConstArray> arrays_;
  const CheckOptions trial_options_{.contracts = false, .threads = 1};
  Reached reached_;
  Report report_;
  scheduler::RunLengths lengths_;
  HuntResult result_;
};

}  // namespace

std::vector<Tensor> InputsOf(const HuntKernel& kernel) { return {Rows(kernel, InputOfX), Rows(kernel, InputOfM)}; }

HuntResult Judge(const HuntKernel& kernel, const HuntOptions& options) { return Judgement(kernel, options).Take(); }

}  // namespace palladion::hunt
