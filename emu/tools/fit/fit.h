// Whether a kernel fits its chip: its use of each memory, by operand, scratch and buffer, an estimate of what the
// compiler adds, the limit and its source, and what would fit. The same numbers as CAPACITY
// (emu/check/capacity.cc). For GPUs also registers, and how many blocks are resident on an SM. Nothing runs:
// the text is enough.
#ifndef PALLADION_EMU_TOOLS_FIT_FIT_H_
#define PALLADION_EMU_TOOLS_FIT_FIT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "emu/check/legality/tpu/block_search.h"
#include "emu/check/legality/tpu/vmem.h"
#include "emu/emulate.h"
#include "emu/report.h"

namespace palladion::fit {

using Verdict = legality::VmemVerdict;

enum class Unit : std::uint8_t { kBytes, kColumns, kRegisters };
std::string_view Name(Unit unit);

struct Row {
  std::string kind;   // "operand", "scratch", "scope"
  std::string name;   // as the user has it
  std::string array;  // of one buffer
  std::int64_t buffers = 1, one = 0, unpadded = 0;
  std::string why;
  std::int64_t amount() const { return buffers * one; }
};

struct Estimate {
  std::string what;
  std::int64_t amount = 0;
  std::string place;  // of the instruction: "kernel.py:12"; "" of none
};

// Another limit that the memory has.
struct Limit {
  std::string what;
  std::int64_t amount = 0;
};

struct Memory {
  std::string name;  // "vmem"
  Unit unit = Unit::kBytes;
  std::vector<Row> rows;
  std::vector<Estimate> estimates;
  std::int64_t held = 0, estimate = 0;
  std::int64_t most = 0;      // of what may not fit: as much as it may need
  Limit limit;                // that holds
  std::vector<Limit> others;  // known, but not the one that holds
  Verdict verdict = Verdict::kFits;
};

// Of a GPU.
struct SmBlocks {
  std::int64_t count = 0;
  std::string why;
  std::int64_t lanes = 0;  // of one block
};

// What the target refuses, or its compiler may: a defect ILLEGAL, or a warning COMPILER.
struct Refusal {
  std::string code, place, message;  // place: "kernel.py:12"
};

struct KernelFit {
  std::string kernel, target;
  std::vector<SourceFrame> frames;  // of the call, innermost first
  std::vector<Memory> memories;
  std::optional<std::int64_t> programs;         // of the grid, threads of a block left out; not of dynamic sizes
  std::optional<std::int64_t> copied;           // of a TPU: bytes of blocks, over the whole grid
  std::optional<legality::BlockSearch> blocks;  // of a TPU
  std::optional<SmBlocks> of_sm;                // of a GPU
  std::string advice;                           // what would make it fit
  std::vector<Refusal> refusals;                // whether or not it fits
  std::vector<std::string> not_counted;         // "what layout conversions take in shared memory"
  Verdict verdict() const;
};

// Of each kernel of the text, or of the one that `options` names. InvalidArgument: no such text or kernel, or a target
// without a chip. Unimplemented: scalar subcores of SparseCores, cores of several kinds; of a GPU, what cannot be
// prepared.
absl::StatusOr<std::vector<KernelFit>> FitOf(std::string_view text, const PrepareOptions& options);

// Tables for people, and JSON for programs (docs/reference/fit.md).
std::string FitText(const std::vector<KernelFit>& kernels);
std::string FitJson(const std::vector<KernelFit>& kernels);

}  // namespace palladion::fit

#endif  // PALLADION_EMU_TOOLS_FIT_FIT_H_
