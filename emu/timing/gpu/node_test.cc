// What devices do in each other's memory takes: against counting, and of kernel text by comparison.
#include "emu/timing/gpu/node.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "emu/timing/base/ticks.h"
#include "emu/timing/gpu/h100_test_util.h"
#include "emu/timing/mosaic_gpu/kernels_test_util.h"
#include "emu/timing/time_kernel.h"

namespace palladion::timing::gpu::test {
namespace {

using base::CyclesOf;
using machines::Bytes;
using machines::Cycles;
using mosaic_gpu::test::InputsOf;
using mosaic_gpu::test::MachineNamed;
using mosaic_gpu::test::Prepared;
using mosaic_gpu::test::RunOf;
using report::Timing;
using scheduler::Ticks;
using timeline::TimelineOptions;

constexpr std::int64_t kKilobyte = 1024;

LinkCosts Links() {
  return {.read = machines::BytesPerCycle(256), .write = machines::BytesPerCycle(128), .latency = Cycles(3000)};
}

GlobalBox Kilobytes(std::int64_t n) {
  return {.array = 0, .first_byte = 0, .row_stride = 128, .rows = 8 * n, .row_bytes = 128};
}

// A byte of a store goes out once, and into every device that it is for.
TEST(GpuNode, AStoreToAllLeavesOnce) {
  GpuNode node(H100(), Links(), 3);
  const GpuChip::Stored stored = node.StoreDirectly({0, 0}, {}, {std::vector<std::int64_t>{0, 1, 2}}, Kilobytes(64));
  EXPECT_EQ(node.links()->use(0).out_bytes, 64 * kKilobyte);
  EXPECT_EQ(CyclesOf(node.links()->use(0).out), Cycles(512));
  EXPECT_GE(CyclesOf(stored.written), Cycles(512));
  for (const std::int64_t device : {0, 1, 2}) {
    EXPECT_EQ(node.links()->use(device).in_bytes, 64 * kKilobyte);
    EXPECT_EQ(node.chip(device).use().dram_bytes, 64 * kKilobyte) << "through the L2 of whose memory it is";
  }
  EXPECT_EQ(node.links()->use(1).out_bytes, 0);
}

TEST(GpuNode, WhatIsAddedUpComesInOnce) {
  GpuNode node(H100(), Links(), 2);
  const Ticks there = node.LoadDirectly({1, 0}, {}, {std::vector<std::int64_t>{0, 1}}, Kilobytes(64));
  EXPECT_EQ(node.links()->use(1).in_bytes, 64 * kKilobyte);
  EXPECT_EQ(node.links()->use(0).out_bytes, 64 * kKilobyte);
  EXPECT_EQ(node.links()->use(1).out_bytes, 64 * kKilobyte);
  EXPECT_EQ(node.chip(0).use().dram_bytes, 64 * kKilobyte);
  EXPECT_GE(CyclesOf(there), Cycles(3000 + 256));
}

// Two that send to one share its link; to two they do not.
TEST(GpuNode, LinksAreShared) {
  const auto last = [](std::int64_t second) {
    GpuNode node(H100(), Links(), 4);
    const std::vector<std::int64_t> one = {2}, other = {second};
    const Ticks first = node.Store({0, 0}, {}, one, Kilobytes(512)).written;
    return std::max(first, node.Store({1, 0}, {}, other, Kilobytes(512)).written);
  };
  EXPECT_NEAR(CyclesOf(last(2) - last(3)).value(), 4096, 200);
}

// What a link has not taken is still in shared memory.
TEST(GpuNode, ACopyIsReadWhenTheLinkHasIt) {
  GpuNode node(H100(), Links(), 2);
  const std::vector<std::int64_t> to = {1};
  node.Store({0, 0}, {}, to, Kilobytes(1024));
  EXPECT_GE(CyclesOf(node.Store({0, 1}, {}, to, Kilobytes(1)).read), Cycles(8192));
}

// ---- kernel text: each of two devices stores its row on the other, or on itself, and signals that device.
std::string PermuteText(const std::string& device) {
  return R"(pkir 1;
kernel @permute {
  backend mosaic_gpu;
  devices {d=2};
  in %x: f32[1024] space gmem;
  out %o: f32[1024] space gmem;
  mesh gpu {grid=[], grid_names=[], cluster=[], cluster_names=[], threads=none, thread_name=none};
  body @permute (%xr: ref<gmem,f32[1024]> as "x_ref", %or: ref<gmem,f32[1024]> as "o_ref") {
    %s = get_global{what="s"}() : ref<gmem,sem[]>;
    %me = axis_index{axis="d"}() : i32[];
    %other = sub(1:i32, %me) : i32[];
    %to = add()" +
         device + R"(, 0:i32) : i32[];
    %v = get(%xr) : f32[1024];
    _ = swap(%or.peer(%to, mesh), %v) : f32[1024];
    semaphore_signal{device_id_type=mesh}(ref=%s, inc=1:i32, device_id=%to, core_index=none);
    semaphore_wait(ref=%s, value=1:i32, decrement=true);
    return;
  }
}
)";
}

TEST(GpuNode, ASignalToAnotherDeviceTakesItsLinksLatency) {
  const Timing there = RunOf(PermuteText("%other"), MachineNamed("h100")).timed.timing;
  const Timing here = RunOf(PermuteText("%me"), MachineNamed("h100")).timed.timing;
  ASSERT_EQ(there.devices.size(), 2u);
  EXPECT_EQ(there.devices[0].device, "device 0");
  EXPECT_EQ(there.devices[1].sent, Bytes(4096));
  EXPECT_EQ(there.devices[1].received, Bytes(4096));
  EXPECT_EQ(here.devices[1].sent, Bytes(0));
  ASSERT_FALSE(there.devices[0].stalls.empty());
  EXPECT_GT(there.cycles, here.cycles);
  EXPECT_FALSE(there.uncertainty.has_value());
  const Timing slower = RunOf(PermuteText("%other"), MachineNamed("h100", {"link.atomic=2662 ns"})).timed.timing;
  EXPECT_NEAR((slower.cycles - there.cycles).value(), 1755, 1);
}

// Of either device there is a picture, with its link.
TEST(GpuNode, EitherDeviceCanBeDrawn) {
  const PreparedKernel kernel = Prepared(PermuteText("%other"), "mosaic_gpu/h100");
  const std::vector<Tensor> inputs = InputsOf(kernel);
  const machines::Machine machine = MachineNamed("h100");
  const absl::StatusOr<base::Timed> timed = TimeKernel({kernel, inputs, machine, {}, TimelineOptions{.device = 1}});
  ASSERT_TRUE(timed.ok()) << timed.status();
  const timeline::Timeline& timeline = *timed->timeline;
  EXPECT_EQ(timeline.of, "device 1, SM 0");
  EXPECT_EQ(timeline.lanes[0].group, "block (1)") << "whose first dimension is the mesh of devices";
  ASSERT_EQ(timeline.strips.size(), 5u);
  EXPECT_EQ(timeline.strips[3].name, "NVLink, out");
  const absl::Status none = TimeKernel({kernel, inputs, machine, {}, TimelineOptions{.device = 2}}).status();
  EXPECT_EQ(none.message(), "a timeline of device 2 is requested; kernel @permute runs on devices 0 to 1");
}

TEST(GpuNode, ALinkWithoutANumberIsAnError) {
  std::string text = MachineNamed("h100").Print();
  const std::size_t line = text.find("link.atomic");
  text.erase(line, text.find('\n', line) + 1 - line);
  const absl::StatusOr<machines::Machine> machine = machines::Machine::Parse(text, "h100.machine");
  ASSERT_TRUE(machine.ok()) << machine.status();
  const PreparedKernel kernel = Prepared(PermuteText("%other"));
  const absl::Status status = mosaic_gpu::TimeOnGpu({kernel, InputsOf(kernel), *machine, {}}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_NE(std::string(status.message()).find("link.atomic"), std::string::npos) << status;
}

}  // namespace
}  // namespace palladion::timing::gpu::test
