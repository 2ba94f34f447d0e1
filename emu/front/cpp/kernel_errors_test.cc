// Invalid requests of a function, and how the run of a function ends that does not complete.
#include <gtest/gtest.h>

#include <stdexcept>
#include <utility>

#include "emu/front/cpp/kernel_test_util.h"

namespace palladion::cpp_kernels {
namespace {

constexpr std::string_view kFile = "emu/front/cpp/kernel_errors_test.cc";

FunctionKernel One(KernelFunction function, std::int64_t threads = 1) {
  return {.name = "one",
          .threads = std::vector<KernelFunction>(static_cast<std::size_t>(threads), std::move(function)),
          .inputs = {"x"},
          .outputs = {{"y", DType::kF32, {4}}}};
}

std::vector<Tensor> X() { return {ArrayOf<float>({4}, {1, 2, 3, 4})}; }

// Why there is no report.
std::string Refusal(KernelFunction function, std::int64_t threads = 1) {
  const absl::StatusOr<Report> report = CheckKernel(One(std::move(function), threads), X(), {.seeds = 4});
  EXPECT_FALSE(report.ok());
  if (report.ok()) return Codes(*report);
  EXPECT_EQ(absl::StatusCode::kInvalidArgument, report.status().code());
  return std::string(ToStd(report.status().message()));
}

TEST(KernelErrors, SayWhereAndWhat) {
  const int line = __LINE__ + 1;
  const std::string wrong = Refusal([](KernelContext& ctx) { ctx.store(ctx.array("y").at(1), 1); });
  EXPECT_EQ(Cat("kernel_errors_test.cc:", line, ": a store of i32 at 'y', which holds f32 (block (0))"),
            wrong.substr(wrong.rfind('/') + 1));
}

TEST(KernelErrors, AreOfEachRequest) {
  using Ctx = KernelContext;
  const std::vector<std::pair<KernelFunction, std::string>> wrong = {
      {[](Ctx& ctx) { (void)ctx.array("z"); }, "no array 'z' among its inputs and outputs"},
      {[](Ctx& ctx) { ctx.store(ctx.array("x").at(0), 1.0f); }, "an input, which is only read"},
      {[](Ctx& ctx) { (void)ctx.load<float>(ctx.array("x")); },
       "a load of one element at 'x', of which this is f32[4]"},
      {[](Ctx& ctx) { ctx.store(ctx.array("y"), Tensor(DType::kF32, {3})); }, "a store of f32[3] at 'y'"},
      {[](Ctx& ctx) { (void)ctx.array("x").at(0).at(0); }, "has no dimension"},
      {[](Ctx& ctx) { (void)ctx.load(KernelMemory()); }, "never allocated"},
      {[](Ctx& ctx) { (void)ctx.block(1); }, "the grid has 1 dimensions"},
      {[](Ctx& ctx) { ctx.arrive(ctx.make_barrier("b", 1, 2).at(2)); }, "has the elements 0 to 1; found 2"},
      {[](Ctx& ctx) { ctx.wait(KernelBarrier()); }, "this barrier was never made"},
      {[](Ctx& ctx) { ctx.make_barrier("b", 0); }, "needs at least one arrival"},
      {[](Ctx& ctx) { ctx.atomic(AtomicOp::kXor, ctx.array("y").at(0), 1.0f); }, "no such atomic update of f32"},
      {[](Ctx& ctx) { ctx.alloc("s", DType::kF32, {-1}); }, "negative"},
      {[](Ctx& ctx) { ctx.copy_async(ctx.array("x"), ctx.array("y")); }, "copy_async goes from global to shared"},
      {[](Ctx& ctx) { ctx.free(ctx.array("y")); }, "'y' is an array of the call"},
      {[](Ctx& ctx) {
         const KernelMemory s = ctx.alloc("s", DType::kF32, {4});
         ctx.free(s);
         ctx.free(s);
       },
       "'s' was given back before"},
      {[](Ctx& ctx) {
         try {
           (void)ctx.array("z");
         } catch (const KernelError&) {  // the run fails all the same
         }
       },
       "no array 'z'"},
  };
  for (const auto& [function, message] : wrong) {
    const std::string refusal = Refusal(function);
    EXPECT_NE(std::string::npos, refusal.find(message)) << refusal << "\nand not\n" << message;
  }
}

TEST(KernelErrors, OneNameIsOneType) {
  const std::string refusal = Refusal([](KernelContext& ctx) { ctx.alloc("s", DType::kF32, {ctx.thread() + 1}); }, 2);
  EXPECT_NE(std::string::npos, refusal.find("'s' is shared f32[2] here and shared f32[1] elsewhere")) << refusal;
}

TEST(KernelErrors, AnExceptionEndsTheRun) {
  int line = 0;
  const auto throws = [&line](KernelContext& ctx) {
    line = __LINE__ + 1;
    (void)ctx.load(ctx.array("x"));
    if (ctx.thread() == 1) throw std::runtime_error("my own");
    ctx.wait(ctx.make_barrier("never"));
  };
  const std::string refusal = Refusal(throws, 2);
  EXPECT_EQ(0u, refusal.find("the function of thread 1 of block (0) threw: my own; its last request was ")) << refusal;
  EXPECT_NE(std::string::npos, refusal.find(Cat("kernel_errors_test.cc:", line))) << refusal;
}

TEST(KernelErrors, AnErrorAfterAFindingIsBesideIt) {
  const FunctionKernel kernel = One([](KernelContext& ctx) {
    (void)ctx.load<float>(ctx.array("x").at(4));
    throw std::runtime_error("my own");
  });
  const Report report = Checked(kernel, X());
  EXPECT_NE(nullptr, Find(report, "OOB")) << Codes(report);
  ASSERT_TRUE(report.error.has_value());
  EXPECT_NE(std::string::npos, report.error->message.find("my own"));
}

TEST(KernelErrors, AnIndexOutOfRangeIsAFinding) {
  for (const std::int64_t index : {-1, 4}) {
    int line = 0;
    const FunctionKernel kernel = One([&line, index](KernelContext& ctx) {
      ctx.store(ctx.array("y"), ctx.load(ctx.array("x")));
      line = __LINE__ + 1;
      ctx.store(ctx.array("y").at(index), 1.0f);
    });
    std::vector<Tensor> outputs;
    const Report report = Checked(kernel, X(), {.seeds = 2}, &outputs);
    ASSERT_NE(nullptr, Find(report, "OOB")) << Codes(report);
    EXPECT_TRUE(IsAt(Find(report, "OOB")->frames, kFile, line));
    EXPECT_EQ((std::vector<float>{1, 2, 3, 4}), ValuesOf<float>(outputs[0])) << "nothing is written elsewhere";
  }
}

TEST(KernelErrors, SlicesKeepTheirBounds) {
  const FunctionKernel inside = One([](KernelContext& ctx) {
    ctx.store(ctx.array("y").slice(0, 2), ctx.load(ctx.array("x").slice(2, 2)));
    ctx.store(ctx.array("y").slice(2, 2), ctx.load(ctx.array("x").slice(1, 3).slice(0, 2)));
  });
  std::vector<Tensor> outputs;
  EXPECT_EQ("", Codes(Checked(inside, X(), {.seeds = 2}, &outputs)));
  EXPECT_EQ((std::vector<float>{3, 4, 2, 3}), ValuesOf<float>(outputs[0]));
  const FunctionKernel outside = One([](KernelContext& ctx) {
    ctx.store(ctx.array("y"), ctx.load(ctx.array("x")));
    (void)ctx.load<float>(ctx.array("x").slice(0, 2).at(2));
  });
  EXPECT_NE(nullptr, Find(Checked(outside, X(), {.seeds = 2}), "OOB"));
}

TEST(KernelErrors, AnAtomicOutOfRangeIsAFinding) {
  const FunctionKernel kernel = One([](KernelContext& ctx) {
    ctx.store(ctx.array("y"), ctx.load(ctx.array("x")));
    ctx.atomic_add(ctx.array("y").at(9), 1.0f);
  });
  EXPECT_NE(nullptr, Find(Checked(kernel, X(), {.seeds = 2}), "OOB"));
}

TEST(KernelErrors, MemoryThatWasGivenBackIsNotUsed) {
  int line = 0;
  const FunctionKernel kernel = One([&line](KernelContext& ctx) {
    const KernelMemory s = ctx.alloc("s", DType::kF32, {4});
    ctx.store(s, ctx.load(ctx.array("x")));
    ctx.store(ctx.array("y"), ctx.load(s));
    ctx.free(s);
    line = __LINE__ + 1;
    ctx.store(s.at(0), 1.0f);
  });
  const Report report = Checked(kernel, X(), {.seeds = 2});
  ASSERT_NE(nullptr, Find(report, "USE_AFTER_SCOPE")) << Codes(report);
  EXPECT_TRUE(IsAt(Find(report, "USE_AFTER_SCOPE")->frames, kFile, line));
}

TEST(KernelErrors, HandlesAreOfTheirRunAndBlock) {
  KernelMemory kept;
  FunctionKernel kernel = One([&kept](KernelContext& ctx) {
    if (kept.number() < 0) kept = ctx.alloc("s", DType::kF32, {4});
    ctx.store(kept, ctx.load(ctx.array("x")));
    ctx.store(ctx.array("y"), ctx.load(kept));
  });
  const absl::StatusOr<Report> again = CheckKernel(kernel, X(), {.seeds = 2});
  EXPECT_NE(std::string::npos, ToStd(again.status().message()).find("of another run")) << again.status();
  kept = {};
  kernel.grid = {2};
  kernel.threads = {[&kept](KernelContext& ctx) {
    const KernelSemaphore made = ctx.make_semaphore("made", KernelScope::kGrid);
    if (ctx.block() == 0) kept = ctx.alloc("s", DType::kF32, {4});
    ctx.block() == 0 ? ctx.signal(made) : ctx.wait(made);
    ctx.store(kept, ctx.load(ctx.array("x")));
  }};
  const absl::StatusOr<Report> other = CheckKernel(kernel, X(), {.seeds = 1});
  EXPECT_NE(std::string::npos, ToStd(other.status().message()).find("of another block")) << other.status();
}

TEST(KernelErrors, UnwrittenMemoryIsFound) {
  const FunctionKernel kernel = One([](KernelContext& ctx) { ctx.store(ctx.array("y").at(0), 1.0f); });
  const Report report = Checked(kernel, X(), {.seeds = 2});
  EXPECT_NE(nullptr, Find(report, "OUT_MISSING")) << Codes(report);
  EXPECT_EQ(Verdict::kWarning, report.verdict);
}

TEST(KernelErrors, ABudgetEndsALoopThatPolls) {
  const FunctionKernel kernel = One([](KernelContext& ctx) {
    while (ctx.load<float>(ctx.array("x").at(0)) != 0) continue;
  });
  const Report report = Checked(kernel, X(), {.seeds = 4, .step_budget = 5000});
  EXPECT_NE(nullptr, Find(report, "LIVELOCK")) << Codes(report);
}

// A thread that is given up while it waits is unwound: what it holds is released, and its requests are not carried out.
TEST(KernelErrors, ADeadlockUnwindsItsThreads) {
  int unwound = 0;
  const FunctionKernel kernel = One(
      [&unwound](KernelContext& ctx) {
        struct Requests {
          KernelContext& ctx;
          int& unwound;
          ~Requests() {
            ctx.store(ctx.array("y").at(0), 1.0f);
            ++unwound;
          }
        };
        ctx.store(ctx.array("y").at(ctx.thread()), 0.0f);
        const Requests requests{ctx, unwound};
        try {
          ctx.wait(ctx.make_barrier("never"));
        } catch (...) {
          ctx.wait(ctx.make_barrier("never either"));  // leaves too
        }
        ADD_FAILURE() << "the wait returned";
      },
      2);
  const Report report = Checked(kernel, X(), {.seeds = 3});
  EXPECT_NE(nullptr, Find(report, "DEADLOCK")) << Codes(report);
  EXPECT_EQ(nullptr, Find(report, "RACE_WW")) << Codes(report);
  EXPECT_LE(6, unwound);
}

TEST(KernelErrors, AKernelThatIsNone) {
  FunctionKernel kernel = One(nullptr);
  EXPECT_FALSE(RunKernel(kernel, X()).ok());
  kernel = One([](KernelContext&) {});
  EXPECT_FALSE(RunKernel(kernel, {}).ok());
  kernel.threads.clear();
  EXPECT_FALSE(RunKernel(kernel, X()).ok());
  kernel = One([](KernelContext&) {});
  kernel.grid = {0};
  EXPECT_FALSE(RunKernel(kernel, X()).ok());
  kernel = One([](KernelContext&) {});
  kernel.outputs[0].name = "x";
  EXPECT_FALSE(RunKernel(kernel, X()).ok());
  kernel.outputs[0] = {"y", DType::kI32, {4}, "x"};
  EXPECT_FALSE(RunKernel(kernel, X()).ok());
  kernel = One([](KernelContext&) {});
  EXPECT_FALSE(CheckKernel(kernel, X(), {.seeds = 0}).ok());
  EXPECT_FALSE(CheckKernel(kernel, X(), {.exhaustive = true}).ok());
  EXPECT_FALSE(CheckKernel(kernel, X(), {.replay = "s2:reverse:2:other:generic:0:0:0:-"}).ok());
}

// Three blocks of two threads each: memory of a block is its own, and sync_block keeps its threads together.
TEST(Kernels, BlocksHaveMemoryOfTheirOwn) {
  const KernelFunction swap = [](KernelContext& ctx) {
    const KernelMemory s = ctx.alloc("s", DType::kI32, {2});
    const std::int64_t me = ctx.thread();
    const auto number = static_cast<std::int32_t>(10 * ctx.block() + me);
    ctx.store(s.at(me), number);
    ctx.sync_block();
    ctx.store(ctx.array("y").at(ctx.block()).at(me), ctx.load<std::int32_t>(s.at(1 - me)));
    ctx.atomic_add(ctx.array("sum").at(0), number);
  };
  const FunctionKernel kernel{.name = "swap",
                              .grid = {3},
                              .threads = {swap, swap},
                              .inputs = {"zero"},
                              .outputs = {{"y", DType::kI32, {3, 2}}, {"sum", DType::kI32, {1}, "zero"}}};
  std::vector<Tensor> outputs;
  const Report report = Checked(kernel, {ArrayOf<std::int32_t>({1}, {0})}, {.seeds = 32}, &outputs);
  EXPECT_EQ("", Codes(report));
  EXPECT_EQ(6, report.programs);
  EXPECT_EQ((std::vector<std::int32_t>{1, 0, 11, 10, 21, 20}), ValuesOf<std::int32_t>(outputs[0]));
  EXPECT_EQ(63, ValuesOf<std::int32_t>(outputs[1])[0]);
}

// Out through shared memory: a store, a fence, a copy, a wait; and what is found without the fence, or the wait.
TEST(Kernels, CopiesToGlobalMemoryNeedAFenceAndAWait) {
  const auto doubled = [](bool fence, bool wait) {
    return One([fence, wait](KernelContext& ctx) {
      const KernelMemory s = ctx.alloc("s", DType::kF32, {4});
      Tensor x = ctx.load(ctx.array("x"));
      for (float& value : x.span<float>()) value *= 2;
      ctx.store(s, x);
      if (fence) ctx.commit_smem();
      ctx.copy_async(s, ctx.array("y"));
      ctx.commit_copies();
      if (wait) ctx.wait_copies();
    });
  };
  std::vector<Tensor> outputs;
  EXPECT_EQ("", Codes(Checked(doubled(true, true), X(), {.seeds = 32}, &outputs)));
  EXPECT_EQ((std::vector<float>{2, 4, 6, 8}), ValuesOf<float>(outputs[0]));
  const Report no_fence = Checked(doubled(false, true), X(), {.seeds = 4});
  ASSERT_NE(nullptr, Find(no_fence, "PROXY")) << Codes(no_fence);
  EXPECT_NE(std::string::npos, Find(no_fence, "PROXY")->fix.find("ctx.commit_smem()")) << Find(no_fence, "PROXY")->fix;
  const Report no_wait = Checked(doubled(true, false), X(), {.seeds = 4});
  EXPECT_NE(nullptr, Find(no_wait, "NOT_AWAITED")) << Codes(no_wait);
}

}  // namespace
}  // namespace palladion::cpp_kernels
