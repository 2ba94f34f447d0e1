// Every case of conformance/cases is one test, named family.case. The list is read when the binary starts, so a new
// case is a new file and nothing else.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>

#include "absl/strings/str_join.h"
#include "conformance/case_file.h"
#include "conformance/case_runner.h"
#include "semantics/base/cat.h"

namespace palladion::conformance {
namespace {

class CaseTest : public testing::Test {
 public:
  explicit CaseTest(std::string path) : path_(std::move(path)) {}

  void TestBody() override {
    absl::StatusOr<Case> test = ReadCase(path_);
    ASSERT_TRUE(test.ok()) << test.status();
    const CaseResult result = RunCase(*test);
    EXPECT_TRUE(result.failures.empty()) << path_ << ":\n" << absl::StrJoin(result.failures, "\n");
  }

 private:
  std::string path_;
};

bool RegisterCases() {
  const std::string folder = PALLADION_SOURCE_DIR "/conformance/cases";
  absl::StatusOr<std::vector<std::string>> paths = FindCases(folder);
  if (!paths.ok()) {
    std::cerr << std::string(paths.status().message()) << "\n";
    return false;
  }
  for (const std::string& path : *paths) {
    const std::filesystem::path file(path);
    const std::string family = file.parent_path().filename().string();
    testing::RegisterTest(family.c_str(), file.stem().string().c_str(), nullptr, nullptr, path.c_str(), 1,
                          [path]() -> CaseTest* { return new CaseTest(path); });
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
