// The timeline of Triton kernels: which lanes there are, what ends each wait, stages, places, and that nothing is lost.
#include "emu/timing/triton/timeline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_replace.h"
#include "emu/testing/triton_lanes_sum.h"
#include "emu/timing/mosaic_gpu/kernels_test_util.h"
#include "semantics/base/cat.h"

namespace palladion::timing::triton {
namespace {

using base::Timed;
using report::UnitUse;
using timeline::kNoSpan;
using timeline::Lane;
using timeline::LaneKind;
using timeline::Span;
using timeline::SpanKind;
using timeline::Timeline;
using timeline::TimelineOptions;

Timed DrawnOf(const std::string& text, const TimelineOptions& options = {}) {
  const machines::Machine machine = mosaic_gpu::test::MachineNamed("h100", {});
  const PreparedKernel kernel = mosaic_gpu::test::Prepared(text, "triton/h100");
  const std::vector<Tensor> inputs = mosaic_gpu::test::InputsOf(kernel);
  absl::StatusOr<Timed> timed =
      TimeKernel({.kernel = kernel, .inputs = inputs, .machine = machine, .run = {}, .timeline = options});
  EXPECT_TRUE(timed.ok()) << timed.status();
  return timed.ok() ? *std::move(timed) : Timed{};
}

std::string LostOf(const std::string& text) {
  const PreparedKernel kernel = mosaic_gpu::test::Prepared(text, "triton/h100");
  const absl::StatusOr<std::string> lost = LostOnTheLanes(text, "triton/h100", mosaic_gpu::test::InputsOf(kernel));
  EXPECT_TRUE(lost.ok()) << lost.status();
  return lost.ok() ? *lost : "no time";
}

std::vector<Span> SpansOn(const Timeline& timeline, std::string_view lane) {
  std::vector<Span> spans;
  for (const Span& span : timeline.spans) {
    if (timeline.lanes[static_cast<std::size_t>(span.lane)].name == lane) spans.push_back(span);
  }
  return spans;
}

std::vector<std::string> LanesOf(const Timeline& timeline, std::string_view group) {
  std::vector<std::string> names;
  for (const Lane& lane : timeline.lanes) {
    if (lane.group == group) names.push_back(lane.name);
  }
  return names;
}

const Span& EnderOf(const Timeline& timeline, const Span& span) {
  return timeline.spans.at(static_cast<std::size_t>(span.ended_by));
}

std::string Add(std::int64_t blocks, int warps = 32) {
  return absl::StrReplaceAll(R"(pkir 1;
kernel @add {
  backend triton;
  params {num_warps=$W};
  in %x: f32[$N] block (1024) map (%i: i32[]) { return %i; };
  in %y: f32[1024];
  out %o: f32[$N] block (1024) map (%i: i32[]) { return %i; };
  grid [$B];
  body @add (%xr: ref<default,f32[1024]> as "x_ref", %yr: ref<default,f32[1024]> as "y_ref",
             %or: ref<default,f32[1024]> as "o_ref") {
    %0 = get(%xr) : f32[1024];
    %1 = get(%yr) : f32[1024];
    %2 = add(%0, %1) : f32[1024];
    _ = swap(%or, %2) : f32[1024];
    return;
  }
}
)",
                             {{"$N", Cat(blocks * 1024)}, {"$B", Cat(blocks)}, {"$W", Cat(warps)}});
}

std::string Product(int stages, int warps = 4) {
  return absl::StrReplaceAll(R"(pkir 1;
kernel @mm {
  backend triton;
  params {num_warps=$W, num_stages=$S};
  in %a: f16[128,1024];
  in %b: f16[1024,128];
  out %o: f32[128,128];
  grid [];
  body @mm (%ar: ref<default,f16[128,1024]> as "a_ref", %br: ref<default,f16[1024,128]> as "b_ref",
            %or: ref<default,f32[128,128]> as "o_ref") {
    %0 = broadcast_in_dim{shape=[128,128], dims=[]}(0.0:f32) : f32[128,128];
    _, %r = scan{length=16, reverse=false}(init=0:i32, init=%0) (%i: i32[], %acc: f32[128,128]) {
      %n = add(%i, 1:i32) : i32[];
      %k = mul(%i, 64:i32) : i32[];
      %x = get(%ar.at[*, %k +: 64]) : f16[128,64];
      %y = get(%br.at[%k +: 64, *]) : f16[64,128];
      %d = dot_general{contract=[[1],[0]], batch=[[],[]], precision=none, preferred=f32}(%x, %y) : f32[128,128];
      %s = add(%acc, %d) : f32[128,128];
      return %n, %s;
    } : i32[], f32[128,128];
    _ = swap(%or, %r) : f32[128,128];
    return;
  }
}
)",
                             {{"$S", Cat(stages)}, {"$W", Cat(warps)}});
}

TEST(TritonTimeline, ABlockWaitsForItsLoads) {
  const Timeline timeline = *DrawnOf(Add(1, 4)).timeline;
  EXPECT_EQ(timeline.of, "SM 0");
  const std::vector<Span> loads = SpansOn(timeline, "loads from DRAM");
  ASSERT_EQ(loads.size(), 1u);
  EXPECT_EQ(loads[0].what, "x_ref[0:1024] -> registers, from DRAM");
  EXPECT_EQ(SpansOn(timeline, "loads from DRAM 2").size(), 1u) << "both are under way together";
  bool waits = false;
  for (const Span& span : SpansOn(timeline, "its 4 warps")) {
    if (span.what.find("add waits for") != 0) continue;
    waits = true;
    EXPECT_EQ(EnderOf(timeline, span).kind, SpanKind::kCopyIn);
    EXPECT_EQ(EnderOf(timeline, span).end, span.end);
  }
  EXPECT_TRUE(waits);
  const std::vector<Span> stores = SpansOn(timeline, "stores");
  ASSERT_EQ(stores.size(), 1u);
  EXPECT_EQ(stores[0].what, "registers -> o_ref[0:1024]");
  const Span last = SpansOn(timeline, "its 4 warps").back();
  EXPECT_EQ(last.what, "swap waits for global memory");
  EXPECT_EQ(EnderOf(timeline, last).what, stores[0].what);
}

TEST(TritonTimeline, LoadsSayWhichMemoryHadThem) {
  const Timeline timeline = *DrawnOf(Add(1056)).timeline;
  for (const std::string_view lane : {"loads from DRAM", "loads from L1"})
    EXPECT_FALSE(SpansOn(timeline, lane).empty()) << lane;
  for (const Span& span : SpansOn(timeline, "loads from L1"))
    EXPECT_EQ(span.what, "y_ref[0:1024] -> registers, from L1") << "the first block has fetched it";
}

// 1056 blocks on 132 SMs which hold two each.
TEST(TritonTimeline, PlacesHaveOneBlockAfterAnother) {
  const Timeline timeline = *DrawnOf(Add(1056), {.unit = 131}).timeline;
  EXPECT_EQ(timeline.of, "SM 131");
  EXPECT_EQ(LanesOf(timeline, "place 2 of 2"), (std::vector<std::string>{"its 32 warps", "block"}));
  EXPECT_TRUE(LanesOf(timeline, "place 3 of 2").empty());
  std::size_t blocks = 0, launches = 0, tails = 0;
  for (const Span& span : SpansOn(timeline, "block")) {
    blocks += span.what.starts_with("block (");
    launches += span.what.starts_with("launch of block (");
    tails += span.what.starts_with("tail");
    if (span.what.starts_with("launch")) {
      EXPECT_EQ(span.kind, SpanKind::kWait);
    }
  }
  EXPECT_NEAR(static_cast<double>(blocks), 8, 2);
  EXPECT_EQ(launches, blocks - 2);
  EXPECT_GE(tails, 1u);
}

TEST(TritonTimeline, StagesAreFilledInTurn) {
  for (const int stages : {2, 3, 4}) {
    const Timeline timeline = *DrawnOf(Product(stages)).timeline;
    EXPECT_EQ(LanesOf(timeline, "stages in shared memory").size(), static_cast<std::size_t>(2 * stages));
    for (int s = 0; s < stages; ++s) {
      const std::vector<std::string> lanes = LanesOf(timeline, "stages in shared memory");
      const auto lane = std::find_if(lanes.begin(), lanes.end(),
                                     [&](const std::string& name) { return name.ends_with(Cat("a_ref, stage ", s)); });
      ASSERT_NE(lane, lanes.end()) << stages << " " << s;
      const std::vector<Span> stage = SpansOn(timeline, *lane);
      ASSERT_FALSE(stage.empty()) << stages << " " << s;
      for (std::size_t i = 0; i < stage.size(); ++i) {
        EXPECT_EQ(stage[i].kind, i % 2 == 0 ? SpanKind::kCopyIn : SpanKind::kMultiply) << "filled, then read";
        EXPECT_EQ(stage[i].slot, s);
        if (i > 0) {
          EXPECT_GE(stage[i].begin, stage[i - 1].end) << stages << " stages: " << stage[i].what;
        }
      }
      EXPECT_EQ(stage[0].what, Cat("a_ref[0:128, ", 64 * s, ":", 64 * s + 64, "] -> stage ", s, ", from DRAM"));
    }
  }
}

TEST(TritonTimeline, WaitsForProductsAndCopiesHaveTheirArrows) {
  const Timeline timeline = *DrawnOf(Product(3)).timeline;
  std::size_t products = 0, copies = 0;
  for (const Span& span : timeline.spans) {
    if (span.kind != SpanKind::kWait || span.what.find(" waits for ") == std::string::npos) continue;
    const bool product = span.what.ends_with("a matrix product"), copy = span.what.ends_with("into shared memory");
    if (!product && !copy) continue;
    products += product, copies += copy;
    ASSERT_NE(span.ended_by, kNoSpan) << span.what;
    EXPECT_EQ(EnderOf(timeline, span).kind, product ? SpanKind::kMultiply : SpanKind::kCopyIn) << span.what;
    EXPECT_NEAR(EnderOf(timeline, span).end.value(), span.end.value(), 1e-6) << span.what;
  }
  EXPECT_GT(products, 8u);
  EXPECT_GT(copies, 8u);
}

// What iteration i fetches for a later one is requested when i begins, by what ran then.
TEST(TritonTimeline, CopiesAheadAreIssuedWhereTheIterationBegan) {
  const Timeline timeline = *DrawnOf(Product(4)).timeline;
  std::size_t later = 0;
  for (const Span& span : timeline.spans) {
    if (span.kind != SpanKind::kCopyIn || span.ended_by == kNoSpan) continue;
    EXPECT_LE(EnderOf(timeline, span).begin, span.begin) << span.what;
    later += span.begin.value() > 0;
  }
  EXPECT_GT(later, 20u);
}

TEST(TritonTimeline, OtherSmsHaveNoBlock) {
  const Timeline timeline = *DrawnOf(Add(1), {.unit = 5}).timeline;
  const std::vector<Span> spans = SpansOn(timeline, "block");
  ASSERT_EQ(spans.size(), 1u);
  EXPECT_EQ(spans[0].what, "no block on this SM; others run");
  EXPECT_EQ(spans[0].end, timeline.length);
  EXPECT_EQ(timeline.spans.size(), 1u);
}

TEST(TritonTimeline, AnAtomicIsBesideItsBlock) {
  const Timeline timeline = *DrawnOf(R"(pkir 1;
kernel @count {
  backend triton;
  grid [300];
  in %x: i32[8];
  out %o: i32[8] alias %x;
  body @count (%xr: ref<default,i32[8]> as "x_ref", %or: ref<default,i32[8]> as "o_ref") {
    _ = atomic_rmw{op=add}(%or.at[3], 1:i32) : i32[];
    return;
  }
}
)")
                                 .timeline;
  const std::vector<Span> atomics = SpansOn(timeline, "atomics");
  ASSERT_FALSE(atomics.empty());
  EXPECT_EQ(atomics[0].what, "registers +> o_ref, 1 element, in L2");
}

// Blocks ask at once for all that they load: then DRAM is busy for as long, if none of them does anything.
TEST(TritonTimeline, TheChipsUseIsSampled) {
  for (const int warps : {4, 32}) {
    const Timed timed = DrawnOf(Add(4096, warps));
    ASSERT_EQ(timed.timeline->strips.size(), 3u);
    EXPECT_EQ(timed.timeline->strips[1].name, "DRAM");
    double mean = 0, busy = 0;
    const std::vector<double>& dram = timed.timeline->strips[1].share;
    for (const double share : dram) mean += share / static_cast<double>(dram.size());
    for (const UnitUse& unit : timed.timing.units) {
      if (unit.unit == "DRAM") busy = unit.busy;
    }
    EXPECT_NEAR(mean, busy, 0.02) << warps;
    EXPECT_EQ(busy > 0.9, warps == 4) << "with 32 warps an SM holds two blocks";
  }
}

TEST(TritonTimeline, NothingIsLost) {
  EXPECT_EQ(LostOf(Product(3)), "");
  for (const int stages : {1, 2, 3}) EXPECT_EQ(LostOf(Product(stages, 2)), "") << stages << ", by mma.sync";
  EXPECT_EQ(LostOf(Add(300)), "");
}

TEST(TritonTimeline, ABlockThatNeverEndsIsDrawn) {
  const Timed timed = DrawnOf(R"(pkir 1;
kernel @wait {
  backend triton;
  grid [2];
  in %x: i32[1];
  out %o: i32[1] alias %x;
  body @wait (%xr: ref<default,i32[1]> as "x_ref", %or: ref<default,i32[1]> as "o_ref") {
    %done = while(init=0:i32) (%v: i32[]) {
      %wait = ne(%v, 77:i32) : bool[];
      return %wait;
    } (%v: i32[]) {
      %seen = get(%or.at[0]) : i32[];
      return %seen;
    } : i32[];
    return;
  }
}
)");
  ASSERT_TRUE(timed.timeline.has_value());
  const std::vector<Span> blocks = SpansOn(*timed.timeline, "block");
  ASSERT_FALSE(blocks.empty());
  EXPECT_EQ(blocks[0].what, "block (0), which does not end");
  EXPECT_GT(timed.timeline->length.value(), 0);
}

}  // namespace
}  // namespace palladion::timing::triton
