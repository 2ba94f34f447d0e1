// What the model composes that none of its parts shows by itself: runs that track no accesses, memory that ends.
#include "memory_model/concurrency_model.h"

#include <gtest/gtest.h>

#include "memory_model/concurrency_test_util.h"

namespace palladion::memory_model {
namespace {

using concurrency_test::Rows;
using concurrency_test::Script;
using Codes = std::set<std::string>;

// Two threads and a copy, of which nothing orders anything; a barrier that completes twice, a semaphore left over, and
// a copy that is never awaited.
void Misbehave(Script& s, BufferId smem, BufferId gmem) {
  const auto a = s.Thread("a"), b = s.Thread("b");
  const auto bar = s.model.MakeBarrier({"bar"});
  const auto sem = s.model.MakeSemaphore({"sem"});
  AsyncRequest load = s.Copy(gmem, {0, 4}, smem, {0, 4});
  load.completions.push_back({Half::kWrite, bar, 1});
  s.Start(a, load);
  s.Wait(b, bar);
  s.Start(b, s.Copy(smem, {0, 4}, gmem, {4, 4}));
  s.Arrive(a, bar);
  s.Signal(b, sem);
}

TEST(TrackAccesses, OffEverythingElseWorks) {
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    Script s;
    s.model.TrackAccesses(false);
    const auto smem = s.Buffer("smem", {4}, ProxySpace::kShared), gmem = s.Buffer("gmem", {8}, ProxySpace::kGlobal);
    Misbehave(s, smem, gmem);
    s.Run(seed);
    Codes codes = s.Codes();
    // Which of the two it is depends on the order.
    EXPECT_GT(codes.erase("BAR_DOUBLE") + codes.erase("BAR_UNAWAITED"), 0u);
    EXPECT_EQ(codes, (Codes{"SEM_LEAK", "NOT_AWAITED"}));
    if (seed == 0) {
      EXPECT_EQ(s.DataOf(1)[7], 2.0f);  // engines at once: there and back
    }
  }
}

TEST(TrackAccesses, OffBuffersNeedNotBeKnown) {
  for (const bool track : {true, false}) {
    Script s;
    s.model.TrackAccesses(track);
    const auto gmem = s.Buffer("gmem", {8}, ProxySpace::kGlobal);
    const auto a = s.Thread("a"), b = s.Thread("b");
    const AccessSet set = s.SetOfRows(gmem, {0, 4});
    if (!track) {
      const BufferId unknown{99};
      s.model.Alloc(a, unknown, {"unknown", {8}, ElementSize(4), ProxySpace::kShared, {}}, {});
      s.model.Touch(a, unknown, AccessKind::kWrite, set, {});
      s.model.Free(a, unknown, {});
    }
    s.model.Touch(a, gmem, AccessKind::kWrite, set, {LocId{}, 1});
    s.model.Touch(b, gmem, AccessKind::kWrite, set, {LocId{}, 2});
    EXPECT_EQ(s.Codes(), track ? Codes{"RACE_WW"} : Codes{});
  }
}

// Arrays that nothing writes, as a machine may leave them out.
TEST(TrackAccesses, MemoryThatWasNotGivenIsNotJudged) {
  Script s;
  std::vector<float> array(4, 9);
  const auto smem = s.Buffer("smem", {4}, ProxySpace::kShared);
  const BufferId weights =
      s.memory.Adopt({.name = "weights", .dtype = DType::kF32, .shape = std::vector<std::int64_t>{4}},
                     reinterpret_cast<std::byte*>(array.data()));
  s.Buffer("late", {4}, ProxySpace::kShared);
  const auto a = s.Thread("a");
  AsyncRequest load = s.Copy(smem, {0, 4}, smem, {0, 4});
  std::get<BoxAccess>(load.sources[0].where).buffer = weights;
  s.Start(a, load);
  s.Read(a, smem, {0, 4});
  s.Run(0);
  EXPECT_EQ(s.DataOf(0)[3], 9.0f);
  s.model.Touch(a, weights, AccessKind::kRead, s.SetOfRows(smem, {0, 4}), {});
  s.model.Free(a, weights, {});
  EXPECT_EQ(s.Codes(), (Codes{"RACE_ASYNC", "NOT_AWAITED"}));  // of smem, and of the copy
}

// A hundred thousand copies, each awaited: nothing is kept that no later query needs.
TEST(TrackAccesses, OffOperationsAreForgottenToo) {
  Script s;
  s.model.TrackAccesses(false);
  const auto gmem = s.Buffer("gmem", {8}, ProxySpace::kGlobal), smem = s.Buffer("smem", {4}, ProxySpace::kShared);
  const auto a = s.Thread("a"), b = s.Thread("b");
  const auto full = s.model.MakeBarrier({"full"}), free = s.model.MakeBarrier({"free"});
  std::size_t most = 0;
  for (int i = 0; i < 100000; ++i) {
    AsyncRequest load = s.Copy(gmem, {0, 4}, smem, {0, 4});
    load.completions.push_back({Half::kWrite, full, 1});
    ASSERT_TRUE(s.model.Start(a, load).ok());
    while (!s.model.Pending().empty()) s.model.Perform(s.model.Pending()[0], &s.memory);
    s.model.Wait(b, full, {});
    s.model.Arrive(b, free, {});
    s.model.Wait(a, free, {});
    most = std::max({most, s.model.agents().operations(), s.model.agents().ClockOf(a)[ClockPart::kGeneric].size()});
  }
  EXPECT_LE(most, 200u);
  s.model.End({});
  EXPECT_EQ(s.Codes(), Codes{});
}

// A block of two threads ends while its store may be in flight: the memory that it reads is freed then.
TEST(FreeAfter, WhatIsInFlightWhenTheBlockEnds) {
  enum class Awaited { kNothing, kRead, kWrite };
  for (const Awaited awaited : {Awaited::kNothing, Awaited::kRead, Awaited::kWrite}) {
    for (std::uint32_t seed = 0; seed < 20; ++seed) {
      Script s;
      const auto smem = s.Buffer("smem", {4}, ProxySpace::kShared), gmem = s.Buffer("gmem", {8}, ProxySpace::kGlobal);
      const auto a = s.Thread("a"), b = s.Thread("b");
      AsyncRequest store = s.Copy(smem, {0, 4}, gmem, {0, 4});
      store.queue = s.model.MakeQueue(QueueOrder::kHalves);
      store.must_await = Half::kRead;
      s.Start(b, store);
      s.CommitGroup(b, store.queue);
      if (awaited != Awaited::kNothing) {
        s.AwaitGroups(b, store.queue, 0, awaited == Awaited::kRead ? Half::kRead : Half::kWrite);
      }
      s.Do(b, [&s, a, b, smem = smem](CodeSite at) { s.model.FreeAfter({a, b}, "the end of block 0", smem, at); });
      s.Run(seed);
      if (awaited != Awaited::kNothing) {
        EXPECT_EQ(s.Codes(), Codes{});
        continue;
      }
      EXPECT_EQ(s.Codes(), (Codes{"USE_AFTER_SCOPE", "NOT_AWAITED"}));
      const Finding& found = *s.Find(FindingCode::kUseAfterScope);
      EXPECT_EQ(found.message,
                "the end of block 0 frees smem[0:4]; copy #0 issued by b reads it, and nothing orders the two");
      EXPECT_EQ(found.why, "nothing orders the end of block 0 after the completion of copy #0 issued by b");
      EXPECT_EQ(found.fix, "wait for the completion of copy #0 issued by b before the scope of 'smem' ends");
    }
  }
}

// Each thread of the block knows of one of two loads; one of them alone does not.
// The end of a block has no line. What its own threads have begun in groups is NOT_AWAITED, and not said twice.
TEST(FreeAfter, WhatABlockLeavesBehindIsOneFinding) {
  for (const auto must_await : {std::optional(Half::kRead), std::optional<Half>()}) {
    for (const bool of_peer : {false, true}) {
      Script s;
      const Place block = Place().With(PlaceLevel::kBlock, 0);
      const auto smem = s.Buffer("smem", {4}, ProxySpace::kShared, block),
                 gmem = s.Buffer("gmem", {8}, ProxySpace::kGlobal);
      const auto a = s.Thread("a", block), peer = s.Thread("peer", Place().With(PlaceLevel::kBlock, 1));
      AsyncRequest store = s.Copy(smem, {0, 4}, gmem, {0, 4});
      store.queue = s.model.MakeQueue(QueueOrder::kHalves);
      store.must_await = must_await;
      s.Start(of_peer ? peer : a, store);
      s.Do(of_peer ? peer : a,
           [&s, a = a, smem = smem](CodeSite) { s.model.FreeAfter({a}, "the end of block 0", smem, {}); });
      s.Run(3);
      Codes expected;
      if (must_await.has_value()) expected.insert("NOT_AWAITED");
      if (of_peer) expected.insert("PEER_LIFETIME");
      EXPECT_EQ(s.Codes(), expected);
    }
  }
}

TEST(FreeAfter, AllThreadsOfTheBlockTogether) {
  for (const bool all : {true, false}) {
    Script s;
    const auto smem = s.Buffer("smem", {4}, ProxySpace::kShared), gmem = s.Buffer("gmem", {4}, ProxySpace::kGlobal);
    const auto a = s.Thread("a"), b = s.Thread("b"), peer = s.Thread("peer", Place().With(PlaceLevel::kBlock, 1));
    const auto one = s.model.MakeBarrier({"one"}), two = s.model.MakeBarrier({"two"});
    const auto load = [&](const Rows& rows, BarrierId barrier) {
      AsyncRequest request = s.Copy(gmem, rows, smem, rows);
      request.completions.push_back({Half::kWrite, barrier, 1});
      s.Start(a, request);
    };
    load({0, 2}, one);
    load({2, 2}, two);
    s.Wait(a, one);
    s.Wait(b, two);
    s.Run(3);
    std::vector<AgentId> agents = {a};
    if (all) agents.push_back(b);
    s.model.FreeAfter(agents, "the end of block 0", smem, {LocId{}, 90});
    EXPECT_EQ(s.Codes(), all ? Codes{} : Codes{"USE_AFTER_SCOPE"});
    s.model.Touch(peer, smem, AccessKind::kRead, s.SetOfRows(smem, {0, 1}), {LocId{}, 91});
    EXPECT_EQ(s.Codes().count("USE_AFTER_SCOPE"), 1u);
    EXPECT_EQ(s.model.findings().back().why, "its life ended with the end of block 0");
  }
}

// Two agents at one line do the same; of a place that has no line, that is not known.
TEST(ConcurrencyModel, WhatOrdersTwoAgentsDependsOnWhetherTheyAreAtOneLine) {
  for (const int line : {0, 7}) {
    Script s;
    const Place block = Place().With(PlaceLevel::kBlock, 0);
    const auto smem = s.Buffer("smem", {4}, ProxySpace::kShared, block);
    for (const AgentId thread : {s.Thread("a", block), s.Thread("b", block)})
      s.model.Touch(thread, smem, AccessKind::kWrite, s.SetOfRows(smem, {0, 4}), {LocId{}, line});
    const Finding* found = s.Find(FindingCode::kRaceWriteWrite);
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->fix, line > 0 ? "give each of a and b elements of its own, or let only one of them do it"
                                   : "plgpu.barrier_arrive in a and plgpu.barrier_wait in b, on one plgpu.Barrier");
  }
}

// A block's fetch for the next program, and the flush of an aliased one: which of the two buffers leaves them
// unordered.
TEST(ConcurrencyModel, AnAliasSaysWhoseBuffersLeaveItOpen) {
  for (const bool fetch_has_two : {true, false}) {
    Script s(FencePolicy::kPallas, /*proxies=*/false);
    const auto x = s.Buffer("x", {4}, ProxySpace::kGlobal), in = s.Buffer("in", {4}, ProxySpace::kShared),
               out = s.Buffer("out", {4}, ProxySpace::kShared);
    const AgentId core = s.Thread("core");
    const auto start = [&](AsyncRequest request, BlockCopy block) {
      request.block = std::make_shared<const BlockCopy>(std::move(block));
      s.Start(core, request);
    };
    start(s.Copy(out, {0, 4}, x, {0, 4}),
          {.ref = "o", .flush = true, .buffers = fetch_has_two ? 1 : 2, .number = 0, .program = {0}});
    start(s.Copy(x, {0, 4}, in, {0, 4}),
          {.ref = "i", .flush = false, .buffers = fetch_has_two ? 2 : 1, .number = 1, .program = {1}});
    s.Run(0);
    const Finding* found = s.Find(FindingCode::kAlias);
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->why.substr(0, found->why.find(" blocks ")),
              fetch_has_two ? "with two buffers for the input's" : "with two buffers for the output's");
  }
}

// The lists of an operation that is done give their room to the next request, and nothing else of it.
TEST(ConcurrencyModel, ANewRequestIsEmpty) {
  Script s;
  const AgentId thread = s.Thread("thread");
  const BufferId from = s.Buffer("from", {1}, ProxySpace::kGlobal), to = s.Buffer("to", {1}, ProxySpace::kShared);
  const auto element = [](BufferId buffer) {
    return AsyncOperand{.where = AsyncPoints{.buffer = buffer, .offset = {0}, .piece_bytes = ByteCount(4)},
                        .bytes = ByteCount(4)};
  };
  AsyncRequest request = s.model.NewRequest();
  request.name = "store", request.await = "wait()";
  request.sources.push_back(element(from));
  request.destinations.push_back(element(to));
  request.function = [](const auto& in, auto* out) { *out = in; };
  request.completions.push_back({.object = s.model.MakeBarrier({"bar"})});
  request.must_await = Half::kRead;
  request.program = {7};
  const auto operation = s.model.Start(thread, std::move(request));
  ASSERT_TRUE(operation.ok());
  EXPECT_EQ(s.model.NewRequest().sources.capacity(), 0U) << "it is under way";
  s.model.Perform({*operation, Half::kRead}, &s.memory);
  s.model.Perform({*operation, Half::kWrite}, &s.memory);
  const AsyncRequest next = s.model.NewRequest(), none;
  EXPECT_GT(next.sources.capacity(), 0U);
  EXPECT_TRUE(next.sources.empty() && next.destinations.empty() && next.completions.empty() && next.program.empty());
  EXPECT_EQ(next.name, none.name);
  EXPECT_EQ(next.await, none.await);
  EXPECT_EQ(next.must_await, none.must_await);
  EXPECT_EQ(next.function, nullptr);
}

}  // namespace
}  // namespace palladion::memory_model
