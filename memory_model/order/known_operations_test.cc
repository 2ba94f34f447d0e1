// What clocks know of operations and of agents, against a plain map; and that what they share does not grow with their
// number.
#include "memory_model/order/known_operations.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include "memory_model/order/clock.h"

namespace palladion::memory_model {
namespace {

using Number = KnownOperations::Number;
using Map = std::map<Number, std::uint32_t>;

Map MapOf(const KnownOperations& known) {
  Map map;
  known.ForEachRun([&](Number first, Number last, std::uint32_t halves) {
    for (Number i = first; i <= last; ++i) map[i] = halves;
  });
  return map;
}

void JoinMaps(Map* mine, const Map& theirs) {
  for (const auto& [number, halves] : theirs) (*mine)[number] = std::max((*mine)[number], halves);
}

bool MapCovers(const Map& mine, const Map& theirs) {
  for (const auto& [number, halves] : theirs) {
    const auto at = mine.find(number);
    if (at == mine.end() || at->second < halves) return false;
  }
  return true;
}

// Several that exchange near numbers and some far away. Subtrees do not fill up here: those below do.
TEST(KnownOperations, AreAsAMapHasThem) {
  for (std::uint32_t seed = 0; seed < 24; ++seed) {
    std::mt19937 random(seed);
    const Number most = seed % 4 == 0 ? 100'000'000 : seed % 4 == 1 ? 5'000 : 700;
    std::vector<KnownOperations> known(4);
    std::vector<Map> maps(4);
    for (int step = 0; step < 1500; ++step) {
      const std::size_t a = random() % 4, b = random() % 4;
      switch (random() % 8) {
        case 0:
          known[a].Join(known[b]);
          JoinMaps(&maps[a], Map(maps[b]));
          break;
        case 1: {
          ASSERT_EQ(known[a].Covers(known[b]), MapCovers(maps[a], maps[b]));
          const Number number = random() % most;
          const auto at = maps[a].find(number);
          ASSERT_EQ(known[a].At(number), at == maps[a].end() ? 0 : at->second);
          break;
        }
        case 2:
          if (random() % 64 == 0) known[a] = known[b], maps[a] = maps[b];
          break;
        default: {
          const auto number = static_cast<Number>((random() % 2 == 0 ? step / 4 : random()) % most);
          const std::uint32_t halves = 1 + random() % 2;
          known[a].Raise(number, halves);
          maps[a][number] = std::max(maps[a][number], halves);
        }
      }
    }
    for (std::size_t a = 0; a < 4; ++a) ASSERT_EQ(MapOf(known[a]), maps[a]) << "seed " << seed;
  }
}

TEST(KnownOperations, ForgetKeepsWhatIsStillQueried) {
  KnownOperations known;
  for (Number i = 0; i < 10'000; ++i) known.Raise(3 * i, 1 + i % 2);
  const std::vector<Number> live = {30, 9'000, 29'997};
  const KnownOperations before = known;
  KnownOperations other = known;
  const auto any = [&](Number first, Number last) {
    return std::any_of(live.begin(), live.end(), [&](Number number) { return first <= number && number <= last; });
  };
  KnownOperations::Round round;
  known.Forget(any, &round);
  other.Forget(any, &round);
  EXPECT_TRUE(other.IsSame(known));  // as it was
  EXPECT_EQ(before.At(15'000), 1u);
  for (const Number number : live) EXPECT_EQ(known.At(number), 1 + number / 3 % 2);
  EXPECT_EQ(known.At(15'000), 0u);
  EXPECT_LE(known.nodes(), 12u);
}

KnownOperations EverySecond(Number first, Number end) {
  KnownOperations known;
  for (Number i = first; i < end; i += 2) known.Raise(i, 2);
  return known;
}

// A leaf, and a node of leaves.
TEST(KnownOperations, WhatFillsUpInAJoinIsAConstant) {
  for (const Number n : {128u, 1024u}) {
    KnownOperations even = EverySecond(0, n), odd = EverySecond(1, n), raised;
    for (Number i = 0; i < n; ++i) raised.Raise(i, 2);
    const KnownOperations before = even;
    even.Join(odd);
    odd.Join(before);
    for (const KnownOperations* all : {&even, &odd, &raised}) {
      EXPECT_EQ(all->nodes(), 1u);
      EXPECT_TRUE(all->Covers(raised) && raised.Covers(*all) && all->Covers(before));
      EXPECT_FALSE(before.Covers(*all));
      EXPECT_EQ(MapOf(*all).size(), n);
    }
  }
}

TEST(KnownOperations, ForgettingKeepsTheFirstAndTheLastOfWhatIsFull) {
  for (const Number n : {128u, 1024u}) {
    for (const Number live : {Number{0}, n / 2, n - 1}) {
      const auto any = [&](Number first, Number last) { return first <= live && live <= last; };
      for (const std::uint32_t halves : {1u, 2u}) {
        KnownOperations known, other;
        for (Number i = 0; i < n; ++i) known.Raise(i, halves);
        known.Raise(5 * n, 1);
        other.Raise(live, halves);
        other.Raise(5 * n, 1);
        KnownOperations::Round round;
        known.Forget(any, &round);
        other.Forget(any, &round);
        for (const KnownOperations* kept : {&known, &other}) {
          EXPECT_EQ(kept->At(live), halves);
          EXPECT_EQ(kept->At(5 * n), 0u);
        }
      }
    }
  }
}

// Of one round, tries that come and go: none is taken for one that stood there before.
TEST(KnownOperations, ARoundKnowsItsNodesApart) {
  const auto any = [](Number first, Number last) { return first <= 200 && 200 <= last; };
  KnownOperations::Round round;
  for (Number i = 0; i < 2000; ++i) {
    KnownOperations known;
    known.Raise(200, 1 + i % 2);
    known.Raise(3000, 1);
    KnownOperations other = known;
    known.Forget(any, &round);
    other.Forget(any, &round);
    ASSERT_TRUE(known.IsSame(other));
    ASSERT_EQ(known.At(200), 1 + i % 2);
    ASSERT_EQ(known.At(3000), 0u);
  }
}

// A loop that waits for each of its operations: what each knew when it began takes a few nodes, however many went
// before it.
TEST(KnownOperations, OfALoopAreAFewNodes) {
  KnownOperations known;
  for (Number i = 0; i < 1'000'000; ++i) {
    const KnownOperations fork = known;
    known.Raise(i, 2);
    ASSERT_LE(known.nodes(), 6u * 8u) << i;  // the paths on the left and on the right of what is full
    ASSERT_EQ(fork.At(i), 0u);
  }
}

// A set that takes over another one's operations shares the other one's nodes.
TEST(KnownOperations, ClocksThatAcquireEachOtherShare) {
  KnownOperations a, b;
  for (Number i = 0; i < 1000; ++i) {
    a.Raise(2 * i, 1);
    b.Raise(2 * i + 1, 2);
  }
  a.Join(b);
  EXPECT_FALSE(a.IsSame(b));
  b.Join(a);
  EXPECT_TRUE(a.IsSame(b));
}

// Clocks of agents and of operations, few and many of them, against a map of all components.
TEST(VectorClock, IsAsAMapHasIt) {
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    constexpr std::uint32_t kSizes[] = {30, 66, 700};  // 64 are a few
    const std::int32_t agents = 1 + static_cast<std::int32_t>(random() % kSizes[seed % 3]);
    const std::int32_t operations = 1 + static_cast<std::int32_t>(random() % (seed % 2 == 0 ? 25 : 900));
    std::vector<VectorClock> clocks(3);
    std::vector<std::map<std::int32_t, std::uint32_t>> maps(3);
    const auto any = [&] {
      return random() % 2 == 0
                 ? static_cast<std::int32_t>(random() % static_cast<std::uint32_t>(agents))
                 : kFirstOperation + static_cast<std::int32_t>(random() % static_cast<std::uint32_t>(operations));
    };
    for (int step = 0; step < 1500; ++step) {
      const std::size_t a = random() % 3, b = random() % 3;
      const std::uint32_t what = random() % 16;
      if (what == 0) {
        clocks[a].Join(VectorClock(clocks[b]));
        for (const auto& [who, time] : std::map(maps[b])) maps[a][who] = std::max(maps[a][who], time);
      } else if (what == 1) {
        bool covers = true;
        for (const auto& [who, time] : maps[b]) covers &= maps[a].count(who) > 0 && maps[a][who] >= time;
        ASSERT_EQ(clocks[a].Covers(clocks[b]), covers);
      } else if (what == 2) {
        const std::int32_t who = any();
        ASSERT_EQ(clocks[a].TimeOf(AgentId{who}), maps[a].count(who) > 0 ? maps[a][who] : 0);
      } else if (what == 3) {
        switch (random() % 48) {
          case 0:
            swap(clocks[a], clocks[b]);
            swap(maps[a], maps[b]);
            break;
          case 1:
            clocks[a] = VectorClock(clocks[b]);
            maps[a] = std::map(maps[b]);
            break;
          case 2:
            clocks[a].Clear();
            maps[a].clear();
            break;
          default:
            clocks[a].ShareOperations(clocks[b]);  // what it knows stays
        }
      } else {
        const std::int32_t who = any();
        const std::uint32_t time = 1 + random() % 2;
        clocks[a].Raise({AgentId{who}, time});
        maps[a][who] = std::max(maps[a][who], time);
      }
    }
    for (std::size_t a = 0; a < 3; ++a) {
      for (const auto& [who, time] : maps[a]) ASSERT_EQ(clocks[a].TimeOf(AgentId{who}), time);
    }
  }
}

// Each clock releases, and then acquires what all have released, several times: a leaf and the path to it are its
// own, and the rest is shared. That a clock was not written to twice costs the others nothing.
TEST(VectorClock, ThoseWhoMeetShareWhatTheyKnow) {
  constexpr std::int32_t kAgents = 3000;
  std::vector<VectorClock> clocks(kAgents);
  VectorClock released;
  for (std::uint32_t round = 1; round <= 3; ++round) {
    for (std::int32_t i = 0; i < kAgents; ++i) {
      clocks[static_cast<std::size_t>(i)].Raise({AgentId{i}, round});
      released.Join(clocks[static_cast<std::size_t>(i)]);
    }
    for (VectorClock& clock : clocks) clock.Join(released);
  }
  for (const VectorClock& clock : clocks) {
    ASSERT_TRUE(clock.agents().IsSame(released.agents()));
    ASSERT_TRUE(clock.entries().empty());
  }
  for (std::int32_t i = 0; i < kAgents; ++i) ASSERT_EQ(released.TimeOf(AgentId{i}), 3u);
  const VectorClock before = clocks[7];
  clocks[7].Raise({AgentId{7}, 9});
  EXPECT_EQ(before.TimeOf(AgentId{7}), 3u);
  EXPECT_EQ(released.TimeOf(AgentId{7}), 3u);
  EXPECT_TRUE(clocks[7].Covers(released));
  EXPECT_FALSE(released.Covers(clocks[7]));
}

// One that knew of many operations and has forgotten most knows what one knows that knew of a few only.
TEST(VectorClock, CoversOneThatKnewOfManyOperations) {
  VectorClock many, few;
  std::vector<AgentId> live;
  for (std::int32_t i = 0; i < 20; ++i) many.Raise({AgentId{kFirstOperation + 128 * i}, 2});
  for (std::int32_t i = 0; i < 3; ++i) live.push_back(AgentId{kFirstOperation + 128 * i});
  for (const AgentId who : live) few.Raise({who, 2});
  EXPECT_FALSE(few.Covers(many));
  Remaining remaining(live);
  many.Forget(remaining);
  few.Forget(remaining);
  EXPECT_TRUE(few.Covers(many) && many.Covers(few));
}

TEST(VectorClock, CoversNoneThatKnowsOfManyAgents) {
  VectorClock many, few;
  for (std::int32_t i = 0; i < 65; ++i) many.Raise({AgentId{i}, 1});
  for (std::int32_t i = 0; i < 64; ++i) few.Raise({AgentId{i}, 1});
  EXPECT_FALSE(few.Covers(many));
  EXPECT_TRUE(many.Covers(few));
}

TEST(VectorClock, ForgetsOperationsAndNoAgents) {
  for (const std::int32_t operations : {10, 1000}) {
    VectorClock clock;
    for (std::int32_t i = 0; i < 5; ++i) clock.Raise({AgentId{i}, 3});
    for (std::int32_t i = 0; i < operations; ++i) clock.Raise({AgentId{kFirstOperation + i}, 2});
    const std::vector<AgentId> live = {AgentId{2}, AgentId{kFirstOperation + operations - 1}};
    Remaining remaining(live);
    clock.Forget(remaining);
    EXPECT_EQ(clock.TimeOf(AgentId{4}), 3u);
    EXPECT_EQ(clock.TimeOf(live[1]), 2u);
    EXPECT_EQ(clock.TimeOf(AgentId{kFirstOperation}), 0u);
    EXPECT_LE(clock.size(), 12u);
  }
}

}  // namespace
}  // namespace palladion::memory_model
