// For tests of the hunt: a kernel of which nothing is contradicted.
#ifndef PALLADION_EMU_TOOLS_HUNT_CONTRADICTIONS_TEST_UTIL_H_
#define PALLADION_EMU_TOOLS_HUNT_CONTRADICTIONS_TEST_UTIL_H_

#include <gtest/gtest.h>

#include <cstdint>

#include "emu/tools/hunt/hunt_oracle.h"

namespace palladion::hunt {

inline void ExpectNone(std::uint64_t number, const HuntResult& result) {
  for (const Contradiction& contradiction : result.contradictions)
    ADD_FAILURE() << "kernel " << number << ": " << contradiction.kind << ": " << contradiction.detail << "\n"
                  << result.text;
}

}  // namespace palladion::hunt

#endif  // PALLADION_EMU_TOOLS_HUNT_CONTRADICTIONS_TEST_UTIL_H_
