#include "emu/timing/gpu/blackwell_costs.h"

#include <algorithm>
#include <cstddef>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"

namespace palladion::timing::gpu {

using machines::Bytes;
using machines::BytesPerCycle;
using machines::Cycles;

namespace {

constexpr std::int64_t kRowBytes = 32;  // of K, in one instruction

}  // namespace

absl::StatusOr<BlackwellCosts::Form> FormOf(const BlackwellCosts& costs, const TensorProduct& product) {
  if (product.left_in_tensor_memory) {
    if (product.m == 128 && !product.pair) return costs.ts128;
    if (product.m == 256 && product.pair) return costs.pair_ts256;
  } else {
    if (product.m == 64 && !product.pair) return costs.ss64;
    if (product.m == 128) return product.pair ? costs.pair_ss128 : costs.ss128;
    if (product.m == 256 && product.pair) return costs.pair_ss256;
  }
  return absl::UnimplementedError(
      Cat("no source says how long a tcgen05.mma of ", product.m, " rows by ", product.pair ? "two SMs" : "one SM",
          " with its left operand in ", product.left_in_tensor_memory ? "tensor" : "shared",
          " memory takes; known are 64 and 128 rows by one SM, 128 and 256 by two, and 128 by one and 256 by two with "
          "the left operand in tensor memory"));
}

Cycles Tcgen05Interval(const BlackwellCosts::Form& form, std::int64_t n) {
  const auto columns = static_cast<double>(n);
  return std::max({form.least, form.floor + columns * form.smem_per_n, columns * form.per_n});
}

// Each SM of a pair reads its own rows of A and half of B.
Cycles Tcgen05Port(const BlackwellCosts& costs, const TensorProduct& product) {
  const std::int64_t sms = product.pair ? 2 : 1;
  const std::int64_t left = product.left_in_tensor_memory ? 0 : product.m;
  return Bytes(static_cast<double>((left + product.n) * kRowBytes / sms)) / costs.smem_port;
}

absl::StatusOr<std::int64_t> Tcgen05Instructions(std::int64_t k, DType left, DType right) {
  constexpr int kByte = 8, kPacked = 4;
  const int widest = std::max(Info(left).bits, Info(right).bits);
  const std::int64_t bits = k * (widest == kPacked ? widest : std::max(widest, kByte));
  constexpr std::int64_t kBits = kRowBytes * 8;
  if (bits <= 0 || bits % kBits != 0)
    return absl::InvalidArgumentError(
        Cat("a tcgen05.mma is made of instructions of 32 bytes of K; this has ", bits, " bits of it"));
  return bits / kBits;
}

absl::StatusOr<TensorWork> WorkOf(const BlackwellCosts& costs, const TensorProduct& product,
                                  std::int64_t instructions) {
  constexpr double kDepth = 16;  // of 16-bit types
  PALLADION_ASSIGN_OR_RETURN(const BlackwellCosts::Form form, FormOf(costs, product));
  PALLADION_ASSIGN_OR_RETURN(const Cycles commit, form.commit);
  const auto count = static_cast<double>(instructions), columns = static_cast<double>(product.n);
  const Cycles interval = Tcgen05Interval(form, product.n);
  // A commit was measured from the issue of one instruction on: what is left of it when its interval is over.
  return TensorWork{.pipe = count * interval,
                    .port = count * Tcgen05Port(costs, product),
                    .drain = std::max(Cycles(0), commit + columns * form.per_n - interval),
                    .issue = count * costs.alu_interval,
                    .flops16 = 2 * count * static_cast<double>(product.m) * columns * kDepth};
}

namespace {

Burst TensorAccess(BytesPerCycle rate, Bytes bytes, std::int64_t warps) {
  constexpr double kQuarters = 4;
  const Cycles port = bytes / rate;
  return {.slot = port, .result = kQuarters / std::min(kQuarters, static_cast<double>(warps)) * port};
}

}  // namespace

Burst TensorLoad(const BlackwellCosts& costs, Bytes bytes, std::int64_t warps) {
  return TensorAccess(costs.tmem_read, bytes, warps);
}

Burst TensorStore(const BlackwellCosts& costs, Bytes bytes, std::int64_t warps) {
  return TensorAccess(costs.tmem_write, bytes, warps);
}

TensorWork TensorCopy(const BlackwellCosts& costs, Bytes bytes) {
  const Cycles port = PortTime(costs, bytes);
  return {.pipe = std::max(port, bytes / costs.tmem_write), .port = port, .drain = {}, .issue = costs.alu_interval};
}

}  // namespace palladion::timing::gpu
