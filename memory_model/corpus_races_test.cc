// Races of kernels for asynchronous hardware, each in a few requests and with a clean twin. Numbers
// are those of the corpus of kernels that later cases for these machines carry.
#include <vector>

#include "memory_model/corpus_test_util.h"

namespace palladion::memory_model {
namespace {

using concurrency_test::Codes;
using concurrency_test::Expect;
using concurrency_test::Script;

TEST(Corpus, 002_SmemHandoff) {
  Expect(
      [](Script& s, bool racy) {
        const auto smem = s.Buffer("smem", {4}, ProxySpace::kShared);
        const auto producer = s.Thread("producer"), consumer = s.Thread("consumer");
        const auto full = s.model.MakeBarrier({"full"});
        s.Write(producer, smem, {0, 4});
        s.Arrive(producer, full);
        if (!racy) s.Wait(consumer, full);
        s.Read(consumer, smem, {0, 4});
        if (racy) s.Wait(consumer, full);
      },
      {"RACE_RW"});
}

// 006: the producer laps the consumer. 007: slots are i modulo (stages + 1), barriers i modulo stages.
void Ring(Script& s, bool back_pressure, int slots) {
  constexpr int kStages = 2, kSteps = 6;
  const auto smem = s.Buffer("ring", {8, 4}, ProxySpace::kShared);
  const auto producer = s.Thread("producer"), consumer = s.Thread("consumer");
  std::vector<SemaphoreId> full, free;
  for (int i = 0; i < kStages; ++i) {
    full.push_back(s.model.MakeSemaphore({"full"}));
    free.push_back(s.model.MakeSemaphore({"free"}));
  }
  for (int i = 0; i < kSteps; ++i) {
    const auto stage = static_cast<std::size_t>(i % kStages);
    if (back_pressure && i >= kStages) s.Wait(producer, free[stage]);
    s.Write(producer, smem, {i % slots, 1});
    s.Signal(producer, full[stage]);
    s.Wait(consumer, full[stage]);
    s.Read(consumer, smem, {i % slots, 1});
    if (back_pressure && i + kStages < kSteps) s.Signal(consumer, free[stage]);
  }
}

TEST(Corpus, 006_RingNoBackpressure) {
  Expect([](Script& s, bool racy) { Ring(s, !racy, 2); }, {"RACE_RW"});
}

TEST(Corpus, 007_RingWrongSlot) {
  Expect(
      [](Script& s, bool racy) {
        const auto smem = s.Buffer("ring", {3, 4}, ProxySpace::kShared);
        const auto producer = s.Thread("producer"), consumer = s.Thread("consumer");
        for (int i = 0; i < 3; ++i) {
          const auto full = s.model.MakeSemaphore({"full"});
          s.Write(producer, smem, {i, 1});
          s.Signal(producer, full);
          s.Wait(consumer, full);
          s.Read(consumer, smem, {racy ? (i + 1) % 3 : i, 1});
        }
      },
      {"RACE_RW"});
}

TEST(Corpus, 008_TmaLoadNoWait) {
  Expect(
      [](Script& s, bool racy) {
        const auto gmem = s.Buffer("gmem", {4}, ProxySpace::kGlobal), smem = s.Buffer("smem", {4}, ProxySpace::kShared);
        const auto thread = s.Thread("thread 0");
        const auto bar = s.model.MakeBarrier({"bar"});
        AsyncRequest copy = s.Copy(gmem, {0, 4}, smem, {0, 4});
        copy.completions.push_back({Half::kWrite, bar, 1});
        s.Start(thread, copy);
        if (racy) s.Read(thread, smem, {0, 4});
        s.Wait(thread, bar);
        if (!racy) s.Read(thread, smem, {0, 4});
      },
      {"RACE_ASYNC"});
}

// Six copies in flight; a wait for the last alone gives no order after the first.
TEST(Corpus, 010_SixStagesWaitForTheLast) {
  Expect(
      [](Script& s, bool racy) {
        const auto gmem = s.Buffer("gmem", {6}, ProxySpace::kGlobal), smem = s.Buffer("smem", {6}, ProxySpace::kShared);
        const auto thread = s.Thread("thread 0");
        std::vector<BarrierId> bars;
        for (int i = 0; i < 6; ++i) {
          bars.push_back(s.model.MakeBarrier({"bar"}));
          AsyncRequest copy = s.Copy(gmem, {i, 1}, smem, {i, 1});
          copy.completions.push_back({Half::kWrite, bars.back(), 1});
          s.Start(thread, copy);
        }
        if (racy) {
          s.Wait(thread, bars[5]);
          s.Read(thread, smem, {0, 1});
          for (int i = 0; i < 5; ++i) s.Wait(thread, bars[static_cast<std::size_t>(i)]);
        } else {
          for (const BarrierId bar : bars) s.Wait(thread, bar);
          s.Read(thread, smem, {0, 6});
        }
      },
      {"RACE_ASYNC"});
}

// 011: the source of a store is overwritten before the store has read it. Waiting for the reads is enough.
TEST(Corpus, 011_TmaStoreSourceReuse) {
  for (const std::size_t may_remain : {0u, 1u}) {
    Expect(
        [=](Script& s, bool racy) {
          const auto gmem = s.Buffer("gmem", {4}, ProxySpace::kGlobal),
                     smem = s.Buffer("smem", {2}, ProxySpace::kShared);
          const auto thread = s.Thread("thread 0");
          const auto queue = s.model.MakeQueue(QueueOrder::kHalves);
          for (int i = 0; i < 4; ++i) {
            // With n groups allowed to remain, the slot of n + 1 groups ago is free.
            const std::int64_t slot = may_remain == 1 ? i % 2 : 0;
            const std::size_t awaited = racy ? may_remain + 1 : may_remain;
            s.AwaitGroups(thread, queue, awaited, Half::kRead);
            s.Write(thread, smem, {slot, 1});
            s.Commit(thread);
            AsyncRequest store = s.Copy(smem, {slot, 1}, gmem, {i, 1});
            store.queue = queue;
            store.must_await = Half::kRead;
            s.Start(thread, store);
            s.CommitGroup(thread, queue);
          }
          s.AwaitGroups(thread, queue, 0, Half::kRead);
        },
        {"RACE_ASYNC"});
  }
}

TEST(Corpus, 012_AnotherThreadCannotWaitForMyStore) {
  Expect(
      [](Script& s, bool racy) {
        const auto gmem = s.Buffer("gmem", {4}, ProxySpace::kGlobal), smem = s.Buffer("smem", {4}, ProxySpace::kShared);
        const auto a = s.Thread("thread 0"), b = s.Thread("thread 1");
        const auto bar = s.model.MakeBarrier({"bar"});
        const auto mine = s.model.MakeQueue(QueueOrder::kHalves), others = s.model.MakeQueue(QueueOrder::kHalves);
        AsyncRequest store = s.Copy(smem, {0, 4}, gmem, {0, 4});
        store.queue = mine;
        store.must_await = Half::kRead;
        s.Start(a, store);
        s.CommitGroup(a, mine);
        if (!racy) s.AwaitGroups(a, mine, 0, Half::kRead);
        s.Arrive(a, bar);
        s.Wait(b, bar);
        s.AwaitGroups(b, others, 0, Half::kRead);  // nothing to wait for
        s.Write(b, smem, {0, 4});
        s.AwaitGroups(a, mine, 0, Half::kRead);
      },
      {"RACE_ASYNC"});
}

TEST(Corpus, 013_DoubleStoreOverlaps) {
  Expect(
      [](Script& s, bool racy) {
        const auto gmem = s.Buffer("gmem", {6}, ProxySpace::kGlobal), smem = s.Buffer("smem", {4}, ProxySpace::kShared);
        const auto a = s.Thread("thread 0");
        const auto queue = s.model.MakeQueue(QueueOrder::kHalves);
        for (int i = 0; i < 2; ++i) {
          AsyncRequest store = s.Copy(smem, {0, 3}, gmem, {racy ? 2 * i : 3 * i, 3});
          store.queue = queue;
          s.Start(a, store);
          s.CommitGroup(a, queue);
        }
        s.AwaitGroups(a, queue, 0, Half::kWrite);
      },
      {"RACE_WW"});
}

TEST(Corpus, 014_StoreThenLoadAfterReadOnlyWait) {
  Expect(
      [](Script& s, bool racy) {
        const auto gmem = s.Buffer("gmem", {4}, ProxySpace::kGlobal), smem = s.Buffer("smem", {8}, ProxySpace::kShared);
        const auto a = s.Thread("thread 0");
        const auto queue = s.model.MakeQueue(QueueOrder::kHalves);
        const auto bar = s.model.MakeBarrier({"bar"});
        AsyncRequest store = s.Copy(smem, {0, 4}, gmem, {0, 4});
        store.queue = queue;
        store.must_await = Half::kRead;
        s.Start(a, store);
        s.CommitGroup(a, queue);
        s.AwaitGroups(a, queue, 0, racy ? Half::kRead : Half::kWrite);
        AsyncRequest load = s.Copy(gmem, {0, 4}, smem, {4, 4});
        load.completions.push_back({Half::kWrite, bar, 1});
        s.Start(a, load);
        s.Wait(a, bar);
      },
      {"RACE_RW"});
}

// 015 to 017: where the fence stands. 1: by who wrote, before it arrives; 2: by who issues, after it waited; 4: by who
// issues, before it waits; 8: by a third thread.
TEST(Corpus, 015_CommitSmemSubsets) {
  for (int fences = 0; fences < 16; ++fences) {
    for (std::uint32_t seed = 0; seed < 10; ++seed) {
      Script s;
      const auto gmem = s.Buffer("gmem", {4}, ProxySpace::kGlobal), smem = s.Buffer("smem", {4}, ProxySpace::kShared);
      const auto writer = s.Thread("writer"), issuer = s.Thread("issuer"), third = s.Thread("third");
      const auto bar = s.model.MakeBarrier({"bar"});
      const auto queue = s.model.MakeQueue(QueueOrder::kHalves);
      s.Write(writer, smem, {0, 4});
      if (fences & 1) s.Commit(writer);
      s.Arrive(writer, bar);
      if (fences & 4) s.Commit(issuer);
      s.Wait(issuer, bar);
      if (fences & 2) s.Commit(issuer);
      if (fences & 8) s.Commit(third);
      AsyncRequest store = s.Copy(smem, {0, 4}, gmem, {0, 4});
      store.queue = queue;
      s.Start(issuer, store);
      s.CommitGroup(issuer, queue);
      s.AwaitGroups(issuer, queue, 0, Half::kWrite);
      s.Run(seed);
      EXPECT_EQ(s.Codes(), (fences & 3) != 0 ? Codes{} : Codes{"PROXY"}) << fences << ", seed " << seed;
    }
  }
}

// 016: read, then a TMA load into the same place. The finding depends on the policy, and on which thread does what.
TEST(Corpus, 016_ReadThenTmaLoad) {
  enum class Who { kOne, kOneWithBarrier, kTwo };
  const auto run = [](FencePolicy policy, Who who, bool fence, bool automatic_barriers = false) {
    Script s(policy, /*proxies=*/true, automatic_barriers);
    const auto gmem = s.Buffer("gmem", {4}, ProxySpace::kGlobal), smem = s.Buffer("smem", {4}, ProxySpace::kShared);
    const auto reader = s.Thread("reader");
    const auto issuer = who == Who::kTwo ? s.Thread("issuer") : reader;
    const auto free = s.model.MakeBarrier({"free"}), full = s.model.MakeBarrier({"full"});
    s.Read(reader, smem, {0, 4});
    if (fence) s.Commit(reader);
    if (who != Who::kOne) s.Arrive(reader, free);
    if (who != Who::kOne) s.Wait(issuer, free);
    AsyncRequest load = s.Copy(gmem, {0, 4}, smem, {0, 4});
    load.completions.push_back({Half::kWrite, full, 1});
    s.Start(issuer, load);
    s.Wait(issuer, full);
    s.Run(1);
    return s.Codes();
  };
  using P = FencePolicy;
  const Codes none, proxy = {"PROXY"}, note = {"PROXY_WAR"};
  EXPECT_EQ(run(P::kPallas, Who::kOne, false), proxy);
  EXPECT_EQ(run(P::kPallas, Who::kOneWithBarrier, false), note);
  EXPECT_EQ(run(P::kPallas, Who::kTwo, false), note);
  for (const Who who : {Who::kOne, Who::kOneWithBarrier}) {
    EXPECT_EQ(run(P::kPallas, who, false, true), none);
    EXPECT_EQ(run(P::kStrict, who, false, true), proxy);
  }
  EXPECT_EQ(run(P::kPallas, Who::kTwo, false, true), note);
  EXPECT_EQ(run(P::kStrict, Who::kOne, false), proxy);
  EXPECT_EQ(run(P::kStrict, Who::kTwo, false), proxy);
  EXPECT_EQ(run(P::kLax, Who::kOne, false), none);
  EXPECT_EQ(run(P::kLax, Who::kTwo, false), none);
  for (const P policy : {P::kPallas, P::kStrict, P::kLax}) {
    for (const Who who : {Who::kOne, Who::kOneWithBarrier, Who::kTwo}) EXPECT_EQ(run(policy, who, true), none);
  }
}

TEST(Corpus, 028_TensorMemoryByAPlainBarrier) {
  Expect(
      [](Script& s, bool racy) {
        const auto smem = s.Buffer("a", {4}, ProxySpace::kShared), tmem = s.Buffer("acc", {4}, ProxySpace::kTensor);
        const auto a = s.Thread("thread 0"), b = s.Thread("thread 1");
        const auto done = s.model.MakeBarrier({"done", 1, true});
        const auto hand = s.model.MakeBarrier({"hand", 1, !racy});
        AsyncRequest mma = s.Copy(smem, {0, 4}, tmem, {0, 4});
        mma.name = "mma";
        mma.queue = s.model.MakeQueue(QueueOrder::kIssued);
        mma.destinations[0].proxy = Proxy::kTensorCore;
        mma.completions.push_back({Half::kWrite, done, 1});
        s.Start(a, mma);
        s.Wait(a, done);
        s.Arrive(a, hand);
        s.Wait(b, hand);
        AsyncRequest load = s.Copy(tmem, {0, 4}, smem, {0, 4});
        load.name = "load";
        load.sources[0].proxy = Proxy::kTensorCore;
        const auto loaded = s.model.MakeBarrier({"loaded", 1, true});
        load.completions.push_back({Half::kWrite, loaded, 1});
        s.Start(b, load);
        s.Wait(b, loaded);
      },
      {"BAR_TC_ORDER"});
}

TEST(Corpus, 055_TpuDmaNoWait) {
  for (const bool write_source : {true, false}) {
    Expect(
        [=](Script& s, bool racy) {
          const auto hbm = s.Buffer("hbm", {4}, ProxySpace::kPlain), vmem = s.Buffer("vmem", {4}, ProxySpace::kPlain);
          const auto core = s.Thread("core 0");
          const auto sem = s.model.MakeSemaphore({"sem", SemaphoreKind::kDma});
          AsyncRequest copy = s.Copy(hbm, {0, 4}, vmem, {0, 4});
          copy.completions.push_back({Half::kWrite, sem, 16, CompletionUnit::kBytes});
          s.Start(core, copy);
          if (!racy) s.Wait(core, sem, 16);
          write_source ? s.Write(core, hbm, {1, 1}) : s.Read(core, vmem, {1, 1});
          if (racy) s.Wait(core, sem, 16);
        },
        {"RACE_ASYNC"}, FencePolicy::kPallas, false);
  }
}

Place Device(int n) { return Place{}.With(PlaceLevel::kDevice, n); }

TEST(Corpus, 056_TwoDevicesSendIntoOneSlot) {
  Expect(
      [](Script& s, bool racy) {
        const auto slot = s.Buffer("slot", {2, 4}, ProxySpace::kPlain, Device(2));
        const auto receiver = s.Thread("device 2", Device(2));
        const auto receive = s.model.MakeSemaphore({"recv", SemaphoreKind::kDma});
        for (int d = 0; d < 2; ++d) {
          const auto source = s.Buffer("source", {1, 4}, ProxySpace::kPlain, Device(d));
          const AgentId sender = d == 0 ? s.Thread("device 0", Device(0)) : s.Thread("device 1", Device(1));
          const auto sent = s.model.MakeSemaphore({"send", SemaphoreKind::kDma});
          AsyncRequest copy = s.Copy(source, {0, 1}, slot, {racy ? 0 : d, 1});
          copy.completions = {{Half::kRead, sent, 16, CompletionUnit::kBytes},
                              {Half::kWrite, receive, 16, CompletionUnit::kBytes}};
          s.Start(sender, copy);
          s.Wait(sender, sent, 16);
        }
        s.Wait(receiver, receive, 32);
      },
      {"RACE_XDEV"}, FencePolicy::kPallas, false);
}

// 057: the neighbour is an iteration ahead, and overwrites a slot that is still read; a capacity semaphore stops it.
// The sender's own two writes of one slot are unordered then, too.
TEST(Corpus, 057_RdmaDoubleBuffer) {
  Expect(
      [](Script& s, bool racy) {
        const auto source = s.Buffer("source", {1, 4}, ProxySpace::kPlain, Device(0));
        const auto slots = s.Buffer("slots", {2, 4}, ProxySpace::kPlain, Device(1));
        const auto left = s.Thread("device 0", Device(0)), right = s.Thread("device 1", Device(1));
        const auto sent = s.model.MakeSemaphore({"send", SemaphoreKind::kDma});
        std::vector<SemaphoreId> received, capacity;
        for (int i = 0; i < 2; ++i) {
          received.push_back(s.model.MakeSemaphore({"recv", SemaphoreKind::kDma}));
          capacity.push_back(s.model.MakeSemaphore({"capacity"}));
        }
        for (int i = 0; i < 5; ++i) {
          const auto slot = static_cast<std::size_t>(i % 2);
          if (!racy && i >= 2) s.Wait(left, capacity[slot]);
          AsyncRequest copy = s.Copy(source, {0, 1}, slots, {i % 2, 1});
          copy.completions = {{Half::kRead, sent, 16, CompletionUnit::kBytes},
                              {Half::kWrite, received[slot], 16, CompletionUnit::kBytes}};
          s.Start(left, copy);
          s.Wait(left, sent, 16);
          s.Wait(right, received[slot], 16);
          s.Read(right, slots, {i % 2, 1});
          if (!racy && i + 2 < 5) s.Signal(right, capacity[slot]);
        }
      },
      {"RACE_XDEV", "RACE_WW"}, FencePolicy::kPallas, false);
}

}  // namespace
}  // namespace palladion::memory_model
