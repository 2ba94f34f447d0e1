#include "emu/check/inline_suppressions.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace palladion::check {
namespace {

// "CODE CODE: reason", "" for a line without a comment, or the error.
std::string Parsed(std::string_view line) {
  const absl::StatusOr<std::optional<InlineSuppression>> parsed = ParseInlineSuppression(line);
  if (!parsed.ok()) return std::string(parsed.status().message());
  if (!parsed->has_value()) return "";
  std::string text;
  for (const FindingCode code : (*parsed)->codes) text += std::string(Code(code)) + " ";
  return text + ": " + (*parsed)->reason;
}

TEST(InlineSuppressions, WhatIsRead) {
  EXPECT_EQ("RACE_WW : any will do", Parsed("  o[0] = x[i]  # palladion: ignore[RACE_WW] any will do"));
  EXPECT_EQ("RACE_WW NONDET : r # more", Parsed("f()  # palladion: ignore[ RACE_WW,NONDET,RACE_WW ]  r # more\r"));
  EXPECT_EQ("OOB : r", Parsed("f('#', \"it's\", '\\'')  # noqa  # palladion:ignore[OOB] r"));
  EXPECT_EQ("OOB : r", Parsed("f()  # palladion:  ignore [OOB] r"));
  for (const char* line :
       {"f()", "", "# palladion", "f('# palladion: ignore[OOB] r')", "f(\"# palladion: ignore[OOB] r\")", "f()  # r",
        "palladion: ignore[OOB] r", "f()  # see palladion: ignore[OOB] r", "f()  # palladion: this is slow"})
    EXPECT_EQ("", Parsed(line)) << line;
}

TEST(InlineSuppressions, Errors) {
  const std::string form = "# palladion: ignore[CODE] why this is accepted";
  EXPECT_EQ("a suppression needs a reason: " + form, Parsed("f()  # palladion: ignore[OOB]"));
  EXPECT_EQ("a suppression needs a reason: " + form, Parsed("f()  # palladion: ignore[OOB]  \r"));
  EXPECT_EQ("unknown finding code 'RACE_W'; did you mean RACE_WW?", Parsed("f()  # palladion: ignore[RACE_W] r"));
  EXPECT_EQ("unknown finding code ''; `palladion explain` lists them", Parsed("f()  # palladion: ignore[] r"));
  EXPECT_EQ("unknown finding code ''; `palladion explain` lists them", Parsed("f()  # palladion: ignore[OOB,] r"));
  EXPECT_EQ("expected " + form + "; found no [CODE] after 'ignore'", Parsed("f()  # palladion: ignore OOB r"));
  EXPECT_EQ("expected " + form + "; found no [CODE] after 'ignore'", Parsed("f()  # palladion: ignore"));
  EXPECT_EQ("expected " + form + "; found no [CODE] after 'ignore'", Parsed("f()  # palladion: ignore[OOB r"));
  EXPECT_EQ("expected " + form + "; found 'ignroe'", Parsed("f()  # palladion: ignroe[OOB] r"));
  EXPECT_EQ("expected " + form + "; found 'allow'", Parsed("f()  # palladion: allow[OOB] r"));
}

class InlineSuppressionsOfReport : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = std::filesystem::path(::testing::TempDir()) /
            (std::string("inline_") + ::testing::UnitTest::GetInstance()->current_test_info()->name() + ".py");
    Module& module = module_;
    module.files.push_back(path_.string());
    for (const int line : {1, 2, 3}) {
      Loc loc;
      loc.file = FileId{0};
      loc.line = line;
      module.locs.push_back(loc);
    }
  }
  void TearDown() override { std::filesystem::remove(path_); }

  void Write(std::string_view text) { std::ofstream(path_, std::ios::binary) << text; }
  ReportedFinding FindingAt(FindingCode code, int line) {
    return {.code = code, .severity = Severity::kDefect, .frames = {{path_.string(), line, 1, "f"}}};
  }
  std::string At(int line) { return path_.string() + ":" + std::to_string(line) + ": "; }

  std::filesystem::path path_;
  Module module_;
};

TEST_F(InlineSuppressionsOfReport, EitherAccessItsCallersAndNoOtherLine) {
  Write("a()\nb()  # palladion: ignore[RACE_WW] known\nc()\n");
  for (const int side : {0, 1, 2, 3}) {
    ReportedFinding finding = FindingAt(FindingCode::kRaceWriteWrite, side == 0 ? 2 : 1);
    ReportedAccess access{.frames = {{path_.string(), 3, 1, "g"}, {path_.string(), 2, 1, "h"}}};
    if (side == 1) finding.first = access;
    if (side == 2) finding.second = access;
    Report report{.findings = {finding}, .checked = true};
    ApplyInlineSuppressions(&module_, report);
    EXPECT_EQ(side == 3 ? "" : "known", report.findings[0].suppressed) << side;
    EXPECT_EQ(side != 3, report.findings[0].suppressed_in_source);
    EXPECT_EQ(side == 3 ? Verdict::kDefect : Verdict::kClean, report.verdict) << "no proof comes of a suppression";
    EXPECT_EQ(side == 3 ? 1U : 0U, report.unused_suppressions.size());
  }
}

TEST_F(InlineSuppressionsOfReport, UnusedCodesAreListedAndTheReasonOfAFileStays) {
  Write(
      "a()\nb()  # palladion: ignore[RACE_WW, OOB] known\nc()  # palladion: ignore[OOB] other\nd()  # palladion: bad[");
  Report report{.findings = {FindingAt(FindingCode::kRaceWriteWrite, 2)}, .checked = true};
  report.findings[0].suppressed = "of a file";
  ApplyInlineSuppressions(&module_, report);
  EXPECT_EQ("of a file", report.findings[0].suppressed);
  EXPECT_FALSE(report.findings[0].suppressed_in_source);
  EXPECT_EQ((std::vector<std::string>{At(2) + "palladion: ignore[OOB]", At(3) + "palladion: ignore[OOB]"}),
            report.unused_suppressions);
  EXPECT_FALSE(report.error.has_value()) << "line 4 is of another kernel";
}

TEST_F(InlineSuppressionsOfReport, APlainRunReadsTheLinesOfItsFindingsAndCallsNoCodeUnused) {
  Write("a()  # palladion: ignore[OOB]\nb()  # palladion: ignore[RACE_WW, OOB] known\nc()\n");
  Report report{.findings = {FindingAt(FindingCode::kOutOfBounds, 2)}};
  ApplyInlineSuppressions(&module_, report);
  EXPECT_EQ("known", report.findings[0].suppressed);
  EXPECT_TRUE(report.unused_suppressions.empty());
  EXPECT_FALSE(report.error.has_value()) << "line 1 is read by checks alone";
  Write("a()\nb()  # palladion: ignore[OOB]\nc()\n");
  Report wrong{.findings = {FindingAt(FindingCode::kOutOfBounds, 2)}};
  ApplyInlineSuppressions(&module_, wrong);
  EXPECT_EQ("", wrong.findings[0].suppressed);
  EXPECT_TRUE(wrong.error.has_value());
}

TEST_F(InlineSuppressionsOfReport, AMalformedOneIsAnErrorAndHidesNothing) {
  Write("a()\nb()  # palladion: ignore[OOB]\n");
  Report none{.checked = true, .proved = true};
  ApplyInlineSuppressions(&module_, none);
  ASSERT_TRUE(none.error.has_value());
  EXPECT_EQ(At(2) + "a suppression needs a reason: # palladion: ignore[CODE] why this is accepted",
            none.error->message);
  EXPECT_EQ(ExitCode::kMalformed, ExitCodeOf(none));
  Report report{.findings = {FindingAt(FindingCode::kOutOfBounds, 2)}, .checked = true};
  ApplyInlineSuppressions(nullptr, report);
  EXPECT_EQ("", report.findings[0].suppressed);
  EXPECT_EQ(Verdict::kDefect, report.verdict);
}

}  // namespace
}  // namespace palladion::check
