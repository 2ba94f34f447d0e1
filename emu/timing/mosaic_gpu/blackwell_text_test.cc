// The time of small Blackwell kernels of the conformance cases, worked out by hand.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "emu/timing/mosaic_gpu/kernels_test_util.h"
#include "emu/timing/time_kernel.h"

namespace palladion::timing::mosaic_gpu::test {
namespace {

using base::Timed;
using report::Timing;
using timeline::kNoSpan;
using timeline::Span;
using timeline::SpanKind;
using timeline::TimelineOptions;

std::string FileOf(const std::string& path) {
  std::ifstream file(PALLADION_SOURCE_DIR "/" + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string TextOfCase(const std::string& file, const std::string& name) {
  const std::string all = FileOf("conformance/cases/gpu/" + file), kernel = "--- kernel\n";
  const std::size_t begin = all.find(kernel, all.find("=== " + name + "\n")) + kernel.size();
  return all.substr(begin, all.find("--- inputs", begin) - begin);
}

double BusyAt(const Timing& timing, const std::string& op) {
  for (const report::LineTime& line : timing.lines) {
    if (line.op == op) return line.busy.value();
  }
  ADD_FAILURE() << "no time was spent at " << op;
  return 0;
}

TEST(BlackwellText, TensorMemoryIsMadeReadAndWritten) {
  const std::string text = TextOfCase("page_tmem.case", "page_tmem_round_trip");
  const Timing timing = RunOf(text, MachineNamed("b200")).timed.timing;
  constexpr double kBytes = 128 * 64 * 4;
  EXPECT_NEAR(BusyAt(timing, "async_load_tmem"), kBytes / 211, 0.01);
  EXPECT_NEAR(BusyAt(timing, "async_store_tmem"), kBytes / 400, 0.01);
  EXPECT_NEAR(BusyAt(timing, "run_scoped"), 253, 0.01);
}

// K = 64 of f16 are four products of N = 64.
TEST(BlackwellText, AProductTakesTheFormOfItsOperands) {
  const std::string text = TextOfCase("page_tcgen05.case", "page_tcgen05_left_in_tmem");
  const Timing timing = RunOf(text, MachineNamed("b200")).timed.timing;
  const double busy = timing.units[0].busy * 148 * timing.cycles.value();
  EXPECT_EQ(timing.units[0].unit, "tensor cores");
  EXPECT_NEAR(busy, 4 * 32, 0.1);  // A in tensor memory; in shared memory each takes 48
}

// A commit arrives at the barrier, when the products before it are done.
TEST(BlackwellText, AWaitForACommitIsAWaitForProducts) {
  const std::string text = TextOfCase("page_tcgen05.case", "page_tcgen05_left_in_tmem");
  const Timing timing = RunOf(text, MachineNamed("b200")).timed.timing;
  std::string reasons;
  for (const report::StallTime& stall : timing.stalls) reasons += stall.reason + "; ";
  EXPECT_NE(reasons.find("a matrix product; "), std::string::npos) << reasons;
  EXPECT_EQ(reasons.find("at a barrier"), std::string::npos) << reasons;
}

// Products accumulate there, and threads read it.
TEST(BlackwellText, TensorMemoryHasLanes) {
  const PreparedKernel kernel =
      Prepared(TextOfCase("page_tcgen05.case", "page_tcgen05_left_in_tmem"), "mosaic_gpu/b200");
  const std::vector<Tensor> inputs = InputsOf(kernel);
  const machines::Machine machine = MachineNamed("b200");
  const absl::StatusOr<Timed> timed = TimeKernel({kernel, inputs, machine, {}, TimelineOptions{}});
  ASSERT_TRUE(timed.ok()) << timed.status();
  int products = 0, accesses = 0;
  for (const Span& span : timed->timeline->spans) {
    if (timed->timeline->lanes[static_cast<std::size_t>(span.lane)].group != "tensor memory") continue;
    ++(span.kind == SpanKind::kMultiply ? products : accesses);
  }
  EXPECT_GT(products, 0);
  EXPECT_GT(accesses, 0);
}

// Each block of the cluster copies one half of the tile into both, so a wait may be ended by the other one's copy.
TEST(GpuText, WhatAnotherSmDidIsMarkedWhereItEndsAWait) {
  const PreparedKernel kernel = Prepared(TextOfCase("page_cluster.case", "page_cluster_multicast"), "mosaic_gpu/h100");
  const std::vector<Tensor> inputs = InputsOf(kernel);
  const machines::Machine machine = MachineNamed("h100");
  int marked = 0;
  for (const std::int64_t sm : {0, 1}) {
    const absl::StatusOr<Timed> timed = TimeKernel({kernel, inputs, machine, {}, TimelineOptions{.unit = sm}});
    ASSERT_TRUE(timed.ok()) << timed.status();
    for (const Span& span : timed->timeline->spans) {
      if (span.kind != SpanKind::kWait || span.ended_by == kNoSpan) continue;
      const Span& by = timed->timeline->spans[static_cast<std::size_t>(span.ended_by)];
      if (timed->timeline->lanes[static_cast<std::size_t>(by.lane)].name != "signals of other SMs") continue;
      ++marked;
      EXPECT_TRUE(by.what.ends_with(" of another SM")) << by.what;
      EXPECT_NEAR(by.end.value(), span.end.value(), 0.01);
    }
  }
  EXPECT_GT(marked, 0);
}

TEST(BlackwellText, ACommitIsThereUntilItArrives) {
  const PreparedKernel kernel =
      Prepared(TextOfCase("page_tcgen05.case", "page_tcgen05_left_in_tmem"), "mosaic_gpu/b200");
  const std::vector<Tensor> inputs = InputsOf(kernel);
  const machines::Machine machine = MachineNamed("b200");
  const absl::StatusOr<Timed> timed = TimeKernel({kernel, inputs, machine, {}, TimelineOptions{}});
  ASSERT_TRUE(timed.ok()) << timed.status();
  const std::vector<Span>& spans = timed->timeline->spans;
  int commits = 0;
  for (const Span& phase : spans) {
    if (phase.kind != SpanKind::kPhase || phase.ended_by == kNoSpan) continue;
    const Span& commit = spans[static_cast<std::size_t>(phase.ended_by)];
    if (timed->timeline->lanes[static_cast<std::size_t>(commit.lane)].name != "commits") continue;
    ++commits;
    EXPECT_NEAR(commit.end.value(), phase.end.value(), 0.01);
    ASSERT_NE(commit.ended_by, kNoSpan);
    const Span& product = spans[static_cast<std::size_t>(commit.ended_by)];
    EXPECT_EQ(product.kind, SpanKind::kMultiply);
    EXPECT_LE(product.end.value(), commit.end.value() + 0.01);
  }
  EXPECT_GT(commits, 0);
}

}  // namespace
}  // namespace palladion::timing::mosaic_gpu::test
