// Differences that are known. To empty the list, take every row out; a row that no longer differs fails.
#ifndef PALLADION_CONFORMANCE_METAMORPHIC_KNOWN_UNTIL_MERGED_H_
#define PALLADION_CONFORMANCE_METAMORPHIC_KNOWN_UNTIL_MERGED_H_

#include <string_view>
#include <vector>

namespace palladion::conformance {

struct KnownDifference {
  std::string_view name;        // of the case
  std::string_view operations;  // names of rows of AllHarmless, which all differ in it wherever they stand
  std::string_view why;
};

// What makes a TPU's kernel run as cores.
constexpr std::string_view kUnusedSemaphores = "semaphore_scratch dma_semaphore_scratch semaphore_scope";
constexpr std::string_view kUsedSemaphores =
    "semaphore_scratch_used semaphore_scope_used wait_for_zero semaphore_read dma_never own_dma";
constexpr std::string_view kSemaphores =
    "semaphore_scratch dma_semaphore_scratch semaphore_scope "
    "semaphore_scratch_used semaphore_scope_used wait_for_zero semaphore_read dma_never own_dma";

inline const std::vector<KnownDifference>& KnownUntilMerged() {
  static const auto* const kKnown = new std::vector<KnownDifference>{};
  return *kKnown;
}

}  // namespace palladion::conformance

#endif  // PALLADION_CONFORMANCE_METAMORPHIC_KNOWN_UNTIL_MERGED_H_
