// Outputs that are read before they are written: bytes that go back to where they came from, and what is computed from
// them.
#include <gtest/gtest.h>

#include "emu/check/definedness_test_util.h"
#include "semantics/base/cat.h"

namespace palladion::check {
namespace {

const char* const kTargets[] = {"generic", "triton/h100", "mosaic_gpu/h100", "mosaic_tpu/v5e"};

// o = f(x): f32[4] each, and a scratch ref of four.
std::string Kernel(const std::string& body) {
  return "pkir 1;\nkernel @k { grid []; in %x: f32[4]; out %o: f32[4]; scratch %s: ref<vmem,f32[4]>;\n"
         " body @b (%xr: ref<default,f32[4]> as \"x_ref\", %or: ref<default,f32[4]> as \"o_ref\", %sr: "
         "ref<vmem,f32[4]> as \"acc\") {\n" +
         body + "  return; } }\n";
}

// Bytes that were never written stay undefined when one of these operations moves them and stores them where they were.
TEST(Definedness, AnOutputThatGetsItsOwnBytesBack) {
  const std::string mask = "  %n = iota{dim=0}() : i32[4]; %m = lt(%n, 3:i32) : bool[4]; %x1 = get(%xr) : f32[4];\n";
  for (const std::string move :
       {"%c = select_n(%m, %a, %x1) : f32[4];",
        "%r = reshape{shape=[2,2]}(%a) : f32[2,2]; %b = reshape{shape=[4]}(%r) : "
        "f32[4]; %c = select_n(%m, %b, %x1) : f32[4];",
        "_ = swap(%sr, %a) : f32[4]; %b = get(%sr) : f32[4]; %c = select_n(%m, %b, %x1) : f32[4];",
        "%w = convert_element_type{to=f64}(%a) : f64[4]; %b = convert_element_type{to=f32}(%w) : f32[4]; "
        "%c = select_n(%m, %b, %x1) : f32[4];"}) {
    for (const char* target : kTargets) {
      const TrackedRun run = RunTracked(
          Kernel(mask + "  %a = get(%or) : f32[4];\n  " + move + "\n  _ = swap(%or, %c) : f32[4];\n"), target);
      ASSERT_EQ("OUT_MISSING", run.codes()) << target << " " << move;
      const Finding& finding = run.result.findings[0];
      EXPECT_EQ(
          "output 'o_ref'[3] was never written: it only got its own undefined bytes back (1 of its 4 elements did)",
          finding.message);
      EXPECT_EQ(Severity::kWarning, finding.severity);
      ASSERT_TRUE(finding.first.has_value() && finding.second.has_value());
      EXPECT_EQ(5, finding.first->text_line);
      EXPECT_EQ(7, finding.second->text_line);
    }
  }
}

// Each of these stores something else than what was there.
TEST(Definedness, AnOutputThatGetsWhatWasComputedFromItsBytes) {
  for (const std::string body :
       {"%a = get(%or) : f32[4]; %c = add(%a, %x1) : f32[4]; _ = swap(%or, %c) : f32[4];",
        "%a = get(%or) : f32[4]; %c = neg(%a) : f32[4]; _ = swap(%or, %c) : f32[4];",
        "%a = get(%or) : f32[4]; %c = max(%a, 0.0:f32) : f32[4]; _ = swap(%or, %c) : f32[4];",
        "%a = get(%or) : f32[4]; %c = rev{dims=[0]}(%a) : f32[4]; _ = swap(%or, %c) : f32[4];",
        "%a = get(%or.at[0]) : f32[]; _ = swap(%or, %x1) : f32[4]; _ = swap(%or.at[1], %a) : f32[];",
        "%a = get(%or) : f32[4]; %t = cumsum{axis=0}(%a) : f32[4]; _ = swap(%or, %t) : f32[4];",
        "%a = get(%or.at[0]) : f32[]; %p = lt(%a, 0.0:f32) : bool[]; %c = select_n(%p, %x1, %x1) : f32[4]; "
        "_ = swap(%or, %c) : f32[4];",
        "_ = atomic_rmw{op=add}(%or.at[1], 1.0:f32) : f32[]; %a = get(%xr.at[0]) : f32[]; _ = swap(%or.at[0], %a) : "
        "f32[]; "
        "_ = swap(%or.at[2], %a) : f32[]; _ = swap(%or.at[3], %a) : f32[];"}) {
    for (const char* target : {"generic", "mosaic_tpu/v5e"}) {
      const TrackedRun run = RunTracked(Kernel("  %x1 = get(%xr) : f32[4];\n  " + body + "\n"), target);
      ASSERT_EQ("UNINIT", run.codes()) << target << " " << body;
      EXPECT_EQ(Severity::kDefect, run.result.findings[0].severity);
    }
  }
}

// An accumulator over a grid that is never initialised: on a TPU its block is separate memory.
TEST(Definedness, AnUninitialisedAccumulator) {
  const auto text = [](const std::string& first) {
    return "pkir 1;\nkernel @k { grid [4]; in %x: f32[32] block (8) map (%i: i32[]) { return %i; };\n"
           " out %o: f32[8] block (8) map (%i: i32[]) { return 0:i32; };\n"
           " body @b (%xr: ref<default,f32[8]>, %or: ref<default,f32[8]> as \"o_ref\") {\n"
           "  %p = program_id{axis=0}() : i32[]; %c = eq(%p, " +
           first +
           ":i32) : bool[]; %z = broadcast_in_dim{shape=[8], dims=[]}(0.0:f32) : f32[8];\n"
           "  cond(%c) { return; } { _ = swap(%or, %z) : f32[8]; return; };\n"
           "  %a = get(%or) : f32[8]; %b = get(%xr) : f32[8]; %d = add(%a, %b) : f32[8]; _ = swap(%or, %d) : f32[8];\n"
           "  return; } }\n";
  };
  for (const char* target : {"generic", "mosaic_tpu/v5e"}) {
    EXPECT_EQ("", RunTracked(text("0"), target).codes()) << target;
    for (const Fill::Kind fill : {Fill::Kind::kZero, Fill::Kind::kIntMax, Fill::Kind::kRandom}) {
      agents::LaunchOptions options;
      options.fill = {.kind = fill};
      EXPECT_EQ("UNINIT", RunTracked(text("9"), target, options).codes()) << target;
    }
    const TrackedRun run = RunTracked(text("9"), target);
    ASSERT_EQ("UNINIT", run.codes()) << target;
    EXPECT_NE(std::string::npos, run.result.findings[0].message.find("'o_ref'[0] (8 of its 8 elements) is undefined"));
  }
}

// Two outputs: what is moved from one to the other is not in its place.
TEST(Definedness, TheBytesOfAnotherOutput) {
  const std::string text =
      "pkir 1;\nkernel @k { grid []; in %x: f32[4]; out %o: f32[4]; out %q: f32[4];\n"
      " body @b (%xr: ref<default,f32[4]>, %or: ref<default,f32[4]> as \"o_ref\", %qr: ref<default,f32[4]> as "
      "\"q_ref\") {\n  %x1 = get(%xr) : f32[4]; %a = get(%or) : f32[4]; _ = swap(%qr, %a) : f32[4];\n"
      "  _ = swap(%or, %x1) : f32[4];\n  return; } }\n";
  for (const char* target : kTargets) EXPECT_EQ("UNINIT", RunTracked(text, target).codes()) << target;
}

}  // namespace
}  // namespace palladion::check
