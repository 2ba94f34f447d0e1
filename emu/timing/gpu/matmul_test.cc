// Times of whole Hopper matrix products, against the first-order formula and against what was published.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <string>

#include "absl/strings/str_format.h"
#include "emu/timing/base/ticks.h"
#include "emu/timing/gpu/h100_test_util.h"
#include "emu/timing/gpu/matmul_test_util.h"

namespace palladion::timing::gpu::test {

using base::CyclesOf;
using base::TicksOf;
using machines::Bytes;
using machines::Cycles;
using scheduler::AgentContext;
using scheduler::Footprint;
using scheduler::Ticks;

MatmulScenario::MatmulScenario(const HopperCosts& costs, const Matmul& shape)
    : costs_(costs), shape_(shape), chip_(costs) {
  const std::int64_t sms = std::min(costs.sms, tiles());
  std::int64_t object = 0;
  for (std::int64_t sm = 0; sm < sms; ++sm) {
    Ring& ring = rings_.emplace_back();
    for (std::int64_t i = 0; i < shape.stages * kWarpgroups; ++i) ring.full.emplace_back(object++, 0);
    for (std::int64_t i = 0; i < shape.stages; ++i) ring.empty.emplace_back(object++, kWarpgroups);
  }
  for (std::int64_t sm = 0; sm < sms; ++sm) {
    Add([this, sm](AgentContext& me) { Fetcher(me, sm); });
    for (std::int64_t w = 0; w < kWarpgroups; ++w) Add([this, sm, w](AgentContext& me) { Multiplier(me, sm, w); });
  }
}

void MatmulScenario::Landing(AgentContext& me, std::int64_t sm, std::int64_t stage, Ticks landed) {
  auto engine = std::make_shared<scheduler::CoroutineAgent>(
      "copy",
      [this, sm, stage](AgentContext& copy) {
        std::vector<Counter>& full = rings_[static_cast<std::size_t>(sm)].full;
        for (std::int64_t w = 0; w < kWarpgroups; ++w)
          full[static_cast<std::size_t>(stage * kWarpgroups + w)].Signal(copy);
      },
      AgentRole::kOperation);
  // It is granted the first request of its body: the stage's first barrier.
  const std::int64_t object = sm * shape_.stages * (kWarpgroups + 1) + stage * kWarpgroups;
  clock_.Appoint(me.Spawn(std::move(engine), {.footprint = Footprint::Writes(object)}), {landed});
}

void MatmulScenario::Fetcher(AgentContext& me, std::int64_t sm) {
  constexpr std::int64_t kA = 0, kB = 1;
  std::int64_t step = 0;
  for (std::int64_t tile = sm; tile < tiles(); tile += costs_.sms) {
    for (std::int64_t k = 0; k < steps(); ++k, ++step) {
      const std::int64_t stage = step % shape_.stages;
      Counter& empty = rings_[static_cast<std::size_t>(sm)].empty[static_cast<std::size_t>(stage)];
      empty.Wait(me, kWarpgroups);
      clock_.Spend(TicksOf(clock_.waited().value > 0 ? costs_.arrive + costs_.wait : costs_.wait));
      clock_.Spend(TicksOf(costs_.tma_issue));
      // Both with K along their rows, 128 bytes of it.
      Ticks landed = chip_.Load(sm, clock_.now(),
                                {.array = kA,
                                 .first_byte = (row_of(tile) * shape_.k + k * kTileK) * kElement,
                                 .row_stride = shape_.k * kElement,
                                 .rows = kTileM,
                                 .row_bytes = kTileK * kElement});
      clock_.Spend(TicksOf(costs_.tma_issue));
      landed = std::max(landed, chip_.Load(sm, clock_.now(),
                                           {.array = kB,
                                            .first_byte = (column_of(tile) * shape_.k + k * kTileK) * kElement,
                                            .row_stride = shape_.k * kElement,
                                            .rows = shape_.tile_n,
                                            .row_bytes = kTileK * kElement}));
      Landing(me, sm, stage, landed);
    }
  }
}

void MatmulScenario::Multiplier(AgentContext& me, std::int64_t sm, std::int64_t warpgroup) {
  Ring& ring = rings_[static_cast<std::size_t>(sm)];
  const std::int64_t instructions = *WgmmaInstructions(64, kTileK, DType::kF16);
  const Cycles issue = static_cast<double>(instructions) * costs_.wgmma_rs_floor;
  std::int64_t step = 0;
  for (std::int64_t tile = sm; tile < tiles(); tile += costs_.sms) {
    Ticks before;
    for (std::int64_t k = 0; k < steps(); ++k, ++step) {
      const std::int64_t stage = step % shape_.stages;
      ring.full[static_cast<std::size_t>(stage * kWarpgroups + warpgroup)].Wait(me);
      // The latency of a copy is until its barrier lets the waiter go.
      if (clock_.waited().value == 0) clock_.Spend(TicksOf(costs_.wait));
      const Ticks result = chip_.Multiply(sm, clock_.now(), {.n = shape_.tile_n, .instructions = instructions});
      clock_.Spend(TicksOf(issue));
      // One product stays in flight; the stage of the one before it is free.
      if (k > 0) {
        clock_.SpendUntil(before);
        ring.empty[static_cast<std::size_t>((step - 1) % shape_.stages)].Signal(me);
      }
      before = result;
    }
    clock_.SpendUntil(before);
    ring.empty[static_cast<std::size_t>((step - 1) % shape_.stages)].Signal(me);
    Epilogue(me, sm, tile, warpgroup);
  }
}

// Rounded, through shared memory, and stored by the copy engine.
void MatmulScenario::Epilogue(AgentContext& me, std::int64_t sm, std::int64_t tile, std::int64_t warpgroup) {
  constexpr std::int64_t kC = 2, kRows = 64, kWarps = 4;
  me.Go({});
  const std::int64_t elements = kRows * shape_.tile_n;
  clock_.SpendUntil(chip_.Compute(sm, clock_.now(), BurstOf(costs_, Pipe::kConvert, elements, kWarps)));
  clock_.SpendUntil(
      chip_.Access(sm, clock_.now(), {PortTime(costs_, Bytes(static_cast<double>(elements * kElement)))}));
  clock_.Spend(TicksOf(costs_.fence + costs_.tma_issue));
  const HopperChip::Stored stored =
      chip_.Store(sm, clock_.now(),
                  {.array = kC,
                   .first_byte = ((row_of(tile) + warpgroup * kRows) * shape_.n + column_of(tile)) * kElement,
                   .row_stride = shape_.n * kElement,
                   .rows = kRows,
                   .row_bytes = shape_.tile_n * kElement});
  // The kernel ends when its last store has.
  clock_.SpendUntil(tile + costs_.sms < tiles() ? stored.read : stored.written);
}

MatmulTime MatmulScenario::Run() {
  const std::unique_ptr<scheduler::Policy> policy = scheduler::MakeTimed(clock_);
  absl::StatusOr<scheduler::LoopResult> run =
      scheduler::RunLoop(*this, {.record = false, .clock = &clock_}).Run(*policy);
  EXPECT_TRUE(run.ok()) << run.status();
  EXPECT_EQ(run->outcome, scheduler::Outcome::kFinished);
  return {.cycles = CyclesOf(clock_.end()), .use = chip_.use(), .steps = run->steps};
}

namespace {

// What docs/explanation/time.md shows.
struct Published {
  const char* what;
  Matmul shape;
  double microseconds;
  double gigahertz;     // the clock of the published time
  const char* fitting;  // what of it went into the numbers
};
constexpr Published kPublished[] = {
    {"JAX's guide, 1024 x 4096 x 4096", {1024, 4096, 4096, 128, 4}, 43, 1.755, "the clock"},
    {"the same at the highest clock seen", {1024, 4096, 4096, 128, 4}, 43, 1.98, "nothing"},
    {"cuBLAS, 4096 x 4096 x 4096", {4096, 4096, 4096, 256, 4}, 175.5, 1.755, "nothing"},
    {"the same at the clock under load", {4096, 4096, 4096, 256, 4}, 175.5, 1.5, "the clock"},
};

MatmulTime TimeOf(const Matmul& shape, double gigahertz) {
  HopperCosts costs = H100();
  const double faster = gigahertz * 1e9 / costs.clock.value();  // what does not follow the SMs' clock takes more of it
  costs.clock = machines::Hertz(gigahertz * 1e9);
  for (Cycles* cycles : {&costs.tma_l2_latency, &costs.tma_dram_latency, &costs.launch}) *cycles = faster * *cycles;
  for (machines::BytesPerCycle* rate : {&costs.l2, &costs.dram}) *rate = *rate / faster;
  return MatmulScenario(costs, shape).Run();
}

double MicrosecondsOf(const MatmulTime& time, double gigahertz) {
  const HopperCosts costs = H100();
  return time.cycles.value() / (gigahertz * 1000) + (costs.launch / costs.clock).value() / 1000;
}

std::string Page() {
  std::ifstream file(PALLADION_SOURCE_DIR "/docs/explanation/time.md");
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Matmul, ThePageShowsEachFigureWithItsError) {
  const std::string page = Page();
  for (const Published& row : kPublished) {
    const MatmulTime time = TimeOf(row.shape, row.gigahertz);
    const double found = MicrosecondsOf(time, row.gigahertz);
    const std::string line = absl::StrFormat("| %s | %.4g GHz | %.4g us | %.0f | %.1f us | %+.0f %% | %s |", row.what,
                                             row.gigahertz, row.microseconds, time.cycles.value(), found,
                                             (found / row.microseconds - 1) * 100, row.fitting);
    EXPECT_NE(page.find(line), std::string::npos) << "docs/explanation/time.md should have the line\n" << line;
    const auto share = [&](Ticks busy) { return CyclesOf(busy) / time.cycles / 132 * 100; };
    const std::string units = absl::StrFormat("tiles of 128 x %d: tensor cores %.0f %%, port %.0f %%", row.shape.tile_n,
                                              share(time.use.tensor), share(time.use.port));
    if (row.gigahertz != 1.755) continue;
    EXPECT_NE(page.find(units), std::string::npos) << "docs/explanation/time.md should say " << units;
  }
}

// T = waves * (fill + steps * max(tensor cores, port, copies into shared memory)): cycles.
double FirstOrder(const HopperCosts& costs, const Matmul& shape) {
  const auto tiles = static_cast<double>(shape.m / 128 * (shape.n / shape.tile_n));
  const double waves = std::ceil(tiles / static_cast<double>(costs.sms));
  constexpr double kInstructions = 8;  // 2 warpgroups, K = 64
  const double tensor = kInstructions * WgmmaInterval(costs, shape.tile_n, Left::kShared).value();
  const double port = kInstructions * WgmmaPort(costs, shape.tile_n, Left::kShared).value();
  const double copies = (Bytes(static_cast<double>((128 + shape.tile_n) * 128)) / *costs.smem_landing).value();
  const double step = std::max({tensor, port, copies});
  return waves * static_cast<double>(shape.k / 64) * step + costs.tma_dram_latency.value();
}

TEST(Matmul, TheFirstOrderFormulaAgrees) {
  for (const Matmul& shape : {Matmul{1024, 4096, 4096, 128, 4}, Matmul{2048, 2048, 4096, 256, 4}}) {
    const HopperCosts costs = H100();
    const double cycles = MatmulScenario(costs, shape).Run().cycles.value();
    EXPECT_NEAR(cycles / FirstOrder(costs, shape), 1, 0.06) << cycles << ", tiles of 128 x " << shape.tile_n;
  }
}

TEST(Matmul, ItsProductsAndCopiesAreCounted) {
  const HopperCosts costs = H100();
  const Matmul shape{512, 512, 512, 128, 4};
  const MatmulTime time = MatmulScenario(costs, shape).Run();
  const double instructions = 16 * 8 * 8;  // tiles, steps, of a step
  EXPECT_NEAR(CyclesOf(time.use.tensor).value(), instructions * WgmmaInterval(costs, 128, Left::kShared).value(), 1);
  EXPECT_EQ(CyclesOf(time.use.engine), Cycles(16 * 8 * 256 + 16 * 128 * 2));  // rows of a step; rows of the tile
  EXPECT_EQ(time.use.dram_bytes, 3 * 512 * 512 * 2);                          // each array once
  EXPECT_EQ(MatmulScenario(costs, shape).Run().cycles, time.cycles);
}

TEST(Matmul, ADeeperRingIsNoSlowerAndTwoStagesAre) {
  const auto cycles = [](std::int64_t stages) {
    return MatmulScenario(H100(), {256, 512, 2048, 128, stages}).Run().cycles;
  };
  EXPECT_GT(cycles(2), 1.2 * cycles(4));
  EXPECT_LE(cycles(6), cycles(4));
}

}  // namespace
}  // namespace palladion::timing::gpu::test
