// A check whose seeds ran in parts (docs/guides/sweeps.md) has the report of one in one piece: of every case that is
// checked, cut in three, and with the middle one lost it is no pass that the whole is not.
#include <gtest/gtest.h>

#include <iostream>
#include <string>
#include <vector>

#include "conformance/checked_cases_test_util.h"

namespace palladion::conformance {
namespace {

TEST(SeedParts, NoReportOfACaseChanges) {
  std::int64_t kernels = 0, ran = 0, again = 0;
  VisitCheckedCases([&](const CheckedCase& test) {
    CheckOptions options = test.options;
    const std::string whole = test.Report(options);
    std::vector<CheckPart> parts;
    for (const auto& [first, last] : {std::pair{9, 13}, std::pair{1, 2}, std::pair{2, 9}}) {
      const absl::StatusOr<CheckPart> part = CheckSeeds(test.kernel, test.inputs, options, first, last);
      ASSERT_TRUE(part.ok()) << test.name << ": " << part.status();
      ran += part->schedules;
      again += static_cast<std::int64_t>(part->news.size());
      parts.push_back(*part);
    }
    options.parts = parts;
    EXPECT_EQ(test.Report(options), whole) << test.name;
    options.parts->pop_back();
    const absl::StatusOr<Report> less = Check(test.kernel, test.inputs, options);
    ASSERT_TRUE(less.ok()) << test.name << ": " << less.status();
    EXPECT_TRUE(less->interrupted || ToJson(*less) == whole) << test.name;
    ++kernels;
  });
  // It is no empty claim.
  std::cout << kernels << " kernels, of whose " << ran << " schedules " << again << " ran again\n";
  EXPECT_GT(ran, Rounds(1000));
  EXPECT_GT(again, Rounds(50));
  EXPECT_LT(again, ran / 4);
}

}  // namespace
}  // namespace palladion::conformance
