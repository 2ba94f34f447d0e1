// A report is read as it was written, whatever it holds; what is no report is an error that says why.
#include "emu/front/reports/report_reader.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "emu/check/evidence.h"
#include "semantics/base/finding.h"

namespace palladion::reports {
namespace {

const std::vector<SourceFrame> kFrames = {{"k.py", 9, 5, "body"}, {"train.py", 7, 0, "step"}};

ReportedAccess Access(AccessKind kind) {
  return {.kind = kind,
          .agent = "program (0)",
          .object = "o",
          .box = "[0]",
          .source = "k.py:9:5 in body",
          .text_line = 4,
          .frames = kFrames};
}

std::vector<TextEdit> Edits() {
  using Where = TextEdit::Where;
  std::vector<TextEdit> edits;
  for (const Where where : {Where::kBefore, Where::kAfter, Where::kEnd, Where::kInstead})
    edits.push_back({.where = where, .line = 3, .insert = {"a;", "b;"}});
  edits.push_back({.where = Where::kSet, .line = 2, .insert = {}, .name = "n", .value = "1", .of = "%x"});
  return edits;
}

// A finding of every code; among them every severity, confidence and kind of access.
std::vector<ReportedFinding> OfEveryCode() {
  std::vector<ReportedFinding> findings;
  for (const CodeRow& row : AllCodes()) {
    const auto number = static_cast<int>(row.code);
    findings.push_back({.code = row.code,
                        .severity = static_cast<Severity>(number % 3),
                        .message = "m\n\"\xc3\xa4",
                        .source = "somewhere",
                        .text_line = number,
                        .count = std::int64_t{1} << 40,
                        .first = Access(static_cast<AccessKind>(number % 5)),
                        .second = number % 2 == 0 ? std::optional(Access(AccessKind::kFree)) : std::nullopt,
                        .why = "why",
                        .fix = "fix",
                        .confidence = static_cast<Confidence>(number % 3),
                        .replay = "s1",
                        .suppressed = number % 7 == 0 ? "accepted" : "",
                        .frames = kFrames,
                        .edits = Edits(),
                        .suppressed_in_source = number % 14 == 0});
  }
  return findings;
}

Report Full() {
  Report report{.kernel = "k", .target = "triton/h100", .programs = 4, .steps = 9, .findings = OfEveryCode()};
  report.remarks = {{.name = "not-finite", .words = "w", .source = "s", .text_line = 3, .frames = kFrames}};
  report.printed = {"a line", ""};
  report.fidelity = ReportedFidelity{.exact = 1, .approximate = 2, .refused = 3, .rows = {}, .reached = {}};
  for (const FidelityKind kind : {FidelityKind::kRefused, FidelityKind::kApproximate, FidelityKind::kExact})
    report.fidelity->rows.push_back({"exp", kind, 2, "because"});
  report.fidelity->reached = {{"an address", "w", "s", 3, kFrames}};
  report.checked = report.strict = report.interrupted = true;
  report.schedules = 64;
  report.argument = "an argument";
  for (const check::FactRow& row : check::AllFacts()) report.facts.push_back({row.fact, true, "words"});
  for (int kind = 0; kind <= static_cast<int>(CheckKind::kValues); ++kind)
    report.checks.push_back({static_cast<CheckKind>(kind), 3 + kind});
  report.never_ran = {{.what = "a branch", .source = "s", .text_line = 5, .frames = kFrames}};
  report.unused_suppressions = {"s.txt:3: SHIFT a.py"};
  return report;
}

void ExpectRead(const Report& report) {
  const std::string json = ToJson(report);
  const absl::StatusOr<Report> read = ReadReport(json);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(json, ToJson(*read));
  EXPECT_EQ(ToText(report), ToText(*read));
  EXPECT_EQ(VerdictOf(report), read->verdict);
}

TEST(ReportReader, ReadsWhatWasWritten) {
  Report report = Full();
  ExpectRead(report);
  for (const ExitCode kind : {ExitCode::kUnsupported, ExitCode::kMalformed, ExitCode::kInternal, ExitCode::kBudget}) {
    report.error = ReportedError{kind, "spent"};
    ExpectRead(report);
  }
  ExpectRead(Report{});
  ExpectRead(Report{.checked = true, .proved = true});
}

TEST(ReportReader, WhatIsNoReportIsAnError) {
  const auto error = [](const std::string& json) {
    const absl::StatusOr<Report> read = ReadReport(json);
    EXPECT_EQ(absl::StatusCode::kInvalidArgument, read.status().code()) << json;
    return std::string(read.status().message());
  };
  for (const char* json : {"", "{", "[]", "3", "\xff", "{\"kernel\": 3}", "{\"findings\": [{}]}", "{\"facts\": [3]}"})
    EXPECT_EQ(0u, error(json).find("not a report: ")) << json;
  Report report = Full();
  report.findings.resize(1);
  for (const auto& [from, to] :
       {std::pair{"\"OOB\"", "\"OOPS\""}, std::pair{"\"severity\": \"note\"", "\"severity\": \"bad\""},
        std::pair{"\"confidence\": \"proved\"", "\"confidence\": \"sure\""},
        std::pair{"\"kind\": \"read\"", "\"kind\": \"look\""}, std::pair{"\"where\": \"end\"", "\"where\": \"here\""},
        std::pair{"\"name\": \"no-conflict\"", "\"name\": \"no-fact\""}}) {
    std::string json = ToJson(report);
    const std::size_t at = json.find(from);
    ASSERT_NE(std::string::npos, at) << from;
    json.replace(at, std::string(from).size(), to);
    EXPECT_NE(std::string::npos, error(json).find("of a report")) << json;
  }
}

}  // namespace
}  // namespace palladion::reports
