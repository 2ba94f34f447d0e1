// A Hopper matrix product as toy agents over the costs of a chip: on each SM one warpgroup that fetches into a ring and
// two that multiply, as jax.experimental.pallas.ops.gpu.hopper_matmul_mgpu and CUTLASS's warp-specialised persistent
// kernel are made. It copies no values; with it the costs are compared with published times.
#ifndef PALLADION_EMU_TIMING_GPU_MATMUL_TEST_UTIL_H_
#define PALLADION_EMU_TIMING_GPU_MATMUL_TEST_UTIL_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "emu/timing/gpu/hopper_chip_test_util.h"
#include "scheduler/scenario_test_util.h"
#include "scheduler/virtual_clock.h"

namespace palladion::timing::gpu::test {

struct Matmul {
  std::int64_t m = 0, n = 0, k = 0;  // of f16 or bf16
  std::int64_t tile_n = 128;         // tiles have 128 rows, 64 for each of the two warpgroups; a step has K = 64
  std::int64_t stages = 4;
};

// A semaphore that any agent may signal, also copies that have not begun.
class Counter {
 public:
  Counter(std::int64_t object, std::int64_t value) : object_(object), value_(value) {}
  void Wait(scheduler::AgentContext& me, std::int64_t amount = 1) {
    const AtLeast condition(*this, amount);
    me.Go({.footprint = scheduler::Footprint::Writes(object_), .waits_for = &condition});
    value_ -= amount;
  }
  void Signal(scheduler::AgentContext& me) {
    me.Go({.footprint = scheduler::Footprint::Writes(object_)});
    ++value_;
  }

 private:
  class AtLeast final : public scheduler::Condition {
   public:
    AtLeast(const Counter& counter, std::int64_t amount) : counter_(counter), amount_(amount) {}
    bool Ready() const override { return counter_.value_ >= amount_; }
    std::string Describe() const override { return "a stage of the ring"; }
    bool MaySignal(scheduler::AgentOrdinal) const override { return true; }

   private:
    const Counter& counter_;
    std::int64_t amount_;
  };
  std::int64_t object_, value_;
};

struct MatmulTime {
  machines::Cycles cycles;  // without the launch
  HopperChip::Use use;
  std::int64_t steps = 0;  // visible operations
};

class MatmulScenario final : public scheduler::test::Scenario {
 public:
  MatmulScenario(const HopperCosts& costs, const Matmul& shape);
  ~MatmulScenario() override { StopAgents(); }
  MatmulTime Run();

 private:
  static constexpr std::int64_t kTileM = 128, kTileK = 64, kElement = 2, kWarpgroups = 2;
  struct Ring {
    std::vector<Counter> full, empty;  // full: one for each warpgroup of each stage
  };
  void Fetcher(scheduler::AgentContext& me, std::int64_t sm);
  void Multiplier(scheduler::AgentContext& me, std::int64_t sm, std::int64_t warpgroup);
  void Epilogue(scheduler::AgentContext& me, std::int64_t sm, std::int64_t tile, std::int64_t warpgroup);
  void Landing(scheduler::AgentContext& me, std::int64_t sm, std::int64_t stage, scheduler::Ticks landed);
  std::int64_t tiles() const { return shape_.m / kTileM * (shape_.n / shape_.tile_n); }
  std::int64_t steps() const { return shape_.k / kTileK; }
  std::int64_t row_of(std::int64_t tile) const { return tile % (shape_.m / kTileM) * kTileM; }
  std::int64_t column_of(std::int64_t tile) const { return tile / (shape_.m / kTileM) * shape_.tile_n; }

  const HopperCosts costs_;
  const Matmul shape_;
  HopperChip chip_;
  scheduler::VirtualClock clock_;
  std::vector<Ring> rings_;
};

}  // namespace palladion::timing::gpu::test

#endif  // PALLADION_EMU_TIMING_GPU_MATMUL_TEST_UTIL_H_
