// How much runs without a finding exclude, by PCT's bound (Burckhardt et al., ASPLOS 2010): a run of depth d on n
// agents and k operations hits a bug of depth d with probability >= 1/(n k^(d-1)). It says nothing about deeper bugs,
// other inputs, or agents that spin.
#ifndef PALLADION_SCHEDULER_POLICIES_PCT_BOUND_H_
#define PALLADION_SCHEDULER_POLICIES_PCT_BOUND_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "scheduler/policies/portfolio.h"

namespace palladion::scheduler {

inline constexpr int kMaxPctDepth = 3;

// Of one run; agents and steps at least 1, depth 1 to kMaxPctDepth.
double PctHitProbability(std::int64_t agents, std::int64_t steps, int depth);

// How many runs hit with probability >= `confidence`, at most 2^62. InvalidArgument unless 0 < confidence < 1.
absl::StatusOr<std::int64_t> RunsFor(double confidence, double hit_probability);

// How many of the seeds 0 .. seeds - 1 are PCT of each depth: [0] is depth 1.
std::array<std::int64_t, kMaxPctDepth> PctRuns(std::int64_t seeds);

// Seeds that ran, `last` not.
struct SeedRange {
  std::int64_t first = 0, last = 0;
};

// How many seeds must run for a bug of this depth to be hit with that confidence; InvalidArgument as above.
absl::StatusOr<std::int64_t> SeedsUntil(double confidence, int depth, std::int64_t agents, std::int64_t steps);

// "64 schedules tried (4 agents, 120 operations); had a bug of depth <= 2 existed on this input, they would have hit it
// with probability >= 0.012 (PCT bound)". Of the seeds 0 .. seeds - 1.
std::string PctSentence(std::int64_t agents, std::int64_t steps, std::int64_t seeds);
// Of these seeds, where some between did not run.
std::string PctSentence(std::int64_t agents, std::int64_t steps, absl::Span<const SeedRange> ran);
// The same, or a text that holds it, without what it says of a bug that was not there: it is said on request.
std::string WithoutBound(std::string_view text);

}  // namespace palladion::scheduler

#endif  // PALLADION_SCHEDULER_POLICIES_PCT_BOUND_H_
