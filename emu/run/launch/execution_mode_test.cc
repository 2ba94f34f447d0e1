// Which execution mode a launch has, by purpose: of programs that interact, of such that do not, of threads, and of
// programs that wait for ever alone.
#include "emu/run/launch/execution_mode.h"

#include <gtest/gtest.h>

#include <string>

#include "emu/run/threads/thread_test_util.h"
#include "emu/testing/kernel_test_util.h"
#include "emu/testing/word_kernel_test_util.h"

namespace palladion::launch {
namespace {

constexpr ModeQuery kPlain, kSchedule{.purpose = Purpose::kSchedule}, kMoves{.purpose = Purpose::kMoves};

// What an atomic found in memory is stored, so the order of the programs can be seen.
const std::string kTicket =
    "    %t = atomic_rmw{op=add}(%n.at[0], 1:i32) : i32[];\n    _ = swap(%or.at[%t], %p) : i32[];\n";
const std::string kTake = Take("lock") + Give("lock");

TEST(ExecutionModeOf, ProgramsThatDoNotInteractNeedAPolicyForMovesAlone) {
  const TestKernel kernel(AddKernel());
  const Program& program = kernel.state().program();
  EXPECT_EQ(ExecutionModeOf(program, kPlain), ExecutionMode::kInOrder);
  EXPECT_EQ(ExecutionModeOf(program, kSchedule), ExecutionMode::kInOrder);
  EXPECT_EQ(ExecutionModeOf(program, kMoves), ExecutionMode::kPrograms);
}

TEST(ExecutionModeOf, APlainRunNeedsOneOrderWhereNoProgramWaits) {
  const TestKernel kernel(WordKernel(3, kTicket));
  const Program& program = kernel.state().program();
  EXPECT_EQ(ExecutionModeOf(program, kPlain), ExecutionMode::kInOrder);
  EXPECT_EQ(ExecutionModeOf(program, kSchedule), ExecutionMode::kPrograms);
  EXPECT_EQ(ExecutionModeOf(program, kMoves), ExecutionMode::kPrograms);
}

TEST(ExecutionModeOf, ProgramsThatMayWaitForEachOtherRunTogetherUnlessOneRunsAlone) {
  const TestKernel kernel(WordKernel(3, kTake));
  const Program& program = kernel.state().program();
  EXPECT_EQ(ExecutionModeOf(program, kPlain), ExecutionMode::kPrograms);
  EXPECT_EQ(ExecutionModeOf(program, {.one_program = true}), ExecutionMode::kInOrder);
  EXPECT_EQ(ExecutionModeOf(program, {.one_program = true, .stuck = true}), ExecutionMode::kInOrder);
}

TEST(ExecutionModeOf, AStuckProgramRunsBesideOthersUnlessObserversWatchOrThereAreNone) {
  const TestKernel parallel(AddKernel()), cores(AddKernel(), "mosaic_tpu/v5e");
  const Program& program = parallel.state().program();
  EXPECT_EQ(ExecutionModeOf(program, {.stuck = true}), ExecutionMode::kPrograms);
  EXPECT_EQ(ExecutionModeOf(program, {.watched = true, .stuck = true}), ExecutionMode::kInOrder);
  EXPECT_EQ(ExecutionModeOf(program, {.purpose = Purpose::kSchedule, .watched = true, .stuck = true}),
            ExecutionMode::kPrograms);
  Program sequential = program;
  sequential.dim_order.assign(sequential.dim_order.size(), DimOrder::kSequential);
  EXPECT_EQ(ExecutionModeOf(sequential, {.purpose = Purpose::kSchedule, .stuck = true}), ExecutionMode::kInOrder);
  EXPECT_TRUE(cores.state().program().grid_in_agent);
  EXPECT_EQ(ExecutionModeOf(cores.state().program(), {.stuck = true}), ExecutionMode::kInOrder);
}

TEST(ExecutionModeOf, ThreadsAreThreadsForAnyPurpose) {
  const TestKernel kernel(threads::ThreadKernel(threads::Threads(2), ""), "mosaic_gpu/h100");
  for (const ModeQuery& query : {kPlain, kSchedule, kMoves, ModeQuery{.one_program = true}})
    EXPECT_EQ(ExecutionModeOf(kernel.state().program(), query), ExecutionMode::kThreads);
}

}  // namespace
}  // namespace palladion::launch
