// Which values go to memory and come back, in orders of operations that are followed by hand.
#include "emu/timing/tpu/living.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "emu/timing/tpu/timing_test_util.h"
#include "semantics/base/cat.h"

namespace palladion::timing::tpu {
namespace {

using report::LineTime;

double All(const std::vector<TpuLiving::Spilled>& spilled) {
  double registers = 0;
  for (const TpuLiving::Spilled& one : spilled) registers += one.registers;
  return registers;
}

TEST(TpuLiving, AValueThatIsUsedBeforeTheNextTurnTakesNoRegisters) {
  TpuLiving living;
  living.Made(1, 1, 1000, nullptr);
  living.Used(1, 1);
  EXPECT_TRUE(living.Take(64).empty());
}

TEST(TpuLiving, WhatDoesNotFitGoes) {
  TpuLiving living;
  living.Made(1, 1, 100, nullptr);
  living.Used(1, 2);
  EXPECT_EQ(All(living.Take(64)), 36);
  EXPECT_TRUE(living.Take(64).empty());  // forgotten
}

// 40 and 50 of 64 at one turn, 40 alone at the next.
TEST(TpuLiving, ValuesOfOneTurnShareTheRegisters) {
  TpuLiving living;
  living.Made(1, 1, 50, nullptr);
  living.Made(2, 1, 40, nullptr);
  living.Used(1, 2);
  living.Used(2, 3);
  EXPECT_EQ(All(living.Take(64)), 50 + 40 - 64);
  living.Made(1, 1, 50, nullptr);
  living.Made(2, 2, 40, nullptr);
  living.Used(1, 2);
  living.Used(2, 3);
  EXPECT_TRUE(living.Take(64).empty());
}

// The logits of 128 x 1024, 128 registers, are kept from the product until their maximum is known.
TEST(TpuLiving, LogitsThatWaitForTheirMaximumSpill) {
  const auto text = [](int columns) {
    const std::string logits = Cat("f32[128,", columns, "]"), keys = Cat("bf16[", columns, ",128]");
    return Cat("pkir 1;\nkernel @k { backend mosaic_tpu; in %q: bf16[128,128]; in %k: ", keys,
               "; grid []; out %o: ", logits, ";\n  body @b (%qr: ref<default,bf16[128,128]>, %kr: ref<default,", keys,
               ">, %or: ref<default,", logits, ">) {\n    %a = get(%qr) : bf16[128,128]; %b = get(%kr) : ", keys,
               ";\n    %s = dot_general{contract=[[1],[1]], batch=[[],[]], precision=none, preferred=f32}(%a, %b) : ",
               logits, ";\n    %m = reduce_max{axes=[1]}(%s) : f32[128]; %n = broadcast_in_dim{shape=[128,", columns,
               "], dims=[0]}(%m) : ", logits, ";\n    %d = sub(%s, %n) : ", logits,
               ";\n    _ = swap(%or, %d) : ", logits, "; return; } }\n");
  };
  const report::Timing large = TimeText(text(1024), "v6e").timing, small = TimeText(text(512), "v6e").timing;
  const LineTime& line = LineOf(large, "registers that spill");
  EXPECT_EQ(line.text_line, 5);
  EXPECT_EQ(line.runs, 1);
  // 128 registers of the result are stored, and 64 of the logits: 192 stores, one a bundle, and the latencies of a
  // product and of a reduction, 256 and 128 cycles.
  EXPECT_NEAR(LineOf(large, "registers that spill").busy.value() + LineOf(large, "dot_general").busy.value() +
                  LineOf(large, "reduce_max").busy.value() + LineOf(large, "sub").busy.value() +
                  LineOf(large, "get").busy.value() + LineOf(large, "swap").busy.value() +
                  LineOf(large, "broadcast_in_dim").busy.value(),
              192 + 256 + 128, 60);
  for (const LineTime& one : small.lines) EXPECT_NE(one.op, "registers that spill");  // 64 fit
}

}  // namespace
}  // namespace palladion::timing::tpu
