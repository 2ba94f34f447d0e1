#include "emu/check/checkers.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "emu/check/clock_races.h"
#include "emu/check/lane_races.h"
#include "emu/run/launch/equal_writes.h"
#include "emu/run/launch/grid_checks.h"
#include "emu/run/launch/interaction.h"
#include "semantics/program/inspections.h"

namespace palladion::check {
namespace {

using agents::ExecutionMode;
using agents::LaunchOptions;
using agents::Ran;
using Looks = launch::GridChecks::Looks;

void Append(std::vector<Finding> more, std::vector<Finding>& findings) {
  findings.insert(findings.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

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
absl::Status NameEqualWrites(const Program& program, const agents::LaunchOptions& options, const Rerun& rerun,
                             std::vector<Finding>& found) {
  if (!rerun || std::none_of(found.begin(), found.end(), launch::IsWriteWrite)) return absl::OkStatus();
  launch::EqualWrites equal(program);
  agents::LaunchOptions again = equal.Again(options);
  again.races = false;
  if (const absl::Status status = rerun(again); !status.ok()) return status;
  for (Finding& finding : found) {
    if (launch::IsWriteWrite(finding) && equal.Of(finding)) launch::SayEqual(finding, "; ");
  }
  std::vector<Finding> kept;
  for (const Finding& finding : found) {
    if (!equal.IsOfWrites(finding, found)) kept.push_back(finding);
  }
  found = std::move(kept);
  return absl::OkStatus();
}

// The memory itself compares every access with the bounds of its array.
class Bounds final : public Checker {
 public:
  explicit Bounds(const CheckedRun&) {}
  absl::Status Finish(Ran& ran, const Rerun&, Looked& looked) override {
    looked.tallies[CheckKind::kBounds] = ran.accesses;
    return absl::OkStatus();
  }
};

class Definedness final : public Checker {
 public:
  explicit Definedness(const CheckedRun&) {}
  void Attach(LaunchOptions& options) override { options.definedness = true; }
  absl::Status Finish(Ran& ran, const Rerun&, Looked& looked) override {
    looked.tallies[CheckKind::kDefinedness] = ran.definedness_checks;
    looked.facts.Set(Fact::kNothingUndefined, !ran.undefined_arrived);
    return absl::OkStatus();
  }
};

// Of programs and cores that nothing orders, the sets of what all of them touch, which hold for every order; of others
// what they find in scratch that is handed on. And what a TPU's core does to blocks.
class RacesOfTasks final : public Checker {
 public:
  explicit RacesOfTasks(const CheckedRun& run)
      : program_(run.program),
        // Where there are engines, the clocks of their machine know the rest of the order.
        judges_(run.races && run.mode != ExecutionMode::kThreads && launch::NothingOrdersTasks(program_)),
        in_order_(run.mode == ExecutionMode::kInOrder),
        watches_(run.races || !run.backwards || !in_order_),
        definedness_(run.definedness),
        counts_blocks_(run.races),
        checks_(*run.kernel, run.inputs, {LooksOf(run), /*take_turns=*/run.mode != ExecutionMode::kInOrder}) {}

  void Attach(LaunchOptions& options) override {
    if (watches_) checks_.Attach(options);
  }
  std::vector<Finding> FoundBefore(const absl::Status&) override {
    checks_.Finish(nullptr).IgnoreError();
    return checks_.findings();
  }

  absl::Status Finish(Ran& ran, const Rerun& rerun, Looked& looked) override {
    const bool found_nothing = ran.findings.empty();
    const absl::Status status = watches_ ? checks_.Finish(rerun) : absl::OkStatus();
    if (watches_) Append(checks_.findings(), ran.findings);
    if (counts_blocks_ && checks_.looks_at_blocks())
      looked.tallies[CheckKind::kBlockResidency] += checks_.block_copies();
    // Whether the kernel has atomic sums of floats is read from its text, whether or not races are looked for.
    if (judges_ || in_order_) looked.facts.Set(Fact::kExactUpdates, !RoundsAtomically(program_));
    if (!judges_) return status;
    const bool alike = checks_.order_is_no_matter();
    looked.facts.Set(Fact::kNoConflict, alike && !ran.stuck());
    // docs/explanation/checks.md: why the reverse order need not be watched.
    looked.every_order_alike = alike && definedness_ && found_nothing && !UpdatesAtomically(program_);
    looked.tallies[CheckKind::kRacesBetweenPrograms] += checks_.accesses();
    return status;
  }

 private:
  static Looks LooksOf(const CheckedRun& run) {
    if (!run.races) return Looks::kRevisits;
    return launch::NothingOrdersTasks(run.program) ? Looks::kAll : Looks::kBlocks;
  }

  const Program& program_;
  const bool judges_, in_order_, watches_, definedness_, counts_blocks_;
  launch::GridChecks checks_;
};

// Of programs that may order each other: vector clocks, fed by their atomics.
class RacesOfPrograms final : public Checker {
 public:
  explicit RacesOfPrograms(const CheckedRun& run) : program_(run.program), races_(*run.kernel, run.inputs) {}

  void Attach(LaunchOptions& options) override {
    options_ = options;
    races_.Attach(options);
  }
  std::vector<Finding> FoundBefore(const absl::Status&) override { return races_.InWords(races_.Found()); }

  absl::Status Finish(Ran& ran, const Rerun& rerun, Looked& looked) override {
    std::vector<Finding> races = races_.Found();
    const absl::Status status = NameEqualWrites(program_, options_, rerun, races);
    Append(races_.InWords(races), ran.findings);
    looked.tallies[CheckKind::kRacesBetweenPrograms] = races_.accesses();
    looked.facts.Set(Fact::kNoConflict, true);
    return status;
  }

 private:
  const Program& program_;
  ClockRaces races_;
  LaunchOptions options_;  // as they were given
};

// Of threads: the clocks of their machine.
class RacesOfThreads final : public Checker {
 public:
  explicit RacesOfThreads(const CheckedRun& run) : program_(run.program) {}

  void Attach(LaunchOptions& options) override { options.races = true, options_ = options; }

  absl::Status Finish(Ran& ran, const Rerun& rerun, Looked& looked) override {
    const absl::Status status = NameEqualWrites(program_, options_, rerun, ran.findings);
    const bool left = LeavesArrivalsOfPeers(program_, ran.findings);
    looked.facts.Set(Fact::kNoConflict, true);
    looked.facts.Set(Fact::kOrderedArrivals, !ran.arrivals_race && !left);
    looked.facts.Set(Fact::kDeterminateWaits, ran.racing_wait.empty());
    looked.why.racing_wait = ran.racing_wait;
    looked.tallies[CheckKind::kRacesBetweenThreads] = ran.accesses;
    return status;
  }

 private:
  const Program& program_;
  LaunchOptions options_;
};

// Of the lanes of one agent. Where it has none, or JAX puts barriers between them, they are ordered.
class Lanes final : public Checker {
 public:
  explicit Lanes(const CheckedRun& run) {
    if (run.kernel != nullptr && run.values && LaneRaces::Looks(*run.kernel)) lanes_.emplace(*run.kernel, run.mode);
  }

  void Attach(LaunchOptions& options) override {
    if (lanes_.has_value()) options.observers.push_back(&*lanes_);
  }
  std::vector<Finding> FoundBefore(const absl::Status&) override {
    return lanes_.has_value() ? lanes_->Found() : std::vector<Finding>();
  }
  absl::Status Finish(Ran& ran, const Rerun&, Looked& looked) override {
    std::vector<Finding> found = FoundBefore(absl::OkStatus());
    looked.facts.Set(Fact::kOrderedLanes, found.empty() && (!lanes_.has_value() || lanes_->unseen().empty()));
    if (found.empty() && lanes_.has_value()) looked.why.unseen_lanes = lanes_->unseen();
    Append(std::move(found), ran.findings);
    return absl::OkStatus();
  }

 private:
  std::optional<LaneRaces> lanes_;
};

// The run loop itself sees where no agent can go on.
class Deadlocks final : public Checker {
 public:
  explicit Deadlocks(const CheckedRun&) {}
  absl::Status Finish(Ran& ran, const Rerun&, Looked& looked) override {
    looked.tallies[CheckKind::kDeadlocks] = ran.run.steps;
    return absl::OkStatus();
  }
};

// What a number does that an operation does not define.
class Values final : public Checker {
 public:
  explicit Values(const CheckedRun& run) : inspections_(run.program) {}

  void Attach(LaunchOptions& options) override { options.contracts = &inspections_; }
  std::vector<Finding> FoundBefore(const absl::Status&) override { return inspections_.Findings(); }
  absl::Status Finish(Ran& ran, const Rerun&, Looked& looked) override {
    looked.tallies[CheckKind::kValues] = inspections_.looks();
    Append(inspections_.Findings(), ran.findings);
    return absl::OkStatus();
  }

 private:
  Inspections inspections_;
};

template <class T>
std::unique_ptr<Checker> Make(const CheckedRun& run) {
  return std::make_unique<T>(run);
}

bool IsTpu(const CheckedRun& run) { return run.program.target.backend == TargetBackend::kMosaicTpu; }

constexpr CheckerRow kCheckers[] = {
    {CheckKind::kBounds,
     "bounds",
     nullptr,
     "accesses outside their arrays; blocks and copies too",
     "every run",
     {},
     [](const CheckedRun& run) { return run.counts; },
     Make<Bounds>},
    {CheckKind::kDefinedness,
     "definedness",
     &CheckOptions::definedness,
     "memory that was never written, or padding, at a branch, an index, a semaphore or an output",
     "every run",
     {Fact::kNothingUndefined},
     [](const CheckedRun& run) { return run.definedness; },
     Make<Definedness>},
    {CheckKind::kRacesBetweenPrograms,
     "races",
     &CheckOptions::races,
     "elements that two unordered programs or cores access, one of them by a write: the sets of elements that each "
     "task accesses; on a TPU also blocks that are visited again, or that stay on a core for its next task (block "
     "residency)",
     "programs and cores that nothing orders, in every execution mode; of other kernels, scratch and blocks that stay "
     "on a core",
     {Fact::kNoConflict, Fact::kExactUpdates},
     [](const CheckedRun& run) { return run.kernel != nullptr && (run.mode != ExecutionMode::kThreads || IsTpu(run)); },
     Make<RacesOfTasks>},
    {CheckKind::kRacesBetweenPrograms,
     "races",
     &CheckOptions::races,
     "conflicting accesses that no chain of atomics orders: vector clocks",
     "programs that atomics may order",
     {Fact::kNoConflict},
     [](const CheckedRun& run) {
       return run.mode == ExecutionMode::kPrograms && run.races && !launch::NothingOrdersTasks(run.program);
     },
     Make<RacesOfPrograms>},
    {CheckKind::kRacesBetweenThreads,
     "races",
     &CheckOptions::races,
     "conflicting accesses, and arrivals at barriers, that nothing orders: vector clocks of threads, cores and "
     "asynchronous operations",
     "threads of GPU blocks, cores of a TPU that have engines",
     {Fact::kNoConflict, Fact::kOrderedArrivals, Fact::kDeterminateWaits},
     [](const CheckedRun& run) { return run.mode == ExecutionMode::kThreads && run.races; },
     Make<RacesOfThreads>},
    {CheckKind::kLanes,
     "races",
     &CheckOptions::races,
     "conflicting accesses by lanes of one program or thread, with no barrier between them",
     "Triton, and threads of Mosaic GPU without automatic barriers; elsewhere an agent has no lanes, or they are "
     "ordered",
     {Fact::kOrderedLanes},
     [](const CheckedRun& run) { return run.races; },
     Make<Lanes>},
    {CheckKind::kDeadlocks,
     "",
     nullptr,
     "waits that no agent can end",
     "every run under a policy",
     {},
     [](const CheckedRun& run) { return run.mode != ExecutionMode::kInOrder; },
     Make<Deadlocks>},
    {CheckKind::kValues,
     "contracts",
     &CheckOptions::contracts,
     "integers divided by zero, shifts by the width or more, numbers that do not fit",
     "every run",
     {},
     [](const CheckedRun& run) { return run.contracts && run.kernel != nullptr; },
     Make<Values>},
};

}  // namespace

absl::Span<const CheckerRow> AllCheckers() { return kCheckers; }

std::vector<std::string> CheckNames() {
  std::vector<std::string> names;
  for (const CheckerRow& row : kCheckers) {
    const bool known = std::find(names.begin(), names.end(), row.option) != names.end();
    if (!row.option.empty() && !known) names.emplace_back(row.option);
  }
  return names;
}

bool* ChoiceOf(std::string_view name, CheckOptions& options) {
  for (const CheckerRow& row : kCheckers) {
    if (row.option == name && row.choice != nullptr) return &(options.*row.choice);
  }
  return nullptr;
}

Checkers Checkers::Of(const CheckedRun& run) {
  Checkers all;
  for (const CheckerRow& row : kCheckers) {
    if (row.applies(run)) all.checkers_.push_back(row.make(run));
  }
  return all;
}

void Checkers::Attach(LaunchOptions& options) {
  for (const auto& checker : checkers_) checker->Attach(options);
}

absl::Status Checkers::Finish(Ran& ran, const Rerun& rerun) {
  absl::Status status;
  for (const auto& checker : checkers_) status.Update(checker->Finish(ran, rerun, looked_));
  return status;
}

std::vector<Finding> Checkers::FoundBefore(const absl::Status& failed) {
  std::vector<Finding> found;
  for (const auto& checker : checkers_) Append(checker->FoundBefore(failed), found);
  return found;
}

}  // namespace palladion::check
