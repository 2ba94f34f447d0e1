// Differences that are known: the same defect under another code, because programs and cores are judged by different
// checkers. A row that no longer differs fails.
#ifndef PALLADION_CONFORMANCE_METAMORPHIC_KNOWN_DIFFERENCES_H_
#define PALLADION_CONFORMANCE_METAMORPHIC_KNOWN_DIFFERENCES_H_

#include <string_view>
#include <vector>

namespace palladion::conformance {

struct KnownDifference {
  std::string_view name;        // of the case
  std::string_view operations;  // names of rows of AllHarmless, which all differ in it wherever they stand
  std::string_view why;
};

// What makes a TPU's kernel run as cores.
constexpr std::string_view kSemaphores =
    "semaphore_scratch dma_semaphore_scratch semaphore_scope semaphore_scratch_used semaphore_scope_used wait_for_zero "
    "semaphore_read dma_never own_dma";

inline const std::vector<KnownDifference>& KnownDifferences() {
  static const auto* const kKnown = new std::vector<KnownDifference>{
      {"checks/052_inner_scratch_racy", kSemaphores, "what tasks overwrite for each other is UNINIT, or GRID_ORDER"},
      {"tpu/core_own_scalars_of_one_core", kSemaphores, "a whole operand of several tasks: GRID_ORDER, or RACE_RW"},
      {"tpu/core_own_scalars_of_four", kSemaphores, "as above"},
  };
  return *kKnown;
}

}  // namespace palladion::conformance

#endif  // PALLADION_CONFORMANCE_METAMORPHIC_KNOWN_DIFFERENCES_H_
