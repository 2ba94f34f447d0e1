// What checks say of random small kernels is what the reference machine, exhaustive search and the slow race checker
// find (docs/develop/hunting.md). And each of those can fail: damaged on purpose, they contradict. Limits: the kernels
// of a few fixed seeds; `./dev hunt` has as many as one likes.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "emu/tools/hunt/contradictions_test_util.h"
#include "emu/tools/hunt/hunt_cancel.h"
#include "emu/tools/hunt/hunt_ends.h"
#include "emu/tools/hunt/hunt_oracle.h"
#include "emu/tools/hunt/hunt_random.h"
#include "emu/tools/hunt/hunt_record.h"
#include "emu/tools/hunt/hunt_related.h"
#include "emu/tools/hunt/reference_explore.h"
#include "emu/tools/hunt/reference_machine.h"

namespace palladion::hunt {
namespace {

constexpr int kKernels = PALLADION_HUNT_KERNELS;  // fewer where a sanitizer slows them down

constexpr double kNoLimit = 1e9;  // seconds: counts of schedules are the limit, on any machine
constexpr int kTensorKernels = kKernels / 2, kTpuKernels = kKernels / 2;

struct Tally {
  std::map<std::string, int> by_verdict, by_kind;
  int racy = 0;
  std::int64_t elided = 0, in_parts = 0, again = 0;  // schedules
};

Tally JudgeMany(std::uint64_t first, int kernels, const HuntOptions& options, bool expect_none,
                Kernels which = Kernels::kAll) {
  Tally tally;
  for (std::uint64_t seed = first; seed < first + static_cast<std::uint64_t>(kernels); ++seed) {
    const HuntResult result = Judge(RandomKernel(seed, which), options);
    ++tally.by_verdict[result.verdict];
    tally.racy += result.racy > 0;
    tally.elided += result.elided;
    tally.in_parts += result.in_parts;
    tally.again += result.again;
    for (const Contradiction& contradiction : result.contradictions) ++tally.by_kind[contradiction.kind];
    if (expect_none) ExpectNone(seed, result);
  }
  return tally;
}

TEST(Hunt, VerdictsAreTrue) {
  const Tally tally = JudgeMany(1, kKernels, {.seeds = 32, .more_seeds = 32, .trials = 4, .max_schedules = 500}, true);
  // It is no empty claim: right and wrong kernels both come often.
  EXPECT_GT(tally.by_verdict.at("proved"), kKernels / 20);
  EXPECT_GT(tally.by_verdict.at("defect"), kKernels / 5);
  EXPECT_GT(tally.racy, kKernels / 10);
}

TEST(Hunt, VerdictsOfTensorKernelsAreTrue) {
  const HuntOptions options{.seeds = 16, .more_seeds = 16, .trials = 4, .max_states = 50'000, .max_schedules = 200};
  const Tally tally = JudgeMany(1, kTensorKernels, options, true, Kernels::kTensor);
  EXPECT_GT(tally.by_verdict.at("proved"), 0);
  EXPECT_GT(tally.by_verdict.at("defect"), kTensorKernels / 5);
  EXPECT_GT(tally.racy, kTensorKernels / 10);
}

// A thread that misses a phase, which the reference machine had no rule for.
TEST(Hunt, ATensorKernelThatWasContradicted) { JudgeMany(2000136, 1, {.seeds = 8}, true, Kernels::kTensor); }

TEST(Hunt, VerdictsOfTpuKernelsAreTrue) {
  const HuntOptions options{.seeds = 16, .more_seeds = 16, .trials = 4, .max_states = 50'000, .max_schedules = 100};
  const Tally tally = JudgeMany(1, kTpuKernels, options, true, Kernels::kTpu);
  EXPECT_GT(tally.by_verdict.at("proved"), kTpuKernels / 10);
  EXPECT_GT(tally.by_verdict.at("defect"), kTpuKernels / 5);
  EXPECT_GT(tally.racy, kTpuKernels / 10);
}

TEST(Hunt, VerdictsOfKernelsWithPipelinesAreTrue) {
  const HuntOptions options{.seeds = 16, .more_seeds = 16, .trials = 0, .max_states = 50'000, .max_schedules = 100};
  const Tally tally = JudgeMany(1, kKernels / 2, options, true, Kernels::kPipelines);
  EXPECT_GT(tally.by_verdict.at("proved"), kKernels / 10);
  EXPECT_GT(tally.by_verdict.at("defect"), kKernels / 10);
}

// A fetch for program s, and the flush of program s - distance to the same row: the table of docs/spec/races.md#alias.
TEST(Hunt, APipelineLeavesOpenWhatTheTableSays) {
  for (const bool in_single : {false, true}) {
    for (const bool out_single : {false, true}) {
      const int open = 2 - in_single - out_single;
      for (int distance = 1; distance <= 3; ++distance) {
        HuntKernel kernel{.family = Family::kTpu, .target = "mosaic_tpu/v5e", .rows = 5, .steps = 4};
        kernel.in_block = {true, in_single, 1, 0};
        kernel.out_block = {true, out_single, 1, distance};
        for (int step = 0; step < 4; ++step)
          kernel.agents.push_back({{.what = What::kLoad, .array = Array::kBlockIn},
                                   {.what = What::kStore, .array = Array::kBlockOut, .amount = 900 + step}});
        const Written written = Write(kernel);
        const Reached reached = ExploreFrom(ReferenceMachine(kernel, written), 100'000);
        ASSERT_TRUE(reached.complete);
        EXPECT_EQ(reached.outcomes.size() > 1, distance <= open) << in_single << out_single << distance;
        const HuntResult result = Judge(kernel, {.seeds = 4, .max_schedules = 0});
        EXPECT_EQ(result.verdict, distance <= open ? "defect" : "proved") << result.text;
      }
    }
  }
}

TEST(Hunt, VerdictsOfKernelsWithLoopsThatWaitAreTrue) {
  const HuntOptions options{.seeds = 16, .more_seeds = 16, .trials = 4, .max_states = 50'000, .max_schedules = 100};
  const Tally tally = JudgeMany(1, kKernels / 2, options, true, Kernels::kLoops);
  EXPECT_GT(tally.by_verdict.at("proved"), 0);
  EXPECT_GT(tally.by_verdict.at("clean"), kKernels / 20);
}

// Copies of two blocks together, and warps of a thread.
TEST(Hunt, VerdictsOfClustersAndWarpsAreTrue) {
  const HuntOptions options{.seeds = 16, .more_seeds = 16, .trials = 4, .max_states = 20'000, .max_schedules = 20};
  for (const Kernels which : {Kernels::kClusters, Kernels::kWarps}) {
    const Tally tally = JudgeMany(1, kKernels / 6, options, true, which);
    EXPECT_GT(tally.by_verdict.at("proved"), kKernels / 60);
    EXPECT_GT(tally.by_verdict.at("defect"), kKernels / 30);
    EXPECT_GT(tally.racy, kKernels / 60);
  }
}

// Of threads that take credits, where few orders deadlock, and most leave some. A machine whose waits take nothing has
// fewer deadlocks, and is contradicted.
TEST(Hunt, VerdictsOfCreditsAreTrue) {
  const HuntOptions options{.seeds = 16, .more_seeds = 16, .trials = 4, .max_states = 50'000, .max_schedules = 100};
  const int kernels = kKernels / 3;
  const Tally tally = JudgeMany(1, kernels, options, true, Kernels::kCredits);
  EXPECT_GT(tally.by_verdict.at("defect"), kernels / 5);
  const HuntOptions damaged{.seeds = 8, .trials = 0, .max_schedules = 0, .mutation = Mutation::kCreditsStay};
  EXPECT_GT(JudgeMany(1, kernels, damaged, false, Kernels::kCredits).by_kind.count("a deadlock that no order has"), 0u);
}

// Of cluster launch control. Where every clean verdict is read as a proof, some are contradicted.
TEST(Hunt, VerdictsOfLaunchControlAreTrue) {
  HuntOptions options{.seeds = 16, .max_schedules = 100};
  std::map<std::string, int> by_verdict, by_kind;
  for (std::uint64_t seed = 1; seed <= kKernels / 6; ++seed) {
    const CancelKernel kernel = RandomCancel(seed);
    const HuntResult result = JudgeCancel(kernel, options);
    ++by_verdict[result.verdict];
    for (const Contradiction& contradiction : result.contradictions)
      ADD_FAILURE() << "kernel " << seed << ": " << contradiction.kind << ": " << contradiction.detail << "\n"
                    << result.text;
    const HuntResult lied = JudgeCancel(kernel, {.seeds = 1, .max_schedules = 0, .lie = true});
    for (const Contradiction& contradiction : lied.contradictions) ++by_kind[contradiction.kind];
  }
  EXPECT_GT(by_verdict["clean"], 0);
  EXPECT_GT(by_verdict["defect"], kKernels / 60);
  EXPECT_GT(by_kind["proved, but an order is wrong"] + by_kind["proved, but orders differ"], 0);
}

TEST(Hunt, ADamagedMachineOfLaunchControlIsCaught) {
  int caught = 0;
  for (std::uint64_t seed = 1; seed <= kKernels / 10; ++seed) {
    const HuntOptions options{.seeds = 8, .max_schedules = 0, .mutation = Mutation::kNothingLost};
    for (const Contradiction& contradiction : JudgeCancel(RandomCancel(seed), options).contradictions)
      caught += contradiction.kind == "a defect of launch control that no order has";
  }
  EXPECT_GT(caught, 0);
}

// What a device does first, before another one copies there; and what tasks of a parallel dimension do in all
// schedules.
TEST(Hunt, TpuKernelsThatWereContradicted) {
  for (const std::uint64_t seed : {118, 223, 1047, 1059, 1090, 1216}) {
    const HuntResult result = Judge(RandomKernel(seed, Kernels::kTpu), {.seeds = 16});
    for (const Contradiction& contradiction : result.contradictions)
      ADD_FAILURE() << "kernel " << seed << ": " << contradiction.kind << ": " << contradiction.detail;
  }
}

// The second thread's product overwrites what the first's makes: nothing that it reads is written there.
TEST(Hunt, AProductFollowsAnotherThreads) {
  HuntKernel kernel{.target = "mosaic_gpu/b200",
                    .arrivals = {1, 1},
                    .tensor_order = {true, true},
                    .tensor = true,
                    .shared = true,
                    .agents = {{}, {}}};
  const Op operands{.what = What::kStore, .array = Array::kOperands, .amount = 3};
  const Op product{.what = What::kProduct}, load{.what = What::kTensorLoad, .array = Array::kTensor};
  kernel.agents[0] = {operands, {.what = What::kFence}, product, {.what = What::kArrive, .object = 0}};
  kernel.agents[1] = {{.what = What::kWait, .object = 0},
                      product,
                      {.what = What::kTensorCommit, .object = 1},
                      {.what = What::kWait, .object = 1},
                      load};
  const HuntResult result = Judge(kernel, {.seeds = 16, .max_schedules = 500});
  EXPECT_EQ(result.codes, "") << result.text;
  for (const Contradiction& contradiction : result.contradictions)
    ADD_FAILURE() << contradiction.kind << ": " << contradiction.detail;
}

// A thread that knows of another one's first product, and not of the second, which has followed the first.
TEST(Hunt, AProductFollowsOneThatAnotherHasFollowed) {
  const HuntResult result = Judge(RandomKernel(200057, Kernels::kTensor), {.seeds = 1, .max_schedules = 0});
  EXPECT_GT(result.races_compared, 0);
  for (const Contradiction& contradiction : result.contradictions)
    ADD_FAILURE() << contradiction.kind << ": " << contradiction.detail;
}

TEST(Hunt, SchedulesWithoutValuesChangeNoReport) {
  const HuntOptions options{.seeds = 1, .trials = 0, .max_states = 1, .max_schedules = 0, .elided_seeds = 24};
  const Tally tally = JudgeMany(1, kKernels, options, true);
  EXPECT_GT(tally.elided, 100);
}

TEST(Hunt, ACheckInPartsHasTheReportOfTheWhole) {
  const HuntOptions options{.seeds = 1, .trials = 0, .max_states = 1, .max_schedules = 0, .part_seeds = 24};
  const Tally tally = JudgeMany(1, kKernels, options, true);
  EXPECT_GT(tally.in_parts, kKernels);
  EXPECT_GT(tally.again, kKernels / 10);
}

// Renamed, permuted, in a branch, in a grid with a dimension more.
TEST(Hunt, AKernelInOtherWordsHasTheSameReport) {
  for (const Kernels which : {Kernels::kAll, Kernels::kTensor, Kernels::kTpu}) {
    const HuntOptions options{.seeds = 1, .trials = 0, .max_states = 1, .max_schedules = 0, .related_seeds = 8};
    JudgeMany(1, kKernels / 6, options, true, which);
  }
}

TEST(Hunt, OtherWordsThatAreAnotherKernelAreCaught) {
  const std::string text = Write(RandomKernel(1, Kernels::kTpu)).text;
  EXPECT_GE(RelatedTexts(text).size(), 3u);
  for (const Related& related : RelatedTexts(text)) {
    EXPECT_NE(related.text, text) << related.name;
    EXPECT_EQ(std::count(related.text.begin(), related.text.end(), '\n'), std::count(text.begin(), text.end(), '\n'));
  }
  const Said one{.verdict = "clean", .findings = {"SAME_VALUE@3-4"}};
  EXPECT_EQ(Difference(one, one), "");
  EXPECT_NE(Difference(one, {.verdict = "proved", .findings = {"SAME_VALUE@3-4"}}), "");
  EXPECT_NE(Difference(one, {.verdict = "clean", .findings = {"SAME_VALUE@3-5"}}), "");
  EXPECT_NE(Difference(one, {.error = "refused"}), "");
}

// A hunt that stopped goes on behind what it has counted.
TEST(Hunt, CountsAreReadBack) {
  HuntTotals totals{.commit = "abc", .family = "tpu", .first = 7};
  totals.Add(Judge(RandomKernel(7, Kernels::kTpu), {.seeds = 1, .trials = 1, .max_schedules = 0}));
  totals.contradicted["a race is missed"] = 2;
  const absl::StatusOr<HuntTotals> again = TotalsOf(TotalsText(totals));
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(TotalsText(*again), TotalsText(totals));
  EXPECT_EQ(again->kernels, 1);
  EXPECT_FALSE(TotalsOf("something else\t3\n").ok());
}

// A commit that is not awaited comes before an awaited one of its thread.
TEST(Hunt, CommitsOfAThreadAreFollowedInTheirOrder) {
  for (const std::uint64_t seed : {238, 389}) {
    const HuntResult result = Judge(RandomKernel(seed, Kernels::kTensor), {.seeds = 1, .trials = 4, .max_states = 1});
    EXPECT_TRUE(result.contradictions.empty()) << "kernel " << seed;
    EXPECT_GT(result.races_compared, 0) << "kernel " << seed;
  }
}

// Each part of the slow race checker carries weight: without it, it disagrees.
TEST(Hunt, DamagedRaceCheckersAreCaught) {
  const HuntOptions options{.seeds = 1, .trials = 1, .max_states = 1, .max_schedules = 0};
  for (const auto& [mutation, kind] : std::map<Mutation, std::string>{
           {Mutation::kNoBarrierEdges, "a race is missed"},
           {Mutation::kNoSemaphoreEdges, "a race is missed"},
           {Mutation::kNoCompletions, "a race is missed"},
           {Mutation::kNoFences, "one of two misses a fence"},
       }) {
    HuntOptions damaged = options;
    damaged.mutation = mutation;
    const Tally tally = JudgeMany(1, kKernels / 2, damaged, false);
    EXPECT_GT(tally.by_kind.count(kind), 0u) << "mutation " << static_cast<int>(mutation);
  }
  for (const Mutation mutation : {Mutation::kNoSemaphoreEdges, Mutation::kNoCompletions}) {
    HuntOptions damaged = options;
    damaged.mutation = mutation;
    const Tally tally = JudgeMany(1, kTpuKernels, damaged, false, Kernels::kTpu);
    EXPECT_GT(tally.by_kind.count("a race is missed"), 0u) << "of TPUs, mutation " << static_cast<int>(mutation);
  }
}

// Without what a landing releases at its block's barrier, and without the order from a mesh to its warps and back.
TEST(Hunt, DamagedOrdersOfClustersAndWarpsAreCaught) {
  HuntOptions damaged{.seeds = 1, .trials = 1, .max_states = 1, .max_schedules = 0};
  for (const auto& [which, mutation] : std::map<Kernels, Mutation>{{Kernels::kClusters, Mutation::kNoCompletions},
                                                                   {Kernels::kWarps, Mutation::kNoMeshes}}) {
    damaged.mutation = mutation;
    const Tally tally = JudgeMany(1, kKernels / 4, damaged, false, which);
    EXPECT_GT(tally.by_kind.count("a race is missed"), 0u) << static_cast<int>(which);
  }
}

TEST(Hunt, DamagedTensorOrderIsCaught) {
  HuntOptions damaged{.seeds = 1, .trials = 1, .max_states = 1, .max_schedules = 0};
  for (const auto& [mutation, kind] : std::map<Mutation, std::string>{
           {Mutation::kAllOrderTensor, "one of two misses what orders the tensor core"},
           {Mutation::kNoPipelines, "a race is missed"},
       }) {
    damaged.mutation = mutation;
    const Tally tally = JudgeMany(1, kTensorKernels, damaged, false, Kernels::kTensor);
    EXPECT_GT(tally.by_kind.count(kind), 0u) << "mutation " << static_cast<int>(mutation);
  }
}

// Every schedule of small kernels: it ends, and the outcomes are those of the reference machine.
TEST(Hunt, EveryScheduleOfAFewStatesEnds) {
  for (const Kernels which : {Kernels::kAll, Kernels::kTensor}) {
    int searched = 0, compared = 0, several = 0;
    for (std::uint64_t seed = 1; seed < 1 + static_cast<std::uint64_t>(kKernels); ++seed) {
      const Ends ends =
          EndsOf(RandomKernel(seed, which), {.max_states = 60, .max_schedules = 20'000, .seconds = kNoLimit});
      if (!ends.searched) continue;
      ++searched;
      EXPECT_TRUE(ends.ended) << "kernel " << seed << ": " << ends.schedules << " schedules " << ends.error;
      if (!ends.ended || ends.expected.empty()) continue;
      ++compared;
      several += ends.expected.size() > 1;
      EXPECT_EQ(ends.found, ends.expected) << "kernel " << seed;
    }
    EXPECT_GT(compared, searched / 4);
    EXPECT_GT(several, 0);
  }
}

// Each way in which an interleaving of a kernel ends, and each set of findings, is one of the search's. Limits: of
// kernels cut to a few operations, those with few interleavings.
TEST(Hunt, TheSearchLeavesNoWayToEndOut) {
  for (const auto& [which, ops] : std::map<Kernels, int>{{Kernels::kAll, 5},
                                                         {Kernels::kTensor, 5},
                                                         {Kernels::kTpu, 2},
                                                         {Kernels::kClusters, 3},
                                                         {Kernels::kWarps, 4}}) {
    int compared = 0;
    for (std::uint64_t seed = 1; seed < 200 && (seed < 1 + kKernels / 10 || compared == 0); ++seed) {
      const EndsOptions options{.max_schedules = 500, .seconds = kNoLimit, .interleavings = 300};
      const Ends ends = EndsOf(CutTo(RandomKernel(seed, which), ops, seed), options);
      EXPECT_EQ(ends.error, "") << "kernel " << seed;
      EXPECT_EQ(ends.unseen, std::set<std::string>()) << "kernel " << seed;
      compared += ends.interleavings > 1;
    }
    EXPECT_GT(compared, 0) << static_cast<int>(which);
  }
}

// A check that took every clean verdict for a proof is contradicted.
TEST(Hunt, AFalseProofIsCaught) {
  const Tally tally = JudgeMany(1, kKernels, {.seeds = 1, .trials = 0, .max_schedules = 0, .lie = true}, false);
  int proved = 0;
  for (const auto& [kind, times] : tally.by_kind) proved += kind.rfind("proved, but", 0) == 0 ? times : 0;
  EXPECT_GT(proved, 0);
}

TEST(Hunt, CounterexamplesAreShrunk) {
  const HuntOptions options{
      .seeds = 1, .trials = 1, .max_states = 1, .max_schedules = 0, .mutation = Mutation::kNoBarrierEdges};
  const std::string kind = "a race is missed";
  for (std::uint64_t seed = 1; seed < 300; ++seed) {
    const HuntKernel kernel = RandomKernel(seed);
    const HuntResult result = Judge(kernel, options);
    if (CountOps(kernel) < 6 || std::none_of(result.contradictions.begin(), result.contradictions.end(),
                                             [&](const Contradiction& c) { return c.kind == kind; }))
      continue;
    const HuntKernel small = ShrinkKernel(kernel, kind, options);
    EXPECT_LE(CountOps(small), 5) << Write(small).text;  // write, arrive, wait, read, or a copy with its fence
    return;
  }
  FAIL() << "no kernel to shrink";
}

}  // namespace
}  // namespace palladion::hunt
