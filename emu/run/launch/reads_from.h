// Which write each read of a run saw: one number, the same for two schedules of an oblivious kernel where every element
// that an agent reads was written last by the same write of the same agent, and every element of the outputs too. Then
// all values of the two are the same (docs/explanation/checks.md#schedules-without-values). Agents have names that no
// schedule changes: a thread its place in the grid, a warp its thread's and its own, an operation of an engine its
// issuer's and how many that had issued. The number is a sum of hashes of 64 bits. Accesses that are no dense box are
// stored element by element.
#ifndef PALLADION_EMU_RUN_LAUNCH_READS_FROM_H_
#define PALLADION_EMU_RUN_LAUNCH_READS_FROM_H_

#include <cstdint>
#include <vector>

#include "absl/container/node_hash_map.h"
#include "emu/run/events.h"
#include "emu/run/launch/last_writes.h"
#include "emu/run/threads/thread_machine.h"

namespace palladion::launch {

class ReadsFrom final : public run::Watcher {
 public:
  // `program` outlives the object.
  explicit ReadsFrom(const Program& program) : program_(program) {}

  // After a launch that came to its end.
  std::uint64_t signature() const { return signature_; }

  memory_model::EventSet wants() const override {
    return {memory_model::EventKind::kAccess, memory_model::EventKind::kAlloc, memory_model::EventKind::kIssue};
  }
  void Begun(const threads::ThreadMachine& machine) override { machine_ = &machine; }
  void Bound(memory_model::Memory& memory, absl::Span<const BufferId>) override { memory_ = &memory; }
  void Finished(memory_model::Memory& memory, absl::Span<const BufferId> arrays) override;
  void Box(const Who& who, AccessKind kind, const BoxAccess& access, const memory_model::BoxReach& reach,
           const std::byte* value) override;
  void Points(const Who& who, AccessKind kind, const PointAccess& access, const std::byte* value) override;
  void Alloc(const Who&, BufferId buffer) override { Reset(buffer); }
  void Free(const Who&, BufferId buffer) override { Reset(buffer); }
  void Poison(const Who&, BufferId buffer) override { Reset(buffer); }
  void Issued(const Who& who, const AsyncRequest& request) override;

 private:
  struct Agent {
    std::uint64_t name = 0, seen = 0, writes = 0, issued = 0;
  };

  Agent& Of(const Who& who);
  Agent& ThreadOf(AgentId thread);
  LastWrites& Of(BufferId buffer);
  void Reset(BufferId buffer);  // its elements are unwritten

  const Program& program_;
  const memory_model::Memory* memory_ = nullptr;
  const threads::ThreadMachine* machine_ = nullptr;
  absl::node_hash_map<std::uint64_t, Agent> named_;  // threads and warps, by name
  std::vector<Agent*> threads_;                      // the same by AgentId
  std::vector<Agent> operations_;                    // by number, in the order of issue
  std::vector<LastWrites> buffers_;                  // by id
  std::uint64_t signature_ = 0;
  std::int64_t devices_ = 0;  // that are finished
};

}  // namespace palladion::launch

#endif  // PALLADION_EMU_RUN_LAUNCH_READS_FROM_H_
