// A ring of products, of which the issue of each takes the one before for complete: what is said of the order that this
// alone gives, and where a wait makes it an order like any other.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "memory_model/concurrency_test_util.h"

namespace palladion::memory_model {
namespace {

using concurrency_test::Script;

enum class Awaits { kNothing, kBeforeArrival, kAfterArrival };

// Thread a has two products read a slot each, the second of which completes the first; thread b fills the first slot
// again once a has arrived.
std::set<std::string> Handed(Awaits awaits, std::uint32_t seed, FencePolicy policy) {
  Script s(policy);
  const BufferId smem = s.Buffer("smem", {4}, ProxySpace::kShared), gmem = s.Buffer("gmem", {4}, ProxySpace::kGlobal);
  const BufferId sums = s.Buffer("sums", {4}, ProxySpace::kPlain);
  const AgentId a = s.Thread("thread 0"), b = s.Thread("thread 1");
  const BarrierId free = s.model.MakeBarrier({"free"}), full = s.model.MakeBarrier({"full"});
  const QueueId products = s.model.MakeQueue(QueueOrder::kSerial);
  for (std::int64_t slot = 0; slot < 2; ++slot) {
    if (slot > 0) s.AwaitGroups(a, products, 0, Half::kWrite, /*promised=*/true);
    AsyncRequest product = s.Copy(smem, {slot, 1}, sums, {slot, 1});
    product.queue = products;
    s.Start(a, product);
    s.CommitGroup(a, products);
  }
  if (awaits == Awaits::kBeforeArrival) s.AwaitGroups(a, products, 1, Half::kWrite);
  s.Arrive(a, free);
  if (awaits == Awaits::kAfterArrival) s.AwaitGroups(a, products, 1, Half::kWrite);
  s.Wait(b, free);
  AsyncRequest fill = s.Copy(gmem, {0, 1}, smem, {0, 1});
  fill.completions.push_back({Half::kWrite, full});
  s.Start(b, fill);
  s.Wait(b, full);
  s.AwaitGroups(a, products, 0, Half::kWrite);
  s.Run(seed);
  return s.Codes();
}

TEST(PromisedOrder, WhatOnlyAPromiseOrdersIsNoted) {
  const std::set<std::string> none, noted = {"WGMMA_ORDER"};
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    EXPECT_EQ(noted, Handed(Awaits::kNothing, seed, FencePolicy::kPallas)) << seed;
    EXPECT_EQ(noted, Handed(Awaits::kAfterArrival, seed, FencePolicy::kPallas)) << seed;
    EXPECT_EQ(none, Handed(Awaits::kBeforeArrival, seed, FencePolicy::kPallas)) << seed;
    EXPECT_EQ(none, Handed(Awaits::kNothing, seed, FencePolicy::kLax)) << seed;
  }
}

}  // namespace
}  // namespace palladion::memory_model
