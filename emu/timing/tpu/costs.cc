#include "emu/timing/tpu/costs.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"

namespace palladion::timing::tpu {

using machines::Bytes;
using machines::BytesPerSecond;
using machines::Count;
using machines::Cycles;
using machines::FlopsPerSecond;
using machines::Hertz;
using machines::Key;
using machines::Machine;
using machines::Nanoseconds;
using machines::PerCycle;

namespace {

constexpr std::int64_t kRowsOfInterval = 8;
constexpr int kRegisterBits = 32;

template <class Unit>
absl::Status Read(const Machine& machine, Key<Unit> key, Unit* number) {
  PALLADION_ASSIGN_OR_RETURN(*number, machine.Get(key));
  return absl::OkStatus();
}

absl::Status ReadCount(const Machine& machine, Key<Count> key, std::int64_t* number) {
  PALLADION_ASSIGN_OR_RETURN(const Count count, machine.Get(key));
  *number = static_cast<std::int64_t>(count.value());
  return absl::OkStatus();
}

absl::Status ReadTime(const Machine& machine, Key<Nanoseconds> key, TpuCosts* costs, Cycles* number) {
  PALLADION_ASSIGN_OR_RETURN(const Nanoseconds time, machine.Get(key));
  *number = time * costs->clock;
  return absl::OkStatus();
}

absl::Status ReadSlots(const Machine& machine, TpuCosts* costs) {
  const std::pair<TpuSlot, Key<Count>> keys[] = {
      {TpuSlot::kScalar, Key<Count>("slot.salu")},        {TpuSlot::kVector, Key<Count>("slot.valu")},
      {TpuSlot::kCross, Key<Count>("slot.xlu")},          {TpuSlot::kLoad, Key<Count>("slot.load")},
      {TpuSlot::kTranscendental, Key<Count>("slot.eup")}, {TpuSlot::kStore, Key<Count>("slot.store")},
  };
  for (const auto& [slot, key] : keys) {
    PALLADION_ASSIGN_OR_RETURN(const Count count, machine.Get(key));
    costs->slots[static_cast<std::size_t>(slot)] = count.value();
  }
  costs->slots[static_cast<std::size_t>(TpuSlot::kMatrix)] = 1;
  const auto pace = machine.Find(Key<Cycles>("slot.pace"));
  costs->pace_is_known = pace.has_value();
  costs->pace = pace.value_or(Cycles(1));
  PALLADION_RETURN_IF_ERROR(ReadCount(machine, Key<Count>("register.lanes"), &costs->lanes));
  PALLADION_RETURN_IF_ERROR(ReadCount(machine, Key<Count>("register.vectors"), &costs->registers));
  return ReadCount(machine, Key<Count>("register.sublanes"), &costs->sublanes);
}

absl::StatusOr<double> RateOf(const Machine& machine, Key<FlopsPerSecond> key) {
  PALLADION_ASSIGN_OR_RETURN(const FlopsPerSecond bf16, machine.Get(Key<FlopsPerSecond>("peak.bf16")));
  PALLADION_ASSIGN_OR_RETURN(const FlopsPerSecond peak, machine.Get(key));
  return std::round(peak / bf16);  // peaks are rounded; a unit is as fast, or twice
}

absl::Status ReadMatrix(const Machine& machine, TpuCosts* costs) {
  PALLADION_RETURN_IF_ERROR(ReadCount(machine, Key<Count>("mxu.count"), &costs->matrix_units));
  PALLADION_RETURN_IF_ERROR(ReadCount(machine, Key<Count>("mxu.size"), &costs->matrix_size));
  PALLADION_RETURN_IF_ERROR(Read(machine, Key<Cycles>("mxu.interval"), &costs->matrix_interval));
  costs->accumulates = machine.Find(Key<Count>("mxu.accumulators")).has_value();
  costs->int8_rate = RateOf(machine, Key<FlopsPerSecond>("peak.int8"));
  costs->fp8_rate = RateOf(machine, Key<FlopsPerSecond>("peak.fp8"));
  return absl::OkStatus();
}

absl::Status ReadMemory(const Machine& machine, TpuCosts* costs) {
  PALLADION_RETURN_IF_ERROR(ReadTime(machine, Key<Nanoseconds>("launch.empty"), costs, &costs->launch));
  PALLADION_RETURN_IF_ERROR(ReadTime(machine, Key<Nanoseconds>("grid.step"), costs, &costs->grid_step));
  PALLADION_RETURN_IF_ERROR(ReadTime(machine, Key<Nanoseconds>("dma.startup"), costs, &costs->dma_startup));
  PALLADION_RETURN_IF_ERROR(Read(machine, Key<PerCycle>("dma.issue"), &costs->dma_issue));
  PALLADION_RETURN_IF_ERROR(Read(machine, Key<BytesPerSecond>("dram.peak"), &costs->hbm_peak));
  const auto achieved = machine.Find(Key<BytesPerSecond>("dram.achieved"));
  costs->hbm = achieved.value_or(costs->hbm_peak) / costs->clock;
  return absl::OkStatus();
}

std::int64_t CeilDiv(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

int BitsOf(const Type& type) {
  if (IsBool(type.dtype)) return kRegisterBits;  // masks go with what is compared
  return Info(type.dtype).bits;
}

}  // namespace

absl::Span<const TpuSlotRow> AllTpuSlots() {
  static constexpr TpuSlotRow kRows[] = {
      {TpuSlot::kMatrix, "matrix units (MXU)"},
      {TpuSlot::kVector, "vector slots (VPU)"},
      {TpuSlot::kTranscendental, "transcendental slot (EUP)"},
      {TpuSlot::kCross, "cross-lane slots (XLU)"},
      {TpuSlot::kLoad, "vector loads"},
      {TpuSlot::kStore, "vector stores"},
      {TpuSlot::kScalar, "scalar slots"},
  };
  static_assert(std::size(kRows) == kTpuSlots);
  return kRows;
}

absl::StatusOr<TpuCosts> TpuCostsOf(const Machine& machine) {
  if (machine.family() != machines::Family::kTpu)
    return absl::InvalidArgumentError(Cat("machine ", machine.name(), " is no TPU"));
  TpuCosts costs;
  PALLADION_RETURN_IF_ERROR(Read(machine, Key<Hertz>("clock.peak"), &costs.clock));
  PALLADION_RETURN_IF_ERROR(ReadSlots(machine, &costs));
  PALLADION_RETURN_IF_ERROR(ReadMatrix(machine, &costs));
  PALLADION_RETURN_IF_ERROR(ReadMemory(machine, &costs));
  return costs;
}

double RegistersOf(const TpuCosts& costs, const Type& type, bool packed) {
  const int bits = std::max(packed ? BitsOf(type) : kRegisterBits, BitsOf(type) > kRegisterBits ? BitsOf(type) : 0);
  const std::int64_t together = std::max(1, kRegisterBits / bits), apart = std::max(1, bits / kRegisterBits);
  const std::size_t rank = type.shape.size();
  const std::int64_t columns = rank > 0 ? type.shape[rank - 1] : 1, rows = rank > 1 ? type.shape[rank - 2] : 1;
  std::int64_t tiles = CeilDiv(columns, costs.lanes) * CeilDiv(rows, costs.sublanes * together) * apart;
  for (std::size_t d = 0; d + 2 < rank; ++d) tiles *= type.shape[d];
  return static_cast<double>(tiles);
}

Bytes PaddedBytes(const TpuCosts& costs, const Type& type) {
  const double of_register = static_cast<double>(costs.lanes * costs.sublanes) * kRegisterBits / 8;
  return Bytes(RegistersOf(costs, type, /*packed=*/true) * of_register);
}

TpuWork& TpuWork::operator+=(const TpuWork& more) {
  for (std::size_t i = 0; i < kTpuSlots; ++i) slots[i] += more.slots[i];
  return *this;
}
bool TpuWork::empty() const {
  return std::all_of(slots.begin(), slots.end(), [](double operations) { return operations == 0; });
}

double BundlesOf(const TpuCosts& costs, const TpuWork& work, TpuSlot slot) {
  return work[slot] / costs.slots[static_cast<std::size_t>(slot)];
}

double BundlesOf(const TpuCosts& costs, const TpuWork& work) {
  double most = 0;
  for (const TpuSlotRow& row : AllTpuSlots()) most = std::max(most, BundlesOf(costs, work, row.slot));
  return most;
}

TpuChain Longest(const TpuCosts& costs, const TpuChain& a, const TpuChain& b) {
  const auto time = [&](const TpuChain& chain) { return TimeOf(costs, {}, chain); };
  return time(a) < time(b) ? b : a;
}

Cycles TimeOf(const TpuCosts& costs, const TpuWork& work, const TpuChain& chain) {
  TpuWork issued = work;
  issued[TpuSlot::kMatrix] = 0;
  const Cycles bundles = std::max(BundlesOf(costs, issued), static_cast<double>(chain.bundles)) * costs.pace;
  const auto on_the_way = static_cast<double>(chain.products * costs.matrix_size + chain.reductions * costs.lanes);
  return std::max(bundles, Cycles(work[TpuSlot::kMatrix])) + Cycles(on_the_way);
}

// Weights go in as fast as rows go through, so a product of fewer rows than a unit has waits for them.
absl::StatusOr<TpuWork> WorkOf(const TpuCosts& costs, const TpuProduct& product) {
  double rate = 1;
  const int bits = Info(product.type).bits;
  if (bits == 8) {
    PALLADION_ASSIGN_OR_RETURN(rate, IsFloat(product.type) ? costs.fp8_rate : costs.int8_rate);
  } else if (product.type != DType::kBF16 && product.type != DType::kF32) {
    return absl::UnimplementedError(Cat("no source says how fast the matrix units multiply ", Name(product.type),
                                        "; known are bf16, f32 and "
                                        "types of 8 bits"));
  }
  const double columns = static_cast<double>(product.batch * CeilDiv(product.n, costs.matrix_size));
  const double tiles = columns * static_cast<double>(CeilDiv(product.k, costs.matrix_size));
  const auto units = static_cast<double>(costs.matrix_units);
  const double rows = tiles * static_cast<double>(CeilDiv(product.m, kRowsOfInterval)) / units;
  const double weights = columns * static_cast<double>(CeilDiv(product.k, kRowsOfInterval)) / std::min(units, tiles);
  TpuWork work;
  work[TpuSlot::kMatrix] = std::max(rows, weights) * costs.matrix_interval.value() * product.passes / rate;
  if (!costs.accumulates) {
    Type sums = ArrayType(DType::kF32, {product.batch, product.m, product.n});
    const auto more = static_cast<double>(CeilDiv(product.k, costs.matrix_size) * product.passes - 1);
    work[TpuSlot::kVector] = more * RegistersOf(costs, sums, /*packed=*/true);
  }
  return work;
}

Cycles HbmTime(const TpuCosts& costs, Bytes bytes, std::int64_t cores) {
  return bytes / (costs.hbm / static_cast<double>(cores));
}

}  // namespace palladion::timing::tpu
