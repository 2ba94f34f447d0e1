// For the conformance suite, as for_tests.h: its test of what a schedule replays to.
#ifndef PALLADION_EMU_TESTING_REPLAYED_RUN_H_
#define PALLADION_EMU_TESTING_REPLAYED_RUN_H_

#include "emu/check/replayed_run.h"  // IWYU pragma: export

#endif  // PALLADION_EMU_TESTING_REPLAYED_RUN_H_
