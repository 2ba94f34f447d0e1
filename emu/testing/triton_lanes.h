// For the conformance suite, as for_tests.h: its test of what timelines of Triton kernels add up to.
#ifndef PALLADION_EMU_TESTING_TRITON_LANES_H_
#define PALLADION_EMU_TESTING_TRITON_LANES_H_

#include "emu/timing/triton_lanes.h"  // IWYU pragma: export

#endif  // PALLADION_EMU_TESTING_TRITON_LANES_H_
