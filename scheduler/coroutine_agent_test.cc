#include "scheduler/coroutine_agent.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <exception>
#include <string>
#include <utility>

#include "scheduler/policies/policies.h"
#include "scheduler/run_loop.h"

namespace palladion::scheduler {
namespace {

// Each is held inside a `catch`, and in a destructor that an exception calls, while the other is there too.
TEST(CoroutineAgent, ExceptionsAreOfTheStackThatTheyAreThrownOn) {
  std::string log;
  const auto body = [&log](char name) {
    return [&log, name](AgentContext& me) {
      struct Leaving {
        AgentContext& me;
        std::string& log;
        ~Leaving() {
          me.Go({.footprint = Footprint::Writes(0)});
          log += std::to_string(std::uncaught_exceptions());
        }
      };
      for (int i = 0; i < 3; ++i) {
        try {
          const Leaving leaving{me, log};
          throw std::string(1, name);
        } catch (const std::string& caught) {
          me.Go({.footprint = Footprint::Writes(0)});
          log += caught;
        }
      }
    };
  };
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    log.clear();
    std::vector<std::unique_ptr<Agent>> agents;
    agents.push_back(std::make_unique<CoroutineAgent>("a", body('a')));
    agents.push_back(std::make_unique<CoroutineAgent>("b", body('b')));
    AgentList list(std::move(agents));
    const std::unique_ptr<Policy> policy = MakeRandomWalk(seed);
    ASSERT_TRUE(RunLoop(list).Run(*policy).ok());
    EXPECT_EQ(6, std::count(log.begin(), log.end(), '1')) << log;
    EXPECT_EQ(3, std::count(log.begin(), log.end(), 'a')) << log;
    EXPECT_EQ(3, std::count(log.begin(), log.end(), 'b')) << log;
    EXPECT_EQ(0, std::uncaught_exceptions());
  }
}

}  // namespace
}  // namespace palladion::scheduler
