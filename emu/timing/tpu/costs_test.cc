// Each number of a TPU's description comes out again, and how far what was published of units is missed: the table of
// docs/explanation/time.md, which is printed here.
#include "emu/timing/tpu/costs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "emu/timing/tpu/figures_test_util.h"

namespace palladion::timing::tpu {
namespace {

TpuCosts CostsOf(const char* chip) {
  const absl::StatusOr<TpuCosts> costs = TpuCostsOf(**machines::FindMachine(chip));
  EXPECT_TRUE(costs.ok()) << costs.status();
  return *costs;
}

double RateOf(const machines::Machine& machine, const TpuProduct& product) {
  const TpuCosts costs = *TpuCostsOf(machine);
  const double flops = 2.0 * static_cast<double>(product.m * product.n) * static_cast<double>(product.k);
  TpuWork matrix;
  matrix[TpuSlot::kMatrix] = (*WorkOf(costs, product))[TpuSlot::kMatrix];
  const machines::Cycles bundles(BundlesOf(costs, matrix));
  return flops / (bundles / costs.clock).value() * machines::kNanosecondsPerSecond;
}

TEST(TpuCosts, TheMatrixUnitsReachTheirPeaks) {
  struct Peak {
    const char* key;
    DType type;
  };
  const Peak peaks[] = {{"peak.bf16", DType::kBF16}, {"peak.int8", DType::kI8}, {"peak.fp8", DType::kF8E5M2}};
  int found = 0;
  for (const machines::Machine& machine : machines::AllMachines()) {
    if (machine.family() != machines::Family::kTpu) continue;
    const double cores = machine.Get(machines::Key<machines::Count>("chip.cores"))->value();
    for (const Peak& peak : peaks) {
      const TpuProduct product{.m = 4096, .n = 4096, .k = 4096, .type = peak.type};
      const auto of_type = [&] {
        if (peak.type == DType::kBF16) return machine.Find(machines::Key<machines::FlopsPerSecond>("peak.bf16"));
        if (peak.type == DType::kI8) return machine.Find(machines::Key<machines::FlopsPerSecond>("peak.int8"));
        return machine.Find(machines::Key<machines::FlopsPerSecond>("peak.fp8"));
      }();
      if (!of_type.has_value()) {
        EXPECT_EQ(WorkOf(*TpuCostsOf(machine), product).status().code(), absl::StatusCode::kNotFound);
        continue;
      }
      ++found;
      EXPECT_NEAR(cores * RateOf(machine, product), of_type->value(), 0.01 * of_type->value())
          << machine.name() << " " << peak.key;
    }
  }
  EXPECT_EQ(found, 10);
}

TEST(TpuCosts, EightRowsGoThroughAUnitInAnInterval) {
  const TpuCosts v5e = CostsOf("v5e"), v6e = CostsOf("v6e");
  // Four tiles of weights, one for each unit; enough rows that nothing waits for the weights.
  const auto matrix = [](const TpuCosts& costs, const TpuProduct& product) {
    return (*WorkOf(costs, product))[TpuSlot::kMatrix];
  };
  EXPECT_EQ(matrix(v5e, {.m = 1024, .n = 512, .k = 128}), 1024 / 8 * 8);
  EXPECT_EQ(matrix(v5e, {.m = 1032, .n = 512, .k = 128}), 1032 / 8 * 8);
  EXPECT_EQ(matrix(v6e, {.m = 1024, .n = 512, .k = 256}), 1024 / 8 * 4);
  // f32 in three and six pieces.
  EXPECT_EQ(matrix(v5e, {.m = 1024, .n = 512, .k = 128, .type = DType::kF32, .passes = 6}), 6 * 1024);
  // 16 pushes of 8 rows bring in the weights of 128 x 128: fewer rows than that wait for them.
  EXPECT_EQ(matrix(v5e, {.m = 8, .n = 512, .k = 128}), 128);
  EXPECT_EQ(matrix(v5e, {.m = 128, .n = 512, .k = 128}), 128);
  // Half the rows of a unit of 256: 16 pushes of 4 cycles, as many as of 128 rows.
  EXPECT_EQ(matrix(v6e, {.m = 8, .n = 512, .k = 128}), 64);
  EXPECT_EQ(matrix(v6e, {.m = 128, .n = 512, .k = 128}), 64);
  EXPECT_EQ(matrix(v6e, {.m = 8, .n = 512, .k = 256}), 128);
}

TEST(TpuCosts, AColumnOfTilesOfWeightsIsAddedUpByTheVectorUnitUnlessTheMatrixUnitDoes) {
  const TpuProduct product{.m = 128, .n = 128, .k = 1024};
  EXPECT_EQ((*WorkOf(CostsOf("v5e"), product))[TpuSlot::kVector], 7 * 16);  // eight of 128, 16 registers each
  EXPECT_EQ((*WorkOf(CostsOf("v7x"), product))[TpuSlot::kVector], 0);
}

TEST(TpuCosts, RegistersAreTilesOfThirtyTwoBits) {
  const TpuCosts costs = CostsOf("v5e");
  const auto packed = [&](DType type, Shape shape) { return RegistersOf(costs, ArrayType(type, shape), true); };
  EXPECT_EQ(packed(DType::kF32, {8, 128}), 1);
  EXPECT_EQ(packed(DType::kF32, {9, 129}), 4);
  EXPECT_EQ(packed(DType::kBF16, {16, 128}), 1);
  EXPECT_EQ(packed(DType::kBF16, {8, 128}), 1);
  EXPECT_EQ(packed(DType::kI8, {32, 128}), 1);
  EXPECT_EQ(packed(DType::kI4, {64, 128}), 1);
  EXPECT_EQ(packed(DType::kI64, {8, 128}), 2);
  EXPECT_EQ(packed(DType::kF32, {3, 8, 128}), 3);
  EXPECT_EQ(packed(DType::kF32, {1024}), 8);
  EXPECT_EQ(packed(DType::kF32, {}), 1);
  EXPECT_EQ(packed(DType::kF32, {0, 128}), 0);
  EXPECT_EQ(packed(DType::kBool, {8, 128}), 1);
  EXPECT_EQ(RegistersOf(costs, ArrayType(DType::kBF16, {16, 128}), false), 2);
  EXPECT_EQ(PaddedBytes(costs, ArrayType(DType::kBF16, {1, 1})).value(), 4096);
}

TEST(TpuCosts, BundlesAreThoseOfTheBusiestSlot) {
  const TpuCosts costs = CostsOf("v6e");
  TpuWork work;
  work[TpuSlot::kVector] = 40;
  work[TpuSlot::kTranscendental] = 8;
  EXPECT_EQ(TimeOf(costs, work, {}).value(), 10);
  work[TpuSlot::kTranscendental] = 20;
  EXPECT_EQ(TimeOf(costs, work, {}).value(), 20);
  EXPECT_EQ(TimeOf(costs, work, {.bundles = 50}).value(), 50);
  EXPECT_EQ(TimeOf(costs, work, {.products = 2, .reductions = 1}).value(), 20 + 2 * 256 + 128);
  work[TpuSlot::kMatrix] = 300;  // beside them, and not at the pace of bundles
  EXPECT_EQ(TimeOf(costs, work, {.products = 2}).value(), 300 + 2 * 256);
  EXPECT_DOUBLE_EQ(TimeOf(CostsOf("v7x"), work, {}).value(), 300);
  work[TpuSlot::kMatrix] = 0;
  EXPECT_DOUBLE_EQ(TimeOf(CostsOf("v7x"), work, {}).value(), 20 * 1.32);
}

TEST(TpuCosts, AGpuHasNone) {
  EXPECT_EQ(TpuCostsOf(**machines::FindMachine("h100")).status().code(), absl::StatusCode::kInvalidArgument);
}

// docs/explanation/time.md has these numbers; python/tests/test_time_errors.py holds them to what is reported with a
// time.
TEST(TpuCosts, PublishedRates) {
  for (const TpuFigure& figure : TpuFigures()) {
    std::printf("| %s | %s | %s | %+.0f %% | %s |\n", figure.what.c_str(), figure.Text(figure.published).c_str(),
                figure.Text(figure.found).c_str(), 100 * figure.Error(), figure.fitted ? "the bandwidth" : "nothing");
    EXPECT_LT(std::abs(figure.Error()), figure.fitted ? 0.01 : 0.28) << figure.what;
  }
}

// Of v5e: 18 TB/s between vector memory and registers.
TEST(TpuCosts, VectorLoadsMoveAsMuchAsIsPublished) {
  const TpuCosts costs = CostsOf("v5e");
  TpuWork work;
  work[TpuSlot::kLoad] = 300;
  const double seconds = (TimeOf(costs, work, {}) / costs.clock).value() / machines::kNanosecondsPerSecond;
  EXPECT_NEAR(300 * 4096 / seconds, 18e12, 0.03 * 18e12);
}

}  // namespace
}  // namespace palladion::timing::tpu
