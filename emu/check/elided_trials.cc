#include "emu/check/elided_trials.h"

#include <utility>

#include "emu/check/for_tests.h"
#include "emu/run/launch/elided_program.h"
#include "emu/run/launch/reads_from.h"

namespace palladion::check {

ElidedTrials::ElidedTrials(const TrialRunner& runner, const CheckOptions& options, const Trial& first,
                           const scheduler::RunLengths& lengths)
    : runner_(runner), options_(options), first_(first), lengths_(lengths) {
  constexpr std::int64_t kLeast = 4;  // fewer schedules do not pay for one more of program order
  const bool random = runner.fill().kind == Fill::Kind::kRandom;  // unwritten memory depends on the schedule
  const bool resumes = options.run.session != nullptr;            // copies of earlier launches have no operation here
  if (!ForTestsOf(options).elide || options.seeds < kLeast || !runner.threads() || random || resumes) return;
  if (!first.trouble.ok() || first.run.outcome != scheduler::Outcome::kFinished || !first.findings.empty()) return;
  kernel_ = launch::ElidedKernel(runner.kernel().state());
  if (kernel_ == nullptr) return;
  const std::optional<Elided> again = Try(first.schedule);
  const bool same = again.has_value() && IsAsFirst(again->trial);
  if (!same) kernel_ = nullptr;
  if (same) signature_ = again->signature;
}

std::optional<ElidedTrials::Elided> ElidedTrials::Try(const scheduler::Schedule& schedule) const {
  launch::ReadsFrom reads(kernel_->program());
  absl::StatusOr<Trial> trial = runner_.RunElided(schedule, lengths_, *kernel_, reads);
  if (!trial.ok() || trial->run.outcome != scheduler::Outcome::kFinished) return std::nullopt;
  return Elided{*std::move(trial), reads.signature()};
}

// Then no finding is of values, here or in a schedule whose values are these.
bool ElidedTrials::IsAsFirst(const Trial& trial) const {
  return trial.run.moves == first_.run.moves && trial.run.work == first_.run.work &&
         trial.programs == first_.programs && trial.accesses == first_.accesses && trial.engines == first_.engines &&
         trial.findings.empty();
}

std::optional<Trial> ElidedTrials::Run(const scheduler::Schedule& schedule) {
  constexpr int kPatience = 4;  // a kernel whose schedules differ: they are not tried for ever
  if (kernel_ == nullptr || failed_ >= kPatience) return std::nullopt;
  std::optional<Elided> elided = Try(schedule);
  const bool as_first = elided.has_value() && elided->signature == signature_ && elided->trial.findings.empty() &&
                        elided->trial.accesses == first_.accesses;
  if (!as_first) {
    ++failed_;
    return std::nullopt;
  }
  if (std::atomic<std::int64_t>* const elided_so_far = ForTestsOf(options_).elided) ++*elided_so_far;
  Trial trial = std::move(elided->trial);
  trial.outputs.clear();
  trial.values_of_first = true;
  trial.facts.Set(Fact::kNothingUndefined, first_.facts.Has(Fact::kNothingUndefined));
  for (const CheckKind kind : {CheckKind::kDefinedness, CheckKind::kValues}) {  // the same looks at the same values
    if (const auto looks = first_.tallies.find(kind); looks != first_.tallies.end()) trial.tallies.insert(*looks);
  }
  return trial;
}

}  // namespace palladion::check
