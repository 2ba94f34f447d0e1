// The requirement of all backends' lowerings on lax.scan: that it is a fori_loop. Based on: JAX 0.10.2,
// jax/_src/pallas/utils.py (pattern_match_scan_to_fori_loop), and _scan_lowering_rule of each lowering.py.
#ifndef PALLADION_EMU_CHECK_LEGALITY_SCAN_LOOPS_H_
#define PALLADION_EMU_CHECK_LEGALITY_SCAN_LOOPS_H_

#include <optional>
#include <string>

#include "semantics/ir/module.h"

namespace palladion::legality {

bool IsScan(const Instr& op);
// What a scan does that a fori_loop does not; nullopt: nothing, or another operation.
std::optional<std::string> ScansBackward(const Instr& op);
std::optional<std::string> ScansArrays(const Instr& op);  // goes through arrays, or stacks results

}  // namespace palladion::legality

#endif  // PALLADION_EMU_CHECK_LEGALITY_SCAN_LOOPS_H_
