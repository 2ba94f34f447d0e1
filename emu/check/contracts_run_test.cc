// Contracts that only a run can break: each kernel beside a twin that differs in one token or one number.
#include <gtest/gtest.h>

#include <string>

#include "emu/emulate.h"
#include "emu/run/launch/run.h"
#include "emu/testing/kernel_test_util.h"
#include "emu/values.h"
#include "semantics/base/cat.h"
#include "semantics/program/inspections.h"

namespace palladion::check {
namespace {

struct Checked {
  std::vector<Finding> findings;
  std::int64_t looks = 0;
};

Checked CheckText(const std::string& text, const std::vector<Tensor>& inputs, const std::string& target = "generic",
                  bool definedness = false) {
  const absl::StatusOr<PreparedKernel> kernel = PrepareText(text, {.kernel = "", .target = target, .path = ""});
  EXPECT_TRUE(kernel.ok()) << kernel.status() << "\n" << text;
  if (!kernel.ok()) return {};
  std::vector<ConstArray> in;
  for (const Tensor& tensor : inputs) in.push_back({tensor.dtype(), tensor.shape(), tensor.bytes()});
  std::vector<Tensor> outputs;
  std::vector<MutableArray> out;
  for (const OperandDescription& o : kernel->outputs())
    outputs.push_back(*Tensor::CreateUninitialized(o.dtype, o.shape));
  for (Tensor& tensor : outputs) out.push_back({tensor.dtype(), tensor.shape(), tensor.bytes()});
  Inspections inspections(kernel->state().program());
  const absl::StatusOr<agents::Ran> result =
      launch::Run({kernel->state(), in, out}, {.definedness = definedness, .contracts = &inspections});
  EXPECT_TRUE(result.ok()) << result.status();
  Checked checked{.findings = inspections.Findings(), .looks = inspections.looks()};
  for (const Finding& finding : result->findings) checked.findings.push_back(finding);
  return checked;
}

Tensor Make(DType dtype, const std::vector<std::int64_t>& shape, const std::string& text) {
  const absl::StatusOr<Tensor> tensor = TensorFromText(dtype, shape, text);
  EXPECT_TRUE(tensor.ok()) << tensor.status();
  return *tensor;
}

void ExpectNote(const Checked& checked, FindingCode code, std::int64_t count, const std::string& message) {
  ASSERT_EQ(1u, checked.findings.size());
  EXPECT_EQ(code, checked.findings[0].code);
  EXPECT_EQ(RowOf(code).severity, checked.findings[0].severity);
  EXPECT_EQ(count, checked.findings[0].count);
  EXPECT_EQ(message, checked.findings[0].message);
  EXPECT_GT(checked.findings[0].text_line, 0);
}

// o = OP(x, y) over i32[4].
std::string Binary(const std::string& op) {
  return Cat(
      "pkir 1;\nkernel @k { grid [2];\n  in %x: i32[4]; in %y: i32[4];\n  out %o: i32[4];\n"
      "  body @b (%xr: ref<default,i32[4]>, %yr: ref<default,i32[4]>, %or: ref<default,i32[4]>) {\n"
      "    %a = get(%xr) : i32[4]; %b = get(%yr) : i32[4];\n    %c = ",
      op,
      " : i32[4];\n"
      "    _ = swap(%or, %c) : i32[4]; return; } }\n");
}

Checked CheckBinary(const std::string& op, const std::string& y) {
  return CheckText(Binary(op), {Make(DType::kI32, {4}, "iota"), Make(DType::kI32, {4}, y)});
}

TEST(DivZero, IntegersOnly) {
  for (const std::string op : {"div", "rem"}) {
    const Checked clean = CheckBinary(op + "(%a, %b)", "[1, 2, -3, 4]");
    EXPECT_TRUE(clean.findings.empty());
    EXPECT_EQ(2, clean.looks);  // one for each program
    ExpectNote(
        CheckBinary(op + "(%a, %b)", "[1, 0, 3, 0]"), FindingCode::kDivZero, 2,
        op + ": element [1] of the divisor, i32[4], is 0 at program (1); it must not be 0; output 'o'[1] (2 of its "
             "4 elements) depends on the result");
    ExpectNote(
        CheckBinary(op + "(%a, 0:i32)", "iota"), FindingCode::kDivZero, 4,
        op + ": the divisor is 0 at program (1); it must not be 0; output 'o'[0] (4 of its 4 elements) depends on "
             "the result");
    const Checked constant = CheckBinary(op + "(%a, 7:i32)", "iota");
    EXPECT_EQ(0, constant.looks);  // known before the run
  }
  const std::string floats =
      "pkir 1;\nkernel @k { grid [1];\n  in %x: f32[2];\n  out %o: f32[2];\n  body @b (%xr: ref<default,f32[2]>, %or: "
      "ref<default,f32[2]>) {\n"
      "    %a = get(%xr) : f32[2]; %c = div(1.0:f32, %a) : f32[2]; _ = swap(%or, %c) : f32[2]; return; } }\n";
  EXPECT_TRUE(CheckText(floats, {Make(DType::kF32, {2}, "[0, 1]")}).findings.empty());
}

TEST(DivZero, WhatIsFoldedIsSeenToo) {
  const std::string text =
      "pkir 1;\nkernel @k { grid [1];\n  out %o: i32[];\n  body @b (%or: ref<default,i32[]>) {\n"
      "    %c = div(1:i32, D:i32) : i32[]; _ = swap(%or, %c) : i32[]; return; } }\n";
  const auto with = [&](const std::string& divisor) {
    return std::string(text).replace(text.find("D:i32"), 1, divisor);
  };
  EXPECT_TRUE(CheckText(with("2"), {}).findings.empty());
  EXPECT_EQ(1u, CheckText(with("0"), {}).findings.size());
}

TEST(Shift, AmountIsInTheWidth) {
  for (const std::string op : {"shift_left", "shift_right_logical", "shift_right_arithmetic"}) {
    EXPECT_TRUE(CheckBinary(op + "(%a, %b)", "[0, 1, 30, 31]").findings.empty());
    ExpectNote(CheckBinary(op + "(%a, %b)", "[0, 1, 30, 32]"), FindingCode::kShift, 1,
               op + ": element [3] of the shift amount, i32[4], is 32 at program (1); it must lie in [0, 32); output "
                    "'o'[3] (1 of its 4 elements) depends on the result");
    ExpectNote(CheckBinary(op + "(%a, %b)", "[0, -1, 30, 31]"), FindingCode::kShift, 1,
               op + ": element [1] of the shift amount, i32[4], is -1 at program (1); it must lie in [0, 32); output "
                    "'o'[1] (1 of its 4 elements) depends on the result");
  }
}

// Conversions of x to `to`, and whether they are found.
std::size_t Conversions(const std::string& from, DType dtype, const std::string& to, const std::string& x) {
  const std::string text = Cat("pkir 1;\nkernel @k { grid [1];\n  in %x: ", from, "[1];\n  out %o: ", to,
                               "[1];\n  body @b (%xr: ref<default,", from, "[1]>, %or: ref<default,", to,
                               "[1]>) {\n    %a = get(%xr) : ", from, "[1]; %c = convert_element_type{to=", to,
                               "}(%a) : ", to, "[1]; _ = swap(%or, %c) : ", to, "[1]; return; } }\n");
  return CheckText(text, {Make(dtype, {1}, "[" + x + "]")}).findings.size();
}

TEST(FloatToInt, TheTruncatedValueMustFit) {
  struct Case {
    std::string from;
    DType dtype;
    std::string to, inside, outside;
  };
  // Each pair is two neighbours of the source type, or the nearest that matter.
  const Case cases[] = {{"f32", DType::kF32, "i32", "2147483520", "2147483648"},
                        {"f32", DType::kF32, "i32", "-2147483648", "-2147483904"},
                        {"f64", DType::kF64, "i32", "2147483647.5", "2147483648"},
                        {"f64", DType::kF64, "i32", "-2147483648.5", "-2147483649"},
                        {"f32", DType::kF32, "u8", "255.9", "256"},
                        {"f32", DType::kF32, "u8", "-0.9", "-1"},
                        {"f32", DType::kF32, "i8", "127.9", "nan"},
                        {"bf16", DType::kBF16, "i8", "-128", "-129"},
                        {"f64", DType::kF64, "i64", "-9223372036854775808", "-9223372036854777856"},
                        {"f64", DType::kF64, "i64", "9223372036854774784", "9223372036854775808"},
                        {"f64", DType::kF64, "u64", "18446744073709549568", "18446744073709551616"},
                        {"f32", DType::kF32, "i4", "-8.5", "8"},
                        {"f16", DType::kF16, "u16", "65504", "inf"}};
  for (const Case& c : cases) {
    EXPECT_EQ(0u, Conversions(c.from, c.dtype, c.to, c.inside)) << c.from << " " << c.inside << " " << c.to;
    EXPECT_EQ(1u, Conversions(c.from, c.dtype, c.to, c.outside)) << c.from << " " << c.outside << " " << c.to;
  }
  EXPECT_EQ(0u, Conversions("f32", DType::kF32, "bool", "nan"));
  EXPECT_EQ(0u, Conversions("f64", DType::kF64, "f32", "1e300"));
}

TEST(InspectedStrips, LongChainsAreSeenInTheirStrips) {
  const auto text = [](const std::string& amount) {
    return Cat(
        "pkir 1;\nkernel @k { grid [1];\n  in %x: i32[3,2048]; in %s: i32[];\n  out %o: i32[3,2048];\n"
        "  body @b (%xr: ref<default,i32[3,2048]>, %sr: ref<default,i32[]>, %or: ref<default,i32[3,2048]>) {\n"
        "    %a = get(%xr) : i32[3,2048]; %s0 = get(%sr) : i32[];\n    %b = add(%a, 1:i32) : i32[3,2048];\n"
        "    %c = shift_left(%b, ",
        amount,
        ") : i32[3,2048];\n    %d = mul(%c, 3:i32) : i32[3,2048];\n"
        "    _ = swap(%or, %d) : i32[3,2048]; return; } }\n");
  };
  const Tensor ones = Make(DType::kI32, {3, 2048}, "full(30)");
  EXPECT_TRUE(CheckText(text("%b"), {ones, Make(DType::kI32, {}, "[40]")}).findings.empty());
  ExpectNote(CheckText(text("%s0"), {ones, Make(DType::kI32, {}, "[40]")}), FindingCode::kShift, 3 * 2048,
             "shift_left: the shift amount is 40 at program (0); it must lie in [0, 32); output 'o'[0, 0] (6144 of its "
             "6144 elements) depends on the result");
  Tensor some = Make(DType::kI32, {3, 2048}, "full(30)");
  some.data<std::int32_t>()[2048 * 2 + 5] = 31;  // then 32 is shifted by
  some.data<std::int32_t>()[2048 * 2 + 7] = -9;
  ExpectNote(CheckText(text("%b"), {some, Make(DType::kI32, {}, "[0]")}), FindingCode::kShift, 2,
             "shift_left: element [2, 5] of the shift amount, i32[3,2048], is 32 at program (0); it must lie in [0, "
             "32); output "
             "'o'[2, 5] (2 of its 6144 elements) depends on the result");
}

// ---- where a result matters

// o = f(x, y) over i32[4], x = [1, 2, 3, 4], y = [1, 0, 3, 0] and %q = x / y.
Checked CheckQuotient(const std::string& body, const std::string& target = "generic", bool definedness = true) {
  return CheckText(
      Cat("pkir 1;\nkernel @k { grid [2];\n  in %x: i32[4]; in %y: i32[4];\n  out %o: i32[4]; scratch %s: "
          "ref<vmem,i32[4]>;\n  body @b (%xr: ref<default,i32[4]> as \"x_ref\", %yr: ref<default,i32[4]>, %or: "
          "ref<default,i32[4]> as \"o_ref\", %sr: ref<vmem,i32[4]>) {\n"
          "    %a = get(%xr) : i32[4]; %b = get(%yr) : i32[4];\n    %q = div(%a, %b) : i32[4];\n    ",
          body, "\n    return; } }\n"),
      {Make(DType::kI32, {4}, "[1, 2, 3, 4]"), Make(DType::kI32, {4}, "[1, 0, 3, 0]")}, target, definedness);
}

constexpr char kWhole[] = "%m = ne(%b, 0:i32) : bool[4]; ";

TEST(DiscardedResults, AreNoFinding) {
  for (const std::string discards :
       {"_ = swap(%or, %a) : i32[4];", "%c = select_n(%m, %a, %q) : i32[4]; _ = swap(%or, %c) : i32[4];",
        "%t = mul(%q, 3:i32) : i32[4]; %c = select_n(%m, %a, %t) : i32[4]; _ = swap(%or, %c) : i32[4];",
        "_ = swap(%sr, %q) : i32[4]; %t = get(%sr) : i32[4]; %c = select_n(%m, %a, %t) : i32[4]; _ = swap(%or, %c) : "
        "i32[4];",
        "_ = swap(%or, %a) : i32[4]; masked_swap(%or, %q, mask=%m);",
        "_ = swap(%or, %q) : i32[4]; _ = swap(%or, %a) : i32[4];",
        "%g = gt(%q, 0:i32) : bool[4]; %l = and(%g, %m) : bool[4]; %c = select_n(%l, %a, %q) : i32[4]; _ = swap(%or, "
        "%c) "
        ": i32[4];"}) {
    for (const std::string target : {"generic", "triton/h100", "mosaic_tpu/v5e", "mosaic_gpu/h100"}) {
      for (const bool definedness : {false, true})
        EXPECT_TRUE(CheckQuotient(kWhole + discards, target, definedness).findings.empty())
            << target << " " << discards;
    }
  }
}

TEST(DiscardedResults, OthersAreReportedWhereTheyMatter) {
  const std::string broken = "div: element [1] of the divisor, i32[4], is 0 at program (";
  const std::string rule = "); it must not be 0; ";
  const auto expect = [&](const std::string& body, const std::string& where, std::int64_t count) {
    for (const bool definedness : {false, true}) {
      const Checked checked = CheckQuotient(body, "generic", definedness);
      ASSERT_EQ(1u, checked.findings.size()) << body;
      const Finding& finding = checked.findings[0];
      EXPECT_EQ(FindingCode::kDivZero, finding.code) << body;
      EXPECT_EQ(Severity::kNote, finding.severity);
      EXPECT_EQ(0u, finding.message.find(broken)) << finding.message;
      EXPECT_NE(std::string::npos, finding.message.find(rule + where)) << finding.message;
      EXPECT_EQ(count, finding.count) << body;
      EXPECT_EQ(7, finding.text_line);
    }
  };
  const std::string stored = " _ = swap(%or, %a) : i32[4];";
  expect(
      "%s0 = reduce_sum{axes=[0]}(%q) : i32[]; %c = broadcast_in_dim{shape=[4], dims=[]}(%s0) : i32[4]; _ = swap(%or, "
      "%c) : i32[4];",
      "output 'o_ref'[0] (4 of its 4 elements) depends on the result", 4);
  expect(
      "%e = slice{start=[1], limit=[2]}(%q) : i32[1]; %f = reshape{shape=[]}(%e) : i32[]; %p = lt(%f, 9:i32) : bool[]; "
      "cond(%p) { return; } { return; };" +
          stored,
      "the predicate of a branch at program (0) depends on the result", 2);
  expect(
      "%u = get(%xr) : i32[4]; %z = clamp(0:i32, %q, 3:i32) : i32[4]; %v = get(%xr.at[%z]) : i32[4]; _ = swap(%or, %a) "
      ": i32[4];",
      "an index into 'x_ref' at program (0) depends on the result", 2);
}

// The padding of a block is NaN, and no number of the kernel's.
TEST(FloatToInt, WhatIsUndefinedIsNotLookedAt) {
  const auto text = [](int size, int block) {
    const std::string b = Cat("[", block, "]");
    return Cat("pkir 1;\nkernel @k { grid [1];\n  in %x: f32[", size, "] block (", block,
               ") map (%i: i32[]) { return %i; };\n  out %o: i32[", size, "] block (", block,
               ") map (%i: i32[]) { return %i; };\n  body @b (%xr: ref<default,f32", b, ">, %or: ref<default,i32", b,
               ">) {\n    %a = get(%xr) : f32", b, "; %d = mul(%a, 2.0:f32) : f32", b,
               ";\n    %c = convert_element_type{to=i32}(%d) : i32", b, "; %e = add(%c, 1:i32) : i32", b,
               ";\n    _ = swap(%or, %e) : i32", b, "; return; } }\n");
  };
  for (const auto& [size, block] : {std::pair(6, 8), std::pair(6000, 8192)}) {  // alone, and in strips
    Tensor x = Make(DType::kF32, {size}, "full(1)");
    // Elements converted beyond the end of the array are dropped, with the definedness check and without it.
    for (const bool definedness : {false, true}) {
      EXPECT_TRUE(CheckText(text(size, block), {x}, "generic", definedness).findings.empty());
      Tensor large = x;
      large.data<float>()[size - 1] = 2e9f;
      ExpectNote(CheckText(text(size, block), {large}, "generic", definedness), FindingCode::kFloatToInt, 1,
                 Cat("convert_element_type: element [", size - 1, "] of the operand, f32[", block,
                     "], is 4e+09 at program (0); it must be a number that i32 holds; output 'o'[", size - 1,
                     "] (1 of its ", size, " elements) depends on the result"));
    }
  }
}

TEST(Promise, MultipleOf) {
  const auto text = [](const std::string& i, const std::string& values) {
    return VectorKernel(Cat("%v = get(%xr.at[", i, "]) : i32[]; %m = multiple_of{values=[", values,
                            "]}(%v) : i32[]; _ = swap(%orf.at[0], %m) : i32[];"));
  };
  const std::vector<Tensor> x = {Make(DType::kI32, {4}, "[16, 24, 0, -32]")};
  EXPECT_TRUE(CheckText(text("0", "16"), x).findings.empty());
  EXPECT_TRUE(CheckText(text("2", "16"), x).findings.empty());
  EXPECT_TRUE(CheckText(text("3", "16"), x).findings.empty());
  ExpectNote(CheckText(text("1", "16"), x), FindingCode::kPromise, 1,
             "multiple_of: the operand is 24 at program (0); it is promised to be a multiple of 16");
  EXPECT_TRUE(CheckText(text("1", "8, 12"), x).findings.empty());
  EXPECT_EQ(1u, CheckText(text("1", "8, 16"), x).findings.size());
}

// Of arrays, Triton's hints are about runs: i*16 + arange(16) is a multiple of 16 in its sense.
TEST(Promise, HintsOfArrays) {
  const auto text = [](const std::string& op) {
    return VectorKernel(Cat("%v = get(%xr) : i32[4]; %m = ", op, "(%v) : i32[4]; _ = swap(%orf, %m) : i32[4];"));
  };
  const auto found = [&](const std::string& op, const std::string& x) {
    return CheckText(text(op), {Make(DType::kI32, {4}, x)}).findings.size();
  };
  EXPECT_EQ(0u, found("multiple_of{values=[16]}", "[16, 17, 18, 19]"));
  EXPECT_EQ(1u, found("multiple_of{values=[16]}", "[17, 18, 19, 20]"));
  EXPECT_EQ(1u, found("multiple_of{values=[16]}", "[16, 17, 19, 20]"));
  EXPECT_EQ(0u, found("max_contiguous{values=[4]}", "[5, 6, 7, 8]"));
  EXPECT_EQ(0u, found("max_contiguous{values=[2]}", "[5, 6, 9, 10]"));
  EXPECT_EQ(1u, found("max_contiguous{values=[4]}", "[5, 6, 9, 10]"));
}

TEST(Promise, GatherInBounds) {
  const auto text = [](const std::string& mode) {
    return VectorKernel(
        Cat("%v = get(%xr) : i32[4]; %i = reshape{shape=[4,1]}(%v) : i32[4,1];\n"
            "    %g = gather{offset_dims=[], collapsed_slice_dims=[0], start_index_map=[0], slice_sizes=[1], mode=",
            mode, "}(%v, %i) : i32[4]; _ = swap(%orf, %g) : i32[4];"));
  };
  EXPECT_TRUE(CheckText(text("promise"), {Make(DType::kI32, {4}, "[0, 3, 1, 1]")}).findings.empty());
  EXPECT_TRUE(CheckText(text("clip"), {Make(DType::kI32, {4}, "[0, 4, -1, 1]")}).findings.empty());
  ExpectNote(
      CheckText(text("promise"), {Make(DType::kI32, {4}, "[0, 4, -1, 1]")}), FindingCode::kPromise, 2,
      "gather: element [1, 0] of the indices, i32[4,1], is 4 at program (0); it is promised to lie inside: at most 3");
}

TEST(Promise, ScatterInBounds) {
  const auto text = [](const std::string& mode) {
    return VectorKernel(
        Cat("%v = get(%xr) : i32[4]; %i = reshape{shape=[4,1]}(%v) : i32[4,1];\n"
            "    %s = scatter{update_window_dims=[], inserted_window_dims=[0], operand_batching_dims=[], "
            "scatter_indices_batching_dims=[], scatter_dims_to_operand_dims=[0], mode=",
            mode, "}(%v, %i, %v) : i32[4]; _ = swap(%orf, %s) : i32[4];"));
  };
  EXPECT_TRUE(CheckText(text("promise"), {Make(DType::kI32, {4}, "[0, 3, 1, 2]")}).findings.empty());
  EXPECT_TRUE(CheckText(text("clip"), {Make(DType::kI32, {4}, "[0, 4, -1, 2]")}).findings.empty());
  ExpectNote(
      CheckText(text("promise"), {Make(DType::kI32, {4}, "[0, 4, -1, 2]")}), FindingCode::kPromise, 2,
      "scatter: element [1, 0] of the indices, i32[4,1], is 4 at program (0); it is promised to lie inside: at most 3");
}

TEST(Clamp, OfAValueSliceIsNotSilent) {
  const auto text = [](const std::string& start) {
    return VectorKernel(
        Cat("%v = get(%xr) : i32[4]; %i = get(%xr.at[", start,
            "]) : i32[]; %s = dynamic_slice{sizes=[2]}(%v, %i) : i32[2]; _ = swap(%orf.at[0 +: 2], %s) : i32[2];"));
  };
  const std::vector<Tensor> x = {Make(DType::kI32, {4}, "[2, 3, 0, -1]")};
  EXPECT_TRUE(CheckText(text("0"), x).findings.empty());
  const Checked clamped = CheckText(text("1"), x);
  ASSERT_EQ(1u, clamped.findings.size());
  EXPECT_EQ(FindingCode::kOutOfBounds, clamped.findings[0].code);
  EXPECT_EQ(Severity::kNote, clamped.findings[0].severity);
  EXPECT_EQ("dynamic_slice: the start 0 is 3 at program (0); it is clamped to [0, 2]", clamped.findings[0].message);
  EXPECT_EQ(1u, CheckText(text("3"), x).findings.size());
}

TEST(IndexType, BlockIndicesFitAnI32) {
  const auto text = [](const std::string& type, const std::string& index) {
    return Cat(
        "pkir 1;\nkernel @k { grid [1];\n  in %x: f32[4] block (4) map (%i: i32[]) { return ", index, ":", type,
        "; };\n  out %o: f32[4];\n  body @b (%xr: ref<default,f32[4]>, %or: ref<default,f32[4]>) { return; } }\n");
  };
  const std::vector<Tensor> x = {Make(DType::kF32, {4}, "iota")};
  for (const std::string target : {"generic", "triton/h100", "mosaic_gpu/h100", "mosaic_tpu/v5e"}) {
    EXPECT_TRUE(CheckText(text("i64", "0"), x, target).findings.empty());
    EXPECT_EQ(FindingCode::kBlockOutOfBounds, CheckText(text("i64", "2147483647"), x, target).findings[0].code);
    EXPECT_EQ(FindingCode::kBlockOutOfBounds, CheckText(text("i64", "-2147483648"), x, target).findings[0].code);
    EXPECT_EQ(FindingCode::kIndexType, CheckText(text("i64", "-2147483649"), x, target).findings[0].code);
    const Checked far = CheckText(text("i64", "4294967296"), x, target);  // 0 in an i32
    ASSERT_EQ(1u, far.findings.size());
    EXPECT_EQ(FindingCode::kIndexType, far.findings[0].code);
    EXPECT_EQ(
        "the index map of operand 'x' returned 4294967296 for dimension 0 at program (0); a block index must be one "
        "that an i32 holds",
        far.findings[0].message);
    EXPECT_EQ(FindingCode::kIndexType, CheckText(text("u32", "4294967295"), x, target).findings[0].code);
    EXPECT_EQ(FindingCode::kIndexType, CheckText(text("u64", "18446744073709551615"), x, target).findings[0].code);
  }
  const absl::StatusOr<PreparedKernel> real = PrepareText(text("f32", "0.0"), {.kernel = "", .target = "", .path = ""});
  EXPECT_EQ(absl::StatusCode::kInvalidArgument, real.status().code());
  EXPECT_NE(std::string::npos, real.status().message().find("expected an integer scalar as result 0 of the index map"));
}

// A pointer has no end: what is read there is where the index says, also of blocks of one element.
TEST(IndexType, AnIndexThatIsTooLargeStillSaysWhere) {
  const std::string text =
      "pkir 1;\nkernel @k { backend triton; grid [1];\n  in %x: f32[4] block (1) map (%i: i32[]) { return "
      "200000000000000:i64; };\n  out %o: f32[1];\n  body @b (%xr: ref<default,f32[1]>, %or: ref<default,f32[1]>) {\n"
      "    %v = get(%xr) : f32[1]; _ = swap(%or, %v) : f32[1]; return; } }\n";
  const Checked checked = CheckText(text, {Make(DType::kF32, {4}, "iota")}, "triton/h100");
  ASSERT_EQ(2u, checked.findings.size());
  EXPECT_EQ(FindingCode::kOutOfBounds, checked.findings[1].code);
  EXPECT_NE(std::string::npos, checked.findings[1].message.find("load of 'x'[200000000000000]"))
      << checked.findings[1].message;
}

// ---- 066: scopes

TEST(UseAfterScope, FreezeEndsALife) {
  const auto text = [](const std::string& after) {
    return VectorKernel(Cat("%r = new_ref(7:i32) : ref<default,i32[]>;\n    %w = freeze(%r) : i32[];\n    ", after,
                            "\n    _ = swap(%orf.at[0], %w) : i32[];"));
  };
  const std::vector<Tensor> x = {Make(DType::kI32, {4}, "iota")};
  EXPECT_TRUE(CheckText(text("%u = get(%xr.at[0]) : i32[];"), x).findings.empty());
  for (const std::string use : {"%u = get(%r) : i32[];", "_ = swap(%r, 1:i32) : i32[];", "addupdate(%r, 1:i32);",
                                "%u = freeze(%r) : i32[];", "_ = atomic_rmw{op=add}(%r, 1:i32) : i32[];"}) {
    const Checked checked = CheckText(text(use), x);
    ASSERT_EQ(1u, checked.findings.size()) << use;
    EXPECT_EQ(FindingCode::kUseAfterScope, checked.findings[0].code);
    ASSERT_TRUE(checked.findings[0].first.has_value());
    EXPECT_EQ(checked.findings[0].text_line, checked.findings[0].first->text_line + 1);
  }
}

TEST(UseAfterScope, OnlyWhereItHappens) {
  // A loop: the ref is new in every turn, or frozen in the first and used in the second.
  const auto text = [](bool inside, int turns) {
    const std::string make = "%r = new_ref(7:i32) : ref<default,i32[]>;\n";
    return VectorKernel(Cat(inside ? "" : make, "_ = scan{length=", turns, "}(init=0:i32) (%i: i32[]) {\n",
                            inside ? make : "",
                            "%u = get(%r) : i32[];\n%w = freeze(%r) : i32[];\nreturn %w; } : i32[];"));
  };
  const std::vector<Tensor> x = {Make(DType::kI32, {4}, "iota")};
  EXPECT_TRUE(CheckText(text(true, 2), x).findings.empty());
  EXPECT_TRUE(CheckText(text(false, 1), x).findings.empty());
  EXPECT_EQ(2u, CheckText(text(false, 2), x).findings.size());  // the get and the second freeze
}

TEST(UseAfterScope, NamesOfAScopeEndWithIt) {
  const std::string text = VectorKernel(
      "run_scoped() (%t: ref<vmem,i32[4]>) { return; };\n    %v = get(%t) : i32[4]; _ = swap(%orf, %v) : i32[4];");
  const absl::StatusOr<PreparedKernel> kernel = PrepareText(text, {.kernel = "", .target = "", .path = ""});
  EXPECT_EQ(absl::StatusCode::kInvalidArgument, kernel.status().code()) << kernel.status();
}

}  // namespace
}  // namespace palladion::check
