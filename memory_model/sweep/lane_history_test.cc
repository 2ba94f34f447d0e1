// Lanes on requests by hand, and on random ones against a list that forgets nothing.
#include "memory_model/sweep/lane_history.h"

#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <vector>

#include "memory_model/sets/box.h"

namespace palladion::memory_model {
namespace {

using Ints = std::vector<std::int64_t>;

constexpr std::int64_t kRows = 4, kColumns = 6;

// An array of i32, what lanes do to it, and what all of them have done.
class Lanes {
 public:
  explicit Lanes(LaneCopies copies = {}) : copies_(copies) {
    buffer_ = memory_.Adopt({.name = "x", .dtype = DType::kI32, .shape = Ints{kRows, kColumns}},
                            reinterpret_cast<std::byte*>(data_.data()));
    history_.emplace(memory_, buffer_, copies);
    value_.assign(data_.size(), 7);
  }

  // What comes is spread so, and of what it reads every copy matters, or none.
  void Spread(std::uint32_t number, bool all_copies = false) { spread_ = number, all_copies_ = all_copies; }
  // Atomic updates of one number leave the same in every order; 0: they show it.
  void Updates(std::uint32_t number) { update_ = number; }
  void Meet() { met_ = ++when_; }
  void MeetUntil(std::uint32_t stretch) { met_ = std::max(met_, stretch); }
  std::uint32_t NewStretch() { return ++when_; }

  bool Box(AccessKind kind, const Ints& start, const Ints& count, const Ints& step = {1, 1}, bool turned = false) {
    BoxAccess box;
    box.buffer = buffer_;
    box.rank = box.value_rank = 2;
    for (std::size_t d = 0; d < 2; ++d) {
      box.start[d] = start[d], box.count[d] = count[d], box.step[d] = step[d];
      box.lower[d] = 0, box.upper[d] = 100;
      box.order[d] = static_cast<std::uint8_t>(turned ? 1 - d : d);
    }
    found_.clear();
    history_->Box(AccessOf(kind), box, ReachOf(memory_.ShapeOf(buffer_), box), &found_);
    bool expected = false;
    expected_doubt_ = may_doubt_again_ = false;
    const Ints shape{kRows, kColumns};
    const auto of = static_cast<std::uint32_t>(count[0] * count[1]);
    VisitElements(box, ReachOf(shape, box), shape, [&](std::int64_t element, std::int64_t lane) {
      expected |= Record(kind, element, {static_cast<std::uint32_t>(lane), of});
    });
    Compare(expected);
    return expected;
  }

  bool Points(AccessKind kind, const Ints& elements) {
    Ints offset;
    for (const std::int64_t element : elements) offset.push_back(4 * element);
    const PointAccess points{.buffer = buffer_, .offset = offset, .piece_bytes = 4, .mask = {}, .site = {}};
    found_.clear();
    history_->Points(AccessOf(kind), points, &found_);
    bool expected = false;
    expected_doubt_ = may_doubt_again_ = false;
    for (std::size_t p = 0; p < elements.size(); ++p) {
      expected |=
          Record(kind, elements[p], {static_cast<std::uint32_t>(p), static_cast<std::uint32_t>(elements.size())});
    }
    Compare(expected);
    return expected;
  }

  std::vector<std::int32_t>& value() { return value_; }
  std::vector<std::int32_t>& data() { return data_; }  // what lies there
  const std::vector<LaneConflict>& found() const { return found_; }
  const std::optional<LaneDoubt>& doubt() const { return doubt_; }  // of the last access
  std::uint32_t when() const { return when_; }

 private:
  struct Done {
    AccessKind kind;
    std::int64_t element;
    Lane lane;
    std::uint32_t when, spread, update;
    bool all_copies;
  };

  void Compare(bool expected) {
    EXPECT_EQ(expected, !found_.empty());
    doubt_ = history_->TakeDoubt();
    if (expected || (may_doubt_again_ && doubt_.has_value())) return;
    EXPECT_EQ(expected_doubt_, doubt_.has_value());
  }

  LaneAccess AccessOf(AccessKind kind) const {
    return {.kind = kind,
            .site = {},
            .when = when_,
            .met = met_,
            .value = kind == AccessKind::kRead ? nullptr : reinterpret_cast<const std::byte*>(value_.data()),
            .spread = spread_,
            .all_copies = all_copies_,
            .update = update_};
  }

  bool Record(AccessKind kind, std::int64_t element, Lane lane) {
    bool conflict = false, others = false, shows = false;
    for (const Done& done : done_) {
      const bool reads = done.kind == AccessKind::kRead && kind == AccessKind::kRead;
      const bool updates = done.kind == AccessKind::kAtomic && kind == AccessKind::kAtomic;
      if (done.element != element || done.when < met_ || reads) continue;
      const bool unlike = done.lane.of > 1 && (done.spread != spread_ || spread_ == 0);
      if (updates) {
        others |= done.lane != lane || unlike;
        const bool unequal = done.update != update_ || update_ == 0;
        shows |= unequal;
        expected_doubt_ |= (done.lane != lane || unlike) && unequal;
        continue;
      }
      conflict |= done.lane != lane;
      expected_doubt_ |= done.lane == lane && IsDoubt(done, kind);
    }
    may_doubt_again_ |= others && shows;
    done_.push_back({kind, element, lane, when_, spread_, update_, all_copies_});
    return conflict;
  }

  bool IsDoubt(const Done& done, AccessKind kind) const {
    if (done.lane.of > 1 && (done.spread != spread_ || spread_ == 0)) return true;
    if (done.lane.of >= copies_.lanes) return false;
    if (done.kind == AccessKind::kRead) return done.all_copies;
    return kind == AccessKind::kRead ? copies_.one_stores && all_copies_ : !copies_.one_stores;
  }

  std::vector<std::int32_t> data_ = std::vector<std::int32_t>(kRows * kColumns), value_;
  Memory memory_;
  BufferId buffer_;
  std::optional<LaneHistory> history_;
  std::uint32_t when_ = 1, met_ = 1;
  std::vector<LaneConflict> found_;
  std::vector<Done> done_;
  const LaneCopies copies_;
  std::uint32_t spread_ = 1, update_ = 1;
  bool all_copies_ = false, expected_doubt_ = false, may_doubt_again_ = false;
  std::optional<LaneDoubt> doubt_;
};

TEST(LaneHistory, TheSamePlaceIsTheSameLane) {
  Lanes x;
  EXPECT_FALSE(x.Box(AccessKind::kWrite, {0, 0}, {2, 6}));
  EXPECT_FALSE(x.Points(AccessKind::kRead, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
  EXPECT_FALSE(x.Box(AccessKind::kWrite, {0, 0}, {2, 6}));
  EXPECT_FALSE(x.Box(AccessKind::kWrite, {2, 0}, {2, 6}));
}

TEST(LaneHistory, AnotherPlaceOrSizeIsAnotherLane) {
  Lanes x;
  EXPECT_FALSE(x.Box(AccessKind::kWrite, {0, 0}, {2, 2}));
  EXPECT_TRUE(x.Box(AccessKind::kRead, {0, 0}, {2, 2}, {1, 1}, /*turned=*/true));
  ASSERT_EQ(1u, x.found().size());
  EXPECT_EQ((Lane{2, 4}), x.found()[0].before);
  EXPECT_EQ((Lane{1, 4}), x.found()[0].now);
  EXPECT_EQ(2, x.found()[0].elements);
  EXPECT_TRUE(x.Box(AccessKind::kRead, {0, 0}, {1, 1}));
}

TEST(LaneHistory, ABarrierOrders) {
  Lanes x;
  EXPECT_FALSE(x.Box(AccessKind::kWrite, {0, 0}, {2, 2}));
  x.Meet();
  EXPECT_FALSE(x.Box(AccessKind::kRead, {0, 0}, {1, 2}));
  EXPECT_TRUE(x.Box(AccessKind::kWrite, {0, 0}, {2, 2}));
}

TEST(LaneHistory, WhatIsStoredTwice) {
  Lanes x;
  EXPECT_TRUE(x.Points(AccessKind::kWrite, {3, 4, 3}));
  ASSERT_EQ(1u, x.found().size());
  EXPECT_TRUE(x.found()[0].at_once);
  EXPECT_FALSE(x.found()[0].differ);
  x.Meet();
  x.value() = {1, 2, 3};
  EXPECT_TRUE(x.Points(AccessKind::kWrite, {3, 4, 3}));
  EXPECT_TRUE(x.found()[0].differ);
  x.Meet();
  EXPECT_FALSE(x.Points(AccessKind::kAtomic, {3, 4, 3}));
  EXPECT_TRUE(x.Points(AccessKind::kRead, {3, 4, 3}));
}

// A lane stores what it has stored before: as another one did, or not.
TEST(LaneHistory, WhatLiesThereIsTheLastLanes) {
  for (const std::int32_t second : {7, 9}) {
    Lanes x;
    EXPECT_FALSE(x.Points(AccessKind::kWrite, {3}));
    x.data()[3] = 7;
    x.value() = {0, second};
    for (int i = 0; i < 2; ++i) {
      EXPECT_TRUE(x.Points(AccessKind::kWrite, {4, 3}));
      ASSERT_EQ(1u, x.found().size());
      EXPECT_EQ(second != 7, x.found()[0].differ) << second << " for the time " << i;
      x.data()[3] = second;
    }
  }
}

TEST(LaneHistory, TheSamePlaceSpreadInAnotherWayIsADoubt) {
  Lanes x;
  EXPECT_FALSE(x.Box(AccessKind::kWrite, {0, 0}, {2, 6}));
  x.Spread(2);
  EXPECT_FALSE(x.Points(AccessKind::kRead, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
  EXPECT_TRUE(x.doubt().has_value());
  EXPECT_FALSE(x.doubt()->copies);
  x.Spread(1);
  EXPECT_FALSE(x.Box(AccessKind::kRead, {0, 0}, {2, 6}));
  EXPECT_FALSE(x.doubt().has_value());
  EXPECT_FALSE(x.Box(AccessKind::kWrite, {0, 0}, {2, 6}));  // two reads lie before, one of them spread as 2
  EXPECT_TRUE(x.doubt().has_value());
  x.Meet();
  EXPECT_FALSE(x.Box(AccessKind::kRead, {0, 0}, {2, 6}));
  EXPECT_FALSE(x.doubt().has_value());
  x.Meet();
  x.Spread(0);
  EXPECT_FALSE(x.Box(AccessKind::kWrite, {0, 3}, {1, 1}));
  EXPECT_FALSE(x.Box(AccessKind::kRead, {0, 3}, {1, 1}));  // one element is in one place however it is spread
  EXPECT_FALSE(x.doubt().has_value());
}

TEST(LaneHistory, WhatSeveralLanesHold) {
  Lanes one_stores({.lanes = 8, .one_stores = true}), all_store({.lanes = 8, .one_stores = false});
  for (Lanes* x : {&one_stores, &all_store}) {
    const bool one = x == &one_stores;
    EXPECT_FALSE(x->Box(AccessKind::kRead, {0, 0}, {1, 4}));
    EXPECT_FALSE(x->Box(AccessKind::kWrite, {0, 0}, {1, 4}));  // what it read goes nowhere else
    EXPECT_FALSE(x->doubt().has_value());
    EXPECT_FALSE(x->Box(AccessKind::kWrite, {0, 0}, {1, 4}));
    EXPECT_EQ(!one, x->doubt().has_value());
    x->Spread(1, /*all_copies=*/true);
    EXPECT_FALSE(x->Box(AccessKind::kRead, {0, 0}, {1, 4}));
    EXPECT_EQ(one, x->doubt().has_value());
    x->Meet();
    EXPECT_FALSE(x->Box(AccessKind::kRead, {0, 0}, {1, 4}));
    EXPECT_FALSE(x->doubt().has_value());
    EXPECT_FALSE(x->Box(AccessKind::kWrite, {0, 0}, {1, 4}));
    ASSERT_TRUE(x->doubt().has_value());
    EXPECT_TRUE(x->doubt()->copies);
    EXPECT_FALSE(x->Box(AccessKind::kRead, {2, 0}, {2, 4}));
    EXPECT_FALSE(x->Box(AccessKind::kWrite, {2, 0}, {2, 4}));
    EXPECT_FALSE(x->doubt().has_value());
  }
}

TEST(LaneHistory, UpdatesThatShowTheirOrder) {
  for (const bool fine : {false, true}) {
    Lanes x;
    if (fine) x.Points(AccessKind::kRead, {23});
    EXPECT_FALSE(x.Box(AccessKind::kAtomic, {0, 0}, {1, 6}));
    EXPECT_FALSE(x.Box(AccessKind::kAtomic, {0, 2}, {1, 2}));  // sums, in any order
    EXPECT_FALSE(x.doubt().has_value());
    x.Updates(2);
    EXPECT_FALSE(x.Box(AccessKind::kAtomic, {0, 3}, {1, 3}));
    ASSERT_TRUE(x.doubt().has_value());
    EXPECT_TRUE(x.doubt()->updates);
    x.Meet();
    x.Updates(0);
    EXPECT_FALSE(x.Box(AccessKind::kAtomic, {0, 0}, {1, 6}));
    EXPECT_FALSE(x.Box(AccessKind::kAtomic, {0, 0}, {1, 6}));  // each lane's own
    EXPECT_FALSE(x.doubt().has_value());
    x.Spread(2);
    EXPECT_FALSE(x.Box(AccessKind::kAtomic, {0, 0}, {1, 6}));
    EXPECT_TRUE(x.doubt().has_value());
  }
  Lanes twice;
  twice.Updates(0);
  EXPECT_FALSE(twice.Points(AccessKind::kAtomic, {1, 2, 3}));
  EXPECT_FALSE(twice.doubt().has_value());
  twice.Meet();
  EXPECT_FALSE(twice.Points(AccessKind::kAtomic, {1, 2, 1}));
  EXPECT_TRUE(twice.doubt().has_value());
}

TEST(LaneHistory, IsWhatAListOfAllAccessesSays) {
  int conflicts = 0, doubts = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](std::int64_t n) { return static_cast<std::int64_t>(random() % static_cast<unsigned>(n)); };
    Lanes x({.lanes = 1 + below(6), .one_stores = below(2) == 0});
    std::vector<std::uint32_t> stretches;
    for (int i = 0; i < 40; ++i) {
      const auto kind = static_cast<AccessKind>(below(3));
      const std::int64_t what = below(12);
      x.Spread(static_cast<std::uint32_t>(below(3)), below(3) == 0);
      x.Updates(static_cast<std::uint32_t>(below(8) == 0 ? 2 * below(2) : 1));
      if (what == 0) x.Meet();
      if (what == 1) stretches.push_back(x.NewStretch());
      if (what == 2 && !stretches.empty())
        x.MeetUntil(stretches[static_cast<std::size_t>(below(static_cast<std::int64_t>(stretches.size())))]);
      if (what >= 3 && what < 9) {
        const Ints start{below(kRows), below(kColumns)}, step{1, 1 + below(2)};
        const Ints count{1 + below(kRows - start[0]), 1 + below((kColumns - start[1] + step[1] - 1) / step[1])};
        conflicts += x.Box(kind, start, count, step, below(2) == 0);
      }
      if (what >= 9) {
        Ints elements;
        for (std::int64_t n = 1 + below(6); n > 0; --n) elements.push_back(below(kRows * kColumns));
        conflicts += x.Points(kind, elements);
      }
      if (testing::Test::HasFailure()) return;
      doubts += x.doubt().has_value();
    }
  }
  EXPECT_GT(conflicts, 1000);
  EXPECT_GT(doubts, 100);
}

}  // namespace
}  // namespace palladion::memory_model
