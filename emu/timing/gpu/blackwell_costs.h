// Costs of the tensor cores and the tensor memory of a Blackwell SM, alone and in pairs of SMs. The numbers are in
// emu/chip/machines; here are the cost laws. Based on: published microbenchmarks of tcgen05 on B200, each named in
// b200.machine. Costs common to all families are in costs.h. A form that was not measured is an error that says so.
// Limits: tensor memory's own latency and tcgen05.cp were not measured, so a copy takes as long as the narrower of its
// two ports; scales and accumulators cost nothing beside their products, as was measured; a pair begins when both of
// its SMs are free.
#ifndef PALLADION_EMU_TIMING_GPU_BLACKWELL_COSTS_H_
#define PALLADION_EMU_TIMING_GPU_BLACKWELL_COSTS_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "emu/chip/machines/amount.h"
#include "emu/timing/gpu/costs.h"
#include "semantics/base/dtype.h"

namespace palladion::timing::gpu {

struct BlackwellCosts : GpuCosts {
  // Of one form of instruction: max(least, floor + N*smem_per_n, N*per_n) apart; commit + N*per_n until a wait returns.
  struct Form {
    machines::Cycles least, floor, smem_per_n, per_n;
    absl::StatusOr<machines::Cycles> commit = machines::Cycles(0);  // NotFound: not published
  };
  Form ss64, ss128, ts128, pair_ss128, pair_ss256, pair_ts256;
  machines::Cycles tmem_alloc;
  machines::BytesPerCycle tmem_read, tmem_write;
};

// One instruction, of 32 bytes of K. `m`: rows, of both SMs where it is of a pair.
struct TensorProduct {
  std::int64_t m = 128, n = 0;
  bool pair = false;
  bool left_in_tensor_memory = false;
};

// Unimplemented: this form was not measured; the error says which there are.
absl::StatusOr<BlackwellCosts::Form> FormOf(const BlackwellCosts& costs, const TensorProduct& product);
// From one instruction's start in the pipe to the next one's.
machines::Cycles Tcgen05Interval(const BlackwellCosts::Form& form, std::int64_t n);
// Of the port of each SM's shared memory, in this interval.
machines::Cycles Tcgen05Port(const BlackwellCosts& costs, const TensorProduct& product);
// Instructions of K elements: of types narrower than a byte only two of four bits are packed. InvalidArgument where
// instructions do not make it up.
absl::StatusOr<std::int64_t> Tcgen05Instructions(std::int64_t k, DType left, DType right);
// So many instructions, one after another, and what completes a barrier after them.
absl::StatusOr<TensorWork> WorkOf(const BlackwellCosts& costs, const TensorProduct& product, std::int64_t instructions);

// Tensor memory: bytes of loads or stores by so many warps, each of which reaches a quarter of it. `slot`: of the port.
Burst TensorLoad(const BlackwellCosts& costs, machines::Bytes bytes, std::int64_t warps);
Burst TensorStore(const BlackwellCosts& costs, machines::Bytes bytes, std::int64_t warps);
// A copy from shared memory, in the order of the tensor cores' queue.
TensorWork TensorCopy(const BlackwellCosts& costs, machines::Bytes bytes);

}  // namespace palladion::timing::gpu

#endif  // PALLADION_EMU_TIMING_GPU_BLACKWELL_COSTS_H_
