// Which agents run, as observers see them: programs of a grid by the number of the walk, threads and warps by the id
// that their clocks have, each said to begin once.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "emu/kernel/prepared_kernel.h"
#include "emu/run/agents/agent_ordinals.h"
#include "emu/run/launch/execution_mode.h"
#include "emu/run/launch/run.h"
#include "emu/run/threads/thread_test_util.h"
#include "scheduler/policies/portfolio.h"

namespace palladion::threads {
namespace {

// And over the shoulder: which frame says that it is whose.
class Listener final : public run::Watcher {
 public:
  memory_model::EventSet wants() const override {
    return {memory_model::EventKind::kStep, memory_model::EventKind::kTurn};
  }
  void Running(const RunningAgent& now) override {
    if (now.begins) begun.push_back(now.id);
    index[now.id].assign(now.index.begin(), now.index.end());
  }
  void Before(const Step&, Frame& frame) override {
    if (frame.warp().has_value()) forked_by[frame.agent()] = frame.warp()->thread;
    seen[frame.agent()].assign(frame.grid_index().begin(), frame.grid_index().end());
  }
  std::vector<AgentId> begun;
  std::map<AgentId, std::vector<std::int64_t>> index, seen;
  std::map<AgentId, AgentId> forked_by;
};

agents::ExecutionMode PolicyMode(const PreparedKernel& kernel) {
  return launch::ExecutionModeOf(kernel.state().program(), {.purpose = launch::Purpose::kMoves});
}

void RunWith(Listener& listener, const std::string& text, const std::string& target, bool scheduled) {
  const absl::StatusOr<PreparedKernel> kernel = PrepareText(text, {.kernel = "", .target = target, .path = ""});
  ASSERT_TRUE(kernel.ok()) << kernel.status() << "\n" << text;
  std::vector<std::int32_t> x(128, 7), o(128);
  const std::vector<std::int64_t> shape = {128};
  const std::vector<ConstArray> inputs = {{DType::kI32, shape, reinterpret_cast<const std::byte*>(x.data())}};
  const std::vector<MutableArray> outputs = {{DType::kI32, shape, reinterpret_cast<std::byte*>(o.data())}};
  absl::Status status;
  if (scheduled) {
    const agents::LaunchOptions options{.mode = PolicyMode(*kernel), .observers = {&listener}, .races = true};
    status = launch::Run({kernel->state(), inputs, outputs}, options,
                         *scheduler::MakePolicy(scheduler::PolicyOfSeed(2), 2, {}))
                 .status();
  } else {
    status = launch::Run({kernel->state(), inputs, outputs}, {.observers = {&listener}}).status();
  }
  ASSERT_TRUE(status.ok()) << status;
}

std::vector<AgentId> Ids(std::int32_t first, std::int32_t count) {
  std::vector<AgentId> ids;
  for (std::int32_t i = 0; i < count; ++i) ids.push_back(AgentId{first + i});
  return ids;
}

const char* const kPrograms =
    "pkir 1;\nkernel @k {\n  in %x: i32[128] block (32) map (%i: i32[], %j: i32[]) { return %j; };\n  grid [2, 4];\n"
    "  out %o: i32[128] block (32) map (%i: i32[], %j: i32[]) { return %j; };\n"
    "  body @k (%xr: ref<default,i32[32]>, %or: ref<default,i32[32]>) {\n"
    "    %v = get(%xr) : i32[32];\n    _ = swap(%or, %v) : i32[32];\n    return;\n  }\n}\n";

TEST(RunningAgents, ProgramsHaveTheNumbersOfTheWalk) {
  for (const std::string target : {"generic", "mosaic_tpu/v5e"}) {
    for (const bool scheduled : {false, true}) {
      SCOPED_TRACE(Cat(target, scheduled ? ", scheduled" : ""));
      Listener listener;
      RunWith(listener, kPrograms, target, scheduled);
      std::vector<AgentId> begun = listener.begun;
      std::sort(begun.begin(), begun.end());  // in any order
      EXPECT_EQ(begun, Ids(0, 8));
      EXPECT_EQ(listener.seen[AgentId{6}], (std::vector<std::int64_t>{1, 2}));
      EXPECT_EQ(listener.index, listener.seen);
    }
  }
}

TEST(RunningAgents, ThreadsAndTheirWarps) {
  const std::string warps =
      "    core_map{mesh=warp, axes=[\"warp\"], sizes=[4]}() () {\n"
      "      %w = axis_index{axis=\"warp\"}() : i32[];\n      %v = get(%xr.at[%w]) : i32[];\n"
      "      _ = swap(%or.at[%w], %v) : i32[];\n      return;\n    };\n";
  Listener listener;
  RunWith(listener, ThreadKernel(Threads(2), EachDoes("wg", {warps, ""})), "mosaic_gpu/h100", true);
  EXPECT_EQ(listener.begun, Ids(0, 2)) << "warps go on as their thread";
  ASSERT_EQ(listener.forked_by.size(), 4u);
  for (const auto& [warp, thread] : listener.forked_by) {
    EXPECT_TRUE(thread == AgentId{0} && thread < warp);
    EXPECT_EQ(listener.index[warp], (std::vector<std::int64_t>{0}));
  }
}

// The kernel before this one is an agent too, and the first.
TEST(RunningAgents, BesideTheKernelBefore) {
  Listener listener;
  RunWith(listener, ThreadKernel(Threads(2), "    griddepcontrol_wait();\n    %v = get(%xr.at[0]) : i32[];\n"),
          "mosaic_gpu/h100", true);
  EXPECT_EQ(listener.begun, Ids(1, 2));
  EXPECT_EQ(listener.index[AgentId{2}], (std::vector<std::int64_t>{1}));
}

TEST(RunningAgents, OrdinalsCountEveryAgentThatBegins) {
  agents::AgentOrdinals ordinals;
  EXPECT_EQ(ordinals.Add(AgentId{4}), scheduler::AgentOrdinal{0});
  EXPECT_EQ(ordinals.Add(AgentId{1 << 28}), scheduler::AgentOrdinal{1});
  EXPECT_EQ(ordinals.Of(scheduler::AgentOrdinal{1}), AgentId{1 << 28});
  EXPECT_EQ(ordinals.Of(scheduler::AgentOrdinal{0}), AgentId{4});
}

}  // namespace
}  // namespace palladion::threads
