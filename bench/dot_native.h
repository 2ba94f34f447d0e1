// What the contraction is measured against, compiled for this very host.
#ifndef PALLADION_BENCH_DOT_NATIVE_H_
#define PALLADION_BENCH_DOT_NATIVE_H_

#include <cstddef>

namespace palladion::bench {

// c = a * b in double by Eigen, all row-major: a is m x k, b is k x n.
struct ProductShape {
  std::size_t m, n, k;
};
void EigenDoubleProduct(const double* a, const double* b, double* c, const ProductShape& shape);

// Floating-point operations per second of independent double fused multiply-adds in registers: this core's peak.
double PeakDoubleFlops();

}  // namespace palladion::bench

#endif  // PALLADION_BENCH_DOT_NATIVE_H_
