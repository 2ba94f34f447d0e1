// What a report looks like: whole texts, as a reader sees them.
#include <gtest/gtest.h>

#include "emu/report.h"
#include "semantics/base/source_lines.h"

namespace palladion::reports {
namespace {

constexpr const char* kKernelText = "pkir 1;\nkernel @k {\n    _ = swap(%or, %v) : f32[8]; //\ttabs and \x01\n";

std::optional<std::string> Python(const std::string& file, int line) {
  if (file == "kernels.py" && line == 41) return "        o_ref[...] = acc  # flush";
  if (file == "kernels.py" && line == 58) return "    acc = o_ref[...]";
  return std::nullopt;
}

TextOptions Options() {
  return {.kernel_text = kKernelText,
          .kernel_path = "k.pkir",
          .command = "palladion check k.pkir --in x=x.npy",
          .source_line = Python};
}

ReportedAccess Access(AccessKind kind, std::string agent, int line) {
  return {.kind = kind,
          .agent = std::move(agent),
          .object = "o_ref",
          .box = "[0:8]",
          .source = "kernels.py",
          .text_line = line,
          .frames = {{"kernels.py", line, 9, "body"}, {"train.py", 30, 0, "step"}}};
}

Report RaceReport() {
  ReportedFinding race{.code = FindingCode::kRaceReadWrite,
                       .severity = Severity::kDefect,
                       .message = "program (0) writes 'o_ref'[0:8] while program (3) reads it",
                       .count = 12,
                       .first = Access(AccessKind::kWrite, "program (0)", 41),
                       .second = Access(AccessKind::kRead, "program (3)", 58),
                       .why =
                           "nothing orders the two: both run along grid dimension 0, which is parallel, and neither "
                           "waits for the other at any place",
                       .fix = "declare dimension 0 \"arbitrary\"",
                       .confidence = Confidence::kPredicted,
                       .replay = "s1:pos:7c2f"};
  ReportedFinding again = race;
  again.count = 1;
  again.first.reset();
  again.second = Access(AccessKind::kRead, "program (2)", 58);
  again.why = again.fix = again.replay = "";
  again.confidence = Confidence::kProved;
  ReportedFinding note{.code = FindingCode::kSameValue,
                       .severity = Severity::kNote,
                       .message = "all programs store the same bytes",
                       .text_line = 3};
  ReportedFinding accepted{.code = FindingCode::kOutMissing,
                           .severity = Severity::kWarning,
                           .message = "output 'o'[7] is never written",
                           .source = "kernels.py:41:9 in body",
                           .suppressed = "the next launch writes it"};
  return {.kernel = "k",
          .target = "triton/h100",
          .programs = 4,
          .findings = {note, accepted, race, again},
          .checked = true,
          .schedules = 64,
          .argument = "64 schedules were tried.",
          .checks = {{CheckKind::kBounds, 1}, {CheckKind::kRacesBetweenThreads, 128}, {CheckKind::kValues, 0}},
          .never_ran = {{.what = "body of when", .text_line = 3}},
          .unused_suppressions = {"s.txt:3: SHIFT a.py"}};
}

TEST(ReportText, AllThatCanStandInOne) {
  EXPECT_EQ(
      R"(error[RACE_RW]: program (0) writes 'o_ref'[0:8] while program (3) reads it  (12 times, the first is shown)
  (1) write of o_ref[0:8] by program (0)
      at kernels.py:41:9 in body
        41 |         o_ref[...] = acc  # flush
           |         ^
      called from train.py:30 in step
  (2) read of o_ref[0:8] by program (3)
      at kernels.py:58:9 in body
        58 |     acc = o_ref[...]
           |         ^
      called from train.py:30 in step
  why: nothing orders the two: both run along grid dimension 0, which is parallel, and neither waits for the
       other at any place
  fix: declare dimension 0 "arbitrary"
  confidence: predicted
  replay: palladion check k.pkir --in x=x.npy --replay s1:pos:7c2f
  rule: A read and a write of one element must be ordered by synchronisation. (palladion explain RACE_RW)

error[RACE_RW]: program (0) writes 'o_ref'[0:8] while program (3) reads it
  (2) read of o_ref[0:8] by program (2)
      at kernels.py:58:9 in body
        58 |     acc = o_ref[...]
           |         ^
      called from train.py:30 in step

note[SAME_VALUE]: all programs store the same bytes
  k.pkir:3
     3 |     _ = swap(%or, %v) : f32[8]; // tabs and ?
       |     ^
  rule: Unordered writes of one element that all store the same bytes do no harm. (palladion explain SAME_VALUE)

suppressed[OUT_MISSING]: output 'o'[7] is never written
  at kernels.py:41:9 in body
  reason: the next launch writes it

verdict: defect: 2 defects, 1 note, 1 suppressed
  kernel @k on triton/h100: 4 programs, 64 schedules tried
  64 schedules were tried.
  did not run in program order: body of when at k.pkir:3
  unused suppression: s.txt:3: SHIFT a.py
)",
      ToText(RaceReport(), Options()));
}

TEST(ReportText, KindsOfChecksAreInTheOrderOfTheirNames) {
  for (int kind = 0; kind <= static_cast<int>(CheckKind::kValues); ++kind) {
    const std::string_view name = Name(static_cast<CheckKind>(kind));
    EXPECT_EQ(static_cast<CheckKind>(kind), CheckKindFromName(name)) << name;
    if (kind > 0) {
      EXPECT_LT(Name(static_cast<CheckKind>(kind - 1)), name);
    }
  }
  EXPECT_EQ(std::nullopt, CheckKindFromName("races"));
}

TEST(ReportText, VerdictsThatAreNone) {
  Report report{.kernel = "k", .target = "generic", .programs = 1, .checked = true, .proved = true, .schedules = 1};
  report.argument = "The kernel leaves no choice: one schedule is all.";
  EXPECT_EQ(
      "verdict: proved\n  kernel @k on generic: 1 program, 1 schedule tried\n"
      "  The kernel leaves no choice: one schedule is all.\n",
      ToText(report));
  report.interrupted = true;
  EXPECT_EQ(
      "verdict: clean, stopped early\n  kernel @k on generic: 1 program, 1 schedule tried\n"
      "  The kernel leaves no choice: one schedule is all.\n"
      "  stopped before all schedules had run: the findings so far\n",
      ToText(report));
  EXPECT_EQ("error[unsupported]: k.pkir:9: no such thing\nkernel @k: nothing can be said\n",
            ToText(ErrorReport(absl::UnimplementedError("k.pkir:9: no such thing"), "k", "generic")));
}

TEST(ReportText, VerdictAndExitCode) {
  const auto finding = [](FindingCode code, Severity severity, std::string suppressed = "") {
    return ReportedFinding{.code = code, .severity = severity, .suppressed = std::move(suppressed)};
  };
  const auto expect = [](Verdict verdict, ExitCode code, Report report) {
    report.checked = true;
    EXPECT_EQ(Name(verdict), Name(VerdictOf(report)));
    EXPECT_EQ(code, ExitCodeOf(report));
  };
  const ReportedFinding race = finding(FindingCode::kRaceWriteWrite, Severity::kDefect),
                        differs = finding(FindingCode::kNondeterministic, Severity::kDefect);
  const ReportedFinding warning = finding(FindingCode::kOutMissing, Severity::kWarning),
                        note = finding(FindingCode::kNondeterministic, Severity::kNote);
  expect(Verdict::kClean, ExitCode::kClean, {});
  EXPECT_EQ("ran", Name(VerdictOf(Report{}))) << "nothing was looked for";
  EXPECT_EQ("warning", Name(VerdictOf(Report{.findings = {warning}})));
  expect(Verdict::kProved, ExitCode::kClean, {.findings = {note}, .proved = true});
  expect(Verdict::kWarning, ExitCode::kClean, {.findings = {warning, note}, .proved = true});
  expect(Verdict::kClean, ExitCode::kClean,
         {.findings = {finding(FindingCode::kOutMissing, Severity::kWarning, "accepted")}});
  expect(Verdict::kDefect, ExitCode::kDefect, {.findings = {race}, .proved = true});
  expect(Verdict::kDefect, ExitCode::kDefect, {.findings = {differs, race}});
  expect(Verdict::kNondeterministic, ExitCode::kOutputsDiffer, {.findings = {differs, warning, note}});
  expect(Verdict::kDefect, ExitCode::kDefect, {.findings = {differs, warning}, .strict = true});
  expect(Verdict::kClean, ExitCode::kClean, {.findings = {note}, .strict = true});
  expect(Verdict::kClean, ExitCode::kClean,
         {.findings = {finding(FindingCode::kRaceWriteWrite, Severity::kDefect, "accepted")}, .strict = true});
  expect(Verdict::kNondeterministic, ExitCode::kOutputsDiffer,
         {.findings = {finding(FindingCode::kOutOfBounds, Severity::kDefect, "ok"), differs}});
  expect(Verdict::kClean, ExitCode::kBudget, {.proved = true, .schedules = 1, .interrupted = true});
  expect(Verdict::kRan, ExitCode::kBudget, {.interrupted = true});
  expect(Verdict::kDefect, ExitCode::kDefect, {.findings = {race}, .interrupted = true});
  expect(Verdict::kUnsupported, ExitCode::kUnsupported, ErrorReport(absl::UnimplementedError("m"), "k", ""));
  Report refused = ErrorReport(absl::UnimplementedError("m"), "k", "");
  refused.findings = {note};
  expect(Verdict::kUnsupported, ExitCode::kUnsupported, refused);
  refused.findings = {finding(FindingCode::kIllegal, Severity::kDefect, "")};
  expect(Verdict::kDefect, ExitCode::kDefect, refused);
  expect(Verdict::kUnsupported, ExitCode::kBudget, ErrorReport(absl::ResourceExhaustedError("m"), "k", ""));
  expect(Verdict::kUnsupported, ExitCode::kMalformed, ErrorReport(absl::InvalidArgumentError("m"), "k", ""));
  expect(Verdict::kUnsupported, ExitCode::kInternal, ErrorReport(absl::InternalError("m"), "k", ""));
}

TEST(SourceLines, LinesOfText) {
  EXPECT_EQ("a", LineOfText("a\nb\r\n\nc", 1));
  EXPECT_EQ("b", LineOfText("a\nb\r\n\nc", 2));
  EXPECT_EQ("", LineOfText("a\nb\r\n\nc", 3));
  EXPECT_EQ("c", LineOfText("a\nb\r\n\nc", 4));
  for (int line : {-1, 0, 5, 1 << 30}) EXPECT_EQ(std::nullopt, LineOfText("a\nb\r\n\nc\n", line)) << line;
  EXPECT_EQ(std::nullopt, LineOfText("", 1));
  SourceFiles files;
  EXPECT_EQ(std::nullopt, files.Line("/no/such/file", 1));
  EXPECT_EQ(std::nullopt, files.Line("/dev/zero", 1));
  EXPECT_EQ(std::nullopt, files.Line("/", 1));
}

TEST(SourceLines, Excerpts) {
  const auto show = [](std::string_view line, int column, std::size_t width = 40) {
    const Excerpt excerpt = MakeExcerpt(line, column, width);
    return excerpt.text + "|" + std::to_string(excerpt.caret);
  };
  EXPECT_EQ("  x = y|2", show("  x = y", 3));
  EXPECT_EQ(" x = y|1", show("\tx = y", 2));
  EXPECT_EQ("  x = y|2", show("  x = y  ", 0));
  EXPECT_EQ("  x = y|2", show("  x = y", 100));
  EXPECT_EQ("|0", show("", 1));
  EXPECT_EQ("|0", show("   ", 2));
  EXPECT_EQ("\xc3\xa4 = b|4", show("\xc3\xa4 = b", 6));  // columns count bytes, the caret counts characters
  const std::string wide = std::string(50, 'a') + "B" + std::string(50, 'c');
  EXPECT_EQ(std::string(40, 'a') + " ...|3", show(wide, 4));
  const std::string shown = show(wide, 51);
  EXPECT_EQ("... ", shown.substr(0, 4));
  EXPECT_EQ('B', shown[static_cast<std::size_t>(std::stoi(shown.substr(shown.find('|') + 1)))]) << shown;
}

}  // namespace
}  // namespace palladion::reports
