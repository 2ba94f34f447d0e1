#include "memory_model/sweep/paged_array.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace palladion::memory_model {
namespace {

// Against a map, with reads of elements that were never set, on both sides of each page.
TEST(PagedArray, IsAMapWithZerosElsewhere) {
  std::minstd_rand engine(1);
  PagedArray<int> array;
  std::map<std::size_t, int> reference;
  EXPECT_EQ(array[5000], 0);
  for (int i = 0; i < 2000; ++i) {
    const std::size_t at = engine() % 3 == 0 ? engine() % 100'000 : 250 + engine() % 12;
    array.At(at) += i;
    reference[at] += i;
  }
  for (std::size_t at = 0; at < 100'500; ++at) ASSERT_EQ(array[at], reference.count(at) > 0 ? reference[at] : 0) << at;
}

TEST(PagedArray, AllOfSeesEveryElementThatWasSet) {
  PagedArray<bool> array;
  array.At(700) = array.At(3) = true;
  std::map<std::size_t, bool> seen;
  EXPECT_TRUE(array.AllOf([&](std::size_t i, bool value) {
    if (value) seen[i] = value;
    return true;
  }));
  EXPECT_EQ(seen, (std::map<std::size_t, bool>{{3, true}, {700, true}}));
  EXPECT_FALSE(array.AllOf([](std::size_t i, bool value) { return !value || i < 700; }));
}

}  // namespace
}  // namespace palladion::memory_model
