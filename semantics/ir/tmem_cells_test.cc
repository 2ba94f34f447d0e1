#include "semantics/ir/tmem_cells.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "semantics/ir/text_test_util.h"
#include "semantics/ir/tmem_layout.h"

namespace palladion {
namespace {

// Each cell of the columns that an array takes has as many elements as the packing says.
TEST(TmemCells, AreAllTaken) {
  const Type types[] = {Tmem(DType::kF32, {256, 24}),
                        Tmem(DType::kF16, {128, 24}, "{packing=2}"),
                        Tmem(DType::kF16, {64, 96}, "{layout=half_lane, packing=2, tile_columns=32}"),
                        Tmem(DType::kF32, {128, 32}, "{layout=m64_collective}"),
                        Tmem(DType::kF8E8M0FNU, {256, 12}, "{layout=scales}"),
                        Tmem(DType::kF8E8M0FNU, {512, 8}, "{layout=scales_m64_collective}"),
                        Tmem(DType::kU2, {256, 32}, "{layout=sparse_metadata}")};
  for (const Type& type : types) {
    SCOPED_TRACE(ToString(type));
    const absl::StatusOr<TensorCells> cells = TmemCells(type);
    ASSERT_TRUE(cells.ok()) << cells.status();
    std::vector<std::int64_t> elements(static_cast<std::size_t>(kTmemLanes * TmemColumns(type)));
    for (const std::int32_t cell : cells->of_element) ++elements.at(static_cast<std::size_t>(cell));
    EXPECT_EQ(elements, std::vector<std::int64_t>(elements.size(), TmemLayoutOf(type)->packing));
  }
}

// A size in a text may be any: no table of cells is made for one that is far over the limit.
TEST(TmemCells, OfAnArrayFarTooLargeAreRefused) {
  const Type type = Tmem(DType::kF8E8M0FNU, {std::int64_t{1} << 31, 8}, "{layout=scales}");
  EXPECT_EQ(TmemCells(type).status().code(), absl::StatusCode::kResourceExhausted);
}

// Lane, and column, of an element: the table of docs/spec/kernel-text.md, "Tensor memory", by hand.
TEST(TmemCells, OfSomeElements) {
  using Cell = std::pair<std::int64_t, std::int64_t>;
  const auto cell = [](const Type& type, std::int64_t r, std::int64_t c, std::int64_t copy = 0) {
    const TensorCells cells = *TmemCells(type);
    const std::int32_t at = cells.of_element[static_cast<std::size_t>(r * type.shape[1] + c) * cells.copies +
                                             static_cast<std::size_t>(copy)];
    return Cell{at % kTmemLanes, at / kTmemLanes};
  };
  EXPECT_EQ(cell(Tmem(DType::kF32, {256, 24}), 130, 5), (Cell{2, 24 + 5}));
  EXPECT_EQ(cell(Tmem(DType::kF16, {128, 24}, "{packing=2}"), 7, 5), (Cell{7, 2}));
  const Type half = Tmem(DType::kF32, {64, 96}, "{layout=half_lane, tile_columns=32}");
  EXPECT_EQ(cell(half, 20, 3), (Cell{36, 3}));             // row 4 of the second 16
  EXPECT_EQ(cell(half, 20, 32 + 16 + 3), (Cell{52, 19}));  // the second half of the second tile, which has 16 columns
  EXPECT_EQ(cell(Tmem(DType::kF32, {64, 32}, "{layout=m64_collective}"), 20, 16 + 3), (Cell{84, 3}));
  const Type scales = Tmem(DType::kF8E8M0FNU, {128, 8}, "{layout=scales}");
  EXPECT_EQ(cell(scales, 70, 6, 0), (Cell{6, 4 + 2}));
  EXPECT_EQ(cell(scales, 70, 6, 3), (Cell{102, 4 + 2}));
  const Type pair = Tmem(DType::kF8E8M0FNU, {256, 8}, "{layout=scales_m64_collective}");
  EXPECT_EQ(cell(pair, 128 + 70, 6, 1), (Cell{102, 4 + 2}));
  EXPECT_EQ(cell(Tmem(DType::kU2, {128, 32}, "{layout=sparse_metadata}"), 59, 17), (Cell{47, 1}));
}

}  // namespace
}  // namespace palladion
