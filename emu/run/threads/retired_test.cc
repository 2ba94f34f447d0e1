// What has ended is gone: after so many blocks as after a few, nothing of them is left in the machine and its model but
// what histories remember. No time is measured: a part that keeps something for each block, or looks at all of them,
// also counts them.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "emu/kernel/prepared_kernel.h"
#include "emu/run/events.h"
#include "emu/run/launch/run.h"
#include "emu/run/threads/thread_machine.h"
#include "emu/run/threads/thread_test_util.h"
#include "scheduler/policies/portfolio.h"

namespace palladion::threads {
namespace {

struct Left {
  ThreadMachine::Kept machine;
  memory_model::ConcurrencyModel::Kept model;
  int looks = 0;
};

class AtEnd final : public run::Watcher {
 public:
  memory_model::EventSet wants() const override { return {}; }
  void Ended(const ThreadMachine& machine) override { left = {machine.kept(), machine.model().kept(), left.looks + 1}; }
  Left left;
};

// `devices`: how many the text names; 0: it names none.
Left RunAndLook(const std::string& text, bool races, std::uint64_t seed, std::int64_t devices = 0) {
  const absl::StatusOr<PreparedKernel> kernel =
      PrepareText(text, {.kernel = "", .target = "mosaic_gpu/h100", .path = ""});
  EXPECT_TRUE(kernel.ok()) << kernel.status() << "\n" << text;
  if (!kernel.ok()) return {};
  std::vector<std::int64_t> shape = {128};
  if (devices > 0) shape.insert(shape.begin(), devices);
  const auto elements = static_cast<std::size_t>(NumElements(shape));
  std::vector<std::int32_t> x(elements, 7), o(elements);
  const std::vector<ConstArray> inputs = {{DType::kI32, shape, reinterpret_cast<const std::byte*>(x.data())}};
  const std::vector<MutableArray> outputs = {{DType::kI32, shape, reinterpret_cast<std::byte*>(o.data())}};
  AtEnd look;
  const agents::LaunchOptions options{.mode = agents::ExecutionMode::kThreads, .observers = {&look}, .races = races};
  const auto run = launch::Run({kernel->state(), inputs, outputs}, options,
                               *scheduler::MakePolicy(scheduler::PolicyOfSeed(seed), seed, {}));
  EXPECT_TRUE(run.ok()) << run.status();
  EXPECT_EQ(look.left.looks, 1);
  return look.left;
}

// `operands`: arrays of the kernel that the model knows; `readers`: threads of which their histories know.
void ExpectNothing(const Left& left, std::size_t operands = 1, std::size_t readers = 0) {
  EXPECT_EQ(left.machine.threads, 0u);
  EXPECT_EQ(left.machine.blocks, 0u);
  EXPECT_EQ(left.machine.clusters, 0u);
  EXPECT_EQ(left.machine.syncs, 0u);
  EXPECT_EQ(left.machine.queues, 0u);
  EXPECT_EQ(left.machine.collectives, 0u);
  EXPECT_EQ(left.machine.globals, 0u);
  EXPECT_EQ(left.machine.names, 0u);
  EXPECT_EQ(left.model.agents, 0u);
  EXPECT_EQ(left.model.barriers, 0u);
  EXPECT_EQ(left.model.semaphores, 0u);
  EXPECT_EQ(left.model.meetings, 0u);
  EXPECT_EQ(left.model.collectives, 0u);
  EXPECT_EQ(left.model.queues, 0u);
  EXPECT_EQ(left.model.arenas, 0u);
  EXPECT_LE(left.model.buffers, operands);
  EXPECT_LE(left.model.operations, 400u + readers);  // until the next round of forgetting
  EXPECT_LE(left.model.ended_agents, 400u + readers);
}

std::string Scope(bool stores) {
  return Cat(
      "    run_scoped{collective_axes=[]}() (%s: ref<smem,i32[128]> as \"s\", %b: ref<smem,barrier{arrivals=1}[1]> as "
      "\"b\") {\n"
      "      copy_gmem_to_smem{oob_mode=zeros}(src=%xr, dst=%s, barrier=%b.at[0]);\n"
      "      barrier_wait(barrier=%b.at[0]);\n",
      stores ? "      copy_smem_to_gmem{commit_group=true}(src=%s, dst=%or);\n"
               "      wait_smem_to_gmem{wait_read_only=false}(0:i32);\n"
             : "",
      "      return;\n    };\n");
}

// Blocks that all stored the same elements would race, and histories remember each.
TEST(Retired, Blocks) {
  for (const bool races : {false, true}) {
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      for (const int blocks : {4, 1000}) {
        SCOPED_TRACE(Cat(blocks, " blocks, seed ", seed));
        ExpectNothing(RunAndLook(ThreadKernel(Grid(blocks), Scope(!races)), races, seed));
      }
    }
  }
}

TEST(Retired, ScopesOfALoop) {
  const std::string loop = Cat("    _ = scan{length=1000, reverse=false}(init=0:i32) (%i: i32[]) {\n", Scope(true),
                               "      %n = add(%i, 1:i32) : i32[];\n      return %n;\n    } : i32[];\n");
  const std::string mesh = "grid=[], grid_names=[], cluster=[], cluster_names=[], threads=none, thread_name=none";
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    ExpectNothing(RunAndLook(ThreadKernel(mesh, loop), true, seed));
  }
}

TEST(Retired, Clusters) {
  const std::string body =
      "    run_scoped{collective_axes=[]}() (%all: ref<smem,cluster_barrier{axes=[\"c\"], arrivals=1, "
      "orders_tensor_core=false, leader_tracked=false}[1]> as \"all\", %s: ref<smem,i32[128]> as \"s\", "
      "%b: ref<smem,barrier{arrivals=1}[1]> as \"b\") {\n"
      "      copy_gmem_to_smem{collective_axes=[\"c\"], leader_tracked=none, oob_mode=zeros}"
      "(src=%xr, dst=%s, barrier=%b);\n"
      "      barrier_wait(barrier=%b);\n      barrier_arrive(barrier=%all);\n      barrier_wait(barrier=%all);\n"
      "      return;\n    };\n";
  for (const int blocks : {2, 500}) {
    const std::string mesh = Cat("grid=[", blocks,
                                 "], grid_names=[\"b\"], cluster=[2], cluster_names=[\"c\"], "
                                 "threads=none, thread_name=none");
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      ExpectNothing(RunAndLook(ThreadKernel(mesh, body), true, seed));
    }
  }
}

std::string OnDevices(std::int64_t devices, std::string kernel) {
  constexpr std::string_view kBackend = "backend mosaic_gpu;\n";
  return kernel.insert(kernel.find(kBackend) + kBackend.size(), Cat("  devices {d=", devices, "};\n"));
}

// Each block signals the one with its number on the next device, through a semaphore that exists before and after
// it; `ends`: what it does then.
std::string SignalNext(std::int64_t devices, const std::string& ends) {
  return Cat("    %d = axis_index{axis=\"d\"}() : i32[];\n    %up = add(%d, 1:i32) : i32[];\n    %next = rem(%up, ",
             devices,
             ":i32) : i32[];\n"
             "    run_scoped{collective_axes=[]}() (%sem: ref<gmem,sem[]> as \"sem\", %s: ref<smem,i32[128]> as \"s\", "
             "%b: ref<smem,barrier{arrivals=1}[1]> as \"b\") {\n"
             "      copy_gmem_to_smem{oob_mode=zeros}(src=%xr, dst=%s, barrier=%b.at[0]);\n"
             "      barrier_wait(barrier=%b.at[0]);\n"
             "      semaphore_signal{device_id_type=mesh}(ref=%sem, inc=1:i32, device_id=%next, core_index=none);\n",
             ends, "      return;\n    };\n");
}

TEST(Retired, BlocksOfDevices) {
  const std::vector<std::string> waits = {"      semaphore_wait(ref=%sem, value=1:i32, decrement=true);\n",
                                          "      semaphore_wait(ref=%sem, value=1:i32, decrement=false);\n"};
  for (const std::string& wait : waits) {
    for (const int blocks : {2, 500}) {
      const std::string text = OnDevices(3, ThreadKernel(Grid(blocks), SignalNext(3, wait)));
      for (std::uint64_t seed = 0; seed < 4; ++seed) {
        SCOPED_TRACE(Cat(blocks, " blocks, seed ", seed, wait));
        ExpectNothing(RunAndLook(text, true, seed, 3), 6, 3 * static_cast<std::size_t>(blocks));
      }
    }
  }
}

// The end of the kernel reports semaphores whose blocks ended long before.
TEST(Retired, WhatIsLeftInASemaphoreIsKept) {
  constexpr std::size_t kBlocks = 200, kDevices = 2;
  const Left left = RunAndLook(OnDevices(kDevices, ThreadKernel(Grid(kBlocks), SignalNext(kDevices, ""))), true, 1, 2);
  EXPECT_EQ(left.model.semaphores, kBlocks * kDevices);
  EXPECT_EQ(left.machine.blocks, 0u);
  EXPECT_EQ(left.model.barriers, 0u);
}

// And so it does of accesses by threads that went.
TEST(Retired, AnAccessOfAnEndedThreadOutlivesTheArray) {
  const std::string body =
      "    %d = axis_index{axis=\"d\"}() : i32[];\n    %other = sub(1:i32, %d) : i32[];\n"
      "    %v = get(%xr.peer(%other, mesh)) : i32[128];\n";
  const std::string text = OnDevices(2, ThreadKernel(Grid(300), body));
  const Report report = CheckThreads(text, {.seeds = 2, .threads = 1});
  EXPECT_EQ(CodesOf(report), (Codes{"OUT_MISSING", "PEER_LIFETIME"}));
}

}  // namespace
}  // namespace palladion::threads
