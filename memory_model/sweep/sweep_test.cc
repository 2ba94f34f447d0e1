// The sweep on requests by hand: conflicts as they are found.
#include "memory_model/sweep/sweep.h"

#include <gtest/gtest.h>

#include "memory_model/sweep/sweep_test_util.h"

namespace palladion::memory_model {
namespace {

using sweep_test::Ints;
using sweep_test::Swept;

const std::vector<TaskDim> kRow = {{.size = 8, .parallel = true}};

TEST(Sweep, DisjointWritesAndCommonReadsAreNoConflict) {
  Swept x({8, 8}, kRow);
  for (int i = 0; i < 4; ++i) {
    x.Begin({i});
    x.Write(x.Box({i, 0}, {1, 8}));
    x.Read(x.Box({4, 0}, {4, 8}));
    x.Read(x.Box({i, 0}, {1, 8}));
  }
  EXPECT_TRUE(x.conflicts().empty());
  EXPECT_EQ(12, x.sweep().accesses());
  EXPECT_EQ(4, x.sweep().clock().begun());
}

TEST(Sweep, TwoTasksWriteOneElement) {
  Swept x({8, 8}, kRow);
  x.Begin({0});
  x.Write(x.Box({0, 0}, {4, 5}));
  x.Begin({3});
  x.At(7);
  x.Write(x.Box({3, 4}, {5, 4}));
  ASSERT_EQ(1u, x.conflicts().size());
  const SweepConflict& conflict = x.conflicts()[0];
  EXPECT_EQ(ConflictRule::kWriteWrite, conflict.rule);
  EXPECT_EQ((3 * 8 + 4) * 4, conflict.byte.value());
  EXPECT_EQ("[3:8, 4:8]", conflict.box);
  EXPECT_EQ((Ints{3}), conflict.program);
  EXPECT_EQ(7, conflict.text_line);
}

TEST(Sweep, ReadersAndWritersInEitherOrder) {
  for (const bool read_first : {false, true}) {
    Swept x({8}, kRow);
    x.Begin({0});
    x.Do(read_first ? AccessKind::kRead : AccessKind::kWrite, x.Box({2}, {2}));
    x.Begin({1});
    x.Do(read_first ? AccessKind::kWrite : AccessKind::kRead, x.Box({0}, {3}));
    ASSERT_EQ(1u, x.conflicts().size());
    EXPECT_EQ(ConflictRule::kReadWrite, x.conflicts()[0].rule);
    EXPECT_EQ(8, x.conflicts()[0].byte.value());
  }
}

// A reader in the writer's own task does not hide another's read.
TEST(Sweep, EveryReaderCounts) {
  Swept x({8}, kRow);
  x.Begin({0});
  x.Read(x.Box({0}, {4}));
  x.Begin({1});
  x.Read(x.Box({0}, {4}));
  x.Write(x.Box({0}, {4}));
  ASSERT_EQ(1u, x.conflicts().size());
  EXPECT_EQ(ConflictRule::kReadWrite, x.conflicts()[0].rule);
}

TEST(Sweep, AProgramOfTheSameTaskIsOrdered) {
  Swept x({8}, {{.size = 2, .parallel = true}, {.size = 4, .parallel = false}});
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 4; ++j) {
      x.Begin({i, j});
      x.Read(x.Box({4 * i}, {4}));
      x.Write(x.Box({4 * i}, {4}));
    }
  }
  EXPECT_TRUE(x.conflicts().empty());
  EXPECT_EQ(2, x.sweep().clock().begun());
}

TEST(Sweep, ATaskThatReturns) {
  for (const int shift : {0, 1}) {
    Swept x({8}, {{.size = 4, .parallel = false}, {.size = 2, .parallel = true}});
    for (int i = 0; i < 4; ++i) {
      for (int j = 0; j < 2; ++j) {
        x.Begin({i, j});
        x.Read(x.Box({4 * j}, {4}));
        x.Write(x.Box({4 * j}, {4 + (i == 3 ? shift : 0)}));
      }
    }
    EXPECT_EQ(shift == 0, x.conflicts().empty());
  }
}

TEST(Sweep, AtomicsDoNotConflictWithEachOther) {
  Swept x({8}, kRow);
  for (int i = 0; i < 3; ++i) {
    x.Begin({i});
    x.Do(AccessKind::kAtomic, Ints{0, 4, 4 * i});
  }
  EXPECT_TRUE(x.conflicts().empty());
  x.Do(AccessKind::kRead, Ints{4});
  ASSERT_EQ(1u, x.conflicts().size());
  EXPECT_EQ(ConflictRule::kReadWrite, x.conflicts()[0].rule);
  x.Begin({4});
  x.Do(AccessKind::kWrite, Ints{0});
  ASSERT_EQ(2u, x.conflicts().size());
  EXPECT_EQ(ConflictRule::kWriteWrite, x.conflicts()[1].rule);
}

TEST(Sweep, MaskedOffLanesAreNoAccess) {
  Swept x({8}, kRow);
  const std::uint8_t even[] = {1, 0, 1, 0, 1, 0, 1, 0}, odd[] = {0, 1, 0, 1, 0, 1, 0, 1};
  BoxAccess box = x.Box({0}, {8});
  box.mask.lanes = even;
  x.Begin({0});
  x.Write(box);
  box.mask.lanes = odd;
  x.Begin({1});
  x.Write(box);
  EXPECT_TRUE(x.conflicts().empty());
  x.Begin({2});
  x.Do(AccessKind::kWrite, Ints{0, 4, 8}, 4, odd);
  ASSERT_EQ(1u, x.conflicts().size());
  EXPECT_EQ(4, x.conflicts()[0].byte.value());
}

TEST(Sweep, InterleavedColumns) {
  Swept x({4, 8}, kRow);
  x.Begin({0});
  x.Write(x.Box({0, 0}, {4, 4}, {1, 2}));
  x.Begin({1});
  x.Write(x.Box({0, 1}, {4, 4}, {1, 2}));
  EXPECT_TRUE(x.conflicts().empty());
  x.Begin({2});
  x.Read(x.Box({0, 3}, {4, 1}, {1, 2}));
  EXPECT_EQ(1u, x.conflicts().size());
}

TEST(Sweep, HalvesOfAnElement) {
  Swept x({4}, kRow);
  x.Begin({0});
  x.Do(AccessKind::kWrite, Ints{0, 4}, 2);
  x.Begin({1});
  x.Do(AccessKind::kWrite, Ints{2, 6}, 2);
  EXPECT_TRUE(x.conflicts().empty());
  x.Begin({2});
  x.Read(x.Box({1}, {1}));
  ASSERT_EQ(1u, x.conflicts().size());
  EXPECT_EQ(4, x.conflicts()[0].byte.value());
}

TEST(Sweep, MemoryOfATasksOwnMayBeWrittenByAll) {
  Swept x({8}, kRow, Sweep::Sharing::kOwn);
  for (int i = 0; i < 3; ++i) {
    x.Begin({i});
    x.Write(x.Box({0}, {4}));
    x.Write(x.Box({4}, {3}));
    x.Read(x.Box({0}, {7}));
  }
  EXPECT_TRUE(x.conflicts().empty());
  x.Begin({3});
  x.Write(x.Box({0}, {4}));
  x.Read(x.Box({7}, {1}));
  EXPECT_TRUE(x.conflicts().empty()) << "nobody wrote it";
  x.Read(x.Box({0}, {6}));
  ASSERT_EQ(1u, x.conflicts().size());
  EXPECT_EQ(ConflictRule::kInherited, x.conflicts()[0].rule);
  EXPECT_EQ(16, x.conflicts()[0].byte.value());
}

// The same, element by element.
TEST(Sweep, OfMemoryOfATasksOwnTheLastWriterIsKnown) {
  Swept x({8}, kRow, Sweep::Sharing::kOwn);
  x.Begin({0});
  x.Do(AccessKind::kWrite, Ints{0, 8});
  x.Begin({1});
  x.Do(AccessKind::kWrite, Ints{8});
  x.Do(AccessKind::kRead, Ints{4, 8});
  EXPECT_TRUE(x.conflicts().empty()) << "of no agent, and of its own";
  x.Do(AccessKind::kRead, Ints{0, 8});
  ASSERT_EQ(1u, x.conflicts().size());
  EXPECT_EQ(ConflictRule::kInherited, x.conflicts()[0].rule);
  EXPECT_EQ(0, x.conflicts()[0].byte.value());
}

// What tasks on one core hand to each other is in conflict whichever of the two came first, and only with a read.
TEST(Sweep, MemoryOfACoreDependsOnTheOrderInBothOrders) {
  for (const bool read_first : {false, true}) {
    Swept x({8}, kRow, Sweep::Sharing::kOfCore);
    for (int i = 0; i < 2; ++i) {
      x.Begin({i});
      if (read_first == (i == 0)) {
        x.Read(x.Box({2}, {2}));
      } else {
        x.Write(x.Box({0}, {4}));
        x.Read(x.Box({0}, {4}));
      }
    }
    ASSERT_EQ(1u, x.conflicts().size()) << read_first;
    EXPECT_EQ(ConflictRule::kInherited, x.conflicts()[0].rule);
    EXPECT_EQ(read_first ? AccessKind::kWrite : AccessKind::kRead, x.conflicts()[0].kind);
    EXPECT_EQ(8, x.conflicts()[0].byte.value());
    x.Begin({2});
    x.Write(x.Box({4}, {4}));
    x.Begin({3});
    x.Write(x.Box({4}, {4}));
    x.Read(x.Box({4}, {4}));
    EXPECT_EQ(1u, x.conflicts().size()) << "each has what it stored itself";
  }
}

// Cores take turns: what a task did before others ran is its own when it goes on, and the program that it is at.
TEST(Sweep, TasksThatTakeTurns) {
  Sweep sweep(kRow, /*take_turns=*/true);
  std::vector<std::byte> data(32), value(32);
  Memory memory;
  memory.Observe(&sweep);
  const BufferId buffer = memory.Adopt({.name = "x", .dtype = DType::kI32, .shape = {8}}, data.data());
  sweep.Watch(memory, buffer, Sweep::Sharing::kShared);
  const auto write = [&](int program, bool begins, std::int64_t start, int line) {
    const Ints index = {program};
    memory.Running({.id = {}, .index = index, .begins = begins});
    BoxAccess box;
    box.buffer = buffer;
    box.rank = box.value_rank = 1;
    box.start[0] = start;
    box.count[0] = 4;
    box.step[0] = 1;
    box.lower[0] = -1000;
    box.upper[0] = 1000;
    box.order[0] = 0;
    box.site = {.loc = {}, .text_line = line, .program = index};
    memory.Store(box, value.data());
  };
  write(0, true, 0, 1);
  write(1, true, 4, 1);
  write(0, false, 0, 2);
  write(1, false, 4, 2);
  EXPECT_TRUE(sweep.conflicts().empty());
  write(0, false, 4, 3);
  ASSERT_EQ(1u, sweep.conflicts().size());
  EXPECT_EQ(ConflictRule::kWriteWrite, sweep.conflicts()[0].rule);
  EXPECT_EQ(Ints{0}, sweep.conflicts()[0].program);
}

// The black cells of a board: no two of them make a box, so the lists give way to owners on the way.
TEST(Sweep, ManyBoxesThatDoNotMerge) {
  for (const bool backwards : {false, true}) {
    Swept x({16, 16}, {{.size = 1000, .parallel = true}});
    const auto write = [&](std::int64_t row, std::int64_t column) { x.Write(x.Box({row, column}, {1, 1})); };
    for (std::int64_t n = 0; n < 128; ++n) {
      const std::int64_t i = backwards ? 127 - n : n;
      x.Begin({n});
      write(i / 8, 2 * (i % 8) + i / 8 % 2);
    }
    x.Begin({200});
    for (std::int64_t i = 0; i < 128; ++i) write(i / 8, 2 * (i % 8) + 1 - i / 8 % 2);
    EXPECT_TRUE(x.conflicts().empty());
    x.Begin({201});
    x.Read(x.Box({3, 3}, {1, 1}));
    x.Begin({202});
    x.Write(x.Box({0, 0}, {1, 1}));
    ASSERT_EQ(2u, x.conflicts().size());
    EXPECT_EQ((3 * 16 + 3) * 4, x.conflicts()[0].byte.value());
    EXPECT_EQ(0, x.conflicts()[1].byte.value());
  }
}

// The list gives way at the end of some task: what that one did is others' to the next.
TEST(Sweep, AListThatGivesWayBetweenTasks) {
  for (std::int64_t tasks = 30; tasks < 36; ++tasks) {
    Swept x({16, 16}, {{.size = 1000, .parallel = true}});
    const auto write = [&](std::int64_t i) { x.Write(x.Box({i / 8, 2 * (i % 8) + i / 8 % 2}, {1, 1})); };
    for (std::int64_t i = 0; i < tasks; ++i) {
      x.Begin({i});
      write(i);
    }
    EXPECT_TRUE(x.conflicts().empty());
    x.Begin({tasks});
    write(tasks - 1);
    EXPECT_EQ(1u, x.conflicts().size()) << tasks;
  }
}

// A task that fills its list in the middle of its work knows what it wrote, and what the others did.
TEST(Sweep, AListThatGivesWayWithinATask) {
  Swept x({100, 2}, kRow);
  x.Begin({0});
  x.Write(x.Box({99, 0}, {1, 2}));
  x.Begin({1});
  for (std::int64_t i = 0; i < 45; ++i) x.Write(x.Box({2 * i, 0}, {1, 1}));
  for (std::int64_t i = 0; i < 45; ++i) x.Read(x.Box({2 * i, 0}, {1, 1}));
  EXPECT_TRUE(x.conflicts().empty());
  x.Read(x.Box({98, 0}, {2, 2}));
  ASSERT_EQ(1u, x.conflicts().size());
  EXPECT_EQ(99 * 2 * 4, x.conflicts()[0].byte.value());
  x.Begin({2});
  x.Write(x.Box({0, 0}, {1, 1}));
  ASSERT_EQ(2u, x.conflicts().size());
  EXPECT_EQ(ConflictRule::kWriteWrite, x.conflicts()[1].rule) << "what it read there was its own";
}

TEST(Sweep, ManyProgramsKeepNothingEach) {
  Swept x({1 << 10}, {{.size = std::int64_t{1} << 30, .parallel = true}});
  for (std::int64_t i = 0; i < 1 << 20; ++i) {
    x.Begin({i});
    x.Read(x.Box({0}, {1 << 10}));
    if (i < 1 << 5) x.Read(x.Box({i * 3}, {1}));
  }
  EXPECT_TRUE(x.conflicts().empty());
  EXPECT_EQ(1 << 20, x.sweep().clock().begun());
}

}  // namespace
}  // namespace palladion::memory_model
