// What depends on the processor that this runs on: host.cc for x86, host_arm64.cc for arm64, host_wasm.cc for
// WebAssembly.
#ifndef PALLADION_SEMANTICS_SIMD_HOST_H_
#define PALLADION_SEMANTICS_SIMD_HOST_H_

#include "semantics/simd/target.h"

namespace palladion::simd {

bool HostHas(Target target);

// Tells the processor that a loop waits for another thread.
void Pause();

}  // namespace palladion::simd

#endif  // PALLADION_SEMANTICS_SIMD_HOST_H_
