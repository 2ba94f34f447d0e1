// What the observers of a run share: the kernel of a program, places and values in words.
#ifndef PALLADION_EMU_RUN_WATCH_OBSERVED_H_
#define PALLADION_EMU_RUN_WATCH_OBSERVED_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "emu/kernel/prepared_kernel.h"
#include "emu/run/events.h"
#include "memory_model/bytes/memory.h"
#include "semantics/program/mark.h"

namespace palladion::watch {

// "program (2, 0)"; where threads run, "thread 1 of block (2, 0)", "warp 3 of thread 1 of block (2, 0)".
std::string NameOfAgent(const Frame& frame);

// The user's line without its callers; "" where the text has none.
std::string SourceText(const Module& module, LocId loc);

// "dot_general", "mgpu.load"
std::string OpName(const Instr& instr);

// Of operand i of a finished instruction, those that index its views included.
Type OperandType(const Kernel& kernel, const Mark& mark, std::size_t i);

// One element of a value, as kernel text writes it without its type.
std::string ElementValueText(const Type& type, const std::byte* value, std::int64_t element);

// The elements inside the array that an unmasked box touches.
std::int64_t ElementsOf(const BoxAccess& access, const memory_model::BoxReach& reach);

}  // namespace palladion::watch

#endif  // PALLADION_EMU_RUN_WATCH_OBSERVED_H_
