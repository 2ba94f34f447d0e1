// Copies of a TPU that are rounded up to whole tiles: JAX's pipeline rounds a last block that extends past its array
// (_create_blocked_slice of jax/_src/pallas/mosaic/pipeline.py, JAX 0.10.2), and copies into the padding behind it.
// They are recognised by a slice whose size is computed and promised to be a multiple; only a copy may have a computed
// size. Limit: such a promise in the user's own copy has the same effect.
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
