// A pipeline over a ring of slots: one thread lets an engine fill them, the other reads them. docs/learn/cpp-kernels.md
// shows the code between the marks, and what is found without a wait.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "emu/front/cpp/kernel_test_util.h"

// [shown]
#include "emu/kernel.h"

namespace {

using palladion::KernelBarrier;
using palladion::KernelContext;
using palladion::KernelMemory;

constexpr std::int64_t kTiles = 6, kSlots = 2, kTileSize = 4;

// Both threads allocate the ring by the same names, so they get the same one.
struct Ring {
  explicit Ring(KernelContext& ctx)
      : slots(ctx.alloc("slots", palladion::DType::kF32, {kSlots, kTileSize})),
        full(ctx.make_barrier("full", /*arrivals=*/1, kSlots)),
        empty(ctx.make_barrier("empty", /*arrivals=*/1, kSlots)) {}
  KernelMemory slots;
  KernelBarrier full, empty;
};

void Produce(KernelContext& ctx) {
  const Ring ring(ctx);
  for (std::int64_t i = 0; i < kTiles; ++i) {
    const std::int64_t slot = i % kSlots;
    if (i >= kSlots) ctx.wait(ring.empty.at(slot));
    ctx.copy_async(ctx.array("x").at(i), ring.slots.at(slot), ring.full.at(slot));
  }
}

void Consume(KernelContext& ctx) {
  const Ring ring(ctx);
  for (std::int64_t i = 0; i < kTiles; ++i) {
    const std::int64_t slot = i % kSlots;
    ctx.wait(ring.full.at(slot));
    const palladion::Tensor tile = ctx.load(ring.slots.at(slot));
    ctx.commit_smem();  // the engine may overwrite what was read
    if (i + kSlots < kTiles) ctx.arrive(ring.empty.at(slot));
    float sum = 0;
    for (const float value : tile.span<float>()) sum += value;
    ctx.store(ctx.array("y").at(i), sum);
  }
}

const palladion::FunctionKernel kTileSums{.name = "tile_sums",
                                          .threads = {Produce, Consume},
                                          .inputs = {"x"},
                                          .outputs = {{"y", palladion::DType::kF32, {kTiles}}}};

absl::StatusOr<palladion::Report> CheckTileSums(const palladion::Tensor& x, std::vector<palladion::Tensor>* outputs) {
  return palladion::CheckKernel(kTileSums, {&x, 1}, {.seeds = 64}, outputs);
}

}  // namespace
// [/shown]

namespace palladion::cpp_kernels {
namespace {

constexpr std::string_view kFile = "emu/front/cpp/ring_pipeline_test.cc";

Tensor Tiles() {
  std::vector<float> values(kTiles * kTileSize);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  return ArrayOf<float>({kTiles, kTileSize}, values);
}

TEST(RingPipeline, IsCleanInEverySchedule) {
  std::vector<Tensor> outputs;
  const absl::StatusOr<Report> report = CheckTileSums(Tiles(), &outputs);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(Verdict::kClean, report->verdict) << Codes(*report);
  EXPECT_EQ("", Codes(*report));
  EXPECT_EQ(64, report->schedules);
  EXPECT_FALSE(report->proved);
  EXPECT_NE(std::string::npos, report->argument.find("not proved")) << report->argument;
  EXPECT_EQ((std::vector<float>{6, 22, 38, 54, 70, 86}), ValuesOf<float>(outputs[0]));
}

TEST(RingPipeline, RunsWithoutACheck) {
  const absl::StatusOr<RunResult> result = RunKernel(kTileSums, {{Tiles()}});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(Verdict::kRan, result->report.verdict);
  EXPECT_EQ(86, ValuesOf<float>(result->outputs[0])[5]);
}

// The one block of output that the page has.
std::string OutputOf(const std::string& page) {
  std::ifstream file(std::string(PALLADION_SOURCE_DIR) + "/" + page);
  std::stringstream text;
  text << file.rdbuf();
  const std::string all = text.str(), mark = "```output\n";
  const std::size_t from = all.find(mark) + mark.size();
  return all.substr(from, all.find("```", from) - from);
}

// The first finding of a report in text, without what goes with it; its files named from the root of the source.
std::string BeginningOf(std::string text) {
  text.resize(text.find("\n  symptoms") + 1);
  const std::string here = "emu/front/cpp/";  // before it, whatever path of the folder the compiler was given
  for (std::size_t at = text.find(here); at != std::string::npos; at = text.find(here, at + here.size())) {
    const std::size_t start = text.rfind(' ', at) + 1;
    text.erase(start, at - start);
    at = start;
  }
  return text;
}

int load_line = 0, wait_line = 0;

FunctionKernel With(const KernelFunction& produce, const KernelFunction& consume) {
  FunctionKernel kernel = kTileSums;
  kernel.threads = {produce, consume};
  return kernel;
}

void ConsumeWithoutWait(KernelContext& ctx) {
  const Ring ring(ctx);
  for (std::int64_t i = 0; i < kTiles; ++i) {
    const std::int64_t slot = i % kSlots;
    load_line = __LINE__ + 1;
    const Tensor tile = ctx.load(ring.slots.at(slot));
    ctx.commit_smem();
    if (i + kSlots < kTiles) ctx.arrive(ring.empty.at(slot));
    ctx.store(ctx.array("y").at(i), tile.span<float>()[0]);
  }
}

TEST(RingPipeline, AMissingWaitIsARace) {
  const FunctionKernel kernel = With(Produce, ConsumeWithoutWait);
  const Report report = Checked(kernel, {Tiles()}, {.seeds = 16});
  EXPECT_EQ(Verdict::kDefect, report.verdict);
  const ReportedFinding* const race = Find(report, "RACE_ASYNC");
  ASSERT_NE(nullptr, race) << Codes(report);
  ASSERT_TRUE(race->first.has_value() && race->second.has_value());
  const bool load_is_first = race->first->kind == AccessKind::kRead && race->first->agent.find("thread 1") == 0;
  EXPECT_TRUE(IsAt((load_is_first ? race->first : race->second)->frames, kFile, load_line)) << race->source;
  EXPECT_EQ("slots", race->second->object);
  EXPECT_NE(std::string::npos, race->fix.find("ctx.wait(full.at(")) << race->fix;
  ExpectReplays(kernel, {Tiles()}, *race);
  EXPECT_EQ(OutputOf("docs/learn/cpp-kernels.md"), BeginningOf(ToText(report)));
}

void ProduceThatWaitsAlways(KernelContext& ctx) {
  const Ring ring(ctx);
  for (std::int64_t i = 0; i < kTiles; ++i) {
    const std::int64_t slot = i % kSlots;
    wait_line = __LINE__ + 1;
    ctx.wait(ring.empty.at(slot));
    ctx.copy_async(ctx.array("x").at(i), ring.slots.at(slot), ring.full.at(slot));
  }
}

TEST(RingPipeline, AWaitForASlotThatIsNotGivenBackIsADeadlock) {
  const FunctionKernel kernel = With(ProduceThatWaitsAlways, Consume);
  const Report report = Checked(kernel, {Tiles()}, {.seeds = 8});
  EXPECT_EQ(Verdict::kDefect, report.verdict);
  const ReportedFinding* const deadlock = Find(report, "DEADLOCK");
  ASSERT_NE(nullptr, deadlock) << Codes(report);
  EXPECT_TRUE(IsAt(deadlock->frames, kFile, wait_line)) << deadlock->source;
  EXPECT_NE(std::string::npos, deadlock->message.find("empty[0]")) << deadlock->message;
  ExpectReplays(kernel, {Tiles()}, *deadlock);
}

}  // namespace
}  // namespace palladion::cpp_kernels
