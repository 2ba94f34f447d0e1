#include "emu/timing/report/format.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "semantics/ir/module.h"

namespace palladion::timing::report {
namespace {

using machines::Bytes;
using machines::Cycles;
using machines::Nanoseconds;

Timing Example() {
  Timing timing;
  timing.machine = "h100";
  timing.clock = machines::Hertz(1.755e9);
  timing.cycles = Cycles(84586);
  timing.time = Nanoseconds(49437);
  timing.launch = Nanoseconds(1240);
  timing.uncertainty = 0.15;
  timing.uncertainty_why = "the largest miss of docs/explanation/time.md";
  timing.flops = 34.36e9;
  timing.memory = Bytes(50e6);
  timing.roofline = {{"bf16 matrix products", Nanoseconds(34737)}, {"bytes of main memory", Nanoseconds(15773)}};
  timing.units = {{"tensor cores", 0.757}, {"DRAM", 0.3}};
  timing.lines = {{.text_line = 7,
                   .op = "load",
                   .runs = 3,
                   .busy = Cycles(100),
                   .waited = Cycles(900),
                   .waited_for = "a copy that line 5 starts",
                   .stalls = {{"a copy into shared memory", Cycles(800)}, {"a busy L2", Cycles(100)}}},
                  {.text_line = 7, .op = "wait", .runs = 1, .busy = Cycles(1), .waited = Cycles(20), .waited_for = "b"},
                  {.text_line = 9, .op = "store", .runs = 3, .busy = Cycles(2000)}};
  timing.traffic = {{"x", Bytes(2048), Bytes(0), Bytes(1024)}, {"o", Bytes(0), Bytes(1024), Bytes(0)}};
  timing.placement = {.blocks = 256, .units = 132, .at_once = 1, .limit = "shared memory"};
  timing.left_out = {"bank conflicts"};
  return timing;
}

std::string Text(std::size_t lines = 12) {
  return TimingText(Example(), Module(),
                    {.kernel_path = "kernels/k.pkir", .lines = lines, .source_line = [](const std::string&, int) {
                       return std::nullopt;
                     }});
}

TEST(TimingFormat, FirstTheTimeAndHowFarItMayBeOff) {
  EXPECT_EQ(
      "on h100 at 1.755 GHz: 49.4 us (84586 cycles and 1.24 us of launch), give or take 15.0 %: the largest miss of "
      "docs/explanation/time.md",
      Text().substr(0, Text().find('\n')));
}

TEST(TimingFormat, WhatIsNotKnownIsNoPercent) {
  Timing timing = Example();
  timing.uncertainty.reset();
  timing.uncertainty_why = "no published times of such kernels were compared";
  const std::string text = TimingText(
      timing, Module(),
      {.kernel_path = "k.pkir", .lines = 1, .source_line = [](const std::string&, int) { return std::nullopt; }});
  EXPECT_EQ(
      "on h100 at 1.755 GHz: 49.4 us (84586 cycles and 1.24 us of launch), and how far that is off is not known: no "
      "published times of such kernels were compared",
      text.substr(0, text.find('\n')));
  EXPECT_NE(std::string::npos, TimingJson(timing, Module()).find(R"("uncertainty": null, )"));
}

TEST(TimingFormat, EachLimitBesideTheTime) {
  EXPECT_NE(std::string::npos, Text().find("  bf16 matrix products  34.7 us  70.3 % of the time\n"
                                           "  bytes of main memory  15.8 us  31.9 % of the time\n"
                                           "achieved: 695 TFLOP/s, 1.01 TB/s of main memory\n"))
      << Text();
}

TEST(TimingFormat, InstructionsOfOneSourceLineAreOneWithTheLongestWaitsReason) {
  EXPECT_NE(
      std::string::npos,
      Text().find("  k.pkir:9  2000 cycles    0 cycles  store\n"
                  "  k.pkir:7   101 cycles  920 cycles  load  (waits for a copy that line 5 starts; 87.0 % a copy into "
                  "shared memory, 10.9 % a busy L2)\n"))
      << Text();
}

TEST(TimingFormat, RowsWithoutALineAreNamedAndShareTheWhole) {
  Timing timing = Example();
  EXPECT_EQ(std::string::npos, Text().find("; shares are of ")) << "a chip that does not say so";
  timing.whole = Whole{.of = "2 places for blocks",
                       .time = Cycles(10000),
                       .rest = {{"launch of the kernel", Cycles(4000)}, {"tail", Cycles(2979)}}};
  const auto text = [&](std::size_t lines) {
    return TimingText(timing, Module(), {.kernel_path = "kernels/k.pkir", .lines = lines, .source_line = {}});
  };
  EXPECT_NE(std::string::npos,
            text(12).find("where the time of threads went, all of them together; shares are of 2 places for blocks for "
                          "all of the 49.4 us\n"))
      << text(12);
  EXPECT_NE(std::string::npos, text(12).find("  k.pkir:9  2000 cycles     0 cycles  20.0 %  store\n")) << text(12);
  EXPECT_NE(std::string::npos, text(12).find("4000 cycles  40.0 %  (launch of the kernel)\n")) << text(12);
  EXPECT_NE(std::string::npos, text(12).find("2979 cycles  29.8 %  (tail)\n")) << text(12);
  EXPECT_NE(std::string::npos, text(1).find("  lines not shown: 1, 10.2 % (--lines N)\n")) << text(1);
  EXPECT_NE(std::string::npos,
            TimingJson(timing, Module())
                .find(R"("whole": {"of": "2 places for blocks", "cycles": 10000, "rest": [{"name": "launch of the )"));
}

TEST(TimingFormat, BlocksThatAreNotTimedAreCounted) {
  Timing timing = Example();
  timing.placement.timed = 256;
  EXPECT_EQ(std::string::npos, TimingText(timing, Module(), {.kernel_path = "k.pkir"}).find("timed:"));
  timing.placement.timed = 64;
  EXPECT_NE(std::string::npos, TimingText(timing, Module(), {.kernel_path = "k.pkir"})
                                   .find("timed: 64 of these blocks, for the others are like them\n"));
  EXPECT_NE(std::string::npos, TimingJson(timing, Module()).find(R"("timed": 64, )"));
}

TEST(TimingFormat, WhatThreadsWaitedForIsShared) {
  Timing timing = Example();
  EXPECT_EQ(std::string::npos, Text().find("what threads waited for")) << "a chip that does not say so";
  timing.stalls = {{"a copy into shared memory", Cycles(900)}, {"a busy L2", Cycles(100)}};
  const std::string text = TimingText(timing, Module(), {.kernel_path = "k.pkir"});
  EXPECT_NE(std::string::npos, text.find("  a copy into shared memory  900 cycles  90.0 %\n"
                                         "  a busy L2                  100 cycles  10.0 %\n"))
      << text;
  EXPECT_NE(
      std::string::npos,
      TimingJson(timing, Module()).find(R"("stalls": [{"reason": "a copy into shared memory", "cycles": 900}, )"));
}

TEST(TimingFormat, TheCriticalPathIsByPlaceAndWhatIsDoneThere) {
  Timing timing = Example();
  timing.critical_path = {{.loc = {}, .text_line = 9, .op = "copy", .doing = "under way", .time = Cycles(60000)},
                          {.loc = {}, .text_line = 9, .op = "copy", .doing = "", .time = Cycles(20000)},
                          {.loc = {}, .text_line = 0, .op = "", .doing = "waits for x", .time = Cycles(4000)},
                          {.loc = {}, .text_line = 9, .op = "copy", .doing = "under way", .time = Cycles(586)}};
  const auto text = [&](std::size_t lines) {
    return TimingText(timing, Module(), {.kernel_path = "k.pkir", .lines = lines, .source_line = {}});
  };
  EXPECT_NE(std::string::npos, text(12).find("  k.pkir:9  60586 cycles  71.6 %  copy  (under way)\n"
                                             "  k.pkir:9  20000 cycles  23.6 %  copy\n"
                                             "             4000 cycles  4.73 %  (waits for x)\n"))
      << text(12);
  EXPECT_NE(std::string::npos, text(1).find("(under way)\n  parts not shown: 2 (--lines N)\n")) << text(1);
  EXPECT_NE(std::string::npos,
            TimingJson(timing, Module())
                .find(R"("critical_path": [{"text_line": 9, "op": "copy", "doing": "under way", "cycles": 60000, )"));
}

TEST(TimingFormat, LinesThatAreNotShownAreCounted) {
  EXPECT_NE(std::string::npos, Text(1).find("lines not shown: 1 (--lines N)\n")) << Text(1);
  EXPECT_EQ(std::string::npos, Text(1).find("k.pkir:7")) << Text(1);
}

TEST(TimingFormat, TrafficWithoutReadsHasNoShare) {
  EXPECT_NE(std::string::npos, Text().find("  x        2.00 KiB       0 B               50.0 %\n")) << Text();
  EXPECT_NE(std::string::npos, Text().find("  o             0 B  1.00 KiB                    -\n")) << Text();
}

TEST(TimingFormat, AllOperandsTogetherHaveAHitRate) {
  Timing timing = Example();
  timing.traffic.push_back({"y", Bytes(6144), Bytes(0), Bytes(0)});
  const std::string text = TimingText(timing, Module(), {.kernel_path = "k.pkir"});
  EXPECT_NE(std::string::npos, text.find("  all      8.00 KiB  1.00 KiB               87.5 %\n")) << text;
  const std::string json = TimingJson(timing, Module());
  EXPECT_NE(std::string::npos, json.find(R"("l2_hit_rate": 0.875, "traffic": [)")) << json;
}

TEST(TimingFormat, WavesAreTheGpusAndTheLastOneMayBeHalfEmpty) {
  Timing timing = Example();
  const auto text = [&] { return TimingText(timing, Module(), {.kernel_path = "k.pkir"}); };
  EXPECT_EQ(std::string::npos, text().find("waves"));
  timing.placement.waves = Waves{.count = 2, .last = 0.9394};
  EXPECT_NE(std::string::npos, text().find("waves of blocks: 2, the last one 93.9 % full\n")) << text();
  EXPECT_NE(std::string::npos, TimingJson(timing, Module()).find(R"("waves": 2, "last_wave": 0.9394})"));
  timing.placement.waves = Waves{.count = 1, .last = 1};
  EXPECT_NE(std::string::npos, text().find("waves of blocks: 1, 100 % full\n")) << text();
}

TEST(TimingFormat, AChipWithoutL2HasNoColumnOfIt) {
  Timing timing = Example();
  for (OperandTraffic& of : timing.traffic) of.missed.reset();
  const std::string text = TimingText(timing, Module(), {.kernel_path = "k.pkir"});
  EXPECT_NE(std::string::npos, text.find("  operand      read   written\n")) << text;
  EXPECT_NE(std::string::npos, TimingJson(timing, Module()).find(R"("l2_hit_rate": null, "traffic")"));
  EXPECT_NE(std::string::npos, TimingJson(timing, Module()).find(R"("missed_bytes": null)"));
}

TEST(TimingFormat, JsonHasEveryInstructionAndEveryField) {
  const std::string text = TimingJson(Example(), Module());
  for (
      const char* part :
      {R"({"machine": "h100", "clock_hz": 1.755e+09, "cycles": 84586, "ns": 49437, "launch_ns": 1240)",
       R"("uncertainty": 0.15, "uncertainty_why": "the largest miss of docs/explanation/time.md", "flops": 3.436e+10)",
       R"("memory_bytes": 5e+07, "roofline": [{"limit": "bf16 matrix products", "ns": 34737}, )",
       R"("units": [{"unit": "tensor cores", "busy": 0.757}, {"unit": "DRAM", "busy": 0.3}])",
       R"({"operand": "x", "read_bytes": 2048, "written_bytes": 0, "missed_bytes": 1024, "l2_hit_rate": 0.5})",
       R"("placement": {"blocks": 256, "units": 132, "at_once": 1, "limit": "shared memory", "waves": null, "last_wave": null})",
       R"({"text_line": 7, "op": "load", "runs": 3, "busy_cycles": 100, "waited_cycles": 900, )",
       R"("waited_for": "a copy that line 5 starts", "stalls": [{"reason": "a copy into shared memory", "cycles": 800}, )",
       R"({"text_line": 7, "op": "wait")", R"({"text_line": 9, "op": "store")", R"("left_out": ["bank conflicts"])"})
    EXPECT_NE(std::string::npos, text.find(part)) << part << " in\n" << text;
}

}  // namespace
}  // namespace palladion::timing::report
