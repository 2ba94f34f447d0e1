// Races between programs that synchronise through atomics: what a lock, a counter and a flag order, and what only looks
// as if it were ordered.
#include "emu/check/clock_races.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "emu/check.h"
#include "emu/values.h"
#include "semantics/base/cat.h"

namespace palladion::check {
namespace {

// Four programs; %n, %m and %flag are words that start as 0.
std::string WordKernel(const std::string& body, int programs = 4) {
  return Cat("pkir 1;\nkernel @k {\n  grid [", programs, "];\n  in %a: i32[1];\n  in %b: i32[1];\n  in %c: i32[1];\n",
             "  out %d: i32[1] alias %a;\n  out %e: i32[1] alias %b;\n  out %f: i32[1] alias %c;\n",
             "  body @b (%ar: ref<default,i32[1]>, %br: ref<default,i32[1]>, %cr: ref<default,i32[1]>, ",
             "%n: ref<default,i32[1]> as \"n_ref\", %m: ref<default,i32[1]>, %flag: ref<default,i32[1]>) {\n",
             "    %p = program_id{axis=0}() : i32[];\n", body, "    return;\n  }\n}\n");
}

Report CheckWords(const std::string& body, CheckOptions options = {}, const std::string& target = "triton/h100",
                  int programs = 4) {
  absl::StatusOr<PreparedKernel> kernel =
      PrepareText(WordKernel(body, programs), {.kernel = "", .target = target, .path = ""});
  EXPECT_TRUE(kernel.ok()) << kernel.status();
  std::vector<Tensor> inputs;
  for (const OperandDescription& input : kernel->inputs())
    inputs.push_back(*TensorFromText(input.dtype, input.shape, "zeros"));
  absl::StatusOr<Report> report = Check(*kernel, inputs, options);
  EXPECT_TRUE(report.ok()) << report.status();
  return report.ok() ? *report : Report{};
}

// Of the findings about order: "RACE_WW defect, ...".
std::string Races(const Report& report) {
  std::string races;
  for (const ReportedFinding& finding : report.findings) {
    const bool order = Code(finding.code).starts_with("RACE") || finding.code == FindingCode::kSameValue ||
                       (finding.code == FindingCode::kGridOrder && finding.second.has_value() && !finding.fix.empty());
    if (order) Append(&races, races.empty() ? "" : ", ", Code(finding.code), " ", Name(finding.severity));
  }
  return races;
}

const std::string kUpdate =
    "    %v = get(%n.at[0]) : i32[];\n    %w = add(%v, 1:i32) : i32[];\n    _ = swap(%n.at[0], %w) : i32[];\n";
const std::string kTicket = "    %t = atomic_rmw{op=add}(%m.at[0], 1:i32) : i32[];\n";

std::string Lock(const std::string& word) {
  return "    while() () {\n      %old = atomic_cas(" + word +
         ".at[0], 0:i32, 1:i32) : i32[];\n      %busy = ne(%old, 0:i32) : bool[];\n      return %busy;\n    } () { "
         "return; };\n";
}
std::string Unlock(const std::string& word) {
  return "    _ = atomic_rmw{op=xchg}(" + word + ".at[0], 0:i32) : i32[];\n";
}

TEST(ClockRaces, ALockOrdersWhatItGuards) {
  const Report clean = CheckWords(Lock("%flag") + kUpdate + Unlock("%flag"), {.seeds = 32});
  EXPECT_EQ("", Races(clean));
  bool looked = false;
  for (const CheckTally& check : clean.checks)
    looked |= check.kind == CheckKind::kRacesBetweenPrograms && check.times > 0;
  EXPECT_TRUE(looked);
}

TEST(ClockRaces, ATicketOrdersOnlyWhatComesBeforeItAndAfterIt) {
  const Report report = CheckWords(kTicket + kUpdate);
  EXPECT_EQ("RACE_RW defect, RACE_WW defect", Races(report));
  for (const ReportedFinding& finding : report.findings) {
    if (finding.code != FindingCode::kRaceWriteWrite) continue;
    ASSERT_TRUE(finding.first.has_value() && finding.second.has_value());
    EXPECT_EQ("n_ref", finding.first->object);
    EXPECT_NE(finding.first->agent, finding.second->agent);
    EXPECT_EQ("proved", Name(finding.confidence));
    EXPECT_NE(std::string::npos, finding.why.find("the last synchronisation path from program")) << finding.why;
    EXPECT_NE("", finding.replay);
  }
}

TEST(ClockRaces, ALockThatIsLeftWithAPlainStore) {
  const Report report = CheckWords(Lock("%flag") + kUpdate + "    _ = swap(%flag.at[0], 0:i32) : i32[];\n");
  EXPECT_NE(std::string::npos, Races(report).find("RACE_WW defect")) << Races(report);
}

TEST(ClockRaces, TwoLocksForOneWord) {
  const std::string body = "    %first = eq(%p, 0:i32) : bool[];\n    cond(%first) {\n" + Lock("%m") + kUpdate +
                           Unlock("%m") + "      return; } {\n" + Lock("%flag") + kUpdate + Unlock("%flag") +
                           "      return; };\n";
  EXPECT_NE("", Races(CheckWords(body)));
}

// Program 1 writes, then sets the flag; the others wait for the flag, then read. EARLY reads before.
std::string Message(const std::string& poll, const std::string& early = "") {
  return "    %first = eq(%p, 1:i32) : bool[];\n    cond(%first) {\n" + early +
         "      while() () {\n        %seen = " + poll +
         " : i32[];\n        %not = eq(%seen, 0:i32) : bool[];\n        return %not;\n      } () { return; };\n"
         "      %got = get(%n.at[0]) : i32[];\n      _ = atomic_rmw{op=add}(%m.at[0], %got) : i32[];\n      return; } "
         "{\n"
         "      _ = swap(%n.at[0], 5:i32) : i32[];\n      _ = atomic_rmw{op=xchg}(%flag.at[0], 1:i32) : i32[];\n"
         "      return; };\n";
}

TEST(ClockRaces, AFlagOrdersAMessage) {
  const std::string atomic_poll = "atomic_rmw{op=add}(%flag.at[0], 0:i32)";
  EXPECT_EQ("", Races(CheckWords(Message(atomic_poll), {.seeds = 32}, "triton/h100", 2)));
  EXPECT_EQ("RACE_RW defect, RACE_RW defect", Races(CheckWords(Message("get(%flag.at[0])"), {}, "triton/h100", 2)))
      << "a plain read of the flag, and of what it announces";
  const std::string early =
      "      %soon = get(%n.at[0]) : i32[];\n      _ = atomic_rmw{op=add}(%m.at[0], %soon) : i32[];\n";
  EXPECT_EQ("RACE_RW defect", Races(CheckWords(Message(atomic_poll, early), {.seeds = 32}, "triton/h100", 2)));
}

TEST(ClockRaces, EveryProgramStoresTheSame) {
  EXPECT_EQ("SAME_VALUE note", Races(CheckWords(kTicket + "    _ = swap(%n.at[0], 7:i32) : i32[];\n")));
  EXPECT_EQ("RACE_WW defect", Races(CheckWords(kTicket + "    _ = swap(%n.at[0], %p) : i32[];\n")));
}

TEST(ClockRaces, WithoutABackendItIsNoAnswer) {
  const Report report = CheckWords(kTicket + kUpdate, {}, "generic");
  for (const ReportedFinding& finding : report.findings) EXPECT_EQ("defect", Name(finding.severity)) << finding.message;
  EXPECT_NE(std::string::npos, Races(report).find("GRID_ORDER defect"));
}

// Program 1 stores and raises the flag, in the order of FIRST and THEN; program 0 stores too if the flag is up.
std::string Announce(const std::string& first, const std::string& then) {
  return "    %zero = eq(%p, 0:i32) : bool[];\n    cond(%zero) {\n" + first + then +
         "      return; } {\n      %seen = atomic_rmw{op=add}(%flag.at[0], 0:i32) : i32[];\n"
         "      %on = eq(%seen, 1:i32) : bool[];\n"
         "      cond(%on) { return; } { _ = swap(%n.at[0], 6:i32) : i32[]; return; };\n      return; };\n";
}
const std::string kStore = "      _ = swap(%n.at[0], 5:i32) : i32[];\n";
const std::string kRaise = "      _ = atomic_rmw{op=xchg}(%flag.at[0], 1:i32) : i32[];\n";

TEST(ClockRaces, ARaceThatProgramOrderDoesNotHave) {
  const std::string body = Announce(kRaise, kStore);
  EXPECT_EQ("", Races(CheckWords(body, {.seeds = 1}, "triton/h100", 2)));
  const Report report = CheckWords(body, {.seeds = 32}, "triton/h100", 2);
  EXPECT_EQ("RACE_WW defect", Races(report));
  for (const ReportedFinding& finding : report.findings) {
    if (finding.code != FindingCode::kRaceWriteWrite) continue;
    EXPECT_EQ(0u, finding.replay.find("s2:moves:")) << finding.replay;
    EXPECT_LE(std::count(finding.replay.begin(), finding.replay.end(), '.'), 4) << "two moves: " << finding.replay;
    EXPECT_EQ("RACE_WW defect", Races(CheckWords(body, {.replay = finding.replay}, "triton/h100", 2)));
  }
}

TEST(ClockRaces, EveryScheduleIsLookedAtWhenAllRun) {
  EXPECT_EQ("", Races(CheckWords(Announce(kStore, kRaise), {.exhaustive = true}, "triton/h100", 2)));
  const std::string body = Announce(kRaise, kStore);
  const Report all = CheckWords(body, {.exhaustive = true}, "triton/h100", 2);
  EXPECT_EQ("RACE_WW defect", Races(all));
  for (const ReportedFinding& finding : all.findings) {
    if (finding.code != FindingCode::kRaceWriteWrite) continue;
    EXPECT_EQ("RACE_WW defect", Races(CheckWords(body, {.replay = finding.replay}, "triton/h100", 2)));
  }
}

}  // namespace
}  // namespace palladion::check
