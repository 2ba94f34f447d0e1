#include "semantics/base/target.h"

#include <algorithm>

#include "absl/strings/str_join.h"
#include "semantics/base/cat.h"
#include "semantics/base/target_chips.h"
#include "semantics/base/target_names.h"

namespace palladion {
namespace {

struct KnownTarget {
  TargetBackend backend = TargetBackend::kGeneric;
  std::string_view backend_name;
  std::string_view chip;

  std::string name() const { return chip.empty() ? std::string(backend_name) : Cat(backend_name, "/", chip); }
};

struct Backend {
  TargetBackend backend;
  std::string_view name;
  bool of_tpus;
};
constexpr Backend kBackends[] = {{TargetBackend::kTriton, "triton", false},
                                 {TargetBackend::kMosaicGpu, "mosaic_gpu", false},
                                 {TargetBackend::kMosaicTpu, "mosaic_tpu", true}};

// The backends of a chip are in the order of preference.
std::vector<KnownTarget> AllTargets() {
  std::vector<KnownTarget> targets = {{TargetBackend::kGeneric, "generic", ""}};
  for (const Backend& backend : kBackends) {
    for (const TargetChip& chip : TargetChips()) {
      if (chip.is_tpu == backend.of_tpus) targets.push_back({backend.backend, backend.name, chip.name});
    }
  }
  return targets;
}

const std::vector<KnownTarget>& Targets() {
  static const std::vector<KnownTarget>* const targets = new std::vector<KnownTarget>(AllTargets());
  return *targets;
}

std::string_view WrittenFor(std::string_view backend) {
  if (backend == "mosaic_tpu") return "TPUs";
  if (backend == "mosaic_gpu") return "GPUs, with Mosaic GPU";
  return backend == "triton" ? "GPUs, with Triton" : backend;
}

// The chips of a backend, or all where it is "".
std::vector<std::string> Chips(std::string_view backend) {
  std::vector<std::string> chips;
  for (const KnownTarget& known : Targets()) {
    if (known.chip.empty() || (!backend.empty() && known.backend_name != backend)) continue;
    if (std::find(chips.begin(), chips.end(), known.chip) == chips.end()) chips.emplace_back(known.chip);
  }
  return chips;
}

}  // namespace

std::string ToString(const Target& target) {
  for (const KnownTarget& known : Targets()) {
    if (known.backend == target.backend && known.chip == target.chip) return known.name();
  }
  return "generic";
}

absl::StatusOr<Target> TargetFromName(std::string_view name) {
  for (const KnownTarget& known : Targets()) {
    if (known.name() == name) return Target{known.backend, std::string(known.chip)};
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
  for (const KnownTarget& known : Targets()) {
    if (known.name() != name && known.chip != name) continue;
    if (known.chip.empty() || hints.backend.empty() || known.backend_name == hints.backend)
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
  for (const KnownTarget& known : Targets()) {
    if (!known.chip.empty() && known.chip == name) names.push_back(known.name());
  }
  return names;
}

std::vector<std::string> TargetNames() {
  std::vector<std::string> names;
  for (const KnownTarget& known : Targets()) names.push_back(known.name());
  return names;
}

}  // namespace palladion
