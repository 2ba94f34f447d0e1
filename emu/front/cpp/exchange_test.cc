// Two cores, blocks here, exchange a value: each writes the other's mailbox, signals, waits and reads its own.
#include <gtest/gtest.h>

#include "emu/front/cpp/kernel_test_util.h"

namespace palladion::cpp_kernels {
namespace {

constexpr std::string_view kFile = "emu/front/cpp/exchange_test.cc";

struct Leaves {
  bool signal = false, wait = false;
};
int write_line = 0, wait_line = 0, read_line = 0;

FunctionKernel Exchange(Leaves out) {
  const KernelFunction core = [out](KernelContext& ctx) {
    const std::int64_t me = ctx.block(), other = 1 - me;
    const KernelMemory mail = ctx.alloc("mail", DType::kI32, {2}, KernelScope::kGrid);
    const KernelSemaphore came = ctx.make_semaphore("came", KernelScope::kGrid, 2);
    const auto mine = ctx.load<std::int32_t>(ctx.array("x").at(me));
    write_line = __LINE__ + 1;
    ctx.store(mail.at(other), mine);
    if (!out.signal) ctx.signal(came.at(other));
    wait_line = __LINE__ + 1;
    if (!out.wait) ctx.wait(came.at(me));
    read_line = __LINE__ + 1;
    const auto got = ctx.load<std::int32_t>(mail.at(me));
    ctx.store(ctx.array("y").at(me), got);
  };
  return {.name = "exchange", .grid = {2}, .threads = {core}, .inputs = {"x"}, .outputs = {{"y", DType::kI32, {2}}}};
}

std::vector<Tensor> X() { return {ArrayOf<std::int32_t>({2}, {7, 11})}; }

TEST(Exchange, IsCleanInEverySchedule) {
  std::vector<Tensor> outputs;
  const Report report = Checked(Exchange({}), X(), {}, &outputs);
  EXPECT_EQ("", Codes(report));
  EXPECT_EQ(Verdict::kClean, report.verdict);
  EXPECT_EQ((std::vector<std::int32_t>{11, 7}), ValuesOf<std::int32_t>(outputs[0]));
}

TEST(Exchange, AMissingSignalIsADeadlock) {
  const FunctionKernel kernel = Exchange({.signal = true});
  const Report report = Checked(kernel, X(), {.seeds = 4});
  const ReportedFinding* const deadlock = Find(report, "DEADLOCK");
  ASSERT_NE(nullptr, deadlock) << Codes(report);
  EXPECT_TRUE(IsAt(deadlock->frames, kFile, wait_line)) << deadlock->source;
  EXPECT_NE(std::string::npos, deadlock->message.find("came[0]")) << deadlock->message;
  ExpectReplays(kernel, X(), *deadlock);
}

TEST(Exchange, AMissingWaitIsARace) {
  const FunctionKernel kernel = Exchange({.wait = true});
  const Report report = Checked(kernel, X(), {.seeds = 16});
  const ReportedFinding* const race = Find(report, "RACE_RW");
  ASSERT_NE(nullptr, race) << Codes(report);
  const bool read_is_first = race->first->kind == AccessKind::kRead;
  EXPECT_TRUE(IsAt((read_is_first ? race->first : race->second)->frames, kFile, read_line));
  EXPECT_TRUE(IsAt((read_is_first ? race->second : race->first)->frames, kFile, write_line));
  ExpectReplays(kernel, X(), *race);
  const ReportedFinding* const undefined = Find(report, "UNINIT");
  ASSERT_NE(nullptr, undefined) << Codes(report);
  EXPECT_TRUE(IsAt(undefined->frames, kFile, read_line)) << undefined->source;
  ExpectReplays(kernel, X(), *undefined);
}

}  // namespace
}  // namespace palladion::cpp_kernels
