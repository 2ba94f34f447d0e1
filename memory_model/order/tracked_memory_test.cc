// Buffers from allocation to end: what an access gets of those before it. Sets and order have tests of their own.
#include "memory_model/order/tracked_memory.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace palladion::memory_model {
namespace {

constexpr BufferId kBuffer{0}, kNext{1};
constexpr AgentId kOne{0}, kOther{1};

TrackedBuffer Scratch(std::string name, std::int32_t arena = -1) {
  return {.name = std::move(name),
          .shape = {4},
          .element_size = ElementSize(4),
          .space = ProxySpace::kShared,
          .arena = arena};
}

AccessEvent Event(AgentId who, AccessKind kind, std::int32_t line) {
  return {.who = who, .time = 1, .kind = kind, .text_line = line};
}

// An agent that is ordered after no other.
class TrackedMemoryTest : public ::testing::Test {
 protected:
  Vantage Of(AgentId who) const { return {nothing_, ClockPart::kGeneric, who}; }
  // The lines of the earlier accesses that it is not ordered after.
  std::vector<std::int32_t> Write(AgentId who, std::int32_t line, BufferId id = kBuffer) {
    Tracked& buffer = *memory_.Find(id);
    std::vector<std::int32_t> lines;
    for (const AccessConflict& conflict :
         memory_.Access(&buffer, Event(who, AccessKind::kWrite, line), buffer.Whole(), Of(who)))
      lines.push_back(conflict.earlier.text_line);
    return lines;
  }
  void Free(AgentId who, std::int32_t line, std::string freed_by = "") {
    memory_.Free(memory_.Find(kBuffer), Event(who, AccessKind::kFree, line), Of(who), std::move(freed_by));
  }

  const ClockBundle nothing_{};
  TrackedMemory memory_;
};

using Lines = std::vector<std::int32_t>;

TEST_F(TrackedMemoryTest, AWriteOfAnotherIsUnorderedAndOnesOwnIsNot) {
  memory_.Adopt(kBuffer, Scratch("s"));
  EXPECT_EQ(Write(kOne, 1), Lines{});
  EXPECT_EQ(Write(kOne, 2), Lines{});
  EXPECT_EQ(Write(kOther, 3), Lines{2});
}

TEST_F(TrackedMemoryTest, AfterItsEndEveryAccessMeetsTheEnd) {
  memory_.Adopt(kBuffer, Scratch("s"));
  Write(kOne, 1);
  Free(kOne, 2, "the end of its scope");
  EXPECT_EQ(Write(kOne, 3), Lines{2});
  EXPECT_EQ(memory_.Find(kBuffer)->freed_by, "the end of its scope");
}

TEST_F(TrackedMemoryTest, TheNextUserOfItsBytesLearnsWhatTheEndIsOrderedAfter) {
  memory_.Adopt(kBuffer, Scratch("old", 7));
  Write(kOne, 1);
  Write(kOther, 2);
  Free(kOther, 3);
  memory_.Adopt(kNext, Scratch("new", 7));
  EXPECT_EQ(Write(kOne, 4, kNext), Lines{2});
  const Tracked& next = *memory_.Find(kNext);
  ASSERT_NE(next.PastName(Event(kOther, AccessKind::kWrite, 2)), nullptr);
  EXPECT_EQ(*next.PastName(Event(kOther, AccessKind::kWrite, 2)), "old");
  EXPECT_EQ(next.PastName(Event(kOne, AccessKind::kWrite, 4)), nullptr);
}

TEST_F(TrackedMemoryTest, AnArenaThatHasEndedReportsNothing) {
  memory_.Adopt(kBuffer, Scratch("old", 7));
  Write(kOne, 1);
  Free(kOne, 2);
  EXPECT_EQ(memory_.arenas(), 1u);
  memory_.EndArena(7);
  memory_.Adopt(kNext, Scratch("new", 7));
  EXPECT_EQ(Write(kOther, 3, kNext), Lines{});
}

TEST_F(TrackedMemoryTest, WhatWasDroppedIsNotKnown) {
  memory_.Adopt(kBuffer, Scratch("s"));
  EXPECT_EQ(memory_.known(), 1u);
  memory_.Drop(kBuffer);
  EXPECT_EQ(memory_.known(), 0u);
  EXPECT_EQ(memory_.Find(kBuffer), nullptr);
  EXPECT_EQ(memory_.Find(BufferId{99}), nullptr);
}

}  // namespace
}  // namespace palladion::memory_model
