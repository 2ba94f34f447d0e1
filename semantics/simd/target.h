// The SIMD targets a kernel is compiled for, and which of them this process uses. Every target gives the same bits; a
// test compares each one with kScalar in one process.
//
// A kernel `foo` is three files: foo.h (its Find function), foo_scalar.cc (plain loops, the readable reference),
// foo_simd.cc:
//
//   #include "semantics/simd/foo.h"
//   #include "semantics/simd/target.h"
//
//   #undef HWY_TARGET_INCLUDE
//   #define HWY_TARGET_INCLUDE "semantics/simd/foo_simd.cc"  // this file, included once more for each target
//   #include "hwy/foreach_target.h"  // must come before highway.h
//   #include "hwy/highway.h"
//
//   HWY_BEFORE_NAMESPACE();
//   namespace palladion::simd::HWY_NAMESPACE {
//   #if HWY_TARGET != HWY_STATIC_TARGET  // the static target stands for kScalar, which is not Highway's job
//   namespace hn = hwy::HWY_NAMESPACE;
//   FooFn FindFoo(FooOp op) { ... }     // this target's kernels; nullptr where this target has none
//   #endif
//   }  // namespace palladion::simd::HWY_NAMESPACE
//   HWY_AFTER_NAMESPACE();
//
//   #if HWY_ONCE
//   namespace palladion::simd {
//   FooFn FindFoo(FooOp op, Target target) {
//     FooFn found = nullptr;
//     switch (target) {
//   #if HWY_ARCH_X86
//       case Target::kSsse3: found = N_SSSE3::FindFoo(op); break;
//       case Target::kAvx2: found = N_AVX2::FindFoo(op); break;
//       case Target::kAvx512: found = N_AVX3::FindFoo(op); break;
//   #elif HWY_ARCH_ARM_A64
//       case Target::kNeon: found = N_NEON::FindFoo(op); break;
//   #endif
//       default: break;
//     }
//     return found != nullptr ? found : FindFooScalar(op);
//   }
//   }  // namespace palladion::simd
//   #endif
//
// Between BEFORE and AFTER instantiate no template and call no inline function of std or absl: the linker could keep
// the AVX-512 copy for all. Helper functions live in the HWY_NAMESPACE, are HWY_INLINE, and lambdas carry
// HWY_ATTR. Which targets Highway builds is set for the whole library in semantics/CMakeLists.txt.
#ifndef PALLADION_SEMANTICS_SIMD_TARGET_H_
#define PALLADION_SEMANTICS_SIMD_TARGET_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace palladion::simd {

// x86's in rising order of vector width: none, 16, 32, 64 bytes. kAvx2 has FMA and F16C; kAvx512 has F, BW, CD, DQ and
// VL. kNeon is arm64's, 16 bytes with FMA, beside kScalar.
enum class Target : std::uint8_t { kScalar, kSsse3, kAvx2, kAvx512, kNeon };

// "scalar", "ssse3", "avx2", "avx512", "neon".
std::string_view Name(Target target);
std::optional<Target> TargetFromName(std::string_view name);

// The targets this host can run, in rising order; kScalar is always the first.
absl::Span<const Target> HostTargets();

// The target this process uses: the one named by the environment variable PALLADION_SIMD, read once, else the host's
// best. A name that is unknown or not for this host counts as unset here; CheckSimdEnvironment reports it.
Target ActiveTarget();

// InvalidArgument if PALLADION_SIMD is set to something other than a target of this host. Every program's main calls
// it.
absl::Status CheckSimdEnvironment();

// What both functions above decide, from the variable's value (nullptr: not set).
absl::StatusOr<Target> ChooseTarget(const char* environment_value);

}  // namespace palladion::simd

#endif  // PALLADION_SEMANTICS_SIMD_TARGET_H_
