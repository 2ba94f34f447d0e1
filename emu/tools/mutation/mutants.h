// Mutants: kernels with one mechanical mistake each, made from a kernel that has none. They grade the checks: each must
// be reported, be caught by a reference, or compute the same. Based on: MC Mutants (Levine et al., 2023), which grades
// testers by bugs put in on purpose because real ones are too rare.
#ifndef PALLADION_EMU_TOOLS_MUTATION_MUTANTS_H_
#define PALLADION_EMU_TOOLS_MUTATION_MUTANTS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace palladion::mutation {

enum class Mutation : std::uint8_t {
  kDropMask,      // a masked access without its mask; a select that always takes the side its mask lets through
  kDropInit,      // constants stored in a branch of a cond: not stored
  kSwapIndex,     // two results of one operand's index map, swapped
  kMakeParallel,  // one "arbitrary" dimension of the grid is "parallel"
  kShrinkBlock,   // one size of a block, and all that follows from it, so that it no longer divides its array
  kDropStore,     // one store to an output
  kReadPast,      // one read starts one element later
  kDropSync,      // one wait, arrival, fence, commit or asynchronous copy
  kRepeatSync,    // the same, twice
  kSwapSync,      // one of them, or a product, behind the next one
  kMoveSync,      // one of them across the nearest instruction that touches memory, either way
  kNextSlot,      // one index of an array of barriers, semaphores or slots, plus one modulo the array
  kArrivals,      // the arrivals that complete a barrier, plus or minus one
  kOtherBarrier,  // another barrier, or semaphore, of the same type
  kWaitCount,     // how many operations a wait leaves in flight, plus or minus one
  kOtherDevice,   // a device that is named, plus one modulo the mesh
};
std::string_view Name(Mutation mutation);         // "drop_mask"
std::string_view Description(Mutation mutation);  // "drop a mask"
absl::Span<const Mutation> AllMutations();        // in the order of the enumeration

struct Mutant {
  Mutation mutation = Mutation::kDropMask;
  std::string name;     // "drop_mask_2": of its kind, in the order of the text
  int line = 0;         // of the original's canonical text
  std::string what;     // "%9 = masked_load(...) loses its mask"
  std::string text;     // the kernel alone, in canonical form
  std::string refused;  // why it is no kernel: what the verifier says; "" for one that can be prepared
};

struct MutantOptions {
  std::string kernel;        // which of several; "" where the text has one
  std::size_t per_kind = 0;  // at most so many of one kind, spread over the text evenly; 0: all
};

// The same mutants in the same order on every host. InvalidArgument: malformed text, no such kernel.
absl::StatusOr<std::vector<Mutant>> Mutants(std::string_view text, std::string_view path,
                                            const MutantOptions& options = {});

// A list of objects: name, mutation, line, what, refused, and text or the name of its file.
std::string MutantsJson(absl::Span<const Mutant> mutants, bool with_text);

}  // namespace palladion::mutation

#endif  // PALLADION_EMU_TOOLS_MUTATION_MUTANTS_H_
