#include <cstdint>

#include "emu/kernel/float_environment.h"

namespace palladion::kernel {
namespace {

// FPCR, in which zero is what x86 has as 0x1f80: nearest (RMode), subnormals kept (FZ, FZ16, and FIZ where there is
// one), no traps, and a NaN keeps its bits (DN). All that is defined of it lies in its low half.
std::uint64_t Control() {
  std::uint64_t value = 0;
  asm volatile("mrs %0, fpcr" : "=r"(value));
  return value;
}

// To the compiler no floating-point operation depends on FPCR; memory is named so that at least loads and stores stay
// on their side.
void SetControl(std::uint64_t value) { asm volatile("msr fpcr, %0" : : "r"(value) : "memory"); }

}  // namespace

FloatEnvironment::FloatEnvironment() : found_(static_cast<unsigned>(Control())) { SetControl(0); }
FloatEnvironment::~FloatEnvironment() { SetControl(found_); }

}  // namespace palladion::kernel
