// Findings of several calls together, folding, and that nothing in a text can move a terminal cursor.
#include "emu/front/reports/report_view.h"

#include <gtest/gtest.h>

#include "semantics/base/json.h"
#include "semantics/base/printable.h"
#include "semantics/base/source_lines.h"

namespace palladion::reports {
namespace {

ReportedFinding Found(FindingCode code, Severity severity, int line) {
  return {.code = code,
          .severity = severity,
          .message = "m",
          .replay = "s1",
          .frames = {{"k.py", line, 5, "body"}, {"train.py", 7, 0, "step"}}};
}

ReportedCall Call(std::string kernel, std::vector<ReportedFinding> findings) {
  ReportedCall call{.report = {.kernel = std::move(kernel), .target = "triton/h100", .findings = std::move(findings)}};
  call.report.checked = true;
  call.report.schedules = 4;
  call.replay_before = "again(";
  call.replay_after = ")";
  return call;
}

std::string Text(const ReportDocument& document) { return ToText(document, {.python = true}, {}); }

TEST(ReportView, SeveralCallsAreCountedAndTheWorstIsFirst) {
  ReportDocument document;
  document.calls.push_back(Call("clean", {}));
  document.calls.push_back(Call("k", {Found(FindingCode::kShift, Severity::kNote, 3),
                                      Found(FindingCode::kRaceWriteWrite, Severity::kDefect, 9)}));
  document.calls.push_back(Call("k", {Found(FindingCode::kRaceWriteWrite, Severity::kDefect, 9)}));
  document.calls[2].report.findings[0].frames[1].line = 8;  // another call of the same kernel
  document.calls[2].count = 2;
  document.dropped = 1;
  EXPECT_EQ(R"(error[RACE_WW]: m  (3 times in 3 calls, the first is shown)
  in kernel @k on triton/h100
  at k.py:9:5 in body
  called from train.py:7 in step
  replay: again(s1)
  rule: Two writes of one element must be ordered by synchronisation. (palladion explain RACE_WW)

note[SHIFT]: m
  in kernel @k on triton/h100
  at k.py:3:5 in body
  called from train.py:7 in step
  replay: again(s1)
  rule: A shift by as many bits as there are, or more, has no portable result. (palladion explain SHIFT)

verdict: defect: 1 defect, 1 note
  kernel  target       calls  verdict  schedules  findings
  @k      triton/h100  3      defect   4          1 RACE_WW, 1 SHIFT
  @clean  triton/h100  1      clean    4          none
and 1 call whose reports there was no room for
)",
            Text(document));
}

TEST(ReportView, ALongReportEndsWithATable) {
  ReportDocument document;
  document.calls.push_back(Call("k", {}));
  for (int i = 0; i < 11; ++i)
    document.calls[0].report.findings.push_back(Found(FindingCode::kRaceWriteWrite, Severity::kDefect, 10 + i));
  const std::string text = Text(document);
  EXPECT_NE(std::string::npos, text.find("all 11 findings:\n  finding         times  where\n"
                                         "  error[RACE_WW]  1      k.py:10:5 in body\n"))
      << text;
  document.calls[0].report.findings.pop_back();
  EXPECT_EQ(std::string::npos, Text(document).find("findings:")) << Text(document);
}

TEST(ReportView, TheUsersLineIsShownAndLibrariesAreCounted) {
  ReportDocument document;
  document.calls.push_back(Call("k", {Found(FindingCode::kOutOfBounds, Severity::kDefect, 9)}));
  const SourceFrame library{"/x/lib/python3.11/site-packages/jax/pallas/pipeline.py", 3, 1, "loop"};
  auto& frames = document.calls[0].report.findings[0].frames;
  frames = {library, library, frames[0], library, frames[1]};
  EXPECT_NE(std::string::npos, Text(document).find("  at k.py:9:5 in body\n"
                                                   "  inside 2 frames of libraries, the innermost "
                                                   "/x/lib/python3.11/site-packages/jax/pallas/pipeline.py:3:1 in "
                                                   "loop\n  called from train.py:7 in step\n  and 1 more\n"))
      << Text(document);
  frames = {library};
  EXPECT_NE(std::string::npos, Text(document).find("  at /x/lib")) << "there is no user's line";
}

constexpr const char* kWild =
    "a\x1b[2J\r\x07\x7f\xc2\x9b"
    "31m\xe2\x80\xae\xe2\x81\xa6\xff"
    "b";

TEST(ReportView, NoTextReachesATerminalRaw) {
  EXPECT_EQ("a\\x1b[2J\\x0d\\x07\\x7f\\x9b31m\\u202e\\u2066\\xffb", Printable(kWild));
  EXPECT_EQ("a\\nb\\tc", Printable("a\nb\tc"));
  EXPECT_EQ("a\nb\tc \xc3\xa4\xf0\x9f\x98\x80", PrintableLines("a\nb\tc \xc3\xa4\xf0\x9f\x98\x80"));
  ReportedFinding finding = Found(FindingCode::kOutOfBounds, Severity::kDefect, 9);
  finding.message = finding.why = finding.fix = finding.replay = kWild;
  finding.message += "\nerror[FORGED]: no";
  finding.frames[0].file = finding.frames[1].function = kWild;
  finding.first =
      ReportedAccess{.kind = AccessKind::kRead, .agent = kWild, .object = kWild, .box = kWild, .source = kWild};
  ReportedFinding suppressed = finding;
  suppressed.suppressed = suppressed.source = kWild;
  ReportDocument document;
  document.calls.push_back(Call(kWild, {finding, suppressed}));
  Report& report = document.calls[0].report;
  report.target = report.argument = kWild;
  report.never_ran = {{.what = kWild, .source = kWild, .frames = {{kWild, 1, 1, kWild}}}};
  report.remarks = {{.name = "not-finite", .words = kWild, .source = kWild, .frames = {{kWild, 1, 1, kWild}}}};
  report.unused_suppressions = {kWild};
  document.difference = kWild;
  for (const bool several : {false, true}) {
    if (several) {
      document.calls.push_back(document.calls[0]);
      document.calls[1].report.error = ReportedError{ExitCode::kBudget, kWild};
    }
    const RenderOptions options{.source_line = [](const std::string&, int) { return std::string(kWild); }};
    for (const std::string& text :
         {ToText(document, options, {}), ReportViewJson(document, options), ToJson(document.calls[0].report)}) {
      for (std::size_t i = 0; i < text.size();) {
        const std::size_t length = Utf8Length(text, i);
        ASSERT_GT(length, 0u) << text;
        EXPECT_TRUE(text[i] == '\n' || !IsUnprintable(CodePointAt(text, i, length))) << i << ": " << text;
        i += length;
      }
      EXPECT_EQ(std::string::npos, text.find("\nerror[FORGED]")) << text;
    }
  }
}

TEST(SourceLines, WhatCannotBePrintedIsOneColumn) {
  const Excerpt excerpt = MakeExcerpt("\tx\x1b\xc2\x9b\xe2\x80\xae\xff = y", 13, 40);
  EXPECT_EQ(" x???? = y", excerpt.text);
  EXPECT_EQ('y', excerpt.text[excerpt.caret]);
}

}  // namespace
}  // namespace palladion::reports
