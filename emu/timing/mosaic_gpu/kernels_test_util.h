// Mosaic GPU kernels for tests of time: a warp-specialised matrix product whose sizes, slots and order of tiles are to
// choose, and what is needed to time one.
#ifndef PALLADION_EMU_TIMING_MOSAIC_GPU_KERNELS_TEST_UTIL_H_
#define PALLADION_EMU_TIMING_MOSAIC_GPU_KERNELS_TEST_UTIL_H_

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_replace.h"
#include "emu/emulate.h"
#include "emu/timing/mosaic_gpu/timing.h"
#include "emu/values.h"
#include "semantics/base/cat.h"

namespace palladion::timing::mosaic_gpu::test {

struct TiledMatmul {
  std::int64_t m = 128, n = 128, k = 512, slots = 2;
  // How many rows of its tiles of 64 x 128 are done together; 0: one row after another.
  std::int64_t group = 0;
};

// One thread fetches into a ring of slots of K = 64, another multiplies.
inline constexpr char kMatmul[] = R"(pkir 1;
kernel @mm {
  backend mosaic_gpu;
  in %x: f16[$M,$K] space gmem;
  in %y: f16[$K,$N] space gmem;
  out %o: f32[$M,$N] space gmem;
  mesh gpu {grid=[$TILES], grid_names=["t"], cluster=[], cluster_names=[], threads=2, thread_name="wg"};
  body @mm (%xr: ref<gmem,f16[$M,$K]> as "x_ref", %yr: ref<gmem,f16[$K,$N]> as "y_ref",
            %or: ref<gmem,f32[$M,$N]> as "o_ref") {
    run_scoped{collective_axes=["wg"]}() (%a: ref<smem,f16[$S,8,1,8,64]> as "a", %b: ref<smem,f16[$S,8,2,8,64]> as "b",
        %full: ref<smem,barrier{arrivals=2, orders_tensor_core=false}[$S]> as "full",
        %empty: ref<smem,barrier{arrivals=1, orders_tensor_core=false}[$S]> as "empty") {
      %wg = axis_index{axis="wg"}() : i32[];
      %t = axis_index{axis="t"}() : i32[];
      %band = div(%t, $BAND:i32) : i32[];
      %in = rem(%t, $BAND:i32) : i32[];
      %up = rem(%in, $GROUP:i32) : i32[];
      %top = mul(%band, $GROUP:i32) : i32[];
      %row = add(%top, %up) : i32[];
      %column = div(%in, $GROUP:i32) : i32[];
      %i = mul(%row, 64:i32) : i32[];
      %j = mul(%column, 128:i32) : i32[];
      cond(%wg) {
        _ = scan{length=$STEPS, reverse=false}(init=0:i32) (%n: i32[]) {
          %s = rem(%n, $S:i32) : i32[];
          barrier_wait(barrier=%empty.at[%s]);
          %p = mul(%n, 64:i32) : i32[];
          copy_gmem_to_smem{collective_axes=[], leader_tracked=none, oob_mode=zeros}(src=%xr.at[%i +: 64, %p +: 64], dst=%a.unswizzle(128).untile[8,64].at[%s, *, *], barrier=%full.at[%s]);
          copy_gmem_to_smem{collective_axes=[], leader_tracked=none, oob_mode=zeros}(src=%yr.at[%p +: 64, %j +: 128], dst=%b.unswizzle(128).untile[8,64].at[%s, *, *], barrier=%full.at[%s]);
          %n1 = add(%n, 1:i32) : i32[];
          return %n1;
        } : i32[];
        _ = scan{length=$S, reverse=false}(init=0:i32) (%n: i32[]) {
          %m = add(%n, $STEPS:i32) : i32[];
          %s = rem(%m, $S:i32) : i32[];
          barrier_wait(barrier=%empty.at[%s]);
          %n1 = add(%n, 1:i32) : i32[];
          return %n1;
        } : i32[];
        return;
      } {
        _ = scan{length=$S, reverse=false}(init=0:i32) (%n: i32[]) {
          barrier_arrive(barrier=%empty.at[%n]);
          %n1 = add(%n, 1:i32) : i32[];
          return %n1;
        } : i32[];
        run_scoped{collective_axes=[]}() (%acc: ref<regs,f32[64,128]> as "acc") {
          _ = scan{length=$STEPS, reverse=false}(init=0:i32) (%n: i32[]) {
            %s = rem(%n, $S:i32) : i32[];
            barrier_wait(barrier=%full.at[%s]);
            wgmma_ref(acc=%acc, a=%a.unswizzle(128).untile[8,64].at[%s, *, *], b=%b.unswizzle(128).untile[8,64].at[%s, *, *]);
            wgmma_wait(0:i32);
            barrier_arrive(barrier=%empty.at[%s]);
            %n1 = add(%n, 1:i32) : i32[];
            return %n1;
          } : i32[];
          %r = wgmma_accumulator_deref{wait_n=0}(%acc) : f32[64,128];
          _ = swap(%or.at[%i +: 64, %j +: 128], %r) : f32[64,128];
          return;
        };
        return;
      };
      return;
    };
    return;
  }
}
)";

inline std::string MatmulText(const TiledMatmul& shape) {
  const std::int64_t rows = shape.m / 64, columns = shape.n / 128, group = shape.group == 0 ? 1 : shape.group;
  return absl::StrReplaceAll(kMatmul, {{"$STEPS", Cat(shape.k / 64)},
                                       {"$TILES", Cat(rows * columns)},
                                       {"$BAND", Cat(columns * group)},
                                       {"$GROUP", Cat(group)},
                                       {"$M", Cat(shape.m)},
                                       {"$N", Cat(shape.n)},
                                       {"$K", Cat(shape.k)},
                                       {"$S", Cat(shape.slots)}});
}

// A copy of 8 KB there and back, with so much more in between: %a in shared memory holds it then.
inline std::string CopyText(const std::string& body = "") {
  return R"(pkir 1;
kernel @copy {
  backend mosaic_gpu;
  in %x: f32[64,32] space gmem;
  out %o: f32[64,32] space gmem;
  mesh gpu {grid=[], grid_names=[], cluster=[], cluster_names=[], threads=none, thread_name=none};
  body @copy (%xr: ref<gmem,f32[64,32]> as "x_ref", %or: ref<gmem,f32[64,32]> as "o_ref") {
    run_scoped{collective_axes=[]}() (%a: ref<smem,f32[64,32]> as "a",
        %full: ref<smem,barrier{arrivals=1, orders_tensor_core=false}[1]> as "full") {
      copy_gmem_to_smem{collective_axes=none, leader_tracked=none, oob_mode=zeros}(src=%xr, dst=%a, barrier=%full);
      barrier_wait(barrier=%full);
)" + body +
         R"(      copy_smem_to_gmem{commit_group=true}(src=%a, dst=%or);
      wait_smem_to_gmem{wait_read_only=false}(0:i32);
      return;
    };
    return;
  }
}
)";
}

inline PreparedKernel Prepared(const std::string& text, const std::string& target = "mosaic_gpu/h100") {
  absl::StatusOr<PreparedKernel> kernel = PrepareText(text, {.target = target, .observable = true});
  EXPECT_TRUE(kernel.ok()) << kernel.status() << "\n" << text;
  return *std::move(kernel);
}

inline std::vector<Tensor> InputsOf(const PreparedKernel& kernel, const std::string& values = "full(1)") {
  std::vector<Tensor> inputs;
  for (const OperandDescription& input : kernel.inputs())
    inputs.push_back(*TensorFromText(input.dtype, input.shape, values));
  return inputs;
}

inline machines::Machine MachineNamed(const std::string& name, const std::vector<std::string>& changes = {}) {
  machines::Machine machine = **machines::FindMachine(name);
  const absl::Status set = machine.Set(changes);
  EXPECT_TRUE(set.ok()) << set;
  return machine;
}

struct RunsHow {
  bool values = false;  // TimedCall
  bool record = false;  // GpuRunOptions
};
inline GpuRun RunOf(const std::string& text, const machines::Machine& machine, const RunsHow& how = {}) {
  const PreparedKernel kernel = Prepared(text, Cat("mosaic_gpu/", machine.name()));
  const std::vector<Tensor> inputs = InputsOf(kernel);
  absl::StatusOr<GpuRun> run = RunOnGpu(
      {.kernel = kernel, .inputs = inputs, .machine = machine, .run = {}, .timeline = {}, .values = how.values},
      {.record = how.record});
  EXPECT_TRUE(run.ok()) << run.status() << "\n" << text;
  return run.ok() ? *std::move(run) : GpuRun{};
}

inline report::Timing TimeOf(const TiledMatmul& shape, const std::vector<std::string>& changes = {}) {
  return RunOf(MatmulText(shape), MachineNamed("h100", changes)).timed.timing;
}

}  // namespace palladion::timing::mosaic_gpu::test

#endif  // PALLADION_EMU_TIMING_MOSAIC_GPU_KERNELS_TEST_UTIL_H_
