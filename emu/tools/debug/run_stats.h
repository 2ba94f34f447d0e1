// What a launch moved and computed: bytes of each memory space, blocks fetched and kept, bytes of each operand,
// arithmetic by operation. Counts of the run itself, so they depend on its inputs where the kernel's path does; nothing
// here is time. Needs an observable program.
#ifndef PALLADION_EMU_TOOLS_DEBUG_RUN_STATS_H_
#define PALLADION_EMU_TOOLS_DEBUG_RUN_STATS_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "emu/run/watch/observed.h"

namespace palladion::debug {

class RunStats final : public run::Watcher {
 public:
  explicit RunStats(const kernel::PreparedKernelState& kernel);

  struct OperandStats {
    std::string name, role;
    std::int64_t fetched = 0, kept = 0, flushed = 0;  // blocks that have memory of their own
    std::int64_t bytes_read = 0, bytes_written = 0;   // of the array
  };
  struct OpStats {
    std::int64_t runs = 0, elements = 0;  // of its results
    std::int64_t flops = 0, transcendentals = 0, integer_ops = 0;
  };

  const std::vector<OperandStats>& operands() const { return operands_; }
  const std::map<std::string, OpStats>& ops() const { return ops_; }
  OpStats total() const;

  std::string Text() const;
  std::string Json() const;  // an object

  memory_model::EventSet wants() const override {
    return {memory_model::EventKind::kStep, memory_model::EventKind::kTurn, memory_model::EventKind::kAccess,
            memory_model::EventKind::kIssue};
  }
  void Bound(memory_model::Memory& memory, absl::Span<const BufferId> arrays) override;
  void After(const Step& step, Frame& frame) override;
  void Running(const RunningAgent& now) override;
  void Box(const Who& who, AccessKind kind, const BoxAccess& access, const memory_model::BoxReach& reach,
           const std::byte* value) override;
  void Points(const Who& who, AccessKind kind, const PointAccess& access, const std::byte* value) override;
  void Issued(const Who& who, const AsyncRequest& request) override;

 private:
  void CountSpaces();
  void Count(const Who& who, AccessKind kind, BufferId buffer, std::int64_t bytes);
  void CountOp(const Instr& instr);

  const kernel::PreparedKernelState& state_;
  const Kernel& kernel_;
  memory_model::Memory* memory_ = nullptr;
  std::vector<OperandStats> operands_;
  std::map<std::int32_t, std::size_t> reads_of_, writes_of_;  // by buffer: which operand they are
  std::set<AgentId> blocks_;                                  // operations that copy some beside the bodies
  std::vector<std::pair<std::string, std::int64_t>> space_bytes_;
  std::map<std::string, OpStats> ops_;
  std::int64_t programs_ = 0, loads_ = 0, stores_ = 0, atomics_ = 0;
  std::int64_t loaded_bytes_ = 0, stored_bytes_ = 0;
};

}  // namespace palladion::debug

#endif  // PALLADION_EMU_TOOLS_DEBUG_RUN_STATS_H_
