// A finding of a real kernel stays while the kernel gets smaller; what is not there at the start, budgets and programs
// that hang are reported. Every kernel that comes out is one that the verifier takes, and cannot be made smaller again.
#include "emu/tools/reduce/reduce.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "emu/tools/edit/edit.h"
#include "emu/tools/reduce/keep_exit.h"
#include "emu/tools/reduce/keep_finding.h"
#include "emu/values.h"
#include "semantics/base/cat.h"
#include "semantics/ir/parser.h"

namespace palladion::reduce {
namespace {

// A ring of two slots without a barrier that says when a slot is free again: conformance/gpu_corpus/shared_memory.py.
constexpr std::string_view kRing = R"(pkir 1;
producer "jax 0.10.2, palladion 0.1";
file #f = "ring.py";
loc #l = #f:12:3 fn "consume";
kernel @ring {
  backend mosaic_gpu;
  in %x: i32[5,128] space gmem;
  in %unused: f32[64,128] space gmem;
  out %o: i32[5,128] space gmem;
  mesh gpu {grid=[4], grid_names=["g"], cluster=[], cluster_names=[], threads=2, thread_name="wg"};
  body @ring (%x_ref: ref<gmem,i32[5,128]> as "x_ref", %unused_ref: ref<gmem,f32[64,128]>, %o_ref: ref<gmem,i32[5,128]> as "o_ref") {
    run_scoped{collective_axes=["wg"]}() (%produced: ref<smem,barrier{arrivals=1, orders_tensor_core=false}[5]> as "produced", %queue: ref<smem,i32[2,128]> as "queue") {
      %block = axis_index{axis="g"}() : i32[];
      %0 = axis_index{axis="wg"}() : i32[];
      %1 = eq(%0, 0:i32) : bool[];
      cond(%1) {
        return;
      } {
        _ = scan{length=5, reverse=false}(init=0:i32) (%i: i32[]) {
          %slot = rem(%i, 2:i32) : i32[];
          %v = get(%x_ref.at[%i, *]) : i32[128];
          _ = swap(%queue.at[%slot, *], %v) : i32[128];
          barrier_arrive(barrier=%produced.at[%i]);
          %n = add(%i, 1:i32) : i32[];
          return %n;
        } : i32[];
        return;
      };
      %2 = eq(%0, 1:i32) : bool[];
      cond(%2) {
        return;
      } {
        _ = scan{length=5, reverse=false}(init=0:i32) (%i: i32[]) {
          %slot = rem(%i, 2:i32) : i32[];
          barrier_wait(barrier=%produced.at[%i]);
          %v = get(%queue.at[%slot, *]) : i32[128] #l;
          _ = swap(%o_ref.at[%i, *], %v) : i32[128];
          %n = add(%i, 1:i32) : i32[];
          return %n;
        } : i32[];
        return;
      };
      return;
    };
    return;
  }
}
)";

State StateOf(std::string_view text) {
  absl::StatusOr<Module> module = edit::OnlyKernel(text, "k.pkir", {.verb = "reduced"});
  EXPECT_TRUE(module.ok()) << module.status();
  State state{.module = *std::move(module)};
  for (const Operand& operand : state.kernel().operands) {
    if (operand.role != Role::kIn) continue;
    const ValueInfo& info = state.kernel().values[operand.value.index()];
    absl::StatusOr<Tensor> value = TensorFromText(info.type.dtype, info.type.shape, "random(seed=3, lo=-8, hi=8)");
    EXPECT_TRUE(value.ok()) << value.status();
    state.inputs.push_back(
        {info.name, "random(seed=3, lo=-8, hi=8)", std::make_shared<const Tensor>(*std::move(value))});
  }
  absl::StatusOr<State> settled = Settle(std::move(state));
  EXPECT_TRUE(settled.ok()) << settled.status();
  return *std::move(settled);
}

KeepFinding Keeping(const std::string& choice, const State& state) {
  const absl::StatusOr<FindingChoice> chosen = FindingChoiceFromText(choice);
  EXPECT_TRUE(chosen.ok()) << chosen.status();
  absl::StatusOr<KeepFinding> keep = KeepFinding::Create(*chosen, state.kernel(), {});
  EXPECT_TRUE(keep.ok()) << keep.status();
  return *std::move(keep);
}

Keeps HoldsOf(const KeepFinding& keep) {
  return [&keep](const State& state) { return keep.Holds(state); };
}

int LineWith(std::string_view text, std::string_view word) {
  const std::string_view before = text.substr(0, text.find(word));
  return 1 + static_cast<int>(std::count(before.begin(), before.end(), '\n'));
}

TEST(Reduce, ARingKeepsItsRace) {
  const State start = StateOf(kRing);
  const KeepFinding keep = Keeping("RACE_RW@queue", start);
  const absl::StatusOr<Reduced> reduced = Reduce(start, HoldsOf(keep));
  ASSERT_TRUE(reduced.ok()) << reduced.status();
  EXPECT_EQ(Ended::kSmallest, reduced->ended);
  const Extent before = ExtentOf(start), after = ExtentOf(reduced->state);
  EXPECT_EQ(19, before.instructions);
  EXPECT_EQ(8, before.programs);
  EXPECT_LE(after.instructions, 5) << reduced->state.text;
  EXPECT_EQ(2, after.programs) << reduced->state.text;
  EXPECT_EQ(0, after.elements) << reduced->state.text;
  EXPECT_TRUE(*keep.Holds(reduced->state));

  const absl::StatusOr<Reduced> again = Reduce(reduced->state, HoldsOf(keep));
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(reduced->state.text, again->state.text);
  EXPECT_EQ(1, again->rounds);
}

// The load and the store of the ring race with each other; the one on the line that is named has to stay.
TEST(Reduce, TheLineStays) {
  State start = StateOf(kRing);
  start.line = LineWith(start.text, "get(%queue");
  const KeepFinding keep = Keeping("RACE_RW", start);
  const absl::StatusOr<Reduced> reduced = Reduce(start, HoldsOf(keep));
  ASSERT_TRUE(reduced.ok()) << reduced.status();
  EXPECT_EQ(LineWith(reduced->state.text, "get(%queue"), reduced->state.line) << reduced->state.text;
  EXPECT_LT(reduced->state.line, start.line);
}

TEST(Reduce, TheSameEveryTime) {
  const State start = StateOf(kRing);
  const KeepFinding keep = Keeping("RACE_RW", start);
  const absl::StatusOr<Reduced> one = Reduce(start, HoldsOf(keep)), other = Reduce(start, HoldsOf(keep));
  ASSERT_TRUE(one.ok() && other.ok());
  EXPECT_EQ(one->state.text, other->state.text);
  EXPECT_EQ(one->tried, other->tried);
}

TEST(Reduce, WhatIsNotThereAtTheStart) {
  const State start = StateOf(kRing);
  EXPECT_EQ(absl::StatusCode::kInvalidArgument, Reduce(start, HoldsOf(Keeping("OOB", start))).status().code());
}

TEST(Reduce, ABudgetEndsItWithTheBestSoFar) {
  const State start = StateOf(kRing);
  const KeepFinding keep = Keeping("RACE_RW", start);
  const absl::StatusOr<Reduced> reduced = Reduce(start, HoldsOf(keep), {.most_tried = 7});
  ASSERT_TRUE(reduced.ok()) << reduced.status();
  EXPECT_EQ(Ended::kBudget, reduced->ended);
  EXPECT_EQ(7, reduced->tried);
  EXPECT_LT(reduced->state.text.size(), start.text.size());
  EXPECT_TRUE(*keep.Holds(reduced->state));
}

// Where everything is of interest, almost nothing is left.
TEST(Reduce, WithoutACondition) {
  const State start = StateOf(kRing);
  const absl::StatusOr<Reduced> reduced = Reduce(start, [](const State&) { return true; });
  ASSERT_TRUE(reduced.ok()) << reduced.status();
  EXPECT_EQ(0, ExtentOf(reduced->state).instructions) << reduced->state.text;
  EXPECT_EQ(1, ExtentOf(reduced->state).programs) << reduced->state.text;
  EXPECT_TRUE(reduced->state.kernel().operands.empty()) << reduced->state.text;
}

TEST(Reduce, ErrorsOfTheConditionAreTheResult) {
  const State start = StateOf(kRing);
  int tried = 0;
  const Keeps keeps = [&](const State&) -> absl::StatusOr<bool> {
    if (++tried < 3) return true;
    return absl::InternalError("no");
  };
  EXPECT_EQ("no", Reduce(start, keeps).status().message());
}

TEST(Settle, InputsFollowTheirOperands) {
  State state = StateOf(kRing);
  state.inputs[0].words.clear();
  const std::shared_ptr<const Tensor> whole = state.inputs[0].value;
  State edited = state;
  for (ValueInfo& info : edited.kernel().values) {
    for (std::int64_t& size : info.type.shape) size = size == 128 ? 2 : size;
  }
  edit::ForEachInstr(edited.kernel(), [](Instr& instr) {
    for (Type& type : instr.types) {
      for (std::int64_t& size : type.shape) size = size == 128 ? 2 : size;
    }
  });
  const absl::StatusOr<State> settled = Settle(edited);
  ASSERT_TRUE(settled.ok()) << settled.status();
  const Tensor& sliced = *settled->inputs[0].value;
  EXPECT_EQ((std::vector<std::int64_t>{5, 2}), sliced.shape());
  EXPECT_EQ(whole->data<std::int32_t>()[4 * 128 + 1], sliced.data<std::int32_t>()[4 * 2 + 1]);
  EXPECT_EQ("random(seed=3, lo=-8, hi=8)", settled->inputs[1].words);
}

TEST(FindingChoice, AsItIsWritten) {
  const absl::StatusOr<FindingChoice> choice = FindingChoiceFromText("RACE_RW@o:12");
  ASSERT_TRUE(choice.ok());
  EXPECT_EQ("RACE_RW", Code(choice->code));
  EXPECT_EQ("o", choice->ref);
  EXPECT_EQ(12, choice->line);
  for (const char* wrong : {"", "RACE", "RACE_RW@", "RACE_RW:", "RACE_RW:0", "RACE_RW:x", "@o", "race_rw"})
    EXPECT_EQ(absl::StatusCode::kInvalidArgument, FindingChoiceFromText(wrong).status().code()) << wrong;
  const State start = StateOf(kRing);
  const absl::Status missing =
      KeepFinding::Create({.code = FindingCode::kOutOfBounds, .ref = "zz"}, start.kernel(), {}).status();
  EXPECT_NE(std::string::npos, ToStd(missing.message()).find("no operand or ref of this name")) << missing;
}

TEST(KeepExit, AProgramDecides) {
  const State start = StateOf(kRing);
  const absl::StatusOr<KeepExit> keep = KeepExit::Create({.command = "grep -q barrier_wait"});
  ASSERT_TRUE(keep.ok()) << keep.status();
  const Keeps keeps = [&](const State& state) -> absl::StatusOr<bool> {
    const absl::StatusOr<ExitOf> exit = keep->Run(state);
    if (!exit.ok()) return exit.status();
    return exit->code == 0;
  };
  const absl::StatusOr<Reduced> reduced = Reduce(start, keeps);
  ASSERT_TRUE(reduced.ok()) << reduced.status();
  EXPECT_NE(std::string::npos, reduced->state.text.find("barrier_wait"));
  EXPECT_LE(ExtentOf(reduced->state).instructions, 2) << reduced->state.text;
}

TEST(KeepExit, InputsLieBesideTheKernel) {
  const State start = StateOf(kRing);
  const absl::StatusOr<KeepExit> keep = KeepExit::Create({.command = "ls \"$(dirname \"$1\")\"/x.npy; test -s"});
  ASSERT_TRUE(keep.ok());
  EXPECT_EQ(0, keep->Run(start)->code);
}

TEST(KeepExit, CrashesHangsAndMissingPrograms) {
  const State start = StateOf(kRing);
  const auto run = [&](const std::string& command) {
    const absl::StatusOr<KeepExit> keep = KeepExit::Create({.command = command, .seconds = 0.2});
    EXPECT_TRUE(keep.ok()) << keep.status();
    const absl::StatusOr<ExitOf> exit = keep->Run(start);
    EXPECT_TRUE(exit.ok()) << exit.status();
    return *exit;
  };
  EXPECT_EQ(127, run("no-such-program-anywhere").code);
  EXPECT_EQ(3, run("exit 3; echo").code);
  EXPECT_EQ(128 + 6, run("kill -ABRT $$; echo").code);
  const ExitOf hung = run("sleep 30; echo");
  EXPECT_TRUE(hung.timed_out);
  EXPECT_NE(0, hung.code);
}

}  // namespace
}  // namespace palladion::reduce
