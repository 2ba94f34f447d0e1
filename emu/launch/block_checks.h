// What goes wrong with the blocks that a TPU core keeps: an output block that is left and visited again (OUT_REVISIT),
// and a block of an aliased input that is fetched while a flush of the same memory may be under way (ALIAS). Based on:
// the order in which a pipeline starts and awaits its copies. With two buffers the fetch for program i + 1 starts
// before the body of program i, and the flush of program i - 1 is awaited after it; with one, either is awaited at
// once.
//
// Limits: blocks that are copied beside the bodies (semantics/program/block_pipeline.h) are in races like others, which
// clocks find; of these only visits are looked at. The programs of a core run one after another. Whether a flush that
// left the bytes of a fetch as they were would do so with other operands is asked by a check (other_operands.h).
#ifndef PALLADION_EMU_LAUNCH_BLOCK_CHECKS_H_
#define PALLADION_EMU_LAUNCH_BLOCK_CHECKS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "emu/launch/core_states.h"
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

// The fetch of a block read what a flush wrote that hardware need not have completed, or begun.
struct StaleFetch {
  BufferId buffer;
  bool changed = true;                             // else the flush wrote the bytes that were there
  bool fetched_early = true, flushed_late = true;  // two buffers each
  memory_model::WitnessAccess flush, fetch;
  std::int64_t count = 1;
};

class BlockChecks final : public memory_model::MemoryWatcher {
 public:
  explicit BlockChecks(CoresOfLaunch cores) : cores_(std::move(cores)) {}

  // How many buffers a pipeline has for the blocks of an output, and of an input that is fetched from the same array
  // (0: there is none).
  struct Buffers {
    std::int64_t fetched = 0, flushed = 2;
  };
  // Before the first program.
  void Watch(const memory_model::Memory& memory, BufferId array, Buffers buffers);

  const std::vector<Revisit>& revisits() const { return revisits_; }
  const std::vector<StaleFetch>& stale_fetches() const { return stale_; }
  std::int64_t copies() const { return copies_; }  // that were looked at

  memory_model::EventSet wants() const override {
    return {memory_model::EventKind::kTurn, memory_model::EventKind::kIssue};
  }
  void Running(const RunningAgent& now) override { cores_.Running(now); }
  void Issued(const Who& who, const AsyncRequest& request) override;

 private:
  struct Flush {
    std::int64_t step = 0;              // of the program that was left
    memory_model::ElementBox box;       // around all that it wrote
    std::vector<std::int64_t> changed;  // elements that it gave other bytes, ascending
    memory_model::WitnessAccess access;
  };
  struct Watched {
    BufferId id;
    bool aliased = false;
    bool fetched_early = false, flushed_late = false;
    std::vector<std::int64_t> shape;
    ElementSize element_size{1};
    const std::byte* data = nullptr;
    // A fetch is not ordered after the flushes of so many programs before its own.
    std::int64_t open() const { return aliased ? (fetched_early ? 1 : 0) + (flushed_late ? 1 : 0) : 0; }
  };
  // What a core has done to one of these arrays.
  struct OfCore {
    BufferId flushes;                                  // the block that was flushed last: of the one output
    std::optional<memory_model::BoxList> flushed;      // so far
    std::unique_ptr<memory_model::UnitOwners> owners;  // instead, when the list has become too long
    std::vector<Flush> recent;                         // aliased: which a fetch may come before
  };

  const Watched* Find(BufferId id) const;
  OfCore& Here(const Watched& watched);
  void Fetches(const Watched& watched, const BoxAccess& access, BufferId block);
  void Flushes(const Watched& watched, const BoxAccess& access, BufferId block);
  void CheckRevisit(const Watched& watched, const BoxAccess& access, const memory_model::ElementBox& box);
  void RecordFlush(const Watched& watched, const BoxAccess& access, const memory_model::BoxReach& reach,
                   const std::byte* block);
  void CheckFetch(const Watched& watched, const BoxAccess& access, const memory_model::BoxReach& reach);
  bool ReadsChanged(const Watched& watched, const BoxAccess& access, const memory_model::BoxReach& reach,
                    const Flush& flush) const;
  void AddStale(StaleFetch stale);
  memory_model::WitnessAccess AccessOf(AccessKind kind, const BoxAccess& access,
                                       const memory_model::ElementBox& box) const;

  CoreStates<std::vector<OfCore>> cores_;
  const memory_model::Memory* memory_ = nullptr;
  std::vector<Watched> watched_;
  std::vector<Revisit> revisits_;
  std::vector<StaleFetch> stale_;
  std::int64_t copies_ = 0;
};

}  // namespace palladion::launch

#endif  // PALLADION_EMU_LAUNCH_BLOCK_CHECKS_H_
