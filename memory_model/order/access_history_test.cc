// The history against an oracle that forgets nothing: every access is kept for each byte, with dense vector clocks of
// the oracle's own. A race is found at an access if and only if the oracle has one there.
#include "memory_model/order/access_history.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "memory_model/order/agents.h"

namespace palladion::memory_model {
namespace {

using Shape = std::vector<std::int64_t>;
constexpr CodeSite kNowhere;

// What the run does to order: the same calls go to the clocks under test and to dense ones.
class BothClocks {
 public:
  explicit BothClocks(int agents) {
    for (int i = 0; i < agents; ++i) {
      ids_.push_back(table.Add("a", {}));
      dense_.push_back({});
      Own(dense_.back(), ids_.back()) = 1;
    }
  }
  struct Dense {
    std::vector<std::uint32_t> generic, fenced;
  };
  struct Message {
    ClockBundle clock;
    Dense dense;
  };

  Message Publish(std::size_t a) {
    Message message{table.ClockOf(ids_[a]), dense_[a]};
    Tick(a);
    return message;
  }
  void Acquire(std::size_t a, const Message& message) {
    table.Acquire(ids_[a], message.clock);
    Join(dense_[a], message.dense);
  }
  void Commit(std::size_t a) {
    table.Commit(ids_[a], ClockPart::kAsyncSmem, kNowhere);
    dense_[a].fenced = dense_[a].generic;
    ++Own(dense_[a], ids_[a]);
  }
  // An operation that a starts: its id, and what its completion releases.
  std::pair<AgentId, Dense> Start(std::size_t a, Message* completion) {
    const Dense fork = dense_[a];
    const AgentId id = table.AddOperation(ids_[a], "copy", kNowhere);
    ++Own(dense_[a], ids_[a]);
    completion->clock = table.Completion(id, 1);
    completion->dense = fork;
    At(completion->dense.generic, id) = 1;
    At(completion->dense.fenced, id) = 1;
    return {id, fork};
  }
  AgentId id(std::size_t a) const { return ids_[a]; }
  const Dense& dense(std::size_t a) const { return dense_[a]; }

  static std::uint32_t& At(std::vector<std::uint32_t>& clock, AgentId who) {
    const std::size_t index = AgentTable::IsOperation(who) ? 8 + (who.index() & 0xfffff) : who.index();
    if (clock.size() <= index) clock.resize(index + 1);
    return clock[index];
  }
  static std::uint32_t Get(const std::vector<std::uint32_t>& clock, AgentId who) {
    const std::size_t index = AgentTable::IsOperation(who) ? 8 + (who.index() & 0xfffff) : who.index();
    return index < clock.size() ? clock[index] : 0;
  }

  AgentTable table;

 private:
  static std::uint32_t& Own(Dense& dense, AgentId who) { return At(dense.generic, who); }
  void Tick(std::size_t a) {
    table.Tick(ids_[a], kNowhere);
    ++Own(dense_[a], ids_[a]);
  }
  static void Join(Dense& to, const Dense& from) {
    JoinOne(to.generic, from.generic);
    JoinOne(to.fenced, from.fenced);
  }
  static void JoinOne(std::vector<std::uint32_t>& to, const std::vector<std::uint32_t>& from) {
    if (to.size() < from.size()) to.resize(from.size());
    for (std::size_t i = 0; i < from.size(); ++i) to[i] = std::max(to[i], from[i]);
  }

  std::vector<AgentId> ids_;
  std::vector<Dense> dense_;
};

class Oracle {
 public:
  explicit Oracle(std::int64_t bytes) : accesses_(static_cast<std::size_t>(bytes)) {}

  struct Answer {
    bool race = false, unfenced = false;
  };
  Answer Apply(const AccessEvent& event, const std::vector<bool>& touched, const BothClocks::Dense& clock) {
    Answer answer;
    for (std::size_t byte = 0; byte < touched.size(); ++byte) {
      if (!touched[byte]) continue;
      for (const AccessEvent& earlier : accesses_[byte]) {
        const bool reads = earlier.kind == AccessKind::kRead && event.kind == AccessKind::kRead;
        const bool atomics = earlier.kind == AccessKind::kAtomic && event.kind == AccessKind::kAtomic;
        if (reads || atomics || earlier.who == event.who) continue;
        if (BothClocks::Get(clock.generic, earlier.who) < earlier.time) {
          answer.race = true;
        } else if (event.proxy == Proxy::kAsync && earlier.proxy == Proxy::kGeneric &&
                   BothClocks::Get(clock.fenced, earlier.who) < earlier.time) {
          answer.unfenced = true;
        }
      }
      accesses_[byte].push_back(event);
    }
    return answer;
  }

 private:
  std::vector<std::vector<AccessEvent>> accesses_;
};

struct RandomAccess {
  AccessSet set;
  std::vector<bool> touched;
};

class RandomProgram {
 public:
  RandomProgram(std::uint32_t seed, Shape shape, std::int64_t element_bytes)
      : random_(seed), shape_(std::move(shape)), element_bytes_(element_bytes) {
    elements_ = 1;
    for (const std::int64_t n : shape_) elements_ *= n;
    // What this program likes to do: some never race, some seldom order anything.
    sync_ = Draw(7) + 3;
    partial_ = Draw(100);
    ranges_ = Draw(3) == 0 ? 25 : 0;
    slotwise_ = Draw(2) == 0;
  }
  std::int64_t bytes() const { return elements_ * element_bytes_; }
  int Draw(int n) { return static_cast<int>(random_() % static_cast<std::uint32_t>(n)); }
  int sync() const { return sync_; }

  RandomAccess Next() {
    RandomAccess access;
    access.touched.resize(static_cast<std::size_t>(bytes()));
    if (Draw(100) < ranges_) {
      std::vector<ByteRange> ranges;
      for (int n = Draw(4); n >= 0; --n) {
        const std::int64_t begin = Draw(static_cast<int>(bytes()));
        const std::int64_t end = std::min(bytes(), begin + 1 + Draw(20));
        ranges.push_back({begin, end});
        for (std::int64_t i = begin; i < end; ++i) access.touched[static_cast<std::size_t>(i)] = true;
      }
      access.set = AccessSet::Of(std::move(ranges));
      return access;
    }
    AccessBox box = AccessBox::Whole(shape_);
    for (std::size_t d = 0; d < shape_.size(); ++d) {
      const bool one = slotwise_ && d == 0;
      if (!one && Draw(100) >= partial_) continue;
      const auto n = static_cast<int>(shape_[d]);
      Progression& p = box.dim[d];
      p.start = Draw(n);
      p.step = 1 + Draw(3);
      p.count = one ? 1 : 1 + Draw((n - 1 - p.start) / p.step + 1);
      if (p.count == 1) p.step = 1;
    }
    Touch(box, 0, 0, access.touched);
    access.set = AccessSet::Of(box);
    return access;
  }

 private:
  void Touch(const AccessBox& box, std::size_t d, std::int64_t flat, std::vector<bool>& touched) const {
    if (d == shape_.size()) {
      for (std::int64_t b = 0; b < element_bytes_; ++b)
        touched[static_cast<std::size_t>(flat * element_bytes_ + b)] = true;
      return;
    }
    for (int i = 0; i < box.dim[d].count; ++i) {
      Touch(box, d + 1, flat * shape_[d] + box.dim[d].start + i * box.dim[d].step, touched);
    }
  }

  std::mt19937 random_;
  Shape shape_;
  std::int64_t element_bytes_, elements_;
  int sync_, partial_, ranges_;
  bool slotwise_;
};

struct Tally {
  int accesses = 0, races = 0, unfenced = 0, slotted = 0, fine = 0;
};

AccessKind DrawKind(RandomProgram& program) {
  const int kind = program.Draw(10);
  return kind < 5 ? AccessKind::kRead : kind < 9 ? AccessKind::kWrite : AccessKind::kAtomic;
}

// One random program of some agents that access one allocation, hand over, fence, and start operations.
void RunProgram(std::uint32_t seed, const Shape& shape, std::int64_t element_bytes, int steps, Tally* tally) {
  SCOPED_TRACE(seed);
  RandomProgram program(seed, shape, element_bytes);
  BothClocks clocks(4);
  AccessHistory history(shape, ElementSize(element_bytes));
  Oracle oracle(program.bytes());
  std::vector<BothClocks::Message> channel(3);
  for (int step = 0; step < steps; ++step) {
    const auto a = static_cast<std::size_t>(program.Draw(4));
    const auto c = static_cast<std::size_t>(program.Draw(3));
    if (program.Draw(10) < program.sync()) {
      const int what = program.Draw(7);
      if (what < 3) channel[c] = clocks.Publish(a);
      if (what >= 3 && what < 6) clocks.Acquire(a, channel[c]);
      if (what == 6) clocks.Commit(a);
      continue;
    }
    const RandomAccess access = program.Next();
    AccessEvent event{.who = clocks.id(a), .kind = DrawKind(program), .text_line = step};
    std::vector<AccessConflict> found;
    Oracle::Answer truth;
    if (program.Draw(4) == 0) {
      BothClocks::Message completion;
      const auto [who, fork] = clocks.Start(a, &completion);
      event.who = who;
      event.time = 1;
      event.proxy = Proxy::kAsync;
      history.Apply(event, access.set, {clocks.table.Fork(who), ClockPart::kAsyncSmem, who}, &found);
      truth = oracle.Apply(event, access.touched, fork);
      if (program.Draw(3) > 0) clocks.Acquire(a, completion);
      if (program.Draw(3) > 0) channel[c] = completion;
    } else {
      event.time = clocks.table.NowOf(event.who);
      history.Apply(event, access.set, {clocks.table.ClockOf(event.who), ClockPart::kGeneric, event.who}, &found);
      truth = oracle.Apply(event, access.touched, clocks.dense(a));
    }
    if (history.dropped() > 0) return;  // from here on not every earlier access is there to be found again
    const auto has = [&](Ordering order) {
      return std::any_of(found.begin(), found.end(), [&](const AccessConflict& f) { return f.order == order; });
    };
    ASSERT_EQ(truth.race, has(Ordering::kUnordered)) << "step " << step;
    // The unfenced access may have been replaced by one that is not even ordered; the race is there then.
    ASSERT_TRUE(truth.unfenced || !has(Ordering::kUnfenced)) << "step " << step;
    ASSERT_TRUE(has(Ordering::kUnfenced) || !truth.unfenced || truth.race) << "step " << step;
    ++tally->accesses;
    tally->races += truth.race;
    tally->unfenced += truth.unfenced;
    tally->fine += history.granules() > 0;
  }
}

TEST(AccessHistory, FindsExactlyWhatTheOracleFinds) {
  const std::vector<std::pair<Shape, std::int64_t>> arrays = {
      {{5, 4, 6}, 2}, {{90}, 4}, {{}, 4}, {{3, 40}, 1}, {{70, 3}, 2}, {{2, 3, 2, 3}, 8}, {{30, 3}, 1},
  };
  Tally tally;
  for (std::uint32_t seed = 0; seed < 2000; ++seed) {
    const auto& [shape, element_bytes] = arrays[seed % arrays.size()];
    RunProgram(seed, shape, element_bytes, seed % 5 == 0 ? 300 : 60, &tally);
    if (testing::Test::HasFatalFailure()) return;
  }
  // The programs are worth something: all answers, and all forms of the history.
  EXPECT_GT(tally.races, 1000);
  EXPECT_GT(tally.unfenced, 100);
  EXPECT_GT(tally.accesses - tally.races - tally.unfenced, 8000);
  EXPECT_GT(tally.fine, 1000);
}

// Progressions against sets of numbers.
TEST(AccessBox, ProgressionsAreExact) {
  std::vector<Progression> all;
  for (int start = 0; start < 7; ++start) {
    for (int count = 1; count < 5; ++count) {
      for (int step = 1; step <= (count == 1 ? 1 : 5); ++step) all.push_back({start, count, step});
    }
  }
  const auto has = [](const Progression& p, int x) {
    return x >= p.start && x <= p.last() && (x - p.start) % p.step == 0;
  };
  for (const Progression& a : all) {
    for (const Progression& b : all) {
      const auto common = Common(a, b);
      bool covers = true, disjoint = true;
      for (int x = 0; x < 40; ++x) {
        const bool both = has(a, x) && has(b, x);
        ASSERT_EQ(both, common.has_value() && has(*common, x));
        covers &= !has(b, x) || has(a, x);
        disjoint &= !both;
      }
      ASSERT_EQ(covers, Covers(a, b));
      AccessBox merged{1, {a}};
      if (MergeAdjacent(&merged, {1, {b}})) {
        ASSERT_TRUE(disjoint);
        for (int x = 0; x < 40; ++x) ASSERT_EQ(has(a, x) || has(b, x), has(merged.dim[0], x));
      }
    }
  }
}

class HistoryTest : public testing::Test {
 protected:
  std::vector<AccessConflict> Touch(AgentId who, AccessKind kind, const AccessBox& box) {
    std::vector<AccessConflict> found;
    const AccessEvent event{.who = who, .time = agents_.NowOf(who), .kind = kind};
    history_.Apply(event, AccessSet::Of(box), {agents_.ClockOf(who), ClockPart::kGeneric, who}, &found);
    return found;
  }
  void HandOver(AgentId from, AgentId to) {
    agents_.Acquire(to, agents_.ClockOf(from));
    agents_.Tick(from, kNowhere);
  }

  AgentTable agents_;
  AgentId producer_ = agents_.Add("producer", {}), consumer_ = agents_.Add("consumer", {});
  AccessHistory history_{Shape{4, 64, 32}, ElementSize(2)};
};

TEST_F(HistoryTest, ARingKeepsTwoRecordsForEachSlot) {
  for (int turn = 0; turn < 1000; ++turn) {
    const AccessBox slot{3, {Progression{turn % 4, 1, 1}, Progression{0, 64, 1}, Progression{0, 32, 1}}};
    EXPECT_TRUE(Touch(producer_, AccessKind::kWrite, slot).empty());
    HandOver(producer_, consumer_);
    for (int row = 0; row < 64; ++row) {
      EXPECT_TRUE(Touch(consumer_, AccessKind::kRead, {3, {slot.dim[0], Progression{row, 1, 1}, slot.dim[2]}}).empty());
    }
    HandOver(consumer_, producer_);
    ASSERT_LE(history_.records(), 8u);
  }
  EXPECT_EQ(history_.granules(), 0u);
}

TEST_F(HistoryTest, ScatteredReadsBecomeGranulesAndAWholeWriteEndsThem) {
  const AccessBox whole = AccessBox::Whole(Shape{4, 64, 32});
  EXPECT_TRUE(Touch(producer_, AccessKind::kWrite, whole).empty());
  HandOver(producer_, consumer_);
  for (int i = 0; i < 64 * 32; i += 3) {
    Touch(consumer_, AccessKind::kRead,
          {3, {Progression{1, 1, 1}, Progression{i / 32, 1, 1}, Progression{i % 32, 1, 1}}});
  }
  EXPECT_GT(history_.granules(), 0u);
  const auto found = Touch(producer_, AccessKind::kWrite, whole);
  ASSERT_EQ(found.size(), 1u);  // one access of the consumer's, for all that it has read
  EXPECT_EQ(found[0].overlap, "[1, 0, 0]");
  HandOver(consumer_, producer_);
  EXPECT_TRUE(Touch(producer_, AccessKind::kWrite, whole).empty());
  EXPECT_EQ(history_.granules(), 0u);
  EXPECT_EQ(history_.records(), 1u);
}

TEST_F(HistoryTest, AnOverlapOfBytesIsNamedByItsElements) {
  const auto touch = [&](AgentId who, std::int64_t begin, std::int64_t end) {
    std::vector<AccessConflict> found;
    const AccessEvent event{.who = who, .time = agents_.NowOf(who), .kind = AccessKind::kWrite};
    history_.Apply(event, AccessSet::Of(std::vector<ByteRange>{{0, 2}, {begin, end}}),
                   {agents_.ClockOf(who), ClockPart::kGeneric, who}, &found);
    return found;
  };
  EXPECT_TRUE(touch(producer_, 68, 74).empty());
  HandOver(producer_, consumer_);
  EXPECT_TRUE(touch(consumer_, 128, 130).empty());
  AgentId stranger = agents_.Add("stranger", {});
  std::vector<AccessConflict> found;
  history_.Apply({.who = stranger, .time = agents_.NowOf(stranger), .kind = AccessKind::kWrite},
                 AccessSet::Of(std::vector<ByteRange>{{66, 72}, {300, 302}}),
                 {agents_.ClockOf(stranger), ClockPart::kGeneric, stranger}, &found);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].overlap, "[0, 1, 2:4]") << "elements of two bytes, 32 in a row";
}

TEST_F(HistoryTest, MemoryIsBoundedInAKernelThatRacesOn) {
  const AccessBox whole = AccessBox::Whole(Shape{4, 64, 32});
  for (int i = 0; i < 2000; ++i) {
    const AgentId copy = agents_.AddOperation(producer_, "copy", kNowhere);
    std::vector<AccessConflict> found;
    history_.Apply({.who = copy, .time = 1, .kind = AccessKind::kWrite, .proxy = Proxy::kAsync}, AccessSet::Of(whole),
                   {agents_.Fork(copy), ClockPart::kAsyncSmem, copy}, &found);
    EXPECT_EQ(found.empty(), i == 0);
  }
  EXPECT_LE(history_.records(), 64u);
  EXPECT_GT(history_.dropped(), 1000);
}

}  // namespace
}  // namespace palladion::memory_model
