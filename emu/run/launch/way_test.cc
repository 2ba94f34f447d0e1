// Which way launches run: what each purpose makes of programs that interact, of such that do not, of threads, and of
// programs that wait for ever alone.
#include "emu/run/launch/way.h"

#include <gtest/gtest.h>

#include <string>

#include "emu/run/threads/thread_test_util.h"
#include "emu/testing/kernel_test_util.h"
#include "emu/testing/word_kernel_test_util.h"

namespace palladion::launch {
namespace {

constexpr WayAsked kPlain, kSchedule{.purpose = Purpose::kSchedule}, kMoves{.purpose = Purpose::kMoves};

// What an atomic found in memory is stored, so the order of the programs can be seen.
const std::string kTicket =
    "    %t = atomic_rmw{op=add}(%n.at[0], 1:i32) : i32[];\n    _ = swap(%or.at[%t], %p) : i32[];\n";
const std::string kTake = Take("lock") + Give("lock");

TEST(WayOf, ProgramsThatDoNotInteractNeedAPolicyForMovesAlone) {
  const TestKernel kernel(AddKernel());
  const Program& program = kernel.state().program();
  EXPECT_EQ(WayOf(program, kPlain), Way::kInOrder);
  EXPECT_EQ(WayOf(program, kSchedule), Way::kInOrder);
  EXPECT_EQ(WayOf(program, kMoves), Way::kPrograms);
}

TEST(WayOf, APlainRunNeedsOneOrderWhereNobodyWaits) {
  const TestKernel kernel(WordKernel(3, kTicket));
  const Program& program = kernel.state().program();
  EXPECT_EQ(WayOf(program, kPlain), Way::kInOrder);
  EXPECT_EQ(WayOf(program, kSchedule), Way::kPrograms);
  EXPECT_EQ(WayOf(program, kMoves), Way::kPrograms);
}

TEST(WayOf, ProgramsThatMayWaitForEachOtherRunTogetherUnlessOneRunsAlone) {
  const TestKernel kernel(WordKernel(3, kTake));
  const Program& program = kernel.state().program();
  EXPECT_EQ(WayOf(program, kPlain), Way::kPrograms);
  EXPECT_EQ(WayOf(program, {.one_program = true}), Way::kInOrder);
  EXPECT_EQ(WayOf(program, {.one_program = true, .stuck = true}), Way::kInOrder);
}

TEST(WayOf, WhoIsStuckAloneIsTriedBesideOthersUnlessSomebodyWatchedOrNobodyRunsBeside) {
  const TestKernel parallel(AddKernel()), cores(AddKernel(), "mosaic_tpu/v5e");
  const Program& program = parallel.state().program();
  EXPECT_EQ(WayOf(program, {.stuck = true}), Way::kPrograms);
  EXPECT_EQ(WayOf(program, {.watched = true, .stuck = true}), Way::kInOrder);
  EXPECT_EQ(WayOf(program, {.purpose = Purpose::kSchedule, .watched = true, .stuck = true}), Way::kPrograms);
  Program sequential = program;
  sequential.dim_order.assign(sequential.dim_order.size(), DimOrder::kSequential);
  EXPECT_EQ(WayOf(sequential, {.purpose = Purpose::kSchedule, .stuck = true}), Way::kInOrder);
  EXPECT_TRUE(cores.state().program().grid_in_agent);
  EXPECT_EQ(WayOf(cores.state().program(), {.stuck = true}), Way::kInOrder);
}

TEST(WayOf, ThreadsAreThreadsForAnyPurpose) {
  const TestKernel kernel(threads::ThreadKernel(threads::Threads(2), ""), "mosaic_gpu/h100");
  for (const WayAsked& asked : {kPlain, kSchedule, kMoves, WayAsked{.one_program = true}})
    EXPECT_EQ(WayOf(kernel.state().program(), asked), Way::kThreads);
}

}  // namespace
}  // namespace palladion::launch
