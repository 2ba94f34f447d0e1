#include "emu/checks/race_check.h"

#include <algorithm>
#include <utility>

#include "emu/checks/clock_races.h"
#include "emu/launch/grid_checks.h"

namespace palladion {
namespace {

bool UpdatesAtomically(const Program& program) {
  return std::any_of(program.steps.begin(), program.steps.end(),
                     [](const Step& step) { return step.atomic != AtomicStep::kNone; });
}

// Sums of floats depend on the order of their terms.
bool RoundsAtomically(const Program& program) {
  return std::any_of(program.steps.begin(), program.steps.end(), [&](const Step& step) {
    return step.atomic != AtomicStep::kNone && step.ref.valid() && IsFloat(program.refs[step.ref.index()].dtype);
  });
}

// Another block of the cluster may have arrived at a barrier that its own block did not wait for: in another schedule
// that block has ended by then. On the safe side: not every arrival at such a barrier is a peer's.
bool LeavesArrivalsOfPeers(const Program& program, absl::Span<const Finding> findings) {
  if (!program.mesh.has_value() || program.mesh->cluster_dims == 0) return false;
  return std::any_of(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.code == FindingCode::kBarrierUnawaited || finding.code == FindingCode::kBarrierPending;
  });
}

// A check that watches a LaunchOptions and has findings of its own.
template <class Checks>
class Watching : public RaceCheck {
 public:
  template <class... Args>
  explicit Watching(const Args&... args) : checks_(args...) {}

  void Attach(ScheduledOptions& options) override { checks_.Attach(options.launch), options_ = options; }
  std::vector<Finding> FoundBefore(const absl::Status& failed) override {
    checks_.Finish([&](const LaunchOptions&) { return failed; }).IgnoreError();
    return checks_.findings();
  }

 protected:
  absl::Status FinishInto(std::vector<Finding>& found, const RaceCheck::Rerun& rerun) {
    const absl::Status status = checks_.Finish([&](const LaunchOptions& launch) {
      ScheduledOptions again = options_;
      again.launch = launch;
      return rerun(again);
    });
    found.insert(found.end(), checks_.findings().begin(), checks_.findings().end());
    return status;
  }

  Checks checks_;
  ScheduledOptions options_;
};

class RacesInOrder final : public Watching<GridChecks> {
 public:
  RacesInOrder(const PreparedKernelState& kernel, absl::Span<const ConstArray> inputs, const RaceCheckOptions& options)
      : Watching(kernel, inputs, options.judges ? GridChecks::Looks::kAll : GridChecks::Looks::kRevisits),
        program_(kernel.program()),
        judges_(options.judges),
        watches_(options.judges || !options.backwards) {}

  void Attach(ScheduledOptions& options) override {
    if (watches_) Watching::Attach(options);
  }
  std::vector<Finding> FoundBefore(const absl::Status& failed) override {
    return judges_ ? Watching::FoundBefore(failed) : std::vector<Finding>();
  }

  absl::Status Finish(ScheduledResult& result, const Rerun& rerun) override {
    const bool found_nothing = result.launch.findings.empty();
    absl::Status status;
    if (watches_) status = FinishInto(result.launch.findings, rerun);
    const bool alike = judges_ && checks_.order_is_no_matter();
    evidence_.facts.Set(Fact::kExactUpdates, !RoundsAtomically(program_));
    evidence_.facts.Set(Fact::kNoConflict, alike && !result.launch.stuck);
    // docs/checks.md: why the reverse order need not be watched.
    evidence_.every_order_alike = alike && options_.launch.definedness && found_nothing && !UpdatesAtomically(program_);
    if (!judges_) return status;
    for (const CheckTally& tally : checks_.tallies()) evidence_.tallies[tally.name] += tally.times;
    return status;
  }

 private:
  const Program& program_;
  const bool judges_, watches_;
};

class RacesOfPrograms final : public Watching<ClockRaces> {
 public:
  using Watching::Watching;

  absl::Status Finish(ScheduledResult& result, const Rerun& rerun) override {
    const absl::Status status = FinishInto(result.launch.findings, rerun);
    evidence_.tallies["races between programs"] = checks_.accesses();
    evidence_.facts.Set(Fact::kNoConflict, true);
    return status;
  }
};

class RacesOfThreads final : public RaceCheck {
 public:
  RacesOfThreads(const Program& program, bool judges) : program_(program), judges_(judges) {}

  void Attach(ScheduledOptions& options) override { options.races = judges_, options_ = options; }

  absl::Status Finish(ScheduledResult& result, const Rerun& rerun) override {
    std::vector<Finding>& found = result.launch.findings;
    const absl::Status status =
        std::any_of(found.begin(), found.end(), BothWrite) ? NameEqualWrites(found, rerun) : absl::OkStatus();
    evidence_.facts.Set(Fact::kNoConflict, judges_);
    const bool left = LeavesArrivalsOfPeers(program_, found);
    evidence_.facts.Set(Fact::kOrderedArrivals, judges_ && !result.arrivals_race && !left);
    if (judges_) evidence_.tallies["races between threads"] = result.launch.accesses;
    return status;
  }

 private:
  static bool BothWrite(const Finding& finding) { return finding.code == FindingCode::kRaceWriteWrite; }

  // As in races.md#findings. Values are compared in a run of their own, which only a kernel with such races pays for;
  // where it fails, the races stay what they are.
  absl::Status NameEqualWrites(std::vector<Finding>& found, const Rerun& rerun) const {
    const LaunchOptions& launch = options_.launch;
    ScheduledOptions again = options_;
    // What is undefined is equal to nothing.
    again.launch = {.run = launch.run,
                    .order = launch.order,
                    .tasks_apart = launch.tasks_apart,
                    .definedness = true,
                    .fill = launch.fill};
    again.races = false;
    std::vector<std::string> one_value;
    again.one_value = &one_value;
    if (const absl::Status status = rerun(again); !status.ok()) return status;
    for (Finding& finding : found) {
      if (!BothWrite(finding) || std::count(one_value.begin(), one_value.end(), finding.second->object) == 0) continue;
      finding.code = FindingCode::kSameValue;
      finding.severity = RowOf(finding.code).severity;
      finding.message += "; every write stores the same bytes";
    }
    return absl::OkStatus();
  }

  const Program& program_;
  const bool judges_;
  ScheduledOptions options_;
};

class NoRaceCheck final : public RaceCheck {
 public:
  absl::Status Finish(ScheduledResult&, const Rerun&) override { return absl::OkStatus(); }
};

}  // namespace

std::unique_ptr<RaceCheck> MakeRaceCheck(const PreparedKernelState& kernel, absl::Span<const ConstArray> inputs,
                                         const RaceCheckOptions& options) {
  switch (options.agents) {
    case AgentKind::kInOrder:
      return std::make_unique<RacesInOrder>(kernel, inputs, options);
    case AgentKind::kThreads:
      return std::make_unique<RacesOfThreads>(kernel.program(), options.judges);
    case AgentKind::kPrograms:
      break;
  }
  if (!options.judges) return std::make_unique<NoRaceCheck>();
  return std::make_unique<RacesOfPrograms>(kernel);
}

}  // namespace palladion
