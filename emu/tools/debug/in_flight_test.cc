// Two operations of one line that are in flight together, of which the later one lands first: what watches the run
// distinguishes them.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "emu/run/launch/run.h"
#include "emu/run/watch/trap.h"
#include "emu/tools/debug/provenance.h"
#include "emu/tools/debug/run_stats.h"
#include "emu/tools/debug/trace_recorder.h"
#include "emu/values.h"
#include "scheduler/policies/policies.h"

namespace palladion::debug {
namespace {

// Engines come when no other agent can go: they read in the order of issue, and write in the other one.
class LastLandsFirst final : public scheduler::Policy {
 public:
  const scheduler::Candidate& Choose(const scheduler::Choice& choice) override {
    using scheduler::Candidates;
    const Candidates others = choice.candidates.Only(Candidates::Who::kOthers);
    if (!others.empty()) return others.front();
    const Candidates engines = choice.candidates.Only(Candidates::Who::kEngines);
    for (const scheduler::Candidate& engine : engines) {
      if (read_.insert(engine.id.value).second) return engine;
    }
    return engines.back();
  }

 private:
  std::set<std::int32_t> read_;
};

// Iteration i copies half i of x to half i of o; no wait comes before both are on their way.
constexpr const char* kTwoCopies =
    "pkir 1;\nkernel @k {\n  backend mosaic_tpu;\n  grid [];\n"
    "  in %x: f32[16,128] space any;\n  out %o: f32[16,128] space any;\n"
    "  scratch %sem: ref<semaphore,dma_sem[2]>;\n"
    "  body @k (%xr: ref<any,f32[16,128]> as \"x\", %or: ref<any,f32[16,128]> as \"o\", "
    "%sr: ref<semaphore,dma_sem[2]> as \"sem\") {\n"
    "    _ = scan{length=2, reverse=false, linear=[], unroll=1}(init=0:i32) (%i: i32[]) {\n"
    "      %r = mul(%i, 8:i32) : i32[];\n"
    "      dma_start{device_id_type=mesh, priority=0, add=false}(src=%xr.at[%r +: 8, *], dst=%or.at[%r +: 8, *], "
    "dst_sem=%sr.at[%i], src_sem=none, device_id=none);\n"
    "      %n = add(%i, 1:i32) : i32[];\n      return %n;\n    } : i32[];\n"
    "    dma_wait{device_id_type=mesh, insert_dummy_device=false}(src=%xr.at[0 +: 8, *], dst=%or.at[0 +: 8, *], "
    "dst_sem=%sr.at[0], src_sem=none, device_id=none);\n"
    "    dma_wait{device_id_type=mesh, insert_dummy_device=false}(src=%xr.at[8 +: 8, *], dst=%or.at[8 +: 8, *], "
    "dst_sem=%sr.at[1], src_sem=none, device_id=none);\n"
    "    return;\n  }\n}\n";

// Each of two threads multiplies its half of x, in registers, with y.
constexpr const char* kTwoProducts =
    "pkir 1;\nkernel @k {\n  backend mosaic_gpu;\n"
    "  in %x: f16[128,16] space gmem;\n  in %y: f16[8,16] space gmem;\n  out %o: f32[128,8] space gmem;\n"
    "  mesh gpu {grid=[], grid_names=[], cluster=[], cluster_names=[], threads=2, thread_name=\"wg\"};\n"
    "  body @k (%xr: ref<gmem,f16[128,16]> as \"x_ref\", %yr: ref<gmem,f16[8,16]> as \"y_ref\", "
    "%or: ref<gmem,f32[128,8]> as \"o_ref\") {\n"
    "    run_scoped{collective_axes=[\"wg\"]}() (%b: ref<smem,f16[2,1,1,8,16]> as \"b\", "
    "%l: ref<smem,barrier{arrivals=1}[2]> as \"loaded\") {\n"
    "      %wg = axis_index{axis=\"wg\"}() : i32[];\n"
    "      %r = mul(%wg, 64:i32) : i32[];\n"
    "      copy_gmem_to_smem(src=%yr, dst=%b.at[%wg, *, *, *, *].unswizzle(32).untile[8,16], barrier=%l.at[%wg]);\n"
    "      barrier_wait(barrier=%l.at[%wg]);\n"
    "      %a = get(%xr.at[%r +: 64, *]) : f16[64,16];\n"
    "      %v = run_scoped{collective_axes=[]}() (%acc: ref<regs,f32[64,8]> as \"acc\") {\n"
    "        wgmma_ref(acc=%acc, a=%a, b=%b.at[%wg, *, *, *, *].unswizzle(32).untile[8,16].transpose[1,0]);\n"
    "        %d = wgmma_accumulator_deref{wait_n=0}(%acc) : f32[64,8];\n"
    "        return %d;\n      } : f32[64,8];\n"
    "      _ = swap(%or.at[%r +: 64, *], %v) : f32[64,8];\n"
    "      return;\n    };\n    return;\n  }\n}\n";

class InFlight : public testing::Test {
 protected:
  void Prepare(const char* text, const std::string& target) {
    absl::StatusOr<PreparedKernel> prepared = PrepareText(text, {.target = target, .observable = true});
    ASSERT_TRUE(prepared.ok()) << prepared.status();
    kernel_.emplace(*std::move(prepared));
  }

  // Under that policy, or in program order.
  void RunWith(run::Watcher* observer, std::vector<Tensor> inputs, bool last_lands_first = true) {
    std::vector<ConstArray> in;
    for (const Tensor& input : inputs) in.push_back({input.dtype(), input.shape(), input.bytes()});
    const OperandDescription& declared = kernel_->outputs()[0];
    Tensor output(declared.dtype, declared.shape);
    const MutableArray out{output.dtype(), output.shape(), output.bytes()};
    const agents::LaunchOptions options{.mode = agents::ExecutionMode::kThreads, .observers = {observer}};
    LastLandsFirst last;
    const std::unique_ptr<scheduler::Policy> in_order = scheduler::MakeProgramOrder();
    const absl::StatusOr<agents::Ran> result =
        launch::Run({kernel_->state(), in, {&out, 1}}, options,
                    last_lands_first ? static_cast<scheduler::Policy&>(last) : *in_order);
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(scheduler::Outcome::kFinished, result->run.outcome);
  }

  static Tensor Copied() { return *TensorFromText(DType::kF32, {16, 128}, "iota"); }

  std::optional<PreparedKernel> kernel_;
};

TEST_F(InFlight, WhyKnowsWhichCopyWroteWhat) {
  Prepare(kTwoCopies, "mosaic_tpu/v5e");
  Provenance provenance(kernel_->state(), std::size_t{1} << 20, RecordId{});
  RunWith(&provenance, {Copied()});
  std::vector<std::int64_t> landed;
  for (const RecordedAccess& write : provenance.accesses()) {
    if (write.kind != RecordedAccess::Kind::kEngine) continue;
    const std::int64_t row = write.box.start[0];
    landed.push_back(row);
    ASSERT_TRUE(write.program.valid());
    const ProvenanceNode& node =
        provenance.programs()[write.program.index()].nodes[static_cast<std::size_t>(write.node)];
    EXPECT_EQ(row == 0 ? "0" : "1", node.iterations);
    ASSERT_EQ(1u, write.sources.size());
    EXPECT_EQ(row, provenance.accesses()[static_cast<std::size_t>(write.sources[0])].box.start[0]);
  }
  EXPECT_EQ((std::vector<std::int64_t>{8, 0}), landed);
}

TEST_F(InFlight, TracesJoinTheHalvesOfEach) {
  Prepare(kTwoCopies, "mosaic_tpu/v5e");
  TraceRecorder trace(kernel_->state(), {});
  RunWith(&trace, {Copied()});
  const auto event_of = [&](const std::string& what) {
    const auto at = std::find_if(trace.events().begin(), trace.events().end(),
                                 [&](const TraceEvent& event) { return event.what == what; });
    return at == trace.events().end() ? std::int64_t{-1} : at - trace.events().begin();
  };
  const std::int64_t reads[] = {event_of("read x[0:8, 0:128]"), event_of("read x[8:16, 0:128]")};
  const std::int64_t writes[] = {event_of("write o[0:8, 0:128]"), event_of("write o[8:16, 0:128]")};
  EXPECT_LT(reads[0], reads[1]);
  EXPECT_LT(writes[1], writes[0]);
  const auto joined = [&](std::int64_t from, std::int64_t to) {
    return std::count_if(trace.flows().begin(), trace.flows().end(),
                         [&](const TraceFlow& flow) { return flow.from == from && flow.to == to; });
  };
  for (const int i : {0, 1}) {
    ASSERT_GE(reads[i], 0);
    ASSERT_GE(writes[i], 0);
    EXPECT_EQ(1, joined(reads[i], writes[i])) << i;
    EXPECT_EQ(0, joined(reads[i], writes[1 - i])) << i;
  }
}

TEST_F(InFlight, StatsDoNotDependOnWhichLandsFirst) {
  Prepare(kTwoCopies, "mosaic_tpu/v5e");
  RunStats stats(kernel_->state()), in_order(kernel_->state());
  RunWith(&stats, {Copied()});
  RunWith(&in_order, {Copied()}, /*last_lands_first=*/false);
  EXPECT_EQ(in_order.Text(), stats.Text());
  constexpr std::int64_t kBytes = 16 * 128 * 4;
  EXPECT_EQ(kBytes, stats.operands()[0].bytes_read);
  EXPECT_EQ(0, stats.operands()[0].bytes_written);
  EXPECT_EQ(kBytes, stats.operands()[1].bytes_written);
}

// Thread 0 multiplies infinity with 0, thread 1 a NaN that was there before: only the former's is born.
TEST_F(InFlight, TrapNamesTheProductThatMakesTheNaN) {
  Prepare(kTwoProducts, "mosaic_gpu/h100");
  Tensor x = *TensorFromText(DType::kF16, {128, 16}, "full(inf)");
  const Tensor nan = *TensorFromText(DType::kF16, {64, 16}, "full(nan)");
  std::copy(nan.bytes(), nan.bytes() + 64 * 16 * 2, x.bytes() + 64 * 16 * 2);
  watch::Trap trap(kernel_->state(), watch::TrapKind::kNaN);
  RunWith(&trap, {std::move(x), *TensorFromText(DType::kF16, {8, 16}, "zeros")});
  ASSERT_TRUE(trap.hit().has_value()) << trap.Text();
  EXPECT_EQ("thread 0", trap.hit()->program);
  EXPECT_EQ("wgmma_ref", trap.hit()->op);
}

}  // namespace
}  // namespace palladion::debug
