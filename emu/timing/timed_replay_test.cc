// The schedule of a timed run, written and replayed by a check: outputs that depend on the order are the same.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "emu/check.h"
#include "emu/timing/mosaic_gpu/kernels_test_util.h"
#include "emu/timing/time_kernel.h"

namespace palladion::timing::test {
namespace {

using base::Timed;
using mosaic_gpu::test::InputsOf;
using mosaic_gpu::test::MachineNamed;
using mosaic_gpu::test::Prepared;

// Eight blocks that each copy their number over all of %o; the first one works longest before it does, so in time its
// number is the last to come, and in the order of the grid the first. Two fit on an SM.
constexpr char kLast[] = R"(pkir 1;
kernel @last {
  backend mosaic_gpu;
  in %x: f32[8,64,32] space gmem;
  out %o: f32[64,32] space gmem;
  mesh gpu {grid=[8], grid_names=["b"], cluster=[], cluster_names=[], threads=none, thread_name=none};
  body @last (%xr: ref<gmem,f32[8,64,32]> as "x_ref", %or: ref<gmem,f32[64,32]> as "o_ref") {
    run_scoped{collective_axes=[]}() (%a: ref<smem,f32[64,32]> as "a", %room: ref<smem,f32[24576]> as "room") {
      %b = axis_index{axis="b"}() : i32[];
      %v = get(%xr.at[%b, *, *]) : f32[64,32];
      %other = min(%b, 1:i32) : i32[];
      %w = cond(%other) {
        %c = scan{length=2000, reverse=false}(init=%v) (%d: f32[64,32]) {
          %e = mul(%d, %d) : f32[64,32];
          return %e;
        } : f32[64,32];
        return %c;
      } { return %v; } : f32[64,32];
      _ = swap(%a, %w) : f32[64,32];
      commit_smem();
      copy_smem_to_gmem{commit_group=true}(src=%a, dst=%or);
      wait_smem_to_gmem{wait_read_only=false}(0:i32);
      return;
    };
    return;
  }
}
)";

float FirstOf(const Tensor& tensor) {
  float value = 0;
  std::memcpy(&value, tensor.bytes(), sizeof value);
  return value;
}

std::vector<Tensor> Numbers(const PreparedKernel& kernel) {
  std::vector<Tensor> inputs = InputsOf(kernel, "zeros");
  std::vector<float> values;
  for (int i = 0; i < 8 * 64 * 32; ++i) values.push_back(static_cast<float>(i / (64 * 32)));
  std::memcpy(inputs[0].bytes(), values.data(), values.size() * sizeof(float));
  return inputs;
}

TEST(TimedReplay, ACheckRunsTheSameScheduleAlsoWhereBlocksWaitForRoom) {
  const PreparedKernel kernel = Prepared(kLast);
  const std::vector<Tensor> inputs = Numbers(kernel);
  for (const char* cores : {"chip.cores=132", "chip.cores=1"}) {
    const machines::Machine machine = MachineNamed("h100", {cores});
    base::TimedCall call{kernel, inputs, machine, {}, {}, /*schedule=*/true};
    const absl::StatusOr<Timed> timed = TimeKernel(call);
    ASSERT_TRUE(timed.ok()) << timed.status();
    ASSERT_TRUE(timed->schedule.has_value());
    call.values = true;
    const absl::StatusOr<mosaic_gpu::GpuRun> run = mosaic_gpu::RunOnGpu(call, {});
    ASSERT_TRUE(run.ok()) << run.status();
    std::vector<Tensor> outputs;
    const absl::StatusOr<Report> report = Check(kernel, inputs, {.replay = *timed->schedule}, &outputs);
    ASSERT_TRUE(report.ok()) << report.status() << " " << *timed->schedule;
    ASSERT_EQ(outputs.size(), 1u);
    EXPECT_EQ(FirstOf(run->outputs[0]), 0) << cores;
    EXPECT_EQ(std::memcmp(outputs[0].bytes(), run->outputs[0].bytes(), outputs[0].num_bytes()), 0)
        << cores << ": " << FirstOf(outputs[0]);
    // And it is another one than a check begins with.
    std::vector<Tensor> first;
    ASSERT_TRUE(Check(kernel, inputs, {.seeds = 1}, &first).ok());
    EXPECT_EQ(FirstOf(first[0]), 7);
  }
}

TEST(TimedReplay, WhatTheTimedRunFoundIsFoundAgain) {
  // It arrives at a barrier that no thread awaits.
  const std::string text = R"(pkir 1;
kernel @n {
  backend mosaic_gpu;
  out %o: f32[8] space gmem;
  mesh gpu {grid=[1], threads=1, thread_name="wg"};
  body @n (%or: ref<gmem,f32[8]>) {
    run_scoped{collective_axes=["wg"]}() (%bar: ref<smem,barrier{arrivals=1, orders_tensor_core=false}[1]>) {
      barrier_arrive(barrier=%bar.at[0]);
      return;
    };
    return;
  }
}
)";
  const PreparedKernel kernel = Prepared(text);
  const machines::Machine machine = MachineNamed("h100");
  const absl::StatusOr<Timed> timed = TimeKernel({kernel, {}, machine, {}, {}, /*schedule=*/true});
  ASSERT_TRUE(timed.ok()) << timed.status();
  ASSERT_FALSE(timed->report.findings.empty());
  const absl::StatusOr<Report> report = Check(kernel, {}, {.replay = *timed->schedule});
  ASSERT_TRUE(report.ok()) << report.status();
  for (const ReportedFinding& finding : timed->report.findings) {
    const auto same = [&](const ReportedFinding& other) {
      return other.code == finding.code && other.text_line == finding.text_line;
    };
    EXPECT_TRUE(std::any_of(report->findings.begin(), report->findings.end(), same)) << Code(finding.code);
  }
}

TEST(TimedReplay, WithoutAScheduleThereIsNone) {
  const PreparedKernel kernel = Prepared(mosaic_gpu::test::CopyText());
  const std::vector<Tensor> inputs = InputsOf(kernel);
  const machines::Machine machine = MachineNamed("h100");
  const absl::StatusOr<Timed> timed = TimeKernel({kernel, inputs, machine, {}, {}, false});
  ASSERT_TRUE(timed.ok()) << timed.status();
  EXPECT_FALSE(timed->schedule.has_value());
}

}  // namespace
}  // namespace palladion::timing::test
