// The programs of a grid as agents of the scheduler: each a frame that is resumed, over memory that all share.
#ifndef PALLADION_EMU_RUN_AGENTS_PROGRAM_AGENTS_H_
#define PALLADION_EMU_RUN_AGENTS_PROGRAM_AGENTS_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "emu/run/agents/agent_ordinals.h"
#include "emu/run/agents/launch_state.h"
#include "emu/run/agents/spin.h"
#include "emu/run/agents/touch_log.h"
#include "scheduler/agent.h"

namespace palladion::agents {

// Which memory others can see: the arrays that some program writes. What is private, or never written, is the same in
// every order, so no scheduling point is needed; `all`: except for a clock, whose agents queue for memory.
class SharedMemory {
 public:
  SharedMemory(LaunchState& state, bool all);

  bool Has(BufferId buffer) const {
    return buffer.valid() && buffer.index() < shared_.size() && shared_[buffer.index()];
  }
  // Empty: no other agent can see it.
  scheduler::Footprint FootprintOf(const Step& step, Frame& frame) const;

 private:
  std::vector<bool> shared_;  // by buffer
};

// Scratch on `generic`, which goes from program to program (docs/spec/grid.md#scratch) whichever way they run: one that
// begins has the piece of memory that the last one to end has left; while there is none, a new one.
class HandedScratch {
 public:
  explicit HandedScratch(LaunchState& state);
  // Those that are handed on.
  static std::vector<std::size_t> OperandsOf(const Program& program);

  bool any() const { return !operands_.empty(); }
  // Of a beginning, which has to be some agent's turn: it looks at what others have left. Two of them may go in either
  // order, for what depends on it is a finding of any schedule.
  scheduler::Footprint footprint() const;
  absl::Status Begin(Frame& frame);
  void End(Frame& frame);

 private:
  using Pieces = std::vector<BufferId>;  // one for each operand
  Pieces PiecesOf(Frame& frame) const;
  void Put(const Pieces& pieces, Frame& frame) const;

  LaunchState& state_;
  const std::vector<std::size_t> operands_;
  std::vector<Pieces> left_, unused_;  // the latest last
};

// The programs of a task, one after another; of a core, as many as it walks itself.
class ProgramAgent final : public scheduler::Agent, private StepHooks {
 public:
  // `spins`: of kernels whose loops may wait; else nullptr.
  struct Watching {
    StepHooks* watcher = nullptr;
    TouchLog* touches = nullptr;  // of a search
    SpinWatch* spins = nullptr;
    HandedScratch* scratch = nullptr;  // nullptr: it is each agent's own
  };
  ProgramAgent(LaunchState& state, std::unique_ptr<Frame> frame, const SharedMemory& shared, const Watching& watching,
               std::function<std::string(scheduler::AgentOrdinal)> name_of);

  void Start(AgentPrograms programs, scheduler::AgentOrdinal ordinal);
  const Frame& frame() const { return *frame_; }
  const AgentPrograms& programs() const { return programs_; }

  absl::Status Resume(scheduler::Gate& gate) override;
  bool done() const override { return frame_->done() && next_ == programs_.last; }
  std::string Name() const override;
  absl::StatusOr<std::shared_ptr<const void>> Save() const override;
  void Restore(const void* saved) override;

 private:
  struct Saved;
  void StartNext();
  absl::Status RunAll();
  bool MayBegin();
  struct Begun {  // the program that began last
    AgentId id;
    std::vector<std::int64_t> index;
  };
  bool MayGo(const Step& step, Frame& frame) override;
  void Before(const Step& step, Frame& frame) override;
  void After(const Step& step, Frame& frame) override;
  bool MayGoRound(const Step& step, Frame& frame);

  LaunchState& state_;
  std::unique_ptr<Frame> frame_;
  const SharedMemory& shared_;
  const Watching watching_;
  Spin spin_;
  SpinCondition spinning_;
  scheduler::Gate* gate_ = nullptr;
  AgentPrograms programs_;
  std::int64_t next_ = 0;     // of them: the first that has not been started
  bool has_scratch_ = false;  // where it is handed on
  Begun begun_;
};

// Operation::work of a step: of the loops before it too.
std::int64_t WorkOf(const Step& step, Frame& frame);

// In program order. Frames of programs that are done serve others, unless their state may be restored (`touches`).
class ProgramAgents final : public scheduler::AgentSource {
 public:
  // `left_out`: that are not run.
  ProgramAgents(LaunchState& state, const SharedMemory& shared, const ProgramAgent::Watching& watching,
                LaunchOptions::Programs left_out = {})
      : state_(state), shared_(shared), watching_(watching), left_out_(left_out) {}
  ProgramAgents(const ProgramAgents&) = delete;
  ProgramAgents& operator=(const ProgramAgents&) = delete;

  absl::StatusOr<scheduler::Agent*> Next() override;
  void Retire(scheduler::Agent* agent) override {
    free_.push_back(static_cast<ProgramAgent*>(agent));
    RunControl* const control = state_.frame().control();
    if (control == nullptr || state_.program().grid_in_agent) return;
    const AgentPrograms& programs = static_cast<ProgramAgent*>(agent)->programs();
    control->EndPrograms(programs.last - programs.first);
  }

  // Programs that have not begun: there was no room.
  std::int64_t not_begun() const { return state_.walk().programs() - next_; }
  std::string NameOf(scheduler::AgentOrdinal agent) const;
  // Those that have not ended, in the order in which they started.
  std::vector<const ProgramAgent*> Unfinished() const;

 private:
  LaunchState& state_;
  const SharedMemory& shared_;
  const ProgramAgent::Watching watching_;
  const LaunchOptions::Programs left_out_;
  AgentOrdinals ordinals_;  // of a core, its first program's
  std::vector<std::unique_ptr<ProgramAgent>> agents_;
  std::vector<ProgramAgent*> free_;
  std::int64_t next_ = 0;
};

}  // namespace palladion::agents

#endif  // PALLADION_EMU_RUN_AGENTS_PROGRAM_AGENTS_H_
