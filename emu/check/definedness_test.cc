// Undefined data in whole kernels: what is reported, with which code, and where it is said to come from. Each defect
// has a clean twin.
#include <gtest/gtest.h>

#include "absl/strings/str_replace.h"
#include "emu/check/definedness_test_util.h"
#include "semantics/base/cat.h"

namespace palladion::check {
namespace {

const char* const kTargets[] = {"generic", "triton/h100", "mosaic_gpu/h100", "mosaic_tpu/v5e"};
const char* const kPadded[] = {"generic", "mosaic_gpu/h100", "mosaic_tpu/v5e"};  // Triton has no padding

// o = f(x): f32[4] each, and a scratch ref of four.
std::string Kernel(const std::string& body) {
  return "pkir 1;\nkernel @k { grid []; in %x: f32[4]; out %o: f32[4]; scratch %s: ref<vmem,f32[4]>;\n"
         " body @b (%xr: ref<default,f32[4]> as \"x_ref\", %or: ref<default,f32[4]> as \"o_ref\", %sr: "
         "ref<vmem,f32[4]> as \"acc\") {\n" +
         body + "  return; } }\n";
}

// ---- 063: scratch that was never written

TEST(Definedness, ScratchNeverWritten) {
  for (const char* target : kTargets) {
    const TrackedRun run = RunTracked(Kernel("  %a = get(%sr) : f32[4];\n  %x1 = get(%xr) : f32[4];\n"
                                             "  %b = add(%a, %x1) : f32[4];\n  _ = swap(%or, %b) : f32[4];\n"),
                                      target);
    ASSERT_EQ("UNINIT", run.codes()) << target;
    const Finding& finding = run.result.findings[0];
    EXPECT_EQ(
        "output 'o_ref'[0] (4 of its 4 elements) is undefined: it comes from an element of 'acc' that the program read "
        "before it was written",
        finding.message);
    ASSERT_TRUE(finding.first.has_value() && finding.second.has_value());
    EXPECT_EQ("acc", finding.first->object);
    EXPECT_EQ(AccessKind::kRead, finding.first->kind);
    EXPECT_EQ(4, finding.first->text_line);
    EXPECT_EQ(7, finding.second->text_line);
    EXPECT_EQ(Severity::kDefect, finding.severity);
  }
}

TEST(Definedness, ScratchWrittenFirst) {
  for (const char* target : kTargets) {
    const TrackedRun run = RunTracked(Kernel("  %x1 = get(%xr) : f32[4];\n  _ = swap(%sr, %x1) : f32[4];\n"
                                             "  %a = get(%sr) : f32[4];\n  _ = swap(%or, %a) : f32[4];\n"),
                                      target);
    EXPECT_EQ("", run.codes()) << target;
    EXPECT_GT(run.result.definedness_checks, 0);
  }
}

TEST(Definedness, OnlyTheElementsThatWereNotWritten) {
  const TrackedRun run =
      RunTracked(Kernel("  %x1 = get(%xr.at[0+:3]) : f32[3];\n  _ = swap(%sr.at[0+:3], %x1) : f32[3];\n"
                        "  %a = get(%sr) : f32[4];\n  _ = swap(%or, %a) : f32[4];\n"),
                 "generic");
  ASSERT_EQ("UNINIT", run.codes());
  EXPECT_NE(std::string::npos, run.result.findings[0].message.find("'o_ref'[3] (1 of its 4 elements)"))
      << run.result.findings[0].message;
}

// ---- a value that only looks clean, and one that is

TEST(Definedness, MaximumHidesNaNButNotThatItIsUndefined) {
  const TrackedRun run =
      RunTracked(Kernel("  %a = get(%sr) : f32[4];\n  %b = max(%a, 0.0:f32) : f32[4];\n  %c = min(%b, 1.0:f32) : "
                        "f32[4];\n  _ = swap(%or, %c) : f32[4];\n"),
                 "generic");
  EXPECT_EQ("UNINIT", run.codes());
}

TEST(Definedness, SelectTakesTheChosenSide) {
  const std::string body =
      "  %a = get(%sr) : f32[4];\n  %x1 = get(%xr) : f32[4];\n  %p = lt(%x1, 9.0:f32) : bool[4];\n"
      "  %b = select_n(%p, %a, %x1) : f32[4];\n  _ = swap(%or, %b) : f32[4];\n";
  EXPECT_EQ("", RunTracked(Kernel(body), "generic").codes());
  std::string twin = body;
  twin.replace(twin.find("9.0"), 3, "2.0");
  const TrackedRun run = RunTracked(Kernel(twin), "generic");
  ASSERT_EQ("UNINIT", run.codes());
  EXPECT_NE(std::string::npos, run.result.findings[0].message.find("[2] (2 of its 4"));
}

// ---- 064: K is not divisible by its block, and the mask is forgotten

std::string SumOverK(const std::string& load) {
  return "pkir 1;\nkernel @k { grid [2]; in %x: f32[6] as \"args[0]\" block (4) map (%i: i32[]) { return %i; };\n"
         " out %o: f32[2] space any;\n body @b (%xr: ref<default,f32[4]> as \"x_ref\", %or: ref<default,f32[2]> as "
         "\"o_ref\") {\n"
         "  %p = program_id{axis=0}() : i32[];\n" +
         load + "  %s = reduce_sum{axes=[0]}(%v) : f32[];\n  _ = swap(%or.at[%p], %s) : f32[];\n  return; } }\n";
}

TEST(Definedness, PaddingLeaks) {
  for (const char* target : kPadded) {
    const TrackedRun run = RunTracked(SumOverK("  %v = get(%xr) : f32[4];\n"), target);
    ASSERT_EQ("PAD_LEAK", run.codes()) << target;
    const Finding& finding = run.result.findings[0];
    EXPECT_EQ(
        "output 'o_ref'[1] (1 of its 2 elements) is undefined: it comes from the padding of operand 'x_ref' that "
        "program (1) read: its block or tile reaches beyond the array",
        finding.message);
    EXPECT_EQ(6, finding.first->text_line);
    EXPECT_EQ("program (1)", finding.first->agent);
    EXPECT_EQ(8, finding.second->text_line);
    EXPECT_EQ("program (1)", finding.second->agent);
  }
}

// %u is the block, %m says which of its elements are no padding, and %z is zero.
constexpr const char* kMask =
    "  %u = get(%xr) : f32[4]; %f = mul(%p, 4:i32) : i32[]; %n = iota{dim=0}() : i32[4];\n"
    "  %k = add(%n, %f) : i32[4]; %m = lt(%k, 6:i32) : bool[4]; "
    "%z = broadcast_in_dim{shape=[4], dims=[]}(0.0:f32) : f32[4]; ";

TEST(Definedness, MaskedPaddingDoesNot) {
  const std::string load = Cat(kMask, "%v = select_n(%m, %z, %u) : f32[4];\n");
  for (const char* target : kPadded) EXPECT_EQ("", RunTracked(SumOverK(load), target).codes()) << target;
}

// Every block of x has padding; the finding names an element and the program of the first block. One grid is so large
// that the address of a store does not always identify it.
TEST(Definedness, TheProgramThatMadeTheElement) {
  const auto text = [](int rows, int columns) {
    return Cat("pkir 1;\nkernel @k { grid [", rows, ",", columns, "]; in %x: f32[", rows, ",", 6 * columns,
               "] block (1,", 8 * columns, ") map (%i: i32[], %j: i32[]) { return %i, 0:i32; };\n out %o: f32[",
               rows * 2, ",", columns * 2,
               "] block (2,2) map (%i: i32[], %j: i32[]) { return %i, %j; };\n body @b (%xr: ref<default,f32[1,",
               8 * columns, "]>, %or: ref<default,f32[2,2]> as \"o_ref\") {\n  %v = get(%xr) : f32[1,", 8 * columns,
               "];\n  %s = reduce_sum{axes=[0,1]}(%v) : f32[];\n"
               "  _ = swap(%or.at[1,0], %s) : f32[]; _ = swap(%or.at[0,1], 0.0:f32) : f32[]; _ = swap(%or.at[0,0], "
               "0.0:f32) : f32[]; _ = swap(%or.at[1,1], 0.0:f32) : f32[];\n  return; } }\n");
  };
  for (const char* target : kPadded) {
    for (const int rows : {2, 1500}) {
      const TrackedRun run = RunTracked(text(rows, 3), target);
      ASSERT_EQ("PAD_LEAK", run.codes()) << target;
      const Finding& finding = run.result.findings[0];
      EXPECT_EQ(0u, finding.message.find("output 'o_ref'[1, 0] (")) << finding.message;
      EXPECT_NE(std::string::npos, finding.message.find("that program (0, 0) read")) << finding.message;
      EXPECT_EQ("program (0, 0)", finding.first->agent);
      EXPECT_EQ("program (0, 0)", finding.second->agent);
    }
  }
}

// A mask in front of a reduction, in each form that programs write it, and one beside the comparison that finds the
// padding.
TEST(Definedness, MaskedReductionsOfPadding) {
  const std::string valid = Cat(kMask, "%t = gt(%u, 0.5:f32) : bool[4]; ");
  for (const std::string both :
       {"%w = and(%m, %t) : bool[4]; %v = select_n(%w, %z, %u) : f32[4];\n",
        "%w = and(%t, %m) : bool[4]; %v = select_n(%w, %z, %u) : f32[4];\n",
        "%l = not(%m) : bool[4]; %w = or(%t, %l) : bool[4]; %v = select_n(%w, %z, %z) : f32[4];\n"}) {
    for (const char* target : kPadded)
      EXPECT_EQ("", RunTracked(SumOverK(valid + both), target).codes()) << target << both;
  }
}

// ---- 065: an output tile is never stored

std::string StoreIf(const std::string& predicate) {
  return "pkir 1;\nkernel @k { grid [3]; in %x: i32[12] block (4) map (%i: i32[]) { return %i; };\n"
         " out %o: i32[12] block (4) map (%i: i32[]) { return %i; };\n"
         " body @b (%xr: ref<default,i32[4]>, %or: ref<default,i32[4]> as \"o_ref\") {\n"
         "  %p = program_id{axis=0}() : i32[]; %v = get(%xr) : i32[4]; %c = " +
         predicate + " : bool[];\n  cond(%c) { return; } { _ = swap(%or, %v) : i32[4]; return; };\n  return; } }\n";
}

TEST(Definedness, OutputTileNeverStored) {
  for (const char* target : kTargets) {
    const TrackedRun run = RunTracked(StoreIf("lt(%p, 2:i32)"), target);
    ASSERT_EQ("OUT_MISSING", run.codes()) << target;
    EXPECT_EQ("output 'o_ref'[8] was never written (4 of its 12 elements were not)", run.result.findings[0].message);
    EXPECT_EQ(Severity::kWarning, run.result.findings[0].severity);
    EXPECT_EQ(3, run.result.findings[0].text_line);
    EXPECT_EQ("", RunTracked(StoreIf("lt(%p, 3:i32)"), target).codes()) << target;
  }
}

TEST(Definedness, AnOutputReadBeforeItIsWritten) {
  for (const char* target : kTargets) {
    const TrackedRun run = RunTracked(Kernel("  %x1 = get(%xr) : f32[4];\n  addupdate(%or, %x1);\n"), target);
    ASSERT_EQ("UNINIT", run.codes()) << target;
    EXPECT_NE(std::string::npos, run.result.findings[0].message.find("the output 'o_ref' that the program read"));
    EXPECT_EQ(Severity::kDefect, run.result.findings[0].severity);
    EXPECT_EQ(5, run.result.findings[0].second->text_line);
  }
}

// ---- uses

TEST(Definedness, ABranchOnUndefinedData) {
  const TrackedRun run =
      RunTracked(Kernel("  %a = get(%sr.at[1]) : f32[];\n  %c = lt(%a, 0.0:f32) : bool[];\n  %x1 = get(%xr) : f32[4];\n"
                        "  cond(%c) { return; } { return; };\n  _ = swap(%or, %x1) : f32[4];\n"),
                 "generic");
  ASSERT_EQ("UNINIT", run.codes());
  EXPECT_EQ(
      "the predicate of a branch is undefined: it comes from an element of 'acc' that the program read "
      "before it was written",
      run.result.findings[0].message);
  EXPECT_EQ(7, run.result.findings[0].text_line);
}

// ---- marks that an earlier program left in the same memory

// Element 4999 of the first program and element 0 of the second: in different strips.
TEST(Definedness, OneElementOfALongChain) {
  const std::string text =
      "pkir 1;\nkernel @k { grid [2]; in %x: f32[5000]; out %o: f32[2,5000] block (sq,5000) map (%i: i32[]) { return "
      "%i, 0:i32; }; scratch %s: ref<vmem,f32[5000]>; scratch %u: ref<vmem,f32[1]>;\n"
      " body @b (%xr: ref<default,f32[5000]>, %or: ref<default,f32[5000]>, %sr: ref<vmem,f32[5000]>, %ur: "
      "ref<vmem,f32[1]>) {\n  %x1 = get(%xr) : f32[5000]; _ = swap(%sr, %x1) : f32[5000];\n"
      "  %p = program_id{axis=0}() : i32[]; %q = sub(1:i32, %p) : i32[]; %at = mul(%q, 4999:i32) : i32[];\n"
      "  %u1 = get(%ur.at[0]) : f32[]; _ = swap(%sr.at[%at], %u1) : f32[];\n"
      "  %a = get(%sr) : f32[5000]; %b = add(%a, %x1) : f32[5000]; %c = mul(%b, 2.0:f32) : f32[5000]; %d = sub(%c, "
      "%x1) : f32[5000];\n  _ = swap(%or, %d) : f32[5000];\n  return; } }\n";
  for (const char* target : kTargets)
    EXPECT_EQ((std::vector<std::size_t>{4999, 5000}), RunTracked(text, target).undefined) << target;
}

// What each iteration of a scan stacks: all undefined in the first program, in the second only the last to run.
TEST(Definedness, StackedResultsOfAScan) {
  for (const bool reverse : {false, true}) {
    const std::string text =
        Cat("pkir 1;\nkernel @k { grid [2]; in %x: f32[4]; out %o: f32[2,4] block (sq,4) map (%i: i32[]) { return %i, "
            "0:i32; }; scratch %s: ref<vmem,f32[1]>;\n"
            " body @b (%xr: ref<default,f32[4]>, %or: ref<default,f32[4]>, %sr: ref<vmem,f32[1]>) {\n"
            "  %p = program_id{axis=0}() : i32[]; %first = mul(%p, 3:i32) : i32[]; %u = get(%sr.at[0]) : f32[];\n"
            "  _, %ys = scan{length=4, reverse=",
            reverse ? "true" : "false",
            "}(init=0:i32) (%i: i32[]) {\n"
            "    %next = add(%i, 1:i32) : i32[]; %here = ge(%i, %first) : bool[];\n"
            "    %y = cond(%here) { return 1.0:f32; } { return %u; } : f32[];\n    return %next, %y;\n  } : i32[], "
            "f32[4];\n"
            "  _ = swap(%or, %ys) : f32[4];\n  return; } }\n");
    for (const char* target : kTargets) {
      EXPECT_EQ((std::vector<std::size_t>{0, 1, 2, 3, reverse ? 4u : 7u}), RunTracked(text, target).undefined)
          << target << " reverse: " << reverse;
    }
  }
}

// ---- masks

std::string MaskedLoad(const std::string& other) {
  return Kernel("  %n = iota{dim=0}() : i32[4]; %m = lt(%n, 3:i32) : bool[4];\n  %v = masked_load(%xr, mask=%m" +
                other + ") : f32[4];\n  _ = swap(%or, %v) : f32[4];\n");
}

TEST(Definedness, AMaskedLaneWithoutOther) {
  for (const char* target : {"generic", "triton/h100", "mosaic_tpu/v5e"}) {
    const TrackedRun run = RunTracked(MaskedLoad(""), target);
    ASSERT_EQ("UNINIT", run.codes()) << target;
    EXPECT_EQ((std::vector<std::size_t>{3}), run.undefined);
    EXPECT_EQ(
        "output 'o_ref'[3] (1 of its 4 elements) is undefined: it comes from a masked-off lane of a load of 'x_ref' "
        "without other=",
        run.result.findings[0].message);
    EXPECT_EQ("", RunTracked(MaskedLoad(", other=0.0:f32"), target).codes()) << target;
  }
}

// A masked-off lane of a store writes nothing.
TEST(Definedness, AMaskedStoreLeavesTheRest) {
  const TrackedRun run =
      RunTracked(Kernel("  %n = iota{dim=0}() : i32[4]; %m = lt(%n, 3:i32) : bool[4]; %a = get(%xr) : f32[4];\n"
                        "  masked_swap(%sr, %a, mask=%m);\n  %v = get(%sr) : f32[4];\n  _ = swap(%or, %v) : f32[4];\n"),
                 "generic");
  EXPECT_EQ((std::vector<std::size_t>{3}), run.undefined);
}

// An undefined index of a lane that does not take part decides nothing.
TEST(Definedness, IndicesCountWhereTheirLanesTakePart) {
  const auto text = [](const std::string& bound) {
    return "pkir 1;\nkernel @k { grid []; in %x: i32[4]; out %o: i32[4]; scratch %s: ref<vmem,i32[4]>;\n"
           " body @b (%xr: ref<default,i32[4]> as \"x_ref\", %or: ref<default,i32[4]>, %sr: ref<vmem,i32[4]>) {\n"
           "  %a = get(%xr.at[0+:3]) : i32[3]; _ = swap(%sr.at[0+:3], %a) : i32[3]; %k = get(%sr) : i32[4];\n"
           "  %n = iota{dim=0}() : i32[4]; %m = lt(%n, " +
           bound +
           ":i32) : bool[4]; %z = broadcast_in_dim{shape=[4], dims=[]}(0:i32) : i32[4];\n"
           "  %v = masked_load(%xr.at[%k], mask=%m, other=%z) : i32[4];\n  _ = swap(%or, %v) : i32[4];\n  return; } "
           "}\n";
  };
  for (const char* target : {"generic", "triton/h100"}) {
    agents::LaunchOptions options;
    options.fill = {.kind = Fill::Kind::kZero};  // an index that happens to be inside
    EXPECT_EQ("", RunTracked(text("3"), target, options).codes()) << target;
    const TrackedRun run = RunTracked(text("4"), target, options);
    ASSERT_EQ("UNINIT", run.codes()) << target;
    EXPECT_EQ(0u, run.result.findings[0].message.find("an index into 'x_ref' is undefined"));
  }
}

// ---- other uses

TEST(Definedness, ALoopOnUndefinedData) {
  agents::LaunchOptions options;
  options.fill = {.kind = Fill::Kind::kZero};
  const TrackedRun run = RunTracked(
      Kernel(
          "  %a = get(%sr.at[1]) : f32[]; %x1 = get(%xr) : f32[4]; _ = swap(%or, %x1) : f32[4];\n"
          "  _ = while(init=%a) (%i: f32[]) { %c = lt(%i, 2.0:f32) : bool[]; return %c; } (%j: f32[]) { %n = add(%j, "
          "1.0:f32) : f32[]; return %n; } : f32[];\n"),
      "generic", options);
  ASSERT_EQ("UNINIT", run.codes());
  EXPECT_EQ(3, run.result.findings[0].count);
  EXPECT_EQ(0u, run.result.findings[0].message.find("the condition of a loop"));
}

TEST(Definedness, ACheckOfAnOutputThatIsNotWritten) {
  const std::string text =
      "pkir 1;\nkernel @k { grid [1]; in %x: i32[8] block (4) map (%i: i32[]) { return %i; };\n"
      " out %o: i32[4]; out %q: i32[4];\n"
      " body @b (%xr: ref<default,i32[4]>, %or: ref<default,i32[4]>, %qr: ref<default,i32[4]> as \"q_ref\") {\n"
      "  %v = get(%xr) : i32[4]; _ = swap(%or, %v) : i32[4]; %w = get(%qr.at[0]) : i32[]; %c = lt(%w, 0:i32) : "
      "bool[];\n"
      "  check{message=\"small\"}(%c); _ = swap(%qr, %v) : i32[4];\n  return; } }\n";
  const TrackedRun run = RunTracked(text, "generic");
  ASSERT_EQ("UNINIT", run.codes());
  EXPECT_EQ(0u, run.result.findings[0].message.find("the predicate of debug_check at program (0)"));
}

// A block without an element in its array is a finding of its own.
TEST(Definedness, ABlockWhollyOutsideIsOneFinding) {
  const std::string text =
      "pkir 1;\nkernel @k { grid [1]; in %x: i32[8] block (4) map (%i: i32[]) { return 5:i32; };\n out %o: i32[4];\n"
      " body @b (%xr: ref<default,i32[4]>, %or: ref<default,i32[4]>) {\n"
      "  %v = get(%xr) : i32[4]; _ = swap(%or, %v) : i32[4];\n  return; } }\n";
  for (const char* target : kPadded) EXPECT_EQ("OOB_BLOCK", RunTracked(text, target).codes()) << target;
}

// ---- aliases

TEST(Definedness, AnAliasedOutputHasTheInputsElements) {
  const std::string text =
      "pkir 1;\nkernel @k { grid []; in %x: i32[4] SPACE; out %o: i32[4] SPACE alias %x;\n"
      " body @b (%xr: ref<default,i32[4]>, %or: ref<default,i32[4]>) {\n"
      "  %v = get(%xr.at[0]) : i32[]; _ = swap(%or.at[1], %v) : i32[];\n  return; } }\n";
  const auto in = [&](const std::string& space) {
    return absl::StrReplaceAll(text, {{"SPACE", space.empty() ? "" : Cat("space ", space)}});
  };
  for (const char* target : kTargets) {
    EXPECT_EQ("", RunTracked(in("any"), target).codes()) << target;
    // A copy in the memory of a core or a block begins with nothing, and goes back as it is.
    const bool copied = std::string(target).starts_with("mosaic_");
    EXPECT_EQ(copied ? "OUT_MISSING" : "", RunTracked(in(""), target).codes()) << target;
  }
}

}  // namespace
}  // namespace palladion::check
