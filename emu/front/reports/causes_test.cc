#include "emu/front/reports/causes.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "emu/front/reports/report_view.h"
#include "emu/report.h"

namespace palladion::reports {
namespace {

constexpr std::nullopt_t kNone = std::nullopt;
using Causes = std::vector<std::optional<std::size_t>>;

ReportedAccess Side(AccessKind kind, std::string agent, std::string object, int line) {
  return {
      .kind = kind, .agent = std::move(agent), .object = std::move(object), .box = "", .source = "", .text_line = line};
}

ReportedFinding Found(FindingCode code, std::optional<ReportedAccess> first,
                      std::optional<ReportedAccess> second = std::nullopt) {
  return {.code = code,
          .severity = Severity::kDefect,
          .message = "something is wrong",
          .first = std::move(first),
          .second = std::move(second),
          .fix = "a change"};
}

const std::string kCopy = "DMA #0 issued by the core";

// A copy without a wait: the read at line 5 races with it, and the rest follows.
Report MissingWait() {
  Report report{.kernel = "k", .target = "mosaic_tpu/v5e", .checked = true};
  report.findings = {
      Found(FindingCode::kSemaphoreLeak, Side(AccessKind::kAtomic, kCopy, "sem", 4)),
      Found(FindingCode::kRaceAsync, Side(AccessKind::kWrite, kCopy, "buf", 4),
            Side(AccessKind::kRead, "the core", "buf", 5)),
      Found(FindingCode::kRaceAsync, Side(AccessKind::kWrite, kCopy, "buf", 4),
            Side(AccessKind::kRead, "the core", "buf", 6)),
      Found(FindingCode::kNotAwaited, Side(AccessKind::kWrite, kCopy, "", 4)),
      Found(FindingCode::kUninitialised, Side(AccessKind::kRead, "the program", "buf", 5),
            Side(AccessKind::kWrite, "the program", "o", 7)),
      Found(FindingCode::kNondeterministic, Side(AccessKind::kWrite, "the program", "o", 7),
            Side(AccessKind::kWrite, "the program", "o", 7)),
  };
  return report;
}

TEST(Causes, OneMissingWait) { EXPECT_EQ(CausesOf(MissingWait()), (Causes{1, kNone, 1, 1, 1, 1})); }

// The copy stands in a library's pipeline, so the user's own line is the entry.
TEST(Causes, OneShapeThatTheTargetRefuses) {
  Report report{.kernel = "k", .target = "mosaic_gpu/h100", .checked = true};
  for (int i = 0; i < 4; ++i) report.findings.push_back(Found(FindingCode::kIllegal, kNone));
  for (ReportedFinding& finding : report.findings) {
    finding.why = "the block of 'x' is [3,100]";
    finding.frames = {{.file = "k.py", .line = 5, .function = "body"}};
  }
  report.findings[0].frames.insert(
      report.findings[0].frames.begin(),
      {.file = "/lib/python3.11/site-packages/jax/pipeline.py", .line = 9, .function = ""});
  report.findings[3].why = "the block of 'y' is [5]";
  EXPECT_EQ(CausesOf(report), (Causes{1, kNone, 1, kNone}));
  report.findings[2].why = report.findings[3].why = "";
  EXPECT_EQ(CausesOf(report), (Causes{1, kNone, kNone, kNone}));
}

TEST(Causes, WhatIsOfAnotherStandsForItself) {
  Report report = MissingWait();
  report.findings[2].first->text_line = 9;       // another copy
  report.findings[4].first->object = "acc";      // memory that no copy fills
  report.findings[3].first->text_line = 9;       // the other copy's
  report.findings[0].first->agent = "the core";  // a signal that no copy gives
  EXPECT_EQ(CausesOf(report), (Causes{kNone, kNone, kNone, 2, kNone, 1}));
}

// The same agents, object and line: another pair of lines of one missing barrier. Of other agents it is another one.
TEST(Causes, PairsOfTwoAgents) {
  Report report{.kernel = "k", .target = "mosaic_gpu/h100", .checked = true};
  const auto pair = [](int first, std::string who, int second) {
    return Found(FindingCode::kRaceReadWrite, Side(AccessKind::kWrite, "thread 0", "s", first),
                 Side(AccessKind::kRead, std::move(who), "s", second));
  };
  report.findings = {pair(3, "thread 1", 8), pair(3, "thread 1", 9), pair(4, "thread 1", 12), pair(3, "thread 2", 8)};
  EXPECT_EQ(CausesOf(report), (Causes{kNone, 0, kNone, kNone}));
}

// To await the first of two copies orders them, but not the block that the pipeline fetches meanwhile.
TEST(Causes, ACopyOfThePipelineIsAnotherMistake) {
  Report report{.kernel = "k", .target = "mosaic_tpu/v5e", .checked = true};
  const ReportedAccess copy = Side(AccessKind::kWrite, kCopy, "o", 4);
  report.findings = {
      Found(FindingCode::kRaceWriteWrite, Side(AccessKind::kWrite, "DMA #1 issued by the core", "o", 5), copy),
      Found(FindingCode::kRaceAsync, Side(AccessKind::kRead, "the pipeline of the core", "o", 2), copy),
      Found(FindingCode::kRaceAsync, Side(AccessKind::kRead, "the core", "o", 6), copy),
  };
  EXPECT_EQ(CausesOf(report), (Causes{kNone, kNone, 0}));
}

TEST(Causes, ABlockThatIsVisitedAgainHoldsNothing) {
  Report report{.kernel = "k", .target = "mosaic_tpu/v5e", .checked = true};
  report.findings = {Found(FindingCode::kUninitialised, Side(AccessKind::kRead, "program (2)", "o", 9),
                           Side(AccessKind::kWrite, "program (2)", "o", 9)),
                     Found(FindingCode::kUninitialised, Side(AccessKind::kRead, "program (0)", "acc", 7),
                           Side(AccessKind::kWrite, "program (2)", "o", 9)),
                     Found(FindingCode::kOutRevisit, Side(AccessKind::kWrite, "program (0)", "o", 4),
                           Side(AccessKind::kWrite, "program (2)", "o", 4))};
  EXPECT_EQ(CausesOf(report), (Causes{2, kNone, kNone}));
}

// Where a program reads what another one writes, some order has it read before anything is there.
TEST(Causes, WhatAnotherProgramHasNotWrittenYet) {
  Report report{.kernel = "k", .target = "generic", .checked = true};
  report.findings = {Found(FindingCode::kUninitialised, Side(AccessKind::kRead, "program (1)", "o", 9),
                           Side(AccessKind::kWrite, "program (3)", "o", 11)),
                     Found(FindingCode::kUninitialised, Side(AccessKind::kRead, "program (1)", "o", 5),
                           Side(AccessKind::kWrite, "program (3)", "o", 11)),
                     Found(FindingCode::kGridOrder, Side(AccessKind::kWrite, "program (0)", "o", 4),
                           Side(AccessKind::kRead, "program (1)", "o", 9))};
  EXPECT_EQ(CausesOf(report), (Causes{2, kNone, kNone}));
}

// What counts is under nothing that does not.
TEST(Causes, ASymptomCountsNoMoreThanItsCause) {
  Report report = MissingWait();
  report.findings[1].suppressed = report.findings[2].suppressed = "looked at";
  EXPECT_EQ(CausesOf(report), (Causes{3, kNone, kNone, kNone, kNone, kNone}));
  report.findings[1].suppressed = report.findings[2].suppressed = "";
  report.findings[1].severity = report.findings[2].severity = Severity::kNote;
  EXPECT_EQ(CausesOf(report), (Causes{3, kNone, 1, kNone, kNone, kNone}));
}

TEST(Causes, TheTextHasOneEntryAndAllVerdictsStay) {
  const Report report = MissingWait();
  const std::string text = ToText(report);
  EXPECT_EQ(text.find("error[RACE_ASYNC]"), 0u) << text;
  EXPECT_EQ(text.find("\nerror["), std::string::npos) << text;
  EXPECT_NE(text.find("    error[SEM_LEAK]: something is wrong\n"), std::string::npos) << text;
  EXPECT_NE(text.find("verdict: defect: 1 defect with 5 symptoms\n"), std::string::npos) << text;
  EXPECT_EQ(ExitCodeOf(report), ExitCode::kDefect);
}

// In one call it follows from another one, in the next it does not: then it has an entry of its own.
TEST(Causes, OfSeveralCalls) {
  ReportDocument document;
  document.calls.push_back({.report = MissingWait()});
  document.calls.push_back({.report = MissingWait()});
  EXPECT_EQ(ViewOf(document, {}).findings.size(), 1u);
  std::vector<ReportedFinding>& alone = document.calls[1].report.findings;
  alone = {alone[5]};
  const ReportView view = ViewOf(document, {});
  ASSERT_EQ(view.findings.size(), 2u);
  EXPECT_EQ(Code(view.findings[1].code), "NONDET");
  EXPECT_EQ(view.findings[0].symptoms.size(), 4u);
}

}  // namespace
}  // namespace palladion::reports
