// The sweep on random accesses, against sets of tasks that are kept for every byte.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "memory_model/sweep/sweep.h"
#include "memory_model/sweep/sweep_test_util.h"

namespace palladion::memory_model {
namespace {

using sweep_test::Ints;
using sweep_test::Swept;

// What each task did to each byte, without any of the sweep's sets.
class Oracle {
 public:
  void Touch(AccessKind kind, std::int64_t byte, std::int64_t task) {
    Byte& at = bytes_[byte];
    if (kind == AccessKind::kRead) {
      if (at.writers.count(task) == 0) at.readers.insert(task);
    } else {
      (kind == AccessKind::kWrite ? at.writers : at.updaters).insert(task);
    }
  }
  bool WriteWrite(std::int64_t byte) {
    const Byte& at = bytes_[byte];
    return at.writers.size() > 1 || Differ(at.writers, at.updaters);
  }
  bool ReadWrite(std::int64_t byte) {
    const Byte& at = bytes_[byte];
    return Differ(at.readers, at.writers) || Differ(at.readers, at.updaters);
  }

 private:
  struct Byte {
    std::set<std::int64_t> readers, writers, updaters;
  };
  static bool Differ(const std::set<std::int64_t>& a, const std::set<std::int64_t>& b) {
    for (std::int64_t x : a) {
      for (std::int64_t y : b) {
        if (x != y) return true;
      }
    }
    return false;
  }
  std::map<std::int64_t, Byte> bytes_;
};

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 1) {}
  std::int64_t Below(std::int64_t n) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::int64_t>((state_ >> 33) % static_cast<std::uint64_t>(n));
  }

 private:
  std::uint64_t state_;
};

constexpr std::int64_t kRows = 6, kColumns = 7;

void RandomBox(Random& random, Swept& x, Oracle& oracle, std::int64_t task) {
  const Ints start = {random.Below(kRows + 1) - 1, random.Below(kColumns + 1) - 1};
  const Ints count = {1 + random.Below(3), 1 + random.Below(4)};
  const Ints step = {1 + random.Below(10) / 9, 1 + random.Below(6) / 5};
  const AccessKind kind = random.Below(3) == 0 ? AccessKind::kWrite : AccessKind::kRead;
  BoxAccess box = x.Box(start, count, step);
  if (random.Below(4) == 0) std::swap(box.order[0], box.order[1]);
  std::vector<std::uint8_t> lanes;
  for (std::int64_t i = 0; i < count[0] * count[1]; ++i) lanes.push_back(random.Below(5) != 0);
  if (random.Below(4) == 0) box.mask.lanes = lanes.data();
  for (std::int64_t i = 0; i < count[0]; ++i) {
    for (std::int64_t j = 0; j < count[1]; ++j) {
      const std::int64_t row = start[0] + i * step[0], column = start[1] + j * step[1];
      const std::int64_t lane = box.order[0] == 0 ? i * count[1] + j : j * count[0] + i;
      if (row < 0 || row >= kRows || column < 0 || column >= kColumns) continue;
      if (box.mask.lanes != nullptr && lanes[static_cast<std::size_t>(lane)] == 0) continue;
      for (std::int64_t b = 0; b < 4; ++b) oracle.Touch(kind, (row * kColumns + column) * 4 + b, task);
    }
  }
  x.Do(kind, box);
}

void RandomPoints(Random& random, Swept& x, Oracle& oracle, std::int64_t task) {
  const std::int64_t piece = random.Below(6) == 0 ? 2 : 4;
  Ints offset;
  std::vector<std::uint8_t> lanes;
  const bool run = random.Below(2) == 0;
  std::int64_t place = random.Below(kRows * kColumns * 4 / piece);
  for (std::int64_t n = 1 + random.Below(4); n > 0; --n) {
    offset.push_back(place * piece);
    lanes.push_back(random.Below(5) != 0);
    place = run ? place + 1 : random.Below(kRows * kColumns * 4 / piece);
    if (place >= kRows * kColumns * 4 / piece) break;
  }
  const AccessKind kinds[] = {AccessKind::kRead, AccessKind::kWrite, AccessKind::kAtomic};
  const AccessKind kind = kinds[random.Below(3)];
  for (std::size_t p = 0; p < offset.size(); ++p) {
    for (std::int64_t b = 0; lanes[p] != 0 && b < piece; ++b) oracle.Touch(kind, offset[p] + b, task);
  }
  x.Do(kind, offset, static_cast<std::size_t>(piece), lanes.data());
}

// Conflicts of a kind are reported if and only if two tasks have one, at a byte where they do.
void CompareRandomly(std::uint64_t seed, bool returns, int* with, int* without) {
  Random random(seed);
  const std::int64_t tasks = 2 + random.Below(4), rounds = 1 + random.Below(3);
  std::vector<TaskDim> dims = {{.size = tasks, .parallel = true}, {.size = rounds, .parallel = false}};
  if (returns) std::swap(dims[0], dims[1]);
  Swept x({kRows, kColumns}, dims);
  Oracle oracle;
  const std::int64_t accesses = 1 + random.Below(4);
  for (std::int64_t i = 0; i < dims[0].size; ++i) {
    for (std::int64_t j = 0; j < dims[1].size; ++j) {
      x.Begin({i, j});
      for (std::int64_t n = random.Below(accesses + 1); n > 0; --n) {
        const std::int64_t task = returns ? j : i;
        random.Below(3) == 0 ? RandomPoints(random, x, oracle, task) : RandomBox(random, x, oracle, task);
      }
    }
  }
  bool write_write = false, read_write = false;
  for (std::int64_t b = 0; b < kRows * kColumns * 4; ++b) {
    write_write |= oracle.WriteWrite(b);
    read_write |= oracle.ReadWrite(b);
  }
  bool found_write_write = false, found_read_write = false;
  for (const SweepConflict& conflict : x.conflicts()) {
    (conflict.rule == ConflictRule::kWriteWrite ? found_write_write : found_read_write) = true;
    if (returns) continue;
    EXPECT_TRUE(conflict.rule == ConflictRule::kWriteWrite ? oracle.WriteWrite(conflict.byte.value())
                                                           : oracle.ReadWrite(conflict.byte.value()))
        << "seed " << seed << " byte " << conflict.byte.value();
  }
  if (returns) {  // after a first conflict of one kind, another may be said to be of the other kind
    EXPECT_EQ(write_write || read_write, found_write_write || found_read_write) << "seed " << seed;
  } else {
    EXPECT_EQ(write_write, found_write_write) << "seed " << seed;
    EXPECT_EQ(read_write, found_read_write) << "seed " << seed;
  }
  ++*(write_write || read_write ? with : without);
}

TEST(Sweep, AgreesWithSetsOfTasksForEveryByte) {
  for (const bool returns : {false, true}) {
    int with = 0, without = 0;
    for (std::uint64_t seed = 0; seed < 4000; ++seed) CompareRandomly(seed, returns, &with, &without);
    EXPECT_GT(with, 500);
    EXPECT_GT(without, 500);
  }
}

}  // namespace
}  // namespace palladion::memory_model
