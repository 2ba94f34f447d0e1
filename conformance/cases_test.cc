// Every case of conformance/cases is one test, named folder.case. The list is read when the binary starts, so a new
// case needs no build.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <string>

#include "absl/strings/str_join.h"
#include "conformance/case_runner.h"
#include "conformance/case_selection.h"
#include "semantics/base/cat.h"

namespace palladion::conformance {
namespace {

class CaseTest : public testing::Test {
 public:
  explicit CaseTest(const SelectedCase& selected) : place_(selected.place), test_(selected.test) {}

  void TestBody() override {
    ASSERT_TRUE(test_.ok()) << test_.status();
    const CaseResult result = RunCase(*test_);
    EXPECT_TRUE(result.failures.empty()) << place_ << ":\n" << absl::StrJoin(result.failures, "\n");
  }

 private:
  std::string place_;
  absl::StatusOr<Case> test_;
};

bool RegisterCases() {
  const std::string folder = PALLADION_SOURCE_DIR "/conformance/cases";
  const absl::StatusOr<std::vector<SelectedCase>> cases = SelectCases({}, folder);
  if (!cases.ok()) {
    std::cerr << std::string(cases.status().message()) << "\n";
    return false;
  }
  for (const SelectedCase& selected : *cases) {
    const std::size_t slash = selected.name.find('/');
    testing::RegisterTest(selected.name.substr(0, slash).c_str(), selected.name.substr(slash + 1).c_str(), nullptr,
                          nullptr, selected.path.c_str(), selected.line,
                          [selected]() -> CaseTest* { return new CaseTest(selected); });
  }
  return true;
}

}  // namespace
}  // namespace palladion::conformance

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (!palladion::conformance::RegisterCases()) return EXIT_FAILURE;
  return RUN_ALL_TESTS();
}
