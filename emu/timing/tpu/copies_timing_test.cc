// The time of TPU kernels that copy by themselves: what they start goes on beside their work, until they wait for it.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "emu/timing/tpu/timing_test_util.h"
#include "semantics/base/cat.h"

namespace palladion::timing::tpu {
namespace {

using base::Timed;
using report::Timing;
using timeline::kNoSpan;
using timeline::Span;
using timeline::SpanKind;

constexpr double kChunk = 256 * 1024 * 4;     // bytes
constexpr double kCopy = kChunk / 730 * 1.5;  // cycles of a v5e
constexpr double kLatency = 455 * 1.5;        // of a copy that is waited for, beside its bytes
constexpr double kFunction = 256;             // cycles of a function of a chunk: a register each
constexpr int kFunctions = 6;

std::string Kernel(const std::string& out, const std::string& body) {
  return Cat(
      "pkir 1;\nkernel @ring {\n  backend mosaic_tpu;\n  in %x: f32[1024,1024] as \"x\" space any;\n", out,
      "  grid [];\n  scratch %buf: ref<vmem,f32[2,256,1024]>;\n  scratch %sem: ref<semaphore,dma_sem[2]>;\n  body "
      "@b (%xr: ref<any,f32[1024,1024]>, %or: ref<any,f32[1024,1024]>, %br: ref<vmem,f32[2,256,1024]>, %sr: "
      "ref<semaphore,dma_sem[2]>) {\n",
      body, "    return;\n  }\n}\n");
}

std::string Out() { return "  out %o: f32[1024,1024] as \"o\" space any;\n"; }

std::string Copy(std::string_view what, std::int64_t chunk, std::int64_t slot, std::int64_t semaphore) {
  const bool starts = what == "dma_start";
  return Cat(
      "    ", std::string(what),
      starts ? "{device_id_type=mesh, priority=0, add=false}" : "{device_id_type=mesh, insert_dummy_device=false}",
      "(src=%xr.at[", chunk * 256, " +: 256, *], dst=%br.at[", slot, ", *, *], dst_sem=%sr.at[", semaphore,
      "], src_sem=none, device_id=none);\n");
}

std::string Work(std::int64_t slot, std::int64_t chunk) {
  std::string text = Cat("    %v", chunk, "x0 = get(%br.at[", slot, ", *, *]) : f32[256,1024];\n");
  for (int i = 1; i <= kFunctions; ++i)
    Append(&text, "    %v", chunk, "x", i, " = tanh(%v", chunk, "x", i - 1, ") : f32[256,1024];\n");
  Append(&text, "    _ = swap(%br.at[", slot, ", *, *], %v", chunk, "x", kFunctions, ") : f32[256,1024];\n");
  return text;
}

TEST(TpuCopies, OneSlotShowsEveryCopy) {
  std::string body;
  for (int i = 0; i < 4; ++i) body += Copy("dma_start", i, 0, 0) + Copy("dma_wait", i, 0, 0) + Work(0, i);
  const Timing timing = TimeText(Kernel(Out(), body), "v5e").timing;
  EXPECT_NEAR(timing.cycles.value(), 4 * (kCopy + kLatency + kFunctions * kFunction), 400);
  double waited = 0;
  for (const report::LineTime& line : timing.lines) waited += line.waited.value();
  EXPECT_NEAR(waited, 4 * (kCopy + kLatency), 300);
  ASSERT_EQ(timing.stalls.size(), 1u);
  EXPECT_EQ(timing.stalls[0].reason, "a copy of the kernel's own");
  machines::Cycles path, in_flight;
  for (const report::PathPart& part : timing.critical_path) {
    path += part.time;
    if (part.doing == "under way") in_flight += part.time;
  }
  EXPECT_NEAR(path.value(), timing.cycles.value(), 0.5);
  EXPECT_NEAR(in_flight.value(), waited, 20);  // each is awaited where it is started, but for the start
  EXPECT_EQ(LineOf(timing, "wait").waited_for, "a copy that line 10 starts");
  ASSERT_EQ(timing.traffic.size(), 1u);
  EXPECT_EQ(timing.traffic[0].read.value(), 4 * kChunk);
}

TEST(TpuCopies, TheNextSlotIsOnItsWayWhileThisOneIsWorkedOn) {
  std::string body = Copy("dma_start", 0, 0, 0);
  for (int i = 0; i < 4; ++i) {
    if (i < 3) body += Copy("dma_start", i + 1, (i + 1) % 2, (i + 1) % 2);
    body += Copy("dma_wait", i, i % 2, i % 2) + Work(i % 2, i);
  }
  const Timing timing = TimeText(Kernel(Out(), body), "v5e").timing;
  EXPECT_NEAR(timing.cycles.value(), 4 * kCopy + kLatency + kFunctions * kFunction, 400);
}

TEST(TpuCopies, ATimelineHasEachCopyWithItsLineAndTheWaitForIt) {
  std::string body = Copy("dma_start", 0, 0, 0);
  for (int i = 0; i < 4; ++i) {
    if (i < 3) body += Copy("dma_start", i + 1, (i + 1) % 2, (i + 1) % 2);
    body += Copy("dma_wait", i, i % 2, i % 2) + Work(i % 2, i);
  }
  const Timed timed = TimeText(Kernel(Out(), body), "v5e", timeline::TimelineOptions{});
  ASSERT_TRUE(timed.timeline.has_value());
  const timeline::Timeline& timeline = *timed.timeline;
  std::vector<std::string> copies;
  int waits = 0;
  for (const Span& span : timeline.spans) {
    if (span.kind == SpanKind::kCopyIn) {
      EXPECT_EQ(span.slot, static_cast<std::int32_t>(copies.size() % 2));
      copies.push_back(span.what);
      ASSERT_NE(span.ended_by, kNoSpan) << span.what;
      const Span& issuer = timeline.spans[static_cast<std::size_t>(span.ended_by)];
      EXPECT_EQ(issuer.text_line, span.text_line);
      EXPECT_EQ(issuer.what, "dma_start");
    }
    if (span.kind != SpanKind::kWait) continue;
    ASSERT_NE(span.ended_by, kNoSpan);
    const Span& copy = timeline.spans[static_cast<std::size_t>(span.ended_by)];
    EXPECT_EQ(copy.kind, SpanKind::kCopyIn);
    EXPECT_NEAR(copy.end.value(), span.end.value(), 1e-3);
    ++waits;
  }
  ASSERT_EQ(copies.size(), 4u);
  EXPECT_EQ(copies[1], "x[256:512, 0:1024] -> br[1, 0:256, 0:1024], 1 MiB");
  EXPECT_GE(waits, 1);
}

TEST(TpuCopies, AWaitForTwoCopiesEndsWithTheLast) {
  const std::string starts = Copy("dma_start", 0, 0, 0) + Copy("dma_start", 1, 1, 0);
  const double one =
      TimeText(Kernel(Out(), starts + Copy("dma_wait", 0, 0, 0) + Work(0, 0) + Copy("dma_wait", 1, 1, 0)), "v5e")
          .timing.cycles.value();
  const double both =
      TimeText(Kernel(Out(), starts + Copy("dma_wait", 0, 0, 0) + Copy("dma_wait", 1, 1, 0) + Work(0, 0)), "v5e")
          .timing.cycles.value();
  EXPECT_NEAR(one, 2 * kCopy + kLatency, 200);
  EXPECT_NEAR(both, 2 * kCopy + kLatency + kFunctions * kFunction, 300);
}

TEST(TpuCopies, FromMainMemoryToMainMemoryGoesThroughItTwice) {
  const std::string ends = "(src=%xr.at[*, *], dst=%or.at[*, *], dst_sem=%sr.at[0], src_sem=none, device_id=none);\n";
  const std::string body = Cat("    dma_start{device_id_type=mesh, priority=0, add=false}", ends,
                               "    dma_wait{device_id_type=mesh, insert_dummy_device=false}", ends);
  const Timing timing = TimeText(Kernel(Out(), body), "v5e").timing;
  EXPECT_EQ(timing.memory.value(), 8 * kChunk);
  EXPECT_NEAR(timing.cycles.value(), 8 * kCopy + kLatency, 100);
  ASSERT_EQ(timing.traffic.size(), 2u);
  EXPECT_EQ(timing.traffic[1].written.value(), 4 * kChunk);
}

TEST(TpuCopies, EachCoreHasATimeOfItsOwn) {
  const std::string ends =
      "(src=%xr.at[0 +: 256, *], dst=%br.at[0, *, *], dst_sem=%sr.at[0], src_sem=none, device_id=none);\n";
  const std::string body = Cat("    dma_start{device_id_type=mesh, priority=0, add=false}", ends,
                               "    dma_wait{device_id_type=mesh, insert_dummy_device=false}", ends, Work(0, 0));
  const auto time = [&](const std::string& semantics) {
    std::string text = Kernel(Out(), body);
    text.replace(text.find("grid []"), 7, "grid [2]");
    text.insert(text.find("  in %x"), Cat("  params {dimension_semantics=[\"", semantics, "\"]};\n"));
    return TimeText(text, "v5p").timing;
  };
  const Timing both = time("parallel"), one = time("arbitrary");
  EXPECT_EQ(both.placement.units, 2);
  EXPECT_EQ(one.placement.units, 1);
  // The copies share main memory; the work does not share a core.
  EXPECT_LT(both.cycles.value(), one.cycles.value() - 0.9 * kFunctions * kFunction);
}

TEST(TpuCopies, DevicesThatReachEachOtherAreRefused) {
  const std::string copy = "(src=%xr, dst=%or, dst_sem=%rr, src_sem=%sr, device_id=%me);\n";
  const std::string text = Cat(
      "pkir 1;\nkernel @right {\n  backend mosaic_tpu;\n  devices {x=2};\n  in %x: f32[2] space any;\n  out %o: f32[2] "
      "space any;\n  grid [];\n  scratch %send: ref<semaphore,dma_sem[]>;\n  scratch %recv: "
      "ref<semaphore,dma_sem[]>;\n  body @right (%xr: ref<any,f32[2]>, %or: ref<any,f32[2]>, %sr: "
      "ref<semaphore,dma_sem[]>, %rr: ref<semaphore,dma_sem[]>) {\n    %me = axis_index{axis=\"x\"}() : i32[];\n    "
      "dma_start{device_id_type=mesh, priority=0, add=false}",
      copy, "    dma_wait{device_id_type=mesh, insert_dummy_device=false}", copy, "    return;\n  }\n}\n");
  const absl::StatusOr<PreparedKernel> kernel =
      PrepareText(text, {.kernel = "", .target = "mosaic_tpu/v5e", .path = "", .observable = true});
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  const Tensor x = *TensorFromText(DType::kF32, {2, 2}, "iota");
  const absl::StatusOr<Timed> timed = TimeKernel({*kernel, {&x, 1}, **machines::FindMachine("v5e"), {}});
  EXPECT_EQ(timed.status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_NE(timed.status().message().find("ICI is not modelled"), std::string::npos) << timed.status();
}

}  // namespace
}  // namespace palladion::timing::tpu
