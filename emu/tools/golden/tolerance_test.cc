// The bounds: what they are for kernels small enough to do by hand, and that they hold against sums in other orders.
#include <gtest/gtest.h>

#include <cmath>

#include "absl/strings/match.h"
#include "emu/testing/kernel_test_util.h"
#include "emu/tools/golden/bundle.h"
#include "emu/tools/golden/error_kernel.h"
#include "emu/values.h"
#include "semantics/base/cat.h"
#include "semantics/base/sanitized_test_util.h"

namespace palladion::golden {
namespace {

Tensor Of(DType dtype, std::vector<std::int64_t> shape, std::string_view text) {
  absl::StatusOr<Tensor> tensor = TensorFromText(dtype, shape, text);
  EXPECT_TRUE(tensor.ok()) << tensor.status();
  return *std::move(tensor);
}

Bundle Made(const std::string& text, const std::vector<Tensor>& inputs) {
  absl::StatusOr<Bundle> bundle = MakeBundle(text, inputs, {}, palladion::ToJson);
  EXPECT_TRUE(bundle.ok()) << bundle.status();
  return bundle.ok() ? *std::move(bundle) : Bundle{};
}

// o = sum over k of x[i, k] y[k, j], over f32.
std::string DotKernel(const std::string& body) {
  return "pkir 1;\nkernel @dot {\n  in %x: f32[8,64];\n  in %y: f32[64,8];\n  grid [1];\n  out %o: f32[8,8];\n"
         "  body @dot (%xr: ref<default,f32[8,64]>, %yr: ref<default,f32[64,8]>, %orf: ref<default,f32[8,8]>) {\n" +
         body + "    return;\n  }\n}\n";
}
constexpr char kDot[] =
    "    %a = get(%xr) : f32[8,64];\n    %b = get(%yr) : f32[64,8];\n"
    "    %c = dot_general{contract=[[1],[0]], batch=[[],[]], precision=none, preferred=f32}(%a, %b) : f32[8,8];\n"
    "    _ = swap(%orf, %c) : f32[8,8];\n";

TEST(Tolerance, GammaAndUnitRoundoffAreHighams) {
  EXPECT_EQ(0x1p-24, UnitRoundoff(DType::kF32));
  EXPECT_EQ(0x1p-53, UnitRoundoff(DType::kF64));
  EXPECT_EQ(0x1p-8, UnitRoundoff(DType::kBF16));
  EXPECT_EQ(0x1p-11, UnitRoundoff(DType::kF16));
  EXPECT_EQ(0.0, UnitRoundoff(DType::kI32));
  EXPECT_DOUBLE_EQ(3 * 0x1p-24 / (1 - 3 * 0x1p-24), Gamma(3, 0x1p-24));
  EXPECT_TRUE(std::isinf(Gamma(256, 0x1p-8)));
}

// 1 + 2^-24 is a tie: ours is 1, and another rounding gives 1 + 2^-23, which is more than half a unit and our own
// error.
TEST(Tolerance, ASumIsBoundedByItsRoundingAndOurs) {
  const Bundle bundle = Made(AddKernel(), {Of(DType::kF32, {8}, "full(1)"), Of(DType::kF32, {8}, "zeros")});
  ASSERT_TRUE(bundle.outputs[0].tolerance.has_value());
  EXPECT_NEAR(0x1p-24, bundle.outputs[0].tolerance->data<double>()[0], 1e-12);
  EXPECT_TRUE(absl::StrContains(bundle.outputs[0].derivation, "a bound of each element"));
}

TEST(Tolerance, ADotIsBoundedWhateverItsOrder) {
  const Bundle bundle = Made(DotKernel(kDot), {Of(DType::kF32, {8, 64}, "random(seed=1,lo=-1,hi=1)"),
                                               Of(DType::kF32, {64, 8}, "random(seed=2,lo=-1,hi=1)")});
  const GoldenOutput& output = bundle.outputs[0];
  const float* x = bundle.inputs[0].data<float>();
  const float* y = bundle.inputs[1].data<float>();
  for (int i = 0; i < 8; ++i) {
    for (int j = 0; j < 8; ++j) {
      float up = 0, down = 0;
      double size = 0;
      for (int k = 0; k < 64; ++k) {
        up += x[i * 64 + k] * y[k * 8 + j];
        down += x[i * 64 + 63 - k] * y[(63 - k) * 8 + j];
        size += std::abs(static_cast<double>(x[i * 64 + k]) * static_cast<double>(y[k * 8 + j]));
      }
      const double bound = output.tolerance->data<double>()[i * 8 + j];
      const double golden = static_cast<double>(output.values.data<float>()[i * 8 + j]);
      EXPECT_LE(std::abs(static_cast<double>(up) - golden), bound);
      EXPECT_LE(std::abs(static_cast<double>(down) - golden), bound);
      EXPECT_GE(bound, Gamma(64, 0x1p-24) * size);
      EXPECT_LE(bound, 1.1 * Gamma(66, 0x1p-24) * size);
    }
  }
  EXPECT_TRUE(absl::StrContains(output.derivation, "dot_general: k = 64 of f32 and f32, accumulated in f32, gamma_64"))
      << output.derivation;
}

// exp amplifies what comes into it: with |x| of 80, by 80.
TEST(Tolerance, AFunctionAmplifiesTheBoundOfItsOperand) {
  const std::string exp =
      "    %a = get(%xr) : f32[8,64];\n    %b = get(%yr) : f32[64,8];\n"
      "    %c = dot_general{contract=[[1],[0]], batch=[[],[]], precision=none, preferred=f32}(%a, %b) : f32[8,8];\n"
      "    %e = exp(%c) : f32[8,8];\n    _ = swap(%orf, %e) : f32[8,8];\n";
  const Bundle bundle =
      Made(DotKernel(exp), {Of(DType::kF32, {8, 64}, "full(1)"), Of(DType::kF32, {64, 8}, "full(1)")});
  const double relative = bundle.outputs[0].tolerance->data<double>()[0] / std::exp(64.0);
  EXPECT_GT(relative, 64 * Gamma(64, 0x1p-24));
  EXPECT_LT(relative, 1.2 * 64 * Gamma(66, 0x1p-24));
}

TEST(Tolerance, WhereThereIsNoRuleItIsAnEstimateAndSaysSo) {
  const std::string sorted =
      "    %a = get(%xr) : f32[8,64];\n    %s = sort{dim=1, stable=true, num_keys=1}(%a) : f32[8,64];\n"
      "    %c = slice{start=[0,0], limit=[8,8], strides=[1,1]}(%s) : f32[8,8];\n    _ = swap(%orf, %c) : f32[8,8];\n";
  const Bundle bundle = Made(DotKernel(sorted), {Of(DType::kF32, {8, 64}, "iota"), Of(DType::kF32, {64, 8}, "zeros")});
  EXPECT_TRUE(absl::StrContains(bundle.outputs[0].derivation, "an estimate, no bound")) << bundle.outputs[0].derivation;
  EXPECT_TRUE(absl::StrContains(bundle.outputs[0].derivation, "'sort'")) << bundle.outputs[0].derivation;
}

// A sine one unit away may be another integer.
TEST(Tolerance, IntegersOfInexactFloatsAreAnEstimate) {
  const std::string body =
      "    %a = get(%xr) : f32[8,64];\n    %s = sin(%a) : f32[8,64];\n    %i = convert_element_type{to=i32}(%s) : "
      "i32[8,64];\n    %f = convert_element_type{to=f32}(%i) : f32[8,64];\n"
      "    %c = slice{start=[0,0], limit=[8,8], strides=[1,1]}(%f) : f32[8,8];\n    _ = swap(%orf, %c) : f32[8,8];\n";
  const Bundle bundle = Made(DotKernel(body), {Of(DType::kF32, {8, 64}, "iota"), Of(DType::kF32, {64, 8}, "zeros")});
  EXPECT_TRUE(absl::StrContains(bundle.outputs[0].derivation, "an estimate, no bound")) << bundle.outputs[0].derivation;
}

// However much is summed, an estimate is never more than the largest result.
TEST(Tolerance, AnEstimateStaysFinite) {
  const std::string sorted =
      "    %a = get(%xr) : f32[8,64];\n    %s = sort{dim=1, stable=true, num_keys=1}(%a) : f32[8,64];\n"
      "    %c = slice{start=[0,0], limit=[8,8], strides=[1,1]}(%s) : f32[8,8];\n    _ = swap(%orf, %c) : f32[8,8];\n";
  std::string text = DotKernel(sorted);
  text.replace(text.find("grid [1]"), 8, Cat("grid [1,", Rounds(30000), "]"));
  for (const char* values : {"full(3)", "zeros"}) {
    const Bundle bundle = Made(text, {Of(DType::kF32, {8, 64}, values), Of(DType::kF32, {64, 8}, "zeros")});
    for (const double e : bundle.outputs[0].tolerance->span<double>()) EXPECT_LE(e, 3.01) << values;
  }
}

TEST(Tolerance, IntegersAreExact) {
  const std::string copy = "    %a = get(%xr) : i32[4];\n    _ = swap(%orf, %a) : i32[4];";
  const Bundle bundle = Made(VectorKernel(copy), {Of(DType::kI32, {4}, "iota")});
  EXPECT_FALSE(bundle.outputs[0].tolerance.has_value());
  EXPECT_EQ("exact: the same bits", bundle.outputs[0].derivation);
}

// A key is one element of two words: those of the second, which were never written, are undefined.
TEST(Tolerance, WordsOfAKeyAreUndefinedTogether) {
  const std::string text =
      "pkir 1;\nkernel @k {\n  in %x: key<fry>[2];\n  grid [1];\n  out %o: key<fry>[2];\n"
      "  body @k (%xr: ref<default,key<fry>[2]>, %orf: ref<default,key<fry>[2]>) {\n"
      "    %a = get(%xr.at[0]) : key<fry>[];\n    _ = swap(%orf.at[0], %a) : key<fry>[];\n    return;\n  }\n}\n";
  const Bundle bundle = Made(text, {Of(DType::kU32, {2, 2}, "iota")});
  ASSERT_EQ(1u, bundle.outputs.size());
  ASSERT_TRUE(bundle.outputs[0].undefined.has_value());
  const absl::Span<const std::uint8_t> mask = bundle.outputs[0].undefined->span<std::uint8_t>();
  EXPECT_EQ((std::vector<std::uint8_t>{0, 0, 1, 1}), std::vector<std::uint8_t>(mask.begin(), mask.end()));
}

TEST(Tolerance, UnwrittenMemoryIsUndefined) {
  const std::string half = "    _ = swap(%orf.at[0 +: 2], dense<i32[2][1,2]>) : i32[2];";
  const Bundle bundle = Made(VectorKernel(half), {Of(DType::kI32, {4}, "iota")});
  ASSERT_TRUE(bundle.outputs[0].undefined.has_value());
  const absl::Span<const std::uint8_t> mask = bundle.outputs[0].undefined->span<std::uint8_t>();
  EXPECT_EQ((std::vector<std::uint8_t>{0, 0, 1, 1}), std::vector<std::uint8_t>(mask.begin(), mask.end()));
}

}  // namespace
}  // namespace palladion::golden
