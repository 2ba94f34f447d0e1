// The time of kernel text where it depends on what each lane has: banks of shared memory, and registers.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "emu/timing/mosaic_gpu/kernels_test_util.h"
#include "emu/timing/mosaic_gpu/timing.h"
#include "semantics/base/cat.h"

namespace palladion::timing::mosaic_gpu::test {
namespace {

using report::Timing;
using report::UnitUse;

double UseOf(const Timing& timing, std::string_view unit) {
  const auto found =
      std::find_if(timing.units.begin(), timing.units.end(), [&](const UnitUse& use) { return use.unit == unit; });
  EXPECT_NE(found, timing.units.end()) << "no unit " << unit;
  return found == timing.units.end() ? 0 : found->busy;
}

// ---- bank conflicts

// Two tiles of 8 KB in rows of 128 bytes: read as wgmma has them, eight rows are in the same banks.
std::string RowsText(const std::string& layout) {
  return R"(pkir 1;
kernel @rows {
  backend mosaic_gpu;
  in %x: f16[64,64] space gmem;
  out %o: f16[64,64] space gmem;
  mesh gpu {grid=[], grid_names=[], cluster=[], cluster_names=[], threads=none, thread_name=none};
  body @rows (%xr: ref<gmem,f16[64,64]> as "x_ref", %or: ref<gmem,f16[64,64]> as "o_ref") {
    run_scoped{collective_axes=[]}() (%a: ref<smem,f16[64,64]> as "a",
        %full: ref<smem,barrier{arrivals=1, orders_tensor_core=false}[1]> as "full") {
      copy_gmem_to_smem{collective_axes=none, leader_tracked=none, oob_mode=zeros}(src=%xr, dst=%a, barrier=%full);
      barrier_wait(barrier=%full);
      %0 = mgpu.load{optimized=false}(src=%a) : f16[64,64];
      %1 = layout_cast{layout=")" +
         layout + R"("}(%0) : f16[64,64];
      _ = swap(%a, %1) : f16[64,64];
      commit_smem();
      copy_smem_to_gmem{commit_group=true, reduction_op=none}(src=%a, dst=%or);
      wait_smem_to_gmem{wait_read_only=false}(0:i32);
      return;
    };
    return;
  }
}
)";
}

TEST(GpuTimingOfLanes, BankConflictsTakeTurnsOfThePort) {
  const machines::Machine machine = MachineNamed("h100");
  const Timing rows = RunOf(RowsText("Layout.WGMMA"), machine).timed.timing;
  const Timing strided = RunOf(RowsText("Layout.WG_STRIDED"), machine).timed.timing;
  constexpr double kTurns = 64 * 64 * 2 / 128;  // of a load or a store without conflicts
  EXPECT_NEAR((rows.cycles - strided.cycles).value(), 2 * 7 * kTurns, 2);
  EXPECT_NEAR(UseOf(rows, "bank conflicts, of the port's time") * rows.cycles.value() * 132, 2 * 7 * kTurns, 0.1);
  const auto has_conflicts = [](const UnitUse& use) { return use.unit.starts_with("bank conflicts"); };
  EXPECT_EQ(std::count_if(strided.units.begin(), strided.units.end(), has_conflicts), 0);
  for (const std::string& left : rows.left_out) EXPECT_EQ(left.find("bank conflicts"), std::string::npos) << left;
}

TEST(GpuTimingOfLanes, WhereLanesAreNotKnownItIsReportedByLine) {
  const Timing timing = RunOf(RowsText("Layout.WGMMA_UPCAST_9X"), MachineNamed("h100")).timed.timing;
  EXPECT_NE(std::find(timing.left_out.begin(), timing.left_out.end(),
                      "bank conflicts where the lanes of a value are not known: line 12, line 14"),
            timing.left_out.end());
}

// ---- registers

// So many values of 64 registers of each lane are alive at once, in four blocks.
std::string AliveText(int values) {
  std::string body, sum = "%0";
  for (int i = 0; i < values; ++i) body += Cat("    %", i, " = get(%xr) : f32[64,128];\n");
  for (int i = 1; i < values; ++i) {
    body += Cat("    %s", i, " = add(", sum, ", %", i, ") : f32[64,128];\n");
    sum = Cat("%s", i);
  }
  return R"(pkir 1;
kernel @alive {
  backend mosaic_gpu;
  in %x: f32[64,128] space gmem;
  out %o: f32[4,64,128] space gmem;
  mesh gpu {grid=[4], grid_names=["t"], cluster=[], cluster_names=[], threads=none, thread_name=none};
  body @alive (%xr: ref<gmem,f32[64,128]> as "x_ref", %or: ref<gmem,f32[4,64,128]> as "o_ref") {
    %t = axis_index{axis="t"}() : i32[];
)" + body +
         "    _ = swap(%or.at[%t, *, *], " + sum + R"() : f32[64,128];
    return;
  }
}
)";
}

TEST(GpuTimingOfLanes, RegistersLimitTheBlocksOfAnSm) {
  const machines::Machine one = MachineNamed("h100", {"chip.cores=1"});
  const Timing few = RunOf(AliveText(1), one).timed.timing, many = RunOf(AliveText(3), one).timed.timing;
  EXPECT_EQ(few.placement.at_once, 4);
  EXPECT_EQ(many.placement.at_once, 2);  // 193 registers, by eights, of 128 lanes
  EXPECT_EQ(many.placement.limit,
            "1 SMs hold 2 blocks each (a lane has at least 193 registers at line 11, of 65536 for all lanes of an SM)");
}

TEST(GpuTimingOfLanes, RegistersThatSpillAreReported) {
  const Timing timing = RunOf(AliveText(4), MachineNamed("h100")).timed.timing;
  EXPECT_NE(std::find(timing.left_out.begin(), timing.left_out.end(),
                      "registers that spill: at line 12 values need 257 registers of each lane, which can have 255, so "
                      "at least 8 bytes of a lane go to local memory and come back"),
            timing.left_out.end());
}

}  // namespace
}  // namespace palladion::timing::mosaic_gpu::test
