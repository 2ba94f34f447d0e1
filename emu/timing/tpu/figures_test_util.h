// What is published of a TPU's rates, and what the laws say: for docs/explanation/time.md and the test that compares
// them. All are for a v7x; none are published for other chips.
#ifndef PALLADION_EMU_TIMING_TPU_FIGURES_TEST_UTIL_H_
#define PALLADION_EMU_TIMING_TPU_FIGURES_TEST_UTIL_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "emu/chip/machines/description.h"
#include "emu/timing/base/ticks.h"
#include "emu/timing/tpu/chip.h"
#include "emu/timing/tpu/costs.h"
#include "semantics/base/cat.h"

namespace palladion::timing::tpu {

struct TpuFigure {
  std::string what, unit;
  double published = 0, found = 0;                        // rates
  bool fitted = false;                                    // the description's bandwidth rests on it
  double Error() const { return published / found - 1; }  // of the time that it takes
  std::string Text(double rate) const {
    return Cat(rate < 10 ? static_cast<double>(static_cast<std::int64_t>(rate * 100 + 0.5)) / 100
                         : static_cast<double>(static_cast<std::int64_t>(rate + 0.5)),
               unit);
  }
};

// GB/s of a copy of so many MiB, helped by nothing.
inline double CopyRate(const TpuCosts& costs, double mebibytes) {
  TpuCore core(costs, 1);
  const double bytes = mebibytes * 1024 * 1024;
  const scheduler::Ticks landed = core.Copy({}, machines::Bytes(bytes));
  return bytes / (base::CyclesOf(landed) / costs.clock).value();
}

// Of the most that a slot could do, as bundles are issued.
inline double ShareOf(const TpuCosts& costs, TpuSlot slot) {
  TpuWork work;
  work[slot] = 1e6;
  return BundlesOf(costs, work, slot) / TimeOf(costs, work, {}).value();
}

inline std::vector<TpuFigure> TpuFigures() {
  const absl::StatusOr<const machines::Machine*> machine = machines::FindMachine("v7x");
  EXPECT_TRUE(machine.ok()) << machine.status();
  const absl::StatusOr<TpuCosts> costs = TpuCostsOf(**machine);
  EXPECT_TRUE(costs.ok()) << costs.status();
  std::vector<TpuFigure> figures = {
      {"XLA's matrix product of 8192 in bf16", " TFLOP/s", 912, 1153.4 * ShareOf(*costs, TpuSlot::kMatrix)},
      {"the cross-lane unit, of its most", "", 0.82, ShareOf(*costs, TpuSlot::kCross)},
      {"vector stores, of their most", "", 0.83, ShareOf(*costs, TpuSlot::kStore)},
  };
  const std::pair<double, double> copies[] = {{2, 1379},  {4, 2250},   {8, 2246},   {16, 2757},  {32, 3010},
                                              {64, 3097}, {128, 3177}, {512, 3199}, {8192, 3210}};
  for (const auto& [size, rate] : copies)
    figures.push_back(
        {Cat("a copy of ", size, " MB in main memory"), " GB/s", rate, CopyRate(*costs, size), size >= 128});
  return figures;
}

}  // namespace palladion::timing::tpu

#endif  // PALLADION_EMU_TIMING_TPU_FIGURES_TEST_UTIL_H_
