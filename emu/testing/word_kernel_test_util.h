// Kernels of programs that see each other through two words in memory, for tests of schedules.
#ifndef PALLADION_EMU_TESTING_WORD_KERNEL_TEST_UTIL_H_
#define PALLADION_EMU_TESTING_WORD_KERNEL_TEST_UTIL_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "emu/emulate.h"
#include "emu/kernel/prepared_kernel.h"
#include "emu/run/launch/execution_mode.h"
#include "emu/run/launch/run.h"
#include "emu/values.h"
#include "scheduler/policies/portfolio.h"
#include "semantics/base/cat.h"

namespace palladion {

// A kernel over `programs` programs with a word %n that starts as 0, is input and output, and o[programs].
inline std::string WordKernel(int programs, const std::string& body) {
  return Cat("pkir 1;\nkernel @k {\n  grid [", programs, "];\n  in %c: i32[1];\n  in %l: i32[1];\n  out %o: i32[",
             programs, "];\n  out %d: i32[1] alias %c;\n  out %m: i32[1] alias %l;\n",
             "  body @b (%cr: ref<default,i32[1]>, %kr: ref<default,i32[1]>, %or: ref<default,i32[", programs,
             "]>, %n: ref<default,i32[1]>, %lock: ref<default,i32[1]>) {\n    %p = program_id{axis=0}() : i32[];\n",
             body, "    return;\n  }\n}\n");
}

// Adds one to %n, not atomically.
inline const std::string kSplitUpdate =
    "    %v = get(%n.at[0]) : i32[];\n    %w = add(%v, 1:i32) : i32[];\n    _ = swap(%n.at[0], %w) : i32[];\n";

// Takes a lock of one word.
inline std::string Take(const std::string& word) {
  return Cat("    while() () {\n      %old = atomic_cas(%", word,
             ".at[0], 0:i32, 1:i32) : i32[];\n      %busy = ne(%old, 0:i32) : bool[];\n      return %busy;\n    } () { "
             "return; };\n");
}
inline std::string Give(const std::string& word) {
  return Cat("    _ = atomic_rmw{op=xchg}(%", word, ".at[0], 0:i32) : i32[];\n");
}

class TestKernel {
 public:
  explicit TestKernel(const std::string& text, const std::string& target = "triton/h100") {
    absl::StatusOr<PreparedKernel> kernel = PrepareText(text, {.kernel = "", .target = target, .path = ""});
    EXPECT_TRUE(kernel.ok()) << kernel.status();
    kernel_ = std::make_unique<PreparedKernel>(*std::move(kernel));
    for (const OperandDescription& input : kernel_->inputs())
      inputs_.push_back(*TensorFromText(input.dtype, input.shape, "zeros"));
    for (const OperandDescription& output : kernel_->outputs())
      outputs_.push_back(*Tensor::CreateUninitialized(output.dtype, output.shape));
  }

  const kernel::PreparedKernelState& state() const { return kernel_->state(); }
  std::vector<ConstArray> in() const {
    std::vector<ConstArray> arrays;
    for (const Tensor& tensor : inputs_) arrays.push_back({tensor.dtype(), tensor.shape(), tensor.bytes()});
    return arrays;
  }
  std::vector<MutableArray> out() {
    std::vector<MutableArray> arrays;
    for (Tensor& tensor : outputs_) arrays.push_back({tensor.dtype(), tensor.shape(), tensor.bytes()});
    return arrays;
  }

  agents::Ran Run(scheduler::Policy& policy, const agents::LaunchOptions& options = {}) {
    const std::vector<ConstArray> inputs = in();
    const std::vector<MutableArray> outputs = out();
    agents::LaunchOptions under_policy = options;
    under_policy.mode = launch::ExecutionModeOf(state().program(), {.purpose = launch::Purpose::kMoves});
    absl::StatusOr<agents::Ran> result = launch::Run({state(), inputs, outputs}, under_policy, policy);
    EXPECT_TRUE(result.ok()) << result.status();
    return result.ok() ? *std::move(result) : agents::Ran{};
  }
  agents::Ran RunSeed(std::uint64_t seed, const agents::LaunchOptions& options = {}) {
    return Run(*scheduler::MakePolicy(scheduler::PolicyOfSeed(seed), seed, {20, {5, 5, 5, 5}}), options);
  }
  std::string Outputs() const {
    std::string bytes;
    for (const Tensor& tensor : outputs_)
      bytes.append(reinterpret_cast<const char*>(tensor.bytes()), tensor.num_bytes());
    return bytes;
  }
  std::int32_t Word(std::size_t output, std::size_t element = 0) const {
    return reinterpret_cast<const std::int32_t*>(outputs_[output].bytes())[element];
  }

 private:
  std::unique_ptr<PreparedKernel> kernel_;
  std::vector<Tensor> inputs_, outputs_;
};

}  // namespace palladion

#endif  // PALLADION_EMU_TESTING_WORD_KERNEL_TEST_UTIL_H_
