// A target is backend x chip: `generic`, `triton/h100`, `mosaic_gpu/h100`, `mosaic_tpu/v5e`. It decides how blocks are
// resident (docs/spec/grid.md#residency) and the few operations whose meaning differs between backends.
#ifndef PALLADION_SEMANTICS_BASE_TARGET_H_
#define PALLADION_SEMANTICS_BASE_TARGET_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace palladion {

enum class TargetBackend : std::uint8_t { kGeneric, kTriton, kMosaicGpu, kMosaicTpu };

struct Target {
  TargetBackend backend = TargetBackend::kGeneric;
  std::string chip;  // "" for generic
};

std::string ToString(const Target& target);

// InvalidArgument on an unknown backend or chip; the message lists the known ones.
absl::StatusOr<Target> TargetFromName(std::string_view name);

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_BASE_TARGET_H_
