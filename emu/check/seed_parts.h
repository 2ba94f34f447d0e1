// A check whose seeds ran in parts on several machines (docs/guides/sweeps.md): which seeds have to run again where the
// report is made, and which results count without. Based on two facts: a check's knowledge only grows with its seeds,
// so a seed that adds nothing to its own part adds nothing to the whole; and counts are sums. It does not verify that a
// machine counted correctly: a part is trusted.
#ifndef PALLADION_EMU_CHECK_SEED_PARTS_H_
#define PALLADION_EMU_CHECK_SEED_PARTS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "emu/check.h"
#include "emu/check/trial_runner.h"
#include "scheduler/policies/pct_bound.h"

namespace palladion::check {

// CheckPart::made_for of a check.
std::string MadeFor(const TrialRunner& runner, const CheckOptions& options);

// InvalidArgument: the part has no seeds, or some that the check does not have.
absl::Status ExpectSeeds(const CheckPart& part, const CheckOptions& options);

// Of the options' parts; InvalidArgument, too, where one is of another check or has seeds of a second.
absl::Status ExpectParts(const CheckOptions& options, const TrialRunner& runner);

// The seeds that run here, in their order.
class SeedPlan {
 public:
  // The seeds of `part`, where there is one; else the seeds of the options' parts that added something, or all.
  SeedPlan(const CheckOptions& options, const CheckPart* part);

  std::int64_t size() const { return size_; }
  std::int64_t operator[](std::int64_t i) const {
    return listed_.empty() ? first_ + i : listed_[static_cast<std::size_t>(i)];
  }

 private:
  std::int64_t first_ = 1, size_;
  std::vector<std::int64_t> listed_;
};

// What ran elsewhere, up to the first part that stopped.
struct PartsTogether {
  std::int64_t schedules = 0;
  std::map<CheckKind, std::int64_t> tallies;
  std::vector<scheduler::SeedRange> ran;
  bool stopped = false, gap = false;  // seeds before the end that no part has
};
PartsTogether Together(const std::vector<CheckPart>& parts, std::int64_t seeds);

}  // namespace palladion::check

#endif  // PALLADION_EMU_CHECK_SEED_PARTS_H_
