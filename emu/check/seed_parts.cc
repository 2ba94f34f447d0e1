#include "emu/check/seed_parts.h"

#include <algorithm>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"

namespace palladion::check {
namespace {

// In the order of their seeds, without those after one that stopped.
std::vector<CheckPart> InOrder(std::vector<CheckPart> parts) {
  std::sort(parts.begin(), parts.end(), [](const CheckPart& a, const CheckPart& b) { return a.first < b.first; });
  const auto stopped = std::find_if(parts.begin(), parts.end(), [](const CheckPart& part) { return part.stopped; });
  if (stopped != parts.end()) parts.erase(stopped + 1, parts.end());
  return parts;
}

std::string_view Legality(LegalityMode mode) {
  return mode == LegalityMode::kOn ? "" : mode == LegalityMode::kOff ? " legality=0" : " legality=2";
}

}  // namespace

std::string MadeFor(const TrialRunner& runner, const CheckOptions& options) {
  return Cat("palladion ", PALLADION_VERSION, " ", runner.NameOf(runner.ScheduleOfSeed(0)), " races=", options.races,
             " definedness=", options.definedness, " contracts=", options.contracts, " seeds=", options.seeds,
             " all=", options.all_seeds, " budget=", options.step_budget, "/", options.run.loop_budget,
             Legality(options.run.legality));
}

absl::Status ExpectSeeds(const CheckPart& part, const CheckOptions& options) {
  if (part.first >= 1 && part.last > part.first && part.last <= options.seeds) return absl::OkStatus();
  return absl::InvalidArgumentError(Cat("a part of this check must have some of the seeds 1 to ", options.seeds - 1,
                                        "; found the seeds ", part.first, " to ", part.last - 1));
}

absl::Status ExpectParts(const CheckOptions& options, const TrialRunner& runner) {
  if (!options.parts.has_value()) return absl::OkStatus();
  const std::string made_for = MadeFor(runner, options);
  std::vector<CheckPart> parts = *options.parts;
  std::sort(parts.begin(), parts.end(), [](const CheckPart& a, const CheckPart& b) { return a.first < b.first; });
  std::int64_t next = 1;
  for (const CheckPart& part : parts) {
    PALLADION_RETURN_IF_ERROR(ExpectSeeds(part, options));
    if (part.made_for != made_for)
      return absl::InvalidArgumentError(Cat("a part of this check must be of '", made_for, "'; found one of '",
                                            part.made_for,
                                            "': run it again for this kernel, target, inputs and options"));
    if (part.first < next)
      return absl::InvalidArgumentError(
          Cat("two parts of a check must have other seeds; found seed ", part.first, " twice"));
    const auto outside = [&](std::int64_t seed) { return seed < part.first || seed >= part.last; };
    if (part.schedules < 0 || part.schedules > part.last - part.first ||
        std::any_of(part.news.begin(), part.news.end(), outside) || !std::is_sorted(part.news.begin(), part.news.end()))
      return absl::InvalidArgumentError(
          Cat("the part with the seeds ", part.first, " to ", part.last - 1, " reports other seeds"));
    next = part.last;
  }
  return absl::OkStatus();
}

SeedPlan::SeedPlan(const CheckOptions& options, const CheckPart* part) : size_(options.seeds - 1) {
  if (part != nullptr) {
    first_ = part->first;
    size_ = part->last - part->first;
    return;
  }
  if (!options.parts.has_value()) return;
  for (const CheckPart& ran : InOrder(*options.parts)) listed_.insert(listed_.end(), ran.news.begin(), ran.news.end());
  size_ = static_cast<std::int64_t>(listed_.size());
}

PartsTogether Together(const std::vector<CheckPart>& parts, std::int64_t seeds) {
  PartsTogether all{.ran = {{0, 1}}};
  std::int64_t next = 1;
  for (const CheckPart& part : InOrder(parts)) {
    all.gap |= part.first != next || (!part.stopped && part.schedules != part.last - part.first);
    all.stopped |= part.stopped;
    all.schedules += part.schedules;
    all.ran.push_back({part.first, part.first + part.schedules});
    for (const CheckTally& tally : part.checks) all.tallies[tally.kind] += tally.times;
    next = part.last;
  }
  all.gap |= !all.stopped && next != seeds;
  return all;
}

}  // namespace palladion::check
