#include "emu/timing/timeline/recorder.h"

#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <string>
#include <vector>

namespace palladion::timing::timeline {
namespace {

using scheduler::Ticks;

constexpr double kTicksOfCycle = 10;

TimelineRecorder Recorder(std::size_t spans = 100, std::size_t intervals = 8) {
  return TimelineRecorder({.unit = 0, .spans = spans, .intervals = intervals}, kTicksOfCycle);
}

TimelineLine Line(std::int32_t number) { return {.instruction = number, .text_line = number, .op = "op"}; }

TEST(TimelineRecorder, WorkOfOneInstructionWithoutAGapIsOneSpan) {
  TimelineRecorder recorder = Recorder();
  const std::int32_t lane = recorder.LaneNamed({"block 0", "thread 0", LaneKind::kThread});
  EXPECT_EQ(lane, recorder.LaneNamed({"block 0", "thread 0", LaneKind::kThread}));
  recorder.Worked(lane, {0}, {10}, Line(1));
  recorder.Worked(lane, {10}, {30}, Line(1));
  recorder.Worked(lane, {30}, {40}, Line(2));
  recorder.Worked(lane, {50}, {60}, Line(2));
  recorder.Worked(lane, {60}, {60}, Line(2));  // nothing
  const Timeline timeline = recorder.Take("SM 0", {100});
  ASSERT_EQ(3u, timeline.spans.size());
  EXPECT_EQ(3, timeline.spans[0].end.value());
  EXPECT_EQ(10, timeline.length.value());
}

TEST(TimelineRecorder, AWaitKnowsTheSpanThatEndedItAfterTheyAreSorted) {
  TimelineRecorder recorder = Recorder();
  const std::int32_t lane = recorder.LaneNamed({"block 0", "thread 0", LaneKind::kThread});
  // It is recorded before a span that begins earlier.
  recorder.RanBeside({.name = "copies in", .what = "second"}, {50}, {90}, Line(4));
  recorder.RanBeside({.name = "copies in", .what = "first"}, {0}, {40}, Line(4));
  recorder.Waited(lane, {10}, {40}, Line(5), 4);
  const Timeline timeline = recorder.Take("SM 0", {100});
  const Span& wait = timeline.spans[1];
  ASSERT_EQ(SpanKind::kWait, wait.kind);
  EXPECT_EQ("first", timeline.spans[static_cast<std::size_t>(wait.ended_by)].what);
}

TEST(TimelineRecorder, AWaitForAnUnknownAgentHasNoArrow) {
  TimelineRecorder recorder = Recorder();
  recorder.Waited(recorder.LaneNamed({"block 0", "thread 0", LaneKind::kThread}), {10}, {40}, Line(5), 4);
  EXPECT_EQ(kNoSpan, recorder.Take("SM 0", {100}).spans[0].ended_by);
}

TEST(TimelineRecorder, WhatRunsAtTheSameTimeHasLanesOfItsOwn) {
  TimelineRecorder recorder = Recorder();
  recorder.RanBeside({.name = "copies in"}, {0}, {40}, Line(4));
  recorder.RanBeside({.name = "copies in"}, {10}, {50}, Line(4));
  recorder.RanBeside({.name = "copies in"}, {40}, {60}, Line(4));
  const Timeline timeline = recorder.Take("SM 0", {100});
  ASSERT_EQ(2u, timeline.lanes.size());
  EXPECT_EQ("copies in 2", timeline.lanes[1].name);
  EXPECT_EQ(timeline.spans[0].lane, timeline.spans[2].lane);
  EXPECT_NE(timeline.spans[0].lane, timeline.spans[1].lane);
}

TEST(TimelineRecorder, LanesOfAGroupAreTogetherThreadsFirstUnitsLast) {
  TimelineRecorder recorder = Recorder();
  const std::int32_t unit = recorder.NewLane({.group = "units", .name = "ALU", .kind = LaneKind::kUnit});
  recorder.Worked(unit, {0}, {10}, Line(1));
  recorder.RanBeside({.name = "copies in"}, {0}, {40}, Line(4));
  recorder.Worked(recorder.LaneNamed({"block 0", "thread 0", LaneKind::kThread}), {0}, {10}, Line(2));
  recorder.RanBeside({.name = "copies in"}, {10}, {40}, Line(4));
  recorder.Worked(recorder.LaneNamed({"block 1", "thread 0", LaneKind::kThread}), {0}, {10}, Line(3));
  recorder.Worked(recorder.LaneNamed({"block 0", "thread 1", LaneKind::kThread}), {0}, {10}, Line(5));
  const Timeline timeline = recorder.Take("SM 0", {100});
  std::vector<std::string> lanes;
  for (const Lane& lane : timeline.lanes) lanes.push_back(lane.group + ", " + lane.name);
  EXPECT_EQ(lanes, (std::vector<std::string>{"block 0, thread 0", "block 0, thread 1", "block 1, thread 0",
                                             "engines, copies in", "engines, copies in 2", "units, ALU"}));
  for (const Span& span : timeline.spans) {
    if (span.text_line == 3) {
      EXPECT_EQ(2, span.lane);
    }
    if (span.text_line == 1) {
      EXPECT_EQ(5, span.lane);
    }
  }
}

TEST(TimelineRecorder, AnIssuerIsALaneOrASpanOrIsKnownAfterwards) {
  TimelineRecorder recorder = Recorder();
  const std::int32_t lane = recorder.NewLane({.group = "core 0", .name = "program"});
  EXPECT_EQ(kNoSpan, recorder.LastOf(lane));
  recorder.Worked(lane, {0}, {10}, Line(1));
  const std::int32_t first = recorder.LastOf(lane);
  recorder.Worked(lane, {10}, {20}, Line(2));
  recorder.RanBeside({.name = "copies in", .issuer = lane}, {20}, {40}, Line(4));
  const std::int32_t copy = recorder.RanBeside({.name = "copies in", .issuer_span = first}, {21}, {50}, Line(4));
  const std::int32_t late = recorder.RanBeside({.name = "copies in"}, {22}, {60}, Line(4));
  recorder.IssuedBy(late, first);
  recorder.IssuedBy(kNoSpan, first);  // one that was dropped
  recorder.WaitedFor(lane, {20}, {50}, Line(5), copy);
  const Timeline timeline = recorder.Take("core 0", {100});
  std::map<int, std::string> by;  // by begin
  for (const Span& span : timeline.spans) {
    if (span.ended_by == kNoSpan) continue;
    const Span& of = timeline.spans[static_cast<std::size_t>(span.ended_by)];
    by[static_cast<int>(span.begin.value() * 10) + (span.kind == SpanKind::kWait ? 1000 : 0)] =
        of.kind == SpanKind::kCopyIn ? "copy" : std::to_string(of.text_line);
  }
  EXPECT_EQ(by, (std::map<int, std::string>{{20, "2"}, {21, "1"}, {22, "1"}, {1020, "copy"}}));
}

TEST(TimelineRecorder, SpansPastTheLimitAreCounted) {
  TimelineRecorder recorder = Recorder(2);
  const std::int32_t lane = recorder.LaneNamed({"block 0", "thread 0", LaneKind::kThread});
  for (int i = 0; i < 5; ++i) recorder.Worked(lane, {20 * i}, {20 * i + 10}, Line(i));
  const Timeline timeline = recorder.Take("SM 0", {100});
  EXPECT_EQ(2u, timeline.spans.size());
  EXPECT_EQ(3, timeline.dropped);
}

TEST(TimelineRecorder, SlotsAreNumberedInTheOrderOfTheirFirstUse) {
  TimelineRecorder recorder = Recorder();
  EXPECT_EQ(0, recorder.SlotOf(3, 4096));
  EXPECT_EQ(1, recorder.SlotOf(3, 0));
  EXPECT_EQ(0, recorder.SlotOf(3, 4096));
  EXPECT_EQ(0, recorder.SlotOf(4, 0));
}

TEST(TimelineRecorder, AStripKeepsItsMeanWhenIntervalsAreJoined) {
  TimelineRecorder recorder = Recorder(100, 8);
  constexpr std::int64_t kInterval = 16 * 1024;
  std::int64_t busy = 0;
  for (std::int64_t i = 1; i <= 64; ++i) {
    busy += i % 2 == 0 ? kInterval : kInterval / 2;
    recorder.Used(0, "L2", {i * kInterval}, {busy}, 1);
  }
  const Timeline timeline = recorder.Take("SM 0", {64 * kInterval});
  ASSERT_EQ(1u, timeline.strips.size());
  const std::vector<double>& share = timeline.strips[0].share;
  EXPECT_LE(share.size(), 8u);
  EXPECT_NEAR(0.75, std::accumulate(share.begin(), share.end(), 0.0) / static_cast<double>(share.size()), 1e-9);
}

// Asked at times that are no multiples of an interval, and busy all the time.
TEST(TimelineRecorder, AnIntervalThatIsNotOverKeepsItsPart) {
  TimelineRecorder recorder = Recorder(100, 64);
  constexpr std::int64_t kInterval = 16 * 1024;
  for (std::int64_t i = 1; i <= 30; ++i)
    recorder.Used(0, "DRAM", {i * kInterval * 19 / 10}, {i * kInterval * 19 / 10}, 1);
  const Timeline timeline = recorder.Take("SM 0", {57 * kInterval});
  ASSERT_EQ(timeline.strips[0].share.size(), 57u);
  for (const double share : timeline.strips[0].share) EXPECT_NEAR(share, 1, 1e-3);
}

}  // namespace
}  // namespace palladion::timing::timeline
