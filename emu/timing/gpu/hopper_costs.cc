#include "emu/timing/gpu/hopper_costs.h"

#include <algorithm>

#include "semantics/base/cat.h"

namespace palladion::timing::gpu {

using machines::Bytes;
using machines::Cycles;

Cycles WgmmaInterval(const HopperCosts& costs, std::int64_t n, Left left) {
  const auto columns = static_cast<double>(n);
  const Cycles pipe = columns * costs.wgmma_per_n;
  if (left == Left::kRegisters) return std::max(costs.wgmma_rs_floor, pipe);
  return std::max(costs.wgmma_floor + columns * costs.wgmma_smem_per_n, pipe);
}

// The tail is counted from the issue, of instructions with N = 64: what is left of it when their interval is over.
Cycles WgmmaDrain(const HopperCosts& costs) {
  constexpr std::int64_t kMeasuredN = 64;
  return costs.wgmma_rs_floor + costs.wgmma_tail - WgmmaInterval(costs, kMeasuredN, Left::kShared);
}

Cycles WgmmaPort(const HopperCosts& costs, std::int64_t n, Left left) {
  constexpr std::int64_t kRows = 64, kRowBytes = 32;
  const std::int64_t rows = n + (left == Left::kShared ? kRows : 0);
  return Bytes(static_cast<double>(rows * kRowBytes)) / costs.smem_port;
}

absl::StatusOr<std::int64_t> WgmmaInstructions(std::int64_t m, std::int64_t k, DType type) {
  constexpr std::int64_t kRows = 64, kRowBytes = 32;
  const std::int64_t row = k * static_cast<std::int64_t>(StorageBytes(type));
  if (m <= 0 || row <= 0 || m % kRows != 0 || row % kRowBytes != 0)
    return absl::InvalidArgumentError(
        Cat("a wgmma is made of instructions of 64 rows and 32 bytes of K; this has ", m, " rows and ", row, " bytes"));
  return m / kRows * (row / kRowBytes);
}

TensorWork WorkOf(const HopperCosts& costs, const Product& product) {
  constexpr double kRows = 64, kDepth = 16;
  const auto instructions = static_cast<double>(product.instructions);
  return {.pipe = instructions * WgmmaInterval(costs, product.n, product.left),
          .port = instructions * WgmmaPort(costs, product.n, product.left),
          .drain = WgmmaDrain(costs),
          .issue = instructions * costs.wgmma_rs_floor,
          .flops16 = 2 * instructions * kRows * static_cast<double>(product.n) * kDepth};
}

}  // namespace palladion::timing::gpu
