// Layouts of tensor memory: what the attributes of a ref say, and columns. Columns and cells are held against JAX's own
// in python/tests/test_tensor_memory.py.
#include "semantics/ir/tmem_layout.h"

#include <string>

#include "gtest/gtest.h"
#include "semantics/base/cat.h"
#include "semantics/ir/text_test_util.h"

namespace palladion {
namespace {

std::string ErrorOf(const Type& type) {
  const absl::StatusOr<TmemLayout> layout = TmemLayoutOf(type);
  if (!layout.ok()) return std::string(ToStd(layout.status().message()));
  return std::string(ToStd(CheckTmemShape(*layout, type).message()));
}

TEST(TmemLayout, AbsentAttributesAreTheDefault) {
  const absl::StatusOr<TmemLayout> layout = TmemLayoutOf(Tmem(DType::kF32, {128, 256}));
  ASSERT_TRUE(layout.ok());
  EXPECT_EQ(*layout, TmemLayout{});
  const absl::StatusOr<TmemLayout> packed =
      TmemLayoutOf(Tmem(DType::kF16, {128, 256}, "{layout=default, packing=2, collective=true}"));
  ASSERT_TRUE(packed.ok()) << packed.status();
  EXPECT_EQ(packed->packing, 2);
  EXPECT_TRUE(packed->collective);
}

TEST(TmemLayout, ColumnsCountPackingAndCopies) {
  EXPECT_EQ(TmemColumns(Tmem(DType::kF32, {128, 256})), 256);
  EXPECT_EQ(TmemColumns(Tmem(DType::kF16, {128, 256})), 256);
  EXPECT_EQ(TmemColumns(Tmem(DType::kF16, {128, 256}, "{packing=2}")), 128);
  EXPECT_EQ(TmemColumns(Tmem(DType::kF32, {64, 128}, "{layout=half_lane}")), 64);
  EXPECT_EQ(TmemColumns(Tmem(DType::kF32, {64, 128}, "{layout=m64_collective, collective=true}")), 64);
  EXPECT_EQ(TmemColumns(Tmem(DType::kF8E8M0FNU, {128, 8}, "{layout=scales}")), 8);
  EXPECT_EQ(TmemColumns(Tmem(DType::kF8E8M0FNU, {256, 8}, "{layout=scales_m64_collective}")), 8);
  EXPECT_EQ(TmemColumns(Tmem(DType::kU2, {128, 32}, "{layout=sparse_metadata}")), 2);
}

TEST(TmemLayout, WrongAttributesAreNamed) {
  const auto error = [](const std::string& attrs) { return ErrorOf(Tmem(DType::kF16, {128, 64}, attrs)); };
  EXPECT_EQ(error("{layout=native}"),
            "expected the layout of tensor memory, one of default half_lane m64_collective scales "
            "scales_m64_collective sparse_metadata; found native");
  EXPECT_EQ(error("{packing=3}"), "expected packing of tensor memory as a power of two, at most 32; found 3");
  EXPECT_EQ(error("{layout=scales, packing=2}"), "expected packing=4, which layout=scales has, or none; found 2");
  EXPECT_EQ(error("{tile_columns=16}"),
            "expected no tile_columns with layout=default, which decides its own; found 16");
  EXPECT_EQ(error("{collective=1}"), "expected collective=true or collective=false, found 1");
  EXPECT_EQ(error("{lanes=64}"), "expected layout, packing, tile_columns or collective of tensor memory, found lanes");
  EXPECT_EQ(error("{packing=4}"), "expected 1 or 2 elements of f16 in a cell of 32 bits; found 4");
  EXPECT_EQ(error("{packing=2}"), "");
}

TEST(TmemLayout, ShapesAreThoseThatTilesFill) {
  EXPECT_EQ(ErrorOf(Tmem(DType::kF32, {64, 64})),
            "[64,64] is not divisible into tiles of shape [128,1] (layout=default)");
  EXPECT_EQ(ErrorOf(Tmem(DType::kF32, {2, 128, 64})), "TMEM can only represent 2D shapes, got [2,128,64]");
  EXPECT_EQ(ErrorOf(Tmem(DType::kF32, {64, 24}, "{layout=half_lane}")), "Columns must be a multiple of 16, got: 24");
  EXPECT_EQ(ErrorOf(Tmem(DType::kF32, {64, 96}, "{layout=half_lane, tile_columns=32}")), "");
}

TEST(TmemLayout, TheVerifierReadsTheAttributes) {
  const auto scope = [](std::string_view attrs) {
    return VerifyErrorOf(
        KernelText(Cat("    run_scoped{collective_axes=[]}() (%t: ref<tmem,f32[128,32] ", attrs, ">) { return; };")));
  };
  EXPECT_EQ(scope("{packing=1}"), "");
  EXPECT_NE(scope("{layout=native}").find("expected the layout of tensor memory"), std::string::npos);
}

}  // namespace
}  // namespace palladion
