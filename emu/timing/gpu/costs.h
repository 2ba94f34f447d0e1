// Costs of operations of an SM that Hopper and Blackwell have in common: issue slots, shared memory, the copy engine
// and barriers. The numbers are in emu/chip/machines; here are the cost laws. Based on: published microbenchmarks, each
// named in the machine's file. Limits: no order of instructions within a burst; a compiler decides it.
#ifndef PALLADION_EMU_TIMING_GPU_COSTS_H_
#define PALLADION_EMU_TIMING_GPU_COSTS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/status/statusor.h"
#include "emu/chip/machines/amount.h"
#include "emu/timing/gpu/registers.h"
#include "semantics/base/dtype.h"
#include "semantics/registry/op_row.h"

namespace palladion::timing::gpu {

// The numbers of a chip, which its description has (machine_costs.h).
struct GpuCosts {
  machines::Hertz clock;
  std::int64_t sms = 0;
  machines::BytesPerCycle smem_port;
  std::optional<machines::BytesPerCycle> smem_landing;  // of copies alone; else they go through the port
  machines::Cycles smem_latency;
  std::int64_t smem_banks = 32;  // of 4 bytes
  RegisterRoom registers;
  std::int64_t issue_slots = 4;   // quadrants
  machines::PerCycle issue_rate;  // of each
  std::int64_t division = 1;      // instructions of one
  machines::Cycles fp32_interval, fp32_latency, alu_interval, alu_latency, cvt_interval, cvt_latency;
  machines::Cycles mufu_interval, mufu_latency, shfl_interval, shfl_latency;
  machines::Cycles tma_issue;
  machines::PerCycle tma_rows;
  machines::Bytes tma_row_bytes, l2_line, l2_sector, l2_size;
  machines::Cycles tma_l2_latency, tma_dram_latency;  // at `clock`
  machines::BytesPerCycle l2, dram;                   // of the chip, at `clock`
  machines::Cycles l2_latency, dram_latency;          // of loads by threads
  machines::Cycles arrive, wait, fence, replace;
  machines::Cycles barrier_base, barrier_per_warp;  // of the threads of a block
  // Into the shared memory of another block of the cluster. NotFound: not published.
  absl::StatusOr<machines::Cycles> dsmem_latency = absl::NotFoundError("");
  absl::StatusOr<machines::BytesPerCycle> dsmem_store = absl::NotFoundError("");
  machines::Cycles device_fence;  // from a signal in global memory until another SM sees it
  machines::Cycles launch;
};

// ---- The tensor cores: what instructions that follow each other are to those of one SM, whatever the family's law.

struct TensorWork {
  machines::Cycles pipe;   // busy, without anything that keeps it waiting
  machines::Cycles port;   // of shared memory, in that time
  machines::Cycles drain;  // from the pipe's end until a wait for the result returns
  machines::Cycles issue;  // of the thread
  double flops16 = 0;      // of all SMs that take part, as if in 16-bit types: others take as long
};

// ---- The issue slots: a warp's instructions go into one of four quadrants, a warpgroup's four warps into all. Each
// quadrant issues one instruction a cycle or so (issue.rate), and has each of the pipes for itself.

// By the row's unit and what it does: which pipe. kNone: costs nothing, a view or a name.
enum class Pipe : std::uint8_t { kNone, kFp32, kAlu, kConvert, kTranscendental, kShuffle };
inline constexpr std::size_t kPipes = 6;
inline constexpr std::array<std::string_view, kPipes> kPipeNames = {
    "", "FP32 pipes", "integer pipes", "conversion pipes", "transcendental pipes", "shuffle pipes"};
// Unimplemented: an operation on values whose unit has no cost here.
absl::StatusOr<Pipe> PipeOf(const OpRow& row, DType type);

// An operation on so many elements in the registers of `warps` warps: how long it holds its pipe in each quadrant that
// it uses, and, where an instruction depends on it, how long until the last result is there; and how long the quadrant
// issues it, which others do not in that time.
struct Burst {
  machines::Cycles slot, result, issue;
  Pipe pipe = Pipe::kNone;
};
Burst BurstOf(const GpuCosts& costs, Pipe pipe, std::int64_t elements, std::int64_t warps);

// ---- Shared memory and the copy engine.

// Turns of the port, each a word from every bank (emu/chip/layouts/bank_conflicts.h).
machines::Cycles TurnTime(const GpuCosts& costs, std::int64_t turns);
// Bytes through the port, without conflicts: by loads and stores of a warpgroup, or by copies.
machines::Cycles PortTime(const GpuCosts& costs, machines::Bytes bytes);
// Of the engine: rows of shared memory, of which a short one takes as long as a whole one.
machines::Cycles EngineTime(const GpuCosts& costs, std::int64_t rows, machines::Bytes row);

}  // namespace palladion::timing::gpu

#endif  // PALLADION_EMU_TIMING_GPU_COSTS_H_
