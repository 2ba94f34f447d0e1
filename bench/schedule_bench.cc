// What choosing schedules costs, without what the operations do: 1,000 seeds of the portfolio over 64 agents of 10
// operations each, on one thread and on two. Agents that are plain data, as a kernel's are, and C++ functions on stacks
// of their own. An item is an operation.
#include <benchmark/benchmark.h>

#include <memory>
#include <vector>

#include "scheduler/coroutine_agent.h"
#include "scheduler/policies/portfolio.h"
#include "scheduler/run_loop.h"
#include "scheduler/search/parallel_seeds.h"

namespace palladion::bench {
namespace {

constexpr int kAgents = 64, kOperations = 10, kSeeds = 1000;

// Every third operation is on what all share, as in a kernel that draws tickets.
scheduler::Footprint FootprintOf(int agent, int operation) {
  return scheduler::Footprint::Writes(operation % 3 == 0 ? 0 : 1 + agent);
}

class Steps final : public scheduler::Agent {
 public:
  Steps(int number, std::int64_t& sum) : number_(number), sum_(sum) {}
  absl::Status Resume(scheduler::Gate& gate) override {
    for (; at_ < kOperations; ++at_) {
      if (!gate.MayGo({.footprint = FootprintOf(number_, at_)})) return absl::OkStatus();
      sum_ = 3 * sum_ + number_;
    }
    return absl::OkStatus();
  }
  bool done() const override { return at_ == kOperations; }
  std::string Name() const override { return "steps"; }

 private:
  int number_;
  std::int64_t& sum_;
  int at_ = 0;
};

std::unique_ptr<scheduler::Agent> PlainAgent(int number, std::int64_t& sum) {
  return std::make_unique<Steps>(number, sum);
}

std::unique_ptr<scheduler::Agent> FunctionAgent(int number, std::int64_t& sum) {
  return std::make_unique<scheduler::CoroutineAgent>("function", [number, &sum](scheduler::AgentContext& me) {
    for (int i = 0; i < kOperations; ++i) {
      me.Go({.footprint = FootprintOf(number, i)});
      sum = 3 * sum + number;
    }
  });
}

template <auto make>
void Seeds(benchmark::State& state) {
  const scheduler::RunLengths lengths{kAgents * kOperations, std::vector<std::int64_t>(kAgents, kOperations)};
  const auto run = [&](std::int64_t seed) {
    std::int64_t sum = 0;
    std::vector<std::unique_ptr<scheduler::Agent>> agents;
    for (int a = 0; a < kAgents; ++a) agents.push_back(make(a, sum));
    scheduler::AgentList list(std::move(agents));
    const auto number = static_cast<std::uint64_t>(seed);
    const std::unique_ptr<scheduler::Policy> policy =
        scheduler::MakePolicy(scheduler::PolicyOfSeed(number), number, lengths);
    const absl::StatusOr<scheduler::LoopResult> result = scheduler::RunLoop(list, {.record = false}).Run(*policy);
    return result.ok() && result->steps == kAgents * kOperations ? sum : -1;
  };
  const auto threads = static_cast<int>(state.range(0));
  for (auto _ : state) {
    std::int64_t all = 0;
    scheduler::ParallelSeeds<std::int64_t>(0, kSeeds, threads).Do(run, [&](std::int64_t, std::int64_t sum) {
      all ^= sum;
      return sum != -1;
    });
    benchmark::DoNotOptimize(all);
  }
  state.SetItemsProcessed(state.iterations() * kSeeds * kAgents * kOperations);
}
BENCHMARK(Seeds<PlainAgent>)->Name("schedule/plain_data")->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(Seeds<FunctionAgent>)
    ->Name("schedule/functions")
    ->Arg(1)
    ->Arg(2)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace palladion::bench
