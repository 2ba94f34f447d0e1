// The page and the trace of a timeline that is known. What browsers make of the page:
// python/tests/test_timeline_page.py.
#include "emu/timing/timeline/page.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "emu/timing/timeline/data.h"
#include "emu/timing/timeline/shown_test_util.h"
#include "emu/timing/timeline/trace.h"

namespace palladion::timing::timeline {
namespace {

std::size_t CountOf(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

std::string LineWith(const std::string& text, const std::string& part) {
  const std::size_t at = text.find(part), begin = text.rfind('\n', at) + 1;
  return at == std::string::npos ? "" : text.substr(begin, text.find('\n', at) - begin);
}

TEST(TimelineTrace, EverySpanIsASliceOfItsLane) {
  const ToyMatmul toy(1, 8, 4);
  const std::string trace = TimelineTrace(toy.Shown());
  EXPECT_EQ(toy.Shown().timeline.spans.size(), CountOf(trace, "{\"ph\": \"X\""));
  const std::string wait = LineWith(trace, "\"wait full[0], phase 0\"");
  EXPECT_NE(std::string::npos, wait.find("\"pid\": 1, \"tid\": 2, \"ts\": 0.023")) << wait;
  EXPECT_NE(std::string::npos, wait.find("\"cat\": \"wait\"")) << wait;
  EXPECT_NE(std::string::npos, wait.find("\"from_cycle\": 40, \"text_line\": 12, \"source\": \"/home/you/matmul.py:19"))
      << wait;
  EXPECT_NE(std::string::npos, wait.find("\"slot\": 0")) << wait;
}

TEST(TimelineTrace, GroupsAreProcessesAndOverlapsHaveTracksOfTheirOwn) {
  const ToyMatmul toy(1, 8, 4);
  const std::string trace = TimelineTrace(toy.Shown());
  EXPECT_NE(std::string::npos,
            trace.find("\"pid\": 1, \"tid\": 0, \"name\": \"process_name\", \"args\": {\"name\": \"block (3, 0)\"}"));
  EXPECT_NE(std::string::npos,
            trace.find("\"pid\": 2, \"tid\": 0, \"name\": \"process_name\", \"args\": {\"name\": \"SM 3\"}"));
  EXPECT_NE(std::string::npos, trace.find("{\"name\": \"TMA, 2\"}")) << "copies overlap";
  EXPECT_EQ(std::string::npos, trace.find("{\"name\": \"warpgroup 0, 2\"}"));
}

TEST(TimelineTrace, FlowsAreOnlyBetweenSpansThatAreThere) {
  ToyMatmul toy(1, 8, 4);
  std::size_t linked = 0;
  for (const Span& span : toy.timeline().spans) linked += span.ended_by != kNoSpan ? 1 : 0;
  ASSERT_GT(linked, 10u);
  std::string trace = TimelineTrace(toy.Shown());
  EXPECT_EQ(linked, CountOf(trace, "{\"ph\": \"s\""));
  EXPECT_EQ(linked, CountOf(trace, "{\"ph\": \"f\""));
  for (Span& span : toy.timeline().spans) {
    if (span.ended_by != kNoSpan) span.ended_by = 1'000'000'007;
  }
  trace = TimelineTrace(toy.Shown());
  EXPECT_EQ(0u, CountOf(trace, "{\"ph\": \"s\"") + CountOf(trace, "{\"ph\": \"f\"")) << "past the limit of spans";
  EXPECT_EQ(std::string::npos, TimelineData(toy.Shown()).find("1000000007"));
}

TEST(TimelineTrace, AWaitIsEndedByAnEndThatWasThereOrElseByABegin) {
  ToyMatmul toy(1, 1, 1);
  Timeline& timeline = toy.timeline();
  toy.timing().clock = machines::Hertz(1e9);  // a cycle is a nanosecond
  const auto span = [](int lane, double begin, double end, SpanKind kind, std::int32_t by) {
    return Span{
        .lane = lane, .begin = machines::Cycles(begin), .end = machines::Cycles(end), .kind = kind, .ended_by = by};
  };
  timeline.spans = {span(0, 1000, 3000, SpanKind::kWork, kNoSpan), span(1, 1500, 3500, SpanKind::kWait, 0),
                    span(2, 500, 1200, SpanKind::kWait, 0), span(3, 1100, 9000, SpanKind::kCopyIn, 0)};
  const std::string trace = TimelineTrace(toy.Shown());
  EXPECT_NE(std::string::npos, trace.find("\"ended by\", \"id\": 1, \"ts\": 3.000}")) << trace;
  EXPECT_NE(std::string::npos, trace.find("\"ended by\", \"id\": 1, \"ts\": 3.500, \"bp\": \"e\"}")) << trace;
  EXPECT_NE(std::string::npos, trace.find("\"ended by\", \"id\": 2, \"ts\": 1.000}")) << trace;
  EXPECT_NE(std::string::npos, trace.find("\"issued by\", \"id\": 3, \"ts\": 1.000}")) << trace;
  EXPECT_NE(std::string::npos, trace.find("\"issued by\", \"id\": 3, \"ts\": 1.100, \"bp\": \"e\"}")) << trace;
}

TEST(TimelineTrace, StripsAreCounters) {
  const std::string trace = TimelineTrace(ToyMatmul(1, 8, 4).Shown());
  EXPECT_EQ(800u, CountOf(trace, "{\"ph\": \"C\""));
  EXPECT_NE(std::string::npos, trace.find("\"name\": \"L2\", \"args\": {\"percent\": 72}"));
}

TEST(TimelinePage, HoldsItsDataAndNoWayOut) {
  ToyMatmul toy(1, 8, 4);
  toy.timeline().spans[3].what = "</script><b>no";
  toy.timeline().lanes[0].name = "<!--<script>";
  toy.report().findings.push_back(
      {.code = FindingCode::kOutOfBounds, .severity = Severity::kDefect, .message = "</script>", .text_line = 12});
  const std::string page = TimelinePage(toy.Shown());
  EXPECT_EQ(std::string::npos, page.find("{{"));
  EXPECT_EQ(3u, CountOf(page, "</script>")) << "those of the page itself";
  EXPECT_EQ(std::string::npos, page.find("<!--"));
  EXPECT_NE(std::string::npos, page.find("\\u003c/script><b>no"));
  EXPECT_NE(std::string::npos, page.find("\"code\": \"OOB\""));
  EXPECT_EQ(std::string::npos, page.find("://")) << "a page that needs nothing from elsewhere";
}

TEST(TimelineData, PythonLinesAreThoseAroundTheSpans) {
  const std::string data = TimelineData(ToyMatmul(1, 8, 4).Shown());
  EXPECT_NE(std::string::npos, data.find("[19, \"      plgpu.barrier_wait(full.at[slot])\"]")) << data;
  EXPECT_NE(std::string::npos, data.find("[12, \"    barrier_wait(%full.at[%slot]) loc #l3;\"]")) << data;
  EXPECT_NE(std::string::npos, data.find("\"told\": \"/home/you/matmul.py:19:3 in kernel\", \"frames\": [[0, 19]]"))
      << data;
}

TEST(TimelineData, HasTheCriticalPathTheStallsOfLinesAndWhatARooflineNeeds) {
  const std::string data = TimelineData(ToyMatmul(1, 8, 4).Shown());
  for (const char* part : {"\"op\": \"wgmma_ref\", \"doing\": \"under way\", \"cycles\": ",
                           "\"stalls\": [{\"reason\": \"a matrix product\"", "\"flops\": 3e+09",
                           "\"memory_peak\": 3.35e+12", "\"devices\": []"}) {
    EXPECT_NE(std::string::npos, data.find(part)) << part;
  }
}

TEST(TimelinePage, AnotherRunStandsBesideIt) {
  ToyMatmul toy(1, 8, 4);
  const std::string alone = TimelinePage(ToyMatmul(1, 4, 2).Shown());
  EXPECT_NE(std::string::npos, alone.find("id=\"other\">null</script>"));
  const absl::StatusOr<std::string> other = DataOfPage(alone);
  ASSERT_TRUE(other.ok()) << other.status();
  TimelineShown shown = toy.Shown();
  shown.compared = *other;
  const std::string page = TimelinePage(shown);
  EXPECT_NE(std::string::npos, page.find(*other));
  EXPECT_EQ(*DataOfPage(page), *DataOfPage(TimelinePage(toy.Shown()))) << "its own, not the other's";
  EXPECT_EQ(DataOfPage("<html>").status().code(), absl::StatusCode::kInvalidArgument);
  shown.compared = "{\"kernel\": \"</script><!--\"}";
  EXPECT_EQ(3u, CountOf(TimelinePage(shown), "</script>"));
}

// Pages for python/tests/test_timeline_page.py, which says where it wants them; otherwise they are not kept.
TEST(TimelinePage, AreWrittenForBrowsers) {
  const char* const wanted = std::getenv("PALLADION_TIMELINE_PAGES");
  std::string folder_name = testing::TempDir() + "palladion-timeline-XXXXXX";
  if (wanted == nullptr) {
    ASSERT_NE(::mkdtemp(folder_name.data()), nullptr);
  }
  const std::filesystem::path folder = wanted == nullptr ? folder_name : wanted;
  const auto write = [&](const char* name, const std::string& text) {
    std::ofstream(folder / name, std::ios::binary) << text;
    EXPECT_EQ(text.size(), std::filesystem::file_size(folder / name)) << folder / name;
  };
  ToyMatmul toy(2, 16, 4);
  toy.report().findings.push_back({.code = FindingCode::kRaceReadWrite,
                                   .severity = Severity::kDefect,
                                   .message = "b_smem is read while it is written",
                                   .text_line = 13});
  write("toy_timeline.html", TimelinePage(toy.Shown()));
  write("toy_timeline.json", TimelineTrace(toy.Shown()));
  const ToyMatmul large(400, 30, 4);
  EXPECT_GT(large.Shown().timeline.spans.size(), 200'000u);
  write("large_timeline.html", TimelinePage(large.Shown()));
  if (wanted == nullptr) std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace palladion::timing::timeline
