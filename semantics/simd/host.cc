#include "semantics/simd/host.h"

#include <cpuid.h>
#include <immintrin.h>

#include "hwy/targets.h"

namespace palladion::simd {
namespace {

static_assert(HWY_STATIC_TARGET == HWY_SCALAR, "semantics/CMakeLists.txt sets Highway's targets");
static_assert((~HWY_TARGETS & (HWY_SSSE3 | HWY_AVX2 | HWY_AVX3)) == 0, "this compiler lacks a target");

// F16C, which __builtin_cpu_supports of clang 14 does not know. Its registers are AVX's: the caller has asked for
// those.
bool HasF16c() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_F16C) != 0;
}

}  // namespace

// What Highway compiles each target for (its set_macros-inl.h). The built-in also asks whether the operating system
// saves the wide registers. Highway's own detection is not used because loading its library times the clock for
// milliseconds, half the time of a short run; only its headers are needed.
bool HostHas(Target target) {
  __builtin_cpu_init();
  switch (target) {
    case Target::kScalar:
      return true;
    case Target::kSsse3:
      return __builtin_cpu_supports("ssse3");
    case Target::kAvx2:
      return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("aes") && __builtin_cpu_supports("pclmul") &&
             __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
             __builtin_cpu_supports("fma") && HasF16c();
    case Target::kAvx512:
      return HostHas(Target::kAvx2) && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
             __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
    case Target::kNeon:
      return false;
  }
  return false;
}

void Pause() { _mm_pause(); }

}  // namespace palladion::simd
