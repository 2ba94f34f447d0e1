// Every case, and what a check says of it in order and under a policy.
#include "conformance/metamorphic/both_ways.h"

#include <gtest/gtest.h>

#include <iostream>
#include <string>

#include "absl/strings/str_join.h"
#include "conformance/case_selection.h"

namespace palladion::conformance {
namespace {

TEST(BothWays, SayTheSame) {
  const auto cases = SelectCases({}, PALLADION_SOURCE_DIR "/conformance/cases");
  ASSERT_TRUE(cases.ok()) << cases.status();
  int compared = 0, conflicts = 0;
  for (const SelectedCase& selected : *cases) {
    ASSERT_TRUE(selected.test.ok()) << selected.test.status();
    const BothWays both = RunBothWays(*selected.test);
    compared += both.applies;
    conflicts += both.conflicts;
    EXPECT_TRUE(both.differences.empty()) << selected.name << ":\n  " << absl::StrJoin(both.differences, "\n  ");
  }
  std::cout << compared << " cases, " << conflicts << " conflicts of tasks\n";
  EXPECT_LT(1000, compared);
  EXPECT_LT(20, conflicts);
}

}  // namespace
}  // namespace palladion::conformance
