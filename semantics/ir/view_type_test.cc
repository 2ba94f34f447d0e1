// The shapes of accesses against NumPy's own: the table is what NumPy 2 gave for the same index of a zeros((3,4,5,6)),
// entries drawn at random among whole dimensions, slices, steps, scalars and integer arrays.
#include "semantics/ir/view_type.h"

#include "gtest/gtest.h"
#include "semantics/ir/text_test_util.h"

namespace palladion {
namespace {

absl::StatusOr<Type> TypeOfView(std::string_view view, std::string_view type, bool masked = false) {
  absl::StatusOr<Module> module =
      Parse(Cat("pkir 1; kernel @k { grid []; body @b (%r: ref<any,", type, ">) { p(%r", view, "); return; } }"));
  EXPECT_TRUE(module.ok()) << module.status();
  if (!module.ok()) return module.status();
  const Kernel& kernel = module->kernels[0];
  const Region& body = kernel.bodies[0].region;
  return ViewType(kernel, kernel.values[body.params[0].value.index()].type, body.body[0].args[0].transforms, masked);
}

std::string ShapeOf(std::string_view view, std::string_view type, bool masked = false) {
  const absl::StatusOr<Type> result = TypeOfView(view, type, masked);
  return result.ok() ? ToString(*result) : std::string(ToStd(result.status().message()));
}

struct Case {
  std::string_view indices;
  std::string_view shape;
};

TEST(ViewTypeTest, AtHasTheShapesOfNumPy) {
  const Case cases[] = {
      {"dense<i32[1][0]>, 0 +: 2 : 2, dense<i32[3,2][0,0,0,0,0,0]>, *", "[3,2,2,6]"},
      {"0 +: 2, dense<i32[1][0]>, 4 +: 0, 0", "[1,2,0]"},
      {"1 +: 1, 0 +: 1, *, dense<i32[3,2][0,0,0,0,0,0]>", "[1,1,5,3,2]"},
      {"*, 1 +: 0, 4 +: 0, 0 +: 3", "[3,0,0,3]"},
      {"0, *, 0 +: 3 : 2, dense<i32[2][0,0]>", "[2,4,3]"},
      {"dense<i32[3,2][0,0,0,0,0,0]>, 0 +: 2 : 2, *, 1 +: 4", "[3,2,2,5,4]"},
      {"*, 0 +: 2 : 2, 0 +: 4, dense<i32[1][0]>", "[3,2,4,1]"},
      {"0 +: 2, 4 +: 0, 3, *", "[2,0,6]"},
      {"dense<i32[3,2][0,0,0,0,0,0]>, dense<i32[1][0]>, dense<i32[1,2][0,0]>, 2 +: 3", "[3,2,3]"},
      {"dense<i32[2][0,0]>, 1, 0, 4 +: 2", "[2,2]"},
      {"dense<i32[1,2][0,0]>, dense<i32[1][0]>, dense<i32[1,2][0,0]>, dense<i32[2][0,0]>", "[1,2]"},
      {"0 +: 0, *, dense<i32[3,2][0,0,0,0,0,0]>, 0 +: 3 : 2", "[0,4,3,2,3]"},
      {"dense<i32[1][0]>, 0 +: 2 : 2, dense<i32[1,2][0,0]>, dense<i32[3,2][0,0,0,0,0,0]>", "[3,2,2]"},
      {"*, 1 +: 2, dense<i32[1][0]>, 3 +: 3", "[3,2,1,3]"},
      {"2 +: 0, dense<i32[1,2][0,0]>, 5 +: 0, dense<i32[2][0,0]>", "[1,2,0,0]"},
      {"1 +: 2, dense<i32[2][0,0]>, dense<i32[3,2][0,0,0,0,0,0]>, dense<i32[1][0]>", "[2,3,2]"},
      {"*, dense<i32[1,2][0,0]>, dense<i32[1][0]>, 0 +: 3 : 2", "[3,1,2,3]"},
      {"3 +: 0, *, 2, 0 +: 3 : 2", "[0,4,3]"},
      {"1, dense<i32[3,2][0,0,0,0,0,0]>, dense<i32[1,2][0,0]>, 3 +: 1", "[3,2,1]"},
      {"dense<i32[3,2][0,0,0,0,0,0]>, *, dense<i32[2][0,0]>, 0 +: 3 : 2", "[3,2,4,3]"},
      {"dense<i32[3,2][0,0,0,0,0,0]>, *, dense<i32[2][0,0]>, dense<i32[3,2][0,0,0,0,0,0]>", "[3,2,4]"},
      {"dense<i32[1][0]>, dense<i32[3,2][0,0,0,0,0,0]>, 1, 1 +: 1", "[3,2,1]"},
      {"2, 0, dense<i32[1,2][0,0]>, 2 +: 1", "[1,2,1]"},
      {"dense<i32[2][0,0]>, *, 0 +: 3 : 2, dense<i32[3,2][0,0,0,0,0,0]>", "[3,2,4,3]"},
      {"*, dense<i32[1][0]>, 1 +: 4, 0 +: 3 : 2", "[3,1,4,3]"},
      {"*, 3 +: 0, *, dense<i32[3,2][0,0,0,0,0,0]>", "[3,0,5,3,2]"},
      {"dense<i32[3,2][0,0,0,0,0,0]>, dense<i32[3,2][0,0,0,0,0,0]>, dense<i32[3,2][0,0,0,0,0,0]>, 3 +: 3", "[3,2,3]"},
      {"*, 0, 3, 0 +: 3 : 2", "[3,3]"},
      {"2 +: 1, *, 4 +: 0, 0 +: 3 : 2", "[1,4,0,3]"},
      {"*, 2 +: 2, *, 4 +: 1", "[3,2,5,1]"},
      {"dense<i32[3,2][0,0,0,0,0,0]>, 0 +: 2 : 2, dense<i32[2][0,0]>, dense<i32[1][0]>", "[3,2,2]"},
      {"1 +: 1, 3 +: 0, dense<i32[1,2][0,0]>, dense<i32[1,2][0,0]>", "[1,0,1,2]"},
      {"dense<i32[1,2][0,0]>, dense<i32[2][0,0]>, 0 +: 1, dense<i32[1][0]>", "[1,2,1]"},
      {"dense<i32[2][0,0]>, dense<i32[1,2][0,0]>, 0 +: 3 : 2, *", "[1,2,3,6]"},
      {"*, 2, 0 +: 3 : 2, *", "[3,3,6]"},
      {"*, *, dense<i32[2][0,0]>, 1 +: 5", "[3,4,2,5]"},
      {"*, dense<i32[1][0]>, 0 +: 3 : 2, dense<i32[1][0]>", "[1,3,3]"},
      {"2, *, *, dense<i32[1][0]>", "[1,4,5]"},
      {"2, 1, dense<i32[3,2][0,0,0,0,0,0]>, 1", "[3,2]"},
      {"*, dense<i32[1,2][0,0]>, dense<i32[1][0]>, *", "[3,1,2,6]"},
  };
  for (const Case& c : cases)
    EXPECT_EQ(ShapeOf(Cat(".at[", c.indices, "]"), "f32[3,4,5,6]"), Cat("f32", c.shape)) << c.indices;
}

TEST(ViewTypeTest, ChainsApplyLeftToRight) {
  EXPECT_EQ(ShapeOf("", "bf16[4,8]"), "bf16[4,8]");
  EXPECT_EQ(ShapeOf(".transpose[2,0,1].at[*, 1, 0 +: 2]", "f32[3,4,5]"), "f32[5,2]");
  EXPECT_EQ(ShapeOf(".at[0, *, *].reshape[10,2].at[9, *]", "f32[3,4,5]"), "f32[2]");
  EXPECT_EQ(ShapeOf(".bitcast(bf16)", "f32[3,4,5]"), "bf16[3,8,5]");
  EXPECT_EQ(ShapeOf(".bitcast(f32).at[0, 1, *]", "i8[3,8,5]"), "f32[5]");
  EXPECT_EQ(ShapeOf(".bitcast(i4)", "i8[8,5]"), "i4[16,5]");
  EXPECT_EQ(ShapeOf(".bitcast(i32)", "f32[5]"), "i32[5]");
  EXPECT_EQ(ShapeOf(".at[1]", "key<fry>[2]"), "key<fry>[]");
  EXPECT_EQ(ShapeOf(".at[1]", "barrier{arrivals=2}[2]"), "ref<any,barrier{arrivals=2}[]>");
}

TEST(ViewTypeTest, OnlyMaskedAccessesPassTheEnd) {
  EXPECT_EQ(ShapeOf(".at[4 +: 8]", "f32[8]", /*masked=*/true), "f32[8]");
  EXPECT_EQ(ShapeOf(".at[9]", "f32[8]", /*masked=*/true), "f32[]");
  EXPECT_NE(ShapeOf(".at[4 +: 8]", "f32[8]").find("expected a slice inside dimension 0"), std::string::npos);
  EXPECT_EQ(ShapeOf(".at[0 +: 8 : 0]", "f32[1]"), "f32[8]");  // one element again and again
  EXPECT_EQ(ShapeOf(".at[8 +: 0]", "f32[8]"), "f32[0]");
  EXPECT_NE(ShapeOf(".at[9 +: 0]", "f32[8]").find("found 9 +: 0"), std::string::npos);
  EXPECT_NE(ShapeOf(".at[0 +: 2 : 9223372036854775807]", "f32[8]").find("expected a slice inside"), std::string::npos);
  EXPECT_EQ(ShapeOf(".at[0 +: 4 : 2]", "f32[7]"), "f32[4]");
  EXPECT_NE(ShapeOf(".at[0 +: 4 : 2]", "f32[6]").find("expected a slice inside"), std::string::npos);
}

TEST(ViewTypeTest, AnAccessIsNoLargerThanAnArray) {
  const absl::StatusOr<Type> large = TypeOfView(".at[0 +: 2147483647, 0 +: 2147483647]", "f32[8,8]", /*masked=*/true);
  EXPECT_EQ(large.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_NE(ShapeOf(".at[1].bitcast(i32)", "key<fry>[2]").find("random_unwrap"), std::string::npos);
  EXPECT_NE(ShapeOf(".reshape[2]", "sem[2]").find("expected only .at on a ref of sem"), std::string::npos);
}

}  // namespace
}  // namespace palladion
