// Advice on kernels whose gain is known by how they are made, and what is refused.
#include "emu/tools/advice/advise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_replace.h"
#include "emu/kernel/prepared_kernel.h"
#include "emu/timing/mosaic_gpu/kernels_test_util.h"
#include "emu/tools/advice/advice_format.h"
#include "emu/tools/edit/edit.h"
#include "semantics/base/cat.h"

namespace palladion::advice {
namespace {

using timing::mosaic_gpu::test::InputsOf;
using timing::mosaic_gpu::test::MachineNamed;
using timing::mosaic_gpu::test::MatmulText;
using timing::mosaic_gpu::test::Prepared;

struct Question {
  std::string text;
  std::string target = "mosaic_gpu/h100";
  bool what_ifs = false;
  absl::Span<const ChangeRow> changes = AllChanges();
  std::string values = "full(1)";
};

Advice AdviceOn(const Question& question) {
  const PreparedKernel kernel = Prepared(question.text, question.target);
  const std::vector<Tensor> inputs = InputsOf(kernel, question.values);
  const machines::Machine machine = MachineNamed(question.target.substr(question.target.find('/') + 1));
  absl::StatusOr<Advice> advice = Advise({.kernel = kernel,
                                          .inputs = inputs,
                                          .machine = machine,
                                          .run = {},
                                          .seeds = 2,
                                          .what_ifs = question.what_ifs,
                                          .changes = question.changes});
  EXPECT_TRUE(advice.ok()) << advice.status();
  return *std::move(advice);
}

const Tried& Of(const Advice& advice, std::string_view what) {
  const auto found = std::find_if(advice.tried.begin(), advice.tried.end(),
                                  [&](const Tried& one) { return one.what.find(what) != std::string::npos; });
  EXPECT_NE(found, advice.tried.end()) << what;
  return *found;
}

double SavedBy(const Advice& advice, std::string_view what) {
  const Tried& one = Of(advice, what);
  EXPECT_TRUE(one.time.has_value()) << one.what << ": " << one.refused;
  return one.time.has_value() ? 1 - *one.time / advice.timing.time : 0;
}

// With one slot the copy of a step waits until the step before it is multiplied: a second one hides it.
TEST(Advise, ASecondSlotHidesTheLatencyOfCopies) {
  const std::string text = MatmulText({.m = 64, .n = 128, .k = 2048, .slots = 1});
  const Advice advice = AdviceOn({.text = text});
  EXPECT_GT(SavedBy(advice, "one more slot"), 0.3);
  EXPECT_GT(SavedBy(advice, "2 more slots"), SavedBy(advice, "one more slot"));
  // It is what a kernel with two slots takes.
  const Advice two = AdviceOn({.text = MatmulText({.m = 64, .n = 128, .k = 2048, .slots = 2}), .changes = {}});
  EXPECT_EQ(two.timing.time, *Of(advice, "one more slot of ring a, b, 2 for 1").time);
  EXPECT_TRUE(std::none_of(advice.tried.begin(), advice.tried.end(), [](const Tried& one) {
    return one.what.find("fewer") != std::string::npos;
  })) << "there is no ring of no slot";
}

// Where the tensor cores are busy all the time, no slot helps.
TEST(Advise, AnotherSlotOfABusyRingIsNoGain) {
  const Advice advice = AdviceOn({.text = MatmulText({.m = 64, .n = 128, .k = 2048, .slots = 8})});
  EXPECT_NEAR(SavedBy(advice, "one more slot"), 0, 0.01);
}

TEST(Advise, WhatDoesNotFitIsRefusedWithItsReason) {
  const Advice advice = AdviceOn({.text = MatmulText({.m = 64, .n = 128, .k = 2048, .slots = 9})});
  const Tried& more = Of(advice, "one more slot");
  EXPECT_FALSE(more.time.has_value());
  EXPECT_NE(std::string::npos, more.refused.find("shared memory")) << more.refused;
  EXPECT_EQ(&more, &advice.tried.back()) << "what is refused comes last";
  const std::string advised = AdviceText(advice, Prepared(MatmulText({.slots = 9})).state().module());
  EXPECT_NE(std::string::npos, advised.find("refused\n  one more slot")) << advised;
}

TEST(Advise, WhatIsNotRecognisedIsReportedWithItsReason) {
  const Advice advice = AdviceOn({.text = MatmulText({.m = 64, .n = 128, .k = 256, .slots = 4})});
  ASSERT_FALSE(advice.not_tried.empty());
  EXPECT_EQ(advice.not_tried[0].what, "slots of ring a, b");
  EXPECT_TRUE(
      std::none_of(advice.tried.begin(), advice.tried.end(), [](const Tried& one) { return one.change == "slots"; }));
}

// ---- what a change must not do

Found WithoutAWait(const Module& module) {
  Candidate candidate{.what = "no wait", .text_line = 1, .loc = {}, .module = module};
  edit::ForEachInstr(candidate.module.kernels[0], [](Instr& instr) {
    for (Region& region : instr.regions)
      std::erase_if(region.body, [](const Instr& one) { return one.name == "wgmma_wait"; });
  });
  return {.candidates = {candidate}, .not_tried = {}};
}

Found WithAnotherColumn(const Module& module) {
  Candidate candidate{.what = "another column", .text_line = 1, .loc = {}, .module = module};
  edit::ForEachInstr(candidate.module.kernels[0], [](Instr& instr) {
    if (instr.name == "mul" && instr.args[1].kind == Arg::Kind::kLiteral && edit::IntOf(instr.args[1].literal) == 64 &&
        instr.text_line > 25)
      edit::SetInt(instr.args[1].literal, 0);
  });
  return {.candidates = {candidate}, .not_tried = {}};
}

Found WithAnUnknownType(const Module& module) {
  Candidate candidate{.what = "no kernel", .text_line = 1, .loc = {}, .module = module};
  candidate.module.kernels[0].bodies[0].region.body.clear();
  candidate.module.kernels[0].bodies[0].region.params.clear();
  return {.candidates = {candidate}, .not_tried = {}};
}

TEST(Advise, AChangeThatRacesOrComputesSomethingElseIsRefused) {
  const ChangeRow rows[] = {
      {"wait", "", "", WithoutAWait}, {"column", "", "", WithAnotherColumn}, {"none", "", "", WithAnUnknownType}};
  const Advice advice = AdviceOn({.text = MatmulText({.m = 64, .n = 128, .k = 512, .slots = 2}),
                                  .changes = rows,
                                  .values = "random(seed=1,lo=-1,hi=1)"});
  ASSERT_EQ(advice.tried.size(), 3u);
  EXPECT_NE(std::string::npos, Of(advice, "no wait").refused.find("which the kernel as it is has not"))
      << Of(advice, "no wait").refused;
  EXPECT_EQ(Of(advice, "another column").refused, "other results in o");
  EXPECT_NE(std::string::npos, Of(advice, "no kernel").refused.find("the changed kernel"))
      << Of(advice, "no kernel").refused;
}

// ---- the grid

constexpr char kSums[] = R"(pkir 1;
kernel @k {
  backend mosaic_tpu;
  params {dimension_semantics=["arbitrary","arbitrary"]};
  grid [4,4] names ["i","j"];
  in %x: f32[512,512] block (128,128) map (%i: i32[], %j: i32[]) { return %i, %j; };
  in %y: f32[512,128] block (128,128) map (%i: i32[], %j: i32[]) { return %i, 0:i32; };
  out %o: f32[512,512] block (128,128) map (%i: i32[], %j: i32[]) { return %i, %j; };
  body @k (%xr: ref<default,f32[128,128]> as "x_ref", %yr: ref<default,f32[128,128]> as "y_ref",
           %or: ref<default,f32[128,128]> as "o_ref") {
    %0 = get(%xr) : f32[128,128];
    %1 = get(%yr) : f32[128,128];
    %2 = add(%0, %1) : f32[128,128];
    _ = swap(%or, %2) : f32[128,128];
    return;
  }
}
)";

// In its own order a block of y stays for a row of programs; in the other it is fetched by each.
TEST(Advise, AnOrderOfTheGridInWhichBlocksStayIsFaster) {
  const Advice worse = AdviceOn({.text = kSums, .target = "mosaic_tpu/v5e"});
  EXPECT_LT(SavedBy(worse, "grid in the order j, i"), -0.05);
  const std::string other = absl::StrReplaceAll(
      kSums, {{"%i: i32[], %j: i32[]", "%j: i32[], %i: i32[]"}, {"[\"i\",\"j\"]", "[\"j\",\"i\"]"}});
  const Advice better = AdviceOn({.text = other, .target = "mosaic_tpu/v5e"});
  EXPECT_GT(SavedBy(better, "grid in the order i, j"), 0.05);
  EXPECT_EQ(better.tried[0].time, worse.timing.time);
}

// ---- waits

// Two products for each copy, so copies are there in time: the tensor cores idle while their thread waits for both.
TEST(Advise, AWaitForTheTurnBeforeKeepsTensorCoresBusy) {
  const std::string product =
      "wgmma_ref(acc=%acc, a=%a.unswizzle(128).untile[8,64].at[%s, *, *], b=%b.unswizzle(128).untile[8,64].at[%s, *, "
      "*]);";
  const std::string text = absl::StrReplaceAll(MatmulText({.m = 64, .n = 128, .k = 2048, .slots = 6}),
                                               {{product, Cat(product, "\n", product)}});
  const Advice advice = AdviceOn({.text = text, .values = "random(seed=1,lo=-1,hi=1)"});
  EXPECT_GT(SavedBy(advice, "the turn before"), 0.02);
  EXPECT_NE(std::string::npos, Of(advice, "the turn before").text.find("wgmma_wait(2:i32)"));
}

// The slot of the turn before is given back when the next one's copy should long be there: with one slot never.
TEST(Advise, AWaitThatKeepsTheOnlySlotIsRefused) {
  const Advice advice = AdviceOn({.text = MatmulText({.m = 64, .n = 128, .k = 512, .slots = 1})});
  const Tried& later = Of(advice, "the turn before");
  EXPECT_FALSE(later.time.has_value());
  EXPECT_EQ(0u, later.refused.find("DEADLOCK")) << later.refused;
}

TEST(Advise, WhatStandsBehindAWaitAndMayNeedItKeepsIt) {
  const std::string text =
      absl::StrReplaceAll(MatmulText({.m = 64, .n = 128, .k = 512, .slots = 2}),
                          {{"wgmma_wait(0:i32);", "wgmma_wait(0:i32); barrier_wait(barrier=%full.at[%s]);"}});
  const PreparedKernel kernel = Prepared(text);
  Module module = kernel.state().module();
  const Found found = FindProductWaits(module);
  EXPECT_TRUE(found.candidates.empty());
  ASSERT_EQ(found.not_tried.size(), 1u);
  EXPECT_NE(std::string::npos, found.not_tried[0].why.find("may need what it waits for")) << found.not_tried[0].why;
}

// ---- blocks

constexpr char kAdd[] = R"(pkir 1;
kernel @k {
  backend mosaic_tpu;
  grid [$G];
  in %x: f32[4096,512] block ($B,512) map (%i: i32[]) { return %i, 0:i32; };
  out %o: f32[4096,512] block ($B,512) map (%i: i32[]) { return %i, 0:i32; };
  body @k (%xr: ref<default,f32[$B,512]> as "x_ref", %or: ref<default,f32[$B,512]> as "o_ref") {
    %0 = get(%xr) : f32[$B,512];
    %1 = add(%0, 1.0:f32) : f32[$B,512];
    _ = swap(%or, %1) : f32[$B,512];
    return;
  }
}
)";

std::string AddText(std::int64_t rows) {
  return absl::StrReplaceAll(kAdd, {{"$B", Cat(rows)}, {"$G", Cat(4096 / rows)}});
}

// Programs of small blocks take longer than the bytes.
TEST(Advise, LargerBlocksAreFasterWhereProgramsCostMoreThanBytes) {
  const Advice advice = AdviceOn({.text = AddText(16), .target = "mosaic_tpu/v5e"});
  EXPECT_GT(SavedBy(advice, "blocks of 32 for 16"), 0.1);
  EXPECT_LT(SavedBy(advice, "blocks of 8 for 16"), -0.1);
  const Advice larger = AdviceOn({.text = AddText(32), .target = "mosaic_tpu/v5e", .changes = {}});
  EXPECT_EQ(Of(advice, "blocks of 32 for 16").time, larger.timing.time);
}

TEST(Advise, BlocksThatTheTargetRefusesAreRefused) {
  const Advice advice = AdviceOn({.text = AddText(8), .target = "mosaic_tpu/v5e"});
  EXPECT_FALSE(Of(advice, "blocks of 4 for 8").time.has_value());
}

TEST(Advise, BlocksThatCannotGrowAreReportedWithTheReason) {
  const Advice advice = AdviceOn({.text = AddText(4096), .target = "mosaic_tpu/v5e"});
  const auto found = std::find_if(advice.not_tried.begin(), advice.not_tried.end(), [](const NotTried& one) {
    return one.what.find("blocks of 8192 for 4096") != std::string::npos;
  });
  ASSERT_NE(found, advice.not_tried.end());
  EXPECT_NE(std::string::npos, found->why.find("does not divide 4096")) << found->why;
}

// One step of a size is not all that there is to gain, and what does not help is not driven further.
TEST(Advise, BlocksGrowAsFarAsThatHelps) {
  const Advice advice = AdviceOn({.text = AddText(16), .target = "mosaic_tpu/v5e"});
  const Tried &twice = Of(advice, "blocks of 32 for 16"), &more = Of(advice, "blocks of 128 for 16");
  ASSERT_TRUE(twice.time.has_value() && more.time.has_value());
  EXPECT_LT(*more.time, *twice.time);
  const Advice larger = AdviceOn({.text = AddText(128), .target = "mosaic_tpu/v5e", .changes = {}});
  EXPECT_EQ(more.time, larger.timing.time);
  EXPECT_FALSE(Of(advice, "blocks of 8 for 16").time.has_value() &&
               *Of(advice, "blocks of 8 for 16").time < advice.timing.time);
  EXPECT_TRUE(std::none_of(advice.tried.begin(), advice.tried.end(),
                           [](const Tried& one) { return one.what.find("blocks of 4 for 16") != std::string::npos; }));
}

// The last program is another one in another grid.
constexpr char kLast[] = R"(pkir 1;
kernel @k {
  backend mosaic_tpu;
  grid [$G];
  in %x: f32[512,128] block ($B,128) map (%i: i32[]) { return %i, 0:i32; };
  out %o: f32[512,128] block ($B,128) map (%i: i32[]) { return %i, 0:i32; };
  out %t: f32[8,128] block (8,128) map (%i: i32[]) { return 0:i32, 0:i32; };
  body @k (%xr: ref<default,f32[$B,128]> as "x_ref", %or: ref<default,f32[$B,128]> as "o_ref",
           %tr: ref<default,f32[8,128]> as "t_ref") {
    %0 = get(%xr) : f32[$B,128];
    _ = swap(%or, %0) : f32[$B,128];
    %p = program_id{axis=0}() : i32[];
    %l = $C : bool[];
    %c = convert_element_type{to=i32}(%l) : i32[];
    cond(%c) { return; } {
      %1 = get(%xr.at[0 +: 8, *]) : f32[8,128];
      %2 = sub(%1, %1) : f32[8,128];
      _ = swap(%tr, %2) : f32[8,128];
      return;
    };
    return;
  }
}
)";

std::string LastText(std::int64_t rows, const std::string& condition) {
  return absl::StrReplaceAll(kLast, {{"$B", Cat(rows)}, {"$G", Cat(512 / rows)}, {"$C", condition}});
}

TEST(Advise, WhatJaxFoldedFromTheGridFollowsIt) {
  for (const auto& [condition, changed] :
       {std::pair("eq(%p, 31:i32)", "eq(%p, 15:i32)"), std::pair("ge(%p, 31:i32)", "ge(%p, 15:i32)")}) {
    const Advice advice = AdviceOn({.text = LastText(16, condition), .target = "mosaic_tpu/v5e"});
    EXPECT_GT(SavedBy(advice, "blocks of 32 for 16"), 0.1);
    EXPECT_NE(std::string::npos, Of(advice, "blocks of 32 for 16").text.find(changed));
  }
  // The first one stays the first.
  const Advice first = AdviceOn({.text = LastText(16, "eq(%p, 0:i32)"), .target = "mosaic_tpu/v5e"});
  EXPECT_GT(SavedBy(first, "blocks of 32 for 16"), 0.1);
}

TEST(Advise, ANumberThatMayNotFollowTheGridIsNotTried) {
  for (const auto& [text, why] :
       {std::pair(LastText(16, "eq(%p, 7:i32)"), "with 7, which is neither the first nor the last"),
        std::pair(LastText(512, "eq(%p, 0:i32)"), "with 0, which is the first and the last")}) {
    const Advice advice = AdviceOn({.text = text, .target = "mosaic_tpu/v5e"});
    EXPECT_TRUE(std::any_of(advice.not_tried.begin(), advice.not_tried.end(), [&why = why](const NotTried& one) {
      return one.why.find(why) != std::string::npos;
    })) << why;
  }
}

// ---- evidence

// Every program reads the first block.
Found WithTheFirstBlock(const Module& module) {
  Candidate candidate{.what = "the first block", .text_line = 1, .loc = {}, .series = "", .module = module};
  candidate.module.kernels[0].operands[0].block->map.results[0] = edit::LiteralArg(0, ArrayType(DType::kI32, {}));
  return {.candidates = {candidate}, .not_tried = {}};
}

TEST(Advise, InputsThatAreAllAlikeAreNoEvidence) {
  const ChangeRow rows[] = {{"first", "", "", WithTheFirstBlock}};
  const Advice advice = AdviceOn({.text = AddText(16), .target = "mosaic_tpu/v5e", .changes = rows});
  EXPECT_EQ(advice.tried[0].refused, "other results in o");
  EXPECT_EQ(advice.random, std::vector<std::string>{"x"});
  const Advice given = AdviceOn(
      {.text = AddText(16), .target = "mosaic_tpu/v5e", .changes = rows, .values = "random(seed=3,lo=-1,hi=1)"});
  EXPECT_EQ(given.tried[0].refused, "other results in o");
  EXPECT_TRUE(given.random.empty());
}

TEST(Advise, OutputsThatAreAllAlikeAreNoEvidence) {
  const std::string integers = absl::StrReplaceAll(AddText(16), {{"f32", "i32"}, {"1.0:", "1:"}});
  const Advice advice = AdviceOn({.text = integers, .target = "mosaic_tpu/v5e"});
  EXPECT_EQ(Of(advice, "blocks of 32 for 16").refused,
            "its outputs are equal, but all their elements are alike on these inputs, so that shows nothing");
  const Advice iota = AdviceOn({.text = integers, .target = "mosaic_tpu/v5e", .values = "iota"});
  EXPECT_GT(SavedBy(iota, "blocks of 32 for 16"), 0.1);
}

TEST(Advise, ADifferenceBelowItsUncertaintyIsSaid) {
  const std::string text = AddText(16);
  const Advice advice = AdviceOn({.text = text, .target = "mosaic_tpu/v5e"});
  const std::string advised = AdviceText(advice, Prepared(text, "mosaic_tpu/v5e").state().module());
  EXPECT_NE(std::string::npos, advised.find("outputs are compared with random numbers in x, whose elements"))
      << advised;
  EXPECT_NE(std::string::npos,
            advised.find("The difference of two times is uncertain by at most 18.0 % of the slower one"))
      << advised;
  Advice close = advice;
  close.tried.resize(1);
  close.tried[0].time = 0.875 * advice.timing.time;
  const std::string near = AdviceText(close, Prepared(text, "mosaic_tpu/v5e").state().module());
  EXPECT_NE(std::string::npos, near.find("12.5 % less, less than its uncertainty\n")) << near;
  close.tried[0].time = 0.5 * advice.timing.time;
  const std::string far = AdviceText(close, Prepared(text, "mosaic_tpu/v5e").state().module());
  EXPECT_NE(std::string::npos, far.find("50.0 % less\n")) << far;
  close.tried[0].uncertainty.reset();
  const std::string unknown = AdviceText(close, Prepared(text, "mosaic_tpu/v5e").state().module());
  EXPECT_NE(std::string::npos, unknown.find("50.0 % less, of unknown uncertainty\n")) << unknown;
}

// ---- the chip

TEST(Advise, StepsOfAGridAreALimit) {
  const Advice advice = AdviceOn({.text = AddText(16), .target = "mosaic_tpu/v5e", .what_ifs = true, .changes = {}});
  const auto step = std::find_if(advice.what_ifs.begin(), advice.what_ifs.end(),
                                 [](const WhatIf& one) { return one.rate == "grid.step"; });
  ASSERT_NE(step, advice.what_ifs.end());
  EXPECT_TRUE(step->halved && step->time.has_value());
  EXPECT_LT(*step->time, 0.8 * advice.timing.time);
  EXPECT_EQ(step, advice.what_ifs.begin()) << "nothing limits a kernel of small blocks as much";
  const std::string advised = AdviceText(advice, Prepared(AddText(16), "mosaic_tpu/v5e").state().module());
  EXPECT_NE(std::string::npos, advised.find("  grid.step, halved ")) << advised;
}

TEST(Advise, ARateThatCannotBeDoubledIsReportedWithItsReason) {
  const std::string text = MatmulText({.m = 64, .n = 128, .k = 1024, .slots = 4});
  const Advice advice = AdviceOn({.text = text, .what_ifs = true, .changes = {}});
  const auto of = [&](std::string_view rate) {
    return *std::find_if(advice.what_ifs.begin(), advice.what_ifs.end(),
                         [&](const WhatIf& one) { return one.rate == rate; });
  };
  EXPECT_FALSE(of("tma.row_rate").time.has_value());
  EXPECT_NE(std::string::npos, of("tma.row_rate").refused.find("smem.port")) << of("tma.row_rate").refused;
  EXPECT_TRUE(of("l2.bandwidth").time.has_value()) << of("l2.bandwidth").refused;
  EXPECT_EQ(of("l2.bandwidth").with, "l2.slice_rate");
  EXPECT_LE(*of("dram.peak").time, advice.timing.time);
  const std::string advised = AdviceText(advice, Prepared(text).state().module());
  EXPECT_NE(std::string::npos, advised.find("tma.row_rate: not possible alone: ")) << advised;
}

}  // namespace
}  // namespace palladion::advice
