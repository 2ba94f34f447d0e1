// The driver of a check on small kernels: two orders, and what their difference is called.
#include "emu/check.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "emu/values.h"
#include "scheduler/policies/schedule.h"

namespace palladion::check {
namespace {

Report CheckOk(const std::string& text, const std::string& target, const CheckOptions& options = {}) {
  absl::StatusOr<PreparedKernel> kernel = PrepareText(text, {.kernel = "", .target = target, .path = ""});
  EXPECT_TRUE(kernel.ok()) << kernel.status();
  std::vector<Tensor> inputs;
  for (const OperandDescription& input : kernel->inputs())
    inputs.push_back(*TensorFromText(input.dtype, input.shape, "iota"));
  absl::StatusOr<Report> report = Check(*kernel, inputs, options);
  EXPECT_TRUE(report.ok()) << report.status();
  return report.ok() ? *report : Report{};
}

// Every program stores its number: into the element `at`.
std::string StoreNumber(const std::string& at, int elements = 4) {
  const std::string type = "i32[" + std::to_string(elements) + "]";
  return "pkir 1;\nkernel @k { grid [4]; out %o: " + type + ";\n body @b (%or: ref<default," + type +
         "> as \"o_ref\") {\n  %p = program_id{axis=0}() : i32[];\n  _ = swap(%or.at[" + at +
         "], %p) : i32[];\n  return; } }\n";
}

TEST(Check, TheLastWriterWins) {
  const Report report = CheckOk(StoreNumber("0"), "triton/h100");
  ASSERT_FALSE(report.findings.empty());
  const ReportedFinding& finding = report.findings.back();
  EXPECT_EQ("NONDET", Code(finding.code)) << finding.message;
  EXPECT_EQ("output 'o_ref'[0] is 3 in program order and 0 in reverse order; 1 of its elements differ",
            finding.message);
  ASSERT_TRUE(finding.first.has_value() && finding.second.has_value());
  EXPECT_EQ("program (3)", finding.first->agent);
  EXPECT_EQ("program (0)", finding.second->agent);
  EXPECT_EQ(5, finding.first->text_line);
}

// Programs that do not see each other run in the orders of the search too, not in program order again and again.
TEST(Check, ExhaustiveComparesTheOrdersOfProgramsThatDoNotInteract) {
  const Report stores = CheckOk(StoreNumber("0"), "triton/h100", {.exhaustive = true});
  const auto codes = [](const Report& report) {
    std::string text;
    for (const ReportedFinding& finding : report.findings) text += std::string(Code(finding.code)) + " ";
    return text;
  };
  EXPECT_NE(codes(stores).find("NONDET"), std::string::npos) << codes(stores);
  // (1 + 1e9) - 1e9 is 0 and (1e9 - 1e9) + 1 is 1 in f32.
  const Report sums = CheckOk(
      "pkir 1;\nkernel @k { grid [3]; in %y: f32[1]; out %o: f32[1] alias %y;\n"
      " body @b (%yr: ref<default,f32[1]>, %or: ref<default,f32[1]>) {\n  %p = program_id{axis=0}() : i32[];\n"
      "  cond(%p) { _ = atomic_rmw{op=add}(%or.at[0], 1.0:f32) : f32[]; return; }\n"
      "   { _ = atomic_rmw{op=add}(%or.at[0], 1e9:f32) : f32[]; return; }\n"
      "   { _ = atomic_rmw{op=add}(%or.at[0], -1e9:f32) : f32[]; return; };\n  return; } }\n",
      "triton/h100", {.exhaustive = true});
  EXPECT_EQ("NONDET ", codes(sums));
}

// Every program adds to one float, atomically, or stores to it: only the sum is the same up to rounding.
TEST(Check, RoundingOrderIsANote) {
  const std::string text =
      "pkir 1;\nkernel @k { grid [64]; in %x: f32[64]; in %y: f32[1]; out %o: f32[1] alias %y;\n"
      " body @b (%xr: ref<default,f32[64]>, %yr: ref<default,f32[1]>, %or: ref<default,f32[1]>) {\n"
      "  %p = program_id{axis=0}() : i32[];\n  %v = get(%xr.at[%p]) : f32[];\n"
      "  %z = CHANGE : f32[];\n"
      "  _ = OP : f32[];\n  return; } }\n";
  const auto with = [&](const std::string& change, const std::string& op) {
    std::string changed = text;
    changed.replace(changed.find("CHANGE"), 6, change);
    changed.replace(changed.find("OP"), 2, op);
    return CheckOk(changed, "triton/h100");
  };
  const auto nondet = [](const Report& report) {
    for (const ReportedFinding& finding : report.findings) {
      if (finding.code == FindingCode::kNondeterministic) return std::string(Name(finding.severity));
    }
    return std::string("none");
  };
  const std::string add = "atomic_rmw{op=\"add\"}(%or.at[0], %z)", store = "swap(%or.at[0], %z)";
  EXPECT_EQ("note", nondet(with("sin(%v)", add)));
  EXPECT_EQ("defect", nondet(with("sin(%v)", store)));
}

// Forwards and backwards the three sums have the same bits; another order has others.
TEST(Check, AtomicSumsOfFloatsAreNotProvedByTwoOrders) {
  const std::string text =
      "pkir 1;\nkernel @k { grid [3]; in %x: f32[3]; in %y: f32[1]; out %o: f32[1] alias %y;\n"
      " body @b (%xr: ref<default,f32[3]>, %yr: ref<default,f32[1]>, %or: ref<default,f32[1]>) {\n"
      "  %p = program_id{axis=0}() : i32[];\n  %v = get(%xr.at[%p]) : f32[];\n"
      "  _ = atomic_rmw{op=add}(%or.at[0], %v) : f32[];\n  return; } }\n";
  const absl::StatusOr<PreparedKernel> kernel = PrepareText(text, {.kernel = "", .target = "triton/h100", .path = ""});
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  const std::vector<Tensor> inputs = {*TensorFromText(DType::kF32, {3}, "[1e9, 1, -1e9]"),
                                      *TensorFromText(DType::kF32, {1}, "[0]")};
  const absl::StatusOr<Report> report = Check(*kernel, inputs);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(Verdict::kClean, report->verdict) << ToText(*report);
  EXPECT_NE(std::string::npos, report->argument.find("may round otherwise")) << report->argument;
}

TEST(Check, AVerdictAndItsArgumentAreMadeOfTheSameFacts) {
  const Report clean = CheckOk(StoreNumber("%p"), "triton/h100");
  EXPECT_EQ(Verdict::kProved, clean.verdict);
  ASSERT_EQ(6u, clean.facts.size());
  for (const ReportedFact& fact : clean.facts) EXPECT_TRUE(fact.shown) << fact.words;
  const Report unexamined = CheckOk(StoreNumber("%p"), "triton/h100", {.races = false, .definedness = false});
  EXPECT_EQ(Verdict::kClean, unexamined.verdict);
  EXPECT_EQ(
      "2 schedules tried: program order and its reverse; not proved: races were not looked for; definedness was not "
      "followed",
      unexamined.argument);
  const Report generic = CheckOk(StoreNumber("0", 1), "generic");
  EXPECT_EQ(Verdict::kDefect, generic.verdict);
  EXPECT_EQ("2 schedules tried: program order and its reverse", generic.argument);
}

// The seventh program runs into the budget of loops; that the first ones race is known by then.
TEST(Check, FindingsBeforeAnErrorAreReported) {
  const std::string text =
      "pkir 1;\nkernel @k { grid [8]; out %o: i32[4];\n body @b (%or: ref<default,i32[4]>) {\n"
      "  %p = program_id{axis=0}() : i32[];\n  %q = add(%p, 2:i32) : i32[];\n  _ = swap(%or.at[%q], %p) : i32[];\n"
      "  %end = while(init=%p) (%v: i32[]) { %go = eq(%v, 6:i32) : bool[]; return %go; } (%v: i32[]) {\n"
      "   return %v; } : i32[];\n  return; } }\n";
  CheckOptions options;
  options.SetBudget(1000);
  const Report report = CheckOk(text, "triton/h100", options);
  ASSERT_TRUE(report.error.has_value()) << ToText(report);
  EXPECT_EQ("budget", Name(report.error->kind));
  ASSERT_FALSE(report.findings.empty());
  EXPECT_EQ("OOB", Code(report.findings[0].code));
  EXPECT_EQ(Verdict::kDefect, report.verdict);
  EXPECT_EQ(ExitCode::kDefect, ExitCodeOf(report));
}

TEST(Check, ProgramsThatShareNothingAreClean) {
  const Report report = CheckOk(StoreNumber("%p"), "triton/h100");
  EXPECT_TRUE(report.findings.empty());
  EXPECT_EQ(2, report.schedules);
}

TEST(Check, ATpuGridKeepsItsOrder) {
  const Report report = CheckOk(StoreNumber("%p"), "mosaic_tpu/v5e", {.contracts = false});
  EXPECT_TRUE(report.findings.empty()) << report.findings[0].message;
  EXPECT_EQ(1, report.schedules);
}

TEST(Check, AnInterruptedCheckIsNoPassAndSaysWhatItKnows) {
  CheckOptions options;
  RunControl control;
  options.run.control = &control;
  Report report = CheckOk(StoreNumber("%p"), "triton/h100", options);
  EXPECT_FALSE(report.interrupted);
  EXPECT_EQ(2, control.counts().schedules);
  EXPECT_EQ(1, control.counts().schedules_done);
  options.interrupted = [] { return true; };
  report = CheckOk(StoreNumber("%p"), "triton/h100", options);
  EXPECT_TRUE(report.interrupted);
  EXPECT_EQ(1, report.schedules);
  EXPECT_EQ(ExitCode::kBudget, ExitCodeOf(report));
  EXPECT_EQ(Verdict::kClean, report.verdict);
  std::string outside = StoreNumber("%p");
  outside.replace(outside.find("grid [4]"), 8, "grid [5]");
  report = CheckOk(outside, "triton/h100", options);
  EXPECT_EQ(ExitCode::kDefect, ExitCodeOf(report));
}

// Each program takes a ticket and stores its number under it: the schedule decides which program comes first.
constexpr const char* kTickets =
    "pkir 1;\nkernel @tickets { backend triton; grid [4]; in %z: i32[1]; out %o: i32[1] alias %z; out %t: i32[4];\n"
    " body @b (%zr: ref<default,i32[1]>, %or: ref<default,i32[1]>, %tr: ref<default,i32[4]>) {\n"
    "  %p = program_id{axis=0}() : i32[];\n  %n = atomic_rmw{op=\"add\"}(%or.at[0], 1:i32) : i32[];\n"
    "  _ = swap(%tr.at[%n], %p) : i32[];\n  return; } }\n";

TEST(Check, ProgramsThatInteractAreRunUnderSeedsAndReplayed) {
  const Report report = CheckOk(kTickets, "", {.seeds = 16});
  EXPECT_EQ(16, report.schedules);
  EXPECT_EQ(Verdict::kNondeterministic, report.verdict);
  ASSERT_EQ(1u, report.findings.size());
  const ReportedFinding& finding = report.findings[0];
  EXPECT_NE(finding.first->agent, finding.second->agent) << "another program wrote it";
  EXPECT_EQ(0u, finding.replay.find("s2:moves:")) << "shrunk: " << finding.replay;
  const Report again = CheckOk(kTickets, "", {.replay = finding.replay});
  ASSERT_EQ(1u, again.findings.size());
  EXPECT_EQ(finding.message, again.findings[0].message);
  EXPECT_EQ(finding.replay, again.findings[0].replay);
}

// Also where the report's own schedule is shrunk to another.
TEST(Check, AReplayGivesTheOutputsOfItsSchedule) {
  absl::StatusOr<PreparedKernel> kernel = PrepareText(kTickets, {.kernel = "", .target = "", .path = ""});
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  const std::vector<Tensor> inputs = {*TensorFromText(DType::kI32, {1}, "zeros")};
  std::vector<Tensor> first, replayed;
  absl::StatusOr<Report> report = Check(*kernel, inputs, {.seeds = 16}, &first);
  ASSERT_TRUE(report.ok() && !report->findings.empty());
  std::string replay = report->findings[0].replay;
  replay = "s2:reverse:2" + replay.substr(replay.find(":tickets:"));
  report = Check(*kernel, inputs, {.replay = replay}, &replayed);
  ASSERT_TRUE(report.ok()) << report.status();
  const auto ticket = [](const std::vector<Tensor>& outputs, int i) {
    return reinterpret_cast<const std::int32_t*>(outputs[1].bytes())[i];
  };
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(i, ticket(first, i));
    EXPECT_EQ(3 - i, ticket(replayed, i));
  }
}

TEST(Check, TheReportDoesNotDependOnTheNumberOfThreads) {
  EXPECT_EQ(ToJson(CheckOk(kTickets, "", {.seeds = 40, .threads = 1})),
            ToJson(CheckOk(kTickets, "", {.seeds = 40, .threads = 3})));
}

std::int64_t TimesOf(const Report& report, CheckKind kind) {
  for (const CheckTally& tally : report.checks) {
    if (tally.kind == kind) return tally.times;
  }
  return 0;
}

// Two orders at the same time, or one after the other: of a grid that is worth a thread, clean or racy.
TEST(Check, TheReportDoesNotDependOnWhetherOrdersRunTogether) {
  for (const char* at : {"%p", "0"}) {
    std::string text = StoreNumber(at);
    text.replace(text.find("grid [4]"), 8, "grid [5000]");
    for (std::size_t i = text.find("i32[4]"); i != std::string::npos; i = text.find("i32[4]"))
      text.replace(i, 6, "i32[5000]");
    const Report together = CheckOk(text, "triton/h100", {.threads = 2});
    EXPECT_EQ(ToJson(CheckOk(text, "triton/h100", {.threads = 1})), ToJson(together));
    EXPECT_EQ(2, together.schedules);
    EXPECT_EQ(std::string(at) == "%p", together.findings.empty());
  }
}

// What every program stores depends on what it finds in `at`. The divisor is 0 only for a program that finds 1 there.
std::string DivideByWhatIsFound(const std::string& at) {
  return "pkir 1;\nkernel @k { grid [2]; in %x: i32[2]; in %z: i32[2]; out %o: i32[2] alias %z; out %q: i32[2];\n"
         " body @b (%xr: ref<default,i32[2]>, %zr: ref<default,i32[2]>, %or: ref<default,i32[2]>,\n"
         "          %qr: ref<default,i32[2]>) {\n"
         "  %p = program_id{axis=0}() : i32[];\n  %n = mul(%p, 2:i32) : i32[];\n  %a = get(%or.at[" +
         at +
         "]) : i32[];\n  %d = sub(%a, 2:i32) : i32[];\n  %v = div(1:i32, %d) : i32[];\n  _ = swap(%qr.at[%p], %v) : "
         "i32[];\n  _ = swap(%or.at[" +
         at + "], %n) : i32[];\n  return; } }\n";
}

// Program order: 0 is left where 1 looks. In reverse 2 is left where 0 looks, and only a watched run sees the division.
TEST(Check, WhereProgramsConflictTheReverseOrderIsWatched) {
  for (const int threads : {1, 2}) {
    const Report report = CheckOk(DivideByWhatIsFound("0"), "triton/h100", {.threads = threads});
    const auto divides = [](const ReportedFinding& finding) { return finding.code == FindingCode::kDivZero; };
    EXPECT_EQ(1, std::count_if(report.findings.begin(), report.findings.end(), divides));
  }
}

// Every watched run has its accesses counted.
TEST(Check, TheReverseOrderIsNotWatchedWhereOnlyItsOutputsCanDiffer) {
  const Report clean = CheckOk(DivideByWhatIsFound("%p"), "triton/h100");
  EXPECT_TRUE(clean.findings.empty()) << clean.findings[0].message;
  EXPECT_EQ(2, clean.schedules);
  EXPECT_EQ(6, TimesOf(clean, CheckKind::kBounds));
  EXPECT_EQ(12, TimesOf(CheckOk(DivideByWhatIsFound("%p"), "triton/h100", {.races = false}), CheckKind::kBounds));
  EXPECT_EQ(12, TimesOf(CheckOk(DivideByWhatIsFound("%p"), "triton/h100", {.definedness = false}), CheckKind::kBounds));
  std::string atomic = DivideByWhatIsFound("%p");
  atomic.replace(atomic.find("_ = swap(%or.at[%p], %n) : i32[];"), 33,
                 "_ = atomic_rmw{op=\"add\"}(%qr.at[%p], %n) : i32[];");
  EXPECT_EQ(12, TimesOf(CheckOk(atomic, "triton/h100"), CheckKind::kBounds)) << "sums may round otherwise";
  std::string missing = DivideByWhatIsFound("%p");
  missing.erase(missing.find("_ = swap(%qr.at[%p], %v) : i32[];"), 33);
  EXPECT_EQ(8, TimesOf(CheckOk(missing, "triton/h100"), CheckKind::kBounds)) << "an undefined output";
}

TEST(Check, AllSchedulesOfASmallKernel) {
  const Report report = CheckOk(kTickets, "", {.exhaustive = true});
  EXPECT_EQ(Verdict::kNondeterministic, report.verdict);
  ASSERT_EQ(1u, report.findings.size());
  EXPECT_GE(report.schedules, 24) << "as many as four programs have orders";
  const std::string& replay = report.findings[0].replay;
  ASSERT_EQ(0u, replay.find("s2:moves:")) << replay;
  const absl::StatusOr<scheduler::Schedule> schedule = scheduler::ParseSchedule(replay);
  ASSERT_TRUE(schedule.ok() && schedule->moves.has_value()) << replay;
  EXPECT_EQ(1u, schedule->moves->size()) << replay;
  const Report again = CheckOk(kTickets, "", {.replay = replay});
  ASSERT_EQ(1u, again.findings.size());
  EXPECT_EQ(report.findings[0].message, again.findings[0].message);
}

// Program 1 waits in a loop for what program 0 writes.
TEST(Check, ASearchEndsWhereAProgramWaitsInALoop) {
  const std::string text =
      "pkir 1;\nkernel @spin { backend triton; grid [2]; in %x: i32[1]; out %o: i32[1] alias %x;\n"
      " body @b (%xr: ref<default,i32[1]>, %or: ref<default,i32[1]>) {\n"
      "  %p = program_id{axis=0}() : i32[];\n  %first = eq(%p, 0:i32) : bool[];\n"
      "  cond(%first) { return; } { _ = atomic_rmw{op=or}(%or.at[0], 1:i32) : i32[]; return; };\n"
      "  %end = while(init=0:i32) (%v: i32[]) { %go = eq(%v, 0:i32) : bool[]; return %go; } (%v: i32[]) {\n"
      "   %seen = atomic_rmw{op=or}(%or.at[0], 0:i32) : i32[]; return %seen; } : i32[];\n  return; } }\n";
  const Report all = CheckOk(text, "", {.exhaustive = true, .step_budget = 50});
  EXPECT_EQ(Verdict::kProved, all.verdict) << ToText(all);
  EXPECT_EQ(0u, all.argument.find("all schedules were run")) << all.argument;
  EXPECT_EQ(Verdict::kClean, CheckOk(text, "", {.seeds = 16}).verdict);
}

// Neither has an atomic: a race, and no deadlock.
TEST(Check, AFlagWithoutAtomicsIsARace) {
  const std::string text =
      "pkir 1;\nkernel @flag { backend triton; grid [2]; in %x: i32[1]; out %o: i32[1] alias %x;\n"
      " body @b (%xr: ref<default,i32[1]>, %or: ref<default,i32[1]>) {\n"
      "  %p = program_id{axis=0}() : i32[];\n  %first = eq(%p, 0:i32) : bool[];\n"
      "  cond(%first) { _ = swap(%or.at[0], 1:i32) : i32[]; return; } {\n   while() () {\n"
      "    %seen = get(%or.at[0]) : i32[];\n    %go = eq(%seen, 0:i32) : bool[];\n    return %go; } () { return; };\n"
      "   return; };\n  return; } }\n";
  const Report report = CheckOk(text, "", {.seeds = 8});
  ASSERT_EQ(1u, report.findings.size()) << ToText(report);
  EXPECT_EQ("RACE_RW", Code(report.findings[0].code));
}

// Every program changes a word for ever.
TEST(Check, NoScheduleIsTriedAfterALivelock) {
  const std::string text =
      "pkir 1;\nkernel @spin { backend triton; grid [2]; in %x: i32[1]; out %o: i32[1] alias %x;\n"
      " body @b (%xr: ref<default,i32[1]>, %or: ref<default,i32[1]>) {\n  while() () {\n"
      "   %seen = atomic_rmw{op=xor}(%or.at[0], 1:i32) : i32[];\n   %go = ne(%seen, 2:i32) : bool[];\n"
      "   return %go; } () { return; };\n  return; } }\n";
  const Report report = CheckOk(text, "", {.seeds = 64, .step_budget = 5000});
  ASSERT_EQ(1u, report.findings.size()) << ToText(report);
  EXPECT_EQ("LIVELOCK", Code(report.findings[0].code));
  EXPECT_EQ(1, report.schedules);
  EXPECT_EQ("the check stopped after 1 schedule, at one that does not end", report.argument);
}

// No program writes %t, and what it holds decides whether there is anything to order between programs.
TEST(Check, ASearchFillsMemoryAsItsSchedulesDo) {
  const std::string text =
      "pkir 1;\nkernel @fill { backend triton; grid [2]; in %z: i32[1]; out %o: i32[1] alias %z; out %t: i32[4];\n"
      " body @b (%zr: ref<default,i32[1]>, %or: ref<default,i32[1]>, %tr: ref<default,i32[4]>) {\n"
      "  %left = get(%tr.at[0]) : i32[];\n  %zero = eq(%left, 0:i32) : bool[];\n"
      "  cond(%zero) { return; } { %n = atomic_rmw{op=add}(%or.at[0], 1:i32) : i32[]; return; };\n  return; } }\n";
  const Report zero =
      CheckOk(text, "", {.exhaustive = true, .fill = {.kind = Fill::Kind::kZero}, .definedness = false});
  EXPECT_EQ(Verdict::kClean, zero.verdict) << "what nobody wrote decides: " << ToText(zero);
  EXPECT_EQ(3, zero.schedules) << "program order, and both orders of two updates";
  EXPECT_EQ(2, CheckOk(text, "", {.exhaustive = true, .definedness = false}).schedules);
}

// Blocks of threads that only write, and the same row, run one after another; a search has them all at once.
TEST(Check, ASearchComparesTheOrdersOfBlocksThatDoNotInteract) {
  const std::string text =
      "pkir 1;\nkernel @k { backend mosaic_gpu; out %o: i32[128] space gmem;\n"
      " mesh gpu {grid=[2], grid_names=[\"b\"], cluster=[], cluster_names=[], threads=none, thread_name=none};\n"
      " body @k (%or: ref<gmem,i32[128]> as \"o\") {\n  %b = axis_index{axis=\"b\"}() : i32[];\n"
      "  %v = broadcast_in_dim{shape=[128], dims=[]}(%b) : i32[128];\n  _ = swap(%or, %v) : i32[128];\n"
      "  return; } }\n";
  const Report report = CheckOk(text, "mosaic_gpu/h100", {.exhaustive = true, .races = false});
  ASSERT_EQ(1u, report.findings.size()) << ToText(report);
  EXPECT_EQ("NONDET", Code(report.findings[0].code));
  const Report again = CheckOk(text, "mosaic_gpu/h100", {.replay = report.findings[0].replay, .races = false});
  ASSERT_EQ(1u, again.findings.size()) << ToText(again);
  EXPECT_EQ("NONDET", Code(again.findings[0].code));
}

TEST(Check, AReplayOfOtherInputsIsRefused) {
  absl::StatusOr<PreparedKernel> kernel = PrepareText(kTickets);
  const Report report = CheckOk(kTickets, "", {.seeds = 8});
  const std::vector<Tensor> other = {*TensorFromText(DType::kI32, {1}, "[7]")};
  const absl::Status status = Check(*kernel, other, {.replay = report.findings[0].replay}).status();
  EXPECT_EQ(absl::StatusCode::kInvalidArgument, status.code());
  EXPECT_NE(std::string::npos, std::string(status.message()).find("the inputs have other values")) << status;
}

TEST(Check, WithoutATargetAnotherResultIsNoAnswer) {
  const Report report = CheckOk(StoreNumber("0"), "generic");
  EXPECT_EQ(Verdict::kDefect, report.verdict);
  EXPECT_EQ(ExitCode::kDefect, ExitCodeOf(report));
  std::vector<std::string> notes;
  for (const ReportedFinding& finding : report.findings) {
    if (finding.code == FindingCode::kGridOrder) notes.push_back(finding.message);
  }
  ASSERT_EQ(1u, notes.size()) << "what is accessed and what comes out are one finding";
  EXPECT_NE(std::string::npos, notes[0].find("on mosaic_tpu the two run in this order, on triton and mosaic_gpu it is "
                                             "a race"))
      << notes[0];
  EXPECT_NE(std::string::npos, notes[0].find("; the results differ: output '")) << notes[0];
}

TEST(Check, NoSeedsIsNoPass) {
  absl::StatusOr<PreparedKernel> kernel = PrepareText(StoreNumber("%p"));
  EXPECT_EQ(absl::StatusCode::kInvalidArgument, Check(*kernel, {}, {.seeds = 0}).status().code());
}

}  // namespace
}  // namespace palladion::check
