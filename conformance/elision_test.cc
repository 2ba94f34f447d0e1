// Schedules without values (docs/checks.md#schedules-without-values) change no report: every case that is checked, with
// more schedules than it asks for, has the same report, bit for bit, whether they run without values or in full.
#include <gtest/gtest.h>

#include <atomic>
#include <iostream>
#include <string>

#include "conformance/checked_cases_test_util.h"
#include "emu/testing/for_tests.h"

namespace palladion::conformance {
namespace {

TEST(Elision, NoReportOfACaseChanges) {
  std::atomic<std::int64_t> elided = 0;
  std::int64_t kernels = 0, some = 0;
  VisitCheckedCases([&](const CheckedCase& test) {
    CheckOptions options = test.options;
    check::ForTests how{.elide = false, .elided = &elided};
    options.for_tests = &how;
    const std::string full = test.Report(options);
    how.elide = true;
    const std::int64_t before = elided;
    EXPECT_EQ(test.Report(options), full) << test.name;
    ++kernels;
    some += elided > before;
  });
  // It is no empty claim.
  std::cout << kernels << " kernels, of which " << some << " have " << elided << " schedules without values\n";
  EXPECT_GT(some, 50);
}

}  // namespace
}  // namespace palladion::conformance
