#include <asm/hwcap.h>
#include <sys/auxv.h>

#include "hwy/targets.h"
#include "semantics/simd/host.h"

namespace palladion::simd {

static_assert(HWY_STATIC_TARGET == HWY_SCALAR, "semantics/CMakeLists.txt sets Highway's targets");
static_assert((~HWY_TARGETS & HWY_NEON) == 0, "this compiler lacks a target");

// Highway compiles NEON with the instructions for AES, which a few processors of arm64 lack.
bool HostHas(Target target) {
  switch (target) {
    case Target::kScalar:
      return true;
    case Target::kNeon: {
      constexpr unsigned long kNeeded = HWCAP_ASIMD | HWCAP_AES;
      return (getauxval(AT_HWCAP) & kNeeded) == kNeeded;
    }
    default:
      return false;
  }
}

void Pause() { asm volatile("yield"); }

}  // namespace palladion::simd
