// Where undefined data came from, which agent read it, and which one stored it.
#include "memory_model/bytes/origin.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "memory_model/bytes/undefined_stores.h"

namespace palladion::memory_model {
namespace {

TEST(Origins, ManyAreDistinguishedAndTheRestIsSeveral) {
  struct Range {
    OriginKind kind;
    int first, several;
  };
  Origins origins;
  for (const Range range :
       {Range{OriginKind::kOutput, 1, 8}, Range{OriginKind::kMaskedLane, 9, 95}, Range{OriginKind::kValue, 96, 127}}) {
    const auto number = [&](int line) {
      return origins.Number({.kind = range.kind, .object = "x", .was_read = true, .text_line = line}, {});
    };
    for (int i = 0; i < 300; ++i) EXPECT_EQ(std::min(range.first + i, range.several), number(i));
    EXPECT_EQ(range.first + 3, number(3));
    EXPECT_NE(range.kind == OriginKind::kValue,
              origins.Of(static_cast<std::uint8_t>(range.several)).kind == OriginKind::kSeveral);
  }
  EXPECT_EQ(FindingCode::kUninitialised, origins.FindingOf(95, "it", {}).code);
}

// Programs in turns: each one's finding names what that program met.
TEST(Origins, TheProgramThatMetIt) {
  Origins origins;
  const std::vector<std::int64_t> a = {0, 1}, b = {2, 3}, c = {4, 5};
  const auto meet = [&](const std::vector<std::int64_t>& program) {
    return origins.Number({.kind = OriginKind::kPadding, .object = "x", .was_read = true}, program);
  };
  const std::uint8_t mark = meet(a);
  EXPECT_EQ(mark, meet(b));
  EXPECT_EQ(a, origins.MetBy(mark, a));
  EXPECT_EQ(b, origins.MetBy(mark, b));
  EXPECT_EQ(b, origins.MetBy(mark, c));  // it has what another left
  EXPECT_EQ(mark, meet(a));
  EXPECT_EQ(a, origins.MetBy(mark, c));
}

TEST(Origins, PlacesOfOneOutput) {
  constexpr std::uint8_t kNumber = 3;
  const auto moved = [](std::int64_t element) { return MovedFrom(kNumber, ElementCount(element)); };
  for (std::int64_t element = 0; element < 5000; ++element) {
    const std::uint8_t mark = moved(element);
    EXPECT_EQ(kNumber, ComputedMark(mark));
    EXPECT_FALSE(IsInPlace(mark));
    EXPECT_TRUE(IsInPlace(InPlaceOf(mark)));
    EXPECT_EQ(kNumber, ComputedMark(InPlaceOf(mark)));
    EXPECT_TRUE(mark != moved(element + 1) || element % kInPlace == kInPlace - 1);
  }
  // Whatever an array is shifted by, some element shows it.
  for (std::int64_t shift = 1; shift < 2000; ++shift) {
    bool differs = false;
    for (std::int64_t e = 0; e < 128; ++e) differs |= moved(e) != moved(e + shift);
    EXPECT_TRUE(differs) << shift;
  }
}

TEST(UndefinedStores, KeepWhatElementsName) {
  UndefinedStores stores;
  const auto store = [](int line) {
    return UndefinedStore{.mark = 9, .text_line = line, .program = {line}, .met = {}};
  };
  EXPECT_EQ(1u, stores.Add(store(1)));
  EXPECT_EQ(1u, stores.Add(store(1)));
  for (int line = 2; !stores.crowded(); ++line) stores.Add(store(line));
  std::vector<StoreNumber> first = {7, 0, 1}, second = {1, 70};
  stores.Forget({&first, &second});
  EXPECT_FALSE(stores.crowded());
  EXPECT_EQ((std::vector<StoreNumber>{1, 0, 2}), first);
  EXPECT_EQ((std::vector<StoreNumber>{2, 3}), second);
  for (const auto& [number, line] : {std::pair(1, 7), std::pair(2, 1), std::pair(3, 70)})
    EXPECT_EQ(line, stores.Of(static_cast<StoreNumber>(number)).text_line);
}

}  // namespace
}  // namespace palladion::memory_model
