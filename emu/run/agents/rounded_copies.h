// Copies of a TPU that are rounded up to whole tiles: JAX's pipeline rounds a last block that sticks out of its array
// (_create_blocked_slice of jax/_src/pallas/mosaic/pipeline.py, JAX 0.10.2), and copies into the padding behind it.
// They are known by a slice whose size is computed and promised to be a multiple; only a copy's may be computed.
// Limit: a promise that a copy of the user's own makes has the same effect.
#ifndef PALLADION_EMU_RUN_AGENTS_ROUNDED_COPIES_H_
#define PALLADION_EMU_RUN_AGENTS_ROUNDED_COPIES_H_

#include <set>
#include <string_view>

#include "semantics/ir/module.h"

namespace palladion::agents {

// Lines of the text.
std::set<int> RoundedCopies(const Module& module, std::string_view kernel);

}  // namespace palladion::agents

#endif  // PALLADION_EMU_RUN_AGENTS_ROUNDED_COPIES_H_
