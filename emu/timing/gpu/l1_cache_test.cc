// L1 by hand: what it has, what it evicts, what is still in flight.
#include "emu/timing/gpu/l1_cache.h"

#include <gtest/gtest.h>

namespace palladion::timing::gpu {
namespace {

using scheduler::Ticks;

SectorLine L1LineAt(std::int64_t number, SectorLine::Sectors sectors = 0b1111) {
  return {.key = {0, number}, .sectors = sectors};
}

TEST(L1Cache, HasWhatArrivedAndNoOtherSectors) {
  L1Cache cache(2);
  EXPECT_EQ(cache.Look(L1LineAt(0)).missed, 0b1111);
  cache.Arrived(L1LineAt(0, 0b0011), Ticks{70});
  EXPECT_EQ(cache.Look(L1LineAt(0)).missed, 0b1100);
  EXPECT_EQ(cache.Look(L1LineAt(0, 0b0001)).missed, 0);
  EXPECT_EQ(cache.Look(L1LineAt(0, 0b0001)).there, Ticks{70}) << "a load may still be under way";
}

TEST(L1Cache, LetsGoOfTheLineThatWasUsedLongestAgo) {
  L1Cache cache(2);
  cache.Arrived(L1LineAt(0), Ticks{1});
  cache.Arrived(L1LineAt(1), Ticks{1});
  cache.Look(L1LineAt(0));
  cache.Arrived(L1LineAt(2), Ticks{2});
  EXPECT_EQ(cache.Look(L1LineAt(0)).missed, 0);
  EXPECT_EQ(cache.Look(L1LineAt(1)).missed, 0b1111);
}

TEST(L1Cache, WithoutRoomItHasNothing) {
  L1Cache cache(0);
  cache.Arrived(L1LineAt(0), Ticks{1});
  EXPECT_EQ(cache.Look(L1LineAt(0)).missed, 0b1111);
}

}  // namespace
}  // namespace palladion::timing::gpu
