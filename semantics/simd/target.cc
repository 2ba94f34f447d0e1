#include "semantics/simd/target.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "semantics/simd/host.h"

namespace palladion::simd {
namespace {

struct TargetRow {
  Target target;
  std::string_view name;
};

constexpr std::array<TargetRow, 5> kRows = {{
    {Target::kScalar, "scalar"},
    {Target::kSsse3, "ssse3"},
    {Target::kAvx2, "avx2"},
    {Target::kAvx512, "avx512"},
    {Target::kNeon, "neon"},
}};

std::vector<Target> DetectHostTargets() {
  std::vector<Target> targets;
  for (const TargetRow& row : kRows) {
    if (HostHas(row.target)) targets.push_back(row.target);
  }
  return targets;
}

}  // namespace

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
