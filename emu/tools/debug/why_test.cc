// `why` on kernels whose answer is known: which elements of which inputs made an element, through arithmetic, moves,
// contractions, loops, branches, scratch memory and blocks.
#include "emu/tools/debug/why.h"

#include <gtest/gtest.h>

#include "emu/front/command/command_test_util.h"
#include "emu/values.h"
#include "semantics/base/cat.h"

namespace palladion::debug {
namespace {

Tensor Make(DType dtype, std::vector<std::int64_t> shape, const std::string& text) {
  return *TensorFromText(dtype, shape, text);
}

std::string Answer(const std::string& text, const std::vector<Tensor>& inputs, const std::string& element,
                   const WhyOptions& options = {}, const std::string& target = "") {
  const absl::StatusOr<PreparedKernel> kernel =
      PrepareText(text, {.target = target, .path = "k.pkir", .observable = true});
  EXPECT_TRUE(kernel.ok()) << kernel.status();
  if (!kernel.ok()) return "";
  const absl::StatusOr<std::string> answer = Why(*kernel, inputs, element, options);
  EXPECT_TRUE(answer.ok()) << answer.status();
  return answer.ok() ? *answer : "";
}

void ExpectIn(const std::string& part, const std::string& text) {
  EXPECT_NE(std::string::npos, text.find(part)) << part << "\nin\n" << text;
}

// A kernel over f32[4,6] -> f32 of the shape, with this body; %v is x.
std::string Body(const std::string& shape, const std::string& body) {
  return "pkir 1;\nkernel @k {\n  in %x: f32[4,6] as \"args[0]\"; in %i: i32[3]; grid []; out %o: f32" + shape +
         " as \"outputs[0]\";\n"
         "  body @k (%xr: ref<default,f32[4,6]> as \"x_ref\", %ir: ref<default,i32[3]> as \"i_ref\", %orf: "
         "ref<default,f32" +
         shape + "> as \"o_ref\") {\n    %v = get(%xr) : f32[4,6];\n" + body + "\n    _ = swap(%orf, %r) : f32" +
         shape + ";\n    return;\n  }\n}\n";
}

std::string AnswerOfBody(const std::string& shape, const std::string& body, const std::string& element) {
  return Answer(Body(shape, body), {Make(DType::kF32, {4, 6}, "iota"), Make(DType::kI32, {3}, "[2,0,1]")}, element);
}

const char* const kAddAnswer =
    "o[5] = 10.0: f32[8]\n"
    "  o[5]: written by swap, line 14, program (1)\n"
    "    %c[1] = 10.0: add, line 12, program (1)\n"
    "      %a[1] = 5.0: get, line 10, program (1)\n"
    "        x[5] = 5.0: input\n"
    "      %b[1] = 5.0: get, line 11, program (1)\n"
    "        y[5] = 5.0: input\n";

TEST(Why, FollowsAnElementToTheInputs) {
  const std::vector<Tensor> inputs = {Make(DType::kF32, {8}, "iota"), Make(DType::kF32, {8}, "iota")};
  EXPECT_EQ(kAddAnswer, Answer(AddKernel(), inputs, "o[5]"));
  EXPECT_EQ(kAddAnswer, Answer(AddKernel(), inputs, "outputs[5]"));
}

// Blocks with memory of their own are copied in and out.
TEST(Why, FollowsCopiesOfBlocks) {
  const std::string answer = Answer(AddKernel(), {Make(DType::kF32, {8}, "iota"), Make(DType::kF32, {8}, "zeros")},
                                    "o[6]", {}, "mosaic_tpu/v5e");
  ExpectIn("  o[6]: block copied from outputs[2]\n    outputs[2]: written by swap, line 14, program (1)\n", answer);
  ExpectIn("          args[0][2]: block copied from x[6]\n            x[6] = 6.0: input\n", answer);
}

TEST(Why, AValueOfManyProgramsIsRecordedAgain) {
  WhyOptions options;
  options.value_bytes = 64;  // of one program, not of two
  EXPECT_EQ(kAddAnswer,
            Answer(AddKernel(), {Make(DType::kF32, {8}, "iota"), Make(DType::kF32, {8}, "iota")}, "o[5]", options));
  const absl::StatusOr<PreparedKernel> kernel = PrepareText(AddKernel(), {.observable = true});
  options.value_bytes = 20;
  const absl::StatusOr<std::string> answer =
      Why(*kernel, {Make(DType::kF32, {8}, "iota"), Make(DType::kF32, {8}, "iota")}, "o[5]", options);
  EXPECT_EQ(absl::StatusCode::kResourceExhausted, answer.status().code()) << answer.status();
}

// Row 1 of the left and column 2 of the right.
TEST(Why, AContractionHasARowAndAColumn) {
  const std::string answer = AnswerOfBody("[4,4]", R"(
    %t = transpose{perm=[1,0]}(%v) : f32[6,4];
    %r = dot_general{contract=[[1],[0]], batch=[[],[]], precision=none, preferred=f32}(%v, %t) : f32[4,4];)",
                                          "o[1,2]");
  ExpectIn("      6 products, the first 3 shown\n", answer);
  for (int k = 0; k < 3; ++k) {
    ExpectIn(Cat("      %v[1, ", k, "] = ", 6 + k, ".0: get"), answer);
    ExpectIn(Cat("      %t[", k, ", 2] = ", 12 + k, ".0: transpose"), answer);
    ExpectIn(Cat("        %v[2, ", k, "] = ", 12 + k, ".0: get"), answer);
  }
  EXPECT_EQ(std::string::npos, answer.find("%v[1, 3]")) << answer;
}

TEST(Why, AReductionHasASlice) {
  const std::string answer = AnswerOfBody("[6]", "    %r = reduce_sum{axes=[0]}(%v) : f32[6];", "o[4]");
  ExpectIn("4 elements, the first 3 shown\n      %v[0, 4] = 4.0: get", answer);
  ExpectIn("      %v[2, 4] = 16.0: get", answer);
}

TEST(Why, MovesNameTheExactElement) {
  ExpectIn("      %v[3, 0] = 18.0: get, line 5\n        x[3, 0] = 18.0: input\n",
           AnswerOfBody("[4,6]", "    %r = rev{dims=[0,1]}(%v) : f32[4,6];", "o[0,5]"));
  const std::string sliced = AnswerOfBody("[2,6]", R"(
    %s = get(%ir.at[0]) : i32[];
    %r = dynamic_slice{sizes=[2,6]}(%v, %s, 0:i32) : f32[2,6];)",
                                          "o[1,1]");
  ExpectIn("      %v[3, 1] = 19.0: get", sliced);
  ExpectIn("      %s = 2: get", sliced);
  ExpectIn("        i[0] = 2: input\n", sliced);
}

TEST(Why, SelectNamesTheChosenSide) {
  const std::string answer = AnswerOfBody("[4,6]", R"(
    %p = gt(%v, 10.0:f32) : bool[4,6];
    %n = neg(%v) : f32[4,6];
    %r = select_n(%p, %v, %n) : f32[4,6];)",
                                          "o[1,1]");
  ExpectIn("      %p[1, 1] = false: gt", answer);
  ExpectIn("      %v[1, 1] = 7.0: get, line 5 (shown above)\n", answer);
  EXPECT_EQ(std::string::npos, answer.find("%n[")) << answer;
}

// The carry of the last iteration, and back through all three; ys and xs by their element.
TEST(Why, FollowsLoopsAndBranches) {
  const std::string loop = R"(
    %c, %ys = scan{length=4}(init=0.0:f32, xs=%v) (%a: f32[], %row: f32[6]) {
      %e = slice{start=[2], limit=[3], strides=none}(%row) : f32[1];
      %q = reshape{shape=[], dimensions=none}(%e) : f32[];
      %b = add(%a, %q) : f32[];
      return %b, %row;
    } : f32[], f32[4,6];
)";
  const std::string sum = AnswerOfBody("[]", loop + "    %r = neg(%c) : f32[];", "o");
  ExpectIn("%b = 44.0: add, line 10, iteration 3\n", sum);
  ExpectIn("%b = 24.0: add, line 10, iteration 2\n", sum);
  ExpectIn("%v[3, 2] = 20.0: get", sum);
  ExpectIn("constant 0.0: f32[]", sum);
  const std::string stacked = AnswerOfBody("[4,6]", loop + "    %r = neg(%ys) : f32[4,6];", "o[2,5]");
  ExpectIn("    %r[2, 5] = -17.0: neg, line 13\n      %v[2, 5] = 17.0: get", stacked);
  const std::string branch = AnswerOfBody("[4,6]", R"(
    %r = cond(1:i32) { return %v; } { %n = exp(%v) : f32[4,6]; return %n; } : f32[4,6];)",
                                          "o[0,0]");
  ExpectIn("    %n[0, 0] = 1.0: exp, line 7\n      %v[0, 0]", branch);
}

TEST(Why, FollowsAWhile) {
  const std::string answer = AnswerOfBody("[]", R"(
    %i0 = get(%ir.at[0]) : i32[];
    %x0 = get(%xr.at[1, 1]) : f32[];
    %last, %f = while(init=%i0, init=%x0) (%j: i32[], %g: f32[]) { %more = gt(%j, 0:i32) : bool[]; return %more; }
      (%j: i32[], %g: f32[]) {
      %k = sub(%j, 1:i32) : i32[];
      %h = mul(%g, 2.0:f32) : f32[];
      return %k, %h;
    } : i32[], f32[];
    %r = neg(%f) : f32[];)",
                                          "o");
  ExpectIn("    %r = -28.0: neg", answer);
  ExpectIn("      %h = 28.0: mul, line 12, iteration 1\n        %h = 14.0: mul, line 12, iteration 0\n", answer);
  ExpectIn("          %x0 = 7.0: get", answer);
  EXPECT_EQ(std::string::npos, answer.find("%more")) << answer;
}

TEST(Why, FollowsIndexArraysAndMasks) {
  const std::string gathered = AnswerOfBody("[3]", R"(
    %ix = get(%ir) : i32[3];
    %r = get(%xr.at[%ix, 1]) : f32[3];)",
                                            "o[0]");
  ExpectIn("    %r[0] = 13.0: get, line 8\n      x[2, 1] = 13.0: input\n", gathered);
  const std::string masked = R"(
    %m = lt(%v, 9.0:f32) : bool[4,6];
    %r = masked_load(%xr, mask=%m, other=5.0:f32) : f32[4,6];)";
  ExpectIn("      a lane masked off: its value is the operand's\n      constant 5.0: f32[]\n",
           AnswerOfBody("[4,6]", masked, "o[2,0]"));
  ExpectIn("      x[1, 2] = 8.0: input\n", AnswerOfBody("[4,6]", masked, "o[1,2]"));
}

// An accumulator in scratch memory: each program's store, back to where it began.
std::string SumKernel() {
  return R"(pkir 1;
kernel @sum {
  backend mosaic_tpu;
  in %x: f32[12] block (4) map (%i: i32[]) { return %i; };
  grid [3];
  out %o: f32[4] block (4) map (%i: i32[]) { return 0:i32; };
  scratch %acc: ref<vmem,f32[4]> as "acc_ref";
  body @sum (%xr: ref<default,f32[4]> as "x_ref", %orf: ref<default,f32[4]> as "o_ref", %acc_ref: ref<vmem,f32[4]> as "acc_ref") {
    %p = program_id{axis=0}() : i32[];
    %z = eq(%p, 0:i32) : bool[];
    %first = convert_element_type{to=i32}(%z) : i32[];
    cond(%first) { return; } { %zero = broadcast_in_dim{shape=[4], dims=[]}(0.0:f32) : f32[4]; _ = swap(%acc_ref, %zero) : f32[4]; return; };
    %xv = get(%xr) : f32[4];
    addupdate(%acc_ref, %xv);
    %s = get(%acc_ref) : f32[4];
    _ = swap(%orf, %s) : f32[4];
    return;
  }
}
)";
}

TEST(Why, FollowsAnAccumulatorThroughAllPrograms) {
  const std::string text = SumKernel();
  WhyOptions options;
  options.depth = 50;
  const std::string answer = Answer(text, {Make(DType::kF32, {12}, "iota")}, "o[1]", options);
  ExpectIn(
      "o[1] = 15.0: f32[4]\n  o[1]: block copied from o_ref[1]\n    o_ref[1]: written by swap, line 16, program (2)\n",
      answer);
  for (int program = 0; program < 3; ++program) {
    ExpectIn(Cat("acc_ref[1]: written by addupdate, line 14, program (", program, ")\n"), answer);
    ExpectIn(Cat("x[", 4 * program + 1, "] = ", 4 * program + 1, ".0: input\n"), answer);
  }
  ExpectIn("acc_ref[1]: written by swap, line 12, program (0)\n", answer);
  ExpectIn("constant 0.0: f32[]\n", answer);
}

TEST(Why, SaysWhatWasNeverWritten) {
  std::string text = SumKernel();
  text.replace(text.find("_ = swap(%acc_ref, %zero) : f32[4]; "), 36, "");
  WhyOptions options;
  options.depth = 50;
  ExpectIn("acc_ref[1]: never written: undefined\n", Answer(text, {Make(DType::kF32, {12}, "iota")}, "o[1]", options));
}

TEST(Why, EndsAtTheDepth) {
  WhyOptions options;
  options.depth = 2;
  const std::string answer =
      Answer(AddKernel(), {Make(DType::kF32, {8}, "iota"), Make(DType::kF32, {8}, "iota")}, "o[0]", options);
  ExpectIn("    %c[0] = 0.0: add, line 12, program (0)\n      ... (--depth shows more)\n", answer);
}

class WhyCommandTest : public command::CommandTest {};

TEST_F(WhyCommandTest, AnswersAndErrors) {
  const std::string file = Write("add.pkir", AddKernel());
  ASSERT_EQ(0, Run({"why", file, "--in", "x=iota", "--in", "y=iota", "--element", "outputs[5]", "--depth", "1"}))
      << err_;
  ExpectIn("o[5] = 10.0: f32[8]\n  o[5]: written by swap", out_);
  const auto expect = [&](const std::string& element, const std::string& message) {
    ExpectError(4, {"why", file, "--in", "x=iota", "--in", "y=iota", "--element", element}, message);
  };
  expect("p[0]", "the outputs are o: f32[8]");
  expect("o[8]", "is no element of output 'o', which is f32[8]");
  expect("o[-1]", "is no element of output 'o'");
  expect("o[1,1]", "one number for each dimension");
  expect("o[x]", "is no element of output 'o'");
  expect("o", "is no element of output 'o'");
  ExpectError(4, {"why", file, "--in", "x=iota", "--in", "y=iota"}, "--element OUTPUT[I,J] says which element");
}

}  // namespace
}  // namespace palladion::debug
