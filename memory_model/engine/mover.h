// Moves the bytes of asynchronous operations: an operand's value, from or to memory, with the marks of what is
// undefined. Knows no queue and no clock.
#ifndef PALLADION_MEMORY_MODEL_ENGINE_MOVER_H_
#define PALLADION_MEMORY_MODEL_ENGINE_MOVER_H_

#include <cstddef>

#include "semantics/port/async.h"
#include "semantics/port/machine.h"

namespace palladion::memory_model {

std::size_t PlacesOf(const AsyncOperand& operand);     // what an access of it touches, as its buffer counts
ElementCount ElementsOf(const AsyncOperand& operand);  // of its value

struct MoveOptions {
  bool load = false;     // from memory
  bool tracked = false;  // with marks
};
// One operand's part of a half. The request, the value and the memory outlive the call.
void MoveHalf(const AsyncRequest& request, const AsyncOperand& operand, const MoveOptions& options, AsyncValue* value,
              Machine* memory);

// The whole value of a source, copied on write (Machine::BeginCowRead). False: there is none, and nothing has happened.
bool BeginWholeCowRead(const AsyncRequest& request, const AsyncOperand& operand, bool tracked, AsyncValue* value,
                       Machine* memory);
// Where the whole value of a destination is to be written (Machine::Room), and then that it was, with its marks.
bool MakeRoom(const AsyncRequest& request, const AsyncOperand& operand, AsyncValue* value, Machine* memory);
void Wrote(const AsyncRequest& request, const AsyncOperand& operand, bool tracked, AsyncValue* value, Machine* memory);

}  // namespace palladion::memory_model

#endif  // PALLADION_MEMORY_MODEL_ENGINE_MOVER_H_
