// The updates of KernelContext's atomics, as functions of bytes. Integers wrap; of floats a NaN wins over a smaller or
// greater number.
#ifndef PALLADION_EMU_FRONT_CPP_ATOMIC_FUNCTIONS_H_
#define PALLADION_EMU_FRONT_CPP_ATOMIC_FUNCTIONS_H_

#include "emu/kernel.h"
#include "semantics/port/machine.h"

namespace palladion {

// nullptr: there is none for the type. The type is one of KernelDType's.
AtomicFn AtomicFunction(AtomicOp op, DType dtype);

}  // namespace palladion

#endif  // PALLADION_EMU_FRONT_CPP_ATOMIC_FUNCTIONS_H_
