// Requests by hand, without kernels: what is read, what is written, what is reported.
#include "memory_model/bytes/memory.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "memory_model/bytes/memory_test_util.h"

namespace palladion::memory_model {
namespace {

constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

class MemoryTest : public MemoryFixture {};

TEST_F(MemoryTest, ABoxWithStridesInBounds) {
  Floats data = Iota(24);
  const BufferId x = Adopt(data, {4, 6});
  EXPECT_EQ((Floats{7, 10, 19, 22}), Load(Box(x, {1, 1}, {2, 2}, {2, 3}), 4));
  EXPECT_EQ((Floats{8, 8, 8}), Load(Box(x, {1, 2}, {1, 3}, {1, 0}), 3));
  Store(Box(x, {0, 5}, {4, 1}, {1, 1}), {50, 51, 52, 53});
  EXPECT_EQ(50, data[5]);
  EXPECT_EQ(53, data[23]);
  EXPECT_TRUE(memory_.findings().empty());
}

TEST_F(MemoryTest, TheValueMayOrderDimensionsOtherwise) {
  Floats data = Iota(6);
  const BufferId x = Adopt(data, {2, 3});
  BoxAccess box = Box(x, {0, 0}, {2, 3}, {1, 1});
  box.order[0] = 1;
  box.order[1] = 0;
  EXPECT_EQ((Floats{0, 3, 1, 4, 2, 5}), Load(box, 6));
  Store(box, {0, 10, 20, 30, 40, 50});
  EXPECT_EQ((Floats{0, 20, 40, 10, 30, 50}), data);
}

TEST_F(MemoryTest, ABoxIsClippedOnEachSide) {
  Floats data = Iota(4);
  const BufferId x = Adopt(data, {4});
  EXPECT_EQ((Floats{-1, -1, 0, 1}), Load(Box(x, {-2}, {4}, {1}), 4));
  EXPECT_EQ((Floats{2, 3, -1, -1}), Load(Box(x, {2}, {4}, {1}), 4));
  EXPECT_EQ((Floats{-1, 0, 3, -1}), Load(Box(x, {-3}, {4}, {3}), 4));
  EXPECT_EQ((Floats{-1, -1}), Load(Box(x, {4}, {2}, {1}), 2));
  EXPECT_EQ((Floats{-1, -1}), Load(Box(x, {-1}, {2}, {0}), 2));
  ASSERT_EQ(1u, memory_.findings().size());  // one line, folded
  EXPECT_EQ(5, memory_.findings()[0].count);
  EXPECT_EQ(7, memory_.findings()[0].text_line);
  EXPECT_NE(std::string::npos,
            memory_.findings()[0].message.find(
                "load of 'x'[-2..1] at program (1, 2) is out of bounds: dimension 0 has indices 0..3"));
  Store(Box(x, {3}, {2}, {1}), {30, 40});
  Store(Box(x, {-1}, {2}, {1}), {10, 20});
  EXPECT_EQ((Floats{20, 1, 2, 30}), data);
}

// Bounds and observers see what they see of any run; bytes stay where they are, but for a thread's own number.
TEST_F(MemoryTest, WhereNothingMovesBoundsAreLookedAt) {
  memory_.MoveNothing();
  Floats data = Iota(4);
  const BufferId x = Adopt(data, {4});
  EXPECT_EQ((Floats{99, 99}), Load(Box(x, {1}, {2}, {1}), 2));
  Store(Box(x, {0}, {2}, {1}), {10, 20});
  memory_.Store(Box(x, {0}, {2}, {1}), nullptr);  // as an engine does, which has no bytes then
  EXPECT_EQ(Iota(4), data);
  EXPECT_TRUE(memory_.findings().empty());
  Load(Box(x, {3}, {2}, {1}), 2);
  EXPECT_EQ(1u, memory_.findings().size());
  EXPECT_EQ(4, memory_.accesses());
  const AllocationPlace own{.owner = PlaceLevel::kThread, .memory = PlaceLevel::kThread};
  const auto number = memory_.Alloc({.name = "n", .dtype = DType::kF32, .shape = {}, .place = own});
  ASSERT_TRUE(number.ok());
  Store(Box(*number, {}, {}, {}), {5});
  EXPECT_EQ((Floats{5}), Load(Box(*number, {}, {}, {}), 1));
  memory_.Load(Box(*number, {}, {}, {}), nullptr);
}

TEST_F(MemoryTest, AnEmptyBoxIsNoAccess) {
  Floats data = Iota(4);
  const BufferId x = Adopt(data, {4});
  Load(Box(x, {9}, {0}, {1}), 0);
  Store(Box(x, {-9}, {0}, {1}), {});
  EXPECT_EQ(nullptr, memory_.Borrow(Box(x, {0}, {0}, {1})));
  EXPECT_TRUE(memory_.findings().empty());
}

TEST_F(MemoryTest, PaddingIsInsideTheWindowOnly) {
  Floats data = Iota(5);
  const BufferId x = Adopt(data, {5});
  BoxAccess box = Box(x, {3}, {4}, {1});
  box.outside = Outside::kPad;
  box.lower[0] = 3;
  box.upper[0] = 7;
  EXPECT_EQ((Floats{3, 4, -1, -1}), Load(box, 4));
  Store(box, {30, 40, 50, 60});
  EXPECT_EQ((Floats{0, 1, 2, 30, 40}), data);
  EXPECT_TRUE(memory_.findings().empty());
  box.start[0] = 2;  // an element of the array, but before the window
  EXPECT_EQ((Floats{-1, 30, 40, -1}), Load(box, 4));
  EXPECT_EQ(1u, memory_.findings().size());
}

TEST_F(MemoryTest, WithoutAWindowTheArrayIsTheBound) {
  Floats data = Iota(8);
  const BufferId x = Adopt(data, {2, 4});
  BoxAccess box = Box(x, {0, 3}, {1, 2}, {1, 1});
  for (int d = 0; d < 2; ++d) {
    box.lower[static_cast<std::size_t>(d)] = std::numeric_limits<std::int64_t>::min();
    box.upper[static_cast<std::size_t>(d)] = kNoLimit;
  }
  EXPECT_EQ((Floats{3, -1}), Load(box, 2)) << "not the next row";
  EXPECT_EQ(1u, memory_.findings().size());
}

TEST_F(MemoryTest, AMaskedOffLaneIsNoAccess) {
  Floats data = Iota(4);
  const BufferId x = Adopt(data, {4});
  const std::uint8_t lanes[] = {1, 0, 1, 0};
  Floats other = {10, 11, 12, 13};
  BoxAccess box = Box(x, {1}, {4}, {1});
  box.mask = {.lanes = lanes, .other = Bytes(other)};
  EXPECT_EQ((Floats{1, 11, 3, 13}), Load(box, 4));
  box.mask.other = nullptr;
  EXPECT_EQ((Floats{1, -1, 3, -1}), Load(box, 4));
  Store(box, {50, 60, 70, 80});
  EXPECT_EQ((Floats{0, 50, 2, 70}), data);
  EXPECT_EQ(nullptr, memory_.Borrow(box));
  EXPECT_TRUE(memory_.findings().empty());
  box.start[0] = 2;  // lane 2 is admitted, and outside now
  Load(box, 4);
  EXPECT_EQ(1u, memory_.findings().size());
}

TEST_F(MemoryTest, AMaskOverRows) {
  Floats data = Iota(12);
  const BufferId x = Adopt(data, {3, 4});
  const std::uint8_t lanes[] = {1, 1, 0, 0, 1, 0};  // 2 rows of 3, the last column outside
  BoxAccess box = Box(x, {1, 2}, {2, 3}, {1, 1});
  box.mask = {.lanes = lanes, .other = nullptr};
  EXPECT_EQ((Floats{6, 7, -1, -1, 11, -1}), Load(box, 6));
  EXPECT_TRUE(memory_.findings().empty());
  const std::uint8_t outside[] = {0, 0, 0, 0, 0, 1};
  box.mask.lanes = outside;
  Load(box, 6);
  EXPECT_EQ(1u, memory_.findings().size());
}

TEST_F(MemoryTest, PointsPaddingAndOutside) {
  Floats data = Iota(4);
  const BufferId x = Adopt(data, {4});
  const Ints offsets = {12, PointAccess::kPadding, 0, 12};
  PointAccess points{.buffer = x, .offset = offsets, .piece_bytes = 4, .site = {.text_line = 9, .program = program_}};
  Floats value(4);
  memory_.Load(points, Bytes(value));
  EXPECT_EQ(3, value[0]);
  EXPECT_TRUE(std::isnan(value[1]));
  EXPECT_EQ(3, value[3]);
  value = {1, 2, 3, 4};
  memory_.Store(points, Bytes(value));
  EXPECT_EQ((Floats{3, 1, 2, 4}), data) << "the last of two lanes of one element";
  EXPECT_TRUE(memory_.findings().empty());
  const Ints outside = {PointAccess::kOutOfBounds, 4};
  points.offset = outside;
  memory_.Load(points, Bytes(value));
  EXPECT_TRUE(std::isnan(value[0]));
  ASSERT_EQ(1u, memory_.findings().size());
  EXPECT_EQ(9, memory_.findings()[0].text_line);
  const std::uint8_t lanes[] = {0, 1};
  points.mask.lanes = lanes;
  memory_.Load(points, Bytes(value));
  memory_.Store(points, Bytes(value));
  EXPECT_EQ(1, memory_.findings()[0].count) << "a masked-off lane may be outside";
}

TEST_F(MemoryTest, PiecesOfAnElement) {
  Floats data = {1.0f, 2.0f};  // 3f80'0000, 4000'0000
  const BufferId x = Adopt(data, {2});
  const Ints offsets = {2, 6};
  PointAccess points{
      .buffer = x, .offset = offsets, .piece_bytes = 2, .pieces_per_element = 2, .site = {.program = program_}};
  std::uint32_t value = 0;
  memory_.Load(points, reinterpret_cast<std::byte*>(&value));
  EXPECT_EQ(0x40003f80u, value);
}

void AddFloat(const std::byte* old, const std::byte* operand, const std::byte*, std::byte* result) {
  float a, b;
  std::memcpy(&a, old, sizeof(a));
  std::memcpy(&b, operand, sizeof(b));
  a += b;
  std::memcpy(result, &a, sizeof(a));
}

TEST_F(MemoryTest, AtomicLanesTakeTurns) {
  Floats data = {0, 10};
  const BufferId x = Adopt(data, {2});
  const Ints offsets = {0, 4, 0, PointAccess::kOutOfBounds, 0};
  const std::uint8_t lanes[] = {1, 1, 1, 1, 0};
  Floats operand = {1, 2, 4, 8, 16}, old(5);
  const PointAccess points{
      .buffer = x, .offset = offsets, .piece_bytes = 4, .mask = {.lanes = lanes}, .site = {.program = program_}};
  memory_.Atomic(points, AddFloat, Bytes(operand), nullptr, Bytes(old));
  EXPECT_EQ((Floats{5, 12}), data);
  EXPECT_EQ(0, old[0]);
  EXPECT_EQ(10, old[1]);
  EXPECT_EQ(1, old[2]);
  EXPECT_TRUE(std::isnan(old[3]));
  EXPECT_TRUE(std::isnan(old[4]));
  EXPECT_EQ(1u, memory_.findings().size());
}

// A lane of two pieces, as a view that bitcasts a narrow ref to a wide type has; one lane lies half outside.
TEST_F(MemoryTest, AtomicLanesOfSeveralPieces) {
  std::vector<std::uint16_t> data = {1, 2, 0xffff, 4, 5, 6};
  const Ints shape = {6};
  const BufferId buffer =
      memory_.Adopt({.name = "x", .dtype = DType::kU16, .shape = shape}, reinterpret_cast<std::byte*>(data.data()));
  const Ints offset = {4, 0, 8, PointAccess::kOutOfBounds};
  PointAccess points{.buffer = buffer,
                     .offset = offset,
                     .piece_bytes = 2,
                     .pieces_per_element = 2,
                     .mask = {},
                     .site = {.loc = {}, .text_line = 7, .program = program_}};
  const std::vector<std::uint32_t> operand = {1, 1};
  std::vector<std::uint32_t> old(2);
  const AtomicFn add = [](const std::byte* before, const std::byte* by, const std::byte*, std::byte* result) {
    std::uint32_t a, b;
    std::memcpy(&a, before, sizeof(a));
    std::memcpy(&b, by, sizeof(b));
    a += b;
    std::memcpy(result, &a, sizeof(a));
  };
  memory_.Atomic(points, add, reinterpret_cast<const std::byte*>(operand.data()), nullptr,
                 reinterpret_cast<std::byte*>(old.data()));
  EXPECT_EQ((std::vector<std::uint16_t>{2, 2, 0, 4, 5, 6}), data);
  EXPECT_EQ((std::vector<std::uint32_t>{0x1ffff, 0xffffffff}), old);
  ASSERT_EQ(1u, memory_.findings().size());
  EXPECT_EQ(1, memory_.findings()[0].count);
}

TEST_F(MemoryTest, OnlyDenseBoxesAreBorrowed) {
  Floats data = Iota(24);
  const BufferId x = Adopt(data, {4, 6});
  EXPECT_EQ(Bytes(data), memory_.Borrow(Box(x, {0, 0}, {4, 6}, {1, 1})));
  EXPECT_EQ(Bytes(data) + 48, memory_.Borrow(Box(x, {2, 0}, {2, 6}, {1, 1})));
  EXPECT_EQ(Bytes(data) + 56, memory_.Borrow(Box(x, {2, 2}, {1, 3}, {1, 1})));
  EXPECT_EQ(nullptr, memory_.Borrow(Box(x, {0, 0}, {2, 3}, {1, 1})));
  EXPECT_EQ(nullptr, memory_.Borrow(Box(x, {0, 0}, {2, 6}, {2, 1})));
  EXPECT_EQ(nullptr, memory_.Borrow(Box(x, {0, 0}, {1, 3}, {1, 0})));
  EXPECT_EQ(nullptr, memory_.Borrow(Box(x, {3, 0}, {2, 6}, {1, 1}))) << "outside";
  EXPECT_TRUE(memory_.findings().empty()) << "to ask is no access";
}

TEST_F(MemoryTest, NewMemoryIsPoisonedAgainAndAgain) {
  shape_ = {3};
  const AllocRequest request{.name = "t", .dtype = DType::kF32, .shape = shape_};
  for (int i = 0; i < 3; ++i) {
    absl::StatusOr<BufferId> t = memory_.Alloc(request);
    ASSERT_TRUE(t.ok());
    EXPECT_EQ((Floats{-1, -1, -1}), Load(Box(*t, {0}, {3}, {1}), 3));
    Store(Box(*t, {0}, {3}, {1}), {1, 2, 3});
    memory_.Free(*t);
  }
}

// However it is touched first.
TEST_F(MemoryTest, NewMemoryIsPoisonWhereUnwritten) {
  shape_ = {3};
  const auto make = [&] { return *memory_.Alloc({.name = "x", .dtype = DType::kF32, .shape = shape_}); };
  const BufferId stored = make(), shown = make(), target = make();
  Store(Box(stored, {1}, {1}, {1}), {5});
  EXPECT_EQ((Floats{-1, 5, -1}), Load(Box(stored, {0}, {3}, {1}), 3));
  EXPECT_TRUE(std::isnan(*reinterpret_cast<const float*>(std::as_const(memory_).DataOf(shown))));
  Floats data = Iota(3);
  const BufferId source = Adopt(data, {3});
  Copy(Box(source, {0}, {2}, {1}), Box(target, {1}, {2}, {1}));
  EXPECT_EQ((Floats{-1, 0, 1}), Load(Box(target, {0}, {3}, {1}), 3));
}

// The numbers of a random fill go by the order of allocations.
TEST(MemoryFill, RandomMemoryDoesNotKnowWhoLooksFirst) {
  const std::int64_t shape[] = {4};
  std::vector<std::vector<std::byte>> seen[2];
  for (const int first : {0, 1}) {
    Memory memory;
    memory.SetFill({.kind = Fill::Kind::kRandom, .seed = 3});
    const BufferId made[] = {*memory.Alloc({.name = "x", .dtype = DType::kI32, .shape = shape}),
                             *memory.Alloc({.name = "y", .dtype = DType::kI32, .shape = shape})};
    seen[first].resize(2);
    for (const int i : {first, 1 - first}) seen[first][i].assign(memory.DataOf(made[i]), memory.DataOf(made[i]) + 16);
  }
  EXPECT_EQ(seen[0], seen[1]);
}

class Masks final : public MemoryWatcher {
 public:
  EventSet wants() const override { return {EventKind::kMasked}; }
  void Box(const Who&, AccessKind, const BoxAccess& access, const BoxReach&, const std::byte*) override {
    lanes = access.mask.lanes;
  }
  void Points(const Who&, AccessKind, const PointAccess& access, const std::byte*) override {
    lanes = access.mask.lanes;
  }
  const std::uint8_t* lanes = nullptr;
};

TEST_F(MemoryTest, AccessesAreCountedAndMaskedOnesShownToThoseWhoAsk) {
  Masks masks;
  memory_.Observe(&masks);
  Floats x = Iota(4);
  BoxAccess box = Box(Adopt(x, {4}), {0}, {2}, {1});
  Load(box, 2);
  Store(box, {1, 2});
  EXPECT_NE(nullptr, memory_.Borrow(box));
  EXPECT_EQ(3, memory_.accesses());
  EXPECT_EQ(nullptr, masks.lanes);
  const std::uint8_t lanes[2] = {0, 1};
  box.mask.lanes = lanes;
  Load(box, 2);
  EXPECT_EQ(4, memory_.accesses());
  EXPECT_EQ(lanes, masks.lanes);
}

}  // namespace
}  // namespace palladion::memory_model
