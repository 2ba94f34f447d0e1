// Blocks that share an array in kernels of a TPU: what is found of them does not depend on a line that has nothing to
// do with it. Each such case, with a semaphore that nothing uses, or a copy of its own that is awaited at once, has the
// findings that it has without, at the same places and in the same words.
#include <gtest/gtest.h>

#include <cstdint>
#include <iostream>
#include <optional>
#include <regex>
#include <set>
#include <string>

#include "absl/strings/str_join.h"
#include "conformance/case_selection.h"
#include "conformance/metamorphic/checked_report.h"
#include "conformance/metamorphic/harmless.h"
#include "conformance/metamorphic/insertion.h"
#include "emu/emulate.h"
#include "semantics/base/cat.h"

namespace palladion::conformance {
namespace {

// So many times the schedules of a case, so that one in which outputs differ is among them.
constexpr std::int64_t kFactor = 8;

bool HasSharedBlocks(const Case& test) {
  return test.target.starts_with("mosaic_tpu") && test.launches == 1 &&
         test.kernel.find(" alias %") != std::string::npos && test.kernel.find(" block (") != std::string::npos;
}

// Operations are numbered as they come.
std::string WithoutNumbers(const std::string& text) {
  static const std::regex* const kNumber = new std::regex(" #[0-9]+");
  return std::regex_replace(text, *kNumber, "");
}

std::string Side(const std::optional<ReportedAccess>& access) {
  return access.has_value() ? Cat("; ", Name(access->kind), " by ", access->agent, " of ", access->object, access->box,
                                  " at line ", access->text_line)
                            : "";
}

// NONDET names two schedules, which have other seeds.
std::string LineOf(const ReportedFinding& finding) {
  if (finding.code == FindingCode::kNondeterministic) return Cat(Code(finding.code), " at line ", finding.text_line);
  return WithoutNumbers(Cat(Code(finding.code), " ", Name(finding.severity), " at line ", finding.text_line, ": ",
                            finding.message, Side(finding.first), Side(finding.second), "; why: ", finding.why,
                            "; fix: ", finding.fix));
}

bool IsOfPipeline(const ReportedFinding& finding) {
  return finding.message.starts_with("the block of") || finding.code == FindingCode::kRaceAsync ||
         finding.code == FindingCode::kNondeterministic;
}

std::set<std::string> LinesOf(const Report& report) {
  std::set<std::string> lines{Cat("verdict: ", Name(report.verdict))};
  for (const ReportedFinding& finding : report.findings) {
    if (IsOfPipeline(finding)) lines.insert(LineOf(finding));
  }
  return lines;
}

std::string Text(const std::set<std::string>& lines) { return absl::StrJoin(lines, "\n  "); }

TEST(SharedBlocks, NothingOfTheirsDependsOnWhetherThereAreEngines) {
  const auto cases = SelectCases({}, PALLADION_SOURCE_DIR "/conformance/cases");
  ASSERT_TRUE(cases.ok()) << cases.status();
  int compared = 0, of_pipeline = 0;
  for (const SelectedCase& selected : *cases) {
    ASSERT_TRUE(selected.test.ok()) << selected.test.status();
    if (!HasSharedBlocks(*selected.test)) continue;
    const absl::StatusOr<std::string> text = CanonicalText(selected.test->kernel);
    if (!text.ok()) continue;
    const CheckedText plain = CheckText(*selected.test, *text, kFactor);
    const std::set<std::string> expected = LinesOf(plain.report);
    for (const Harmless& harmless : AllHarmless()) {
      if (harmless.name != "semaphore_scratch" && harmless.name != "dma_semaphore_scratch" &&
          harmless.name != "own_dma")
        continue;
      const std::optional<Inserted> inserted = Insert(*text, harmless, kAtStart);
      if (!inserted.has_value()) continue;
      const CheckedText changed = CheckText(*selected.test, inserted->text, kFactor);
      EXPECT_EQ(Text(expected), Text(LinesOf(changed.report))) << selected.name << " with " << harmless.name;
      ++compared;
      of_pipeline += expected.size() > 1;
    }
  }
  std::cout << compared << " comparisons, " << of_pipeline << " of kernels with findings\n";
  EXPECT_GT(compared, 60);
  EXPECT_GT(of_pipeline, 20);
}

}  // namespace
}  // namespace palladion::conformance
