// The cost of an instruction of a Triton kernel, as far as its text determines it. A block is num_warps warps, spread
// over the quadrants of its SM. Based on: an operation on a value is one instruction for every element that a lane
// holds, a value's elements spread evenly over the lanes; Triton's blocked layouts and those of its matrix products
// (TritonGPU: BlockedEncodingAttr, NvidiaMmaEncodingAttr; wgmma where a warpgroup has 64 rows, else mma.sync); trees of
// shuffles within a warp and shared memory between warps for reductions. Limits: conversions between layouts are free
// but for operands of products, and transposes; what LLVM and ptxas join, hoist or reorder is not known.
#ifndef PALLADION_EMU_TIMING_TRITON_PLAN_H_
#define PALLADION_EMU_TIMING_TRITON_PLAN_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "emu/timing/triton/costs.h"
#include "emu/timing/triton/values.h"
#include "semantics/ir/module.h"

namespace palladion::timing::triton {

enum class TritonWork : std::uint8_t {
  kFree,       // a view, a broadcast, what another instruction does
  kRegisters,  // arithmetic by all lanes
  kReduction,
  kAccess,  // a load or a store
  kAtomic,
  kProduct,
  kLoop,
  kBranch,  // and whatever runs its regions once
};

// How the tensor cores, or the FP32 pipes, multiply.
enum class TritonProduct : std::uint8_t { kWgmma, kMmaSync, kFma };

// How the operand of a product comes to where the product reads it.
enum class TritonOperand : std::uint8_t {
  kRegisters,   // it is there
  kPrefetched,  // copied ahead into shared memory
  kStaged,      // stored into shared memory by the block
};

struct TritonPlan {
  const Instr* instr = nullptr;
  TritonWork work = TritonWork::kFree;
  std::vector<ValueId> reads;      // that have to be there first
  std::vector<gpu::Burst> bursts;  // one after another
  machines::Cycles chain;          // of dependent instructions that other warps can fill, after these
  bool meets = false;              // its warps exchange values through shared memory
  std::int64_t exchanged = 0;      // bytes that go there, and come back
  // kAccess, kAtomic
  bool stores = false;
  bool prefetched = false;
  std::int64_t ahead = 0;  // of so many iterations
  bool read_back = false;  // prefetched for more than products: lanes read it from shared memory
  // kProduct
  TritonProduct product = TritonProduct::kFma;
  gpu::TensorWork tensor;
  machines::Cycles chained;  // at least so long for one warp's own instructions
  std::vector<TritonOperand> operands;
  std::vector<std::int64_t> operand_bytes;
  bool overlaps = false;  // of a pipelined loop: the next one is issued before this one is over
  double flops = 0;       // of one execution by the block
  bool moves = false;     // between registers and lanes: counted as free
};

// Unimplemented, with the line: an operation without a cost.
class TritonPlanner {
 public:
  // All outlive it.
  TritonPlanner(const Module& module, const Kernel& kernel, const TritonCosts& costs, const TritonValues& values);
  absl::StatusOr<TritonPlan> PlanOf(const Instr& instr) const;
  std::int64_t warps() const { return warps_; }

 private:
  absl::Status Fill(TritonPlan& plan) const;
  absl::Status FillValue(TritonPlan& plan) const;
  absl::Status FillReduction(TritonPlan& plan, const Type& in) const;
  absl::Status FillProduct(TritonPlan& plan) const;
  absl::Status FillWgmma(TritonPlan& plan, const Type& a, std::int64_t k) const;
  void FillMmaSync(TritonPlan& plan, const Type& a, std::int64_t k) const;
  void FillOperands(TritonPlan& plan) const;
  std::int64_t AheadOf(const Instr& load) const;
  bool IsWgmma(const Instr& product) const;
  absl::Status Without(const Instr& instr, std::string_view why) const;

  const Module& module_;
  const Kernel& kernel_;
  const TritonCosts& costs_;
  const TritonValues& values_;
  const std::int64_t warps_;
};

}  // namespace palladion::timing::triton

#endif  // PALLADION_EMU_TIMING_TRITON_PLAN_H_
