// Random allocations and frees: no two live ranges overlap, and what is freed merges.
#include "semantics/program/slot_memory.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace palladion {
namespace {

TEST(SlotMemory, OffsetsAreAlignedAndFreedRangesMerge) {
  SlotMemory memory;
  const std::size_t a = memory.Allocate(1), b = memory.Allocate(65), c = memory.Allocate(0);
  EXPECT_EQ(0u, a);
  EXPECT_EQ(64u, b);
  EXPECT_EQ(192u, c);
  EXPECT_EQ(256u, memory.size());
  memory.Free(a, 1);
  memory.Free(b, 65);
  EXPECT_EQ(0u, memory.Allocate(192)) << "two neighbours are one range";
  memory.Free(c, 0);
  EXPECT_EQ(192u, memory.Allocate(64));
  EXPECT_EQ(256u, memory.size());
}

// Against a map of what is held: no two ranges overlap, and once all is free one range is the whole arena.
TEST(SlotMemory, RangesNeverOverlap) {
  SlotMemory memory;
  std::map<std::size_t, std::size_t> held;  // offset -> bytes asked for
  std::minstd_rand random(1);
  for (int i = 0; i < 3000; ++i) {
    if (held.size() < 20 && random() % 2 == 0) {
      const std::size_t bytes = random() % 1000;
      const std::size_t offset = memory.Allocate(bytes);
      EXPECT_EQ(0u, offset % 64);
      EXPECT_LE(offset + bytes, memory.size());
      const auto [at, fresh] = held.emplace(offset, bytes);
      ASSERT_TRUE(fresh);
      if (at != held.begin()) {
        EXPECT_LE(std::prev(at)->first + std::prev(at)->second, offset);
      }
      if (std::next(at) != held.end()) {
        EXPECT_LE(offset + bytes, std::next(at)->first);
      }
    } else if (!held.empty()) {
      const auto at = std::next(held.begin(), static_cast<std::ptrdiff_t>(random() % held.size()));
      memory.Free(at->first, at->second);
      held.erase(at);
    }
  }
  for (const auto& [offset, bytes] : held) memory.Free(offset, bytes);
  const std::size_t size = memory.size();
  EXPECT_EQ(0u, memory.Allocate(size));
  EXPECT_EQ(size, memory.size());
}

}  // namespace
}  // namespace palladion
