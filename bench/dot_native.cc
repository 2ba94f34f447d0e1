#include "bench/dot_native.h"

#include <algorithm>
#include <chrono>
#include <limits>

#include "Eigen/Core"

namespace palladion::bench {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

void EigenDoubleProduct(const double* a, const double* b, double* c, const ProductShape& shape) {
  const auto rows = static_cast<Eigen::Index>(shape.m);
  const auto columns = static_cast<Eigen::Index>(shape.n);
  const auto depth = static_cast<Eigen::Index>(shape.k);
  Eigen::Map<Matrix> product(c, rows, columns);
  product.noalias() = Eigen::Map<const Matrix>(a, rows, depth) * Eigen::Map<const Matrix>(b, depth, columns);
}

double PeakDoubleFlops() {
  using Packet = Eigen::internal::packet_traits<double>::type;
  constexpr int kLanes = Eigen::internal::unpacket_traits<Packet>::size;
  constexpr int kChains = 12;  // latency times ports, and a few more
  constexpr int kSteps = 20000;
  using Clock = std::chrono::steady_clock;
  double best = std::numeric_limits<double>::infinity();
  double kept = 0;
  for (int round = 0; round < 50; ++round) {
    Packet chain[kChains];
    for (int i = 0; i < kChains; ++i)
      chain[i] = Eigen::internal::pset1<Packet>(1.0 + round + i);  // equal ones would be merged
    const Packet factor = Eigen::internal::pset1<Packet>(0.5);
    const Clock::time_point start = Clock::now();
    for (int step = 0; step < kSteps; ++step) {
      for (Packet& value : chain) value = Eigen::internal::pmadd(value, factor, factor);
    }
    best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
    for (const Packet& value : chain) kept += Eigen::internal::predux(value);
  }
  volatile double sink = kept;  // so that the chains are computed
  static_cast<void>(sink);
  return 2.0 * kLanes * kChains * kSteps / best;
}

}  // namespace palladion::bench
