// The fact `determinate-waits`, compared with every schedule: small kernels whose waits take the same credits in every
// schedule, and their twins whose waits do not. What is proved after one run must be what a search of all schedules and
// 256 seeds say; what is not to be proved is a kernel with a schedule that does something else, or one of those that
// are withheld on the safe side.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "emu/check.h"
#include "emu/check/waits_test_util.h"
#include "semantics/base/cat.h"
#include "semantics/base/sanitized_test_util.h"

namespace palladion::check {
namespace {

enum class Is {
  kProved,
  kWithheld,  // no schedule does anything else, and nothing worse than `clean` is said
  kWrong,     // some schedule does something else
};

struct Row {
  std::string_view name;
  std::string text;
  Is is = Is::kProved;
};

class DeterminateWaits : public testing::TestWithParam<Row> {};

TEST_P(DeterminateWaits, AreProvedAndNoOthersAre) {
  const Row& row = GetParam();
  const absl::StatusOr<PreparedKernel> kernel = PrepareText(row.text, {.kernel = "", .target = "", .path = ""});
  ASSERT_TRUE(kernel.ok()) << kernel.status() << "\n" << row.text;
  const std::vector<Tensor> inputs = InputsOf(row.text);
  const auto check = [&](const CheckOptions& options) {
    absl::StatusOr<Report> report = Check(*kernel, inputs, options);
    EXPECT_TRUE(report.ok()) << report.status();
    return report.ok() ? *std::move(report) : Report{};
  };
  const auto text_of = [](const Report& report) {
    std::string text = report.argument;
    for (const ReportedFinding& finding : report.findings)
      Append(&text, "\n", Code(finding.code), ": ", finding.message);
    return text;
  };
  const Report once = check({.seeds = 16});
  EXPECT_EQ(row.is == Is::kProved, once.verdict == Verdict::kProved) << text_of(once);
  // What only some schedules do may need all of them to be seen.
  const auto rounds = [&](int all) { return row.is == Is::kWrong ? all : Rounds(all); };
  const Report seeds = check({.seeds = rounds(256), .all_seeds = true});
  const int most = rounds(1500);
  int schedules = 0;
  const Report all = check({.exhaustive = true, .interrupted = [&] { return ++schedules > most; }});
  const auto clean = [](const Report& report) {
    return report.verdict == Verdict::kProved || report.verdict == Verdict::kClean;
  };
  if (row.is == Is::kWrong) {
    EXPECT_FALSE(clean(seeds) && clean(all)) << text_of(seeds) << "\n" << text_of(all);
    return;
  }
  EXPECT_TRUE(clean(seeds)) << text_of(seeds);
  EXPECT_TRUE(clean(all)) << text_of(all);
  EXPECT_EQ(row.is == Is::kProved, seeds.verdict == Verdict::kProved) << text_of(seeds);
}

// ---- a core of a TPU: %xr in HBM, %or and %br in VMEM, each of four rows; %dr four semaphores of DMAs, %sr regular
// ones

std::vector<Row> OneCore() {
  const auto two = Cat(Copy(0, "%dr.at[0]"), Copy(1, "%dr.at[0]"));
  return {
      {"one_copy", Core(Cat(Copy(0, "%dr.at[0]"), Await(0, "%dr.at[0]"), Out(0)))},
      {"a_semaphore_for_each_slot",
       Core(Cat(Copy(0, "%dr.at[0]"), Copy(1, "%dr.at[1]"), Await(0, "%dr.at[0]"), Out(0), Copy(2, "%dr.at[0]"),
                Await(1, "%dr.at[1]"), Out(1), Await(2, "%dr.at[0]"), Out(2)))},
      {"one_semaphore_read_between", Core(Cat(two, Await(0, "%dr.at[0]"), Out(0), Await(1, "%dr.at[0]"), Out(1))),
       Is::kWrong},
      {"one_semaphore_both_awaited", Core(Cat(two, Await(0, "%dr.at[0]"), Await(1, "%dr.at[0]"), Out(0), Out(1)))},
      {"one_semaphore_awaited_in_another_order",
       Core(Cat(two, Await(1, "%dr.at[0]"), Await(0, "%dr.at[0]"), Out(0), Out(1)))},
      {"one_wait_for_both", Core(Cat(two, AwaitRows(0, 2, "%dr.at[0]"), Out(0), Out(1)))},
      {"copies_of_two_sizes", Core(Cat(Copy(0, "%dr.at[0]"), CopyRows(1, 2, "%dr.at[0]"), Await(0, "%dr.at[0]"),
                                       AwaitRows(1, 2, "%dr.at[0]"), Out(0), Out(1), Out(2)))},
      {"a_copy_awaited_in_parts",
       Core(Cat(CopyRows(0, 2, "%dr.at[0]"), Await(0, "%dr.at[0]"), Await(1, "%dr.at[0]"), Out(0), Out(1)))},
      {"a_copy_read_when_half_awaited",
       Core(Cat(CopyRows(0, 2, "%dr.at[0]"), Await(0, "%dr.at[0]"), Out(0), Await(1, "%dr.at[0]"), Out(1))),
       Is::kWrong},
      {"a_store_elsewhere_between",
       Core(Cat(two, Await(0, "%dr.at[0]"), Set(3), Await(1, "%dr.at[0]"), Out(0), Out(1))), Is::kWithheld},
      {"two_semaphores_by_turns",
       Core(Cat(two, Copy(2, "%dr.at[1]"), Copy(3, "%dr.at[1]"), Await(0, "%dr.at[0]"), Await(2, "%dr.at[1]"),
                Await(1, "%dr.at[0]"), Await(3, "%dr.at[1]"), Out(0), Out(1), Out(2), Out(3)))},
      {"one_after_another", Core(Cat(Copy(0, "%dr.at[0]"), Await(0, "%dr.at[0]"), Out(0), Copy(1, "%dr.at[0]"),
                                     Await(1, "%dr.at[0]"), Out(1)))},
      {"a_third_before_the_wait", Core(Cat(two, Await(0, "%dr.at[0]"), Await(1, "%dr.at[0]"), Copy(2, "%dr.at[0]"),
                                           Out(0), Out(1), Await(2, "%dr.at[0]"), Out(2)))},
      {"two_of_three_awaited",
       Core(Cat(two, Copy(2, "%dr.at[0]"), AwaitRows(0, 2, "%dr.at[0]"), Out(0), Await(2, "%dr.at[0]"))), Is::kWrong},
      {"never_awaited", Core(Copy(0, "%dr.at[0]")), Is::kWrong},
      {"a_copy_counted", Core(Cat(Copy(0, "%sr.at[0]"), Copy(1, "%sr.at[0]"), Wait("%sr.at[0]", 2), Out(0), Out(1)))},
      {"one_of_two_counted",
       Core(Cat(Copy(0, "%sr.at[0]"), Copy(1, "%sr.at[0]"), Wait("%sr.at[0]", 1), Out(0), Wait("%sr.at[0]", 1))),
       Is::kWrong},
      {"a_copy_and_a_signal_counted",
       Core(Cat(Copy(0, "%sr.at[0]"), Signal("%sr.at[0]", 1), Wait("%sr.at[0]", 2), Out(0)))},
      {"a_signal_for_a_copy",
       Core(Cat(Copy(0, "%sr.at[0]"), Signal("%sr.at[0]", 1), Wait("%sr.at[0]", 1), Out(0), Wait("%sr.at[0]", 1))),
       Is::kWrong},
      {"a_signal_in_two_waits", Core(Cat(Signal("%sr.at[0]", 2), Wait("%sr.at[0]", 1), Set(0), Wait("%sr.at[0]", 1)))},
      {"two_signals_in_two_waits",
       Core(Cat(Signal("%sr.at[0]", 1), Signal("%sr.at[0]", 1), Wait("%sr.at[0]", 1), Set(0), Wait("%sr.at[0]", 1)))},
      {"a_count_that_is_read",
       Core(Cat(Signal("%sr.at[0]", 1), "%n = semaphore_read(ref=%sr.at[0]) : i32[];", Wait("%sr.at[0]", 1))),
       Is::kWithheld},
      {"two_cores", Cores(Cat(Copy(0, "%dr.at[0]"), Await(0, "%dr.at[0]"), SendOut("%p")))},
      {"two_cores_one_row", Cores(Cat(Copy(0, "%dr.at[0]"), Await(0, "%dr.at[0]"), SendOut("0"))), Is::kWrong},
  };
}

INSTANTIATE_TEST_SUITE_P(OneCore, DeterminateWaits, testing::ValuesIn(OneCore()),
                         [](const auto& row) { return std::string(row.param.name); });

// ---- devices in a ring: %left and %right, %barrier; copies go to %br of another device

std::vector<Row> Devices() {
  const std::string both = Cat(SignalAt("%barrier", "%left"), SignalAt("%barrier", "%right"), Wait("%barrier", 2));
  const std::string other_way = Cat(SignalAt("%barrier", "%right"), SignalAt("%barrier", "%left"), Wait("%barrier", 2));
  const auto step = [](int row) {
    return Cat(Send(row, 0, "%right", "%dr.at[1]"), AwaitSent(0, "%dr.at[0]"), Await(0, "%dr.at[1]"), OutFrom(row, 0));
  };
  const std::string two = Cat(Send(0, 0, "%left", "%dr.at[1]"), Send(1, 1, "%right", "%dr.at[1]"),
                              AwaitSent(0, "%dr.at[0]"), AwaitSent(1, "%dr.at[0]"));
  return {
      {"barrier_and_copy", Ring(2, Cat(SignalAt("%barrier", "%right"), Wait("%barrier", 1), step(0)))},
      {"no_barrier", Ring(2, step(0)), Is::kWrong},
      {"a_signal_before_the_other_has_entered",
       Ring(2, Cat(SignalAt("%sr.at[0]", "%right"), SignalAt("%barrier", "%right"), Wait("%barrier", 1),
                   Wait("%sr.at[0]", 1))),
       Is::kWrong},
      {"barrier_of_three", Ring(3, Cat(both, step(0)))},
      {"barrier_of_three_twice", Ring(3, Cat(both, both)), Is::kWithheld},
      {"barrier_of_three_after_a_step", Ring(3, Cat(both, step(0), both, step(1)))},
      {"barrier_of_three_half_done", Ring(3, Cat(SignalAt("%barrier", "%right"), Wait("%barrier", 1), step(0))),
       Is::kWrong},
      {"ring_with_capacity",
       Ring(3, Cat(both, step(0), SignalAt("%sr.at[0]", "%left"), Wait("%sr.at[0]", 1), step(1)))},
      {"ring_without_capacity", Ring(3, Cat(both, step(0), step(1))), Is::kWrong},
      {"capacity_of_two_given_at_once",
       Ring(2, Cat(SignalAt("%barrier", "%right"), Wait("%barrier", 1), SignalAt("%sr.at[0]", "%left", 2),
                   Wait("%sr.at[0]", 1), Send(0, 0, "%right", "%dr.at[1]"), Wait("%sr.at[0]", 1),
                   Send(1, 1, "%right", "%dr.at[2]"), AwaitSent(0, "%dr.at[0]"), AwaitSent(1, "%dr.at[0]"),
                   Await(0, "%dr.at[1]"), OutFrom(0, 0), Await(1, "%dr.at[2]"), OutFrom(1, 1)))},
      {"two_senders_both_awaited",
       Ring(3, Cat(both, two, Await(0, "%dr.at[1]"), Await(1, "%dr.at[1]"), OutFrom(0, 0), OutFrom(1, 1)))},
      {"two_senders_read_between",
       Ring(3, Cat(both, two, Await(0, "%dr.at[1]"), OutFrom(0, 0), Await(1, "%dr.at[1]"), OutFrom(1, 1))), Is::kWrong},
      {"two_copies_of_one_link",
       Ring(2, Cat(SignalAt("%barrier", "%right"), Wait("%barrier", 1), Send(0, 0, "%right", "%dr.at[1]"),
                   Send(1, 1, "%right", "%dr.at[1]"), Await(0, "%dr.at[1]"), OutFrom(0, 0), Await(1, "%dr.at[1]"),
                   OutFrom(1, 1), AwaitSent(0, "%dr.at[0]"), AwaitSent(1, "%dr.at[0]"))),
       Is::kWrong},
      {"sent_and_received_at_one",
       Ring(2, Cat(SignalAt("%barrier", "%right"), Wait("%barrier", 1), Send(0, 0, "%right", "%dr.at[0]"),
                   AwaitSent(0, "%dr.at[0]"), Await(0, "%dr.at[0]"), OutFrom(0, 0)))},
      {"sent_for_received",
       Ring(2, Cat(SignalAt("%barrier", "%right"), Wait("%barrier", 1), Send(0, 0, "%right", "%dr.at[0]"),
                   Await(0, "%dr.at[0]"), OutFrom(0, 0), AwaitSent(0, "%dr.at[0]"))),
       Is::kWrong},
      {"signals_to_both_in_one_order_twice", Ring(3, Cat(both, other_way)), Is::kWithheld},
  };
}

INSTANTIATE_TEST_SUITE_P(Devices, DeterminateWaits, testing::ValuesIn(Devices()),
                         [](const auto& row) { return std::string(row.param.name); });

// ---- blocks of a GPU: %s and %t, semaphores of the grid; each block has a branch

std::vector<Row> Blocks() {
  const auto wait = [](std::string_view semaphore, int value) { return Wait(semaphore, value); };
  const std::string look1 = WaitFor("%s", 1), look2 = WaitFor("%s", 2), look4 = WaitFor("%s", 4);
  const std::string s = Signal("%s", 1), t = Signal("%t", 1);
  return {
      {"a_flag", Grid({Cat(Put(0, 7), s), Cat(wait("%s", 1), Take(1, 0))})},
      {"no_flag", Grid({Cat(Put(0, 7)), Cat(Take(1, 0))}), Is::kWrong},
      {"two_waiters", Grid({Signal("%s", 2), Cat(wait("%s", 1), Put(1, 1)), Cat(wait("%s", 1), Put(2, 2))}),
       Is::kWithheld},
      {"two_waiters_in_order", Grid({Signal("%s", 2), Cat(wait("%s", 1), Put(1, 1), t),
                                     Cat(wait("%t", 1), Put(3, 3), wait("%s", 1), Take(2, 1))})},
      {"two_signallers_awaited",
       Grid({Cat(Put(0, 7), s), Cat(Put(1, 8), s), Cat(wait("%s", 2), Take(2, 0), Take(3, 1))})},
      {"one_of_two_signallers",
       Grid({Cat(Put(0, 7), s), Cat(Put(1, 8), s), Cat(wait("%s", 1), Take(2, 0), wait("%s", 1))}), Is::kWrong},
      {"a_stolen_credit", Grid({s, Cat(wait("%s", 1), s), wait("%s", 1)}), Is::kWrong},
      {"a_stolen_credit_between_waits_for_another",
       Grid({t, Cat(wait("%t", 1), t, s), Cat(wait("%s", 1), wait("%t", 1), wait("%s", 1)), s}), Is::kWrong},
      {"a_lock", Grid({Cat(s, wait("%s", 1), Take(0, 3), Put(3, 1), s), Cat(wait("%s", 1), Take(1, 3), Put(3, 2))}),
       Is::kWrong},
      {"waits_across", Grid({Cat(s, wait("%t", 1)), Cat(t, wait("%s", 1))})},
      {"waits_first", Grid({Cat(wait("%t", 1), s), Cat(wait("%s", 1), t)}), Is::kWrong},
      {"a_barrier_of_the_grid", Grid({Cat(Put(0, 7), s, look2, Take(0, 1)), Cat(Put(1, 8), s, look2, Take(1, 0))})},
      {"two_phases",
       Grid({Cat(s, look2, Put(0, 1), s, look4, Take(2, 1)), Cat(s, look2, Put(1, 2), s, look4, Take(3, 0))})},
      {"a_phase_too_early", Grid({Cat(Put(0, 7), s, look2, Take(2, 1)), Cat(s, Put(1, 8), s, look2, Take(3, 0))}),
       Is::kWrong},
      {"a_look_at_one_of_two", Grid({Cat(Put(0, 7), s), Cat(Put(1, 8), s), Cat(look1, Take(2, 0))}), Is::kWrong},
      {"looks_at_a_chain", Grid({Cat(Put(0, 7), s, Put(1, 8), s), Cat(look1, Take(2, 0)), Cat(look2, Take(3, 1))})},
      {"a_look_and_a_take", Grid({s, Cat(look1, wait("%s", 1))}), Is::kWithheld},
      {"credits_of_two_sizes",
       Grid({Cat(Put(0, 7), s), Cat(Put(1, 8), Signal("%s", 3)), Cat(wait("%s", 3), Take(2, 0)), ""}), Is::kWrong},
      {"more_than_it_waits_for", Grid({Signal("%s", 2), Cat(wait("%s", 1), Put(1, 1))}), Is::kWrong},
      {"there_and_back", Grid({Cat(Put(0, 7), s, wait("%t", 1), Take(2, 1), s),
                               Cat(wait("%s", 1), Take(1, 0), t, wait("%s", 1), Take(3, 2))})},
      {"there_and_back_too_early",
       Grid({Cat(Put(0, 7), s, s, wait("%t", 1)), Cat(wait("%s", 1), Take(1, 0), t, wait("%s", 1))})},
  };
}

INSTANTIATE_TEST_SUITE_P(Blocks, DeterminateWaits, testing::ValuesIn(Blocks()),
                         [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace palladion::check
