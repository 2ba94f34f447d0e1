// The last writer of one element of an array: for findings that name an element, whose launch is run again with this
// observer. What it does not see: which operation computed the value (that is `palladion why`).
#ifndef PALLADION_EMU_RUN_WATCH_LAST_WRITER_H_
#define PALLADION_EMU_RUN_WATCH_LAST_WRITER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "memory_model/bytes/memory.h"
#include "semantics/base/agent_name.h"
#include "semantics/base/units.h"

namespace palladion::watch {

class LastWriter final : public memory_model::MemoryWatcher {
 public:
  // `element` counts the array's elements in row-major order.
  explicit LastWriter(ElementCount element, const AgentNaming& naming = {}) : element_(element), naming_(naming) {}

  // Before the first program.
  void Watch(const memory_model::Memory& memory, BufferId array);

  // Its last writer; nothing if it was never written.
  const std::optional<FindingAccess>& writer() const { return writer_; }

  memory_model::EventSet wants() const override {
    return {memory_model::EventKind::kTurn, memory_model::EventKind::kAccess};
  }
  void Box(const Who& who, AccessKind kind, const BoxAccess& access, const memory_model::BoxReach& reach,
           const std::byte* value) override;
  void Points(const Who& who, AccessKind kind, const PointAccess& access, const std::byte* value) override;
  void Running(const RunningAgent& now) override;

 private:
  void Record(const Who& who, AccessKind kind, const Site& site);

  ElementCount element_;
  AgentNaming naming_;
  BufferId array_;
  std::string name_, box_;
  ElementSize element_size_{1};
  std::vector<std::int64_t> index_;
  std::vector<std::int64_t> program_;  // whose the writes are: a flush is done under the next program's index
  std::optional<FindingAccess> writer_;
};

}  // namespace palladion::watch

#endif  // PALLADION_EMU_RUN_WATCH_LAST_WRITER_H_
