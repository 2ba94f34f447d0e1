// The programs of a grid as agents of the scheduler: each a frame that is resumed, over memory that all share.
#ifndef PALLADION_EMU_PROGRAM_AGENTS_H_
#define PALLADION_EMU_PROGRAM_AGENTS_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "emu/launch_state.h"
#include "memory_model/access_observer.h"
#include "scheduler/agent.h"

namespace palladion {

// Which memory others can see: the arrays that some program writes. What is private, or never written, is the same in
// every order, so nobody need be asked about it.
class SharedMemory {
 public:
  explicit SharedMemory(LaunchState& state);

  bool Has(BufferId buffer) const {
    return buffer.valid() && buffer.index() < shared_.size() && shared_[buffer.index()];
  }
  // Empty: nobody else can see it.
  Footprint FootprintOf(const Step& step, Frame& frame) const;

 private:
  std::vector<bool> shared_;  // by buffer
};

// What an operation really touched, in bytes: keeps exhaustive search small.
class TouchRecorder final : public AccessObserver {
 public:
  TouchRecorder(const Memory& memory, const SharedMemory& shared) : memory_(memory), shared_(shared) {}
  Footprint Take() { return std::exchange(touched_, {}); }

  void Box(AccessKind kind, const BoxAccess& access, const BoxReach& reach, const std::byte* value) override;
  void Points(AccessKind kind, const PointAccess& access, const std::byte* value) override;

 private:
  const Memory& memory_;
  const SharedMemory& shared_;
  Footprint touched_;
};

class ProgramAgent final : public Agent, private StepHooks {
 public:
  ProgramAgent(LaunchState& state, std::unique_ptr<Frame> frame, const SharedMemory& shared, StepHooks* watcher,
               TouchRecorder* recorder);

  void Start(AgentPrograms programs);
  const Frame& frame() const { return *frame_; }

  absl::Status Resume(Gate& gate) override;
  bool done() const override { return frame_->done(); }
  std::string Name() const override;
  absl::StatusOr<std::shared_ptr<const void>> Save() const override {
    return std::shared_ptr<const void>(frame_->Save());
  }
  void Restore(const void* saved) override { frame_->Restore(*static_cast<const Frame::Saved*>(saved)); }

 private:
  bool MayGo(const Step& step, Frame& frame) override;
  void Before(const Step& step, Frame& frame) override;
  void After(const Step& step, Frame& frame) override;

  LaunchState& state_;
  std::unique_ptr<Frame> frame_;
  const SharedMemory& shared_;
  StepHooks* watcher_;
  TouchRecorder* recorder_;
  Gate* gate_ = nullptr;
  bool started_ = false;
};

// In program order. Frames of programs that are done serve others, unless their state may be restored (`recorder`).
class ProgramAgents final : public AgentSource {
 public:
  ProgramAgents(LaunchState& state, const SharedMemory& shared, StepHooks* watcher, TouchRecorder* recorder)
      : state_(state), shared_(shared), watcher_(watcher), recorder_(recorder) {}

  absl::StatusOr<Agent*> Next() override;
  void Retire(Agent* agent) override { free_.push_back(static_cast<ProgramAgent*>(agent)); }

  // Those that have not ended, in the order in which they started.
  std::vector<const ProgramAgent*> Unfinished() const;

 private:
  LaunchState& state_;
  const SharedMemory& shared_;
  StepHooks* watcher_;
  TouchRecorder* recorder_;
  std::vector<std::unique_ptr<ProgramAgent>> agents_;
  std::vector<ProgramAgent*> free_;
  std::int64_t next_ = 0;
};

}  // namespace palladion

#endif  // PALLADION_EMU_PROGRAM_AGENTS_H_
