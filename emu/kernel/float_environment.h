// The floating-point environment results are defined in: round to nearest, subnormals kept. XLA calls out with
// flush-to-zero and denormals-are-zero set, so every entry point creates one of these, which restores the previous
// environment.
#ifndef PALLADION_EMU_KERNEL_FLOAT_ENVIRONMENT_H_
#define PALLADION_EMU_KERNEL_FLOAT_ENVIRONMENT_H_

#include <xmmintrin.h>

namespace palladion::kernel {

class FloatEnvironment {
 public:
  FloatEnvironment() : found_(_mm_getcsr()) { _mm_setcsr(kDefault); }
  ~FloatEnvironment() { _mm_setcsr(found_); }
  FloatEnvironment(const FloatEnvironment&) = delete;
  FloatEnvironment& operator=(const FloatEnvironment&) = delete;

 private:
  static constexpr unsigned kDefault = 0x1f80;  // all exceptions masked, nearest, no FTZ, no DAZ
  unsigned found_;
};

}  // namespace palladion::kernel

#endif  // PALLADION_EMU_KERNEL_FLOAT_ENVIRONMENT_H_
