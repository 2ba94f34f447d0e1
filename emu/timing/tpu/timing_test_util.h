// Kernel text, timed on a TPU: for tests.
#ifndef PALLADION_EMU_TIMING_TPU_TIMING_TEST_UTIL_H_
#define PALLADION_EMU_TIMING_TPU_TIMING_TEST_UTIL_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "emu/emulate.h"
#include "emu/timing/time_kernel.h"
#include "emu/values.h"
#include "semantics/base/cat.h"

namespace palladion::timing::tpu {

// x[m, k] * y[k, n], blocks of bm x bk x bn, an accumulator in scratch.
struct Sizes {
  std::int64_t m, k, n;
};

inline std::string Matmul(const Sizes& whole, const Sizes& block) {
  const auto [m, k, n] = whole;
  const auto [bm, bk, bn] = block;
  return Cat(
      "pkir 1;\nkernel @matmul {\n  backend mosaic_tpu;\n",
      "  params {dimension_semantics=[\"parallel\", \"parallel\", \"arbitrary\"]};\n  in %x: bf16[", m, ",", k,
      "] as \"x\" block (", bm, ",", bk, ") map (%i: i32[], %j: i32[], %k: i32[]) { return %i, %k; };\n",
      "  in %y: bf16[", k, ",", n, "] as \"y\" block (", bk, ",", bn,
      ") map (%i: i32[], %j: i32[], %k: i32[]) { return %k, %j; };\n  grid [", m / bm, ",", n / bn, ",", k / bk,
      "];\n  out %o: f32[", m, ",", n, "] as \"o\" block (", bm, ",", bn,
      ") map (%i: i32[], %j: i32[], %k: i32[]) { return %i, %j; };\n", "  body @matmul (%xr: ref<default,bf16[", bm,
      ",", bk, "]>, %yr: ref<default,bf16[", bk, ",", bn, "]>, %or: ref<default,f32[", bm, ",", bn,
      "]>) {\n    %k = program_id{axis=2}() : i32[];\n    %first = eq(%k, 0:i32) : bool[];\n",
      "    cond(%first) { return; } {\n      %zero = broadcast_in_dim{shape=[", bm, ",", bn,
      "], dims=[]}(0.0:f32) : f32[", bm, ",", bn, "];\n      _ = swap(%or, %zero) : f32[", bm, ",", bn,
      "];\n      return;\n    };\n    %a = get(%xr) : bf16[", bm, ",", bk, "];\n    %b = get(%yr) : bf16[", bk, ",", bn,
      "];\n    %d = dot_general{contract=[[1],[0]], batch=[[],[]], precision=none, preferred=f32}(%a, %b) : f32[", bm,
      ",", bn, "];\n    %old = get(%or) : f32[", bm, ",", bn, "];\n    %new = add(%old, %d) : f32[", bm, ",", bn,
      "];\n    _ = swap(%or, %new) : f32[", bm, ",", bn, "];\n    return;\n  }\n}\n");
}

// Rows of x, `block` at a time, doubled.
inline std::string Doubled(std::int64_t rows, std::int64_t block, const std::string& more = "",
                           const std::string& semantics = "parallel") {
  return Cat("pkir 1;\nkernel @doubled {\n  backend mosaic_tpu;\n  params {dimension_semantics=[\"", semantics,
             "\"]};\n  in %x: f32[", rows, ",1024] as \"x\" block (", block,
             ",1024) map (%i: i32[]) { return %i, 0:i32; }", more, ";\n  grid [", rows / block, "];\n  out %o: f32[",
             rows, ",1024] as \"o\" block (", block, ",1024) map (%i: i32[]) { return %i, 0:i32; };\n",
             "  body @b (%xr: ref<default,f32[", block, ",1024]>, %or: ref<default,f32[", block,
             ",1024]>) {\n    %v = get(%xr) : f32[", block, ",1024];\n    %w = add(%v, %v) : f32[", block,
             ",1024];\n    _ = swap(%or, %w) : f32[", block, ",1024];\n    return;\n  }\n}\n");
}

// Its inputs are ones.
inline base::Timed TimeText(const std::string& text, const std::string& chip,
                            const std::optional<timeline::TimelineOptions>& timeline = std::nullopt) {
  const absl::StatusOr<PreparedKernel> kernel =
      PrepareText(text, {.kernel = "", .target = Cat("mosaic_tpu/", chip), .path = "", .observable = true});
  EXPECT_TRUE(kernel.ok()) << kernel.status() << "\n" << text;
  std::vector<Tensor> inputs;
  for (const OperandDescription& input : kernel->inputs())
    inputs.push_back(*TensorFromText(input.dtype, input.shape, IsFloat(input.dtype) ? "full(1.0)" : "full(1)"));
  const absl::StatusOr<const machines::Machine*> machine = machines::FindMachine(chip);
  absl::StatusOr<base::Timed> timed = TimeKernel({*kernel, inputs, **machine, {}, timeline});
  EXPECT_TRUE(timed.ok()) << timed.status();
  return timed.ok() ? *std::move(timed) : base::Timed{};
}

inline const report::LineTime& LineOf(const report::Timing& timing, const std::string& op) {
  static const report::LineTime kNone;
  for (const report::LineTime& line : timing.lines) {
    if (line.op == op) return line;
  }
  ADD_FAILURE() << "no line " << op;
  return kNone;
}

}  // namespace palladion::timing::tpu

#endif  // PALLADION_EMU_TIMING_TPU_TIMING_TEST_UTIL_H_
