#include "semantics/base/target.h"

#include <algorithm>
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

std::string_view BackendOf(const KnownTarget& known) { return known.name.substr(0, known.name.find('/')); }

std::string_view WrittenFor(std::string_view backend) {
  if (backend == "mosaic_tpu") return "TPUs";
  if (backend == "mosaic_gpu") return "GPUs, with Mosaic GPU";
  return backend == "triton" ? "GPUs, with Triton" : backend;
}

// The chips of a backend, or all where it is "".
std::vector<std::string> Chips(std::string_view backend) {
  std::vector<std::string> chips;
  for (const KnownTarget& known : kTargets) {
    if (known.chip.empty() || (!backend.empty() && BackendOf(known) != backend)) continue;
    if (std::find(chips.begin(), chips.end(), known.chip) == chips.end()) chips.emplace_back(known.chip);
  }
  return chips;
}

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
  return absl::InvalidArgumentError(Cat("unknown target '", name, "'; give a chip (", absl::StrJoin(Chips(""), ", "),
                                        "), which takes the backend that the kernel says, or a full name (",
                                        absl::StrJoin(TargetNames(), ", "), ")"));
}

absl::StatusOr<Target> ResolveTarget(std::string_view name, const TargetHints& hints) {
  if (name.empty()) {
    if (hints.backend.empty()) return Target{};
    const std::string_view usual = hints.backend == "mosaic_tpu" ? "v5e" : "h100";
    return TargetFromName(Cat(hints.backend, "/", hints.chip.empty() ? usual : hints.chip));
  }
  const KnownTarget* first = nullptr;  // of a chip: its backends are in the order of preference
  for (const KnownTarget& known : kTargets) {
    if (known.name != name && known.chip != name) continue;
    if (known.chip.empty() || hints.backend.empty() || BackendOf(known) == hints.backend)
      return Target{known.backend, std::string(known.chip)};
    if (first == nullptr) first = &known;
  }
  if (first == nullptr) return TargetFromName(name);
  return absl::InvalidArgumentError(
      Cat("the target '", name, "' does not fit ", hints.kernel.empty() ? "a kernel" : Cat("kernel @", hints.kernel),
          ", which is written for ", WrittenFor(hints.backend),
          " (its compiler parameters, mesh or memory spaces say so). Give one of the chips ",
          absl::StrJoin(Chips(hints.backend), ", "), ", or leave the target out"));
}

std::vector<std::string> TargetNamesOfChip(std::string_view name) {
  std::vector<std::string> names;
  for (const KnownTarget& known : kTargets) {
    if (!known.chip.empty() && known.chip == name) names.emplace_back(known.name);
  }
  return names;
}

std::vector<std::string> TargetNames() {
  std::vector<std::string> names;
  for (const KnownTarget& known : kTargets) names.emplace_back(known.name);
  return names;
}

}  // namespace palladion
