// Checks of the output blocks that a TPU core keeps: one that is left and visited again is OUT_REVISIT.
//
// Limits: the programs of a core run one after another. Conflicts on an array that two operands share are found by
// clocks (meeting_blocks.h, memory_model/alias_findings.cc).
#ifndef PALLADION_EMU_RUN_LAUNCH_BLOCK_CHECKS_H_
#define PALLADION_EMU_RUN_LAUNCH_BLOCK_CHECKS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "emu/run/launch/core_states.h"
#include "memory_model/bytes/memory.h"
#include "memory_model/sets/region.h"
#include "memory_model/sweep/sweep.h"
#include "memory_model/sweep/witness.h"
#include "semantics/base/units.h"

namespace palladion::launch {

// A block was flushed to a place of its array to which the same core had flushed before, not just now.
struct Revisit {
  BufferId buffer;
  ByteCount byte;                     // one that both flushes write
  memory_model::WitnessAccess again;  // the later flush
  std::int64_t count = 1;
};

class BlockChecks final : public memory_model::MemoryWatcher {
 public:
  explicit BlockChecks(CoresOfLaunch cores) : cores_(std::move(cores)) {}

  // Before the first program.
  void Watch(const memory_model::Memory& memory, BufferId array);

  const std::vector<Revisit>& revisits() const { return revisits_; }
  std::int64_t copies() const { return copies_; }  // that were looked at

  memory_model::EventSet wants() const override {
    return {memory_model::EventKind::kTurn, memory_model::EventKind::kIssue};
  }
  void Running(const RunningAgent& now) override { cores_.Running(now); }
  void Issued(const Who& who, const AsyncRequest& request) override;

 private:
  struct Watched {
    BufferId id;
    std::vector<std::int64_t> shape;
    ElementSize element_size{1};
  };
  // What a core has done to one of these arrays.
  struct OfCore {
    std::optional<memory_model::BoxList> flushed;      // so far
    std::unique_ptr<memory_model::UnitOwners> owners;  // instead, when the list has become too long
  };

  const Watched* Find(BufferId id) const;
  OfCore& Here(const Watched& watched);
  void CheckRevisit(const Watched& watched, const BoxAccess& access, const memory_model::ElementBox& box);

  CoreStates<std::vector<OfCore>> cores_;
  std::vector<Watched> watched_;
  std::vector<Revisit> revisits_;
  std::int64_t copies_ = 0;
};

}  // namespace palladion::launch

#endif  // PALLADION_EMU_RUN_LAUNCH_BLOCK_CHECKS_H_
