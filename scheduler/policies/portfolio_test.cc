// What the policies find: the toy bugs at plausible rates, PCT at least as often as its bound
// says, URW every interleaving equally often.
#include "scheduler/policies/portfolio.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <vector>

#include "scheduler/policies/pct_bound.h"
#include "scheduler/policies/policies.h"
#include "scheduler/toy_bugs_test_util.h"

namespace palladion::scheduler::test {
namespace {

LoopResult RunSeed(ToyBug& bug, PolicyKind kind, std::uint64_t seed, const RunLengths& lengths) {
  const std::unique_ptr<Policy> policy = MakePolicy(kind, seed, lengths);
  absl::StatusOr<LoopResult> result = RunLoop(bug, {.record = false}).Run(*policy);
  EXPECT_TRUE(result.ok()) << result.status();
  return *std::move(result);
}

RunLengths LengthsOf(const ToyBugRow& row, int work) {
  const std::unique_ptr<ToyBug> bug = row.make(work);
  const std::unique_ptr<Policy> policy = MakeProgramOrder();
  const LoopResult result = *RunLoop(*bug).Run(*policy);
  return {result.steps, result.operations};
}

// How many of `runs` seeds show the bug; `kind` empty: the portfolio's.
int Hits(const ToyBugRow& row, int work, int runs, std::optional<PolicyKind> kind = std::nullopt) {
  const RunLengths lengths = LengthsOf(row, work);
  int hits = 0;
  for (int i = 0; i < runs; ++i) {
    const auto seed = static_cast<std::uint64_t>(i);
    const std::unique_ptr<ToyBug> bug = row.make(work);
    const LoopResult result = RunSeed(*bug, kind.value_or(PolicyOfSeed(seed)), seed, lengths);
    hits += bug->Shown() || result.outcome == Outcome::kDeadlock;
  }
  return hits;
}

TEST(Portfolio, FindsTheFiveToyBugs) {
  // At least so many of 400 seeds, with 32 operations around: about half of what is found today.
  const std::map<std::string_view, int> at_least = {{"missing wait", 64},
                                                    {"no back-pressure", 88},
                                                    {"opposite locks", 12},
                                                    {"masked credit", 32},
                                                    {"split update", 12}};
  for (const ToyBugRow& row : kToyBugs) {
    const int hits = Hits(row, 32, 400);
    RecordProperty(std::string(row.name), hits);
    EXPECT_GE(hits, at_least.at(row.name)) << row.name;
    EXPECT_LT(hits, 400) << row.name << ": found by every policy, so it tests none";
  }
}

TEST(Portfolio, NoPolicyIsEnoughAlone) {
  EXPECT_EQ(Hits(kToyBugs[2], 32, 50, PolicyKind::kSticky0), 0);       // opposite locks
  EXPECT_EQ(Hits(kToyBugs[0], 32, 50, PolicyKind::kProgramOrder), 0);  // missing wait
  EXPECT_EQ(Hits(kToyBugs[0], 32, 50, PolicyKind::kEnginesFirst), 0);
  EXPECT_EQ(Hits(kToyBugs[0], 32, 50, PolicyKind::kEnginesLate), 50);
}

TEST(Portfolio, PctHitsAtLeastAsOftenAsItsBound) {
  // Opposite locks have depth 2: one change at the right operation.
  const RunLengths lengths = LengthsOf(kToyBugs[2], 8);
  const double bound = PctHitProbability(2, lengths.steps, 2);
  constexpr int kRuns = 1500;
  const int hits = Hits(kToyBugs[2], 8, kRuns, PolicyKind::kPct2);
  const double slack = 4 * std::sqrt(kRuns * bound);
  EXPECT_GE(hits, kRuns * bound - slack);
}

class Logged final : public Scenario {
 public:
  explicit Logged(std::vector<int> operations) {
    for (std::size_t a = 0; a < operations.size(); ++a) {
      Add([this, a, n = operations[a]](AgentContext& me) {
        for (int i = 0; i < n; ++i) {
          me.Go({.footprint = Footprint::Writes(0)});
          log += static_cast<char>('a' + a);
        }
      });
    }
  }
  std::string log;
};

std::map<std::string, int> Distribution(PolicyKind kind, std::vector<int> operations, int runs) {
  std::map<std::string, int> seen;
  RunLengths lengths;
  for (int n : operations) lengths.steps += n, lengths.operations.push_back(n);
  for (int seed = 0; seed < runs; ++seed) {
    Logged logged(operations);
    const std::unique_ptr<Policy> policy = MakePolicy(kind, static_cast<std::uint64_t>(seed), lengths);
    EXPECT_TRUE(RunLoop(logged).Run(*policy).ok());
    ++seen[logged.log];
  }
  return seen;
}

TEST(Portfolio, UrwIsUniform) {
  constexpr int kRuns = 6000;
  const std::map<std::string, int> seen = Distribution(PolicyKind::kUrw, {4, 2}, kRuns);
  ASSERT_EQ(seen.size(), 15u);  // 6! / (4! 2!)
  double chi2 = 0;
  for (const auto& [log, count] : seen) chi2 += std::pow(count - kRuns / 15.0, 2) / (kRuns / 15.0);
  EXPECT_LT(chi2, 40);  // 14 degrees of freedom: 36.1 is the 99.9 % point
}

// One write against nine reads. Each read that goes first has the write draw again, so it is last in 1 run of 512;
// priorities that stayed would put it there in 1 of 10.
class WriteAmongReads final : public Scenario {
 public:
  WriteAmongReads() {
    Add([this](AgentContext& me) { cell.Write(me, 1); });
    Add([this](AgentContext& me) {
      for (int i = 0; i < 9; ++i) last = cell.Read(me);
    });
  }
  Cell cell{0};
  std::int64_t last = -1;
};

TEST(Portfolio, PosDrawsAgainWhereOperationsConflict) {
  int write_is_last = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    WriteAmongReads program;
    EXPECT_TRUE(RunLoop(program).Run(*MakePos(seed)).ok());
    write_is_last += program.last == 0;
  }
  EXPECT_LT(write_is_last, 20);  // 2 expected; 100 without drawing again
}

TEST(Portfolio, RandomWalkIsNotUniform) {
  const std::map<std::string, int> seen = Distribution(PolicyKind::kRandomWalk, {4, 2}, 2000);
  EXPECT_GT(seen.at("bbaaaa"), 350);  // 1/4 of the runs, not 1/15
}

TEST(Portfolio, EveryPolicyRunsAllToTheEnd) {
  for (const PolicyRow& row : AllPolicies()) {
    EXPECT_EQ(&RowOf(row.kind), &row) << row.name;
    EXPECT_EQ(PolicyFromName(row.name), row.kind);
    const std::map<std::string, int> seen = Distribution(row.kind, {3, 3, 3}, 50);
    for (const auto& [log, count] : seen) EXPECT_EQ(log.size(), 9u) << row.name;
    const bool is_random = row.kind != PolicyKind::kProgramOrder && row.kind != PolicyKind::kReverse;
    EXPECT_EQ(seen.size() > 1, is_random) << row.name;
  }
  EXPECT_EQ(PolicyFromName("pct4"), std::nullopt);
}

TEST(Portfolio, SeedsCycle) {
  EXPECT_EQ(PolicyOfSeed(0), PolicyKind::kProgramOrder);
  EXPECT_EQ(PolicyOfSeed(1), PolicyKind::kEnginesLate);
  EXPECT_EQ(PolicyOfSeed(2), PolicyKind::kReverse);
  EXPECT_EQ(PolicyOfSeed(3), PolicyKind::kPos);
  EXPECT_EQ(PolicyOfSeed(12), PolicyKind::kEnginesFirst);
  EXPECT_EQ(PolicyOfSeed(13), PolicyKind::kPos);
}

// Where it is the running agent's turn to starve, the other one goes for the whole interval.
TEST(StarveOne, TheStarvedOneGetsNoTurn) {
  CandidateList candidates;
  for (const int i : {0, 1}) candidates.Insert({.id = AgentOrdinal{i}});
  const Candidate* const first = candidates.Find(AgentOrdinal{0});
  int starved = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const std::unique_ptr<Policy> policy = MakeStarveOne(seed);
    int turns = 0;
    for (int i = 0; i < 8; ++i) turns += policy->Choose({.candidates = candidates, .current = first}).id.value == 1;
    starved += turns == 8;
  }
  EXPECT_GE(starved, 3) << "about half of the seeds";
}

TEST(PctBound, TheFormulas) {
  EXPECT_EQ(*RunsFor(0.99, 1.0 / 8), 35);
  EXPECT_EQ(*RunsFor(0.99, PctHitProbability(4, 20, 3)), 7366);  // p = 1/1600; ln 0.01 / ln (1 - p) = 7365.97
  EXPECT_EQ(*RunsFor(0.99, 1), 1);
  EXPECT_FALSE(RunsFor(1.0, 0.5).ok());
  EXPECT_FALSE(RunsFor(0.0, 0.5).ok());
  EXPECT_EQ(PctRuns(64), (std::array<std::int64_t, 3>{6, 6, 6}));
  EXPECT_EQ(PctRuns(4), (std::array<std::int64_t, 3>{0, 0, 0}));
  EXPECT_EQ(PctRuns(7), (std::array<std::int64_t, 3>{1, 1, 0}));
  const std::int64_t seeds = *SeedsUntil(0.99, 2, 2, 10);
  EXPECT_EQ(PctRuns(seeds)[1], *RunsFor(0.99, 1.0 / 20));
  EXPECT_EQ(PctRuns(seeds - 1)[1], *RunsFor(0.99, 1.0 / 20) - 1);
  EXPECT_FALSE(SeedsUntil(0.99, 4, 2, 10).ok());
  EXPECT_FALSE(SeedsUntil(0.99, 0, 2, 10).ok());
  const std::int64_t shallow = *SeedsUntil(0.99, 1, 2, 10);
  EXPECT_EQ(PctRuns(shallow)[0], *RunsFor(0.99, 1.0 / 2));
}

TEST(PctBound, OneHonestSentence) {
  EXPECT_EQ(PctSentence(4, 120, 64),
            "64 schedules tried (4 agents, 120 operations); had a bug of depth <= 2 existed on this input, they would "
            "have hit it with probability >= 0.012 (PCT bound)");
  EXPECT_EQ(PctSentence(4, 120, 1),
            "1 schedule tried (4 agents, 120 operations); too few for PCT's bound to say anything");
  EXPECT_EQ(PctSentence(1, 1, 4), "4 schedules tried (1 agent, 1 operation); too few for PCT's bound to say anything");
}

// However many ran, a bound is none of certainty; and without a request there is none.
TEST(PctBound, NeverCertainAndOnlyOnRequest) {
  EXPECT_NE(PctSentence(2, 2, 1000).find("with probability >= 0.99 (PCT bound)"), std::string::npos);
  for (const std::int64_t seeds : {1, 64, 1000}) {
    const std::string tried = WithoutBound(PctSentence(4, 120, seeds) + "; not proved: why");
    EXPECT_EQ(tried.substr(tried.find(" (")), " (4 agents, 120 operations); not proved: why");
  }
}

// The bound is of the seeds that ran, not of as many others.
TEST(PctBound, OfSeedsWithAGap) {
  const SeedRange all[] = {{0, 20}, {20, 64}}, gap[] = {{0, 1}, {4, 7}}, none[] = {{0, 1}, {1, 4}};
  EXPECT_EQ(PctSentence(4, 120, all), PctSentence(4, 120, 64));
  EXPECT_NE(PctSentence(4, 120, gap).find("4 schedules tried (4 agents, 120 operations); had a bug of depth <= 2"),
            std::string::npos);
  EXPECT_NE(PctSentence(4, 120, none).find("4 schedules tried (4 agents, 120 operations); too few"), std::string::npos);
}

}  // namespace
}  // namespace palladion::scheduler::test
