// What goes wrong with the blocks that a TPU core keeps: an output block that is left and visited again (OUT_REVISIT),
// and a block of an aliased input that is fetched while a flush of the same memory may be under way (ALIAS). Based on:
// the order in which a pipeline with two buffers for each operand starts and awaits its copies: the fetch for program
// i + 1 starts before the body of program i, the flush of program i - 1 is awaited after it.
//
// Limits: programs run one after another, row-major. A fetch counts only where the flush changed a byte that it reads.
#ifndef PALLADION_EMU_LAUNCH_BLOCK_CHECKS_H_
#define PALLADION_EMU_LAUNCH_BLOCK_CHECKS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

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
  ByteCount byte;
  memory_model::WitnessAccess flush, fetch;
  std::int64_t count = 1;
};

class BlockChecks final : public memory_model::AccessObserver {
 public:
  // `tasks_return`: programs of several tasks run by turns, whatever the dimensions say.
  explicit BlockChecks(std::vector<memory_model::TaskDim> dims, bool tasks_return = false)
      : dims_(dims), clock_(std::move(dims)), tasks_return_(tasks_return || clock_.returns()) {}

  // Before the first program. `aliased`: a block of an input is fetched from the same array; else it is the array of an
  // output alone.
  void Watch(const memory_model::Memory& memory, BufferId array, bool aliased);

  const std::vector<Revisit>& revisits() const { return revisits_; }
  const std::vector<StaleFetch>& stale_fetches() const { return stale_; }
  std::int64_t copies() const { return copies_; }  // that were looked at

  void Running(const RunningAgent& now) override;
  void Issued(const AsyncRequest& request, Halves halves) override;
  void Box(AccessKind kind, const BoxAccess& access, const memory_model::BoxReach& reach,
           const std::byte* value) override;
  void Points(AccessKind, const PointAccess&, const std::byte*) override {}

 private:
  struct Flush {
    std::int64_t step = 0;              // of the program that was left
    memory_model::ElementBox box;       // around `changed`
    std::vector<std::int64_t> changed;  // elements that it gave other bytes, ascending
    memory_model::WitnessAccess access;
  };
  // What a task has flushed so far, in one array.
  struct Flushed {
    memory_model::BoxList boxes;
    std::unique_ptr<memory_model::UnitOwners> owners;  // instead, when the list has become too long
  };
  struct Watched {
    BufferId id;
    bool aliased = false;
    BufferId flushes;  // the block that was flushed last: of the one output
    std::vector<std::int64_t> shape;
    ElementSize element_size{1};
    const std::byte* data = nullptr;
    std::map<std::vector<std::int64_t>, Flushed> flushed;  // by task
    std::vector<Flush> recent;                             // aliased: of this step and the last
  };

  Watched* Find(BufferId id);
  void CheckRevisit(Watched& watched, const BoxAccess& access, const memory_model::ElementBox& box);
  void RecordFlush(Watched& watched, const BoxAccess& access, const memory_model::BoxReach& reach,
                   const std::byte* value);
  void CheckFetch(Watched& watched, const BoxAccess& access, const memory_model::BoxReach& reach);
  memory_model::WitnessAccess AccessOf(AccessKind kind, const BoxAccess& access,
                                       const memory_model::ElementBox& box) const;

  std::vector<std::int64_t> Task() const;

  const std::vector<memory_model::TaskDim> dims_;
  memory_model::TaskClock clock_;
  const bool tasks_return_;
  std::vector<std::int64_t> running_;  // the index of who runs
  std::vector<Watched> watched_;
  std::vector<Revisit> revisits_;
  std::vector<StaleFetch> stale_;
  BufferId from_, to_;  // of the copy under way
  std::int64_t step_ = 0, copies_ = 0;
};

}  // namespace palladion::launch

#endif  // PALLADION_EMU_LAUNCH_BLOCK_CHECKS_H_
