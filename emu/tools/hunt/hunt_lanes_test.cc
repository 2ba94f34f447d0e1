// What checks say of random kernels whose lanes touch memory is what the rules of places and the machine of lanes find
// (docs/develop/hunting.md), and each of these can fail.
#include "emu/tools/hunt/hunt_lanes.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "emu/tools/hunt/contradictions_test_util.h"

namespace palladion::hunt {
namespace {

constexpr int kKernels = PALLADION_HUNT_KERNELS;  // fewer where a sanitizer slows them down

struct Tally {
  std::map<std::string, int> by_verdict, by_kind;
  int racy = 0, unsure = 0;
};

Tally JudgeMany(int kernels, const HuntOptions& options, bool expect_none) {
  Tally tally;
  for (std::uint64_t seed = 1; seed <= static_cast<std::uint64_t>(kernels); ++seed) {
    const HuntResult result = JudgeLanes(RandomLanes(seed), options);
    ++tally.by_verdict[result.verdict];
    tally.racy += result.racy > 0;
    tally.unsure += result.missed;
    for (const Contradiction& contradiction : result.contradictions) ++tally.by_kind[contradiction.kind];
    if (expect_none) ExpectNone(seed, result);
  }
  return tally;
}

TEST(HuntLanes, VerdictsAreTrue) {
  const HuntOptions options{.seeds = 8, .max_states = 2'000, .related_seeds = 4};
  const Tally tally = JudgeMany(kKernels, options, true);
  EXPECT_GT(tally.by_verdict.at("proved"), kKernels / 10);
  EXPECT_GT(tally.by_verdict.at("clean"), kKernels / 20);
  EXPECT_GT(tally.racy, kKernels / 5);
  EXPECT_GT(tally.unsure, kKernels / 50);  // no proof, and there is none
}

// A lane that stores again what it has stored, where another one had stored something else before.
TEST(HuntLanes, OneThatWasContradicted) { ExpectNone(3000987, JudgeLanes(RandomLanes(3000987), {.seeds = 8})); }

// Barriers that order nothing; and every clean verdict read as a proof, as it was before updates by several lanes, or
// index expressions, or copies were looked at.
TEST(HuntLanes, DamagedJudgesAreCaught) {
  HuntOptions damaged{.seeds = 1, .max_states = 500, .mutation = Mutation::kNoBarrierEdges};
  EXPECT_GT(JudgeMany(kKernels / 3, damaged, false).by_kind.count("a race is missed"), 0u);
  damaged = {.seeds = 1, .max_states = 500, .lie = true};
  const Tally lied = JudgeMany(kKernels / 3, damaged, false);
  EXPECT_GT(lied.by_kind.count("proved, but two lanes have no order"), 0u);
  EXPECT_GT(lied.by_kind.count("proved, but orders of lanes differ"), 0u);
}

}  // namespace
}  // namespace palladion::hunt
