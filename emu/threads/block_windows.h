// Copies of a TPU core's blocks from and to arrays that bodies reach as well, through the ref that shares the array.
// Bytes move where the core stands; what else the pipeline allows is judged here, by clocks: with two buffers a fetch
// begins before the body of the program before its own, and a flush goes on during the body of the next one. Each core
// has an agent that fetches and one that flushes. Based on: docs/spec/races.md#alias.
// Limits: arrays of blocks alone are BlockChecks' (emu/launch/block_checks.h), which knows what a flush changed.
#ifndef PALLADION_EMU_THREADS_BLOCK_WINDOWS_H_
#define PALLADION_EMU_THREADS_BLOCK_WINDOWS_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "emu/threads/machine_base.h"
#include "memory_model/sets/access_set.h"

namespace palladion::threads {

class BlockWindows {
 public:
  explicit BlockWindows(const MachineBase& base) : base_(base) {}

  // Blocks of the array have two buffers, and bodies reach it too. Before the first program.
  void Share(BufferId array) { shared_.push_back(array); }

  // A program of the core begins; the core has come to its end.
  void Begins(AgentId core);
  void Ends(AgentId core);

  // A copy of such an array, as it is before its bytes move; nullopt: it is of no such array.
  struct Copy {
    BufferId array;
    bool flush = false;
    memory_model::AccessSet moved;          // of a flush: what it changes
    memory_model::AccessSet left_the_same;  // of a flush
    CodeSite site;
  };
  std::optional<Copy> Look(const AsyncRequest& request) const;
  // They have moved, and were judged as the core's own access.
  void Moved(AgentId core, const Copy& copy);

 private:
  struct Flushing {
    std::int64_t step = 0;
    memory_model::ClockBundle told;
  };
  struct OfCore {
    std::int64_t step = 0;            // programs begun
    AgentId fetches, flushes, keeps;  // keeps: flushes what is there already; invalid: it has not yet
    std::vector<Flushing> under_way;
    std::optional<memory_model::ClockBundle> before, now;  // what it knew as the last program began, and this one
  };

  bool IsShared(BufferId array) const;
  void Await(AgentId core, OfCore& state, std::int64_t last_step);
  void GoesOn(AgentId core, AgentId* pipeline, const Copy& copy, const memory_model::AccessSet& written);

  const MachineBase base_;
  std::vector<BufferId> shared_;
  absl::flat_hash_map<std::int32_t, OfCore> cores_;
};

}  // namespace palladion::threads

#endif  // PALLADION_EMU_THREADS_BLOCK_WINDOWS_H_
