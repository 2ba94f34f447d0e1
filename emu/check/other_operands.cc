#include "emu/check/other_operands.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "emu/kernel/arrays.h"
#include "emu/values.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"

namespace palladion::check {
namespace {

// Which accesses a run makes, in order.
class Path final : public run::Watcher {
 public:
  std::uint64_t value() const { return hash_.value(); }

  memory_model::EventSet wants() const override {
    return {memory_model::EventKind::kTurn, memory_model::EventKind::kAccess};
  }
  void Running(const RunningAgent& now) override { Add(now.index); }

  void Box(const Who&, AccessKind kind, const BoxAccess& access, const memory_model::BoxReach& reach,
           const std::byte*) override {
    Begin(kind, access.buffer, access.site);
    const auto rank = static_cast<std::size_t>(access.rank);
    Add({access.start.data(), rank});
    Add({access.count.data(), rank});
    Add({access.step.data(), rank});
    if (reach.empty || access.mask.lanes == nullptr) return;
    std::size_t lanes = 1;
    for (std::size_t d = 0; d < rank; ++d) lanes *= static_cast<std::size_t>(access.count[d]);
    AddLanes(access.mask, lanes);
  }

  void Points(const Who&, AccessKind kind, const PointAccess& access, const std::byte*) override {
    Begin(kind, access.buffer, access.site);
    Add(access.offset);
    if (access.mask.lanes != nullptr) AddLanes(access.mask, access.offset.size() / access.pieces_per_element);
  }

 private:
  void Begin(AccessKind kind, BufferId buffer, const Site& site) {
    hash_.Add(static_cast<std::uint64_t>(kind)).Add(buffer.index()).Add(static_cast<std::uint64_t>(site.text_line));
  }
  void Add(absl::Span<const std::int64_t> numbers) {
    for (const std::int64_t number : numbers) hash_.Add(static_cast<std::uint64_t>(number));
  }
  void AddLanes(const Mask& mask, std::size_t lanes) {
    hash_.Add({reinterpret_cast<const std::byte*>(mask.lanes), lanes});
  }

  scheduler::ScheduleHash hash_;
};

// With random numbers a loop may not end: what takes much longer than with the user's takes another path.
CheckOptions Bounded(CheckOptions options, const scheduler::RunLengths& lengths) {
  constexpr std::int64_t kTimes = 16, kLeast = 1 << 14, kIterations = std::int64_t{1} << 26;
  options.step_budget = std::min(options.step_budget, kLeast + kTimes * std::max(lengths.steps, lengths.work));
  options.run.loop_budget = std::min(options.run.loop_budget, kIterations);
  options.replay.clear();
  return options;
}

class Search {
 public:
  Search(const Trials& runner, const CheckOptions& options, const scheduler::Schedule& schedule,
         const scheduler::RunLengths& lengths)
      : runner_(runner),
        inputs_(runner.inputs().begin(), runner.inputs().end()),
        options_(Bounded(options, lengths)),
        schedule_(schedule),
        lengths_(lengths) {}

  absl::StatusOr<std::vector<Finding>> Run() {
    PALLADION_RETURN_IF_ERROR(MakeRandom());
    PALLADION_ASSIGN_OR_RETURN(const std::optional<std::uint64_t> path, PathWith(inputs_));
    if (!path.has_value()) return absl::InternalError("cannot happen: the schedule did not end as it did before");
    std::vector<ConstArray> arrays = inputs_;
    for (const auto& [i, tensor] : random_) arrays[i].data = tensor.bytes();
    PALLADION_ASSIGN_OR_RETURN(const bool all, Follows(arrays, *path));
    if (!all) {
      arrays = inputs_;
      for (const auto& [i, tensor] : random_) {
        arrays[i].data = tensor.bytes();
        PALLADION_ASSIGN_OR_RETURN(const bool follows, Follows(arrays, *path));
        if (!follows) arrays[i].data = inputs_[i].data;
      }
    }
    PALLADION_ASSIGN_OR_RETURN(const std::unique_ptr<Trials> runner, runner_.With(arrays, options_));
    PALLADION_ASSIGN_OR_RETURN(Trial trial, runner->Run(schedule_, Watch::kEverything, lengths_));
    PALLADION_RETURN_IF_ERROR(trial.trouble);
    return std::move(trial.findings);
  }

 private:
  absl::Status MakeRandom() {
    for (const std::size_t i : runner_.InputsOfNumbers()) {
      const ConstArray& array = inputs_[i];
      const std::string text =
          IsFloat(array.dtype) ? Cat("random(seed=", i + 1, ", lo=-2, hi=2)") : Cat("random_bits(", i + 1, ")");
      PALLADION_ASSIGN_OR_RETURN(Tensor tensor, TensorFromText(array.dtype, array.shape, text));
      random_.emplace_back(i, std::move(tensor));
    }
    return absl::OkStatus();
  }

  // Nothing: it does not come to its end.
  absl::StatusOr<std::optional<std::uint64_t>> PathWith(absl::Span<const ConstArray> arrays) const {
    PALLADION_ASSIGN_OR_RETURN(const std::unique_ptr<Trials> runner, runner_.With(arrays, options_));
    Path path;
    const agents::LaunchOptions watched{.observers = {&path}};
    const absl::StatusOr<Trial> trial = runner->Run(schedule_, Watch::kOutputs, lengths_, &watched);
    if (!trial.ok() || !trial->trouble.ok() || trial->run.outcome != scheduler::Outcome::kFinished)
      return std::optional<std::uint64_t>();
    return std::optional<std::uint64_t>(path.value());
  }

  absl::StatusOr<bool> Follows(absl::Span<const ConstArray> arrays, std::uint64_t path) const {
    PALLADION_ASSIGN_OR_RETURN(const std::optional<std::uint64_t> taken, PathWith(arrays));
    return taken == path;
  }

  const Trials& runner_;
  const std::vector<ConstArray> inputs_;
  const CheckOptions options_;
  const scheduler::Schedule& schedule_;
  const scheduler::RunLengths& lengths_;
  std::vector<std::pair<std::size_t, Tensor>> random_;  // by input
};

void BecomesARace(const Trials& runner, std::string_view added, Finding& finding) {
  const bool defect = runner.races_are_defects();
  finding.code = defect ? FindingCode::kRaceWriteWrite : FindingCode::kGridOrder;
  finding.severity = RowOf(finding.code).severity;
  finding.confidence = Confidence::kPredicted;
  finding.message += added;
}

// Is it harmless only because of the bytes that these operands bring about?
bool RestsOnEqualBytes(const Finding& finding) {
  const bool of_flush = finding.code == FindingCode::kAlias || finding.code == FindingCode::kRaceAsync ||
                        finding.code == FindingCode::kRaceReadWrite;
  return finding.code == FindingCode::kSameValue ||
         (of_flush && finding.severity == Severity::kNote && finding.confidence != Confidence::kPolicyDependent);
}

void CouldNotBeTried(const Trials& runner, const absl::Status& why, Finding& finding) {
  Append(&finding.why, "; other operands could not be tried: ", ToStd(why.message()));
  if (finding.code != FindingCode::kSameValue) return;  // it denies a proof as it is
  BecomesARace(runner, "; these operands may hide it: with them every write stores the same bytes", finding);
}

// The same finding of a run with other operands, where it is the defect.
bool IsShownBy(const Finding& other, const Finding& finding) {
  if (finding.code == FindingCode::kSameValue) return SameButForTheValue(other, finding);
  return other.severity == Severity::kDefect && SameFinding(other, finding);
}

void BecomesTheDefect(const Trials& runner, const Finding& shown, Finding& finding) {
  finding.message = shown.message;
  if (finding.code == FindingCode::kSameValue)
    return BecomesARace(runner, "; these operands hide it: with them every write stores the same bytes", finding);
  finding.severity = shown.severity;
  finding.confidence = Confidence::kPredicted;
  finding.message += "; these operands hide it: with them the block that goes back changes no byte that is read";
}

}  // namespace

void ChallengeEqualValues(const Trials& runner, const CheckOptions& options, const scheduler::RunLengths& lengths,
                          CheckLog& log) {
  std::map<std::string, absl::StatusOr<std::vector<Finding>>> answers;  // by schedule
  for (std::size_t i = 0; i < log.size(); ++i) {
    Finding& finding = log.finding(i);
    const std::optional<scheduler::Schedule>& schedule = log.shown(i).schedule;
    if (!RestsOnEqualBytes(finding) || !schedule.has_value()) continue;
    const auto [at, is_new] = answers.try_emplace(runner.NameOf(*schedule), absl::UnknownError(""));
    if (is_new) at->second = Search(runner, options, *schedule, lengths).Run();
    if (!at->second.ok()) {
      CouldNotBeTried(runner, at->second.status(), finding);
      continue;
    }
    const auto shown = std::find_if(at->second->begin(), at->second->end(),
                                    [&](const Finding& other) { return IsShownBy(other, finding); });
    if (shown != at->second->end()) BecomesTheDefect(runner, *shown, finding);
  }
}

}  // namespace palladion::check
