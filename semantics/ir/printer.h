// A Module to canonical kernel text. Based on: docs/spec/kernel-text.md.
// Print(*Parse(Print(m))) == Print(m) for every m that a parser made; a module made by hand must have distinct visible
// names and defined ids, which Print does not check.
#ifndef PALLADION_SEMANTICS_IR_PRINTER_H_
#define PALLADION_SEMANTICS_IR_PRINTER_H_

#include <string>

#include "semantics/ir/module.h"

namespace palladion {

// Constants of at most this many elements are written as numbers, longer ones as hex.
inline constexpr std::int64_t kMaxPrintedNumbers = 64;

std::string Print(const Module& module);

// One instruction without its regions and its location, on one line, for messages: "%s = add(%a, %d) : f32[256,256]".
std::string Print(const Module& module, const Kernel& kernel, const Instr& instr);
std::string Print(const Module& module, const Kernel& kernel, const Arg& arg);

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_IR_PRINTER_H_
