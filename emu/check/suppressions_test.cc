#include "emu/check/suppressions.h"

#include <gtest/gtest.h>

#include <utility>

namespace palladion::check {
namespace {

std::string ErrorOf(std::string_view text) {
  const absl::StatusOr<Suppressions> parsed = Suppressions::Parse(text, "s.txt");
  return parsed.ok() ? "" : std::string(parsed.status().message());
}

ReportedFinding FindingAt(FindingCode code, std::string file, int line) {
  return {.code = code, .severity = Severity::kDefect, .text_line = 31, .frames = {{std::move(file), line, 1, "f"}}};
}

// What the finding's `suppressed` becomes.
std::string Applied(std::string_view text, const ReportedFinding& finding) {
  Report report{.kernel = "flash_forward", .findings = {finding}, .checked = true};
  const absl::StatusOr<Suppressions> parsed = Suppressions::Parse(text, "s.txt");
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  if (parsed.ok()) parsed->Apply(report);
  EXPECT_EQ(report.findings[0].suppressed.empty() ? Verdict::kDefect : Verdict::kClean, report.verdict);
  return report.findings[0].suppressed;
}

TEST(Suppressions, WhatMatches) {
  const ReportedFinding finding = FindingAt(FindingCode::kRaceWriteWrite, "/home/u/kernels/attention.py", 120);
  for (const char* place : {"attention.py:120", "attention.py", "kernels/attention.py:120", "*.py",
                            "attention.py:100-120", "/home/u/kernels/attention.py", "/home/*/kernels/a??ention.py:120",
                            "@flash_forward:31", "@flash_forward", "@flash*", "*/a*n.p*"}) {
    EXPECT_EQ("ok: # twice", Applied("RACE_WW " + std::string(place) + "  # ok: # twice", finding)) << place;
  }
  for (const char* place : {"attention.py:121", "tention.py", "attention.py:1-119", "/attention.py", "u/*.py", "@flash",
                            "@flash_forward:30", "kernels", "/home/u", "?ttention", "@other"}) {
    EXPECT_EQ("", Applied("RACE_WW " + std::string(place) + " # ok", finding)) << place;
  }
  EXPECT_EQ("", Applied("RACE_RW attention.py:120 # another code", finding));
}

TEST(Suppressions, EitherAccessAndItsCallersCount) {
  ReportedFinding finding = FindingAt(FindingCode::kRaceWriteWrite, "a.py", 1);
  finding.first = ReportedAccess{.text_line = 7, .frames = {{"b.py", 2, 1, "g"}, {"c.py", 3, 1, "h"}}};
  finding.second = ReportedAccess{.text_line = 8, .frames = {{"a.py", 1, 1, "f"}, {"d.py", 4, 1, "k"}}};
  for (const char* place : {"a.py:1", "b.py:2", "c.py:3", "d.py:4", "@flash_forward:7", "@flash_forward:8"})
    EXPECT_EQ("r", Applied("RACE_WW " + std::string(place) + " # r", finding)) << place;
  EXPECT_EQ("", Applied("RACE_WW c.py:2 # r", finding));
}

TEST(Suppressions, UnusedOnesAreListedAndTheFirstReasonStays) {
  Report report{.kernel = "k",
                .findings = {FindingAt(FindingCode::kOutOfBounds, "a.py", 1),
                             FindingAt(FindingCode::kNondeterministic, "a.py", 2)},
                .checked = true};
  Suppressions::Parse("# a comment\n\nOOB a.py:1 # first\nOOB a.py # second\r\n  SHIFT b.py:3 # for later", "dir/s.txt")
      ->Apply(report);
  EXPECT_EQ("first", report.findings[0].suppressed);
  EXPECT_EQ(std::vector<std::string>{"dir/s.txt:5: SHIFT b.py:3"}, report.unused_suppressions);
  EXPECT_EQ(Verdict::kNondeterministic, report.verdict);
}

TEST(Suppressions, Errors) {
  EXPECT_EQ("s.txt:1: unknown finding code 'RACE_W'; did you mean RACE_WW?", ErrorOf("RACE_W a.py:1 # r"));
  EXPECT_EQ("s.txt:2: unknown finding code 'oob'; did you mean OOB?", ErrorOf("\noob a.py:1 # r"));
  EXPECT_EQ("s.txt:1: unknown finding code 'NONSENSE'; `palladion explain` lists them", ErrorOf("NONSENSE a.py # r"));
  EXPECT_EQ("s.txt:1: unknown finding code '*'; `palladion explain` lists them", ErrorOf("* a.py # r"));
  EXPECT_EQ("s.txt:1: expected a place after OOB: FILE:LINE or @KERNEL; found none", ErrorOf("OOB # r"));
  EXPECT_EQ("s.txt:1: a suppression needs a reason: CODE FILE:LINE # why this is accepted", ErrorOf("OOB a.py:1"));
  EXPECT_EQ("s.txt:1: a suppression needs a reason: CODE FILE:LINE # why this is accepted", ErrorOf("OOB a.py:1 #  "));
  EXPECT_EQ("s.txt:1: expected a line, 12, or lines, 12-20, after 'a.py:'; found 'x'", ErrorOf("OOB a.py:x # r"));
  for (const char* lines : {"0", "-3", "3-", "9-3", "", "1x", "99999999999999"})
    EXPECT_NE("", ErrorOf("OOB a.py:" + std::string(lines) + " # r")) << lines;
  EXPECT_EQ("s.txt:1: expected CODE FILE:LINE # reason; found 'OOB a.py:1 r'", ErrorOf("OOB a.py:1 r"));
  EXPECT_NE("", ErrorOf("OOB :3 # r"));
  EXPECT_NE("", ErrorOf("OOB @:3 # r"));
  EXPECT_EQ("", ErrorOf(""));
  EXPECT_EQ("", ErrorOf("# only a comment"));
}

TEST(Suppressions, PatternsWithManyStarsEnd) {
  std::string pattern;
  for (int i = 0; i < 40; ++i) pattern += "*a";
  EXPECT_FALSE(PathMatches(pattern + "b", std::string(4000, 'a')));
  EXPECT_TRUE(PathMatches(pattern, "x/" + std::string(4000, 'a')));
}

}  // namespace
}  // namespace palladion::check
