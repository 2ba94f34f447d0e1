// The second pass over conflicts that a sweep found: the same launch runs again with this observer, which gets one byte
// for each conflict and finds the other access to it. What it does not see: accesses that are in conflict at other
// bytes only, and whether all that was written there is the same (written_values.h).
#ifndef PALLADION_MEMORY_MODEL_SWEEP_WITNESS_H_
#define PALLADION_MEMORY_MODEL_SWEEP_WITNESS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "memory_model/bytes/events.h"
#include "memory_model/bytes/memory.h"
#include "memory_model/sets/region.h"
#include "memory_model/sweep/sweep.h"

namespace palladion::memory_model {

struct WitnessAccess {
  AccessKind kind = AccessKind::kRead;
  std::vector<std::int64_t> program;
  std::string box;
  LocId loc;
  int text_line = 0;
};

class Witness final : public MemoryWatcher {
 public:
  explicit Witness(std::vector<TaskDim> dims, bool take_turns = false) : clock_(std::move(dims), take_turns) {}

  // Before the first program; the run must make the buffers of the first one. Questions are numbered from 0.
  void Ask(const SweepConflict& conflict);
  // The first writer of the byte in the task of `program`. The memory must have the buffer.
  void AskFirstWriter(const Memory& memory, BufferId buffer, ByteCount byte, absl::Span<const std::int64_t> program);

  // The other access: the earliest that is in conflict with it; of what is read in memory that tasks hand on, the
  // latest write before it.
  // Nothing where there is none: what the sweep found was no conflict of this kind.
  const std::optional<WitnessAccess>& Answer(std::size_t question) const { return questions_[question].answer; }

  EventSet wants() const override { return {EventKind::kTurn, EventKind::kAccess, EventKind::kIssue}; }
  void Running(const RunningAgent& now) override { clock_.Runs(now); }
  void Box(const Who& who, AccessKind kind, const BoxAccess& access, const BoxReach& reach,
           const std::byte* value) override;
  void Points(const Who& who, AccessKind kind, const PointAccess& access, const std::byte* value) override;
  // A block that goes back beside the bodies is written by the program whose it is, whenever its copy is made.
  void Issued(const Who& who, const AsyncRequest& request) override;

 private:
  struct Question {
    BufferId buffer;
    ByteCount byte;
    std::vector<std::int64_t> index;  // of its element
    std::vector<std::int64_t> program;
    AccessKind kind = AccessKind::kWrite;  // of the later access
    int text_line = 0;
    KindSet wanted = 0;
    bool same_task = false, latest = false;
    bool closed = false;           // the later access has come
    std::uint32_t written_by = 0;  // the task that wrote the byte last: what it reads there is its own
    std::optional<WitnessAccess> answer;
  };
  void Consider(Question& question, AccessKind kind, const Site& site, const std::string& box);

  TaskClock clock_;
  const Memory* memory_ = nullptr;
  std::vector<Question> questions_;
};

}  // namespace palladion::memory_model

#endif  // PALLADION_MEMORY_MODEL_SWEEP_WITNESS_H_
