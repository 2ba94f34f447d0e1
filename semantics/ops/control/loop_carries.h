// Which of a loop's carries matter: a waiting loop (emu/run/agents/spin.h) is unchanged if these are.
#ifndef PALLADION_SEMANTICS_OPS_CONTROL_LOOP_CARRIES_H_
#define PALLADION_SEMANTICS_OPS_CONTROL_LOOP_CARRIES_H_

#include <vector>

#include "semantics/ir/module.h"

namespace palladion {

class Builder;

// Of a `while`, by carry: may its condition, or what its body does beside computing values, depend on it, or is
// it used after the loop? The others only count for themselves. Conservative: true in doubt.
std::vector<bool> CarriesThatMatter(const Instr& op, const Builder& builder);

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_OPS_CONTROL_LOOP_CARRIES_H_
