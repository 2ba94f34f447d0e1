#include "emu/timing/gpu/costs.h"

#include <algorithm>
#include <cmath>

#include "emu/chip/layouts/bank_conflicts.h"
#include "semantics/base/cat.h"

namespace palladion::timing::gpu {

using machines::Bytes;
using machines::Count;
using machines::Cycles;

absl::StatusOr<Pipe> PipeOf(const OpRow& row, DType type) {
  switch (row.unit) {
    case Unit::kNone:
      return Pipe::kNone;
    case Unit::kScalar:
      return Pipe::kAlu;
    case Unit::kVector:
    case Unit::kDivision:
      if (row.flow == Flow::kConvert) return Pipe::kConvert;
      return IsFloat(type) ? Pipe::kFp32 : Pipe::kAlu;
    case Unit::kLarger:
      return Pipe::kAlu;  // of floats, too (`alu.interval`)
    case Unit::kTranscendental:
      return Pipe::kTranscendental;
    case Unit::kMatrix:
    case Unit::kMemory:
    case Unit::kControl:
      break;
  }
  return absl::UnimplementedError(
      Cat("'", row.dialect, row.dialect.empty() ? "" : ".", row.name, "' has no cost as an operation on registers"));
}

Burst BurstOf(const GpuCosts& costs, Pipe pipe, std::int64_t elements, std::int64_t warps) {
  constexpr std::int64_t kLanes = 32;
  Cycles interval, latency;
  switch (pipe) {
    case Pipe::kNone:
      return {};
    case Pipe::kFp32:
      interval = costs.fp32_interval, latency = costs.fp32_latency;
      break;
    case Pipe::kAlu:
      interval = costs.alu_interval, latency = costs.alu_latency;
      break;
    case Pipe::kConvert:
      interval = costs.cvt_interval, latency = costs.cvt_latency;
      break;
    case Pipe::kTranscendental:
      interval = costs.mufu_interval, latency = costs.mufu_latency;
      break;
    case Pipe::kShuffle:
      interval = costs.shfl_interval, latency = costs.shfl_latency;
      break;
  }
  const std::int64_t of_warp = (elements + kLanes * warps - 1) / (kLanes * warps);
  const std::int64_t of_quadrant = of_warp * ((warps + costs.issue_slots - 1) / costs.issue_slots);
  const Cycles slot = static_cast<double>(of_quadrant) * interval;
  return {.slot = slot,
          .result = slot + latency,
          .issue = Count(static_cast<double>(of_quadrant)) / costs.issue_rate,
          .pipe = pipe};
}

Cycles TurnTime(const GpuCosts& costs, std::int64_t turns) {
  return PortTime(costs, Bytes(static_cast<double>(turns * costs.smem_banks * layouts::kBankBytes)));
}

Cycles PortTime(const GpuCosts& costs, Bytes bytes) { return bytes / costs.smem_port; }

Cycles EngineTime(const GpuCosts& costs, std::int64_t rows, Bytes row) {
  const double pieces = std::ceil(row / costs.tma_row_bytes);
  return Count(static_cast<double>(rows) * pieces) / costs.tma_rows;
}

}  // namespace palladion::timing::gpu
