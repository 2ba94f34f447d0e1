#include "emu/kernel/float_environment.h"

#include <xmmintrin.h>

namespace palladion::kernel {
namespace {

constexpr unsigned kDefaultFloats = 0x1f80;  // all exceptions masked, nearest, no FTZ, no DAZ

}  // namespace

FloatEnvironment::FloatEnvironment() : found_(_mm_getcsr()) { _mm_setcsr(kDefaultFloats); }
FloatEnvironment::~FloatEnvironment() { _mm_setcsr(found_); }

}  // namespace palladion::kernel
