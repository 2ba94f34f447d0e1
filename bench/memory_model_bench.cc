// What race checking costs for each access, by pattern: nanoseconds an access, joins of clocks included. The aims are
// reference figures of a list of boxes written for the pattern: under 10 for a ring of whole slots, 10 to 20 for
// partial boxes.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

#include "memory_model/concurrency_model.h"
#include "memory_model/order/access_history.h"
#include "memory_model/order/agents.h"
#include "memory_model/sync/barrier.h"

namespace palladion::bench {
namespace {

using Shape = std::vector<std::int64_t>;
constexpr CodeSite kLine = {LocId{}, 1};

// Two agents pass slots to and fro: the producer writes one, the consumer reads it, in `reads` pieces of rows. With 128
// rows the pieces are adjacent and become one box again.
void Ring(benchmark::State& state) {
  const auto slots = static_cast<std::int32_t>(state.range(0)), reads = static_cast<std::int32_t>(state.range(1));
  memory_model::AgentTable agents;
  const AgentId producer = agents.Add("producer", {}), consumer = agents.Add("consumer", {});
  memory_model::AccessHistory history(Shape{slots, 128, 64}, ElementSize(2));
  std::vector<memory_model::AccessConflict> conflicts;
  memory_model::ClockBundle full, free;
  memory_model::AccessSet set = memory_model::AccessSet::Of(memory_model::AccessBox{
      3,
      {memory_model::Progression{0, 1, 1}, memory_model::Progression{0, 128, 1}, memory_model::Progression{0, 64, 1}}});
  const auto touch = [&](AgentId who, AccessKind kind) {
    const memory_model::AccessEvent event{.who = who, .time = agents.NowOf(who), .kind = kind, .text_line = 1};
    history.Apply(event, set, {agents.ClockOf(who), memory_model::ClockPart::kGeneric, who}, &conflicts);
  };
  std::int32_t slot = 0;
  for (auto _ : state) {
    set.box.dim[0].start = slot;
    set.box.dim[1] = {0, 128, 1};
    touch(producer, AccessKind::kWrite);
    full.Join(agents.ClockOf(producer));
    agents.Tick(producer, kLine);
    agents.Acquire(consumer, full);
    for (std::int32_t r = 0; r < reads; ++r) {
      set.box.dim[1] = {r * (128 / reads), 128 / reads, 1};
      touch(consumer, AccessKind::kRead);
    }
    free.Join(agents.ClockOf(consumer));
    agents.Tick(consumer, kLine);
    agents.Acquire(producer, free);
    slot = slot + 1 == slots ? 0 : slot + 1;
  }
  if (!conflicts.empty()) state.SkipWithError("a race in a ring that has none");
  const double accesses = static_cast<double>(state.iterations()) * (1 + reads);
  state.counters["ns_per_access"] =
      benchmark::Counter(accesses / 1e9, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.counters["records"] = static_cast<double>(history.records());
}
BENCHMARK(Ring)->Args({2, 1})->Args({4, 1})->Args({4, 16})->Args({32, 1});

// The same ring through barriers and the model that a machine composes.
void RingOfBarriers(benchmark::State& state) {
  memory_model::ConcurrencyModel model;
  const AgentId producer = model.agents().Add("producer", {}), consumer = model.agents().Add("consumer", {});
  const BufferId buffer{0};
  model.Adopt(buffer, {"ring", Shape{4, 128, 64}, ElementSize(2), memory_model::ProxySpace::kShared, {}});
  std::vector<BarrierId> full, free;
  for (int i = 0; i < 4; ++i) {
    full.push_back(model.MakeBarrier({"full"}));
    free.push_back(model.MakeBarrier({"free"}));
  }
  memory_model::AccessSet set = memory_model::AccessSet::Of(memory_model::AccessBox{
      3,
      {memory_model::Progression{0, 1, 1}, memory_model::Progression{0, 128, 1}, memory_model::Progression{0, 64, 1}}});
  std::int64_t turn = 0;
  for (auto _ : state) {
    const auto slot = static_cast<std::size_t>(turn % 4);
    set.box.dim[0].start = static_cast<std::int32_t>(slot);
    if (turn >= 4) model.Wait(producer, free[slot], kLine);
    model.Touch(producer, buffer, AccessKind::kWrite, set, kLine);
    model.Arrive(producer, full[slot], kLine);
    model.Wait(consumer, full[slot], kLine);
    model.Touch(consumer, buffer, AccessKind::kRead, set, kLine);
    model.Arrive(consumer, free[slot], kLine);
    ++turn;
  }
  if (!model.findings().empty()) state.SkipWithError("a finding in a ring that has none");
  state.counters["ns_per_access"] = benchmark::Counter(2e-9 * static_cast<double>(state.iterations()),
                                                       benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(RingOfBarriers);

// One write of everything, then single elements here and there: granules.
void Scattered(benchmark::State& state) {
  memory_model::AgentTable agents;
  const AgentId producer = agents.Add("producer", {}), consumer = agents.Add("consumer", {});
  memory_model::AccessHistory history(Shape{128, 64}, ElementSize(2));
  std::vector<memory_model::AccessConflict> conflicts;
  for (auto _ : state) {
    const memory_model::AccessEvent write{.who = producer, .time = agents.NowOf(producer), .kind = AccessKind::kWrite};
    history.Apply(write, memory_model::AccessSet::Of(memory_model::AccessBox::Whole(Shape{128, 64})),
                  {agents.ClockOf(producer), memory_model::ClockPart::kGeneric, producer}, &conflicts);
    agents.Acquire(consumer, agents.ClockOf(producer));
    agents.Tick(producer, kLine);
    for (std::int32_t i = 0; i < 255; ++i) {
      const std::int32_t at = i * 97 % (128 * 64);
      const memory_model::AccessEvent read{.who = consumer, .time = agents.NowOf(consumer), .kind = AccessKind::kRead};
      history.Apply(read,
                    memory_model::AccessSet::Of(memory_model::AccessBox{
                        2, {memory_model::Progression{at / 64, 1, 1}, memory_model::Progression{at % 64, 1, 1}}}),
                    {agents.ClockOf(consumer), memory_model::ClockPart::kGeneric, consumer}, &conflicts);
    }
    agents.Acquire(producer, agents.ClockOf(consumer));
    agents.Tick(consumer, kLine);
  }
  state.counters["ns_per_access"] = benchmark::Counter(256e-9 * static_cast<double>(state.iterations()),
                                                       benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(Scattered);

}  // namespace
}  // namespace palladion::bench
