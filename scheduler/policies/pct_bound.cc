#include "scheduler/policies/pct_bound.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_format.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"

namespace palladion::scheduler {
namespace {

constexpr std::string_view kTooFew = "; too few for PCT's bound to say anything";
constexpr std::string_view kHad =
    "; had a bug of depth <= 2 existed on this input, they would have hit it with probability >= ";
constexpr std::string_view kPctBound = " (PCT bound)";

// Of hitting at least once: 1 - (1 - p)^runs, without cancellation.
double AtLeastOnce(double p, std::int64_t runs) {
  if (runs == 0) return 0;  // also where each would be sure to
  return -std::expm1(static_cast<double>(runs) * std::log1p(-std::min(p, 1.0)));
}

// A bug of depth 1 or 2: the worse of both, since it is not known which it is.
double HitByDepthTwo(std::int64_t agents, std::int64_t steps, absl::Span<const SeedRange> ran) {
  std::array<std::int64_t, kMaxPctDepth> runs{};
  for (const SeedRange& range : ran) {
    const std::array<std::int64_t, kMaxPctDepth> before = PctRuns(range.first), all = PctRuns(range.last);
    for (std::size_t depth = 0; depth < runs.size(); ++depth) runs[depth] += all[depth] - before[depth];
  }
  return std::min(AtLeastOnce(PctHitProbability(agents, steps, 1), runs[0]),
                  AtLeastOnce(PctHitProbability(agents, steps, 2), runs[1]));
}

}  // namespace

double PctHitProbability(std::int64_t agents, std::int64_t steps, int depth) {
  return 1.0 / (static_cast<double>(agents) * std::pow(static_cast<double>(steps), depth - 1));
}

absl::StatusOr<std::int64_t> RunsFor(double confidence, double hit_probability) {
  if (!(confidence > 0 && confidence < 1))
    return absl::InvalidArgumentError(Cat("a confidence lies between 0 and 1, such as 0.99; found ", confidence));
  if (hit_probability >= 1) return 1;
  const double runs = std::ceil(std::log1p(-confidence) / std::log1p(-hit_probability));
  return runs < 0x1p62 ? static_cast<std::int64_t>(runs) : std::int64_t{1} << 62;
}

std::array<std::int64_t, kMaxPctDepth> PctRuns(std::int64_t seeds) {
  // The portfolio repeats after its first few seeds; count one period and multiply.
  constexpr std::int64_t kFirst = 3, kPeriod = 10;
  std::array<std::int64_t, kMaxPctDepth> runs{};
  for (std::int64_t seed = 0; seed < std::min(seeds, kFirst + kPeriod); ++seed) {
    const int depth = RowOf(PolicyOfSeed(static_cast<std::uint64_t>(seed))).pct_depth;
    if (depth == 0) continue;
    runs[static_cast<std::size_t>(depth - 1)] += 1 + (seed < kFirst ? 0 : (seeds - 1 - seed) / kPeriod);
  }
  return runs;
}

absl::StatusOr<std::int64_t> SeedsUntil(double confidence, int depth, std::int64_t agents, std::int64_t steps) {
  if (depth < 1 || depth > kMaxPctDepth)
    return absl::InvalidArgumentError(Cat("the depth of a bug is 1 to ", kMaxPctDepth, "; found ", depth));
  PALLADION_ASSIGN_OR_RETURN(const std::int64_t runs, RunsFor(confidence, PctHitProbability(agents, steps, depth)));
  // One run of this depth in each period, the first of them somewhere in it.
  std::int64_t seeds = 1;
  while (PctRuns(seeds)[static_cast<std::size_t>(depth - 1)] == 0) ++seeds;
  constexpr std::int64_t kPeriod = 10, kMost = std::int64_t{1} << 62;
  return runs > (kMost - seeds) / kPeriod ? kMost : seeds + (runs - 1) * kPeriod;
}

std::string PctSentence(std::int64_t agents, std::int64_t steps, std::int64_t seeds) {
  const SeedRange all[] = {{0, seeds}};
  return PctSentence(agents, steps, all);
}

std::string PctSentence(std::int64_t agents, std::int64_t steps, absl::Span<const SeedRange> ran) {
  std::int64_t seeds = 0;
  for (const SeedRange& range : ran) seeds += range.last - range.first;
  const std::string tried =
      Cat(seeds, seeds == 1 ? " schedule" : " schedules", " tried (", agents, agents == 1 ? " agent, " : " agents, ",
          steps, steps == 1 ? " operation)" : " operations)");
  const double hit = HitByDepthTwo(std::max<std::int64_t>(1, agents), std::max<std::int64_t>(1, steps), ran);
  if (hit <= 0) return Cat(tried, kTooFew);
  return Cat(tried, kHad, absl::StrFormat("%.2g", std::min(hit, 0.99)), kPctBound);
}

std::string WithoutBound(std::string_view text) {
  std::string left(text);
  if (const std::size_t few = left.find(kTooFew); few != std::string::npos) left.erase(few, kTooFew.size());
  const std::size_t from = left.find(kHad);
  const std::size_t to = from == std::string::npos ? from : left.find(kPctBound, from);
  if (to != std::string::npos) left.erase(from, to + kPctBound.size() - from);
  return left;
}

}  // namespace palladion::scheduler
