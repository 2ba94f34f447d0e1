// Elements of prefetched operands that a TPU kernel's body stores and an index map reads, within as many programs as
// the pipeline may look ahead. When a map is computed is not documented: for the block of program i + 1 that is before
// the body of program i where the block has two buffers, and may be after it; some maps are computed again after the
// body of their own program and the next. So what program i stores is seen for certain from program i + 2 on, and must
// not be what the maps of programs i - 1 and i have read. Based on: JAX's pallas_call interpreter and emit_pipeline.
// Limits: stores of the bytes that were there change nothing. A ref that a map hands to a function is not followed.
#ifndef PALLADION_EMU_RUN_LAUNCH_INDEX_MAP_CHECKS_H_
#define PALLADION_EMU_RUN_LAUNCH_INDEX_MAP_CHECKS_H_

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "emu/run/launch/core_states.h"
#include "memory_model/bytes/memory.h"
#include "memory_model/sweep/witness.h"
#include "semantics/ir/module.h"

namespace palladion::launch {

// A body stored what the index maps of a program near it read.
struct LateIndex {
  BufferId buffer;
  std::string name, index;  // "ids", "[3]"
  memory_model::WitnessAccess store, map;
  bool before = true;   // the map is the next program's; else one that had been computed already
  bool changes = true;  // else it stored what was there
  std::int64_t count = 1;
};

class IndexMapChecks final : public memory_model::MemoryWatcher {
 public:
  // A program's maps are computed before it is said to begin (semantics/prepare/maps_ahead.h).
  IndexMapChecks(CoresOfLaunch cores, const Kernel& kernel);

  // Do index maps read a prefetched operand?
  bool any() const { return !lines_.empty(); }
  void Watch(const memory_model::Memory& memory, BufferId operand);  // before the first program
  // Each core has memory of its own for an operand of this name, made when the core begins.
  void WatchCopies(const memory_model::Memory& memory, std::string name);

  const std::vector<LateIndex>& found() const { return found_; }

  memory_model::EventSet wants() const override {
    return {memory_model::EventKind::kTurn, memory_model::EventKind::kAccess, memory_model::EventKind::kAlloc};
  }
  void Running(const RunningAgent& now) override;
  void Alloc(const Who& who, BufferId buffer) override;
  void Free(const Who& who, BufferId buffer) override;
  void Box(const Who& who, AccessKind kind, const BoxAccess& access, const memory_model::BoxReach& reach,
           const std::byte* value) override;
  void Points(const Who& who, AccessKind kind, const PointAccess& access, const std::byte* value) override;

 private:
  struct Watched {
    BufferId id;
    std::string name;
    std::vector<std::int64_t> shape;
    std::int64_t element_bytes = 1, elements = 1;
    const std::byte* data = nullptr;
  };
  struct Touched {
    std::int64_t step = 0;  // 0: never
    std::vector<std::int64_t> program;
    CodeSite site;
    bool changes = true;  // of a store
  };
  struct Uses {
    Touched read, stored;
  };
  // By array and element: few are touched.
  using OfCore = absl::flat_hash_map<std::pair<std::int32_t, std::int64_t>, Uses>;
  struct MapRead {
    BufferId buffer;
    std::int64_t element;
    CodeSite site;
    AgentId agent;
  };

  bool IsOfMap(const Site& site) const { return lines_.contains(site.text_line); }
  const Watched* Find(BufferId id) const;
  void Touch(const Watched& watched, AccessKind kind, std::int64_t element, const std::byte* value, const Site& site);
  void Read(const MapRead& read);
  void Stored(const Watched& watched, std::int64_t element, const Site& site, bool changes);
  void Add(const Watched& watched, std::int64_t element, const Uses& uses, bool before);

  const bool take_turns_;
  CoreStates<OfCore> cores_;
  AgentId running_;
  std::set<int> lines_;  // of the text, of reads in index maps
  const memory_model::Memory* memory_ = nullptr;
  std::set<std::string> names_;
  std::vector<Watched> watched_;
  std::vector<MapRead> reads_;  // of maps whose program has not begun
  std::vector<LateIndex> found_;
};

}  // namespace palladion::launch

#endif  // PALLADION_EMU_RUN_LAUNCH_INDEX_MAP_CHECKS_H_
