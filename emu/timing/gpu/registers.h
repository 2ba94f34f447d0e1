// A lower bound of the registers of a thread of a GPU kernel, at the place where most values are alive, and what
// spills. Based on: a scan of each region from its end: a value takes registers from its definition to its last use;
// one that a loop or a branch uses is alive as long as that runs. Its layout determines how many one lane needs
// (emu/chip/layouts/register_layouts.h). Operations that go element by element put their results where operands end, or
// compute an element when the one operation that reads it does; loops and branches reuse the registers of their
// operands; an accumulator of wgmma is its value. The limit (CUDA C++ Programming Guide, "Compute Capabilities") is
// that of a thread, the lane's share of the SM's registers, or set_max_registers. Not counted: addresses, copies that a
// compiler makes, predicates (they have registers of their own), and rematerialisation or reordering by the compiler.
#ifndef PALLADION_EMU_TIMING_GPU_REGISTERS_H_
#define PALLADION_EMU_TIMING_GPU_REGISTERS_H_

#include <cstdint>

#include "semantics/ir/module.h"

namespace palladion::timing::gpu {

struct RegisterRoom {
  std::int64_t of_sm = 65536, of_thread = 255;  // of 32 bits
};

struct RegisterNeed {
  std::int64_t most = 0;                // of one lane
  int line = 0;                         // of the text, where that is
  std::int64_t spilled = 0, limit = 0;  // of one lane: most that is over a limit, and that limit
  int spill_line = 0;
  std::int64_t blocks = 0;  // that the registers of an SM are enough for
};
// `threads`: of a block, 128 lanes each.
RegisterNeed RegistersOf(const Kernel& kernel, std::int64_t threads, const RegisterRoom& room);
// Of a Triton kernel, whose values are spread over all lanes of a block, but for those that triton_memory.h names.
RegisterNeed RegistersOfTriton(const Kernel& kernel, const RegisterRoom& room);

}  // namespace palladion::timing::gpu

#endif  // PALLADION_EMU_TIMING_GPU_REGISTERS_H_
