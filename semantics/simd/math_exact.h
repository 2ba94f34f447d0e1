// pow and atan2 of one pair of doubles to about 90 bits: what f64 uses, and the narrower types where the fast double
// result is too close to a rounding boundary.
#ifndef PALLADION_SEMANTICS_SIMD_MATH_EXACT_H_
#define PALLADION_SEMANTICS_SIMD_MATH_EXACT_H_

#include <cstdint>

namespace palladion::simd {

enum class ExactRounding : std::uint8_t {
  kNearest,  // the f64 result
  kOdd,      // for one more rounding to a type of at most 24 bits and f32's exponents
};

double PowExact(double x, double y, ExactRounding rounding);
double Atan2Exact(double y, double x, ExactRounding rounding);

}  // namespace palladion::simd

#endif  // PALLADION_SEMANTICS_SIMD_MATH_EXACT_H_
