// What holds for every order of programs that do not synchronise with each other, found in one run. A *task* is the
// programs that have the same index along the grid's parallel dimensions: tasks have no order, the programs of one task
// keep theirs. What each task reads, writes and updates atomically does not depend on the order (a task that is handed
// another's data is in conflict already), so two tasks that touch one element, one of them writing, are a conflict in
// every order, and no conflict here means none anywhere. Based on: per-group access maps merged at the group's end.
//
// A run of the sweep keeps no identities: for each array three sets of elements of the tasks that have ended (read,
// written, updated atomically), and the same of the current one, merged at its end. A second run finds which two
// accesses are in conflict (witness.h). Memory is that of the elements touched, whatever the number of programs.
//
// The programs of several tasks may take turns, as cores of a TPU do: each is then in a place of its own in the sets.
// Limits: no task orders another. A kernel whose programs do synchronise (a lock made of atomics) needs clocks. What
// engines do between the steps of agents is not looked at.
#ifndef PALLADION_MEMORY_MODEL_SWEEP_SWEEP_H_
#define PALLADION_MEMORY_MODEL_SWEEP_SWEEP_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "memory_model/bytes/events.h"
#include "memory_model/bytes/memory.h"
#include "memory_model/sets/region.h"
#include "semantics/base/units.h"

namespace palladion::memory_model {

struct TaskDim {
  std::int64_t size = 1;
  bool parallel = false;
};

// Which task runs. Where the walk is row-major and the parallel dimensions come first, a task that was left does not
// return, and one number that counts up identifies it; else it has the number of its parallel indices.
class TaskClock {
 public:
  // `take_turns`: a task may go on after another one ran whatever the dimensions say.
  explicit TaskClock(std::vector<TaskDim> dims, bool take_turns = false);

  // The next program of the walk. True where it is of another task than the last one.
  bool Begin(absl::Span<const std::int64_t> grid_index);
  // What follows is its: the same where a program begins; and where tasks take turns, of a task that goes on.
  bool Runs(const RunningAgent& now);

  bool returns() const { return returns_; }  // may a task go on after another one ran?
  // Too many tasks that return for the numbers that owners have.
  bool too_many() const { return returns_ && tasks_ > UnitOwners::kMaxTask - UnitOwners::kFirstTask; }
  std::uint32_t task() const { return task_; }  // UnitOwners::kFirstTask and more
  bool wrapped() const { return wrapped_; }     // task numbers have begun anew with this program
  std::int64_t begun() const { return begun_; }
  absl::Span<const std::int64_t> program() const { return program_; }
  bool SameTask(absl::Span<const std::int64_t> a, absl::Span<const std::int64_t> b) const;

 private:
  std::vector<TaskDim> dims_;
  std::vector<std::int64_t> program_;
  bool returns_ = false, wrapped_ = false;
  bool take_turns_ = false, several_ = false;  // has a task several programs?
  std::int64_t tasks_ = 1, begun_ = 0;
  std::uint32_t task_ = UnitOwners::kFirstTask;
  std::map<std::uint32_t, std::vector<std::int64_t>> last_;  // where they take turns: a task's last of several
};

enum class ConflictRule : std::uint8_t {
  kWriteWrite,  // two tasks write, or one writes what the other updates atomically
  kReadWrite,   // one task reads what another writes or updates
  kInherited,   // a task reads what another leaves in memory that may be each task's own
};

// Conflicts at one place of the text, seen from the later access of this run.
struct SweepConflict {
  ConflictRule rule = ConflictRule::kWriteWrite;
  BufferId buffer;
  AccessKind kind = AccessKind::kWrite;  // of the later access, like all that follows
  ByteCount byte;                        // of the buffer: one byte that both touch
  std::vector<std::int64_t> index;       // of its element
  std::string element;                   // the same: "[0, 3]"
  std::string box;                       // what the later access touches
  std::vector<std::int64_t> program;
  LocId loc;
  int text_line = 0;
  std::int64_t count = 1;  // accesses there that were in conflict
};

class Sweep final : public MemoryWatcher {
 public:
  explicit Sweep(std::vector<TaskDim> dims, bool take_turns = false) : clock_(std::move(dims), take_turns) {}

  enum class Sharing : std::uint8_t {
    kShared,  // all tasks see one memory
    kOwn,     // each task has its own, or all run in this order; here one finds what the last one left
    kOfCore,  // those that share a core, in whatever order, find what the others left
  };
  // Before the first program. What is not watched is each program's own.
  void Watch(const Memory& memory, BufferId buffer, Sharing sharing);

  // In the order they were found.
  const std::vector<SweepConflict>& conflicts() const { return conflicts_; }
  const TaskClock& clock() const { return clock_; }
  std::int64_t accesses() const { return accesses_; }  // that were looked at

  EventSet wants() const override { return {EventKind::kTurn, EventKind::kAccess}; }
  void Running(const RunningAgent& now) override;
  void Box(const Who& who, AccessKind kind, const BoxAccess& access, const BoxReach& reach,
           const std::byte* value) override;
  void Points(const Who& who, AccessKind kind, const PointAccess& access, const std::byte* value) override;

 private:
  struct Watched {
    BufferId id;
    Sharing sharing = Sharing::kShared;
    std::vector<std::int64_t> shape;
    ElementCount elements{1};
    ElementSize element_size{1}, unit_size{1};  // units: what owners count, elements or parts of them
    bool touched = false;                       // by the current task
    // In this order: read, written, updated atomically.
    std::vector<BoxList> theirs, mine;
    std::unique_ptr<UnitOwners> owners;  // instead of the lists, when they have become too long
  };

  Watched* Find(BufferId id) {
    return id.index() < watched_of_.size() && watched_of_[id.index()] >= 0
               ? &watched_[static_cast<std::size_t>(watched_of_[id.index()])]
               : nullptr;
  }
  void EndTask();
  void UseOwners(Watched& watched, std::uint32_t task_of_mine);
  void Refine(Watched& watched, ElementSize unit_size);
  bool TouchBox(Watched& watched, AccessKind kind, const ElementBox& box, Conflicts* conflicts);
  void TouchUnits(Watched& watched, AccessKind kind, std::int64_t first, std::int64_t last, Conflicts* conflicts);
  // An access that is in conflict. `box`: nullptr where it is none.
  struct Touch {
    AccessKind kind;
    const ElementBox* box;
    const Site& site;
  };
  void Record(const Watched& watched, const Touch& touch, const Conflicts& conflicts);
  void RecordOne(const Watched& watched, const Touch& touch, ConflictRule rule, ByteCount byte);

  TaskClock clock_;
  std::vector<Watched> watched_;
  std::vector<int> watched_of_;  // by buffer; -1
  std::vector<SweepConflict> conflicts_;
  std::int64_t accesses_ = 0;
};

}  // namespace palladion::memory_model

#endif  // PALLADION_MEMORY_MODEL_SWEEP_SWEEP_H_
