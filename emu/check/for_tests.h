// Options with which Palladion's own tests check a kernel in a second execution mode and compare the two reports, which
// must be the same. Users have no use for them, so they are not public.
#ifndef PALLADION_EMU_CHECK_FOR_TESTS_H_
#define PALLADION_EMU_CHECK_FOR_TESTS_H_

#include <atomic>
#include <cstdint>

#include "emu/check.h"

namespace palladion::check {

struct ForTests {
  // A schedule that can add nothing but its order runs without values (docs/explanation/checks.md), and the report is
  // the same; false: all run in full. `elided` counts those without values; nullptr: no count is wanted.
  bool elide = true;
  std::atomic<std::int64_t>* elided = nullptr;
  // Programs run under a policy, and seeds, also where they cannot see each other's effects.
  bool by_policy = false;
};

inline ForTests ForTestsOf(const CheckOptions& options) {
  return options.for_tests == nullptr ? ForTests() : *options.for_tests;
}

// The second execution mode of a kernel.
enum class OtherMode : std::uint8_t {
  kNone,      // there is only one
  kByPolicy,  // programs: ForTests::by_policy
  kAsCores,   // tasks of a TPU: a semaphore in the kernel makes them run as cores
};
OtherMode OtherModeOf(const PreparedKernel& kernel);

}  // namespace palladion::check

#endif  // PALLADION_EMU_CHECK_FOR_TESTS_H_
