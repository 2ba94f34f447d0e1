// What operations cost on a TensorCore: the slots that they take of its bundles, and what the matrix units, the copies
// and a step of a grid take beside. The numbers are the machine's (emu/chip/machines); here are the laws that they go
// into. Based on: scaling-book, JAX's pages on Pallas for TPUs, utilisation of bundles in compiler dumps
// (docs/explanation/time.md has which). Not modelled: results of the EUP that come late, and layout conversions that a
// compiler inserts. An operation that compilers build from several counts as one.
#ifndef PALLADION_EMU_TIMING_TPU_COSTS_H_
#define PALLADION_EMU_TIMING_TPU_COSTS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "emu/chip/machines/amount.h"
#include "emu/chip/machines/description.h"
#include "semantics/base/dtype.h"
#include "semantics/ir/type.h"

namespace palladion::timing::tpu {

// What runs side by side within a bundle. kMatrix: all matrix units of a core together.
enum class TpuSlot : std::uint8_t { kScalar, kVector, kCross, kTranscendental, kLoad, kStore, kMatrix };
inline constexpr std::size_t kTpuSlots = 7;
struct TpuSlotRow {
  TpuSlot slot;
  std::string_view name;
};
absl::Span<const TpuSlotRow> AllTpuSlots();

// By how much at most three quarters of the published figures are missed that nothing was fitted to, by what bounds
// the kernel: main memory; a unit of the core; or neither, but steps and results that come late.
// docs/explanation/time.md has the figures.
inline constexpr double kMemoryUncertainty = 0.18, kUnitUncertainty = 0.19, kLatencyUncertainty = 0.07;

// The numbers of a chip.
struct TpuCosts {
  machines::Hertz clock;
  machines::Cycles launch, grid_step, dma_startup;  // at `clock`
  machines::PerCycle dma_issue;
  machines::BytesPerCycle hbm;               // of the device, as far as it is reached
  std::array<double, kTpuSlots> slots = {};  // operations of a bundle; of kMatrix 1, as its work is in cycles
  machines::Cycles pace{1};                  // of a bundle
  bool pace_is_known = false;
  std::int64_t lanes = 0, sublanes = 0, registers = 0;
  std::int64_t matrix_units = 0, matrix_size = 0;
  machines::Cycles matrix_interval;  // 8 rows of bf16 through a unit
  bool accumulates = false;          // matrix units add up what several tiles of weights give
  // How many times as fast as bf16; NotFound, with the name of the peak, where that is not published.
  absl::StatusOr<double> int8_rate = 0.0, fp8_rate = 0.0;
  machines::BytesPerSecond hbm_peak;
};

// InvalidArgument: it is no TPU. NotFound: it lacks a number, which the error names.
absl::StatusOr<TpuCosts> TpuCostsOf(const machines::Machine& machine);

// ---- Vector registers: the last two dimensions are tiles of 8 x 128 elements of 32 bits; narrower ones are packed
// along the second-last, wider ones take several. What pads a tile is computed and moved like the rest.

// Those that hold an array of the type. `packed` false: of its elements at 32 bits, as arithmetic has them.
double RegistersOf(const TpuCosts& costs, const Type& type, bool packed);
machines::Bytes PaddedBytes(const TpuCosts& costs, const Type& type);

// ---- Work.

// How much a part of the kernel uses the slots: operations on one register each; for kMatrix, cycles.
struct TpuWork {
  std::array<double, kTpuSlots> slots = {};
  double& operator[](TpuSlot slot) { return slots[static_cast<std::size_t>(slot)]; }
  double operator[](TpuSlot slot) const { return slots[static_cast<std::size_t>(slot)]; }
  TpuWork& operator+=(const TpuWork& more);
  bool empty() const;
};

// Bundles of the busiest slot, for it alone and for all.
double BundlesOf(const TpuCosts& costs, const TpuWork& work, TpuSlot slot);
double BundlesOf(const TpuCosts& costs, const TpuWork& work);

// Operations that depend on each other, one after another: so many bundles at least. A product passes through a matrix
// unit, and a reduction across lanes through the lanes, before its first result is there.
struct TpuChain {
  std::int64_t bundles = 0, products = 0, reductions = 0;
};
// The one that takes longer.
TpuChain Longest(const TpuCosts& costs, const TpuChain& a, const TpuChain& b);
// Operations without a branch or a wait among them: max(busiest slot, chain) bundles at the machine's pace, or the
// matrix units where they take longer; and the latency of the chain in the units, as many cycles for a product as a
// unit has rows, and for a reduction as there are lanes. There is no wait for what is in flight in between.
machines::Cycles TimeOf(const TpuCosts& costs, const TpuWork& work, const TpuChain& chain);

struct TpuProduct {
  std::int64_t batch = 1, m = 1, n = 1, k = 1;
  DType type = DType::kBF16;
  int passes = 1;  // of f32 in pieces of bf16
};
// Unimplemented: the units do not multiply the type, as far as is known; NotFound: the rate is not published.
absl::StatusOr<TpuWork> WorkOf(const TpuCosts& costs, const TpuProduct& product);

// A copy's bytes through HBM, all of its engines and of `cores` that share it.
machines::Cycles HbmTime(const TpuCosts& costs, machines::Bytes bytes, std::int64_t cores);

}  // namespace palladion::timing::tpu

#endif  // PALLADION_EMU_TIMING_TPU_COSTS_H_
