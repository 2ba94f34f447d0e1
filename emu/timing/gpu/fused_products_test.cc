// Which products become one instruction with a sum, and that a division takes several.
#include "emu/timing/gpu/fused_products.h"

#include <gtest/gtest.h>

#include <string>

#include "emu/timing/gpu/h100_test_util.h"
#include "emu/timing/mosaic_gpu/kernels_test_util.h"

namespace palladion::timing::gpu::test {
namespace {

using machines::Cycles;

constexpr const char* kLoad = "      %v = get(%a) : f32[64,32];\n";

// What the text takes in its thread after a load, in instructions of the width of all lanes: 2048 elements are 16.
double Instructions(const std::string& body) {
  const machines::Machine machine = mosaic_gpu::test::MachineNamed("h100");
  const auto cycles = [&](const std::string& text) {
    return mosaic_gpu::test::RunOf(mosaic_gpu::test::CopyText(text), machine).timed.timing.cycles;
  };
  const HopperCosts costs = H100();
  const Cycles one = BurstOf(costs, Pipe::kFp32, 2048, 4).slot;
  return (cycles(kLoad + body) - cycles(kLoad)) / one;
}

TEST(FusedProducts, AProductIsPartOfTheSumThatAloneUsesIt) {
  const std::string product = "      %p = mul(%v, 0.5:f32) : f32[64,32];\n";
  const double sum = Instructions("      %s = add(%v, 0.25:f32) : f32[64,32];\n");
  EXPECT_NEAR(Instructions(product), sum, 0.01);
  EXPECT_NEAR(Instructions(product + "      %s = add(%p, 0.25:f32) : f32[64,32];\n"), sum, 0.01);
  EXPECT_NEAR(Instructions(product + "      %s = sub(0.25:f32, %p) : f32[64,32];\n"), sum, 0.01);
  // Where it has two users, or its user is another operation, it is not fused.
  EXPECT_NEAR(Instructions(product + "      %s = add(%p, %p) : f32[64,32];\n"), 2 * sum, 0.01);
  EXPECT_NEAR(
      Instructions(product + "      %s = add(%p, 0.25:f32) : f32[64,32];\n      _ = swap(%a, %p) : f32[64,32];\n") -
          Instructions("      _ = swap(%a, %v) : f32[64,32];\n"),
      2 * sum, 0.01);
  const std::string larger = "      %s = max(%p, 0.25:f32) : f32[64,32];\n";
  EXPECT_NEAR(Instructions(product + larger), sum + Instructions("      %s = max(%v, 0.25:f32) : f32[64,32];\n"), 0.01);
}

TEST(FusedProducts, ADivisionIsSeveralInstructions) {
  const double sum = Instructions("      %s = add(%v, 0.25:f32) : f32[64,32];\n");
  const double division = Instructions("      %s = div(%v, 0.25:f32) : f32[64,32];\n");
  EXPECT_NEAR(division - sum, 9, 0.01);
}

}  // namespace
}  // namespace palladion::timing::gpu::test
