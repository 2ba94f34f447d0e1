// Functions of asynchronous operations that read and write where their operands lie: what is between their halves
// changes nothing of what they see, whatever is written there later; and an observer that wants the values of stores
// gets them.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <utility>
#include <vector>

#include "memory_model/concurrency_test_util.h"
#include "memory_model/engine/async_engine.h"

namespace palladion::memory_model {
namespace {

using concurrency_test::Rows;
using concurrency_test::Script;
using Floats = std::vector<float>;

constexpr ElementSize kFloat{4};

Floats ValuesOf(const AsyncValue& value, std::size_t count) {
  Floats values(count);
  if (value.view.data != nullptr) {
    CopyOut(value.view, kFloat, reinterpret_cast<std::byte*>(values.data()));
  } else {
    std::memcpy(values.data(), value.bytes.data(), count * sizeof(float));
  }
  return values;
}

class Views : public testing::Test {
 protected:
  static constexpr std::size_t kElements = 8;  // of both columns of four rows

  void SetUp() override {
    core_ = s_.Thread("core");
    buffer_ = s_.Buffer("x", {6, 2}, ProxySpace::kPlain);
    Fill({0, 6}, 0);
  }

  // Element i of the rows becomes first + i.
  void Fill(const Rows& rows, float first) {
    Floats values(static_cast<std::size_t>(2 * rows.count));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = first + static_cast<float>(i);
    s_.memory.Store(Box(rows), reinterpret_cast<const std::byte*>(values.data()));
  }
  BoxAccess Box(const Rows& rows) const { return std::get<BoxAccess>(s_.Operand(buffer_, rows).where); }

  // Doubles rows 1 .. 4 into `to`.
  AsyncRequest Doubling(FunctionViews views, const Rows& to) {
    AsyncRequest request = s_.Copy(buffer_, {1, 4}, buffer_, to);
    request.views = views;
    request.function = [this](const std::vector<AsyncValue>& in, std::vector<AsyncValue>* out) {
      seen_ = ValuesOf(in[0], kElements);
      in_place_ = in[0].view.data != nullptr, written_in_place_ = out->front().view.data != nullptr;
      Floats doubled = seen_;
      for (float& value : doubled) value *= 2;
      const auto* bytes = reinterpret_cast<const std::byte*>(doubled.data());
      if (written_in_place_) return CopyIn(bytes, kFloat, out->front().view);
      std::memcpy(out->front().bytes.data(), bytes, kElements * sizeof(float));
    };
    return request;
  }

  void Perform(const AsyncRequest& request, const std::function<void()>& between) {
    ASSERT_TRUE(s_.model.Start(core_, request).ok());
    s_.model.Perform(s_.model.Pending().front(), &s_.memory);
    between();
    s_.model.Perform(s_.model.Pending().front(), &s_.memory);
  }

  Script s_;
  AgentId core_;
  BufferId buffer_;
  Floats seen_;
  bool in_place_ = false, written_in_place_ = false;
};

const Floats kBefore = {2, 3, 4, 5, 6, 7, 8, 9};

TEST_F(Views, WhatLiesElsewhereStaysWhereItIs) {
  Perform(Doubling(FunctionViews::kReplaces, {1, 4}), [&] { Fill({5, 1}, 50); });
  EXPECT_EQ(kBefore, seen_);
  EXPECT_TRUE(in_place_);
  EXPECT_TRUE(written_in_place_);
  EXPECT_EQ((Floats{0, 1, 4, 6, 8, 10, 12, 14, 16, 18, 50, 51}), s_.DataOf(0));
}

TEST_F(Views, WhatIsWrittenBetweenTheHalvesIsNotSeen) {
  PointAccess points;
  const std::int64_t offset = 3 * 8;
  points.offset = {&offset, 1};
  points.piece_bytes = 4;
  points.buffer = buffer_;
  const float value = 99;
  const auto* bytes = reinterpret_cast<const std::byte*>(&value);
  const AtomicFn exchange = [](const std::byte*, const std::byte* operand, const std::byte*, std::byte* result) {
    std::memcpy(result, operand, 4);
  };
  const std::vector<std::function<void()>> writers = {
      [&] {
        Fill({0, 2}, 50);
      },
      [&] {
        Fill({4, 1}, 50);
      },
      [&] { s_.memory.Store(points, bytes); },
      [&] { s_.memory.Atomic(points, exchange, bytes, nullptr, nullptr); },
      [&] {  // what another operation has computed
        const ValueView room = s_.memory.Room(Box({1, 4}));
        const Floats values(kElements, 77);
        CopyIn(reinterpret_cast<const std::byte*>(values.data()), kFloat, room);
        s_.memory.Wrote(Box({1, 4}));
      },
      [&] { s_.memory.Poison(buffer_); },
  };
  for (std::size_t i = 0; i < writers.size(); ++i) {
    Fill({0, 6}, 0);
    Perform(Doubling(FunctionViews::kReplaces, {1, 4}), writers[i]);
    EXPECT_EQ(kBefore, seen_) << i;
    EXPECT_FALSE(in_place_) << i;
    EXPECT_EQ((Floats{4, 6, 8, 10}), Floats(s_.DataOf(0).begin() + 2, s_.DataOf(0).begin() + 6)) << i;
  }
}

TEST_F(Views, MemoryMayEndBetweenTheHalves) {
  const std::vector<std::int64_t> shape = {6, 2};
  BoxAccess rows = Box({1, 4});
  rows.buffer = *s_.memory.Alloc({.name = "y", .dtype = DType::kF32, .shape = shape});
  s_.memory.Store(rows, reinterpret_cast<const std::byte*>(kBefore.data()));
  const CowReadId read = s_.memory.BeginCowRead(rows);
  s_.memory.Free(rows.buffer);
  AsyncValue value;
  value.view = s_.memory.Take(read, &value.bytes);
  EXPECT_EQ(nullptr, value.view.data);
  EXPECT_EQ(kBefore, ValuesOf(value, kElements));
}

// Rows 1 .. 4 go to 2 .. 5: what the function writes first it would read next.
TEST_F(Views, SourcesAreApartFromWhereTheFunctionWrites) {
  Perform(Doubling(FunctionViews::kReplaces, {2, 4}), [] {});
  EXPECT_FALSE(in_place_);
  EXPECT_TRUE(written_in_place_);
  EXPECT_EQ((Floats{0, 1, 2, 3, 4, 6, 8, 10, 12, 14, 16, 18}), s_.DataOf(0));
  Perform(Doubling(FunctionViews::kApart, {1, 4}), [] {});  // it does not say that it replaces
  EXPECT_FALSE(in_place_);
  EXPECT_TRUE(written_in_place_);
}

// Of two sources at the very place of the destination one is replaced.
TEST_F(Views, OnlyOneSourceIsReplaced) {
  AsyncRequest request = Doubling(FunctionViews::kReplaces, {1, 4});
  request.sources.push_back(request.sources.front());
  std::vector<bool> views;
  request.function = [&](const std::vector<AsyncValue>& in, std::vector<AsyncValue>* out) {
    for (const AsyncValue& value : in) views.push_back(value.view.data != nullptr);
    const Floats zeros(kElements, 0);
    CopyIn(reinterpret_cast<const std::byte*>(zeros.data()), kFloat, out->front().view);
    EXPECT_EQ(kBefore, ValuesOf(in[1], kElements));
  };
  Perform(request, [] {});
  EXPECT_EQ((std::vector<bool>{true, false}), views);
}

class Stores final : public MemoryWatcher {
 public:
  EventSet wants() const override { return {EventKind::kAccess}; }
  void Box(const Who&, AccessKind kind, const BoxAccess&, const BoxReach&, const std::byte* value) override {
    if (kind != AccessKind::kWrite) return;
    values.resize(8);
    std::memcpy(values.data(), value, sizeof(float) * values.size());
  }
  void Points(const Who&, AccessKind, const PointAccess&, const std::byte*) override {}
  Floats values;
};

TEST_F(Views, WhoWantsTheValuesOfStoresGetsThem) {
  Stores stores;
  s_.memory.Observe(&stores);
  Perform(Doubling(FunctionViews::kReplaces, {1, 4}), [] {});
  EXPECT_TRUE(in_place_);
  EXPECT_FALSE(written_in_place_);
  EXPECT_EQ((Floats{4, 6, 8, 10, 12, 14, 16, 18}), stores.values);
}

TEST_F(Views, MarksAreThoseOfTheRead) {
  s_.memory.TrackDefinedness();
  s_.model.TrackDefinedness();
  s_.memory.SetUndefined(buffer_);
  Fill({1, 2}, 2);
  AsyncRequest request = Doubling(FunctionViews::kReplaces, {1, 4});
  request.function = [whole = request.function](const std::vector<AsyncValue>& in, std::vector<AsyncValue>* out) {
    whole(in, out);
    out->front().marks = in[0].marks;
  };
  Perform(request, [&] { Fill({0, 6}, 70); });
  std::vector<bool> undefined;
  for (int i = 0; i < 12; ++i) undefined.push_back(s_.memory.MarkOf(buffer_, ElementCount(i)) != 0);
  EXPECT_EQ((std::vector<bool>{false, false, false, false, false, false, true, true, true, true, false, false}),
            undefined);
}

// What reaches outside is loaded and stored as ever, with its finding.
TEST_F(Views, WhatIsOutsideIsNoView) {
  AsyncRequest request = Doubling(FunctionViews::kReplaces, {1, 4});
  for (auto* operands : {&request.sources, &request.destinations}) {
    auto& box = std::get<BoxAccess>(operands->front().where);
    box.start[0] = 3;
    box.outside = Outside::kError;
  }
  Perform(request, [] {});
  EXPECT_FALSE(in_place_);
  EXPECT_FALSE(written_in_place_);
  EXPECT_EQ(1u, s_.memory.findings().size());  // of both halves: they have one place
  EXPECT_EQ((Floats{12, 14, 16, 18, 20, 22}), Floats(s_.DataOf(0).begin() + 6, s_.DataOf(0).end()));
}

}  // namespace
}  // namespace palladion::memory_model
