// Whether a core's random generator continues from an unordered program, which may have run on another core. Its bits
// are those of program order, but undefined (docs/spec/tpu.md#prng_seed).
#ifndef PALLADION_SEMANTICS_PROGRAM_GENERATOR_TASK_H_
#define PALLADION_SEMANTICS_PROGRAM_GENERATOR_TASK_H_

#include <cstdint>

#include "semantics/program/program.h"

namespace palladion {

// A bit of CoreGenerator::drawn that no count reaches; a seed clears it.
inline constexpr std::uint64_t kOfAnotherTask = std::uint64_t{1} << 63;

inline void BeginTask(CoreGenerator& generator) { generator.drawn |= kOfAnotherTask; }
inline bool IsOfAnotherTask(const CoreGenerator& generator) { return (generator.drawn & kOfAnotherTask) != 0; }
inline std::uint64_t DrawnSinceSeed(const CoreGenerator& generator) { return generator.drawn & ~kOfAnotherTask; }

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_PROGRAM_GENERATOR_TASK_H_
