// Every number that a machine description may have: its name, its dimension, the machines that it is about and what it
// means. Files, typed access, `palladion machines` and docs/reference/machines.md all read this one table. A name that
// no row has, or one asked for in another unit, does not compile.
#ifndef PALLADION_EMU_CHIP_MACHINES_KEYS_H_
#define PALLADION_EMU_CHIP_MACHINES_KEYS_H_

#include <cstddef>
#include <iterator>
#include <string_view>

#include "emu/chip/machines/amount.h"

namespace palladion::machines {

enum class Family { kHopper = 1, kBlackwell = 2, kTpu = 4 };

struct KeyRow {
  std::string_view name;  // GROUP.REST; rows of one group stand together
  Dimension dimension;
  int families;  // of Family, or-ed
  std::string_view meaning;

  constexpr bool IsOf(Family family) const { return (families & static_cast<int>(family)) != 0; }
  constexpr std::string_view group() const { return name.substr(0, name.find('.')); }
};

namespace key_table {

inline constexpr int kHopper = static_cast<int>(Family::kHopper), kBlackwell = static_cast<int>(Family::kBlackwell),
                     kTpu = static_cast<int>(Family::kTpu), kGpu = kHopper | kBlackwell, kAll = kGpu | kTpu;

inline constexpr KeyRow kRows[] = {
    {"chip.generation", Dimension::kCount, kAll, "TPU generation, or major compute capability"},
    {"chip.cores", Dimension::kCount, kAll, "SMs; of a TPU, TensorCores that one kernel may span"},
    {"clock.peak", Dimension::kHertz, kAll, "the clock at which the peak rates hold"},
    {"clock.max", Dimension::kHertz, kGpu, "the highest that was seen"},
    {"clock.short", Dimension::kHertz, kGpu, "of a kernel too short for limits of power: what times count with"},
    {"clock.loaded", Dimension::kHertz, kGpu, "what long matrix products come down to, if their pipe never idles"},
    {"peak.bf16", Dimension::kFlopsPerSecond, kAll, "dense matrix products in bf16, of the device"},
    {"peak.tf32", Dimension::kFlopsPerSecond, kGpu, "the same in tf32"},
    {"peak.fp8", Dimension::kFlopsPerSecond, kAll, "the same in 8-bit floats"},
    {"peak.int8", Dimension::kFlopsPerSecond, kAll, "the same in int8, operations"},
    {"peak.fp4", Dimension::kFlopsPerSecond, kBlackwell, "the same in 4-bit floats"},
    {"tensor.bf16", Dimension::kFlopsPerCycle, kGpu, "dense matrix products of one SM in bf16 or f16"},
    {"tensor.tf32", Dimension::kFlopsPerCycle, kGpu, "the same in tf32"},
    {"tensor.fp8", Dimension::kFlopsPerCycle, kGpu, "the same in 8-bit floats"},
    {"tensor.int8", Dimension::kFlopsPerCycle, kGpu, "the same in int8, operations"},
    {"tensor.fp4", Dimension::kFlopsPerCycle, kBlackwell, "the same in 4-bit floats"},
    {"tensor.mma_sync", Dimension::kFlopsPerCycle, kGpu, "what mma.sync reaches in bf16"},
    {"issue.slots", Dimension::kCount, kGpu, "quadrants of an SM; a warp stays in one"},
    {"issue.rate", Dimension::kPerCycle, kGpu, "instructions of a quadrant"},
    {"fp32.lanes", Dimension::kPerCycle, kGpu, "results of an SM: add, multiply, fused"},
    {"fp32.latency", Dimension::kCycles, kGpu, "from issue to a dependent instruction"},
    {"fp32.interval", Dimension::kCycles, kGpu, "between instructions of a warp's width in one quadrant"},
    {"fp32.division", Dimension::kCount, kGpu, "instructions of one division"},
    {"alu.latency", Dimension::kCycles, kGpu, "integers, logic, select, min and max"},
    {"alu.interval", Dimension::kCycles, kGpu, "as fp32.interval"},
    {"cvt.latency", Dimension::kCycles, kGpu, "f32 packed to f16 or bf16"},
    {"cvt.interval", Dimension::kCycles, kGpu, "as fp32.interval"},
    {"mufu.lanes", Dimension::kPerCycle, kGpu, "results of an SM: exp2, reciprocal, rsqrt, log2, sin"},
    {"mufu.exp2_latency", Dimension::kCycles, kGpu, "a power of two"},
    {"mufu.latency", Dimension::kCycles, kGpu, "the others"},
    {"mufu.interval", Dimension::kCycles, kGpu, "as fp32.interval"},
    {"shfl.latency", Dimension::kCycles, kGpu, "a shuffle within a warp"},
    {"shfl.interval", Dimension::kCycles, kGpu, "as fp32.interval"},
    {"mma_sync.latency", Dimension::kCycles, kGpu, "m16n8k16 in bf16"},
    {"mma_sync.interval", Dimension::kCycles, kGpu, "between those of one warp"},
    {"register.bytes", Dimension::kBytes, kGpu, "the register file of an SM"},
    {"register.of_thread", Dimension::kCount, kGpu, "32-bit registers that a thread may have"},
    {"smem.of_block", Dimension::kBytes, kGpu, "shared memory that one block may have"},
    {"smem.port", Dimension::kBytesPerCycle, kGpu, "of an SM, for loads, stores, TMA and operands of matrix products"},
    {"smem.banks", Dimension::kCount, kGpu, "of 4 bytes; k of one bank take k turns of the port"},
    {"smem.landing", Dimension::kBytesPerCycle, kGpu,
     "what copies write beside the port; absent: they share the port with whatever reads"},
    {"smem.latency", Dimension::kCycles, kGpu, "a 32-bit load without conflicts"},
    {"smem.stmatrix", Dimension::kCycles, kGpu, "stmatrix.x4 of a warp"},
    {"l1.size", Dimension::kBytes, kGpu, "of an SM, what its blocks take as shared memory included"},
    {"l1.latency", Dimension::kCycles, kGpu, "a hit"},
    {"wgmma.floor", Dimension::kCycles, kHopper, "m64nNk16, A in shared memory: max(floor + N*smem_per_n, N*per_n)"},
    {"wgmma.smem_per_n", Dimension::kCycles, kHopper, "of each column of B through the port of shared memory"},
    {"wgmma.per_n", Dimension::kCycles, kHopper, "of each column in the pipe"},
    {"wgmma.rs_floor", Dimension::kCycles, kHopper, "A in registers: max(rs_floor, N*per_n)"},
    {"wgmma.tail", Dimension::kCycles, kHopper, "from the last issue until the result is there, A in shared memory"},
    {"wgmma.rs_tail", Dimension::kCycles, kHopper, "the same, A in registers"},
    {"wgmma.depth", Dimension::kCount, kHopper, "how many may be in the queue, A in shared memory"},
    {"wgmma.rs_depth", Dimension::kCount, kHopper, "the same, A in registers"},
    {"wgmma.slowdown", Dimension::kCount, kHopper, "times as long while TMA writes"},
    {"tcgen05.ss128_floor", Dimension::kCycles, kBlackwell,
     "one SM, M=128, A in shared memory: max(floor + N*smem_per_n, N*per_n)"},
    {"tcgen05.ss128_least", Dimension::kCycles, kBlackwell, "the same, no less than this however small N is"},
    {"tcgen05.ss128_smem_per_n", Dimension::kCycles, kBlackwell, "of each column of B through the port"},
    {"tcgen05.ss128_per_n", Dimension::kCycles, kBlackwell, "of each column in the pipe"},
    {"tcgen05.ss128_commit", Dimension::kCycles, kBlackwell,
     "from issue until a wait for its commit returns, + N*per_n"},
    {"tcgen05.ts128_per_n", Dimension::kCycles, kBlackwell, "one SM, M=128, A in tensor memory: N*per_n"},
    {"tcgen05.ts128_commit", Dimension::kCycles, kBlackwell, "as ss128_commit"},
    {"tcgen05.ss64_per_n", Dimension::kCycles, kBlackwell, "one SM, M=64, A in shared memory: N*per_n"},
    {"tcgen05.ss64_least", Dimension::kCycles, kBlackwell, "as ss128_least"},
    {"tcgen05.ss64_commit", Dimension::kCycles, kBlackwell, "as ss128_commit"},
    {"tcgen05.pair_ss128_floor", Dimension::kCycles, kBlackwell,
     "two SMs, M=128, A in shared memory: max(floor + N*smem_per_n, N*per_n)"},
    {"tcgen05.pair_ss128_smem_per_n", Dimension::kCycles, kBlackwell, "of each column of B through the ports"},
    {"tcgen05.pair_ss128_per_n", Dimension::kCycles, kBlackwell, "of each column in the pipes"},
    {"tcgen05.pair_ss128_commit", Dimension::kCycles, kBlackwell, "as ss128_commit"},
    {"tcgen05.pair_ss256_floor", Dimension::kCycles, kBlackwell,
     "two SMs, M=256, A in shared memory: max(floor + N*smem_per_n, N*per_n)"},
    {"tcgen05.pair_ss256_smem_per_n", Dimension::kCycles, kBlackwell, "of each column of B through the ports"},
    {"tcgen05.pair_ss256_per_n", Dimension::kCycles, kBlackwell, "of each column in the pipes"},
    {"tcgen05.pair_ss256_commit", Dimension::kCycles, kBlackwell, "as ss128_commit"},
    {"tcgen05.pair_ts256_per_n", Dimension::kCycles, kBlackwell, "two SMs, M=256, A in tensor memory: N*per_n"},
    {"tcgen05.depth", Dimension::kCount, kBlackwell, "in flight that keep the pipe of one SM busy, N up to 128"},
    {"tcgen05.alloc", Dimension::kCycles, kBlackwell, "an allocation of tensor memory"},
    {"tmem.bytes", Dimension::kBytes, kBlackwell, "tensor memory of an SM"},
    {"tmem.lanes", Dimension::kCount, kBlackwell, "its rows"},
    {"tmem.columns", Dimension::kCount, kBlackwell, "its columns, of 4 bytes"},
    {"tmem.read", Dimension::kBytesPerCycle, kBlackwell, "of an SM; a warp reads a quarter of it, its own lanes"},
    {"tmem.write", Dimension::kBytesPerCycle, kBlackwell, "of an SM"},
    {"tma.issue", Dimension::kCycles, kGpu, "between two copies that one thread starts"},
    {"tma.row_rate", Dimension::kPerCycle, kGpu, "rows of shared memory that the engine of an SM writes"},
    {"tma.row_bytes", Dimension::kBytes, kGpu, "the longest such row; a shorter one takes as long"},
    {"tma.box_rows", Dimension::kCount, kGpu, "the most in one dimension of a copy"},
    {"tma.in_flight", Dimension::kBytes, kGpu, "that one SM has requested and not received yet, at most"},
    {"tma.l2_latency", Dimension::kNanoseconds, kGpu, "from the start of a copy to its barrier, found in L2"},
    {"tma.l2_rate", Dimension::kBytesPerSecond, kGpu, "of each further byte of such a copy"},
    {"tma.dram_latency", Dimension::kNanoseconds, kGpu, "the same, not found in L2"},
    {"tma.dram_rate", Dimension::kBytesPerSecond, kGpu, "of each further byte of such a copy"},
    {"tma.slowdown", Dimension::kCount, kGpu, "times as long while matrix products read shared memory"},
    {"mbarrier.arrive", Dimension::kCycles, kGpu, "an arrival"},
    {"mbarrier.wait", Dimension::kCycles, kGpu, "a wait whose phase is complete"},
    {"mbarrier.interval", Dimension::kCycles, kGpu, "between instructions on barriers of one SM"},
    {"barrier.base", Dimension::kCycles, kGpu, "barrier of a block, from the last arrival: base + warps*per_warp"},
    {"barrier.per_warp", Dimension::kCycles, kGpu, "for each warp that takes part"},
    {"barrier.named_arrive", Dimension::kCycles, kGpu, "arrival at a named barrier"},
    {"barrier.named_wait", Dimension::kCycles, kGpu, "until the last arrival is seen"},
    {"fence.proxy", Dimension::kCycles, kGpu, "of stores to shared memory, before the async proxy reads"},
    {"fence.device", Dimension::kNanoseconds, kGpu, "release to acquire through global memory"},
    {"fence.system", Dimension::kNanoseconds, kGpu, "the same, seen by other devices"},
    {"cluster.barrier", Dimension::kCycles, kGpu, "arrive and wait of a cluster"},
    {"cluster.of_2", Dimension::kCount, kGpu, "clusters of 2 blocks, one an SM, at once on the chip"},
    {"cluster.of_4", Dimension::kCount, kGpu, "the same of 4"},
    {"cluster.of_8", Dimension::kCount, kGpu, "the same of 8"},
    {"dsmem.latency", Dimension::kCycles, kGpu, "a load from the shared memory of a peer in a cluster of 2"},
    {"dsmem.load", Dimension::kBytesPerCycle, kGpu, "loads from peers, of an SM"},
    {"dsmem.store", Dimension::kBytesPerCycle, kGpu, "stores to peers, of an SM"},
    {"dsmem.put", Dimension::kBytesPerCycle, kGpu, "TMA to peers, of an SM"},
    {"launch.empty", Dimension::kNanoseconds, kAll, "a kernel that does nothing; of a TPU, what a call costs"},
    {"launch.graph", Dimension::kNanoseconds, kGpu, "another launch of a graph"},
    {"launch.block", Dimension::kNanoseconds, kGpu, "between blocks that the dispatcher starts"},
    {"launch.replace", Dimension::kCycles, kGpu, "from a block's end to the start of the next on its SM"},
    {"grid.barrier", Dimension::kNanoseconds, kGpu, "a barrier of all blocks through global memory"},
    {"l2.size", Dimension::kBytes, kGpu, "of the chip"},
    {"l2.effective", Dimension::kBytes, kGpu, "beyond which bandwidth falls, as far data is kept twice"},
    {"l2.line", Dimension::kBytes, kGpu, "what has a tag"},
    {"l2.sector", Dimension::kBytes, kGpu, "what is fetched"},
    {"l2.partitions", Dimension::kCount, kGpu, "with a near and a far side for each SM"},
    {"l2.slices", Dimension::kCount, kGpu, "that serve at once"},
    {"l2.slice_rate", Dimension::kBytesPerCycle, kGpu, "of a slice"},
    {"l2.bandwidth", Dimension::kBytesPerSecond, kGpu, "of hits, all SMs together"},
    {"l2.to_sm", Dimension::kBytesPerCycle, kGpu, "into one SM that is alone"},
    {"l2.near_latency", Dimension::kCycles, kGpu, "a load that hits in the near partition"},
    {"l2.far_latency", Dimension::kCycles, kGpu, "a load that hits in the far partition"},
    {"l2.atomic", Dimension::kNanoseconds, kGpu, "between two atomics on one address"},
    {"dram.size", Dimension::kBytes, kAll, "of the device; of a TPU as JAX gives it, what kernels may have"},
    {"dram.peak", Dimension::kBytesPerSecond, kAll, "of the device"},
    {"dram.achieved", Dimension::kBytesPerSecond, kAll, "the best that was measured"},
    {"dram.latency", Dimension::kNanoseconds, kGpu, "a load that misses every cache"},
    {"link.peak", Dimension::kBytesPerSecond, kGpu, "NVLink of a GPU, one direction"},
    {"link.read", Dimension::kBytesPerSecond, kGpu, "reads from a peer"},
    {"link.write", Dimension::kBytesPerSecond, kGpu, "writes to a peer"},
    {"link.atomic", Dimension::kNanoseconds, kGpu, "an atomic operation on a peer's memory"},
    {"register.lanes", Dimension::kCount, kTpu, "of a vector register of 32-bit elements"},
    {"register.sublanes", Dimension::kCount, kTpu, "of a vector register of 32-bit elements"},
    {"register.vectors", Dimension::kCount, kTpu, "vector registers of a core"},
    {"slot.valu", Dimension::kCount, kTpu, "elementwise operations of one bundle"},
    {"slot.xlu", Dimension::kCount, kTpu, "operations across lanes of one bundle"},
    {"slot.eup", Dimension::kCount, kTpu, "transcendental operations of one bundle"},
    {"slot.load", Dimension::kCount, kTpu, "loads of vector registers of one bundle"},
    {"slot.store", Dimension::kCount, kTpu, "stores of vector registers of one bundle"},
    {"slot.salu", Dimension::kCount, kTpu, "scalar operations of one bundle"},
    {"slot.pace", Dimension::kCycles, kTpu, "of a bundle, as kernels were seen to issue them"},
    {"mxu.count", Dimension::kCount, kTpu, "matrix units of a core"},
    {"mxu.size", Dimension::kCount, kTpu, "rows, and columns, of a matrix unit"},
    {"mxu.interval", Dimension::kCycles, kTpu, "of 8 rows in bf16 through a matrix unit"},
    {"mxu.accumulators", Dimension::kCount, kTpu, "of a matrix unit, which kernels may name"},
    {"vmem.size", Dimension::kBytes, kTpu, "vector memory of a core"},
    {"vmem.scoped", Dimension::kBytes, kTpu, "of it for one kernel that gives no vmem_limit_bytes"},
    {"vmem.reserved", Dimension::kBytes, kTpu, "of it that no kernel may have"},
    {"vmem.bandwidth", Dimension::kBytesPerSecond, kTpu, "between vector memory and registers"},
    {"smem.size", Dimension::kBytes, kTpu, "scalar memory of a core"},
    {"sparsecore.vmem", Dimension::kBytes, kTpu, "vector memory of a vector subcore of a SparseCore"},
    {"cmem.size", Dimension::kBytes, kTpu, "common memory of a core, where it has some"},
    {"dma.startup", Dimension::kNanoseconds, kTpu, "of a copy between HBM and VMEM, beside its bytes"},
    {"dma.issue", Dimension::kPerCycle, kTpu, "copies that a core may start"},
    {"grid.step", Dimension::kNanoseconds, kTpu, "of a step of a pipelined grid, beside its work and its copies"},
    {"ici.links", Dimension::kCount, kTpu, "of a chip"},
    {"ici.link", Dimension::kBytesPerSecond, kTpu, "of a link, one direction"},
    {"ici.chip", Dimension::kBytesPerSecond, kTpu, "of all links of a chip, both directions"},
    {"ici.hop", Dimension::kNanoseconds, kTpu, "from a chip to its neighbour"},
};
inline constexpr std::size_t kCount = std::size(kRows);

consteval std::size_t Find(std::string_view name, Dimension dimension) {
  for (std::size_t i = 0; i < kCount; ++i) {
    if (kRows[i].name != name) continue;
    if (kRows[i].dimension != dimension) throw "the number has another unit: see the table above";
    return i;
  }
  throw "no row of the table above has this name";
}

}  // namespace key_table

// One of the numbers, in a unit that fits: Key<Cycles>("wgmma.floor").
template <class Unit>
class Key {
 public:
  consteval explicit Key(std::string_view name) : row_(key_table::Find(name, Unit::kDimension)) {}
  constexpr std::size_t row() const { return row_; }

 private:
  std::size_t row_;
};

}  // namespace palladion::machines

#endif  // PALLADION_EMU_CHIP_MACHINES_KEYS_H_
