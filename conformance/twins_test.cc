// The racy and the clean twin of a corpus pattern differ in one token of their
// kernels, so that nothing but the defect can explain why one is reported and
// the other is not. A number or a word that means one thing (a size) may stand
// in several places. Of each finding code there are a wrong kernel and a mended
// one, whose differences may be larger.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "conformance/case_file.h"
#include "conformance/case_runner.h"
#include "conformance/case_selection.h"
#include "emu/check.h"
#include "emu/emulate.h"
#include "semantics/base/cat.h"
#include "semantics/base/finding.h"
#include "semantics/base/status.h"

namespace palladion::conformance {
namespace {

constexpr std::string_view kRacy = "_racy", kClean = "_clean";
// Of the corpus for GPUs: cases that are clean but for notes, that only their chip refuses, and that are run, not
// checked.
constexpr std::string_view kNoted = "_noted", kRefused = "_refused", kRan = "_ran";

const std::string kCaseFolders = PALLADION_SOURCE_DIR "/conformance/cases/";

// One case, by its name.
absl::StatusOr<Case> CaseNamed(const std::string& name) {
  PALLADION_ASSIGN_OR_RETURN(const std::vector<SelectedCase> cases,
                             SelectCases({kCaseFolders + name.substr(0, name.find('/')), name}, kCaseFolders));
  return cases.front().test;
}

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
  const auto cases = SelectCases({kCaseFolders + "checks"}, kCaseFolders);
  ASSERT_TRUE(cases.ok()) << cases.status();
  int pairs = 0;
  for (const SelectedCase& selected : *cases) {
    const std::string& name = selected.name;
    if (!name.ends_with(kRacy)) {
      EXPECT_TRUE(name.ends_with(kClean)) << name;
      continue;
    }
    ++pairs;
    const absl::StatusOr<Case>& racy = selected.test;
    const absl::StatusOr<Case> clean = CaseNamed(name.substr(0, name.size() - kRacy.size()) + std::string(kClean));
    ASSERT_TRUE(racy.ok() && clean.ok()) << racy.status() << clean.status();
    EXPECT_FALSE(racy->guilty.empty()) << name;
    EXPECT_TRUE(clean->guilty.empty() && clean->exit_code == 0) << name;
    const std::vector<std::string> a = Tokens(racy->kernel), b = Tokens(clean->kernel);
    ASSERT_EQ(a.size(), b.size()) << name;
    std::set<std::pair<std::string, std::string>> differences;
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (a[i] != b[i]) differences.emplace(a[i], b[i]);
    }
    EXPECT_EQ(1u, differences.size()) << name;
  }
  EXPECT_EQ(cases->size(), static_cast<std::size_t>(2 * pairs)) << "a clean case without its racy twin";
  EXPECT_LE(16, pairs) << "cases were lost";
}

// Variants of one pattern of the corpus for GPUs differ in a switch of the function that made them, so more than a
// token may differ. Each pattern has both kinds, and what a case is called is what it asserts.
TEST(Twins, EveryPatternForGpusHasBothKinds) {
  const auto cases = SelectCases({kCaseFolders + "gpu_corpus"}, kCaseFolders);
  ASSERT_TRUE(cases.ok()) << cases.status();
  std::set<std::string> racy, clean;
  for (const SelectedCase& selected : *cases) {
    const std::string name = selected.name.substr(selected.name.find('/') + 1);
    const std::string pattern = name.substr(0, name.find('_', name.starts_with("litmus") ? 7 : 0));
    const absl::StatusOr<Case>& test = selected.test;
    ASSERT_TRUE(test.ok()) << test.status();
    EXPECT_EQ(!name.ends_with(kRan), test->schedules.has_value()) << name;
    if (name.ends_with(kRacy)) {
      racy.insert(pattern);
      EXPECT_FALSE(test->guilty.empty()) << name;
    } else if (name.ends_with(kNoted)) {
      clean.insert(pattern);
      EXPECT_TRUE(!test->guilty.empty() && test->exit_code == 0) << name << ": it has notes";
    } else if (name.ends_with(kRefused)) {
      clean.insert(pattern);
      EXPECT_TRUE(test->guilty.size() == 1 && test->exit_code == 1) << name << ": its chip refuses it, and no more";
    } else {
      clean.insert(pattern);
      EXPECT_TRUE(name.ends_with(kClean) || name.ends_with(kRan)) << name;
      // Hardware's records have these names, which are older than the note on what a later wgmma promises.
      const bool promised = std::all_of(test->guilty.begin(), test->guilty.end(),
                                        [](const GuiltyLine& line) { return line.code == "WGMMA_ORDER"; });
      EXPECT_TRUE(promised && test->exit_code == 0) << name;
      EXPECT_FALSE(test->outputs.empty()) << name << ": a clean case says what is computed";
    }
  }
  clean.erase("068");  // copies that lie outside are no defect, so none of them is racy
  EXPECT_EQ(racy, clean);
  EXPECT_LE(48u, racy.size()) << "patterns were lost";
}

std::string Lower(std::string_view name) {
  std::string lower(name);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

// What a check of the case's kernel finds.
absl::StatusOr<Report> Checked(const Case& test) {
  PALLADION_ASSIGN_OR_RETURN(const PreparedKernel kernel, PrepareText(test.kernel, {.target = test.target}));
  PALLADION_ASSIGN_OR_RETURN(const std::vector<Tensor> inputs, MakeInputs(test, kernel));
  CheckOptions options{.seeds = test.schedules.value_or(1)};
  if (test.budget.has_value()) options.SetBudget(*test.budget);
  return Check(kernel, inputs, options);
}

bool HasBothSites(const Case& test, std::string_view code) {
  return std::any_of(test.guilty.begin(), test.guilty.end(),
                     [&](const GuiltyLine& line) { return line.code == code && (line.first || !line.pair.empty()); });
}

// Of each finding code a wrong kernel and the mended one, in conformance/cases/findings. Where the finding has two
// accesses, the wrong one names the lines of both.
TEST(Twins, EveryFindingCodeHasAWrongAndAMendedKernel) {
  int both = 0;
  for (const CodeRow& row : AllCodes()) {
    const absl::StatusOr<Case> wrong = CaseNamed(Cat("findings/", Lower(row.name), "_wrong"));
    const absl::StatusOr<Case> right = CaseNamed(Cat("findings/", Lower(row.name), "_right"));
    ASSERT_TRUE(wrong.ok() && right.ok()) << row.name << ": " << wrong.status() << right.status();
    EXPECT_TRUE(right->guilty.empty() && right->exit_code == 0 && !right->outputs.empty()) << row.name;
    EXPECT_EQ(wrong->target, right->target) << row.name;
    const absl::StatusOr<Report> report = Checked(*wrong);
    ASSERT_TRUE(report.ok()) << row.name << ": " << report.status();
    int found = 0;
    for (const ReportedFinding& finding : report->findings) {
      if (finding.code != row.code) continue;
      ++found;
      if (!finding.first.has_value() || !finding.second.has_value()) continue;
      if (finding.first->text_line == 0 || finding.second->text_line == 0) continue;  // the end of the kernel
      ++both;
      EXPECT_TRUE(HasBothSites(*wrong, row.name)) << row.name << ": lines " << finding.first->text_line << " and "
                                                  << finding.second->text_line << " need //~ " << row.name << "@a";
    }
    EXPECT_LT(0, found) << row.name;
  }
  EXPECT_LE(18, both) << "the wrong kernels have lost accesses";
}

}  // namespace
}  // namespace palladion::conformance
