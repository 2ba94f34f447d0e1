// For the conformance suite, which sees nothing else of the checks' inside: its tests of two ways to check a case.
#ifndef PALLADION_EMU_TESTING_FOR_TESTS_H_
#define PALLADION_EMU_TESTING_FOR_TESTS_H_

#include "emu/check/for_tests.h"  // IWYU pragma: export

#endif  // PALLADION_EMU_TESTING_FOR_TESTS_H_
