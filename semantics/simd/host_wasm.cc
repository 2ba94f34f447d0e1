#include "hwy/targets.h"
#include "semantics/simd/host.h"

namespace palladion::simd {

static_assert(HWY_TARGETS == HWY_SCALAR, "semantics/CMakeLists.txt sets Highway's targets");

bool HostHas(Target target) { return target == Target::kScalar; }

void Pause() {}

}  // namespace palladion::simd
