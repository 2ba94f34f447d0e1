// Turns of the port that loads and stores take: against the answers of JAX 0.10.2's plan_tiled_transfer, and by hand.
#include "emu/chip/layouts/bank_conflicts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "emu/run/watch/observed.h"
#include "emu/timing/mosaic_gpu/kernels_test_util.h"

namespace palladion::timing::mosaic_gpu::test {
namespace {

using layouts::InMemory;
using layouts::LayoutName;
using layouts::SharedTransfer;
using layouts::SharedTransfersOf;
using layouts::Spread;
using layouts::SpreadOf;
using layouts::TransferOf;

enum class Plan { kInOrder, kStaggered, kNone };

// A ref of 128 x 128 in tiles of 8 rows of `swizzle` bytes, of 128 bytes where nothing is swizzled.
InMemory Tiles(int bits, std::int64_t swizzle) {
  constexpr std::int64_t kSize = 128, kRows = 8;
  const std::int64_t columns = (swizzle == 16 ? 128 : swizzle) * 8 / bits;
  InMemory memory{.swizzle = swizzle, .bits = bits};
  memory.dims = {{.size = kSize, .stride = columns, .tile = kRows, .tile_stride = kRows * kSize},
                 {.size = kSize, .stride = 1, .tile = columns, .tile_stride = kRows * columns}};
  return memory;
}

DType TypeOf(int bits) { return bits == 8 ? DType::kI8 : bits == 16 ? DType::kF16 : DType::kF32; }

struct Row {
  LayoutName layout;
  std::int64_t vector;
  int bits;
  std::int64_t swizzle;
  Plan plan;
};

// What plan_tiled_transfer(shape, strides, layout, bits, swizzle) answers: TrivialTransferPlan, StaggeredTransferPlan,
// or that it finds none.
constexpr Row kJaxAnswers[] = {
    {LayoutName::kWgmma, 0, 8, 16, Plan::kNone},
    {LayoutName::kWgmma, 0, 8, 32, Plan::kInOrder},
    {LayoutName::kWgmma, 0, 8, 128, Plan::kInOrder},
    {LayoutName::kWgmma, 0, 16, 16, Plan::kNone},
    {LayoutName::kWgmma, 0, 16, 32, Plan::kInOrder},
    {LayoutName::kWgmma, 0, 16, 64, Plan::kInOrder},
    {LayoutName::kWgmma, 0, 16, 128, Plan::kInOrder},
    {LayoutName::kWgmma, 0, 32, 16, Plan::kNone},
    {LayoutName::kWgmma, 0, 32, 32, Plan::kInOrder},
    {LayoutName::kWgmma, 0, 32, 64, Plan::kStaggered},
    {LayoutName::kWgmma, 0, 32, 128, Plan::kStaggered},
    {LayoutName::kTcgen05, 0, 16, 16, Plan::kNone},
    {LayoutName::kTcgen05, 0, 16, 128, Plan::kInOrder},
    {LayoutName::kTcgen05, 0, 32, 32, Plan::kInOrder},
    {LayoutName::kTcgen05, 0, 32, 64, Plan::kStaggered},
    {LayoutName::kTcgen05, 0, 32, 128, Plan::kStaggered},
    {LayoutName::kTmemNative, 2, 16, 128, Plan::kNone},
    {LayoutName::kTmemNative, 2, 32, 16, Plan::kNone},
    {LayoutName::kTmemNative, 2, 32, 128, Plan::kStaggered},
    {LayoutName::kTmemNative, 4, 16, 64, Plan::kStaggered},
    {LayoutName::kTmemNative, 4, 32, 128, Plan::kInOrder},
    {LayoutName::kWgmma8Bit, 0, 8, 128, Plan::kInOrder},
    {LayoutName::kWgmma8Bit, 0, 16, 64, Plan::kStaggered},
    {LayoutName::kWgmma8Bit, 0, 32, 32, Plan::kNone},
    {LayoutName::kWgmma8Bit, 0, 32, 64, Plan::kInOrder},
    {LayoutName::kWgmmaUpcast2x, 0, 8, 64, Plan::kInOrder},
};

TEST(BankConflicts, TheOrderOfRegistersIsJaxs) {
  for (const Row& row : kJaxAnswers) {
    SCOPED_TRACE(Cat("layout ", static_cast<int>(row.layout), ", ", row.bits, " bits, swizzle ", row.swizzle));
    const auto spread = SpreadOf({row.layout, row.vector}, ArrayType(TypeOf(row.bits), {128, 128}));
    ASSERT_TRUE(spread.has_value());
    const auto transfer = TransferOf(*spread, Tiles(row.bits, row.swizzle), {.stores = true});
    ASSERT_TRUE(transfer.has_value());
    EXPECT_EQ(transfer->refused, row.plan == Plan::kNone);
    EXPECT_EQ(transfer->selects > 0, row.plan == Plan::kStaggered);
    EXPECT_EQ(transfer->turns > transfer->least, row.plan == Plan::kNone);
  }
}

// Rows of 128 bytes: eight rows of a warp are in the same four banks, until a swizzle of 128 moves them apart.
TEST(BankConflicts, WithoutASwizzleEightRowsMeetInEachBank) {
  const auto spread = SpreadOf({LayoutName::kWgmma}, ArrayType(DType::kF16, {64, 64}));
  ASSERT_TRUE(spread.has_value());
  InMemory rows;
  rows.bits = 16;
  rows.dims = {{.size = 64, .stride = 64}, {.size = 64, .stride = 1}};
  const auto apart = TransferOf(*spread, rows, {.searches = false});
  ASSERT_TRUE(apart.has_value());
  EXPECT_EQ(apart->least, 64 * 64 / 2 / 32);
  EXPECT_EQ(apart->turns, 8 * apart->least);
  rows.swizzle = 128;
  EXPECT_EQ(TransferOf(*spread, rows, {.searches = false})->turns, apart->least);
  rows.swizzle = 32;  // two pieces of 16 bytes change places: two of the eight rows are apart
  EXPECT_EQ(TransferOf(*spread, rows, {.searches = false})->turns, 4 * apart->least);
}

TEST(BankConflicts, VectorsThatFollowEachOtherHaveNone) {
  for (const DType type : {DType::kI8, DType::kF16, DType::kF32}) {
    const auto spread = SpreadOf({LayoutName::kStrided}, ArrayType(type, {64, 64}));
    ASSERT_TRUE(spread.has_value());
    InMemory rows;
    rows.bits = Info(type).bits;
    rows.dims = {{.size = 64, .stride = 64}, {.size = 64, .stride = 1}};
    const auto transfer = TransferOf(*spread, rows, {.searches = false});
    ASSERT_TRUE(transfer.has_value());
    EXPECT_EQ(transfer->turns, transfer->least);
    EXPECT_EQ(transfer->turns, 64 * 64 * rows.bits / 8 / 128);
  }
}

// A slice of columns: every row of 8 bytes is a row of memory of 128 further.
TEST(BankConflicts, ASliceOfColumnsMeetsInFewBanks) {
  const auto spread = SpreadOf({LayoutName::kStrided, 2}, ArrayType(DType::kF32, {128, 2}));
  ASSERT_TRUE(spread.has_value());
  InMemory slice;
  slice.dims = {{.size = 128, .stride = 32}, {.size = 2, .stride = 1}};
  const auto transfer = TransferOf(*spread, slice, {.searches = false});
  ASSERT_TRUE(transfer.has_value());
  EXPECT_EQ(transfer->least, 8);
  EXPECT_EQ(transfer->turns, 16 * 8);
}

// Four lanes have the same row: they access one word, which is one turn.
TEST(BankConflicts, LanesThatAskForOneWordShareATurn) {
  const auto spread = SpreadOf({LayoutName::kWgmmaRow}, ArrayType(DType::kF32, {64}));
  ASSERT_TRUE(spread.has_value());
  InMemory rows;
  rows.dims = {{.size = 64, .stride = 1}};
  const auto transfer = TransferOf(*spread, rows, {});
  ASSERT_TRUE(transfer.has_value());
  EXPECT_EQ(transfer->turns, transfer->least);
  EXPECT_EQ(transfer->turns, 2 * 4);  // registers, warps
  rows.dims[0].stride = 32;
  EXPECT_EQ(TransferOf(*spread, rows, {.searches = false})->turns, 8 * 8);
}

TEST(BankConflicts, AVectorInPiecesIsNotKnown) {
  const auto spread = SpreadOf({LayoutName::kWgmma}, ArrayType(DType::kF16, {64, 64}));
  ASSERT_TRUE(spread.has_value());
  InMemory columns;  // transposed
  columns.bits = 16;
  columns.dims = {{.size = 64, .stride = 1}, {.size = 64, .stride = 64}};
  EXPECT_FALSE(TransferOf(*spread, columns, {}).has_value());
}

// ---- views and layouts, from kernel text

std::vector<SharedTransfer> TransfersOf(const std::string& body, const std::string& ref) {
  const PreparedKernel kernel = Prepared(R"(pkir 1;
kernel @k {
  backend mosaic_gpu;
  in %x: f16[64,64] space gmem;
  out %o: f16[64,64] space gmem;
  mesh gpu {grid=[], grid_names=[], cluster=[], cluster_names=[], threads=none, thread_name=none};
  body @k (%xr: ref<gmem,f16[64,64]> as "x_ref", %or: ref<gmem,f16[64,64]> as "o_ref") {
    run_scoped{collective_axes=[]}() (%a: ref<smem,)" +
                                         ref + R"(> as "a") {
)" + body + R"(      return;
    };
    return;
  }
}
)");
  const Kernel& text = kernel.state().text();
  std::vector<std::pair<int, SharedTransfer>> by_line;
  for (const auto& [instr, transfer] : SharedTransfersOf(text, 32)) by_line.emplace_back(instr->text_line, transfer);
  std::sort(by_line.begin(), by_line.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<SharedTransfer> transfers;
  for (const auto& [line, transfer] : by_line) transfers.push_back(transfer);
  return transfers;
}

TEST(BankConflicts, AStoreHasTheLayoutOfWhatWasRead) {
  const std::vector<SharedTransfer> tiled =
      TransfersOf(R"(      %0 = get(%a.unswizzle(128).untile[8,64].at[0, *, *]) : f16[64,64];
      %1 = add(%0, %0) : f16[64,64];
      _ = swap(%a.unswizzle(128).untile[8,64].at[1, *, *], %1) : f16[64,64];
)",
                  "f16[2,8,1,8,64]");
  ASSERT_EQ(tiled.size(), 2U);
  for (const SharedTransfer& transfer : tiled) {
    EXPECT_EQ(transfer.turns, 64);
    EXPECT_EQ(transfer.least, 64);
  }
}

TEST(BankConflicts, ACastBehindAReadIsTheLayoutOfTheRead) {
  const std::vector<SharedTransfer> cast = TransfersOf(R"(      %0 = mgpu.load{optimized=false}(src=%a) : f16[64,64];
      %1 = layout_cast{layout="Layout.WGMMA"}(%0) : f16[64,64];
      _ = swap(%a, %1) : f16[64,64];
)",
                                                       "f16[64,64]");
  ASSERT_EQ(cast.size(), 2U);
  for (const SharedTransfer& transfer : cast) {
    EXPECT_EQ(transfer.least, 64);
    EXPECT_EQ(transfer.turns, 8 * 64);
    EXPECT_FALSE(transfer.refused);
  }
}

TEST(BankConflicts, WhatIsNotFollowedIsNotKnown) {
  EXPECT_TRUE(TransfersOf(R"(      %0 = get(%a) : f16[64,64];
      %1 = transpose{perm=[1,0]}(%0) : f16[64,64];
      _ = swap(%a.reshape[64,64], %1) : f16[64,64];
)",
                          "f16[64,64]")
                  .size() == 1U);
}

}  // namespace
}  // namespace palladion::timing::mosaic_gpu::test
