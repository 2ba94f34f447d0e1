#include "semantics/base/target.h"

#include <array>

#include "absl/strings/str_join.h"
#include "semantics/base/cat.h"
#include "semantics/base/target_names.h"

namespace palladion {
namespace {

struct KnownTarget {
  std::string_view name;
  TargetBackend backend;
  std::string_view chip;
};

constexpr std::array<KnownTarget, 12> kTargets = {{
    {"generic", TargetBackend::kGeneric, ""},
    {"triton/h100", TargetBackend::kTriton, "h100"},
    {"triton/h200", TargetBackend::kTriton, "h200"},
    {"triton/b200", TargetBackend::kTriton, "b200"},
    {"mosaic_gpu/h100", TargetBackend::kMosaicGpu, "h100"},
    {"mosaic_gpu/h200", TargetBackend::kMosaicGpu, "h200"},
    {"mosaic_gpu/b200", TargetBackend::kMosaicGpu, "b200"},
    {"mosaic_tpu/v4", TargetBackend::kMosaicTpu, "v4"},
    {"mosaic_tpu/v5e", TargetBackend::kMosaicTpu, "v5e"},
    {"mosaic_tpu/v5p", TargetBackend::kMosaicTpu, "v5p"},
    {"mosaic_tpu/v6e", TargetBackend::kMosaicTpu, "v6e"},
    {"mosaic_tpu/v7x", TargetBackend::kMosaicTpu, "v7x"},
}};

}  // namespace

std::string ToString(const Target& target) {
  for (const KnownTarget& known : kTargets) {
    if (known.backend == target.backend && known.chip == target.chip) return std::string(known.name);
  }
  return "generic";
}

absl::StatusOr<Target> TargetFromName(std::string_view name) {
  for (const KnownTarget& known : kTargets) {
    if (known.name == name) return Target{known.backend, std::string(known.chip)};
  }
  return absl::InvalidArgumentError(
      Cat("unknown target '", name, "'; known targets: ", absl::StrJoin(TargetNames(), ", ")));
}

std::vector<std::string> TargetNames() {
  std::vector<std::string> names;
  for (const KnownTarget& known : kTargets) names.emplace_back(known.name);
  return names;
}

}  // namespace palladion
