// Moves the bytes of asynchronous operations: one chunk of an operand's value, from or to memory, with the marks of
// what is undefined. Knows no queue and no clock.
#ifndef PALLADION_MEMORY_MODEL_ENGINE_MOVER_H_
#define PALLADION_MEMORY_MODEL_ENGINE_MOVER_H_

#include <cstddef>

#include "semantics/port/async.h"
#include "semantics/port/machine.h"

namespace palladion::memory_model {

std::size_t PlacesOf(const AsyncOperand& operand);    // what an access of it touches, as its buffer counts
std::size_t ElementsOf(const AsyncOperand& operand);  // of its value

// A chunk of a half.
struct MoveOptions {
  int chunk = 0;
  bool load = false;     // from memory
  bool tracked = false;  // with marks
};
// The request, the value and the memory outlive the call. A chunk of nothing moves nothing.
void MoveChunk(const AsyncRequest& request, const AsyncOperand& operand, const MoveOptions& options, AsyncValue* value,
               Machine* memory);

}  // namespace palladion::memory_model

#endif  // PALLADION_MEMORY_MODEL_ENGINE_MOVER_H_
