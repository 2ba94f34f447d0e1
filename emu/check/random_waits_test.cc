// Random small kernels in which waits for counts matter, as pipelines and protocols have them: what one run proves, no
// other schedule contradicts. And it is no empty claim: many are proved, and of many others a schedule shows a defect.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "emu/check.h"
#include "emu/check/waits_test_util.h"
#include "scheduler/policies/random.h"
#include "semantics/base/cat.h"
#include "semantics/base/sanitized_test_util.h"

namespace palladion::check {
namespace {

using scheduler::Random;

int Below(Random& random, int n) { return static_cast<int>(random.Below(static_cast<std::uint64_t>(n))); }

// The lists in one, each in its order.
std::string Interleaved(Random& random, std::vector<std::vector<std::string>> lists) {
  std::string text;
  for (;;) {
    lists.erase(std::remove_if(lists.begin(), lists.end(), [](const auto& list) { return list.empty(); }), lists.end());
    if (lists.empty()) return text;
    std::vector<std::string>& list = lists[static_cast<std::size_t>(Below(random, static_cast<int>(lists.size())))];
    text += list.front();
    list.erase(list.begin());
  }
}

// Copies into rows, each awaited at some time, and the row read at some time after its start.
std::string RandomCore(Random& random) {
  std::vector<std::vector<std::string>> lists;
  for (int row = 0, rows = 2 + Below(random, 2); row < rows; ++row) {
    const bool counts = Below(random, 4) == 0;
    const std::string semaphore = Cat(counts ? "%sr" : "%dr", ".at[", Below(random, 2), "]");
    const std::string wait = counts ? Wait(semaphore, 1) : Await(row, semaphore);
    lists.push_back({Copy(row, semaphore), wait, Out(row)});
    if (Below(random, 3) == 0) std::swap(lists.back()[1], lists.back()[2]);
  }
  if (Below(random, 3) == 0) {
    const std::string semaphore = Cat("%sr.at[", Below(random, 2), "]");
    lists.push_back({Signal(semaphore, 2), Wait(semaphore, 1), Wait(semaphore, 1)});
  }
  return Core(Interleaved(random, std::move(lists)));
}

// Devices that synchronise, send each other rows, and signal what they have read.
std::string RandomRing(Random& random) {
  const int devices = 2 + Below(random, 2);
  const std::string meet =
      devices == 2 ? Cat(SignalAt("%barrier", "%right"), Wait("%barrier", 1))
                   : Cat(SignalAt("%barrier", "%left"), SignalAt("%barrier", "%right"), Wait("%barrier", 2));
  std::vector<std::vector<std::string>> lists;
  for (int i = 0, sends = 1 + Below(random, 2); i < sends; ++i) {
    const int to = Below(random, 2);
    const std::string semaphore = Cat("%dr.at[", 1 + Below(random, 2), "]");
    const std::string device = Below(random, 3) == 0 ? "%left" : "%right";
    lists.push_back({Send(i, to, device, semaphore), AwaitSent(i, "%dr.at[0]"), Await(to, semaphore), OutFrom(i, to)});
  }
  if (Below(random, 3) == 0) lists.push_back({SignalAt("%sr.at[0]", "%left"), Wait("%sr.at[0]", 1)});
  if (Below(random, 4) == 0) lists.push_back({meet});
  return Ring(devices, Cat(Below(random, 8) == 0 ? "" : meet, Interleaved(random, std::move(lists))));
}

// Pairs of a signal and a wait between any two blocks, and accesses around them.
std::string RandomBlocks(Random& random) {
  constexpr int kBlocks = 3;
  std::vector<std::vector<std::vector<std::string>>> lists(kBlocks);
  for (int pair = 0, pairs = 1 + Below(random, 3); pair < pairs; ++pair) {
    const std::string semaphore = Below(random, 3) == 0 ? "%t" : "%s";
    const int from = Below(random, kBlocks), to = Below(random, kBlocks), row = Below(random, 2);
    const int amount = 1 + Below(random, 4) / 3;
    const std::string wait = Below(random, 6) == 0 ? WaitFor(semaphore, amount) : Wait(semaphore, amount);
    lists[static_cast<std::size_t>(from)].push_back({Put(row, 7 + pair), Signal(semaphore, amount)});
    lists[static_cast<std::size_t>(to)].push_back({wait, Take(pair, row)});
  }
  std::vector<std::string> blocks;
  for (auto& block : lists) blocks.push_back(Interleaved(random, std::move(block)));
  return Grid(blocks);
}

bool IsClean(const Report& report) { return report.verdict == Verdict::kProved || report.verdict == Verdict::kClean; }

struct Counted {
  int proved = 0, wrong = 0;
};

template <class Make>
Counted Try(std::uint64_t seed, int rounds, const Make& make) {
  Random random(seed);
  Counted counted;
  for (int round = 0; round < rounds; ++round) {
    const std::string text = make(random);
    const absl::StatusOr<PreparedKernel> kernel = PrepareText(text, {.kernel = "", .target = "", .path = ""});
    EXPECT_TRUE(kernel.ok()) << kernel.status() << text;
    const std::vector<Tensor> inputs = InputsOf(text);
    const auto check = [&](CheckOptions options) {
      options.threads = 1;
      absl::StatusOr<Report> report = Check(*kernel, inputs, options);
      EXPECT_TRUE(report.ok()) << report.status() << text;
      return report.ok() ? *std::move(report) : Report{};
    };
    const bool proved = check({.seeds = 1}).verdict == Verdict::kProved;
    const Report seeds = check({.seeds = proved ? Rounds(64) : 8, .all_seeds = true});
    counted.proved += proved;
    counted.wrong += !IsClean(seeds);
    if (!proved) continue;
    EXPECT_EQ(seeds.verdict, Verdict::kProved) << text;
    constexpr int kMost = Rounds(400);
    int schedules = 0;
    const Report all = check({.exhaustive = true, .interrupted = [&] { return ++schedules > kMost; }});
    EXPECT_TRUE(IsClean(all)) << text << all.findings.front().message;
  }
  return counted;
}

TEST(RandomWaits, OfACore) {
  const Counted counted = Try(1, 150, RandomCore);
  EXPECT_GT(counted.proved, 25);
  EXPECT_GT(counted.wrong, 25);
}

TEST(RandomWaits, OfDevices) {
  const Counted counted = Try(2, 100, RandomRing);
  EXPECT_GT(counted.proved, 15);
  EXPECT_GT(counted.wrong, 15);
}

TEST(RandomWaits, OfBlocks) {
  const Counted counted = Try(3, 250, RandomBlocks);
  EXPECT_GT(counted.proved, 25);
  EXPECT_GT(counted.wrong, 25);
}

}  // namespace
}  // namespace palladion::check
