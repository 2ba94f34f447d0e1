// Rings recognised from the text, by what they become: a kernel with one slot more is the kernel that its author would
// have written with one slot more.
#include "emu/tools/advice/ring.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_replace.h"
#include "emu/timing/mosaic_gpu/kernels_test_util.h"
#include "emu/tools/advice/change.h"
#include "semantics/base/cat.h"
#include "semantics/ir/parser.h"
#include "semantics/ir/printer.h"

namespace palladion::advice {
namespace {

using timing::mosaic_gpu::test::MatmulText;

Module Parsed(const std::string& text) {
  absl::StatusOr<Module> module = Parse(text);
  EXPECT_TRUE(module.ok()) << module.status() << "\n" << text;
  return *std::move(module);
}
std::string Canonical(const std::string& text) { return Print(Parsed(text)); }

std::string TextOf(const std::string& text, std::string_view begins) {
  for (const Candidate& one : FindSlots(Parsed(text)).candidates) {
    if (one.what.substr(0, begins.size()) == begins) return Print(one.module);
  }
  ADD_FAILURE() << "no candidate " << begins;
  return "";
}

// Why the text's only ring is not tried; "" where it is.
std::string Unsure(const std::string& text) {
  const Found found = FindSlots(Parsed(text));
  EXPECT_EQ(found.not_tried.empty(), !found.candidates.empty());
  return found.not_tried.empty() ? "" : found.not_tried[0].why;
}

TEST(Ring, ItsNamesAndSlotsAreTheText) {
  Module module = Parsed(MatmulText({.k = 1024, .slots = 3}));
  const std::vector<Ring> rings = FindRings(module);
  ASSERT_EQ(1u, rings.size());
  EXPECT_EQ("a, b", rings[0].names);
  EXPECT_EQ(3, rings[0].slots);
  EXPECT_EQ(4u, rings[0].arrays.size());
  EXPECT_EQ("", rings[0].unsure);
}

TEST(Ring, WithAnotherNumberOfSlotsItIsWhatItsAuthorWouldHaveWritten) {
  for (const std::int64_t slots : {1, 2, 3, 5}) {
    const auto text = [](std::int64_t n) { return MatmulText({.k = 1024, .slots = n}); };
    EXPECT_EQ(Canonical(text(slots + 1)), TextOf(text(slots), "one more slot of ring a, b, "));
    if (slots > 1) {
      EXPECT_EQ(Canonical(text(slots - 1)), TextOf(text(slots), "one slot fewer of ring a, b, "));
    }
  }
}

// As jax.experimental.pallas.mosaic_gpu.emit_pipeline_warp_specialized has it: the first slots are filled by a loop of
// their own, the fetcher then does the steps that are left, and waits at the end for those that are not filled again.
// $S slots, $T steps, $R = $T - $S; $D: so many steps later a slot is given back.
constexpr char kPipeline[] = R"(pkir 1;
kernel @k {
  backend mosaic_gpu;
  in %x: f32[1024,32] space gmem;
  out %o: f32[64,32] space gmem;
  mesh gpu {grid=[], grid_names=[], cluster=[], cluster_names=[], threads=2, thread_name="wg"};
  body @k (%xr: ref<gmem,f32[1024,32]> as "x_ref", %or: ref<gmem,f32[64,32]> as "o_ref") {
    run_scoped{collective_axes=["wg"]}() (%a: ref<smem,f32[$S,64,32]> as "a",
        %full: ref<smem,barrier{arrivals=1, orders_tensor_core=false}[$S]> as "full",
        %empty: ref<smem,barrier{arrivals=1, orders_tensor_core=false}[$S]> as "empty") {
      %wg = axis_index{axis="wg"}() : i32[];
      cond(%wg) {
        _ = scan{length=$S, reverse=false}(init=0:~i32) (%n: ~i32[]) {
          %p = mul(%n, 64:~i32) : ~i32[];
          copy_gmem_to_smem{collective_axes=[], leader_tracked=none, oob_mode=zeros}(src=%xr.at[%p +: 64, *], dst=%a.at[%n, *, *], barrier=%full.at[%n]);
          %n1 = add(%n, 1:~i32) : ~i32[];
          return %n1;
        } : ~i32[];
        _ = scan{length=$R, reverse=false}(init=0:~i32) (%n: ~i32[]) {
          %s = rem(%n, $S:~i32) : ~i32[];
          barrier_wait(barrier=%empty.at[%s]);
          %q = add(%n, $S:~i32) : ~i32[];
          %z = rem(%q, $S:~i32) : ~i32[];
          %p = mul(%q, 64:~i32) : ~i32[];
          copy_gmem_to_smem{collective_axes=[], leader_tracked=none, oob_mode=zeros}(src=%xr.at[%p +: 64, *], dst=%a.at[%z, *, *], barrier=%full.at[%z]);
          %n1 = add(%n, 1:~i32) : ~i32[];
          return %n1;
        } : ~i32[];
        _ = scan{length=$S, reverse=false}(init=0:~i32) (%n: ~i32[]) {
          %m = mul(%n, 1:~i32) : ~i32[];
          %q = add($R:~i32, %m) : ~i32[];
          %s = rem(%q, $S:~i32) : ~i32[];
          barrier_wait(barrier=%empty.at[%s]);
          %n1 = add(%n, 1:~i32) : ~i32[];
          return %n1;
        } : ~i32[];
        return;
      } {
        _, %sum = scan{length=$T, reverse=false}(init=0:~i32, init=0.0:f32) (%n: ~i32[], %t: f32[]) {
          %s = rem(%n, $S:~i32) : ~i32[];
          barrier_wait(barrier=%full.at[%s]);
          %v = get(%a.at[%s, 0, 0]) : f32[];
          barrier_arrive(barrier=%empty.at[%s]);
          %u = add(%t, %v) : f32[];
          %n1 = add(%n, 1:~i32) : ~i32[];
          return %n1, %u;
        } : ~i32[], f32[];
        %w = broadcast_in_dim{shape=[64,32], broadcast_dimensions=[]}(%sum) : f32[64,32];
        _ = swap(%or, %w) : f32[64,32];
        return;
      };
      return;
    };
    return;
  }
}
)";

std::string PipelineText(std::int64_t slots, std::int64_t steps) {
  return absl::StrReplaceAll(kPipeline, {{"$S", Cat(slots)}, {"$T", Cat(steps)}, {"$R", Cat(steps - slots)}});
}

TEST(Ring, NumbersThatFollowFromTheSlotsFollow) {
  for (const std::int64_t slots : {2, 3, 4, 6, 8}) {
    EXPECT_EQ(Canonical(PipelineText(slots + 1, 16)), TextOf(PipelineText(slots, 16), "one more slot of ring a, "))
        << slots;
    EXPECT_EQ(Canonical(PipelineText(slots - 1, 16)), TextOf(PipelineText(slots, 16), "one slot fewer of ring a, "))
        << slots;
  }
}

// As emit_pipeline has it: the block that is fetched in the loop is counted beside the steps, and where that begins is
// computed from literals.
std::string PipelineThatCounts(std::int64_t slots, const std::string& first) {
  const std::string text = absl::StrReplaceAll(
      kPipeline,
      {{"_ = scan{length=$R, reverse=false}(init=0:~i32) (%n: ~i32[]) {",
        Cat("%f1 = add(1:i32, 1:i32) : i32[]; %f2 = eq(%f1, 16:i32) : bool[]; %f3 = select_n(%f2, %f1, 0:i32) : i32[];",
            "%f = add(%f3, 1:i32) : i32[];", "_, _ = scan{length=$R, reverse=false}(init=0:~i32, init=", first,
            ") (%n: ~i32[], %c: i32[]) {")},
       {"%p = mul(%q, 64:~i32) : ~i32[];", "%c1 = add(%c, 1:i32) : i32[]; %p = mul(%c, 64:i32) : i32[];"},
       {"return %n1;\n        } : ~i32[];\n        _ = scan{length=$S, reverse=false}(init=0:~i32) (%n: ~i32[]) {\n"
        "          %m",
        "return %n1, %c1;\n        } : ~i32[], i32[];\n        _ = scan{length=$S, reverse=false}(init=0:~i32) "
        "(%n: ~i32[]) {\n          %m"}});
  return absl::StrReplaceAll(text, {{"$S", Cat(slots)}, {"$T", "16"}, {"$R", Cat(16 - slots)}});
}

TEST(Ring, WhatIsCountedBesideTheStepsBeginsAsFarAhead) {
  EXPECT_EQ(Canonical(PipelineThatCounts(4, "4:i32")),
            TextOf(PipelineThatCounts(3, "%f"), "one more slot of ring a, "));
  EXPECT_EQ(Canonical(PipelineThatCounts(2, "2:i32")),
            TextOf(PipelineThatCounts(3, "%f"), "one slot fewer of ring a, "));
}

// ---- where it is not sure

std::string Changed(const std::string& from, const std::string& to) {
  const std::string text = MatmulText({.k = 1024, .slots = 3});
  EXPECT_NE(std::string::npos, text.find(from));
  return absl::StrReplaceAll(text, {{from, to}});
}

TEST(Ring, AsManyStepsAsSlotsMayBeEither) {
  EXPECT_NE(std::string::npos, Unsure(MatmulText({.k = 256, .slots = 4})).find("as many turns as the ring has slots"));
}

TEST(Ring, ASlotThatIsNamedByItsNumberIsNotSure) {
  const std::string why = Unsure(Changed("barrier_wait(barrier=%full.at[%s]);",
                                         "barrier_wait(barrier=%full.at[%s]); barrier_wait(barrier=%full.at[2]);"));
  EXPECT_NE(std::string::npos, why.find("names a slot of full by its number")) << why;
}

TEST(Ring, ASlotThatIsComputedWithIsNotSure) {
  const std::string why = Unsure(Changed("wgmma_wait(0:i32);", "wgmma_wait(0:i32); %e = mul(%s, 2:i32) : i32[];"));
  EXPECT_NE(std::string::npos, why.find("computes with the number of a slot")) << why;
}

TEST(Ring, SlotsThatAreUsedTogetherAreNotSure) {
  const std::string why = Unsure(Changed("wgmma_wait(0:i32);", "wgmma_wait(0:i32); %e = get(%a) : f16[3,8,1,8,64];"));
  EXPECT_NE(std::string::npos, why.find("uses a as a whole")) << why;
}

TEST(Ring, ARemainderByAnotherNumberIsNotSure) {
  const std::string why = Unsure(Changed("%s = rem(%n, 3:i32) : i32[];\n            barrier_wait",
                                         "%s = rem(%n, 2:i32) : i32[];\n            barrier_wait"));
  EXPECT_NE(std::string::npos, why.find("takes the remainder by 2 of what has 3 slots")) << why;
}

TEST(Ring, NoRingIsNoRing) {
  const Found found = FindSlots(Parsed(timing::mosaic_gpu::test::CopyText()));
  EXPECT_TRUE(found.candidates.empty());
  EXPECT_TRUE(found.not_tried.empty());
}

}  // namespace
}  // namespace palladion::advice
