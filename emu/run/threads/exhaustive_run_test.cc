// How many schedules the search of every one runs for kernels over threads: as many as there are orders of operations
// that conflict, and no more.
#include <gtest/gtest.h>

#include "emu/run/threads/thread_test_util.h"

namespace palladion::threads {
namespace {

std::int64_t SchedulesOf(const std::string& text) {
  const Report report = CheckThreads(text, {.exhaustive = true, .contracts = false, .threads = 1});
  EXPECT_NE(report.argument.find("all schedules were run: "), std::string::npos) << report.argument;
  return report.schedules;
}

std::string Store(const std::string& where, int value) {
  return Cat("      _ = swap(", where, ", ", value, ":i32) : i32[];\n");
}

TEST(Exhaustive, ThreadsThatDoNothingHaveOneSchedule) {
  EXPECT_EQ(SchedulesOf(ThreadKernel(Threads(4), "")), SchedulesOf(ThreadKernel(Threads(1), "")));
  EXPECT_EQ(SchedulesOf(ThreadKernel(Grid(6), "")), SchedulesOf(ThreadKernel(Grid(1), "")));
}

TEST(Exhaustive, ElementsOfOneArrayAreApart) {
  const auto schedules = [](int of_second) {
    return SchedulesOf(
        ThreadKernel(Grid(2), EachDoes("b", {Store("%or.at[0]", 1), Store(Cat("%or.at[", of_second, "]"), 2)})));
  };
  EXPECT_EQ(schedules(0), schedules(1) + 1);
}

TEST(Exhaustive, ArrivalsOfAPhaseDifferByTheLastAlone) {
  const std::string all_arrive =
      "    run_scoped{collective_axes=[\"wg\"]}() (%b: ref<smem,barrier{arrivals=4}[1]> as \"b\") {\n"
      "    barrier_arrive(barrier=%b.at[0]);\n    barrier_wait(barrier=%b.at[0]);\n    return; };\n";
  // Which thread makes the barrier, and which comes last; and program order.
  EXPECT_EQ(SchedulesOf(ThreadKernel(Threads(4), all_arrive)), 4 * 4 + 1);
}

// The cores of a chip with one core begin one after another; they are tasks that may run in any order elsewhere.
TEST(Exhaustive, CoresThatBeginLaterAreSearched) {
  const std::string text =
      "pkir 1;\nkernel @k {\n  backend mosaic_tpu;\n  params {dimension_semantics=[\"parallel\"]};\n  grid [2];\n"
      "  out %o: i32[256] block (128) map (%i: i32[]) { return %i; };\n  scratch %sem: ref<semaphore,sem[]>;\n"
      "  body @k (%or: ref<default,i32[128]>, %sr: ref<semaphore,sem[]>) {\n"
      "    semaphore_signal(ref=%sr, inc=1:i32, device_id=none, core_index=none);\n"
      "    semaphore_wait(ref=%sr, value=1:i32, decrement=true);\n"
      "    %all = broadcast_in_dim{shape=[128], dims=[]}(1:i32) : i32[128];\n    _ = swap(%or, %all) : i32[128];\n"
      "    return;\n  }\n}\n";
  for (const char* const target : {"mosaic_tpu/v5e", "mosaic_tpu/v5p"}) {
    const absl::StatusOr<PreparedKernel> kernel = PrepareText(text, {.kernel = "", .target = target, .path = ""});
    ASSERT_TRUE(kernel.ok()) << kernel.status();
    const absl::StatusOr<Report> report = Check(*kernel, {}, {.exhaustive = true, .threads = 1});
    ASSERT_TRUE(report.ok()) << target << ": " << report.status();
    EXPECT_TRUE(report->proved) << target << ": " << report->argument;
    EXPECT_NE(report->argument.find("all schedules were run: "), std::string::npos) << target << report->argument;
  }
}

}  // namespace
}  // namespace palladion::threads
