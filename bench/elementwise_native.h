// What the elementwise kernels are measured against: the plain f32 loop, compiled for this very host.
#ifndef PALLADION_BENCH_ELEMENTWISE_NATIVE_H_
#define PALLADION_BENCH_ELEMENTWISE_NATIVE_H_

#include <cstddef>

namespace palladion::bench {

void RawAdd(const float* a, const float* b, float* out, std::size_t n);

}  // namespace palladion::bench

#endif  // PALLADION_BENCH_ELEMENTWISE_NATIVE_H_
