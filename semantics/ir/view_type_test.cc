// The shapes of accesses against NumPy's own: the table is what NumPy 2 gave for the same index of a zeros((3,4,5,6)),
// entries drawn at random among whole dimensions, slices, steps, scalars and integer arrays.
#include "semantics/ir/view_type.h"

#include "gtest/gtest.h"
#include "semantics/ir/text_test_util.h"

namespace palladion {
namespace {

absl::StatusOr<Type> TypeOfView(std::string_view view, std::string_view type) {
  absl::StatusOr<Module> module =
      Parse(Cat("pkir 1; kernel @k { grid []; body @b (%r: ref<any,", type, ">) { p(%r", view, "); return; } }"));
  EXPECT_TRUE(module.ok()) << module.status();
  if (!module.ok()) return module.status();
  const Kernel& kernel = module->kernels[0];
  const Region& body = kernel.bodies[0].region;
  return ViewType(kernel, kernel.values[body.params[0].value.index()].type, body.body[0].args[0].transforms);
}

std::string ShapeOf(std::string_view view, std::string_view type) {
  const absl::StatusOr<Type> result = TypeOfView(view, type);
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

// What is touched outside is found where it is touched.
TEST(ViewTypeTest, ConstantsMayLeaveTheDimension) {
  EXPECT_EQ(ShapeOf(".at[4 +: 8]", "f32[8]"), "f32[8]");
  EXPECT_EQ(ShapeOf(".at[9]", "f32[8]"), "f32[]");  // a point is looked at where it is reached
  EXPECT_EQ(ShapeOf(".at[-1]", "f32[8]"), "f32[]");
  EXPECT_EQ(ShapeOf(".at[-1 +: 4]", "f32[8]"), "f32[4]");
  EXPECT_EQ(ShapeOf(".at[1 +: 4 : 3]", "f32[8]"), "f32[4]");
  EXPECT_EQ(ShapeOf(".at[0 +: 8 : 0]", "f32[1]"), "f32[8]");  // one element again and again
  EXPECT_EQ(ShapeOf(".at[8 +: 0]", "f32[8]"), "f32[0]");
  EXPECT_EQ(ShapeOf(".at[9 +: 0]", "f32[8]"), "f32[0]");
  EXPECT_NE(ShapeOf(".at[1 +: 2 : 9223372036854775806]", "f32[8]").find("reaches further than"), std::string::npos);
  EXPECT_NE(ShapeOf(".at[0 +: 3 : 9223372036854775807]", "f32[8]").find("reaches further than"), std::string::npos);
  EXPECT_EQ(ShapeOf(".at[0 +: 4 : 2]", "f32[7]"), "f32[4]");
  EXPECT_EQ(ShapeOf(".at[0 +: 4 : 2]", "f32[6]"), "f32[4]");
  EXPECT_EQ(ShapeOf(".at[0 +: 64]", "f32[48]"), "f32[64]");
  EXPECT_EQ(ShapeOf(".at[1 +: 4 : 2]", "f32[7]"), "f32[4]");
}

TEST(ViewTypeTest, AnAccessIsNoLargerThanAnArray) {
  const absl::StatusOr<Type> large = TypeOfView(".at[0 +: 2147483647, 0 +: 2147483647]", "f32[8,8]");
  EXPECT_EQ(large.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_NE(ShapeOf(".at[1].bitcast(i32)", "key<fry>[2]").find("random_unwrap"), std::string::npos);
  EXPECT_NE(ShapeOf(".reshape[2]", "sem[2]").find("expected only .at, .cluster, .peer and .multicast on a ref of sem"),
            std::string::npos);
}

TEST(ViewTypeTest, Layouts) {
  EXPECT_EQ(ShapeOf(".unswizzle(128).untile[8,64].at[1, *, 0 +: 64]", "f16[2,8,2,8,64]"), "f16[64,64]");
  EXPECT_EQ(ShapeOf(".tile[8,64].swizzle(128)", "f16[3,64,128]"), "f16[3,8,2,8,64]");
  EXPECT_EQ(ShapeOf(".untile[8]", "f16[4,8]"), "f16[32]");
  EXPECT_EQ(ShapeOf(".expand_batch[2,3]", "f32[5,12]"), "f32[2,3,5,2]");
  EXPECT_EQ(ShapeOf(".collapse_batch", "f32[2,3,5,2]"), "f32[5,12]");
  EXPECT_EQ(ShapeOf(".alias{dtype=f16, shape=[4,8], offset=64}.at[1, *]", "i8[128]"), "f16[8]");
  EXPECT_EQ(ShapeOf(".alias{dtype=f16, shape=[128,16], offset=4, layout=default, packing=2}", "i32[128,12]"),
            "f16[128,16]");
  EXPECT_EQ(ShapeOf(".cluster{dims=[\"x\"], idxs=[1]}.multicast{axes=[\"y\"]}.peer(1:i32, logical)", "f32[4]"),
            "f32[4]");
  EXPECT_EQ(ShapeOf(".cluster{dims=[\"x\", \"y\"]}[3, 0].at[1]", "f32[4]"), "f32[]");
  EXPECT_EQ(ShapeOf(".cluster{dims=[\"x\"], idxs=[1]}.at[0]", "barrier[2]"), "ref<any,barrier[]>");
}

TEST(ViewTypeTest, LayoutsThatBreakARule) {
  const struct {
    std::string_view view, type, message;
  } cases[] = {
      {".untile[8,64]", "f16[8,1,8,32]",
       "at least 4 dimensions that end in the tile [8,64] for .untile, found [8,1,8,32]"},
      {".untile[8,64]", "f16[8,64]", "at least 4 dimensions"},
      {".untile[0]", "f16[8,0]", "expected sizes 1 or more in .untile, found [0]"},
      {".tile[8]", "f16[12]", "that the tile [8] divides, found [12]"},
      {".tile[2,2]", "f16[12]", "at least 2 dimensions for .tile[2,2]"},
      {".unswizzle(48)", "f16[8,8]", "expected 16, 32, 64 or 128 bytes in .unswizzle, found 48"},
      {".swizzle(0)", "f16[8,8]", "expected 16, 32, 64 or 128 bytes in .swizzle, found 0"},
      {".expand_batch[0]", "f32[5,12]", "expected sizes 1 or more in .expand_batch, found [0]"},
      {".expand_batch[-2,-2]", "f32[5,12]", "expected sizes 1 or more in .expand_batch, found [-2,-2]"},
      {".expand_batch[5]", "f32[5,12]", "the second a multiple of 5"},
      {".expand_batch[68719476736,4]", "f32[5,12]", "2^36"},
      {".collapse_batch", "f32[5]", "at least two dimensions for .collapse_batch"},
      {".alias{dtype=f16, shape=[4,8], offset=65}", "i8[128]",
       "the 128 bytes of the union, found 64 bytes from byte 65"},
      {".alias{dtype=f16, shape=[4,8], offset=0}", "f32[128]",
       "expected .alias on a ref of bytes, i8[n]; found f32[128]"},
      {".alias{dtype=f17, shape=[4,8], offset=0}", "i8[128]", "expected .alias{dtype=f16"},
      {".alias{dtype=f16, shape=[-4], offset=0}", "i8[128]", "expected .alias{dtype=f16"},
      {".alias{dtype=f16, shape=[4], offset=0, layout=\"x\"}", "i8[128]", "tensor memory"},
      {".alias{dtype=f32, shape=[128,8], offset=4, layout=default}", "i32[128,8]",
       "expected a member inside the 8 columns of the union, found 8 columns from column 4"},
      {".alias{dtype=f32, shape=[128,8], offset=0, layout=native}", "i32[128,8]", "expected the layout"},
      {".alias{dtype=f32, shape=[96,8], offset=0, layout=default}", "i32[128,8]", "not divisible into tiles"},
      {".alias{dtype=u2, shape=[128,32], offset=0, layout=sparse_metadata}", "i32[128,8]", "allocate it by itself"},
      {".cluster{dims=[\"x\"], idxs=[]}", "f32[4]", "as many names as integers"},
      {".cluster{dims=[\"x\"]}", "f32[4]", "[%index, ...] where one is computed"},
      {".cluster{dims=[\"x\"], idxs=[1]}[1]", "f32[4]", "found .cluster{dims=[\"x\"], idxs=[1]}[...]"},
      {".cluster{dims=[\"x\", \"y\"]}[1]", "f32[4]", "as many names as integers"},
      {".cluster{dims=[\"x\"]}[0 +: 2]", "f32[4]", "expected an integer scalar as index 0 of .cluster"},
      {".cluster{dims=[\"x\"]}[dense<i32[2][1,2]>]", "f32[4]", "expected an integer scalar as index 0 of .cluster"},
      {".multicast{}", "f32[4]", "expected .multicast{axes="},
      {".untile[2]", "sem[2,2]", "expected only .at, .cluster, .peer and .multicast on a ref of sem, found .untile"},
  };
  for (const auto& c : cases) {
    EXPECT_NE(ShapeOf(c.view, c.type).find(c.message), std::string::npos) << c.view << ": " << ShapeOf(c.view, c.type);
  }
}

}  // namespace
}  // namespace palladion
