// Which slots of a bundle an operation takes, class by class. What is expected is counted by hand, in registers of
// 8 x 128 elements of 32 bits.
#include "emu/timing/tpu/work.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "emu/emulate.h"
#include "emu/kernel/prepared_kernel.h"
#include "semantics/base/cat.h"

namespace palladion::timing::tpu {
namespace {

struct Slots {
  double scalar = 0, vector = 0, cross = 0, transcendental = 0, load = 0, store = 0, matrix = 0;
};

// The cost of %r, or of the last instruction, of a body over %x: `in`, %y: `in2` and %s, scalars in SMEM.
TpuInstruction CostOf(const std::string& in, const std::string& in2, const std::string& body) {
  const std::string text =
      Cat("pkir 1;\nkernel @k { backend mosaic_tpu; in %x: ", in, "; in %y: ", in2,
          "; in %s: i32[4] space smem; grid []; out %o: ", in, ";\n  body @b (%xr: ref<default,", in,
          ">, %yr: ref<default,", in2, ">, %sr: ref<smem,i32[4]>, %or: ref<default,", in,
          ">) {\n    %a = get(%xr) : ", in, ";\n    %b = get(%yr) : ", in2, ";\n    ", body, "\n    return; } }\n");
  const absl::StatusOr<PreparedKernel> kernel =
      PrepareText(text, {.kernel = "", .target = "mosaic_tpu/v5e", .path = "", .observable = true});
  EXPECT_TRUE(kernel.ok()) << kernel.status() << "\n" << text;
  if (!kernel.ok()) return {};
  const Kernel& parsed = kernel->state().module().kernels[0];
  const TpuCosts costs = *TpuCostsOf(**machines::FindMachine("v5e"));
  TpuDistinct distinct;
  for (const Instr& instr : parsed.bodies[0].region.body) {
    const absl::StatusOr<TpuInstruction> before = InstructionOf(costs, parsed, instr, distinct);
    if (before.ok() && instr.results.size() == 1) distinct[instr.results[0].value] = before->distinct;
  }
  absl::StatusOr<TpuInstruction> cost = InstructionOf(costs, parsed, parsed.bodies[0].region.body.back(), distinct);
  EXPECT_TRUE(cost.ok()) << cost.status();
  return cost.ok() ? *std::move(cost) : TpuInstruction{};
}

void Expect(const Slots& slots, const std::string& in, const std::string& body, const std::string& in2 = "f32[8,128]") {
  const TpuWork work = CostOf(in, in2, body).work;
  EXPECT_EQ(work[TpuSlot::kScalar], slots.scalar) << body;
  EXPECT_EQ(work[TpuSlot::kVector], slots.vector) << body;
  EXPECT_EQ(work[TpuSlot::kCross], slots.cross) << body;
  EXPECT_EQ(work[TpuSlot::kTranscendental], slots.transcendental) << body;
  EXPECT_EQ(work[TpuSlot::kLoad], slots.load) << body;
  EXPECT_EQ(work[TpuSlot::kStore], slots.store) << body;
  EXPECT_EQ(work[TpuSlot::kMatrix], slots.matrix) << body;
}

TEST(TpuWork, Elementwise) {
  Expect({.vector = 4}, "f32[16,256]", "%r = add(%a, %a) : f32[16,256];");
  Expect({.vector = 4}, "bf16[16,256]", "%r = mul(%a, %a) : bf16[16,256];");  // two registers, at 32 bits four
  Expect({.vector = 4}, "f32[16,256]", "%r = convert_element_type{to=bf16}(%a) : bf16[16,256];");
  Expect({.vector = 4}, "f32[16,256]", "%r = lt(%a, 0.0:f32) : bool[16,256];");
  Expect({.vector = 4, .transcendental = 4}, "f32[16,256]", "%r = tanh(%a) : f32[16,256];");
  Expect({.vector = 2}, "f32[16,256]", "%r = iota{dim=0}() : i32[16,256];");  // a register for each eight rows
  Expect({.vector = 2}, "f32[16,256]", "%r = iota{dim=1}() : i32[16,256];");  // one for each 128 columns
  EXPECT_EQ(CostOf("f32[16,256]", "f32[8,128]", "%r = add(%a, %a) : f32[16,256];").flops, 16 * 256);
}

TEST(TpuWork, Scalars) {
  Expect({.scalar = 1}, "f32[16,256]", "%r = add(1:i32, 2:i32) : i32[];");
  Expect({.transcendental = 1}, "f32[16,256]", "%r = exp(1.0:f32) : f32[];");
  Expect({.scalar = 1}, "f32[16,256]", "%r = get(%sr.at[0]) : i32[];");
}

// Of 16 x 256 f32, four registers: two of eight rows, two of 128 columns.
TEST(TpuWork, RegistersThatAreAlikeAreComputedOnce) {
  const std::string rows = "%i = iota{dim=0}() : i32[16,256]; ", columns = "%j = iota{dim=1}() : i32[16,256]; ";
  const auto expect = [](double vector, const std::string& body) { Expect({.vector = vector}, "f32[16,256]", body); };
  expect(2, rows + "%r = add(%i, 3:i32) : i32[16,256];");
  expect(1, "%z = broadcast_in_dim{shape=[16,256], dims=[]}(1:i32) : i32[16,256]; %r = add(%z, 3:i32) : i32[16,256];");
  expect(4, rows + columns + "%r = ge(%i, %j) : bool[16,256];");
  expect(2, rows + "%k = add(%i, 1:i32) : i32[16,256]; %r = ge(%i, %k) : bool[16,256];");
  expect(4, rows + "%m = ge(%i, 3:i32) : bool[16,256]; %r = select_n(%m, %a, %a) : f32[16,256];");
  // A row of 256, and a column of 16, for all of the array.
  expect(2,
         "%v = get(%xr.at[0, *]) : f32[256]; %w = broadcast_in_dim{shape=[16,256], dims=[1]}(%v) : f32[16,256]; "
         "%r = mul(%w, %w) : f32[16,256];");
  expect(2,
         "%v = get(%xr.at[*, 0 +: 1]) : f32[16,1]; %w = broadcast_in_dim{shape=[16,256], dims=[0,1]}(%v) : "
         "f32[16,256]; %r = mul(%w, %w) : f32[16,256];");
  expect(4,
         "%v = get(%xr.at[*, 0 +: 1]) : f32[16,1]; %w = broadcast_in_dim{shape=[16,256], dims=[0,1]}(%v) : "
         "f32[16,256]; %r = mul(%w, %a) : f32[16,256];");
}

// Dimensions of one element that come and go, and elements in the other order, are alike as before.
TEST(TpuWork, RegistersThatAreAlikeStaySo) {
  const std::string rows = "%i = iota{dim=0}() : i32[16,256]; ", sum = "%r = add(%m, 3:i32) : i32[16,256];";
  const auto expect = [](double vector, const std::string& body) { Expect({.vector = vector}, "f32[16,256]", body); };
  expect(2, rows + "%e = expand_dims{dims=[0]}(%i) : i32[1,16,256]; %m = squeeze{dims=[0]}(%e) : i32[16,256]; " + sum);
  expect(2, rows + "%e = expand_dims{dims=[2]}(%i) : i32[16,256,1]; %m = squeeze{dims=[2]}(%e) : i32[16,256]; " + sum);
  expect(2, rows + "%m = rev{dims=[1]}(%i) : i32[16,256]; " + sum);
}

TEST(TpuWork, Memory) {
  Expect({.load = 4}, "f32[16,256]", "%r = get(%xr) : f32[16,256];");
  Expect({.load = 2}, "bf16[16,256]", "%r = get(%xr) : bf16[16,256];");
  Expect({.load = 1}, "f32[16,256]", "%r = get(%xr.at[0 +: 8, 128 +: 128]) : f32[8,128];");
  Expect({.store = 4}, "f32[16,256]", "_ = swap(%or, %a) : f32[16,256];");
  Expect({.load = 4, .store = 4}, "f32[16,256]", "%r = swap(%or, %a) : f32[16,256];");
  Expect({.vector = 4, .load = 4, .store = 4}, "f32[16,256]", "addupdate(%or, %a);");
}

TEST(TpuWork, Moves) {
  Expect({.cross = 32}, "f32[128,256]", "%r = transpose{perm=[1,0]}(%a) : f32[256,128];");
  Expect({}, "f32[16,256]", "%r = reshape{shape=[1,16,256]}(%a) : f32[1,16,256];");
  Expect({.cross = 8}, "f32[8,1024]", "%r = reshape{shape=[64,128]}(%a) : f32[64,128];");
  Expect({.vector = 1}, "f32[16,256]", "%r = broadcast_in_dim{shape=[16,256], dims=[]}(1.0:f32) : f32[16,256];");
  Expect({.cross = 2}, "f32[16,1]", "%r = broadcast_in_dim{shape=[16,256], dims=[0,1]}(%a) : f32[16,256];");
  Expect({}, "f32[16,128]", "%r = concatenate{dim=0}(%a, %b) : f32[24,128];");
  Expect({.cross = 5}, "f32[5,128]", "%r = reshape{shape=[5,1,128]}(%a) : f32[5,1,128];");
  Expect({.cross = 2}, "f32[5,128]", "%r = concatenate{dim=0}(%a, %b) : f32[13,128];");
  Expect({.cross = 4}, "f32[16,256]", "%r = tpu.roll{axis=1, stride=none, stride_axis=none}(%a, 1:i32) : f32[16,256];");
}

TEST(TpuWork, Reductions) {
  Expect({.vector = 2, .cross = 2}, "f32[16,256]", "%r = reduce_max{axes=[1]}(%a) : f32[16];");
  Expect({.vector = 2, .cross = 2}, "f32[16,256]", "%r = reduce_max{axes=[0]}(%a) : f32[256];");
  Expect({.vector = 3, .cross = 1}, "f32[16,256]", "%r = reduce_max{axes=[0,1]}(%a) : f32[];");
  Expect({.vector = 3}, "f32[4,8,128]", "%r = reduce_max{axes=[0]}(%a) : f32[8,128];");
}

TEST(TpuWork, ProductsInSeveralPasses) {
  const auto product = [](const std::string& precision) {
    return CostOf("f32[512,128]", "f32[128,512]",
                  Cat("%r = dot_general{contract=[[1],[0]], batch=[[],[]], precision=", precision,
                      ", preferred=f32}(%a, %b) : f32[512,512];"));
  };
  EXPECT_EQ(product("none").work[TpuSlot::kMatrix], 512);
  EXPECT_EQ(product("[default,default]").work[TpuSlot::kMatrix], 512);
  EXPECT_EQ(product("[high,high]").work[TpuSlot::kMatrix], 3 * 512);
  EXPECT_EQ(product("[highest,highest]").work[TpuSlot::kMatrix], 6 * 512);
  EXPECT_EQ(product("none").flops, 2.0 * 512 * 512 * 128);
  EXPECT_EQ(product("none").products, product("none").flops);
}

TEST(TpuWork, ABranchEndsWhatBundlesShare) {
  EXPECT_TRUE(CostOf("f32[8,128]", "f32[8,128]", "cond(true) { return; } { return; };").closes);
  EXPECT_FALSE(CostOf("f32[8,128]", "f32[8,128]", "%r = add(%a, %b) : f32[8,128];").closes);
}

}  // namespace
}  // namespace palladion::timing::tpu
