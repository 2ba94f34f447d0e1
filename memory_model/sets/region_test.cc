// Lists of boxes by hand. What tasks have done to elements is held against sets of tasks in sweep_random_test.cc.
#include "memory_model/sets/region.h"

#include <gtest/gtest.h>

namespace palladion::memory_model {
namespace {

ElementBox Elements(std::int64_t low, std::int64_t high) {
  ElementBox box{.rank = 1};
  box.low[0] = low, box.high[0] = high;
  return box;
}

TEST(BoxList, HoldsAsManyBoxesAsItSays) {
  BoxList list(1);
  for (std::size_t i = 0; i < BoxList::kMaxBoxes; ++i) {
    EXPECT_TRUE(list.Add(Elements(2 * static_cast<std::int64_t>(i), 2 * static_cast<std::int64_t>(i) + 1)));
    EXPECT_EQ(list.size(), i + 1);
  }
  EXPECT_FALSE(list.Add(Elements(1000, 1001)));
  EXPECT_FALSE(list.Meets(Elements(1000, 1001), nullptr));
  EXPECT_TRUE(list.Add(Elements(1, 2))) << "it joins two boxes to one";
  EXPECT_EQ(list.size(), BoxList::kMaxBoxes - 1);
}

}  // namespace
}  // namespace palladion::memory_model
