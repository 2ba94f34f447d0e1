// The agent of each event of a run: copies of blocks, which are carried out where they are asked for, beside DMAs,
// which a schedule lets happen.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "emu/kernel/prepared_kernel.h"
#include "emu/run/events.h"
#include "emu/run/launch/run.h"
#include "scheduler/policies/portfolio.h"

namespace palladion::watch {
namespace {

// Two programs of one core: the block of x comes, and a DMA takes it to o.
constexpr const char* kText =
    "pkir 1;\nkernel @k {\n  backend mosaic_tpu;\n  grid [2];\n"
    "  in %x: f32[16,128] block (8, 128) map (%i: i32[]) { return %i, 0:i32; };\n"
    "  out %o: f32[16,128] space any;\n  scratch %sem: ref<semaphore,dma_sem[]>;\n"
    "  body @k (%xr: ref<vmem,f32[8,128]>, %or: ref<any,f32[16,128]>, %sr: ref<semaphore,dma_sem[]>) {\n"
    "    %p = program_id{axis=0}() : i32[];\n    %r = mul(%p, 8:i32) : i32[];\n"
    "    dma_start{device_id_type=mesh, priority=0, add=false}(src=%xr, dst=%or.at[%r +: 8, *], dst_sem=%sr, "
    "src_sem=none, device_id=none);\n"
    "    dma_wait{device_id_type=mesh, insert_dummy_device=false}(src=%xr, dst=%or.at[%r +: 8, *], dst_sem=%sr, "
    "src_sem=none, device_id=none);\n"
    "    return;\n  }\n}\n";

class Listener final : public run::Watcher {
 public:
  run::EventSet wants() const override {
    using enum run::EventKind;
    return {kAccess, kIssue, kHalf, kWait, kArrive};
  }
  void Issued(const Who& who, const AsyncRequest&) override {
    Say(who, "issued");
    (who.at_once ? blocks : dmas).push_back(who.operation);
  }
  void Box(const Who& who, AccessKind kind, const BoxAccess&, const memory_model::BoxReach&,
           const std::byte*) override {
    if (who.of_operation()) {
      EXPECT_EQ(kind == AccessKind::kRead ? Half::kRead : Half::kWrite, who.half);
    }
    Say(who, kind == AccessKind::kRead ? "reads" : "writes");
  }
  void HalfDone(const Who& who) override { Say(who, "done"); }
  void Awaited(const Who& who, const WaitTarget& target) override {
    if (target.kind == WaitTarget::Kind::kSemaphore) Say(who, "awaited");
  }

  std::map<AgentId, std::string> events;  // by operation; invalid: what the core does itself
  std::vector<AgentId> blocks, dmas;
  std::vector<AgentId> agents;

 private:
  void Say(const Who& who, const char* what) {
    std::string& text = events[who.operation];
    text += (text.empty() ? "" : " ");
    text += what;
    agents.push_back(who.agent);
  }
};

TEST(Who, AnOperationHasItsIdFromItsIssueToItsEnd) {
  const absl::StatusOr<PreparedKernel> kernel = PrepareText(kText, {.target = "mosaic_tpu/v5e"});
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  std::vector<float> x(16 * 128, 3), o(16 * 128);
  const std::vector<std::int64_t> shape = {16, 128};
  const ConstArray in{DType::kF32, shape, reinterpret_cast<const std::byte*>(x.data())};
  const MutableArray out{DType::kF32, shape, reinterpret_cast<std::byte*>(o.data())};
  for (const std::uint64_t seed : {0, 1, 2, 3}) {
    Listener listener;
    const agents::LaunchOptions options{.mode = agents::ExecutionMode::kThreads, .observers = {&listener}};
    const auto result = launch::Run({kernel->state(), {&in, 1}, {&out, 1}}, options,
                                    *scheduler::MakePolicy(scheduler::PolicyOfSeed(seed), seed, {}));
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(x, o);
    ASSERT_EQ(2u, listener.blocks.size());
    ASSERT_EQ(2u, listener.dmas.size());
    EXPECT_EQ(5u, listener.events.size()) << "four operations, and the core";
    for (const auto* operations : {&listener.blocks, &listener.dmas}) {
      for (const AgentId operation : *operations)
        EXPECT_EQ("issued reads done writes done", listener.events[operation]) << operation.value;
    }
    EXPECT_EQ("awaited awaited", listener.events[AgentId{}]);
    for (const AgentId agent : listener.agents) EXPECT_EQ(listener.agents.front(), agent) << "the core";
  }
}

}  // namespace
}  // namespace palladion::watch
