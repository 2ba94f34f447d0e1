// Records one run: a Watcher that keeps for every agent the order of its visible operations, in the user's words, and
// which arrival, signal or completion let which wait go on. Based on: the events of a run (emu/run/events.h); whether
// an arrival is really before what follows a wait is asked of the run's own vector clocks. Limits: the newest
// operations are kept, so many as the limit says; accesses to memory that the agent has alone are recorded too. Where
// programs run without a model of threads (Triton, plain kernels) there are accesses and no synchronisation.
#ifndef PALLADION_EMU_TOOLS_SCHEDULE_SCHEDULE_RECORDER_H_
#define PALLADION_EMU_TOOLS_SCHEDULE_SCHEDULE_RECORDER_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "emu/kernel/prepared_kernel.h"
#include "emu/run/events.h"
#include "emu/run/threads/shown_waits.h"
#include "emu/tools/schedule/recording.h"
#include "memory_model/order/clock.h"

namespace palladion::schedule {

class ScheduleRecorder final : public run::Watcher {
 public:
  static constexpr std::size_t kMostOps = 200'000;

  // What the run is recorded for: soon after it has come, nothing more is recorded. 0: no such line.
  struct Sought {
    FindingCode code = FindingCode::kOutOfBounds;
    int text_line = 0, first = 0, second = 0;
    std::string first_agent = {}, second_agent = {};  // "": it has no such side
    bool Is(const Finding& finding) const;
  };
  ScheduleRecorder(const kernel::PreparedKernelState& kernel, const Sought& sought, std::size_t most_ops = kMostOps)
      : kernel_(kernel), sought_(sought), most_ops_(most_ops) {}

  Recording Take();

  run::EventSet wants() const override {
    using enum run::EventKind;
    return {kStep, kTurn, kAccess, kAlloc, kIssue, kHalf, kWait, kArrive};
  }
  void Begun(const threads::ThreadMachine& machine) override;
  void Bound(memory_model::Memory& memory, absl::Span<const BufferId> arrays) override;
  void Before(const Step& step, Frame& frame) override;
  void After(const Step& step, Frame& frame) override;
  void Running(const RunningAgent& now) override;
  void Free(const Who& who, BufferId buffer) override;
  void Box(const Who& who, AccessKind kind, const BoxAccess& access, const memory_model::BoxReach& reach,
           const std::byte* value) override;
  void Points(const Who& who, AccessKind kind, const PointAccess& access, const std::byte* value) override;
  void Issued(const Who& who, const AsyncRequest& request) override;
  void HalfDone(const Who& who) override;
  void Awaited(const Who& who, const WaitTarget& target) override;
  void Arrives(const Who& who, const Arrival& arrival) override;
  void Finished(memory_model::Memory&, absl::Span<const BufferId>) override { NoteFindings(); }

 private:
  // What an agent did that a wait may acquire.
  struct Release {
    std::int64_t op = 0;
    memory_model::Epoch epoch;
    std::uint64_t phase = 0;  // of a barrier
    std::int64_t amount = 1;  // of a semaphore, what is left of it
    bool by_clock = false;    // the phase is not known: the clocks say who learns of it
    std::vector<AgentId> taken_by = {};
  };
  struct Flight {  // an operation that has not come to its end
    std::int64_t issue = 0;
    CodeSite site;
    std::vector<Completion> completions;
    QueueId queue;
  };
  struct Line {  // the step that an agent is at
    LocId loc;
    int text_line = 0;
    std::int64_t op = -1;  // what it has recorded
  };

  bool Skips(const Who& who);  // it is only counted
  std::size_t ActorOf(const Who& who);
  std::string NameOf(AgentId id) const;
  // The operation of the agent's current step, or of the phase: made when it is first asked for.
  std::int64_t OpOf(const Who& who, OpKind kind, const CodeSite& site);
  Op& At(std::int64_t number) { return ops_[static_cast<std::size_t>(number - forgotten_)]; }
  static void Say(Op& op, std::string_view text, std::string_view object);
  static void Note(Op& op, OpAccess access);
  void Connect(std::int64_t from, std::int64_t to, EdgeKind kind);
  void ForgetOldest();
  void NoteFindings();

  memory_model::Epoch NowOf(AgentId agent) const;
  bool Knows(AgentId agent, const memory_model::Epoch& epoch) const;
  void Keep(threads::ReleaseKey key, Release release);  // for waits that come
  void Acquire(AgentId agent, const threads::ShownWait& wait, std::int64_t op);
  void AcquireCredits(std::deque<Release>& credits, const threads::ShownWait& wait, std::int64_t op);
  void AcquireQueued(AgentId agent, std::int64_t op);
  void AcquireChildren(AgentId agent, std::int64_t op);
  void AcquireFrom(std::deque<Release>& releases, AgentId agent, std::uint64_t phase, std::int64_t op);
  void Touched(const Who& who, AccessKind kind, BufferId buffer, std::string_view box, const Site& site);

  const kernel::PreparedKernelState& kernel_;
  const Sought sought_;
  const std::size_t most_ops_;
  std::int64_t stop_at_ = std::numeric_limits<std::int64_t>::max();
  const threads::ThreadMachine* machine_ = nullptr;
  memory_model::Memory* memory_ = nullptr;
  std::deque<Op> ops_;
  std::int64_t forgotten_ = 0;
  Recording recording_;
  AgentId last_other_;
  std::size_t of_model_ = 0, of_memory_ = 0;  // findings that have been noted
  absl::flat_hash_map<std::int32_t, std::size_t> actor_of_;
  absl::flat_hash_map<std::int32_t, Line> line_of_;                // by agent
  absl::flat_hash_map<std::int32_t, std::string> name_of_;         // of programs
  absl::flat_hash_map<std::int32_t, std::int64_t> last_of_;        // op, by agent or operation
  std::map<std::pair<std::int32_t, int>, std::int64_t> phase_of_;  // op, by operation and half
  std::map<std::int32_t, Flight> flights_;
  std::map<threads::ReleaseKey, std::deque<Release>> releases_;
  std::map<std::int32_t, std::vector<Release>> queued_;  // phases of operations in queues, by issuer
};

}  // namespace palladion::schedule

#endif  // PALLADION_EMU_TOOLS_SCHEDULE_SCHEDULE_RECORDER_H_
