// Copies of blocks are requests: a machine whose engines are late carries them out, without a word in blocks.cc.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "emu/emulate.h"
#include "emu/run/agents/launch_state.h"
#include "memory_model/bytes/over_memory.h"
#include "memory_model/engine/async_engine.h"

namespace palladion::agents {
namespace {

// Keeps every copy until its agent waits for it; then the newest goes first, as nothing orders them.
class LateMachine final : public memory_model::OverMemory {
 public:
  explicit LateMachine(memory_model::Memory& memory)
      : memory_model::OverMemory(memory), queue_(engine_.AddQueue(memory_model::QueueOrder::kNone)) {}

  QueueId QueueOf(AsyncQueue queue) override { return queue == AsyncQueue::kBlocks ? queue_ : QueueId{}; }
  absl::Status Start(AsyncRequest&& request) override {
    EXPECT_EQ(queue_, request.queue);
    EXPECT_EQ(1u, request.sources.size());
    const absl::Status status = memory_model::AsyncEngine::Check(request);
    if (status.ok()) engine_.Start({started++}, {0}, std::move(request));
    most_at_once = std::max(most_at_once, engine_.Unfinished().size());
    return status;
  }
  absl::Status Wait(const WaitTarget& target, const Site&) override {
    EXPECT_EQ(WaitTarget::Kind::kQueue, target.kind);
    EXPECT_EQ(AsyncQueue::kBlocks, target.queue);
    ++waits;
    for (auto halves = engine_.Pending(); !halves.empty(); halves = engine_.Pending())
      engine_.Perform(halves.back(), &memory_);
    return absl::OkStatus();
  }
  // Blocks have one buffer here, of which a flush may still be reading.
  void Poison(BufferId buffer) override {
    for (const memory_model::PendingHalf& half : engine_.Pending()) {
      if (half.half == Half::kRead) engine_.Perform(half, &memory_);
    }
    memory_model::OverMemory::Poison(buffer);
  }

  std::int32_t started = 0;
  int waits = 0;
  std::size_t most_at_once = 0;

 private:
  memory_model::AsyncEngine engine_;
  QueueId queue_;
};

// o[i] = x[i] + y[i] in blocks of two; x's third block hangs over.
constexpr char kText[] =
    "pkir 1;\n"
    "kernel @k {\n"
    "  in %x: f32[5] block (2) map (%i: i32[]) { return %i; };\n"
    "  in %y: f32[6] block (2) map (%i: i32[]) { return %i; };\n"
    "  grid [3];\n"
    "  out %o: f32[6] block (2) map (%i: i32[]) { return %i; };\n"
    "  body @b (%xr: ref<default,f32[2]>, %yr: ref<default,f32[2]>, %or: ref<default,f32[2]>) {\n"
    "    %a = get(%xr) : f32[2];\n"
    "    %b = get(%yr) : f32[2];\n"
    "    %c = add(%a, %b) : f32[2];\n"
    "    _ = swap(%or, %c) : f32[2];\n"
    "    return;\n  }\n}\n";

TEST(BlockCopies, AnotherMachineMayCarryThemOutLater) {
  const absl::StatusOr<PreparedKernel> kernel =
      PrepareText(kText, {.kernel = "", .target = "mosaic_tpu/v5e", .path = ""});
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  const std::vector<float> x = {1, 2, 3, 4, 5}, y = {10, 20, 30, 40, 50, 60};
  std::vector<float> o(6, -1);
  const std::int64_t five[] = {5}, six[] = {6};
  const ConstArray inputs[] = {{DType::kF32, five, reinterpret_cast<const std::byte*>(x.data())},
                               {DType::kF32, six, reinterpret_cast<const std::byte*>(y.data())}};
  const MutableArray outputs[] = {{DType::kF32, six, reinterpret_cast<std::byte*>(o.data())}};
  const LaunchOptions options;
  LaunchState state(kernel->state(), options);
  ASSERT_TRUE(state.Bind(inputs, outputs).ok());
  LateMachine machine(state.memory());
  Frame& frame = state.frame();
  frame.Ask(machine);
  frame.BeginPrograms(0, 3);
  const absl::Status ran = frame.Run();
  ASSERT_TRUE(ran.ok()) << ran;
  EXPECT_EQ((std::vector<float>{11, 22, 33, 44, 55}), std::vector<float>(o.begin(), o.begin() + 5));
  EXPECT_EQ(9, machine.started);  // three of each operand
  EXPECT_EQ(4, machine.waits);    // before each program, and at the end
  EXPECT_EQ(3u, machine.most_at_once);
  EXPECT_TRUE(state.memory().findings().empty());
}

}  // namespace
}  // namespace palladion::agents
