#include "emu/run/threads/gathered_clock.h"

#include <gtest/gtest.h>

namespace palladion::threads {
namespace {

constexpr std::int32_t kAgents = 3000;

TEST(GatheredClock, HasTheLatestTimeOfEach) {
  GatheredClock gathered;
  memory_model::ClockBundle joined;
  for (std::int32_t i = 0; i < 4 * kAgents; ++i) {
    if (i % 1000 == 999) gathered.All();  // asked in between
    memory_model::ClockBundle one;
    one.RaiseGeneric({AgentId{i * 7 % kAgents}, static_cast<std::uint32_t>(1 + i * 11 % 13)});
    one.RaiseGeneric({AgentId{i * 5 % kAgents}, 3});
    gathered.Add(one);
    joined.Join(one);
  }
  EXPECT_LE(gathered.size(), 14u) << "as many as the number has bits";
  const memory_model::ClockBundle& all = gathered.All();
  constexpr auto kGeneric = memory_model::ClockPart::kGeneric;
  EXPECT_TRUE(all[kGeneric].Covers(joined[kGeneric]));
  EXPECT_TRUE(joined[kGeneric].Covers(all[kGeneric]));
}

}  // namespace
}  // namespace palladion::threads
