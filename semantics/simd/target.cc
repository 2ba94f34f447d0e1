#include "semantics/simd/target.h"

#include <cpuid.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "hwy/targets.h"

namespace palladion::simd {
namespace {

// F16C, which __builtin_cpu_supports of clang 14 does not know. Its registers are AVX's: the caller has asked for
// those.
bool HasF16c() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_F16C) != 0;
}

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
  }
  return false;
}

struct TargetRow {
  Target target;
  std::string_view name;
};

constexpr std::array<TargetRow, 4> kRows = {{
    {Target::kScalar, "scalar"},
    {Target::kSsse3, "ssse3"},
    {Target::kAvx2, "avx2"},
    {Target::kAvx512, "avx512"},
}};

std::vector<Target> DetectHostTargets() {
  std::vector<Target> targets;
  for (const TargetRow& row : kRows) {
    if (HostHas(row.target)) targets.push_back(row.target);
  }
  return targets;
}

}  // namespace

static_assert(HWY_STATIC_TARGET == HWY_SCALAR, "semantics/CMakeLists.txt sets Highway's targets");
static_assert((~HWY_TARGETS & (HWY_SSSE3 | HWY_AVX2 | HWY_AVX3)) == 0, "this compiler lacks a target");

std::string_view Name(Target target) { return kRows[static_cast<std::size_t>(target)].name; }

std::optional<Target> TargetFromName(std::string_view name) {
  for (const TargetRow& row : kRows) {
    if (row.name == name) return row.target;
  }
  return std::nullopt;
}

absl::Span<const Target> HostTargets() {
  static const std::vector<Target> targets = DetectHostTargets();
  return targets;
}

absl::StatusOr<Target> ChooseTarget(const char* environment_value) {
  const absl::Span<const Target> host = HostTargets();
  if (environment_value == nullptr) return host.back();
  const std::optional<Target> wanted = TargetFromName(environment_value);
  if (wanted.has_value() && std::find(host.begin(), host.end(), *wanted) != host.end()) return *wanted;
  std::string offer;
  for (Target target : host) offer.append(offer.empty() ? "" : ", ").append(Name(target));
  return absl::InvalidArgumentError(absl::StrCat(
      "environment variable PALLADION_SIMD: expected one of ", offer, " on this host, found \"", environment_value,
      "\"", wanted.has_value() ? ", which this host's processor lacks" : "", "; unset it to use the best of them"));
}

Target ActiveTarget() {
  static const Target active = [] {
    const absl::StatusOr<Target> chosen = ChooseTarget(std::getenv("PALLADION_SIMD"));
    return chosen.ok() ? *chosen : HostTargets().back();
  }();
  return active;
}

absl::Status CheckSimdEnvironment() { return ChooseTarget(std::getenv("PALLADION_SIMD")).status(); }

}  // namespace palladion::simd
