// What a trace says of its agents when it is taken back. explore_test.cc holds its races against every interleaving.
#include "scheduler/search/trace.h"

#include <gtest/gtest.h>

namespace palladion::scheduler {
namespace {

// Another schedule gives the same agents the same numbers, whatever was tried before it.
TEST(Trace, AnAgentThatIsMadeAgainIsTheSameOne) {
  Trace trace;
  trace.AddAgent(AgentOrdinal{0}, /*spawned=*/false);
  const Tracked parent = trace.AgentOf(AgentOrdinal{0});
  const auto add = [&] { trace.Add({.agent = parent, .touches = Touches(Footprint::Writes(0)), .need = {}}); };
  add();
  trace.AddAgent(AgentOrdinal{1}, /*spawned=*/true);
  trace.AddAgent(AgentOrdinal{2}, /*spawned=*/false);
  const Tracked child = trace.AgentOf(AgentOrdinal{1}), next = trace.AgentOf(AgentOrdinal{2});
  for (int i = 0; i < 2; ++i) {
    trace.Pop();
    EXPECT_EQ(trace.started(), 1);
    add();
    trace.AddAgent(AgentOrdinal{1}, /*spawned=*/false);
    trace.AddAgent(AgentOrdinal{2}, /*spawned=*/true);
    EXPECT_EQ(trace.AgentOf(AgentOrdinal{1}), next);
    EXPECT_EQ(trace.AgentOf(AgentOrdinal{2}), child);
  }
}

}  // namespace
}  // namespace palladion::scheduler
