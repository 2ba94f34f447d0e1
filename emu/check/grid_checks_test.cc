// Races between programs, revisited blocks and stale fetches on small kernels, each with its clean twin.
#include "emu/run/launch/grid_checks.h"

#include <gtest/gtest.h>

#include <cmath>

#include "emu/run/launch/run.h"
#include "emu/values.h"

namespace palladion::check {
namespace {

struct Checked {
  std::vector<Finding> findings;
  std::vector<Tensor> outputs;  // of the first run
  std::int64_t accesses = 0;
  int runs = 0;
};

// The text's FROM becomes `to`.
std::string With(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

struct Launched {
  std::string text, target;
  WalkOrder order = WalkOrder::kRowMajor;
  std::string values;  // what every input holds, as text
};

// Sets `checked`.
void Launch(const Launched& of, bool with_checks, Checked& checked) {
  const auto& [text, target, order, values] = of;
  absl::StatusOr<PreparedKernel> kernel = PrepareText(text, {.kernel = "", .target = target, .path = ""});
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  std::vector<Tensor> inputs;
  std::vector<ConstArray> in;
  for (const OperandDescription& input : kernel->inputs()) {
    absl::StatusOr<Tensor> tensor = TensorFromText(input.dtype, input.shape, values);
    ASSERT_TRUE(tensor.ok()) << tensor.status();
    inputs.push_back(*std::move(tensor));
  }
  for (Tensor& tensor : inputs) in.push_back({tensor.dtype(), tensor.shape(), tensor.bytes()});
  const auto run = [&](const agents::LaunchOptions& launch) {
    ++checked.runs;
    std::vector<Tensor> outputs;
    std::vector<MutableArray> out;
    for (const OperandDescription& output : kernel->outputs())
      outputs.push_back(*Tensor::CreateUninitialized(output.dtype, output.shape));
    for (Tensor& tensor : outputs) out.push_back({tensor.dtype(), tensor.shape(), tensor.bytes()});
    const absl::Status status = launch::Run({kernel->state(), in, out}, launch).status();
    if (checked.runs == 1) checked.outputs = std::move(outputs);
    return status;
  };
  launch::GridChecks checks(kernel->state(), in);
  agents::LaunchOptions launch{.order = order};
  if (with_checks) checks.Attach(launch);
  ASSERT_TRUE(run(launch).ok());
  const absl::Status finished = with_checks ? checks.Finish(run) : absl::OkStatus();
  ASSERT_TRUE(finished.ok()) << finished;
  checked.findings = checks.findings();
  checked.accesses = checks.accesses();
}

Checked Check(const std::string& text, const std::string& target, WalkOrder order = WalkOrder::kRowMajor,
              const std::string& values = "iota") {
  Checked checked;
  Launch({text, target, order, values}, true, checked);
  return checked;
}

// "RACE_WW defect, SAME_VALUE note"
std::string Codes(const Checked& checked) {
  std::string codes;
  for (const Finding& finding : checked.findings) {
    if (!codes.empty()) codes += ", ";
    codes += std::string(Code(finding.code)) + " " + std::string(Name(finding.severity));
  }
  return codes;
}

std::string BothOrders(const std::string& text, const std::string& target, const std::string& values = "iota") {
  const std::string forward = Codes(Check(text, target, WalkOrder::kRowMajor, values));
  EXPECT_EQ(forward, Codes(Check(text, target, WalkOrder::kReverse, values))) << text;
  return forward;
}

// Every block stores V into the element AT.
const char kStore[] =
    "pkir 1;\nfile #f = \"k.py\";\nloc #l = #f:7:3 fn \"k\";\n"
    "kernel @k { grid [4]; out %o: i32[4];\n"
    " body @b (%or: ref<default,i32[4]> as \"o_ref\") {\n"
    "  %p = program_id{axis=0}() : i32[];\n"
    "  _ = swap(%or.at[AT], VALUE) : i32[] #l;\n"
    "  return; } }\n";

TEST(GridChecks, EveryBlockStoresOneElement) {
  const std::string text = With(With(With(kStore, "AT", "2"), "VALUE", "%p"), "o: i32[4]", "o: i32[4] space any");
  for (const std::string target : {"triton/h100", "mosaic_gpu/h100"}) {
    const Checked checked = Check(text, target);
    ASSERT_EQ("RACE_WW defect", Codes(checked));
    const Finding& finding = checked.findings[0];
    EXPECT_EQ("'o_ref'[2]: program (1) writes it, program (0) writes it too; the two have no order", finding.message);
    EXPECT_EQ("program (0)", finding.first->agent);
    EXPECT_EQ("program (1)", finding.second->agent);
    EXPECT_EQ("o_ref", finding.first->object);
    EXPECT_EQ("[2]", finding.first->box);
    EXPECT_EQ(7, finding.first->text_line);
    EXPECT_EQ(7, finding.text_line);
    EXPECT_TRUE(finding.loc.valid() && finding.first->loc == finding.loc);
    EXPECT_NE(std::string::npos, finding.why.find("grid dimension 0: programs of a GPU grid run in any order"));
    EXPECT_FALSE(finding.fix.empty());
    EXPECT_EQ(3, finding.count);
    EXPECT_EQ(2, checked.runs);
  }
  EXPECT_EQ("GRID_ORDER defect", BothOrders(text, "generic"));
  EXPECT_EQ("", BothOrders(With(With(kStore, "AT", "%p"), "VALUE", "%p"), "triton/h100"));
}

// What an index map reads is its own program's, the first one's too.
TEST(GridChecks, AnIndexMapReadsWhatAnotherProgramWrites) {
  const std::string text = R"(pkir 1;
kernel @mapped {
  grid [2];
  prefetch %t: i32[2];
  in %x: i32[4] block (2) map (%i: i32[], %tr: ref<smem,i32[2]>) { %b = get(%tr.at[%i]) : i32[]; return %b; };
  out %o: i32[2] alias %t;
  body @mapped (%tr: ref<smem,i32[2]>, %xr: ref<default,i32[2]>, %or: ref<default,i32[2]>) {
    %i = program_id{axis=0}() : i32[];
    _ = swap(%or.at[1], %i) : i32[];
    return;
  }
}
)";
  const Checked checked = Check(text, "generic");
  ASSERT_EQ(Codes(checked), "GRID_ORDER defect");
  EXPECT_NE(checked.findings[0].first->agent, checked.findings[0].second->agent);
}

TEST(GridChecks, TheSameValueDoesNoHarm) {
  const std::string text = With(With(kStore, "AT", "2"), "VALUE", "5:i32");
  EXPECT_EQ("SAME_VALUE note", BothOrders(text, "triton/h100"));
  EXPECT_EQ("SAME_VALUE note", BothOrders(text, "generic"));
  // A value that only one program stores, and overwrites with what all store, is a value all the same.
  const std::string between =
      "pkir 1;\nkernel @k { grid [3]; out %o: i32[4];\n body @b (%or: ref<default,i32[4]> as \"o_ref\") {\n"
      "  %p = program_id{axis=0}() : i32[];\n  %c = eq(%p, 1:i32) : bool[];\n"
      "  cond(%c) { return; } { _ = swap(%or.at[0], 6:i32) : i32[]; return; };\n"
      "  _ = swap(%or.at[0], 5:i32) : i32[];\n  return; } }\n";
  for (const WalkOrder order : {WalkOrder::kRowMajor, WalkOrder::kReverse}) {
    const std::string codes = Codes(Check(between, "triton/h100", order));
    EXPECT_EQ(std::string::npos, codes.find("SAME_VALUE")) << codes;
    EXPECT_NE(std::string::npos, codes.find("RACE_WW defect")) << codes;
  }
}

TEST(GridChecks, ABlockReadsWhatAnotherWrites) {
  const std::string text =
      "pkir 1;\nkernel @k { grid [4]; out %o: i32[4];\n body @b (%or: ref<default,i32[4]> as \"o_ref\") {\n"
      "  %p = program_id{axis=0}() : i32[];\n"
      "  _ = swap(%or.at[%p], %p) : i32[];\n  %q = rem(INDEX, 4:i32) : i32[];\n"
      "  %v = get(%or.at[%q]) : i32[];\n  _ = swap(%or.at[%p], %v) : i32[];\n  return; } }\n";
  const std::string racy = With(With(text, "%q = rem(INDEX", "%n = add(%p, 1:i32) : i32[]; %q = rem(%n"), "INDEX", "");
  const std::string codes = BothOrders(racy, "triton/h100");
  EXPECT_EQ(0u, codes.find("RACE_RW defect")) << codes;
  EXPECT_EQ("", BothOrders(With(text, "INDEX", "%p"), "triton/h100"));
}

const char kAtomics[] =
    "pkir 1;\nkernel @k { grid [4]; out %o: i32[1];\n body @b (%or: ref<default,i32[1]> as \"o_ref\") {\n"
    "  FIRST\n  RESULT = atomic_rmw{op=\"add\"}(%or.at[0], 1:i32) : i32[];\n  return; } }\n";

TEST(GridChecks, AtomicsAreOrderedAmongThemselvesOnly) {
  const std::string clean = With(With(kAtomics, "FIRST", ""), "RESULT", "_");
  EXPECT_EQ("", BothOrders(clean, "triton/h100"));
  const std::string store = With(With(kAtomics, "FIRST", "_ = swap(%or.at[0], 0:i32) : i32[];"), "RESULT", "_");
  const std::string codes = BothOrders(store, "triton/h100");
  EXPECT_EQ(0u, codes.find("RACE_WW defect")) << codes;
}

// o = the sum of x over the first dimension, kept in o's block; "SEM" is the dimension's semantics.
const char kAccumulate[] =
    "pkir 1;\nkernel @k {\n  params {dimension_semantics=[\"SEM\"]};\n"
    "  in %x: f32[4,8,128] block (sq,8,128) map (%i: i32[]) { return %i, 0:i32, 0:i32; };\n  grid [4];\n"
    "  out %o: f32[OUT,128] block (8,128) map (%i: i32[]) { return AT, 0:i32; };\n"
    "  body @b (%xr: ref<default,f32[8,128]> as \"x_ref\", %or: ref<default,f32[8,128]> as \"o_ref\") {\n"
    "    %p = program_id{axis=0}() : i32[];\n    %first = eq(%p, 0:i32) : bool[];\n"
    "    cond(%first) { return; } {\n"
    "      %z = broadcast_in_dim{shape=[8,128], dims=[]}(0.0:f32) : f32[8,128];\n"
    "      _ = swap(%or, %z) : f32[8,128];\n      return;\n    };\n"
    "    %v = get(%xr) : f32[8,128];\n    %a = get(%or) : f32[8,128];\n    %b = add(%a, %v) : f32[8,128];\n"
    "    _ = swap(%or, %b) : f32[8,128];\n    return;\n  }\n}\n";

std::string Accumulate(const std::string& semantics, bool own_block = false) {
  return With(With(With(kAccumulate, "SEM", semantics), "OUT", own_block ? "32" : "8"), "AT",
              own_block ? "%i" : "0:i32");
}

TEST(GridChecks, AccumulationOverAParallelDimension) {
  EXPECT_EQ("GRID_ORDER defect", BothOrders(Accumulate("parallel"), "generic"));
  EXPECT_EQ("", BothOrders(Accumulate("arbitrary"), "generic"));
  EXPECT_EQ("RACE_WW defect", BothOrders(Accumulate("parallel"), "mosaic_tpu/v5e"));
  EXPECT_EQ("", BothOrders(Accumulate("arbitrary"), "mosaic_tpu/v5e"));
  EXPECT_EQ("", BothOrders(Accumulate("parallel", true), "mosaic_tpu/v5e"));
  const Checked checked = Check(Accumulate("parallel"), "mosaic_tpu/v5e");
  ASSERT_EQ(1u, checked.findings.size());
  EXPECT_EQ("[0:8, 0:128]", checked.findings[0].first->box);
  EXPECT_EQ("program (0)", checked.findings[0].first->agent) << "a flush belongs to the program that was left";
  EXPECT_EQ("program (1)", checked.findings[0].second->agent);
  EXPECT_EQ(6, checked.findings[0].text_line) << "the operand's line";
}

// In shared memory each block has a copy of the whole output, and sends all of it back.
TEST(GridChecks, BlocksWithCopiesOfAWholeOutput) {
  const std::string text = With(With(kStore, "AT", "%p"), "VALUE", "%p");
  EXPECT_EQ("RACE_WW defect", BothOrders(text, "mosaic_gpu/h100"));
  EXPECT_EQ("", BothOrders(With(text, "o: i32[4]", "o: i32[4] space gmem"), "mosaic_gpu/h100"));
  EXPECT_EQ("", BothOrders(text, "triton/h100"));
}

TEST(GridChecks, TwoCoresWriteOneBlock) {
  EXPECT_EQ("RACE_WW defect", BothOrders(Accumulate("parallel"), "mosaic_tpu/v5p"));
  EXPECT_EQ("", BothOrders(Accumulate("parallel", true), "mosaic_tpu/v5p"));
  // A plain run: each core has a block of its own, and the second core's goes back last.
  const auto last = [](const std::string& text, const std::string& target) {
    Checked checked;
    Launch({text, target, WalkOrder::kRowMajor, "full(1)"}, false, checked);
    return checked.outputs.at(0).data<float>()[5];
  };
  EXPECT_EQ(4.0f, last(Accumulate("arbitrary"), "mosaic_tpu/v5p"));
  EXPECT_EQ(4.0f, last(Accumulate("parallel"), "mosaic_tpu/v5e")) << "one core";
  EXPECT_TRUE(std::isnan(last(Accumulate("parallel"), "mosaic_tpu/v5p")));
}

// Each program leaves its number in an array in the core's memory, which has no block.
const char kWhole[] =
    "pkir 1;\nkernel @k {\n  params {dimension_semantics=[\"parallel\",\"arbitrary\"]};\n  grid [2,2];\n"
    "  out %o: i32[4] as \"outputs\";\n  body @b (%or: ref<default,i32[4]> as \"o_ref\") {\n"
    "    %p = program_id{axis=0}() : i32[];\n    %z = broadcast_in_dim{shape=[4], dims=[]}(%p) : i32[4];\n"
    "    _ = swap(%or, %z) : i32[4];\n    %a = get(%or) : i32[4];\n    %b = mul(%a, SCALE:i32) : i32[4];\n"
    "    _ = swap(%or, %b) : i32[4];\n    return;\n  }\n}\n";

TEST(GridChecks, AWholeOutputIsEachCoresOwnUntilItIsFlushed) {
  EXPECT_EQ("RACE_WW defect", BothOrders(With(kWhole, "SCALE", "1"), "mosaic_tpu/v5e"));
  EXPECT_EQ("SAME_VALUE note", BothOrders(With(kWhole, "SCALE", "0"), "mosaic_tpu/v5e"));
  EXPECT_EQ("", BothOrders(With(With(kWhole, "SCALE", "1"), "\"parallel\"", "\"arbitrary\""), "mosaic_tpu/v5e"));
}

// The bytes are equal because they were never written; this run does not look for undefined values.
TEST(GridChecks, WhatIsUndefinedIsEqualToNothing) {
  const std::string text =
      "pkir 1;\nkernel @k {\n  params {dimension_semantics=[\"parallel\"]};\n  grid [2];\n"
      "  out %o: i32[4] as \"outputs\";\n  body @b (%or: ref<default,i32[4]> as \"o_ref\") {\n"
      "    run_scoped() (%s: ref<vmem,i32[4]>) {\n      FILL%v = get(%s) : i32[4];\n      _ = swap(%or, %v) : i32[4];\n"
      "      return;\n    };\n    return;\n  }\n}\n";
  const std::string fill =
      "%z = broadcast_in_dim{shape=[3], dims=[]}(5:i32) : i32[3]; _ = swap(%s.at[0 +: 3], %z) : i32[3]; ";
  const std::string last = "_ = swap(%s.at[3], 5:i32) : i32[]; ";
  for (const auto& [target, race] :
       {std::pair("mosaic_tpu/v5e", "RACE_WW defect"), std::pair("generic", "GRID_ORDER defect")}) {
    EXPECT_EQ(race, BothOrders(With(text, "FILL", ""), target));
    EXPECT_EQ(race, BothOrders(With(text, "FILL", fill), target));
    EXPECT_EQ("SAME_VALUE note", BothOrders(With(text, "FILL", fill + last), target));
  }
}

const char kRevisit[] =
    "pkir 1;\nkernel @k {\n  grid [2,2];\n"
    "  out %o: f32[16,128] block (8,128) map (%i: i32[], %j: i32[]) { return AT, 0:i32; };\n"
    "  body @b (%or: ref<default,f32[8,128]> as \"o_ref\") {\n"
    "    %z = broadcast_in_dim{shape=[8,128], dims=[]}(1.0:f32) : f32[8,128];\n"
    "    _ = swap(%or, %z) : f32[8,128];\n    return;\n  }\n}\n";

TEST(GridChecks, AnOutputBlockIsVisitedAgain) {
  const Checked checked = Check(With(kRevisit, "AT", "%j"), "mosaic_tpu/v5e");
  ASSERT_EQ("OUT_REVISIT defect", Codes(checked));
  EXPECT_EQ(
      "the block [0:8, 0:128] of 'o_ref' was left after program (0, 0) and is written back to its array again after "
      "program "
      "(1, 0): the first visit's result is lost",
      checked.findings[0].message);
  EXPECT_EQ(2, checked.findings[0].count);
  EXPECT_EQ("program (0, 0)", checked.findings[0].first->agent);
  EXPECT_EQ("", Codes(Check(With(kRevisit, "AT", "%i"), "mosaic_tpu/v5e")));
  EXPECT_EQ("SAME_VALUE note", Codes(Check(With(kRevisit, "AT", "%j"), "generic"))) << "a block is a window there";
}

// What JAX's own interpreter refuses is said where nothing is checked, too.
TEST(GridChecks, APlainRunFindsBlocksVisitedAgainAndLoadsOfHbm) {
  const auto findings = [](const std::string& text) {
    const absl::StatusOr<PreparedKernel> kernel = PrepareText(text, {.target = "mosaic_tpu/v5e"});
    EXPECT_TRUE(kernel.ok()) << kernel.status();
    std::vector<Tensor> inputs;
    for (const OperandDescription& input : kernel->inputs())
      inputs.push_back(*Tensor::Create(input.dtype, input.shape));
    const absl::StatusOr<RunResult> result = palladion::Run(*kernel, inputs, {.legality = LegalityMode::kOff});
    EXPECT_TRUE(result.ok()) << result.status();
    std::string codes;
    for (const ReportedFinding& finding : result->report.findings) codes += std::string(Code(finding.code)) + " ";
    return codes;
  };
  EXPECT_EQ("OUT_REVISIT ", findings(With(kRevisit, "AT", "%j")));
  EXPECT_EQ("", findings(With(kRevisit, "AT", "%i")));
  const std::string hbm =
      "pkir 1;\nkernel @k {\n  grid [];\n  out %o: f32[8,128] as \"outputs\" space SPACE;\n"
      "  body @b (%or: ref<SPACE,f32[8,128]> as \"o_ref\") {\n"
      "    %z = broadcast_in_dim{shape=[8,128], dims=[]}(1.0:f32) : f32[8,128];\n"
      "    _ = swap(%or, %z) : f32[8,128];\n    return;\n  }\n}\n";
  EXPECT_EQ("ILLEGAL ", findings(With(With(hbm, "SPACE", "hbm"), "SPACE", "hbm")));
  EXPECT_EQ("", findings(With(With(hbm, "SPACE", "vmem"), "SPACE", "vmem")));
  const std::string part =
      "pkir 1;\nkernel @k {\n  grid [2];\n"
      "  in %x: f32[16,128] space any block (8,128) map (%i: i32[]) { return %i, 0:i32; };\n"
      "  out %o: f32[8,128];\n"
      "  body @b (%xr: ref<any,f32[8,128]> as \"x_ref\", %or: ref<default,f32[8,128]> as \"o_ref\") {\n"
      "    return;\n  }\n}\n";
  EXPECT_EQ("ILLEGAL ", findings(part));
}

const char kScratch[] =
    "pkir 1;\nkernel @k { grid [4]; out %o: i32[4] block (1) map (%i: i32[]) { return %i; };\n"
    "  scratch %s: ref<vmem,i32[1]> as \"s_ref\";\n"
    "  body @b (%or: ref<default,i32[1]> as \"o_ref\", %sr: ref<vmem,i32[1]> as \"s_ref\") {\n"
    "  %p = program_id{axis=0}() : i32[];\n  %first = eq(%p, FIRST) : bool[];\n"
    "  cond(%first) { return; } { _ = swap(%sr.at[0], 0:i32) : i32[]; return; };\n"
    "  %a = get(%sr.at[0]) : i32[];\n  %b = add(%a, 1:i32) : i32[];\n  _ = swap(%sr.at[0], %b) : i32[];\n"
    "  _ = swap(%or.at[0], %b) : i32[];\n  return; } }\n";

TEST(GridChecks, ScratchThatProgramsInherit) {
  EXPECT_EQ("GRID_ORDER defect", BothOrders(With(kScratch, "FIRST", "0:i32"), "generic"));
  EXPECT_EQ("", BothOrders(With(kScratch, "FIRST", "%p"), "generic"));
}

// On a chip that is not what another order shows: it is what another core never wrote.
TEST(GridChecks, ScratchOfAnotherTaskIsUndefined) {
  const auto undefined = [](const std::string& first, const std::string& semantics) {
    const std::string text = With(With(kScratch, "FIRST", first), "kernel @k {",
                                  "kernel @k { params {dimension_semantics=[\"" + semantics + "\"]};");
    absl::StatusOr<PreparedKernel> kernel = PrepareText(text, {.kernel = "", .target = "mosaic_tpu/v5e", .path = ""});
    EXPECT_TRUE(kernel.ok()) << kernel.status();
    Tensor output = *Tensor::CreateUninitialized(DType::kI32, Shape{4});
    const MutableArray out[] = {{output.dtype(), output.shape(), output.bytes()}};
    agents::LaunchOptions launch;
    launch.tasks_apart = launch.definedness = true;
    absl::StatusOr<agents::Ran> result = launch::Run({kernel->state(), {}, out}, launch);
    EXPECT_TRUE(result.ok()) << result.status();
    const bool accumulates = first == "0:i32";
    EXPECT_EQ(accumulates ? 4 : 1, output.data<std::int32_t>()[3]) << "the bytes stay";
    return !result->findings.empty() && result->findings[0].code == FindingCode::kUninitialised;
  };
  EXPECT_TRUE(undefined("0:i32", "parallel"));
  EXPECT_FALSE(undefined("0:i32", "arbitrary"));
  EXPECT_FALSE(undefined("%p", "parallel"));
}

TEST(GridChecks, ADynamicGridAndTalliesOfWhatWasLookedAt) {
  const std::string text =
      With(With(With(kStore, "AT", "%p"), "VALUE", "%p"), "grid [4];", "bound %n: i32[];\n grid [%n];");
  const Checked checked = Check(text, "triton/h100", WalkOrder::kRowMajor, "full(4)");
  EXPECT_EQ("", Codes(checked));
  EXPECT_EQ(4, checked.accesses);
  EXPECT_EQ(1, checked.runs);
}

}  // namespace
}  // namespace palladion::check
