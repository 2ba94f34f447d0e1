// Asynchronous operations in every order of their halves: which orders there are is worked out a second time from the
// rules, what memory holds is worked out with plain arrays, and what is found must not depend on the order.
#include "memory_model/engine/async_engine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "memory_model/concurrency_test_util.h"

namespace palladion::memory_model {
namespace {

using concurrency_test::Rows;
using concurrency_test::Script;
using Codes = std::set<std::string>;

// Copies `from` to `to` of three one-element buffers.
struct CopyOf {
  int from, to;
};
struct Moment {
  int copy;
  Half half;
  friend bool operator<(const Moment& a, const Moment& b) {
    return std::pair(a.copy, static_cast<int>(a.half)) < std::pair(b.copy, static_cast<int>(b.half));
  }
  friend bool operator==(const Moment& a, const Moment& b) { return a.copy == b.copy && a.half == b.half; }
};
using Order = std::vector<Moment>;

bool Legal(const Order& order, std::optional<QueueOrder> queue) {
  const auto at = [&](int copy, Half half) {
    return std::find(order.begin(), order.end(), Moment{copy, half}) - order.begin();
  };
  const int n = static_cast<int>(order.size()) / 2;
  for (int i = 0; i < n; ++i) {
    if (at(i, Half::kRead) > at(i, Half::kWrite)) return false;
    if (i == 0 || !queue.has_value() || *queue == QueueOrder::kNone) continue;
    if (at(i - 1, Half::kWrite) > at(i, Half::kWrite)) return false;
    if (*queue != QueueOrder::kLanding && at(i - 1, Half::kRead) > at(i, Half::kRead)) return false;
    if (*queue == QueueOrder::kSerial && at(i - 1, Half::kWrite) > at(i, Half::kRead)) return false;
  }
  return true;
}

std::set<Order> AllOrders(int copies, std::optional<QueueOrder> queue) {
  Order order;
  for (int i = 0; i < copies; ++i) {
    order.push_back({i, Half::kRead});
    order.push_back({i, Half::kWrite});
  }
  std::sort(order.begin(), order.end());
  std::set<Order> legal;
  do {
    if (Legal(order, queue)) legal.insert(order);
  } while (std::next_permutation(order.begin(), order.end()));
  return legal;
}

std::vector<float> Naive(const std::vector<CopyOf>& copies, const Order& order) {
  std::vector<float> memory = {1, 2, 3}, taken(copies.size());
  for (const Moment& moment : order) {
    const CopyOf& copy = copies[static_cast<std::size_t>(moment.copy)];
    float& value = taken[static_cast<std::size_t>(moment.copy)];
    if (moment.half == Half::kRead) value = memory[static_cast<std::size_t>(copy.from)];
    if (moment.half == Half::kWrite) memory[static_cast<std::size_t>(copy.to)] = value;
  }
  return memory;
}

struct Outcome {
  Order order;
  std::vector<float> memory;
  Codes codes;
};

// Follows `choices`, then takes always the first; *options is the number of choices at each step.
Outcome RunOnce(const std::vector<CopyOf>& copies, std::optional<QueueOrder> order,
                const std::vector<std::size_t>& choices, std::vector<std::size_t>* options) {
  Script s(FencePolicy::kPallas, false);
  std::vector<BufferId> buffers;
  for (int i = 0; i < 3; ++i) buffers.push_back(s.Buffer("b", {1}, ProxySpace::kPlain));
  const AgentId core = s.Thread("core");
  const QueueId queue = order.has_value() ? s.model.MakeQueue(*order) : QueueId{};
  const SemaphoreId done = s.model.MakeSemaphore({"done"});
  for (std::size_t i = 0; i < copies.size(); ++i) {
    AsyncRequest request = s.Copy(buffers[static_cast<std::size_t>(copies[i].from)], {0, 1},
                                  buffers[static_cast<std::size_t>(copies[i].to)], {0, 1});
    request.queue = queue;
    request.completions.push_back({Half::kWrite, done, 1, CompletionUnit::kCount});
    request.site = {LocId{}, static_cast<int>(i) + 1};
    EXPECT_TRUE(s.model.Start(core, request).ok());
  }
  Outcome outcome;
  std::optional<std::int32_t> first;
  for (std::size_t step = 0;; ++step) {
    const auto pending = s.model.Pending();
    if (pending.empty()) break;
    options->push_back(pending.size());
    const PendingHalf& half = pending[step < choices.size() ? choices[step] : 0];
    if (!first.has_value()) first = (1 << 28);
    outcome.order.push_back({half.operation.value - *first, half.half});
    s.model.Perform(half, &s.memory);
  }
  EXPECT_TRUE(s.model.CanWait(done, static_cast<std::int64_t>(copies.size())));
  s.model.Wait(core, done, static_cast<std::int64_t>(copies.size()));
  s.model.End({});
  for (std::size_t i = 0; i < 3; ++i) outcome.memory.push_back(s.DataOf(i)[0]);
  outcome.codes = s.Codes();
  return outcome;
}

template <class Visit>
void ForEachOrder(const std::vector<CopyOf>& copies, std::optional<QueueOrder> queue, const Visit& visit) {
  std::vector<std::size_t> choices;
  while (true) {
    std::vector<std::size_t> options;
    visit(RunOnce(copies, queue, choices, &options));
    choices.resize(options.size(), 0);
    while (!choices.empty() && choices.back() + 1 >= options[choices.size() - 1]) choices.pop_back();
    if (choices.empty()) return;
    ++choices.back();
  }
}

// Does one read what an earlier one writes?
bool ReadsWhatIsWritten(const std::vector<CopyOf>& copies) {
  for (std::size_t i = 0; i < copies.size(); ++i) {
    for (std::size_t k = i + 1; k < copies.size(); ++k) {
      if (copies[k].from == copies[i].to) return true;
    }
  }
  return false;
}

TEST(AsyncEngine, EveryOrderOfTwoOrThreeCopies) {
  const std::vector<std::vector<CopyOf>> all = {
      {{0, 1}, {1, 2}}, {{0, 1}, {2, 1}},         {{0, 1}, {1, 0}},
      {{0, 1}, {0, 2}}, {{0, 1}, {1, 2}, {2, 0}}, {{0, 1}, {0, 2}, {2, 1}},
  };
  const std::vector<std::optional<QueueOrder>> queues = {std::nullopt, QueueOrder::kNone, QueueOrder::kHalves,
                                                         QueueOrder::kLanding, QueueOrder::kSerial};
  for (const auto& copies : all) {
    for (const auto& queue : queues) {
      std::set<Order> orders;
      std::set<Codes> findings;
      ForEachOrder(copies, queue, [&](const Outcome& outcome) {
        EXPECT_TRUE(orders.insert(outcome.order).second);
        EXPECT_EQ(outcome.memory, Naive(copies, outcome.order));
        findings.insert(outcome.codes);
      });
      EXPECT_EQ(orders, AllOrders(static_cast<int>(copies.size()), queue));
      ASSERT_EQ(findings.size(), 1u);  // the same in every order
      // Only a serial queue orders all accesses of its operations, and one of landings the writes after all that came
      // before; all but one list of copies has a conflict.
      const bool conflict = !(copies.size() == 2 && copies[1].from == 0);
      const bool landing = queue == QueueOrder::kLanding && !ReadsWhatIsWritten(copies);
      EXPECT_EQ(findings.begin()->empty(), !conflict || landing || queue == QueueOrder::kSerial);
    }
  }
}

TEST(AsyncEngine, AFunctionOfAllItsSourcesAndPlaceLists) {
  Script s(FencePolicy::kPallas, false);
  const auto a = s.Buffer("a", {4}, ProxySpace::kPlain), b = s.Buffer("b", {4}, ProxySpace::kPlain),
             out = s.Buffer("out", {6}, ProxySpace::kPlain);
  const AgentId core = s.Thread("core");
  AsyncRequest request;
  request.name = "add";
  request.sources = {s.Operand(a, {0, 2}), {AsyncPoints{b, {12, 4}, ByteCount(4), 1}, ByteCount(8)}};
  request.destinations = {{AsyncPoints{out, {20, 0}, ByteCount(4), 1}, ByteCount(8)}};
  request.function = [](const std::vector<AsyncValue>& in, std::vector<AsyncValue>* result) {
    for (std::size_t i = 0; i < 2; ++i) {
      reinterpret_cast<float*>((*result)[0].bytes.data())[i] =
          reinterpret_cast<const float*>(in[0].bytes.data())[i] + reinterpret_cast<const float*>(in[1].bytes.data())[i];
    }
  };
  ASSERT_TRUE(s.model.Start(core, request).ok());
  EXPECT_EQ(s.model.Pending().size(), 1u);  // nothing can be written before all is read
  while (!s.model.Pending().empty()) s.model.Perform(s.model.Pending().back(), &s.memory);
  EXPECT_EQ(s.DataOf(2), (std::vector<float>{3, 3, 3, 3, 3, 3}));
  // The history has exactly those elements.
  s.model.Touch(core, out, AccessKind::kRead, s.SetOfRows(out, {1, 4}), {});
  EXPECT_EQ(s.Codes(), Codes{});
  s.model.Touch(core, out, AccessKind::kRead, s.SetOfRows(out, {5, 1}), {});
  EXPECT_EQ(s.Codes(), Codes{"RACE_ASYNC"});
}

void Add(const std::byte* old, const std::byte* operand, const std::byte*, std::byte* result) {
  *reinterpret_cast<float*>(result) = *reinterpret_cast<const float*>(old) + *reinterpret_cast<const float*>(operand);
}

// Reductions of one place need no order between each other: what comes of them is the sum in every order of halves.
// With everything else they do.
TEST(AsyncEngine, ReductionsCommute) {
  enum class Also { kNothing, kCopy, kRead };
  for (const Also also : {Also::kNothing, Also::kCopy, Also::kRead}) {
    for (const bool points : {false, true}) {
      for (std::uint32_t seed = 0; seed < 30; ++seed) {
        Script s;
        const auto smem = s.Buffer("smem", {4, 3}, ProxySpace::kShared),
                   out = s.Buffer("out", {5, 3}, ProxySpace::kGlobal);
        const AgentId a = s.Thread("a"), b = s.Thread("b");
        AsyncRequest reduce = s.Copy(smem, {0, 4}, out, {1, 4});
        reduce.must_await = Half::kRead;
        reduce.destinations[0].reduce = Add;
        if (points) {
          AsyncPoints places{out, {}, ByteCount(4), 1};
          for (std::int64_t e = 15; e-- > 3;) places.offset.push_back(4 * e);
          reduce.destinations[0].where = places;
        }
        AsyncRequest other = reduce;
        if (also == Also::kCopy) other.destinations[0].reduce = nullptr;
        for (const AgentId t : {a, b}) {
          reduce.queue = other.queue = s.model.MakeQueue(QueueOrder::kHalves);
          s.Start(t, t == a ? reduce : other);
          s.CommitGroup(t, reduce.queue);
          s.AwaitGroups(t, reduce.queue, 0, Half::kRead);
        }
        if (also == Also::kRead) s.Read(b, out, {4, 1});
        s.Run(seed);
        EXPECT_EQ(s.Codes(), also == Also::kNothing ? Codes{}
                             : also == Also::kCopy  ? Codes{"RACE_WW"}
                                                    : Codes{"RACE_ASYNC"});
        if (also == Also::kCopy) continue;
        for (std::size_t e = 0; e < 15; ++e) EXPECT_EQ(s.DataOf(1)[e], e < 3 ? 2.0f : 4.0f) << e;
      }
    }
  }
}

// What lies outside is left out, and reported once where it is an error.
TEST(AsyncEngine, AReductionOutsideItsRef) {
  for (const Outside outside : {Outside::kPad, Outside::kError}) {
    Script s;
    const auto smem = s.Buffer("smem", {4, 2}, ProxySpace::kShared), out = s.Buffer("out", {3, 2}, ProxySpace::kGlobal);
    const AgentId a = s.Thread("a");
    AsyncRequest reduce = s.Copy(smem, {0, 4}, out, {1, 4});
    reduce.destinations[0].reduce = Add;
    std::get<BoxAccess>(reduce.destinations[0].where).outside = outside;
    std::get<BoxAccess>(reduce.destinations[0].where).upper[0] = outside == Outside::kPad ? 5 : 3;
    s.Start(a, reduce);
    s.Run(0);
    EXPECT_EQ(s.DataOf(1), (std::vector<float>{2, 2, 3, 3, 3, 3}));
    EXPECT_EQ(s.memory.findings().size(), outside == Outside::kPad ? 0u : 1u);
  }
}

TEST(AsyncEngine, ACommitReleasesAllEarlierOnesOfItsQueueOnly) {
  for (const bool own : {true, false}) {
    Script s;
    const auto smem = s.Buffer("smem", {4}, ProxySpace::kShared), other = s.Buffer("other", {4}, ProxySpace::kShared);
    const AgentId a = s.Thread("a");
    const auto mine = s.model.MakeQueue(QueueOrder::kNone), others = s.model.MakeQueue(QueueOrder::kNone);
    const auto bar = s.model.MakeBarrier({"bar"});
    AsyncRequest copy = s.Copy(smem, {0, 4}, other, {0, 4});
    copy.queue = mine;
    s.Start(a, copy);
    AsyncRequest commit;
    commit.name = "commit";
    commit.queue = own ? mine : others;
    commit.after_earlier = true;
    commit.completions.push_back({Half::kWrite, bar, 1});
    s.Start(a, commit);
    s.Wait(a, bar);
    s.Read(a, other, {0, 4});
    s.Run(7);
    EXPECT_EQ(s.Codes(), own ? Codes{} : (Codes{"RACE_ASYNC", "NOT_AWAITED"}));
  }
}

TEST(AsyncEngine, NotAwaitedAtExit) {
  for (const Half must : {Half::kRead, Half::kWrite}) {
    for (const Half awaited : {Half::kRead, Half::kWrite}) {
      Script s;
      const auto smem = s.Buffer("smem", {4}, ProxySpace::kShared), gmem = s.Buffer("gmem", {4}, ProxySpace::kGlobal);
      const AgentId a = s.Thread("a");
      const auto queue = s.model.MakeQueue(QueueOrder::kHalves);
      AsyncRequest store = s.Copy(smem, {0, 4}, gmem, {0, 4});
      store.queue = queue;
      store.must_await = must;
      s.Start(a, store);
      s.CommitGroup(a, queue);
      s.AwaitGroups(a, queue, 0, awaited);
      s.Run(3);
      const bool missed = must == Half::kWrite && awaited == Half::kRead;
      EXPECT_EQ(s.Codes(), missed ? Codes{"NOT_AWAITED"} : Codes{});
    }
  }
}

TEST(AsyncEngine, RefusesWhatItCannotDo) {
  Script s;
  const auto a = s.Buffer("a", {4}, ProxySpace::kPlain), b = s.Buffer("b", {4}, ProxySpace::kPlain);
  const AgentId core = s.Thread("core");
  const auto message = [&](const AsyncRequest& request) {
    return std::string(s.model.Start(core, request).status().message());
  };
  EXPECT_NE(message(s.Copy(a, {0, 4}, b, {0, 3})).find("16 bytes and its destination 12"), std::string::npos);
  AsyncRequest none;
  none.completions.push_back({Half::kRead, s.model.MakeSemaphore({"s"}), 1, CompletionUnit::kCount});
  EXPECT_NE(message(none).find("reads nothing"), std::string::npos);
  AsyncRequest commit;
  commit.after_earlier = true;
  EXPECT_NE(message(commit).find("no queue"), std::string::npos);
  AsyncRequest masked = s.Copy(a, {0, 4}, b, {0, 4});
  const std::uint8_t lanes[] = {1, 0, 1, 1};
  std::get<BoxAccess>(masked.sources[0].where).mask.lanes = lanes;
  EXPECT_NE(message(masked).find("masked"), std::string::npos);
  AsyncRequest reading = s.Copy(a, {0, 4}, b, {0, 4});
  reading.sources[0].reduce = Add;
  EXPECT_NE(message(reading).find("a source that reduces"), std::string::npos);
  AsyncRequest halves = s.Copy(a, {0, 4}, b, {0, 4});
  halves.sources[0].where = AsyncPoints{a, {0, 2, 4, 6, 8, 10, 12, 14}, ByteCount(2), 1};
  EXPECT_NE(message(halves).find("8 elements and its destination 4"), std::string::npos);
}

// A hundred thousand copies through a ring of four slots: what is remembered does not grow.
TEST(AsyncEngine, OperationsAreForgotten) {
  Script s(FencePolicy::kPallas, false);
  const auto hbm = s.Buffer("hbm", {16, 2}, ProxySpace::kPlain), vmem = s.Buffer("vmem", {4, 2}, ProxySpace::kPlain);
  const AgentId core = s.Thread("core");
  const auto sem = s.model.MakeSemaphore({"sem", SemaphoreKind::kDma});
  std::size_t most = 0;
  for (int i = 0; i < 100000; ++i) {
    AsyncRequest copy = s.Copy(hbm, {i % 16, 1}, vmem, {i % 4, 1});
    copy.completions.push_back({Half::kWrite, sem, 8, CompletionUnit::kBytes});
    ASSERT_TRUE(s.model.Start(core, copy).ok());
    while (!s.model.Pending().empty()) s.model.Perform(s.model.Pending()[0], &s.memory);
    s.model.Wait(core, sem, 8);
    s.model.Touch(core, vmem, AccessKind::kRead, s.SetOfRows(vmem, {i % 4, 1}), {});
    most = std::max({most, s.model.agents().operations(), s.model.agents().ClockOf(core)[ClockPart::kGeneric].size()});
  }
  EXPECT_LE(most, 200u);
  s.model.End({});
  EXPECT_EQ(s.Codes(), Codes{});
}

}  // namespace
}  // namespace palladion::memory_model
