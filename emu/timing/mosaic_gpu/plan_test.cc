// What each kind of operation of a thread costs, in a kernel that does little else.
#include "emu/timing/mosaic_gpu/plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "emu/timing/gpu/h100_test_util.h"
#include "emu/timing/mosaic_gpu/kernels_test_util.h"
#include "emu/timing/time_kernel.h"

namespace palladion::timing::mosaic_gpu::test {
namespace {

using gpu::BurstOf;
using gpu::HopperCosts;
using gpu::Pipe;
using gpu::test::H100;
using machines::Bytes;
using machines::Cycles;
using report::Timing;

// By how much the copy's cycles grow with so much more in its thread.
Cycles More(const std::string& body) {
  const machines::Machine machine = MachineNamed("h100");
  return RunOf(CopyText(body), machine).timed.timing.cycles - RunOf(CopyText(), machine).timed.timing.cycles;
}

TEST(GpuPlan, EachOperationOfAThreadTakesItsTime) {
  const HopperCosts costs = H100();
  const auto burst = [&](Pipe pipe, std::int64_t elements) { return BurstOf(costs, pipe, elements, 4).result.value(); };
  EXPECT_NEAR(More("      commit_smem();\n").value(), costs.fence.value(), 0.01);
  const std::string load = "      %v = get(%a) : f32[64,32];\n";
  const double loaded = (gpu::PortTime(costs, Bytes(8192)) + costs.smem_latency).value();
  EXPECT_NEAR(More(load).value(), loaded, 0.01);
  EXPECT_NEAR(More(load + "      %w = add(%v, %v) : f32[64,32];\n").value(), loaded + burst(Pipe::kFp32, 2048), 0.01);
  EXPECT_NEAR(More(load + "      %w = exp2(%v) : f32[64,32];\n").value(), loaded + burst(Pipe::kTranscendental, 2048),
              0.01);
  EXPECT_NEAR(More(load + "      %w = reduce_max{axes=[1]}(%v) : f32[64];\n").value(),
              loaded + burst(Pipe::kAlu, 2048) + burst(Pipe::kShuffle, 512), 0.01);
  EXPECT_NEAR(More(load + "      _ = swap(%a, %v) : f32[64,32];\n").value(), loaded + 64, 0.01);
  EXPECT_NEAR(More("      %g = get(%xr) : f32[64,32];\n").value(), (Cycles(64) + costs.l2_latency).value(), 10);
}

TEST(GpuPlan, AnAtomicIsAStoreThatIsReadFromL2) {
  const std::string load = "      %v = get(%a) : f32[64,32];\n";
  const double loaded = More(load).value();
  const std::string add = "      atomic_store{atomic_type=add}(ref=%or, value=%v);\n";
  EXPECT_NEAR(More(load + add).value(), loaded + 64, 0.01);
  const Timing timing = RunOf(CopyText(load + add), MachineNamed("h100")).timed.timing;
  EXPECT_EQ(timing.traffic[1].written, Bytes(2 * 8192));
  EXPECT_NE(std::find(timing.left_out.begin(), timing.left_out.end(),
                      "atomics on one address, which take place one after another"),
            timing.left_out.end());
}

// Block 1 waits for block 0, which signals at once or after some powers.
std::string SignalText(const std::string& before) {
  return R"(pkir 1;
kernel @k {
  backend mosaic_gpu;
  out %o: i32[128] space gmem;
  mesh gpu {grid=[2], grid_names=["x"], cluster=[], cluster_names=[], threads=none, thread_name=none};
  body @k (%or: ref<gmem,i32[128]> as "o_ref") {
    run_scoped{collective_axes=[]}() () {
      %there = get_global{what="Ref<gmem>{semaphore[]}"}() : ref<gmem,sem[]>;
      %x = axis_index{axis="x"}() : i32[];
      cond(%x) {
)" + before +
         R"(        semaphore_signal{device_id_type=mesh}(ref=%there, inc=1:i32, device_id=none, core_index=none);
        return;
      } {
        semaphore_wait(ref=%there, value=1:i32, decrement=true);
        return;
      };
      return;
    };
    return;
  }
}
)";
}

TEST(GpuPlan, ASignalIsSeenAfterADeviceFence) {
  const machines::Machine machine = MachineNamed("h100"), slow = MachineNamed("h100", {"fence.device=1651 ns"});
  const std::string late = SignalText(
      "        %z = broadcast_in_dim{shape=[4096], dims=[]}(1.0:f32) : f32[4096];\n"
      "        %p = exp2(%z) : f32[4096];\n");
  const auto cycles = [](const std::string& text, const machines::Machine& on) {
    return RunOf(text, on).timed.timing.cycles;
  };
  const HopperCosts costs = H100();
  const double powers = BurstOf(costs, Pipe::kTranscendental, 4096, 4).result.value();
  EXPECT_NEAR(cycles(late, machine).value(), powers + costs.device_fence.value(), 20);
  EXPECT_NEAR((cycles(late, slow) - cycles(late, machine)).value(), 1755, 1);
}

TEST(GpuPlan, AStoreIntoAnotherBlockArrivesLater) {
  const std::string text = R"(pkir 1;
kernel @k {
  backend mosaic_gpu;
  in %x: i32[2,32] space gmem;
  out %o: i32[2,32] space gmem;
  mesh gpu {grid=[], grid_names=[], cluster=[2], cluster_names=["c"], threads=none, thread_name=none};
  body @k (%xr: ref<gmem,i32[2,32]> as "x_ref", %or: ref<gmem,i32[2,32]> as "o_ref") {
    run_scoped{collective_axes=[]}() (%s: ref<smem,i32[32]> as "s", %there: ref<smem,barrier{arrivals=1}[1]> as "there") {
      %c = axis_index{axis="c"}() : i32[];
      %other = sub(1:i32, %c) : i32[];
      %v = get(%xr.at[%c, *]) : i32[32];
      async_store_smem{cluster_dim="c", optimized=true, atomic=none}(src=%v, ref=%s, barrier=%there.at[0], cluster_idx=%other);
      barrier_wait(barrier=%there.at[0]);
      return;
    };
    return;
  }
}
)";
  const Timing near = RunOf(text, MachineNamed("h100")).timed.timing;
  const Timing far = RunOf(text, MachineNamed("h100", {"dsmem.latency=1181"})).timed.timing;
  EXPECT_NEAR((far.cycles - near.cycles).value(), 1000, 1);
}

// Hardware keeps the order of products by itself: one is in the pipe while the next is issued.
TEST(GpuPlan, ProductsThatFollowOneAnotherLeaveNoGap) {
  const HopperCosts costs = H100();
  const Timing timing = RunOf(R"(pkir 1;
kernel @k {
  backend mosaic_gpu;
  out %o: f32[64,128] space gmem;
  mesh gpu {grid=[], grid_names=[], cluster=[], cluster_names=[], threads=none, thread_name=none};
  body @k (%or: ref<gmem,f32[64,128]> as "o_ref") {
    run_scoped{collective_axes=[]}() (%a: ref<smem,f16[8,1,8,64]> as "a", %b: ref<smem,f16[8,2,8,64]> as "b",
        %acc: ref<regs,f32[64,128]> as "acc") {
      _ = scan{length=10, reverse=false}(init=0:i32) (%n: i32[]) {
        wgmma_ref(acc=%acc, a=%a.unswizzle(128).untile[8,64], b=%b.unswizzle(128).untile[8,64]);
        return %n;
      } : i32[];
      wgmma_wait(0:i32);
      return;
    };
    return;
  }
}
)",
                              MachineNamed("h100"))
                            .timed.timing;
  const Cycles pipe = 40.0 * gpu::WgmmaInterval(costs, 128, gpu::Left::kShared);
  EXPECT_NEAR(timing.cycles.value(), (pipe + gpu::WgmmaDrain(costs)).value(), 60);
}

TEST(GpuPlan, AnOperationWithoutACostNamesItsLine) {
  const std::string text = CopyText("      delay(1000:i32);\n");
  const PreparedKernel kernel = Prepared(text);
  const machines::Machine machine = MachineNamed("h100");
  const std::vector<Tensor> inputs = InputsOf(kernel);
  const absl::Status status = TimeKernel({kernel, inputs, machine, {}}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented) << status;
  EXPECT_NE(std::string(status.message()).find("line 12"), std::string::npos) << status;
  EXPECT_NE(std::string(status.message()).find("'delay' has no cost"), std::string::npos) << status;
}

}  // namespace
}  // namespace palladion::timing::mosaic_gpu::test
