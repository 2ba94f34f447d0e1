// Schedule strings: written, read, refused; runs that repeat exactly; shrinking to the moves that matter; many seeds on
// any number of threads.
#include "scheduler/policies/schedule.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "scheduler/policies/random.h"
#include "scheduler/search/parallel_seeds.h"
#include "scheduler/search/shrink.h"
#include "scheduler/toy_bugs_test_util.h"

namespace palladion::scheduler::test {
namespace {

ScheduleOrigin Origin(std::uint32_t operations, std::uint32_t shapes, std::uint32_t inputs) {
  return {.kernel = "add", .target = "triton/h100", .operations = operations, .shapes = shapes, .inputs = inputs};
}

TEST(Schedule, WrittenAndRead) {
  const Schedule seed{.policy = PolicyKind::kPct2, .seed = 17, .moves = {}, .origin = Origin(0x9f86d081, 2, 1)};
  EXPECT_EQ(ToString(seed), "s2:pct2:17:add:triton/h100:9f86d081:00000002:00000001:-");
  const Schedule moves{.moves = {{{{}, 0, AgentOrdinal{3}}, {AgentOrdinal{1}, 2, AgentOrdinal{0}}}},
                       .origin = Origin(7, 8, 9)};
  EXPECT_EQ(ToString(moves), "s2:moves:start.3-1.2.0:add:triton/h100:00000007:00000008:00000009:-");
  Schedule timed = moves;
  timed.at_once = 264;
  EXPECT_EQ(ToString(timed), "s2:moves@264:start.3-1.2.0:add:triton/h100:00000007:00000008:00000009:-");
  EXPECT_EQ(ParseSchedule(ToString(timed))->at_once, 264);
  for (const Schedule& schedule : {seed, moves, timed, Schedule{.moves = std::vector<Move>()}}) {
    const absl::StatusOr<Schedule> read = ParseSchedule(ToString(schedule));
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(read->moves, schedule.moves);
    EXPECT_EQ(ToString(*read), ToString(schedule));
  }
}

TEST(Schedule, AnythingElseIsRefusedWithAReason) {
  const std::string good = ":k:generic:00000000:00000000:00000000:-";
  const std::pair<std::string, std::string_view> cases[] = {
      {"", "expected 's2:...'"},
      {"s3:pos:1" + good, "another version"},
      {"s1:pos:1:0000000000000000:0000000000000000", "of an older version of Palladion"},
      {"s2:pos:1:00000000", "nine parts; found 4"},
      {"s2:poss:1" + good, "'poss' is no policy; there are program-order"},
      {"s2:pos:x" + good, "the seed must be a decimal number; found 'x'"},
      {"s2:pos:-1" + good, "the seed must be"},
      {"s2:pos:99999999999999999999" + good, "the seed must be"},
      {"s2:pos:01" + good, "should be written 's2:pos:1:"},
      {"s2:pos:1:k:generic:0000000g:00000000:00000000:-", "hash of the operations must be 8 hexadecimal digits"},
      {"s2:pos:1:k:generic:00000000:00:00000000:-", "hash of the shapes must be"},
      {"s2:pos:1:k:generic:00000000:00000000:000000AB:-", "should be written"},
      {"s2:pos:1::generic:00000000:00000000:00000000:-", "the kernel is missing"},
      {"s2:moves:1.2" + good, "a move is AGENT.OPERATIONS.AGENT or start.AGENT"},
      {"s2:moves@0:1.2.3" + good, "how many clusters are there at once, 1 or more; found 'moves@0'"},
      {"s2:moves@:1.2.3" + good, "found 'moves@'"},
      {"s2:moves@07:1.2.3" + good, "should be written 's2:moves@7:"},
      {"s2:movesx:1.2.3" + good, "'movesx' is no policy"},
      {"s2:moves:-1.2.3" + good, "a move is"},
      {"s2:moves:1.2.3-" + good, "a move is"},
      {"s2:moves:1.2.99999999999" + good, "a move is"},
  };
  for (const auto& [text, reason] : cases) {
    const absl::Status status = ParseSchedule(text).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_NE(ToStd(status.message()).find(reason), std::string_view::npos) << text << ": " << status;
  }
}

TEST(Schedule, WhatItWasMadeForIsNamed) {
  const Schedule schedule{.origin = Origin(1, 2, 3)};
  EXPECT_TRUE(ExpectMadeFor(schedule, Origin(1, 2, 3)).ok());
  ScheduleOrigin renamed = Origin(1, 2, 3);
  renamed.kernel = "sub";
  EXPECT_TRUE(ExpectMadeFor(schedule, renamed).ok());
  const auto message = [&](const ScheduleOrigin& now) { return std::string(ExpectMadeFor(schedule, now).message()); };
  EXPECT_NE(message(Origin(9, 2, 3)).find("the operations of kernel @add have changed"), std::string::npos);
  EXPECT_EQ(message(Origin(9, 2, 3)).find("inputs"), std::string::npos);
  EXPECT_NE(message(Origin(9, 9, 9)).find("the shapes or types of the operands, are others"), std::string::npos);
  EXPECT_EQ(message(Origin(9, 9, 9)).find("have changed"), std::string::npos) << "they follow from the shapes";
  EXPECT_NE(message(Origin(9, 2, 9)).find("have changed since it was recorded; the inputs have other values"),
            std::string::npos);
}

TEST(ScheduleHash, EveryByteAndSizeCounts) {
  const auto hash = [](std::initializer_list<std::string_view> texts) {
    ScheduleHash h;
    for (std::string_view text : texts) h.Add(text);
    return h.value();
  };
  EXPECT_NE(hash({"a", "b"}), hash({"b", "a"}));
  EXPECT_NE(hash({"ab"}), hash({"a", "b"}));
  EXPECT_NE(hash({std::string_view("a\0", 2)}), hash({"a"}));
  EXPECT_EQ(hash({"kernel"}), 0x7e632440af463cceu);  // what strings in old reports were made with
}

// Programs of random operations on a few cells, whose log says everything that happened.
class RandomProgram final : public Scenario {
 public:
  explicit RandomProgram(std::uint64_t seed) {
    Random random(seed);
    for (std::uint64_t a = 0, agents = 2 + random.Below(4); a < agents; ++a) {
      Add([this, a, inner = Random(random.Next())](AgentContext& me) mutable {
        for (std::uint64_t i = 0, n = inner.Below(8); i < n; ++i) {
          Cell& cell = cells[inner.Below(cells.size())];
          if (inner.Below(2) == 0) {
            Append(&log, a, "r", cell.Read(me), " ");
          } else {
            cell.Write(me, static_cast<std::int64_t>(10 * a + i));
            Append(&log, a, "w", i, " ");
          }
        }
      });
    }
  }
  std::array<Cell, 3> cells{Cell(0), Cell(1), Cell(2)};
  std::string log;
};

LoopResult RunWith(AgentSource& source, Policy& policy) {
  absl::StatusOr<LoopResult> result = RunLoop(source).Run(policy);
  EXPECT_TRUE(result.ok()) << result.status();
  return *std::move(result);
}

TEST(Replay, TheMovesOfARunAreTheRun) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    RandomProgram original(seed / 4), again(seed / 4), moved(seed / 4);
    const RunLengths lengths{20, {5, 5, 5, 5, 5}};
    const std::unique_ptr<Policy> policy = MakePolicy(PolicyOfSeed(seed), seed, lengths);
    const LoopResult result = RunWith(original, *policy);

    const std::unique_ptr<Policy> same = MakePolicy(PolicyOfSeed(seed), seed, lengths);
    EXPECT_EQ(RunWith(again, *same).moves, result.moves);
    EXPECT_EQ(again.log, original.log);

    const absl::StatusOr<Schedule> read = ParseSchedule(ToString(Schedule{.moves = result.moves}));
    ASSERT_TRUE(read.ok()) << read.status();
    ReplayPolicy replay(*read->moves);
    EXPECT_EQ(RunWith(moved, replay).moves, result.moves);
    EXPECT_EQ(moved.log, original.log);
    EXPECT_EQ(replay.not_made(), 0u);
  }
}

TEST(Replay, CountsMovesThatCannotBeMade) {
  RandomProgram program(1);
  ReplayPolicy replay({{AgentOrdinal{0}, 1000, AgentOrdinal{1}}, {{}, 0, AgentOrdinal{77}}});
  RunWith(program, replay);
  EXPECT_EQ(replay.not_made(), 2u);
}

absl::StatusOr<bool> ShowsBug(const ToyBugRow& row, const std::vector<Move>& moves) {
  const std::unique_ptr<ToyBug> bug = row.make(16);
  ReplayPolicy replay(moves);
  const absl::StatusOr<LoopResult> result = RunLoop(*bug).Run(replay);
  if (!result.ok()) return result.status();
  return bug->Shown() || result->outcome == Outcome::kDeadlock;
}

TEST(Shrink, LeavesTheMovesThatMatter) {
  // A late engine, and a producer that runs to its end, are the default choice already; each of the others needs one
  // switch.
  const std::size_t minimum[] = {0, 0, 1, 1, 1};
  for (std::size_t i = 0; i < std::size(kToyBugs); ++i) {
    const ToyBugRow& row = kToyBugs[i];
    LoopResult failing;
    for (std::uint64_t seed = 3; failing.moves.size() <= 4 && seed < 3000; ++seed) {
      const std::unique_ptr<ToyBug> bug = row.make(16);
      const std::unique_ptr<Policy> policy = MakePolicy(PolicyOfSeed(seed), seed, {40, {20, 20}});
      LoopResult result = RunWith(*bug, *policy);
      if (bug->Shown() || result.outcome == Outcome::kDeadlock) failing = std::move(result);
    }
    ASSERT_FALSE(failing.moves.empty()) << row.name;
    const absl::StatusOr<Shrunk> shrunk =
        Shrink(failing.moves, failing.operations, [&](const std::vector<Move>& tried) { return ShowsBug(row, tried); });
    ASSERT_TRUE(shrunk.ok()) << shrunk.status();
    EXPECT_TRUE(shrunk->reproduced && shrunk->minimal) << row.name;
    EXPECT_EQ(shrunk->moves.size(), minimum[i]) << row.name;
    EXPECT_LT(shrunk->runs, 300) << row.name;
  }
}

TEST(Shrink, AFailureThatDoesNotRepeatStaysAsItIs) {
  const std::vector<Move> moves = {{AgentOrdinal{0}, 1, AgentOrdinal{1}}, {AgentOrdinal{1}, 1, AgentOrdinal{0}}};
  int calls = 0;
  const auto once = [&](const std::vector<Move>&) -> absl::StatusOr<bool> { return ++calls == 1; };
  const absl::StatusOr<Shrunk> shrunk = Shrink(moves, {}, once);
  ASSERT_TRUE(shrunk.ok());
  EXPECT_FALSE(shrunk->reproduced);
  EXPECT_EQ(shrunk->moves, moves);
  const auto error = [](const std::vector<Move>&) -> absl::StatusOr<bool> { return absl::InternalError("no"); };
  EXPECT_FALSE(Shrink(moves, {}, error).ok());
}

std::string AllSeeds(int threads, std::int64_t seeds, std::int64_t stop_after) {
  std::string all;
  ParallelSeeds<std::string>(0, seeds, threads)
      .Do(
          [](std::int64_t seed) {
            RandomProgram program(static_cast<std::uint64_t>(seed) % 7);
            const std::unique_ptr<Policy> policy =
                MakePolicy(PolicyOfSeed(static_cast<std::uint64_t>(seed)), static_cast<std::uint64_t>(seed), {});
            return Cat(RunWith(program, *policy).steps, " ", program.log);
          },
          [&](std::int64_t seed, std::string log) {
            Append(&all, seed, ": ", log, "\n");
            return seed < stop_after;
          });
  return all;
}

TEST(ParallelSeeds, ResultsDoNotDependOnThreads) {
  const std::string one = AllSeeds(1, 300, 300);
  EXPECT_NE(one.find("\n299: "), std::string::npos);
  for (int threads : {0, 2, 7}) EXPECT_EQ(AllSeeds(threads, 300, 300), one);
  const std::string cut = AllSeeds(1, 300, 120);
  EXPECT_EQ(cut, one.substr(0, one.find("121: ")));
  EXPECT_EQ(AllSeeds(5, 300, 120), cut);
  EXPECT_EQ(AllSeeds(3, 0, 0), "");
}

TEST(ParallelSeeds, TheLowestSeedsErrorIsThrown) {
  for (int threads : {1, 4}) {
    ParallelSeeds<int> seeds(0, 100, threads);
    const auto run = [](std::int64_t seed) {
      if (seed >= 40) throw std::runtime_error(Cat(seed));
      return 0;
    };
    int taken = 0;
    try {
      seeds.Do(run, [&](std::int64_t, int) { return ++taken > 0; });
      FAIL() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "40");
    }
    EXPECT_EQ(taken, 40);
  }
}

}  // namespace
}  // namespace palladion::scheduler::test
