// The agents of several launches as one source for the run loop. A launch counts its own agents, from 0, in the order
// in which they come to be; the loop counts all of them. Here stands between the two: numbers are translated both ways,
// so that no launch knows of another. Limits: no agent brings about what an agent of another launch waits for.
#ifndef PALLADION_EMU_LAUNCH_JOINT_AGENTS_H_
#define PALLADION_EMU_LAUNCH_JOINT_AGENTS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "scheduler/agent.h"
#include "scheduler/run_loop.h"

namespace palladion::launch {

class JointAgent;

class JointAgents final : public scheduler::AgentSource {
 public:
  // A launch's agents, and how many of them may be under way at once.
  struct Launch {
    scheduler::AgentSource* source = nullptr;
    std::size_t resident = 0;
    std::int32_t device = 0;
  };
  explicit JointAgents(std::vector<Launch> launches);
  ~JointAgents() override;
  JointAgents(const JointAgents&) = delete;
  JointAgents& operator=(const JointAgents&) = delete;

  absl::StatusOr<scheduler::Agent*> Next() override;
  bool Ready() const override;
  void Retire(scheduler::Agent* agent) override;

  // How the run ended for one launch: its own waits of a deadlock; finished where its agents are.
  scheduler::LoopResult ResultOf(std::size_t launch, const scheduler::LoopResult& run) const;

 private:
  friend class JointAgent;

  // Of an agent: whose it is, and its number there.
  struct Numbered {
    std::size_t launch = 0;
    scheduler::AgentOrdinal own;
  };
  struct State {
    Launch launch;
    std::size_t under_way = 0;
    std::int64_t started = 0, ended = 0;
    bool exhausted = false;
  };
  struct Waiting {  // has been made, and nobody asked for it yet
    std::size_t launch = 0;
    scheduler::Agent* agent = nullptr;
  };

  std::optional<scheduler::AgentOrdinal> OwnOf(std::size_t launch, scheduler::AgentOrdinal joint) const;
  scheduler::AgentOrdinal JointOf(std::size_t launch, scheduler::AgentOrdinal own) const;
  scheduler::AgentOrdinal Number(std::size_t launch);
  bool Look();

  std::vector<State> states_;
  std::size_t turn_ = 0;  // the launch that is asked first
  std::optional<Waiting> waiting_;
  absl::Status failed_;
  std::vector<Numbered> numbered_;  // by the loop's number
  std::vector<std::unique_ptr<JointAgent>> agents_;
  std::vector<JointAgent*> free_;
};

}  // namespace palladion::launch

#endif  // PALLADION_EMU_LAUNCH_JOINT_AGENTS_H_
