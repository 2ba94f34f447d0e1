// Two launches of one run: on two devices under one policy, and one after the other on one device, each with the
// results and findings that it has in a run of its own.
#include "emu/launch/run.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "emu/testing/word_kernel_test_util.h"
#include "emu/threads/thread_test_util.h"
#include "scheduler/policies/portfolio.h"
#include "semantics/base/cat.h"

namespace palladion::launch {
namespace {

// Adds to what is there; two threads store into the same shared memory, and nothing orders them.
std::string RacyText() {
  return threads::ThreadKernel(threads::Threads(2),
                               "    run_scoped{collective_axes=[\"wg\"]}() "
                               "(%sm: ref<smem,i32[128]> as \"smem\") {\n"
                               "      %v = get(%xr) : i32[128];\n"
                               "      %w = add(%v, 1:i32) : i32[128];\n"
                               "      _ = swap(%sm, %w) : i32[128];\n"
                               "      %r = get(%sm) : i32[128];\n"
                               "      _ = swap(%or, %r) : i32[128];\n"
                               "      return;\n    };\n");
}

// One waits for what nobody brings about.
std::string StuckText() {
  return threads::ThreadKernel(threads::Threads(2),
                               "    run_scoped{collective_axes=[\"wg\"]}() "
                               "(%b: ref<smem,barrier{arrivals=1, "
                               "orders_tensor_core=false}[1]> as \"b\") {\n"
                               "      barrier_wait(barrier=%b);\n"
                               "      return;\n    };\n");
}

// A kernel with arrays of its own.
class Launched {
 public:
  explicit Launched(const std::string& text, const std::string& target = "mosaic_gpu/h100") {
    absl::StatusOr<PreparedKernel> kernel = PrepareText(text, {.kernel = "", .target = target, .path = ""});
    EXPECT_TRUE(kernel.ok()) << kernel.status() << "\n" << text;
    kernel_ = std::make_unique<PreparedKernel>(*std::move(kernel));
    for (const OperandDescription& input : kernel_->inputs())
      inputs_.push_back(*TensorFromText(input.dtype, input.shape, target == "mosaic_gpu/h100" ? "iota" : "zeros"));
    for (const OperandDescription& output : kernel_->outputs())
      outputs_.push_back(*TensorFromText(output.dtype, output.shape, "zeros"));
    for (const Tensor& tensor : inputs_) in_.push_back({tensor.dtype(), tensor.shape(), tensor.bytes()});
    for (Tensor& tensor : outputs_) out_.push_back({tensor.dtype(), tensor.shape(), tensor.bytes()});
    options_.races = true;
    options_.launch.definedness = true;
    options_.launch.observers.push_back(&look_);
  }

  ScheduledCall On(std::int32_t device) { return {kernel_->state(), in_, out_, options_, device}; }
  void TakeInput(const Launched& other) { in_[0].data = other.outputs_[0].bytes(); }
  const std::vector<BufferId>& buffers() const { return buffers_; }
  std::int32_t device() const { return device_; }

  std::string Told(const ScheduledResult& result) const {
    std::string told;
    for (const Tensor& tensor : outputs_)
      told.append(reinterpret_cast<const char*>(tensor.bytes()), tensor.num_bytes());
    for (const Finding& finding : result.launch.findings) {
      Append(&told, "\n", Code(finding.code), " line ", finding.text_line, " ", finding.count,
             " times: ", finding.message, "; ", finding.why, "; ", finding.fix);
    }
    return Cat(told, "\n", result.launch.programs, " programs, ", result.launch.accesses, " accesses");
  }
  std::string Alone(scheduler::Policy& policy) {
    const absl::StatusOr<ScheduledResult> result = RunScheduled(On(0), policy);
    EXPECT_TRUE(result.ok()) << result.status();
    return result.ok() ? Told(*result) : "";
  }

 private:
  std::unique_ptr<PreparedKernel> kernel_;
  std::vector<Tensor> inputs_, outputs_;
  std::vector<ConstArray> in_;
  std::vector<MutableArray> out_;
  ScheduledOptions options_;
  std::vector<BufferId> buffers_;
  std::int32_t device_ = -1;
  run::BoundAndFinished look_{[this](memory_model::Memory& memory, absl::Span<const BufferId> arrays) {
    for (const BufferId array : arrays) {
      buffers_.push_back(array);
      device_ = memory.DeviceOf(array);
    }
  }};
};

std::unique_ptr<scheduler::Policy> OfSeed(std::uint64_t seed) {
  return scheduler::MakePolicy(scheduler::PolicyOfSeed(seed), seed, {20, {5, 5, 5, 5}});
}

// An update under a lock: every order of the programs ends with the same word.
std::string LockedText() {
  return WordKernel(4, Take("lock") + kSplitUpdate + Give("lock") + "    _ = swap(%or.at[%p], %p) : i32[];\n");
}

TEST(RunLaunches, OnTwoDevicesEachIsAsItWereAlone) {
  const std::string alone_racy = Launched(RacyText()).Alone(*OfSeed(0));
  EXPECT_NE(std::string::npos, alone_racy.find("RACE_")) << alone_racy;
  const std::string alone_locked = Launched(LockedText(), "triton/h100").Alone(*OfSeed(0));
  Launched racy(RacyText()), locked(LockedText(), "triton/h100");
  agents::RunState run(2);
  const std::vector<ScheduledCall> calls = {racy.On(0), locked.On(1)};
  const auto results = RunLaunches(run, calls, *OfSeed(0));
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ(alone_racy, racy.Told((*results)[0]));
  EXPECT_EQ(alone_locked, locked.Told((*results)[1]));
  EXPECT_EQ(0, racy.device());
  EXPECT_EQ(1, locked.device());
  for (const BufferId mine : racy.buffers()) {
    for (const BufferId other : locked.buffers()) EXPECT_NE(mine, other) << "an id is one buffer's of the run";
  }
}

// Whatever the policy, both come to their end, with what every schedule of them shows.
TEST(RunLaunches, AgentsOfBothGoInTheOrderOfOnePolicy) {
  std::int64_t switches = 0;
  for (std::uint64_t seed = 0; seed < 13; ++seed) {
    Launched first(LockedText(), "triton/h100"), second(LockedText(), "triton/h100");
    agents::RunState run(2);
    const std::vector<ScheduledCall> calls = {first.On(1), second.On(0)};
    const auto results = RunLaunches(run, calls, *OfSeed(seed));
    ASSERT_TRUE(results.ok()) << results.status();
    EXPECT_EQ(scheduler::Outcome::kFinished, (*results)[0].run.outcome);
    EXPECT_EQ(8, (*results)[0].run.agents);
    EXPECT_EQ(*first.On(1).outputs[1].data, std::byte{4}) << "the word, seed " << seed;
    EXPECT_EQ(*second.On(0).outputs[1].data, std::byte{4}) << "the word, seed " << seed;
    switches += (*results)[0].run.switches;
  }
  EXPECT_GT(switches, 20) << "policies go from one launch to the other";
}

TEST(RunLaunches, OneAfterAnotherTheSecondSeesTheArraysOfTheFirst) {
  Launched first(RacyText()), second(RacyText());
  second.TakeInput(first);
  const std::string alone_first = first.Alone(*OfSeed(0)), alone_second = second.Alone(*OfSeed(0));
  EXPECT_NE(alone_first, alone_second) << "the second adds to what the first left";
  agents::RunState run;
  for (Launched* launched : {&first, &second}) {
    const auto results = RunLaunches(run, std::vector<ScheduledCall>{launched->On(0)}, *OfSeed(0));
    ASSERT_TRUE(results.ok()) << results.status();
    EXPECT_EQ(launched == &first ? alone_first : alone_second, launched->Told((*results)[0]));
  }
}

TEST(RunLaunches, ADeadlockIsOfItsLaunchAndNamesTheDevice) {
  Launched stuck(StuckText()), locked(LockedText(), "triton/h100");
  agents::RunState run(2);
  const std::vector<ScheduledCall> calls = {locked.On(0), stuck.On(1)};
  const auto results = RunLaunches(run, calls, *OfSeed(0));
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ(scheduler::Outcome::kFinished, (*results)[0].run.outcome);
  EXPECT_TRUE((*results)[0].launch.findings.empty());
  ASSERT_EQ(scheduler::Outcome::kDeadlock, (*results)[1].run.outcome);
  const std::string told = stuck.Told((*results)[1]);
  EXPECT_NE(std::string::npos, told.find("DEADLOCK")) << told;
  EXPECT_NE(std::string::npos, told.find("on device 1")) << told;
  EXPECT_EQ(std::string::npos, told.find("on device 0")) << told;
}

TEST(RunLaunches, ADeviceHasOneLaunchAtATime) {
  Launched one(RacyText()), two(RacyText());
  agents::RunState run(2);
  const std::vector<ScheduledCall> both = {one.On(1), two.On(1)}, nowhere = {one.On(2)};
  const absl::Status busy = RunLaunches(run, both, *OfSeed(0)).status();
  EXPECT_EQ(absl::StatusCode::kInvalidArgument, busy.code());
  EXPECT_NE(std::string::npos, busy.message().find("device 1 of a run with 2 devices")) << busy;
  EXPECT_EQ(absl::StatusCode::kInvalidArgument, RunLaunches(run, nowhere, *OfSeed(0)).status().code());
  EXPECT_TRUE(RunLaunches(run, std::vector<ScheduledCall>{one.On(1)}, *OfSeed(0)).ok()) << "it is free again";
}

}  // namespace
}  // namespace palladion::launch
