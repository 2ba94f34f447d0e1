// The argument behind "proved" (docs/explanation/schedules.md), against every schedule: where programs do not interact
// and the sweep of one run finds no conflict, all schedules of random small kernels give the same outputs. And it is no
// empty claim: among the others many give several.
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "emu/check.h"
#include "emu/run/launch/interaction.h"
#include "emu/run/launch/run.h"
#include "emu/values.h"
#include "memory_model/sweep/sweep.h"
#include "scheduler/policies/random.h"
#include "semantics/base/cat.h"

namespace palladion::check {
namespace {

constexpr int kPrograms = 3;

// One statement of a program; `n` makes its names its own.
std::string Statement(std::uint64_t kind, int n) {
  switch (kind) {
    case 0:
      return "    _ = atomic_rmw{op=add}(%w.at[0], 3:i32) : i32[];\n";
    case 1:
      return "    _ = swap(%or.at[%p], %p) : i32[];\n";
    case 2:
      return Cat("    %v", n, " = get(%or.at[%p]) : i32[];\n    %u", n, " = add(%v", n,
                 ", 5:i32) : i32[];\n    _ = swap(%or.at[%p], %u", n, ") : i32[];\n");
    case 3:
      return Cat("    %v", n, " = get(%xr.at[%p]) : i32[];\n    _ = swap(%or.at[%p], %v", n, ") : i32[];\n");
    case 4:
      return "    _ = atomic_rmw{op=max}(%w.at[1], %p) : i32[];\n";
    case 5:  // from here on programs see each other
      return "    _ = swap(%or.at[0], %p) : i32[];\n";
    case 6:
      return Cat("    %v", n, " = get(%or.at[1]) : i32[];\n    _ = swap(%or.at[%p], %v", n, ") : i32[];\n");
    case 7:
      return Cat("    %v", n, " = atomic_rmw{op=add}(%w.at[0], 1:i32) : i32[];\n    _ = swap(%or.at[%p], %v", n,
                 ") : i32[];\n");
    default:
      return "    _ = swap(%w.at[1], %p) : i32[];\n";
  }
}

std::string RandomKernel(scheduler::Random& random) {
  std::string body;
  const std::uint64_t kinds = random.Below(2) == 0 ? 5 : 9;
  for (int n = 0, length = 1 + static_cast<int>(random.Below(3)); n < length; ++n)
    body += Statement(random.Below(kinds), n);
  return Cat("pkir 1;\nkernel @k {\n  grid [", kPrograms,
             "];\n  in %x: i32[3];\n  in %c: i32[3];\n  in %z: i32[2];\n  out %o: i32[3] alias %c;\n"
             "  out %d: i32[2] alias %z;\n  body @b (%xr: ref<default,i32[3]>, %cr: ref<default,i32[3]>, "
             "%zr: ref<default,i32[2]>, %or: ref<default,i32[3]>, %w: ref<default,i32[2]>) {\n"
             "    %p = program_id{axis=0}() : i32[];\n",
             body, "    return;\n  }\n}\n");
}

class Trial {
 public:
  explicit Trial(const std::string& text) {
    absl::StatusOr<PreparedKernel> kernel = PrepareText(text, {.kernel = "", .target = "triton/h100", .path = ""});
    EXPECT_TRUE(kernel.ok()) << kernel.status() << text;
    kernel_ = std::make_unique<PreparedKernel>(*std::move(kernel));
    for (const OperandDescription& input : kernel_->inputs())
      inputs_.push_back(*TensorFromText(input.dtype, input.shape, "iota"));
    for (const OperandDescription& output : kernel_->outputs())
      outputs_.push_back(*Tensor::CreateUninitialized(output.dtype, output.shape));
    for (const Tensor& tensor : inputs_) in_.push_back({tensor.dtype(), tensor.shape(), tensor.bytes()});
    for (Tensor& tensor : outputs_) out_.push_back({tensor.dtype(), tensor.shape(), tensor.bytes()});
  }

  bool Proved() {
    memory_model::Sweep sweep({{kPrograms, true}});
    run::BoundAndFinished watch([&](memory_model::Memory& memory, absl::Span<const BufferId> arrays) {
      memory.Observe(&sweep);
      std::set<std::int32_t> watched;
      for (BufferId array : arrays) {
        if (watched.insert(array.value).second) sweep.Watch(memory, array, memory_model::Sweep::Sharing::kShared);
      }
    });
    EXPECT_TRUE(launch::Run({kernel_->state(), in_, out_}, {.observers = {&watch}}).ok());
    return sweep.conflicts().empty() && !launch::ProgramsInteract(kernel_->state().program());
  }

  // The different outputs of all schedules.
  std::size_t Outcomes() {
    std::set<std::string> seen;
    const auto visit = [&](const agents::Ran&) -> absl::StatusOr<bool> {
      std::string bytes;
      for (const Tensor& tensor : outputs_)
        bytes.append(reinterpret_cast<const char*>(tensor.bytes()), tensor.num_bytes());
      seen.insert(bytes);
      return true;
    };
    const absl::StatusOr<scheduler::Explored> explored =
        launch::RunExhaustive({kernel_->state(), in_, out_}, {}, {}, visit);
    EXPECT_TRUE(explored.ok() && explored->complete) << explored.status();
    return seen.size();
  }

 private:
  std::unique_ptr<PreparedKernel> kernel_;
  std::vector<Tensor> inputs_, outputs_;
  std::vector<ConstArray> in_;
  std::vector<MutableArray> out_;
};

TEST(Proved, OneCleanRunSpeaksForEverySchedule) {
  scheduler::Random random(1);
  int proved = 0, several = 0;
  for (int round = 0; round < 80; ++round) {
    const std::string text = RandomKernel(random);
    Trial trial(text);
    const bool is_proved = trial.Proved();
    const std::size_t outcomes = trial.Outcomes();
    EXPECT_TRUE(!is_proved || outcomes == 1) << outcomes << " outcomes of\n" << text;
    proved += is_proved;
    several += outcomes > 1;
  }
  EXPECT_GT(proved, 20);
  EXPECT_GT(several, 15);
}

// The search comes back to the choice before an atomic, and what is drawn after it decides whether another comes: as
// where it was drawn before.
TEST(Proved, ASearchTakesTheRandomGeneratorBackToo) {
  const auto argument = [](bool drawn_first) {
    const std::string draw = "  %d = prng_random_bits{shape=[]}() : i32[];\n  %e = and(%d, 1:i32) : i32[];\n";
    const std::string text =
        Cat("pkir 1;\nkernel @draws { grid [3]; in %x: i32[1]; out %o: i32[1] alias %x;\n"
            " body @b (%xr: ref<default,i32[1]>, %or: ref<default,i32[1]>) {\n"
            "  %p = program_id{axis=0}() : i32[];\n  prng_seed(%p);\n",
            drawn_first ? draw : "", "  %n = atomic_rmw{op=add}(%or.at[0], 1:i32) : i32[];\n", drawn_first ? "" : draw,
            "  cond(%e) { return; } { %m = atomic_rmw{op=add}(%or.at[0], 1:i32) : i32[]; return; };\n  return; } }\n");
    const absl::StatusOr<PreparedKernel> kernel = PrepareText(text, {.kernel = "", .target = "generic", .path = ""});
    EXPECT_TRUE(kernel.ok()) << kernel.status();
    const std::vector<Tensor> inputs = {*TensorFromText(DType::kI32, {1}, "iota")};
    const absl::StatusOr<Report> report = Check(*kernel, inputs, {.exhaustive = true});
    EXPECT_TRUE(report.ok()) << report.status();
    return report->argument;
  };
  const std::string expected = argument(true);
  EXPECT_EQ(0u, expected.find("all schedules were run: ")) << expected;
  EXPECT_EQ(expected, argument(false));
}

// A thread has more operations than a search goes through.
TEST(Proved, ASearchThatIsCutShortKeepsTheArgumentThatWasThere) {
  const std::string text =
      "pkir 1;\nkernel @k { backend mosaic_gpu; out %o: i32[1,128] space gmem;\n"
      " mesh gpu {grid=[], grid_names=[], cluster=[], cluster_names=[], threads=1, thread_name=\"t\"};\n"
      " body @k (%or: ref<gmem,i32[1,128]> as \"o\") {\n  %t = axis_index{axis=\"t\"}() : i32[];\n"
      "  %zero = broadcast_in_dim{shape=[128], dims=[]}(0:i32) : i32[128];\n"
      "  %end = scan{length=12000, reverse=false}(init=0:i32) (%i: i32[]) {\n   _ = swap(%or.at[%t, *], %zero) : "
      "i32[128];\n   return %i;\n  } : i32[];\n  return; } }\n";
  const absl::StatusOr<PreparedKernel> kernel = PrepareText(text, {.kernel = "", .target = "", .path = ""});
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  const absl::StatusOr<Report> alone = Check(*kernel, {}, {.seeds = 2}),
                               searched = Check(*kernel, {}, {.exhaustive = true});
  ASSERT_TRUE(alone.ok() && searched.ok());
  ASSERT_EQ(Verdict::kProved, alone->verdict) << alone->argument;
  EXPECT_EQ(Verdict::kProved, searched->verdict);
  EXPECT_EQ(alone->argument + "; not all schedules were run: the search stopped after 1", searched->argument);
}

}  // namespace
}  // namespace palladion::check
