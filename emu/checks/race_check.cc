#include "emu/checks/race_check.h"

#include <algorithm>
#include <utility>

#include "emu/checks/clock_races.h"
#include "emu/checks/lane_races.h"
#include "emu/launch/equal_writes.h"
#include "emu/launch/grid_checks.h"

namespace palladion::checks {
namespace {

using Looks = launch::GridChecks::Looks;

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

// Says which races of writes are of equal values, and leaves out what the reads of the writers themselves add to them;
// they are as the check of clocks found them. Values are compared in a
// run of their own: where it fails, the races stay what they are.
absl::Status NameEqualWrites(const Program& program, const launch::ScheduledOptions& options,
                             const RaceCheck::Rerun& rerun, std::vector<Finding>& found) {
  if (!rerun || std::none_of(found.begin(), found.end(), launch::IsWriteWrite)) return absl::OkStatus();
  launch::EqualWrites equal(program);
  launch::ScheduledOptions again = options;
  again.launch = equal.Again(options.launch);
  again.races = false;
  if (const absl::Status status = rerun(again); !status.ok()) return status;
  for (Finding& finding : found) {
    if (launch::IsWriteWrite(finding) && equal.Of(finding)) launch::SayEqual(finding, "; ");
  }
  std::vector<Finding> told;
  for (const Finding& finding : found) {
    if (!equal.IsOfWrites(finding, found)) told.push_back(finding);
  }
  found = std::move(told);
  return absl::OkStatus();
}

class RacesInOrder final : public RaceCheck {
 public:
  RacesInOrder(const agents::PreparedKernelState& kernel, absl::Span<const ConstArray> inputs,
               const RaceCheckOptions& options)
      : checks_(kernel, inputs, {options.judges ? Looks::kAll : Looks::kRevisits}),
        program_(kernel.program()),
        judges_(options.judges),
        watches_(options.judges || !options.backwards) {}

  void Attach(launch::ScheduledOptions& options) override {
    if (watches_) checks_.Attach(options.launch), options_ = options;
  }
  std::vector<Finding> FoundBefore(const absl::Status& failed) override {
    if (!judges_) return {};
    checks_.Finish([&](const agents::LaunchOptions&) { return failed; }).IgnoreError();
    return checks_.findings();
  }

  absl::Status Finish(launch::ScheduledResult& result, const Rerun& rerun) override {
    std::vector<Finding>& found = result.launch.findings;
    const bool found_nothing = found.empty();
    absl::Status status;
    if (watches_) {
      const auto once_more = [&](const agents::LaunchOptions& launch) {
        launch::ScheduledOptions again = options_;
        again.launch = launch;
        return rerun(again);
      };
      status = rerun ? checks_.Finish(once_more) : checks_.Finish(nullptr);
      found.insert(found.end(), checks_.findings().begin(), checks_.findings().end());
    }
    const bool alike = judges_ && checks_.order_is_no_matter();
    evidence_.facts.Set(Fact::kExactUpdates, !RoundsAtomically(program_));
    evidence_.facts.Set(Fact::kNoConflict, alike && !result.launch.stuck);
    evidence_.facts.Set(Fact::kOrderedLanes, judges_);
    // docs/checks.md: why the reverse order need not be watched.
    evidence_.every_order_alike = alike && options_.launch.definedness && found_nothing && !UpdatesAtomically(program_);
    if (!judges_) return status;
    for (const CheckTally& tally : checks_.tallies()) evidence_.tallies[tally.name] += tally.times;
    return status;
  }

 private:
  launch::GridChecks checks_;
  const Program& program_;
  const bool judges_, watches_;
  launch::ScheduledOptions options_;
};

class RacesOfPrograms final : public RaceCheck {
 public:
  explicit RacesOfPrograms(const agents::PreparedKernelState& kernel) : program_(kernel.program()), races_(kernel) {}

  void Attach(launch::ScheduledOptions& options) override {
    options_ = options;
    races_.Attach(options.launch);
  }
  std::vector<Finding> FoundBefore(const absl::Status&) override { return InTermsOfTheTarget(races_.Found()); }

  absl::Status Finish(launch::ScheduledResult& result, const Rerun& rerun) override {
    std::vector<Finding> races = races_.Found();
    const absl::Status status = NameEqualWrites(program_, options_, rerun, races);
    for (Finding& finding : InTermsOfTheTarget(std::move(races))) result.launch.findings.push_back(std::move(finding));
    evidence_.tallies["races between programs"] = races_.accesses();
    evidence_.facts.Set(Fact::kNoConflict, true);
    evidence_.facts.Set(Fact::kOrderedLanes, true);
    return status;
  }

 private:
  std::vector<Finding> InTermsOfTheTarget(std::vector<Finding> findings) const {
    for (Finding& finding : findings) races_.SayInTermsOfTheTarget(finding);
    return findings;
  }

  const Program& program_;
  ClockRaces races_;
  launch::ScheduledOptions options_;  // as they were given
};

class RacesOfThreads final : public RaceCheck {
 public:
  RacesOfThreads(const Program& program, bool judges) : program_(program), judges_(judges) {}

  void Attach(launch::ScheduledOptions& options) override { options.races = judges_, options_ = options; }

  absl::Status Finish(launch::ScheduledResult& result, const Rerun& rerun) override {
    std::vector<Finding>& found = result.launch.findings;
    const absl::Status status = NameEqualWrites(program_, options_, rerun, found);
    evidence_.facts.Set(Fact::kNoConflict, judges_);
    evidence_.facts.Set(Fact::kOrderedLanes, judges_);
    const bool left = LeavesArrivalsOfPeers(program_, found);
    evidence_.facts.Set(Fact::kOrderedArrivals, judges_ && !result.arrivals_race && !left);
    evidence_.facts.Set(Fact::kDeterminateWaits, judges_ && result.racing_wait.empty());
    if (judges_) evidence_.why.racing_wait = result.racing_wait;
    if (judges_) evidence_.tallies["races between threads"] = result.launch.accesses;
    return status;
  }

 private:
  const Program& program_;
  const bool judges_;
  launch::ScheduledOptions options_;
};

// What a TPU's core does to blocks, beside whatever looks for races where programs do not run one after another.
class WithBlocks final : public RaceCheck {
 public:
  // `races` may be nullptr: none are asked for.
  WithBlocks(std::unique_ptr<RaceCheck> races, const agents::PreparedKernelState& kernel,
             absl::Span<const ConstArray> inputs, const launch::GridChecks::Options& options)
      : races_(std::move(races)), blocks_(kernel, inputs, options) {}

  void Attach(launch::ScheduledOptions& options) override {
    options_ = options;
    if (races_ != nullptr) races_->Attach(options);
    blocks_.Attach(options.launch);
  }

  std::vector<Finding> FoundBefore(const absl::Status& failed) override {
    std::vector<Finding> found = races_ == nullptr ? std::vector<Finding>() : races_->FoundBefore(failed);
    blocks_.Finish(nullptr).IgnoreError();
    found.insert(found.end(), blocks_.findings().begin(), blocks_.findings().end());
    return found;
  }

  absl::Status Finish(launch::ScheduledResult& result, const Rerun& rerun) override {
    absl::Status status;
    if (races_ != nullptr) {
      status = races_->Finish(result, rerun);
      evidence_ = races_->evidence();
    }
    const auto once_more = [&](const agents::LaunchOptions& launch) {
      launch::ScheduledOptions again = options_;
      again.launch = launch;
      return rerun(again);
    };
    const absl::Status looked = rerun ? blocks_.Finish(once_more) : blocks_.Finish(nullptr);
    std::vector<Finding>& found = result.launch.findings;
    found.insert(found.end(), blocks_.findings().begin(), blocks_.findings().end());
    if (races_ != nullptr && blocks_.looks_at_blocks()) evidence_.tallies["block residency"] += blocks_.block_copies();
    return status.ok() ? looked : status;
  }

 private:
  std::unique_ptr<RaceCheck> races_;
  launch::GridChecks blocks_;
  launch::ScheduledOptions options_;  // as they were given
};

// Beside the races of agents, those of the lanes of one.
class RacesAndLanes final : public RaceCheck {
 public:
  RacesAndLanes(std::unique_ptr<RaceCheck> agents, const agents::PreparedKernelState& kernel, launch::Way way)
      : agents_(std::move(agents)), lanes_(kernel, way) {}

  void Attach(launch::ScheduledOptions& options) override {
    agents_->Attach(options);
    options.launch.observers.push_back(&lanes_);
  }
  std::vector<Finding> FoundBefore(const absl::Status& failed) override {
    return WithLanes(agents_->FoundBefore(failed));
  }

  absl::Status Finish(launch::ScheduledResult& result, const Rerun& rerun) override {
    const absl::Status status = agents_->Finish(result, rerun);
    evidence_ = agents_->evidence();
    evidence_.facts.Set(Fact::kOrderedLanes, lanes_.unseen().empty() && lanes_.Found().empty());
    if (lanes_.Found().empty()) evidence_.why.unseen_lanes = lanes_.unseen();
    result.launch.findings = WithLanes(std::move(result.launch.findings));
    return status;
  }

 private:
  std::vector<Finding> WithLanes(std::vector<Finding> findings) const {
    for (Finding& finding : lanes_.Found()) findings.push_back(std::move(finding));
    return findings;
  }

  const std::unique_ptr<RaceCheck> agents_;
  LaneRaces lanes_;
};

// Races are one thing for each way of running; what is looked for in blocks is the same for all.
std::unique_ptr<RaceCheck> RacesOfAgents(const agents::PreparedKernelState& kernel, absl::Span<const ConstArray> inputs,
                                         const RaceCheckOptions& options) {
  const Program& program = kernel.program();
  std::unique_ptr<RaceCheck> races;
  switch (options.way) {
    case launch::Way::kInOrder:
      return std::make_unique<RacesInOrder>(kernel, inputs, options);
    case launch::Way::kThreads:
      races = std::make_unique<RacesOfThreads>(program, options.judges);
      break;
    case launch::Way::kPrograms:
      if (options.judges) races = std::make_unique<RacesOfPrograms>(kernel);
      break;
  }
  if (races != nullptr && program.target.backend != TargetBackend::kMosaicTpu) return races;
  const Looks looks = options.judges ? Looks::kBlocks : Looks::kRevisits;
  return std::make_unique<WithBlocks>(std::move(races), kernel, inputs,
                                      launch::GridChecks::Options{looks, /*take_turns=*/true});
}

}  // namespace

std::unique_ptr<RaceCheck> MakeRaceCheckOfThreads(const Program& program, bool judges) {
  return std::make_unique<RacesOfThreads>(program, judges);
}

std::unique_ptr<RaceCheck> MakeRaceCheck(const agents::PreparedKernelState& kernel, absl::Span<const ConstArray> inputs,
                                         const RaceCheckOptions& options) {
  std::unique_ptr<RaceCheck> races = RacesOfAgents(kernel, inputs, options);
  if (!options.judges || !options.values || !LaneRaces::Looks(kernel)) return races;
  return std::make_unique<RacesAndLanes>(std::move(races), kernel, options.way);
}

}  // namespace palladion::checks
