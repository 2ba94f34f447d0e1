// Loops that wait. An iteration of a `while` that changed nothing, and after which the loop's own values are what they
// were before, will do the same again until something that it read changes: so its agent sleeps until then, and costs
// nothing. What an iteration can depend on is all compared: the carries that matter (Loop), which memory it read and
// the values there, which barriers and semaphores it tested; values older than the loop cannot change. Dropping such
// iterations from a schedule gives the same run, so no effect of an order is lost. Limits: a loop whose carries change
// each time (a count of attempts that the loop looks at) is never asleep; nor is one whose iterations allocate, print
// or signal, or read more than a few megabytes.
#ifndef PALLADION_EMU_RUN_AGENTS_SPIN_H_
#define PALLADION_EMU_RUN_AGENTS_SPIN_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "memory_model/bytes/events.h"
#include "memory_model/bytes/memory.h"
#include "scheduler/operation.h"
#include "semantics/port/machine.h"
#include "semantics/program/program.h"

namespace palladion::agents {

class Spin;

// Bytes of a buffer; `life` separates buffers that had the same number one after another.
struct SpinPlace {
  BufferId buffer;
  std::int32_t life = 0;
  std::int64_t first = 0, bytes = 0;
};

// What the agents of a launch do to memory, passed to the Spin of the running agent; and the last writers.
class SpinWatch final : public memory_model::MemoryWatcher {
 public:
  explicit SpinWatch(memory_model::Memory& memory) : memory_(memory) {}

  // Whose the next accesses are. No agent: nothing is recorded; no spin: an engine's.
  void SetCurrent(Spin* spin, scheduler::AgentOrdinal agent);
  // After every step of an agent: what did its atomics change?
  void Settle() {
    if (!pending_.empty()) SettleAll();
  }

  // The agent whose write changed the place last; invalid: none did, or it is not known.
  scheduler::AgentOrdinal LastWriter(const SpinPlace& place) const;
  bool knows_writers() const { return knows_writers_; }
  bool Lives(const SpinPlace& place) const { return LifeOf(place.buffer) == place.life; }
  // "o_ref[3]", and what it holds where it is one element.
  std::string NameOf(const SpinPlace& place) const;
  std::string ValueAt(const SpinPlace& place) const;
  const std::byte* BytesAt(const SpinPlace& place) const { return memory_.DataOf(place.buffer) + place.first; }

  memory_model::EventSet wants() const override {
    return {memory_model::EventKind::kAccess, memory_model::EventKind::kAlloc, memory_model::EventKind::kIssue};
  }
  std::int64_t most_values() const override { return kFew; }
  void Box(const Who& who, AccessKind kind, const BoxAccess& access, const memory_model::BoxReach& reach,
           const std::byte* value) override;
  void Points(const Who& who, AccessKind kind, const PointAccess& access, const std::byte* value) override;
  void Alloc(const Who& who, BufferId) override;
  void Free(const Who& who, BufferId buffer) override;
  void Poison(const Who& who, BufferId) override;
  void Issued(const Who& who, const AsyncRequest&) override;

 private:
  static constexpr std::int64_t kFew = 64;  // elements of a write that are looked at one by one
  // An atomic's element before it.
  struct Pending {
    SpinPlace place;
    std::size_t before = 0;  // in pending_bytes_
  };
  struct Written {
    scheduler::AgentOrdinal by;
    std::int64_t number = 0;  // a later write has a greater one
  };
  struct ManyWritten {
    SpinPlace place;
    Written written;
  };

  std::int32_t LifeOf(BufferId buffer) const { return buffer.index() < lives_.size() ? lives_[buffer.index()] : 0; }
  SpinPlace PlaceOf(BufferId buffer, std::int64_t first, std::int64_t bytes) const {
    return {buffer, LifeOf(buffer), first, bytes};
  }
  void Stored(const SpinPlace& place, const std::byte* value);
  void StoredMany(const SpinPlace& around);
  void Wrote(const SpinPlace& place);
  void SettleAll();

  memory_model::Memory& memory_;
  Spin* current_ = nullptr;
  scheduler::AgentOrdinal agent_;
  bool knows_writers_ = true;
  std::vector<std::int32_t> lives_;  // by buffer
  std::vector<Pending> pending_;
  std::vector<std::byte> pending_bytes_;
  std::int64_t writes_ = 0;
  absl::flat_hash_map<std::tuple<std::int32_t, std::int32_t, std::int64_t>, Written> last_;  // buffer, life, element
  std::vector<ManyWritten> many_;  // the latest of the large writes
  std::size_t next_many_ = 0;
};

// The loops of one agent. A copy of it is all that changes while the agent runs.
class Spin {
 public:
  // What the agent's port knows of barriers and semaphores; a program has none.
  struct Port {
    std::function<std::int64_t(const WaitTarget&)> look;  // another number when it has changed
    std::function<std::string(const WaitTarget&)> describe;
    std::function<bool(const WaitTarget&, scheduler::AgentOrdinal)> may_signal;
    std::function<std::int64_t(const WaitTarget&)> object;  // of footprints
  };

  Spin() = default;
  // Both outlive it, and the port does.
  Spin(const SpinWatch* watch, const Program* program, const Port* port = nullptr);

  void Start(scheduler::AgentOrdinal agent);  // at the first step of the program

  // The step at which a loop goes on is next. True: the agent has to wait there; not before something has changed does
  // it go on.
  bool MustWait(const Step& step, Frame& frame);
  void Wake();  // it goes on

  // What the agent does.
  void Changed();  // something, for good
  void Read(const SpinPlace& place);
  void Polled(const WaitTarget& target);
  bool in_loop() const { return inside_ > 0; }
  bool logs() const { return logging_ > 0; }

  // Of an agent that waits.
  bool SomethingChanged() const;
  scheduler::Footprint footprint() const;
  std::string Describe(const std::function<std::string(scheduler::AgentOrdinal)>& name_of) const;
  bool MaySignal(scheduler::AgentOrdinal other) const;
  std::optional<scheduler::AgentOrdinal> Holder() const;
  scheduler::AgentOrdinal agent() const { return agent_; }

 private:
  // One loop, since the agent came into it.
  struct Visit {
    bool inside = false;
    bool saved = false;        // `carries` are those at some earlier time round, and nothing has changed since
    bool logged = false;       // what was read since the carries were the saved ones is all in the log
    bool woken = false;        // and it has not been round since
    std::int64_t changes = 0;  // when it went round last
    std::int64_t rounds = 0, limit = 2;  // since the carries were saved; and they are saved anew then
    std::vector<std::byte> carries;
    std::size_t first_look = 0, first_poll = 0;  // of the log
  };
  struct Look {
    SpinPlace place;
    std::size_t found = 0;  // in found_: what it held
  };
  struct Poll {
    WaitTarget target;
    std::int64_t found = 0;
  };

  void Save(Visit& visit, const Loop& loop, Frame& frame) const;
  bool SameCarries(const Visit& visit, const Loop& loop, Frame& frame) const;
  void Leave(Visit& visit);
  void StartLog(Visit& visit);
  void StopLog(Visit& visit);
  void StopLogs();
  bool ChangedSince(std::size_t first_look, std::size_t first_poll) const;

  const SpinWatch* watch_ = nullptr;
  const Program* program_ = nullptr;
  const Port* port_ = nullptr;
  scheduler::AgentOrdinal agent_;
  std::vector<Visit> visits_;  // by loop
  std::int64_t changes_ = 0;
  int inside_ = 0, logging_ = 0;
  std::vector<Look> looks_;
  std::vector<Poll> polls_;
  std::vector<std::byte> found_;
  std::int32_t waits_ = -1;  // at which loop
};

// Until something that the agent's loop has read changes.
class SpinCondition final : public scheduler::Condition {
 public:
  SpinCondition(const Spin& spin, std::function<std::string(scheduler::AgentOrdinal)> name_of)
      : spin_(spin), name_of_(std::move(name_of)) {}
  bool Ready() const override { return spin_.SomethingChanged(); }
  std::string Describe() const override { return spin_.Describe(name_of_); }
  bool MaySignal(scheduler::AgentOrdinal other) const override { return spin_.MaySignal(other); }
  std::optional<scheduler::AgentOrdinal> Holder() const override { return spin_.Holder(); }
  std::string NameOf(scheduler::AgentOrdinal other) const override { return name_of_(other); }

 private:
  const Spin& spin_;
  std::function<std::string(scheduler::AgentOrdinal)> name_of_;
};

// What an agent waits for whose loop nothing can end.
inline constexpr std::string_view kEndlessLoop =
    "the end of a loop whose iterations change nothing, and read nothing that another agent could change";

}  // namespace palladion::agents

#endif  // PALLADION_EMU_RUN_AGENTS_SPIN_H_
