// Against a list of elements: however boxes overlap and whatever has become of them, two histories have the same number
// where each element that is read was written last by the same write, and else not.
#include "emu/run/launch/last_writes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "scheduler/policies/random.h"

namespace palladion::launch {
namespace {

constexpr std::array<std::int64_t, 3> kShape = {3, 8, 5};
constexpr std::int64_t kElements = 3 * 8 * 5;

struct TestBox {
  std::array<std::int64_t, 3> start, count, step;
};

TestBox RandomBox(scheduler::Random& random, bool dense) {
  TestBox box;
  for (std::size_t d = 0; d < 3; ++d) {
    const auto size = static_cast<std::uint64_t>(kShape[d]);
    box.step[d] = dense ? 1 : 1 + static_cast<std::int64_t>(random.Below(2));
    box.start[d] = static_cast<std::int64_t>(random.Below(size));
    const std::int64_t most = (kShape[d] - box.start[d] + box.step[d] - 1) / box.step[d];
    box.count[d] = 1 + static_cast<std::int64_t>(random.Below(static_cast<std::uint64_t>(most)));
  }
  return box;
}

BoxAccess AccessOf(const TestBox& box) {
  BoxAccess access;
  access.rank = access.value_rank = 3;
  for (std::size_t d = 0; d < 3; ++d) {
    access.start[d] = box.start[d];
    access.count[d] = box.count[d];
    access.step[d] = box.step[d];
    access.lower[d] = 0;
    access.upper[d] = kShape[d];
    access.order[d] = static_cast<std::uint8_t>(d);
  }
  return access;
}

// The oracle: the last writer of each element.
struct Elements {
  std::vector<std::uint64_t> writer = std::vector<std::uint64_t>(kElements, 99);

  template <class F>
  void Visit(const TestBox& box, const F& f) {
    for (std::int64_t i = 0; i < box.count[0]; ++i) {
      for (std::int64_t j = 0; j < box.count[1]; ++j) {
        for (std::int64_t k = 0; k < box.count[2]; ++k) {
          const std::int64_t at = ((box.start[0] + i * box.step[0]) * kShape[1] + box.start[1] + j * box.step[1]);
          f(writer[static_cast<std::size_t>(at * kShape[2] + box.start[2] + k * box.step[2])]);
        }
      }
    }
  }
};

struct History {
  LastWrites writers;
  Elements elements;
  History() {
    writers.Clear(99);
    writers.Begin(kShape);
  }
  void Write(const TestBox& box, std::uint64_t writer) {
    const BoxAccess access = AccessOf(box);
    writers.Write(access, memory_model::ReachOf(kShape, access), writer);
    elements.Visit(box, [&](std::uint64_t& last) { last = writer; });
  }
  std::uint64_t Read(const TestBox& box) {
    const BoxAccess access = AccessOf(box);
    return writers.Read(access, memory_model::ReachOf(kShape, access));
  }
  std::vector<std::uint64_t> Seen(const TestBox& box) {
    std::vector<std::uint64_t> seen;
    elements.Visit(box, [&](std::uint64_t last) { seen.push_back(last); });
    return seen;
  }
};

TEST(LastWrites, DistinguishHistoriesByWhatIsReadAlone) {
  scheduler::Random random(1);
  int same = 0, different = 0;
  for (int round = 0; round < 3000; ++round) {
    History a, b;
    const bool dense = random.Below(3) != 0;
    std::vector<std::pair<TestBox, std::uint64_t>> writes;
    for (std::uint64_t n = 1 + random.Below(6); n > 0; --n) writes.emplace_back(RandomBox(random, dense), n);
    for (const auto& [box, writer] : writes) a.Write(box, writer);
    if (writes.size() > 1) std::swap(writes[random.Below(writes.size())], writes[random.Below(writes.size())]);
    if (random.Below(2) == 0) b.Write(RandomBox(random, false), 7);  // it is kept element by element from here on
    for (const auto& [box, writer] : writes) b.Write(box, writer);
    const TestBox read = RandomBox(random, dense);
    const bool equal = a.Seen(read) == b.Seen(read);
    EXPECT_EQ(a.Read(read) == b.Read(read), equal) << "round " << round;
    EXPECT_EQ(a.writers.All() == b.writers.All(), a.elements.writer == b.elements.writer) << "round " << round;
    (equal ? same : different) += 1;
  }
  EXPECT_GT(same, 500);
  EXPECT_GT(different, 200);
}

TEST(LastWrites, PlacesAreElementsToo) {
  LastWrites a, b;
  for (LastWrites* one : {&a, &b}) one->Clear(5), one->Begin(kShape);
  const std::vector<std::int64_t> whole = {0, 4, 40}, half = {2};
  constexpr ElementSize four(4);
  const PointAccess write{.offset = whole, .piece_bytes = 4}, part{.offset = half, .piece_bytes = 2};
  a.Write(write, four, 1);
  EXPECT_NE(a.Read(write, four), b.Read(write, four));
  b.Write(write, four, 1);
  EXPECT_EQ(a.Read(write, four), b.Read(write, four));
  a.Write(part, four, 2);  // of a part: what was there counts, too
  EXPECT_NE(a.Read(write, four), b.Read(write, four));
  b.Write(write, four, 3);
  b.Write(part, four, 2);
  EXPECT_NE(a.Read(part, four), b.Read(part, four));
}

}  // namespace
}  // namespace palladion::launch
