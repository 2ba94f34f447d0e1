// x modulo pi/2 for the arguments the vector kernels cannot reduce themselves: large ones, and those next to a multiple
// of pi/2, where most digits cancel. Integer arithmetic on the bits of 2/pi, so the same on every host.
// Based on: M. Payne, R. Hanek, "Radian reduction for trigonometric functions", SIGNUM 18 (1983).
#ifndef PALLADION_SEMANTICS_SIMD_MATH_REDUCE_H_
#define PALLADION_SEMANTICS_SIMD_MATH_REDUCE_H_

#include <cstdint>

namespace palladion::simd {

// x = quadrant * pi/2 + hi + lo modulo 2 pi, |hi + lo| <= pi/4 (and one unit more where the fraction is 1/2).
struct ReducedAngle {
  double hi;
  double lo;
  std::uint64_t quadrant;  // modulo 4
};

// Relative error of hi + lo below 2^-60. x > 0.5; infinity and NaN give NaN.
ReducedAngle ReduceAngle(double x);

}  // namespace palladion::simd

#endif  // PALLADION_SEMANTICS_SIMD_MATH_REDUCE_H_
