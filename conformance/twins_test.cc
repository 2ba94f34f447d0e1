// The racy and the clean twin of a corpus pattern differ in one token of their
// kernels, so that nothing but the defect can explain why one is reported and
// the other is not. A number or a word that means one thing (a size) may stand
// in several places.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "conformance/case_file.h"
#include "conformance/case_runner.h"

namespace palladion::conformance {
namespace {

constexpr std::string_view kRacy = "_racy.case", kClean = "_clean.case";
// Of the corpus for GPUs: cases that are clean but for notes, that only their chip refuses, and that are run, not
// checked.
constexpr std::string_view kNoted = "_noted.case", kRefused = "_refused.case", kRan = "_ran.case";

// Words and numbers whole, every other character by itself; comments and white
// space left out.
std::vector<std::string> Tokens(const std::string& kernel) {
  std::vector<std::string> tokens;
  bool word = false;
  for (std::size_t i = 0; i < kernel.size(); ++i) {
    if (kernel.compare(i, 2, "//") == 0) i = std::min(kernel.size() - 1, kernel.find('\n', i));
    const auto c = static_cast<unsigned char>(kernel[i]);
    const bool in_word = std::isalnum(c) != 0 || c == '_';
    if (in_word && word) {
      tokens.back() += static_cast<char>(c);
    } else if (std::isspace(c) == 0) {
      tokens.emplace_back(1, static_cast<char>(c));
    }
    word = in_word;
  }
  return tokens;
}

TEST(Twins, DifferInOneToken) {
  const absl::StatusOr<std::vector<std::string>> paths = FindCases(PALLADION_SOURCE_DIR "/conformance/cases/checks");
  ASSERT_TRUE(paths.ok()) << paths.status();
  int pairs = 0;
  for (const std::string& path : *paths) {
    if (!path.ends_with(kRacy)) {
      EXPECT_TRUE(path.ends_with(kClean)) << path;
      continue;
    }
    ++pairs;
    const absl::StatusOr<Case> racy = ReadCase(path);
    const absl::StatusOr<Case> clean = ReadCase(path.substr(0, path.size() - kRacy.size()) + std::string(kClean));
    ASSERT_TRUE(racy.ok() && clean.ok()) << racy.status() << clean.status();
    EXPECT_FALSE(racy->guilty.empty()) << path;
    EXPECT_TRUE(clean->guilty.empty() && clean->exit_code == 0) << path;
    const std::vector<std::string> a = Tokens(racy->kernel), b = Tokens(clean->kernel);
    ASSERT_EQ(a.size(), b.size()) << path;
    std::set<std::pair<std::string, std::string>> differences;
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (a[i] != b[i]) differences.emplace(a[i], b[i]);
    }
    EXPECT_EQ(1u, differences.size()) << path;
  }
  EXPECT_EQ(paths->size(), static_cast<std::size_t>(2 * pairs)) << "a clean case without its racy twin";
  EXPECT_LE(16, pairs) << "cases were lost";
}

// Variants of one pattern of the corpus for GPUs differ in a switch of the function that made them, so more than a
// token may differ. Each pattern has both kinds, and what a case is called is what it asserts.
TEST(Twins, EveryPatternForGpusHasBothKinds) {
  const absl::StatusOr<std::vector<std::string>> paths =
      FindCases(PALLADION_SOURCE_DIR "/conformance/cases/gpu_corpus");
  ASSERT_TRUE(paths.ok()) << paths.status();
  std::set<std::string> racy, clean;
  for (const std::string& path : *paths) {
    const std::string name = std::filesystem::path(path).filename().string();
    const std::string pattern = name.substr(0, name.find('_', name.starts_with("litmus") ? 7 : 0));
    const absl::StatusOr<Case> test = ReadCase(path);
    ASSERT_TRUE(test.ok()) << test.status();
    EXPECT_EQ(!path.ends_with(kRan), test->schedules.has_value()) << path;
    if (path.ends_with(kRacy)) {
      racy.insert(pattern);
      EXPECT_FALSE(test->guilty.empty()) << path;
    } else if (path.ends_with(kNoted)) {
      clean.insert(pattern);
      EXPECT_TRUE(!test->guilty.empty() && test->exit_code == 0) << path << ": it has notes";
    } else if (path.ends_with(kRefused)) {
      clean.insert(pattern);
      EXPECT_TRUE(test->guilty.size() == 1 && test->exit_code == 1) << path << ": its chip refuses it, and no more";
    } else {
      clean.insert(pattern);
      EXPECT_TRUE(path.ends_with(kClean) || path.ends_with(kRan)) << path;
      EXPECT_TRUE(test->guilty.empty() && test->exit_code == 0) << path;
      EXPECT_FALSE(test->outputs.empty()) << path << ": a clean case says what is computed";
    }
  }
  clean.erase("068");  // copies that lie outside are no defect, so none of them is racy
  EXPECT_EQ(racy, clean);
  EXPECT_LE(48u, racy.size()) << "patterns were lost";
}

}  // namespace
}  // namespace palladion::conformance
