// What the timeline of a TensorCore shows, against what the same run reported.
#include "emu/timing/tpu/timeline.h"

#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "emu/timing/tpu/timing_test_util.h"

namespace palladion::timing::tpu {
namespace {

using base::Timed;
using machines::Cycles;
using timeline::Span;
using timeline::SpanKind;

class Shown {
 public:
  Shown(const std::string& text, const std::string& chip, std::int64_t core = 0)
      : timed_(TimeText(text, chip, timeline::TimelineOptions{.unit = core})) {
    if (!timed_.timeline.has_value()) {
      ADD_FAILURE() << "no timeline";
      timed_.timeline.emplace();
    }
  }
  const timeline::Timeline& timeline() const { return *timed_.timeline; }
  const report::Timing& timing() const { return timed_.timing; }
  const Span& operator[](std::int32_t span) const { return timeline().spans[static_cast<std::size_t>(span)]; }
  std::vector<Span> Of(const std::string& lane) const {
    std::vector<Span> spans;
    for (const Span& span : timeline().spans) {
      if (timeline().lanes[static_cast<std::size_t>(span.lane)].name == lane) spans.push_back(span);
    }
    return spans;
  }

 private:
  Timed timed_;
};

double Time(const std::vector<Span>& spans, bool waits) {
  double time = 0;
  for (const Span& span : spans) time += (span.kind == SpanKind::kWait) == waits ? (span.end - span.begin).value() : 0;
  return time;
}

TEST(TpuTimeline, ShowsTheBubbleOfTheFirstAndTheLastStep) {
  const Shown shown(Doubled(2048, 256), "v5e");
  const std::vector<Span> program = shown.Of("program");
  ASSERT_GT(program.size(), 2u);
  const Span &first = program.front(), &last = program.back();
  EXPECT_EQ(first.kind, SpanKind::kWait);
  EXPECT_EQ(first.begin.value(), 0);
  EXPECT_EQ(first.what, "wait for x");
  EXPECT_EQ(shown[first.ended_by].what, "x[0:256, 0:1024], 1 MiB");
  EXPECT_EQ(shown[first.ended_by].end, first.end);
  EXPECT_EQ(last.kind, SpanKind::kWait);
  EXPECT_EQ(last.end, shown.timeline().length);
  EXPECT_EQ(last.what, "wait for o to go back");
  EXPECT_EQ(shown[last.ended_by].what, "o[1792:2048, 0:1024], 1 MiB");
  const double block = 256 * 1024 * 4 / 0.73e12 * shown.timing().clock.value();
  EXPECT_GE((first.end - first.begin).value(), block);
  EXPECT_GE((last.end - last.begin).value(), block);
  EXPECT_EQ(shown.timeline().of, "core 0");
}

TEST(TpuTimeline, BlocksAreInSlotsAndComeWhileTheProgramBeforeTheirsRuns) {
  const Shown shown(Doubled(2048, 256), "v5e");
  const std::vector<Span> in = shown.Of("blocks in"), out = shown.Of("blocks out"),
                          steps = shown.Of("steps of the grid");
  ASSERT_EQ(steps.size(), 8u);
  EXPECT_EQ(steps[3].what, "step (3)");
  std::vector<Span> all_in = in, all_out = out;
  for (const Span& span : shown.Of("blocks in 2")) all_in.push_back(span);
  for (const Span& span : shown.Of("blocks out 2")) all_out.push_back(span);
  ASSERT_EQ(all_in.size(), 8u);
  ASSERT_EQ(all_out.size(), 8u);
  std::map<int, int> slots;
  for (const Span& span : all_in) ++slots[span.slot];
  EXPECT_EQ(slots, (std::map<int, int>{{0, 4}, {1, 4}}));
  for (const Span& span : all_in) {
    if (span.what.rfind("x[0:", 0) == 0) continue;
    const Span& issuer = shown[span.ended_by];
    EXPECT_EQ(issuer.what, "step of the grid");
    EXPECT_EQ(issuer.begin, span.begin);
  }
  std::map<int, int> read, written;
  for (const Span& span : shown.Of("program")) {
    if (span.what == "get") ++read[span.slot];
    if (span.what == "swap") ++written[span.slot];
  }
  EXPECT_EQ(read, (std::map<int, int>{{0, 4}, {1, 4}}));
  EXPECT_EQ(written, (std::map<int, int>{{0, 4}, {1, 4}}));
}

TEST(TpuTimeline, ACoreWorksOrWaitsAllTheTimeAsItsLinesSay) {
  const Shown shown(Matmul({1024, 1024, 512}, {512, 256, 512}), "v5e");
  const std::vector<Span> program = shown.Of("program");
  Cycles at;
  for (const Span& span : program) {
    EXPECT_NEAR(span.begin.value(), at.value(), 0.01);
    at = span.end;
  }
  EXPECT_NEAR(at.value(), shown.timeline().length.value(), 0.01);
  double busy = 0, waited = 0;
  for (const report::LineTime& line : shown.timing().lines) {
    busy += line.busy.value();
    waited += line.waited.value();
  }
  EXPECT_NEAR(Time(program, false), busy, 0.1);
  EXPECT_NEAR(Time(program, true), waited, 0.1);
}

TEST(TpuTimeline, UnitsAndMainMemoryAreAsBusyAsReported) {
  const Shown shown(Matmul({1024, 1024, 512}, {512, 256, 512}), "v5e");
  const double length = shown.timeline().length.value();
  int units = 0;
  for (const report::UnitUse& use : shown.timing().units) {
    if (use.unit == "main memory (HBM)") continue;
    const std::vector<Span> spans = shown.Of(use.unit);
    EXPECT_NEAR(Time(spans, false) / length, use.busy, 1e-4) << use.unit;
    for (std::size_t i = 1; i < spans.size(); ++i) EXPECT_LE(spans[i - 1].end.value(), spans[i].begin.value() + 0.01);
    ++units;
  }
  EXPECT_GE(units, 4);
  ASSERT_EQ(shown.timeline().strips.size(), 1u);
  const std::vector<double>& share = shown.timeline().strips[0].share;
  const double mean = std::accumulate(share.begin(), share.end(), 0.0) / static_cast<double>(share.size());
  EXPECT_NEAR(mean, shown.timing().units.back().busy, 0.002);
  for (const Span& span : shown.Of("matrix units (MXU)")) EXPECT_EQ(span.kind, SpanKind::kMultiply);
}

TEST(TpuTimeline, LanesOfAGroupAreTogetherUnitsLast) {
  const Shown shown(Matmul({1024, 1024, 512}, {512, 256, 512}), "v5e");
  std::vector<std::string> groups;
  for (const timeline::Lane& lane : shown.timeline().lanes) {
    if (groups.empty() || groups.back() != lane.group) groups.push_back(lane.group);
  }
  EXPECT_EQ(groups, (std::vector<std::string>{"core 0", "buffers of blocks", "engines", "units"}));
}

// A buffer of a block is filled and then read, one after another.
TEST(TpuTimeline, BuffersSayWhoFillsAndWhoReadsThem) {
  const Shown shown(Doubled(1024, 256), "v5e");
  for (const char* buffer : {"x, buffer 0", "x, buffer 1"}) {
    const std::vector<Span> spans = shown.Of(buffer);
    ASSERT_EQ(spans.size(), 4u) << buffer;
    for (std::size_t i = 0; i < spans.size(); ++i) {
      EXPECT_EQ(spans[i].kind, i % 2 == 0 ? SpanKind::kCopyIn : SpanKind::kWork) << buffer;
      if (i > 0) {
        EXPECT_LE(spans[i - 1].end.value(), spans[i].begin.value() + 0.01) << buffer;
      }
    }
  }
  const std::vector<Span> out = shown.Of("o, buffer 1");
  ASSERT_EQ(out.size(), 4u);
  EXPECT_EQ(out[1].kind, SpanKind::kCopyOut);
}

TEST(TpuTimeline, TheOtherCoreOfAPairHasItsOwnPrograms) {
  const Shown first(Doubled(2048, 256), "v5p"), second(Doubled(2048, 256), "v5p", 1);
  EXPECT_EQ(first.Of("steps of the grid").front().what, "step (0)");
  EXPECT_EQ(second.Of("steps of the grid").front().what, "step (4)");
  EXPECT_EQ(second.Of("steps of the grid").size(), 4u);
  EXPECT_EQ(second.timeline().of, "core 1");
  EXPECT_EQ(first.timeline().strips[0].share, second.timeline().strips[0].share) << "it is the device's";
}

TEST(TpuTimeline, WithoutOneTheTimeIsTheSame) {
  const Timed without = TimeText(Doubled(2048, 256), "v5e");
  EXPECT_FALSE(without.timeline.has_value());
  EXPECT_EQ(without.timing.cycles, Shown(Doubled(2048, 256), "v5e").timing().cycles);
}

TEST(TpuTimeline, BlocksOfOneBufferHaveNoColour) {
  const Shown shown(Doubled(1024, 256, " buffered {buffer_count=1}"), "v5e");
  for (const Span& span : shown.Of("blocks in")) EXPECT_EQ(span.slot, -1);
}

TEST(TpuTimeline, APrefetchedOperandIsAwaitedBeforeTheFirstStep) {
  std::string text = Doubled(1024, 256);
  text.replace(text.find("  in %x"), 0, "  prefetch %p: i32[4] as \"p\";\n");
  for (std::size_t at = 0; (at = text.find("map (%i: i32[])", at)) != std::string::npos; at += 10)
    text.replace(at, 15, "map (%i: i32[], %pm: ref<smem,i32[4]>)");
  text.replace(text.find("body @b ("), 9, "body @b (%pr: ref<smem,i32[4]>, ");
  const Shown shown(text, "v5e");
  const Span first = shown.Of("program").front();
  EXPECT_EQ(first.what, "wait for p");
  EXPECT_EQ(first.begin.value(), 0);
  EXPECT_EQ(shown[first.ended_by].what.rfind("p, ", 0), 0u) << shown[first.ended_by].what;
  EXPECT_EQ(LineOf(shown.timing(), "block of p").waited, first.end);
}

TEST(UseOverTime, KeepsItsMeanWhenIntervalsAreJoined) {
  UseOverTime use(8);
  for (int i = 0; i < 100; ++i) use.Add({1000 * i}, {1000 * i + 250}, 0.5);
  const std::vector<double> shares = use.Shares({100'000});
  EXPECT_LE(shares.size(), 8u);
  double mean = 0;
  for (const double share : shares) mean += share / static_cast<double>(shares.size());
  EXPECT_NEAR(mean, 0.125, 0.01);
  EXPECT_EQ(UseOverTime(8).Shares({64 * 3}), (std::vector<double>{0, 0, 0}));
}

}  // namespace
}  // namespace palladion::timing::tpu
