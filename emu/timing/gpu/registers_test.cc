// Registers that the values of a kernel need, by hand.
#include "emu/timing/gpu/registers.h"

#include <gtest/gtest.h>

#include <string>

#include "emu/run/watch/observed.h"
#include "emu/timing/mosaic_gpu/kernels_test_util.h"

namespace palladion::timing::gpu::test {
namespace {

RegisterNeed NeedOf(const std::string& text, const std::string& target = "mosaic_gpu/h100", std::int64_t threads = 1) {
  const PreparedKernel kernel = mosaic_gpu::test::Prepared(text, target);
  return RegistersOf(kernel.state().text(), threads, {});
}

// Of f32[64,128] a lane has 64 elements.
std::string ValuesText(const std::string& body) {
  return R"(pkir 1;
kernel @values {
  backend mosaic_gpu;
  in %x: f32[64,128] space gmem;
  out %o: f32[64,128] space gmem;
  mesh gpu {grid=[], grid_names=[], cluster=[], cluster_names=[], threads=none, thread_name=none};
  body @values (%xr: ref<gmem,f32[64,128]> as "x_ref", %or: ref<gmem,f32[64,128]> as "o_ref") {
)" + body +
         R"(    return;
  }
}
)";
}

TEST(Registers, ThoseThatAreAliveTogetherAdd) {
  const RegisterNeed need = NeedOf(ValuesText(R"(    %0 = get(%xr) : f32[64,128];
    %1 = get(%xr) : f32[64,128];
    %2 = get(%xr) : f32[64,128];
    %3 = add(%0, %1) : f32[64,128];
    %4 = add(%3, %2) : f32[64,128];
    _ = swap(%or, %4) : f32[64,128];
)"));
  EXPECT_EQ(need.most, 3 * 64);
  EXPECT_EQ(need.line, 10);
  EXPECT_EQ(need.spilled, 0);
  EXPECT_EQ(need.blocks, 65536 / (192 * 128));
}

TEST(Registers, AResultTakesThePlaceOfAnOperandThatEnds) {
  const std::string body = R"(    %0 = get(%xr) : f32[64,128];
    %1 = exp{accuracy=none}(%0) : f32[64,128];
    %2 = convert_element_type{to=f16}(%1) : f16[64,128];
    %3 = convert_element_type{to=f32}(%2) : f32[64,128];
    _ = swap(%or, %3) : f32[64,128];
)";
  EXPECT_EQ(NeedOf(ValuesText(body)).most, 64);
}

// Element by element: neither the product nor the sum is there as a whole.
TEST(Registers, WhatOneArrayIsComputedFromTakesTheRegistersOfOne) {
  const std::string begin = "    %0 = get(%xr) : f32[64,128];\n", end = "    _ = swap(%or, %3) : f32[64,128];\n";
  const std::string computed = R"(    %1 = mul(%0, 0.5:f32) : f32[64,128];
    %2 = add(%0, 0.5:f32) : f32[64,128];
    %3 = max(%1, %2) : f32[64,128];
)";
  EXPECT_EQ(NeedOf(ValuesText(begin + computed + end)).most, 64);
  const std::string chosen = R"(    %m = gt(%0, 0.5:f32) : bool[64,128];
    %1 = mul(%0, 0.5:f32) : f32[64,128];
    %2 = add(%0, 0.5:f32) : f32[64,128];
    %3 = select_n(%m, %1, %2) : f32[64,128];
)";
  EXPECT_EQ(NeedOf(ValuesText(begin + chosen + end)).most, 64);
  // A sum that goes to memory first is there as a whole.
  const std::string stored = R"(    %1 = mul(%0, 0.5:f32) : f32[64,128];
    %2 = add(%0, 0.5:f32) : f32[64,128];
    _ = swap(%or, %2) : f32[64,128];
    %3 = max(%1, %2) : f32[64,128];
)";
  EXPECT_EQ(NeedOf(ValuesText(begin + stored + end)).most, 2 * 64);
}

TEST(Registers, ALoopTakesOverTheRegistersOfWhatItBeginsWith) {
  const std::string loop = R"(    %0 = get(%xr) : f32[64,128];
    %1 = scan{length=4, reverse=false}(init=%0) (%c: f32[64,128]) {
      %2 = mul(%c, 0.5:f32) : f32[64,128];
      return %2;
    } : f32[64,128];
    _ = swap(%or, %1) : f32[64,128];
)";
  EXPECT_EQ(NeedOf(ValuesText(loop)).most, 64);
  // An instruction that reads it afterwards keeps it alive.
  EXPECT_EQ(NeedOf(ValuesText(loop + "    _ = swap(%or, %0) : f32[64,128];\n")).most, 2 * 64);
}

TEST(Registers, AValueThatALoopUsesLivesAsLongAsTheLoop) {
  const RegisterNeed need = NeedOf(ValuesText(R"(    %0 = get(%xr) : f32[64,128];
    %1 = get(%xr) : f32[64,128];
    %2 = scan{length=4, reverse=false}(init=%1) (%c: f32[64,128]) {
      %3 = get(%xr) : f32[64,128];
      %4 = add(%c, %0) : f32[64,128];
      %5 = add(%4, %3) : f32[64,128];
      return %5;
    } : f32[64,128];
    _ = swap(%or, %2) : f32[64,128];
)"));
  EXPECT_GE(need.most, 3 * 64);
  EXPECT_EQ(need.line, 11);
}

// More than 255: what is over them goes to memory.
TEST(Registers, WhatIsOverTheLimitSpills) {
  const std::string text = ValuesText(R"(    %0 = get(%xr) : f32[64,128];
    %1 = get(%xr) : f32[64,128];
    %2 = get(%xr) : f32[64,128];
    %3 = get(%xr) : f32[64,128];
    %4 = add(%0, %1) : f32[64,128];
    %5 = add(%4, %2) : f32[64,128];
    %6 = add(%5, %3) : f32[64,128];
    _ = swap(%or, %6) : f32[64,128];
)");
  const RegisterNeed need = NeedOf(text);
  EXPECT_EQ(need.limit, 255);
  EXPECT_EQ(need.spilled, 1);
  EXPECT_EQ(need.spill_line, 11);
  const RegisterNeed of_three = NeedOf(text, "mosaic_gpu/h100", 3);
  EXPECT_EQ(of_three.limit, 168);
  EXPECT_EQ(of_three.spilled, 256 - 168);
  EXPECT_EQ(of_three.blocks, 1);
}

TEST(Registers, WhatAThreadAsksForIsItsLimit) {
  const std::string ask = R"(    set_max_registers{action="decrease"}(40:i32);
    %0 = get(%xr) : f32[64,128];
    _ = swap(%or, %0) : f32[64,128];
)";
  const RegisterNeed need = NeedOf(ValuesText(ask));
  EXPECT_EQ(need.limit, 40);
  EXPECT_EQ(need.spilled, 64 - 40);
}

}  // namespace
}  // namespace palladion::timing::gpu::test
