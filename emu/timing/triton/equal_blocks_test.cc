// One wave of a Triton kernel's blocks stands for others: where that is so, where it is not, and that the time is the
// whole one's within what is stated.
#include "emu/timing/triton/equal_blocks.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_replace.h"
#include "emu/testing/rows_of_time.h"
#include "emu/timing/mosaic_gpu/kernels_test_util.h"
#include "emu/timing/time_kernel.h"
#include "semantics/base/cat.h"

namespace palladion::timing::triton {
namespace {

using report::Timing;

// ---- what blocks ask for

constexpr std::int64_t kRoom = 10, kMany = 300;

std::vector<BlockTraffic> Equal(std::int64_t blocks) {
  return std::vector<BlockTraffic>(static_cast<std::size_t>(blocks), {.read = 100, .missed = 50, .written = 10});
}

TEST(EqualBlocks, TheMiddleOfALargeGridIsLeftOut) {
  const std::optional<EqualBlocks> equal = FindEqualBlocks(Equal(kMany), kRoom);
  ASSERT_TRUE(equal.has_value());
  EXPECT_EQ(equal->like, 6 * kRoom);
  EXPECT_EQ(equal->first, 12 * kRoom);
  EXPECT_EQ(equal->missed, 50.0 * static_cast<double>(equal->count));
  EXPECT_EQ(equal->first + equal->count, kMany - 2 * kRoom);
}

TEST(EqualBlocks, FewWavesAreTimedWhole) {
  EXPECT_FALSE(FindEqualBlocks(Equal(20 * kRoom - 1), kRoom).has_value());
  EXPECT_TRUE(FindEqualBlocks(Equal(20 * kRoom), kRoom).has_value());
}

TEST(EqualBlocks, AMiddleThatAsksForMoreOrMissesMoreIsTimed) {
  for (const auto member : {&BlockTraffic::read, &BlockTraffic::missed, &BlockTraffic::written}) {
    for (const std::int64_t from : {kMany / 4, kMany / 2, kMany * 3 / 4}) {
      std::vector<BlockTraffic> blocks = Equal(kMany);
      for (std::int64_t b = from; b < kMany; ++b) blocks[static_cast<std::size_t>(b)].*member += 20;
      EXPECT_FALSE(FindEqualBlocks(blocks, kRoom).has_value()) << from;
    }
  }
}

TEST(EqualBlocks, TheFirstBlocksAndTheLastMayBeOthers) {
  std::vector<BlockTraffic> blocks = Equal(kMany);
  blocks.front().missed = 1000;
  blocks.back().written = 1;
  EXPECT_TRUE(FindEqualBlocks(blocks, kRoom).has_value());
}

// ---- which steps they take

bool SameSteps(const std::string& body) {
  const PreparedKernel kernel = mosaic_gpu::test::Prepared(Cat(R"(pkir 1;
kernel @k {
  backend triton;
  in %x: i32[64];
  out %o: i32[64];
  grid [64];
  body @k (%xr: ref<default,i32[64]>, %or: ref<default,i32[64]>) {
    %i = program_id{axis=0}() : i32[];
)",
                                                               body, "    return;\n  }\n}\n"),
                                                           "triton/h100");
  return BlocksTakeTheSameSteps(kernel.state().text());
}

// A loop that ends where its counter is not less than `bound`, over a sum that differs.
std::string While(const std::string& bound) {
  return absl::StrReplaceAll(R"(
    %n, %s = while(init=0:i32, init=%i) (%c: i32[], %t: i32[]) {
      %go = lt(%c, $B) : bool[];
      return %go;
    } (%c: i32[], %t: i32[]) {
      %c1 = add(%c, 1:i32) : i32[];
      %t1 = add(%t, %i) : i32[];
      return %c1, %t1;
    } : i32[], i32[];
    _ = swap(%or.at[%i], %s) : i32[];
)",
                             {{"$B", bound}});
}

TEST(EqualBlocks, AFixedNumberOfTurnsIsEveryBlocks) {
  EXPECT_TRUE(SameSteps(""));
  EXPECT_TRUE(SameSteps(While("4:i32")));
}

TEST(EqualBlocks, TurnsByTheBlocksNumberOrByWhatIsLoadedAreNot) {
  EXPECT_FALSE(SameSteps(While("%i")));
  EXPECT_FALSE(SameSteps("    %v = get(%xr.at[0]) : i32[];\n" + While("%v")));
  EXPECT_FALSE(SameSteps("    %j = add(%i, 1:i32) : i32[];\n" + While("%j")));
}

TEST(EqualBlocks, NorIsABranchByTheBlocksNumber) {
  EXPECT_FALSE(SameSteps(R"(
    %first = eq(%i, 0:i32) : bool[];
    %w = convert_element_type{to=i32}(%first) : i32[];
    cond(%w) {
      return;
    } {
      _ = swap(%or.at[%i], 1:i32) : i32[];
      return;
    };
)"));
}

// ---- the time

// On few SMs, so that a small grid has many waves.
base::Timed RunOf(const std::string& text, bool every_wave) {
  const machines::Machine machine = mosaic_gpu::test::MachineNamed("h100", {"chip.cores=4"});
  const PreparedKernel kernel = mosaic_gpu::test::Prepared(text, "triton/h100");
  const std::vector<Tensor> inputs = mosaic_gpu::test::InputsOf(kernel);
  const absl::StatusOr<base::Timed> timed =
      TimeKernel({.kernel = kernel, .inputs = inputs, .machine = machine, .run = {}, .every_wave = every_wave});
  EXPECT_TRUE(timed.ok()) << timed.status();
  return timed.ok() ? *timed : base::Timed{};
}

void ExpectClose(double few, double all, double share, std::string_view what) {
  EXPECT_NEAR(few, all, share * all) << what;
}

void ExpectAlike(const std::string& text) {
  const Timing few = RunOf(text, false).timing, all = RunOf(text, true).timing;
  ASSERT_TRUE(few.placement.timed.has_value());
  EXPECT_LT(*few.placement.timed, few.placement.blocks);
  EXPECT_EQ(all.placement.timed, all.placement.blocks);
  EXPECT_EQ(few.placement.blocks, all.placement.blocks);
  ExpectClose(few.cycles.value(), all.cycles.value(), kEqualBlocksMiss, "cycles");
  ExpectClose(few.memory.value(), all.memory.value(), kEqualBlocksMiss, "bytes of DRAM");
  ExpectClose(few.flops, all.flops, 0.01, "operations");
  EXPECT_EQ(MissingOfTheRows(few), "");
  EXPECT_EQ(MissingOfTheRows(all), "");
  ASSERT_EQ(few.lines.size(), all.lines.size());
  for (std::size_t i = 0; i < few.lines.size(); ++i) {
    ExpectClose(static_cast<double>(few.lines[i].runs), static_cast<double>(all.lines[i].runs), 0.01, few.lines[i].op);
    ExpectClose(few.lines[i].busy.value(), all.lines[i].busy.value(), kEqualBlocksMiss, few.lines[i].op);
  }
  ASSERT_EQ(few.traffic.size(), all.traffic.size());
  for (std::size_t i = 0; i < few.traffic.size(); ++i)
    ExpectClose(few.traffic[i].read.value(), all.traffic[i].read.value(), 0.01, few.traffic[i].operand);
  machines::Cycles path;
  for (const report::PathPart& part : few.critical_path) path += part.time;
  ExpectClose(path.value(), few.cycles.value(), 1e-9, "the critical path");
  EXPECT_NE(few.left_out[0].find("assumed error: 6 %"), std::string::npos) << few.left_out[0];
}

std::string Sum(std::int64_t blocks) {
  return absl::StrReplaceAll(R"(pkir 1;
kernel @add {
  backend triton;
  params {num_warps=8};
  in %x: f32[$N] block (1024) map (%i: i32[]) { return %i; };
  out %o: f32[$N] block (1024) map (%i: i32[]) { return %i; };
  grid [$B];
  body @add (%xr: ref<default,f32[1024]>, %or: ref<default,f32[1024]>) {
    %0 = get(%xr) : f32[1024];
    %1 = exp(%0) : f32[1024];
    _ = swap(%or, %1) : f32[1024];
    return;
  }
}
)",
                             {{"$N", Cat(blocks * 1024)}, {"$B", Cat(blocks)}});
}

TEST(EqualBlocks, AStreamTakesAsLong) { ExpectAlike(Sum(1500)); }

// Tiles of 64 x 64, whose columns of y are in L2 after the first row of them.
TEST(EqualBlocks, AMatrixProductTakesAsLong) {
  ExpectAlike(R"(pkir 1;
kernel @mm {
  backend triton;
  params {num_warps=4, num_stages=3};
  in %x: f16[2048,256] block (64, 256) map (%i: i32[], %j: i32[]) { return %i, 0:i32; };
  in %y: f16[256,2048] block (256, 64) map (%i: i32[], %j: i32[]) { return 0:i32, %j; };
  out %o: f32[2048,2048] block (64, 64) map (%i: i32[], %j: i32[]) { return %i, %j; };
  grid [32, 32];
  body @mm (%xr: ref<default,f16[64,256]>, %yr: ref<default,f16[256,64]>, %or: ref<default,f32[64,64]>) {
    %zero = broadcast_in_dim{shape=[64,64], dims=[]}(0.0:f32) : f32[64,64];
    _, %s = scan{length=4, reverse=false}(init=0:i32, init=%zero) (%k: i32[], %acc: f32[64,64]) {
      %at = mul(%k, 64:i32) : i32[];
      %a = get(%xr.at[*, %at +: 64]) : f16[64,64];
      %b = get(%yr.at[%at +: 64, *]) : f16[64,64];
      %p = dot_general{contract=[[1],[0]], batch=[[],[]], precision=none, preferred=f32}(%a, %b) : f32[64,64];
      %sum = add(%acc, %p) : f32[64,64];
      %k1 = add(%k, 1:i32) : i32[];
      return %k1, %sum;
    } : i32[], f32[64,64];
    _ = swap(%or, %s) : f32[64,64];
    return;
  }
}
)");
}

// Block 700 reads past the end: blocks that are left out are run without a clock, and a kernel with a finding is timed
// whole.
TEST(EqualBlocks, AFindingInTheMiddleIsStillThere) {
  const auto text = [](const std::string& wrong) {
    return absl::StrReplaceAll(R"(pkir 1;
kernel @copy {
  backend triton;
  params {num_warps=8};
  in %x: f32[1536000];
  out %o: f32[1536000] block (1024) map (%i: i32[]) { return %i; };
  grid [1500];
  body @copy (%xr: ref<default,f32[1536000]>, %or: ref<default,f32[1024]>) {
    %i = program_id{axis=0}() : i32[];
    %f = mul(%i, 1024:i32) : i32[];
    %e = eq(%i, $W:i32) : bool[];
    %w = convert_element_type{to=i32}(%e) : i32[];
    %far = mul(%w, 1536000:i32) : i32[];
    %j = add(%f, %far) : i32[];
    %0 = get(%xr.at[%j +: 1024]) : f32[1024];
    _ = swap(%or, %0) : f32[1024];
    return;
  }
}
)",
                               {{"$W", wrong}});
  };
  const base::Timed good = RunOf(text("-1"), false), wrong = RunOf(text("700"), false), all = RunOf(text("700"), true);
  EXPECT_TRUE(good.report.findings.empty());
  EXPECT_LT(*good.timing.placement.timed, 1500);
  EXPECT_EQ(wrong.report.findings.size(), 1u);
  EXPECT_EQ(wrong.timing.placement.timed, 1500);
  EXPECT_EQ(ToJson(wrong.report), ToJson(all.report));
}

}  // namespace
}  // namespace palladion::timing::triton
