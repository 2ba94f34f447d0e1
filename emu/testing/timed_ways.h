// For the conformance suite, as for_tests.h: its test of two ways to time a case.
#ifndef PALLADION_EMU_TESTING_TIMED_WAYS_H_
#define PALLADION_EMU_TESTING_TIMED_WAYS_H_

#include "emu/timing/timed_ways.h"  // IWYU pragma: export

#endif  // PALLADION_EMU_TESTING_TIMED_WAYS_H_
