#include "emu/kernel/float_environment.h"

namespace palladion::kernel {

FloatEnvironment::FloatEnvironment() : found_(0) {}
FloatEnvironment::~FloatEnvironment() = default;

}  // namespace palladion::kernel
