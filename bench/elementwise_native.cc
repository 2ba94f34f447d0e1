#include "bench/elementwise_native.h"

namespace palladion::bench {

void RawAdd(const float* a, const float* b, float* out, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) out[i] = a[i] + b[i];
}

}  // namespace palladion::bench
