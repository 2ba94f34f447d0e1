// --trap: where the first NaN or infinity of a launch arises: the first result element, in program order, that is one
// although no contributing element is. Based on the rules of definedness for what an element is made of. What it does
// not see: NaNs that atomics produce in memory, and NaNs of the inputs (these do not arise here).
#ifndef PALLADION_EMU_RUN_WATCH_TRAP_H_
#define PALLADION_EMU_RUN_WATCH_TRAP_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "emu/run/watch/agent_states.h"
#include "emu/run/watch/observed.h"

namespace palladion::watch {

enum class TrapKind : std::uint8_t { kNaN, kInf };

struct TrapHit {
  std::string program, iterations;  // "program (2, 0)"; "" outside loops
  std::string op, source;
  int text_line = 0;
  std::vector<SourceFrame> frames;  // what `source` says
  std::string result;               // "%y[0, 3]"
  std::string value;                // "nan"
  struct Operand {
    std::string name;  // "%x[0, 3]"
    std::string value;
  };
  std::vector<Operand> operands;  // elements it was made of, the first few of each operand
};

class Trap final : public run::Watcher {
 public:
  Trap(const kernel::PreparedKernelState& kernel, TrapKind kind);

  const std::optional<TrapHit>& hit() const { return hit_; }
  // The first that a load took from unwritten memory, from padding, or from a lane masked off without `other`: often
  // harmless, since kernels mask such elements later.
  const std::optional<TrapHit>& undefined() const { return undefined_; }
  const absl::Status& status() const { return status_; }  // of looking

  std::string Text() const;
  std::string Json() const;  // an object

  memory_model::EventSet wants() const override {
    return {memory_model::EventKind::kStep, memory_model::EventKind::kAccess, memory_model::EventKind::kAlloc,
            memory_model::EventKind::kIssue, memory_model::EventKind::kHalf};
  }
  void Bound(memory_model::Memory& memory, absl::Span<const BufferId> arrays) override;
  void Before(const Step&, Frame& frame) override { agents_.Before(frame); }
  void After(const Step& step, Frame& frame) override;
  void Poison(const Who&, BufferId buffer) override { holds_[buffer.value] = false; }
  void Box(const Who& who, AccessKind kind, const BoxAccess& access, const memory_model::BoxReach& reach,
           const std::byte* value) override;
  void Points(const Who& who, AccessKind kind, const PointAccess& access, const std::byte* value) override;
  void Issued(const Who& who, const AsyncRequest& request) override;
  void HalfDone(const Who& who) override;

 private:
  using Bytes = std::vector<std::uint8_t>;  // 1 where the element is what is looked for; empty: nowhere

  Bytes BadElements(const Type& type, const std::byte* value) const;
  // A matrix product that an engine computes for a thread.
  struct Product {
    const Instr* instr = nullptr;
    std::string agent, iterations;
    bool read_holds = false;
  };
  // A current instruction.
  struct Open {
    bool reads = false;       // memory at all
    bool read_holds = false;  // memory that may hold one
    std::optional<Product> product = {};
    std::vector<AgentId> issued = {};  // for it
  };
  struct Agent {
    MarkWalk walk;
    std::vector<Open> open;
  };

  void LookAtProduct(AgentId operation, const BoxAccess& access, const std::byte* value, std::size_t element);
  void LookAtFactors(const Mark& mark, const Agent& agent, Frame& frame);
  void Read(const Who& who, BufferId buffer);
  void Look(const Mark& mark, const Agent& agent, Frame& frame);
  absl::Status LookAtValue(const Mark& mark, const Agent& agent, std::size_t result, const Bytes& bad, Frame& frame);
  TrapHit HitAt(const Mark& mark, const Agent& agent, std::size_t result, std::int64_t element, Frame& frame) const;

  const kernel::PreparedKernelState& state_;
  const Kernel& kernel_;
  TrapKind kind_;
  memory_model::Memory* memory_ = nullptr;
  AgentStates<Agent> agents_;
  std::map<std::int32_t, bool> holds_;   // by buffer: may have one in it that did not come from nothing
  std::map<AgentId, Product> products_;  // by operation in flight
  std::optional<TrapHit> hit_, undefined_;
  absl::Status status_;
};

}  // namespace palladion::watch

#endif  // PALLADION_EMU_RUN_WATCH_TRAP_H_
