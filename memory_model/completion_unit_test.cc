// The amount of a completion is in the unit of the object that it signals.
#include <gtest/gtest.h>

#include <string>

#include "memory_model/concurrency_test_util.h"
#include "memory_model/engine/async_engine.h"

namespace palladion::memory_model {
namespace {

using concurrency_test::Script;

// A semaphore of DMAs counts bytes, any other one counts, a barrier takes arrivals, and bytes that a copy expects
// there.
TEST(Completion, IsInTheUnitOfItsObject) {
  Script s(FencePolicy::kPallas, false);
  const auto hbm = s.Buffer("hbm", {4, 2}, ProxySpace::kPlain), vmem = s.Buffer("vmem", {4, 2}, ProxySpace::kPlain);
  const AgentId core = s.Thread("core");
  const auto dma = s.model.MakeSemaphore({"dma", SemaphoreKind::kDma}), regular = s.model.MakeSemaphore({"regular"});
  const auto barrier = s.model.MakeBarrier({.name = "full"});
  const auto start = [&](Completion completion) {
    AsyncRequest copy = s.Copy(hbm, {0, 1}, vmem, {0, 1});
    copy.completions.push_back(completion);
    return std::string(s.model.Start(core, copy).status().message());
  };
  EXPECT_EQ("asynchronous copy: a completion of 8 counts at what takes bytes",
            start({Half::kWrite, dma, 8, CompletionUnit::kCount}));
  EXPECT_EQ("asynchronous copy: a completion of 8 bytes at what takes counts",
            start({Half::kWrite, regular, 8, CompletionUnit::kBytes}));
  EXPECT_EQ("asynchronous copy: a completion of 8 counts at what takes arrivals",
            start({Half::kRead, barrier, 8, CompletionUnit::kCount}));
  EXPECT_TRUE(s.model.Pending().empty());  // nothing was started
  EXPECT_EQ("", start({Half::kRead, dma, 8, CompletionUnit::kBytes}));
  EXPECT_EQ("", start({Half::kWrite, regular, 2, CompletionUnit::kCount}));
  EXPECT_EQ("", start({Half::kWrite, barrier, 1, CompletionUnit::kArrivals}));
  while (!s.model.Pending().empty()) s.model.Perform(s.model.Pending()[0], &s.memory);
  EXPECT_EQ(8, s.model.Of(dma).count());
  EXPECT_EQ(2, s.model.Of(regular).count());
  EXPECT_TRUE(s.model.CanWait(core, barrier));
}

}  // namespace
}  // namespace palladion::memory_model
