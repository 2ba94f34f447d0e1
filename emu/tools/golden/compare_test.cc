// What passes and what does not, element by element; and which mistake is named.
#include "emu/tools/golden/compare.h"

#include <gtest/gtest.h>

#include <limits>

#include "absl/strings/match.h"
#include "emu/testing/kernel_test_util.h"
#include "emu/tools/golden/comparison.h"
#include "emu/tools/golden/error_map.h"
#include "emu/values.h"

namespace palladion::golden {
namespace {

Tensor Floats(std::string_view text, std::vector<std::int64_t> shape = {8}) {
  absl::StatusOr<Tensor> tensor = TensorFromText(DType::kF32, shape, text);
  EXPECT_TRUE(tensor.ok()) << tensor.status();
  return *std::move(tensor);
}

Bundle Sums(std::string_view x = "iota", std::string_view y = "zeros") {
  absl::StatusOr<Bundle> bundle = MakeBundle(AddKernel(), {Floats(x), Floats(y)}, {}, palladion::ToJson);
  EXPECT_TRUE(bundle.ok()) << bundle.status();
  return *std::move(bundle);
}

Comparison Held(const Bundle& bundle, Tensor found, const ComparisonOptions& options = {}) {
  absl::StatusOr<Comparison> comparison = Compare(bundle, {{"o", std::move(found)}}, options);
  EXPECT_TRUE(comparison.ok()) << comparison.status();
  return *std::move(comparison);
}

TEST(Compare, TheSameIsWithinTolerance) {
  const Bundle bundle = Sums();
  const Comparison comparison = Held(bundle, bundle.outputs[0].values);
  EXPECT_EQ(ExitCode::kClean, ExitCodeOf(comparison));
  EXPECT_EQ(0, comparison.outputs[0].differing);
  EXPECT_EQ(0, comparison.causes.tried);
}

TEST(Compare, CountsAndNamesWhatDiffers) {
  const Bundle bundle = Sums();
  Tensor found = bundle.outputs[0].values;
  found.data<float>()[3] = 3.5f;
  found.data<float>()[6] = 7.0f;
  const Comparison comparison = Held(bundle, std::move(found));
  const OutputComparison& one = comparison.outputs[0];
  EXPECT_EQ(ExitCode::kDefect, ExitCodeOf(comparison));
  EXPECT_EQ(2, one.over);
  EXPECT_EQ(3, one.first);
  EXPECT_EQ(1.0, one.largest_absolute);
  EXPECT_EQ(std::uint64_t{1} << 21, one.largest_ulps);
  ASSERT_FALSE(comparison.stories[0].empty());
  EXPECT_EQ("o[3]", comparison.stories[0][0].element);
  EXPECT_TRUE(absl::StrContains(comparison.stories[0][0].why, "written by swap")) << comparison.stories[0][0].why;
  EXPECT_TRUE(absl::StrContains(comparison.stories[0][0].why, "program (0)")) << comparison.stories[0][0].why;
}

TEST(Compare, NaNMeetsNaNAndAnInfinityTheSame) {
  const Bundle bundle = Sums("[nan,inf,-inf,0,1,2,3,4]", "[0,0,0,0,0,0,0,0]");
  Tensor found = bundle.outputs[0].values;
  found.data<float>()[0] = -std::numeric_limits<float>::quiet_NaN();
  found.data<float>()[2] = std::numeric_limits<float>::infinity();
  found.data<float>()[4] = std::numeric_limits<float>::quiet_NaN();
  const OutputComparison one = Held(bundle, std::move(found)).outputs[0];
  EXPECT_EQ(2, one.over);
  EXPECT_EQ(1, one.infinity_differs);
  EXPECT_EQ(1, one.nan_differs);
  EXPECT_EQ(Held::kWithin, one.held[0]);
}

TEST(Compare, TheSignOfAZeroPassesUnlessItIsRequested) {
  const Bundle bundle = Sums();
  Tensor found = bundle.outputs[0].values;
  found.data<float>()[0] = -0.0f;
  EXPECT_EQ(1, Held(bundle, found).outputs[0].zero_sign_differs);
  EXPECT_EQ(0, Held(bundle, found).outputs[0].over);
  EXPECT_EQ(1, Held(bundle, found, {.compare = {.signed_zero = true}}).outputs[0].over);
}

TEST(Compare, AnUndefinedElementIsNeverAnError) {
  Bundle bundle = Sums();
  bundle.outputs[0].undefined.emplace(DType::kBool, std::vector<std::int64_t>{8});
  bundle.outputs[0].undefined->FillWithZeroBytes();
  bundle.outputs[0].undefined->data<std::uint8_t>()[5] = 1;
  Tensor found = bundle.outputs[0].values;
  found.data<float>()[5] = 1e30f;
  const OutputComparison one = Held(bundle, std::move(found)).outputs[0];
  EXPECT_EQ(0, one.over);
  EXPECT_EQ(1, one.undefined);
}

TEST(Compare, WhatDoesNotFitIsSaidAndTheOthersAreCompared) {
  const Bundle bundle = Sums();
  absl::StatusOr<Comparison> comparison = Compare(bundle, {{"o", Floats("zeros", {4})}, {"p", Floats("zeros")}}, {});
  ASSERT_TRUE(comparison.ok()) << comparison.status();
  EXPECT_EQ(ExitCode::kMalformed, ExitCodeOf(*comparison));
  EXPECT_EQ("output 'o': expected f32[8]; found f32[4]", comparison->outputs[0].error.message());
  EXPECT_EQ(std::vector<std::string>{"p"}, comparison->unknown);
  comparison = Compare(bundle, {{"o", bundle.outputs[0].values}, {"o", Floats("zeros")}}, {});
  ASSERT_TRUE(comparison.ok()) << comparison.status();
  EXPECT_EQ("output 'o' is given 2 times: expected it once", comparison->outputs[0].error.message());
  comparison = Compare(bundle, {}, {});
  ASSERT_TRUE(comparison.ok()) << comparison.status();
  EXPECT_TRUE(absl::StrContains(ToText(*comparison), "output 'o' is missing: expected f32[8] as o.npy"));
}

// The first four elements are those of the second block of x.
TEST(Compare, NamesAnIndexThatIsOneTooLarge) {
  const Bundle bundle = Sums();
  const Comparison comparison = Held(bundle, Floats("[4,5,6,7,4,5,6,7]"));
  ASSERT_FALSE(comparison.causes.likely.empty());
  EXPECT_EQ("off-by-one block index", comparison.causes.likely[0].kind);
  EXPECT_EQ(4, comparison.causes.likely[0].explained);
  EXPECT_EQ(0, comparison.causes.likely[0].spoiled);
  EXPECT_TRUE(PrepareText(comparison.causes.likely[0].text).ok());
}

// The dimension that vmap made has places; what the body calls axis 0 stays the second one.
TEST(Compare, NamesAPlaceOfADimensionThatVmapMade) {
  const std::string text =
      "pkir 1;\nkernel @k {\n"
      "  in %x: f32[2,8] block (sq,4) map (%i: i32[], %j: i32[]) { return %i, %j; };\n  grid [2,2] vmapped [0];\n"
      "  out %o: f32[2,8] block (sq,4) map (%i: i32[], %j: i32[]) { return %i, %j; };\n"
      "  body @k (%xr: ref<default,f32[4]>, %orf: ref<default,f32[4]>) {\n"
      "    %p = program_id{axis=0}() : i32[];\n    %f = convert_element_type{to=f32}(%p) : f32[];\n"
      "    %a = get(%xr) : f32[4];\n    %c = add(%a, %f) : f32[4];\n    _ = swap(%orf, %c) : f32[4];\n"
      "    return;\n  }\n}\n";
  const absl::StatusOr<Bundle> bundle = MakeBundle(text, {Floats("iota", {2, 8})}, {}, palladion::ToJson);
  ASSERT_TRUE(bundle.ok()) << bundle.status();
  Tensor found = bundle->outputs[0].values;
  for (int i = 8; i < 12; ++i) found.data<float>()[i] = 99;
  const Comparison comparison = Held(*bundle, std::move(found));
  EXPECT_EQ(0, comparison.causes.failed);
  ASSERT_FALSE(comparison.causes.likely.empty());
  EXPECT_EQ("the block of 'o' of program (1, 0) was not written, or the program did not run",
            comparison.causes.likely[0].what);
  EXPECT_EQ(4, comparison.causes.likely[0].explained);
  EXPECT_EQ(0, comparison.causes.likely[0].spoiled);
}

TEST(Compare, NoHypothesisExplainsWhatIsArbitrary) {
  const Bundle bundle = Sums();
  const Comparison comparison = Held(bundle, Floats("[9,1,7,3,-4,5,60,7]"));
  EXPECT_TRUE(comparison.causes.likely.empty()) << ToText(comparison);
  EXPECT_GT(comparison.causes.tried, 10);
}

TEST(Compare, TheBoundOfWorkIsKeptAndReported) {
  const Bundle bundle = Sums();
  const Comparison comparison = Held(bundle, Floats("[9,1,7,3,-4,5,60,7]"), {.causes = {.most = 3}});
  EXPECT_EQ(3, comparison.causes.tried + comparison.causes.failed);
  EXPECT_GT(comparison.causes.left, 0);
  EXPECT_TRUE(absl::StrContains(ToText(comparison), "not begun"));
}

TEST(Compare, AnErrorMapIsAPicture) {
  const Bundle bundle = Sums();
  const Comparison comparison = Held(bundle, Floats("[4,5,6,7,4,5,6,7]"));
  const absl::StatusOr<std::string> png = ErrorMapPng(comparison.outputs[0], bundle.outputs[0].operand.shape);
  ASSERT_TRUE(png.ok()) << png.status();
  EXPECT_EQ("\x89PNG\r\n", png->substr(0, 6));
  const absl::StatusOr<std::string> page = ComparisonPage(bundle, comparison);
  ASSERT_TRUE(page.ok()) << page.status();
  EXPECT_TRUE(absl::StrContains(*page, "data:image/png;base64,"));
  EXPECT_TRUE(absl::StrContains(*page, "off-by-one block index"));
}

}  // namespace
}  // namespace palladion::golden
