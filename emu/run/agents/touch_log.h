// What the operations of a launch touch, for exhaustive search: memory element by element, for accesses of few pieces,
// and what else its machine adds. Everything that an agent does between two scheduling points counts as one operation.
// Limits: an access of more pieces than kPieces is one from its first byte to its last.
#ifndef PALLADION_EMU_RUN_AGENTS_TOUCH_LOG_H_
#define PALLADION_EMU_RUN_AGENTS_TOUCH_LOG_H_

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "memory_model/bytes/events.h"
#include "memory_model/bytes/memory.h"
#include "scheduler/touches.h"

namespace palladion::agents {

class TouchLog final : public memory_model::MemoryWatcher {
 public:
  // `shared`: may others see this buffer? Empty: of each. The memory outlives the log.
  explicit TouchLog(const memory_model::Memory& memory, std::function<bool(BufferId)> shared = {})
      : memory_(memory), shared_(std::move(shared)) {}

  scheduler::Touches Take() { return std::exchange(touched_, {}); }
  void Add(const scheduler::Touched& touched) { touched_.Add(touched); }
  void Add(const scheduler::Footprint& footprint) { touched_.Add(footprint); }
  void AddEverything() { touched_.AddEverything(); }

  memory_model::EventSet wants() const override {
    using Kind = memory_model::EventKind;
    return {Kind::kAccess, Kind::kAlloc, Kind::kIssue};
  }
  std::int64_t most_values() const override { return 0; }
  // Since the last call: has memory been made?
  bool TakeAllocated() { return std::exchange(allocated_, false); }

  void Alloc(const Who&, BufferId) override { allocated_ = true; }
  void Free(const Who&, BufferId buffer) override { Whole(buffer); }
  void Poison(const Who&, BufferId buffer) override { Whole(buffer); }
  void Box(const Who& who, AccessKind kind, const BoxAccess& access, const memory_model::BoxReach& reach,
           const std::byte* value) override;
  void Points(const Who& who, AccessKind kind, const PointAccess& access, const std::byte* value) override;
  void Issued(const Who& who, const AsyncRequest& request) override;

 private:
  static constexpr std::size_t kPieces = 64;
  struct Piece {
    std::int64_t first = 0, last = 0;  // bytes
  };

  bool Counts(BufferId buffer) const { return !shared_ || shared_(buffer); }
  void Whole(BufferId buffer) {
    if (Counts(buffer)) touched_.Add({{.object = buffer.value}});
  }
  void AddPieces(BufferId buffer, bool writes);
  void AddBox(AccessKind kind, const BoxAccess& access, const memory_model::BoxReach& reach);
  void Operands(const std::vector<AsyncOperand>& operands, bool writes);

  const memory_model::Memory& memory_;
  const std::function<bool(BufferId)> shared_;
  scheduler::Touches touched_;
  std::vector<Piece> pieces_;
  bool allocated_ = false;
};

}  // namespace palladion::agents

#endif  // PALLADION_EMU_RUN_AGENTS_TOUCH_LOG_H_
