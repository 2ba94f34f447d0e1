// Queues of landings, which stand for links between devices that keep the order of copies: what a landing releases.
#include <gtest/gtest.h>

#include "memory_model/concurrency_test_util.h"

namespace palladion::memory_model {
namespace {

using concurrency_test::Rows;
using concurrency_test::Script;

// One semaphore, a wait for each of two copies: an agent that waits for the write of the second in a queue of landings
// is ordered after both writes; for the reads this gives no order.
TEST(LandingOrder, ALandingReleasesTheLandingsBefore) {
  for (const QueueOrder order : {QueueOrder::kNone, QueueOrder::kLanding}) {
    Script s(FencePolicy::kPallas, false);
    const auto from = s.Buffer("from", {2}, ProxySpace::kPlain), to = s.Buffer("to", {2}, ProxySpace::kPlain);
    const AgentId sender = s.Thread("sender"), receiver = s.Thread("receiver");
    const QueueId link = s.model.MakeQueue(order);
    const SemaphoreId first = s.model.MakeSemaphore({"first"}), second = s.model.MakeSemaphore({"second"});
    for (const std::int64_t row : {0, 1}) {
      AsyncRequest request = s.Copy(from, {row, 1}, to, {row, 1});
      request.queue = link;
      request.completions.push_back({Half::kWrite, row == 0 ? first : second, 1, CompletionUnit::kCount});
      ASSERT_TRUE(s.model.Start(sender, request).ok());
    }
    while (!s.model.Pending().empty()) s.model.Perform(s.model.Pending()[0], &s.memory);
    s.model.Wait(receiver, second, 1);
    s.model.Touch(receiver, to, AccessKind::kRead, s.SetOfRows(to, Rows{0, 2}), {});
    EXPECT_EQ(s.Codes().empty(), order == QueueOrder::kLanding);
    s.model.Touch(sender, from, AccessKind::kWrite, s.SetOfRows(from, Rows{0, 2}), {});
    EXPECT_FALSE(s.Codes().empty());  // no signal orders the sender after the read of its rows
  }
}

}  // namespace
}  // namespace palladion::memory_model
