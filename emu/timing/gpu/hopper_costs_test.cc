// Laws of costs, against the published numbers that they were made from and against plain counting of lanes and rows.
#include "emu/timing/gpu/hopper_costs.h"

#include <gtest/gtest.h>

#include <map>
#include <string_view>

#include "emu/timing/gpu/h100_test_util.h"
#include "semantics/registry/op_row.h"

namespace palladion::timing::gpu::test {
namespace {

using machines::Bytes;
using machines::Cycles;

// flash-vla, unit-mma.md: m64nNk16 in bf16 on an H100 SXM, back to back. The law was fitted to these.
TEST(HopperCosts, WgmmaTakesWhatWasMeasured) {
  constexpr std::pair<int, double> kMeasured[] = {{8, 18.9},  {16, 20.7},  {32, 24.7},  {64, 32.8},
                                                  {96, 48.7}, {128, 65.0}, {192, 97.1}, {256, 129.3}};
  for (const auto& [n, cycles] : kMeasured)
    EXPECT_NEAR(WgmmaInterval(H100(), n, Left::kShared).value() / cycles, 1, 0.01) << "N = " << n;
}

TEST(HopperCosts, ALeftOperandInRegistersIsNotRead) {
  const HopperCosts costs = H100();
  EXPECT_EQ(WgmmaPort(costs, 128, Left::kShared), Cycles(48));
  EXPECT_EQ(WgmmaPort(costs, 128, Left::kRegisters), Cycles(32));
  EXPECT_LT(WgmmaInterval(costs, 8, Left::kRegisters), WgmmaInterval(costs, 8, Left::kShared));
}

TEST(HopperCosts, AProductIsMadeOfInstructions) {
  EXPECT_EQ(*WgmmaInstructions(64, 64, DType::kF16), 4);
  EXPECT_EQ(*WgmmaInstructions(128, 64, DType::kF16), 8);
  EXPECT_EQ(*WgmmaInstructions(64, 64, DType::kF32), 8);
  const absl::Status odd = WgmmaInstructions(96, 64, DType::kF16).status();
  EXPECT_EQ(odd.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(odd.message().find("96 rows"), absl::string_view::npos) << odd;
  EXPECT_FALSE(WgmmaInstructions(64, 24, DType::kF16).ok());
}

// 8192 elements: 128 lanes of floats, 64 of integers, 16 of the units for functions.
TEST(HopperCosts, ABurstTakesItsLanes) {
  const HopperCosts costs = H100();
  EXPECT_EQ(BurstOf(costs, Pipe::kFp32, 8192, 4).slot, Cycles(8192 / 128));
  EXPECT_EQ(BurstOf(costs, Pipe::kAlu, 8192, 4).slot, Cycles(8192 / 64));
  EXPECT_EQ(BurstOf(costs, Pipe::kTranscendental, 8192, 4).slot, Cycles(8192 / 16));
  EXPECT_EQ(BurstOf(costs, Pipe::kFp32, 8192, 8).slot, Cycles(8192 / 128));
  EXPECT_EQ(BurstOf(costs, Pipe::kFp32, 8192, 1).slot, Cycles(8192 / 32));
  EXPECT_EQ(BurstOf(costs, Pipe::kFp32, 1, 4).slot, Cycles(1));
  EXPECT_GT(BurstOf(costs, Pipe::kFp32, 1, 4).result, Cycles(1));
  EXPECT_EQ(BurstOf(costs, Pipe::kNone, 8192, 4).result, Cycles(0));
}

TEST(HopperCosts, AShortRowTakesAsLongAsAWholeOne) {
  const HopperCosts costs = H100();
  EXPECT_EQ(EngineTime(costs, 64, Bytes(128)), Cycles(64));
  EXPECT_EQ(EngineTime(costs, 64, Bytes(32)), Cycles(64));
  EXPECT_EQ(EngineTime(costs, 64, Bytes(256)), Cycles(128));
}

// FlashGPU-Sim and QuickRunCUDA: FMNMX is an instruction of the integer pipes, which are half as wide.
TEST(HopperCosts, TheLargerOfTwoFloatsTakesTheIntegerPipes) {
  std::map<std::string_view, Pipe> pipes;
  for (const OpRow& row : AllOps()) {
    const absl::StatusOr<Pipe> pipe = PipeOf(row, DType::kF32);
    if (pipe.ok()) pipes[row.name] = *pipe;
  }
  for (const char* name : {"max", "min", "reduce_max", "reduce_min"}) EXPECT_EQ(pipes.at(name), Pipe::kAlu) << name;
  for (const char* name : {"add", "mul", "reduce_sum"}) EXPECT_EQ(pipes.at(name), Pipe::kFp32) << name;
}

// Every operation on values has a pipe or an error that names it; nothing is free but what has no unit.
TEST(HopperCosts, NoOperationIsFreeByMistake) {
  int costly = 0;
  for (const OpRow& row : AllOps()) {
    const absl::StatusOr<Pipe> pipe = PipeOf(row, DType::kF32);
    if (!pipe.ok()) {
      EXPECT_NE(pipe.status().message().find(absl::string_view(row.name.data(), row.name.size())),
                absl::string_view::npos);
      continue;
    }
    EXPECT_EQ(*pipe == Pipe::kNone, row.unit == Unit::kNone) << row.name;
    costly += *pipe != Pipe::kNone;
  }
  EXPECT_GT(costly, 50);
}

}  // namespace
}  // namespace palladion::timing::gpu::test
