// Which elements of the accesses to memory are undefined, and where that came from: follows every load, store and
// atomic over the buffers of a run. Rules: docs/spec/definedness.md.
// What it does not do: say what matters (undefined_findings.h), or move bytes.
#ifndef PALLADION_MEMORY_MODEL_BYTES_DEFINEDNESS_TRACKER_H_
#define PALLADION_MEMORY_MODEL_BYTES_DEFINEDNESS_TRACKER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "memory_model/bytes/memory_buffer.h"
#include "memory_model/bytes/origin.h"
#include "memory_model/bytes/undefined_stores.h"
#include "memory_model/sets/box.h"
#include "semantics/base/agent_name.h"
#include "semantics/base/finding.h"
#include "semantics/port/machine.h"

namespace palladion::memory_model {

class DefinednessTracker {
 public:
  // `buffers` are those of the run, and outlive it. `values_only`: what memory gives counts as defined; results for
  // which hardware promises nothing are followed.
  DefinednessTracker(std::vector<MemoryBuffer>& buffers, bool values_only)
      : buffers_(buffers), values_only_(values_only) {}

  void NameAgents(const AgentNaming& naming) { origins_.NameAgents(naming); }
  const Origins& origins() const { return origins_; }
  const UndefinedStores& stores() const { return stores_; }

  void SetUndefined(MemoryBuffer& buffer);  // before the first write
  std::uint8_t MarkOfValue(const Finding& finding, const Site& site);

  // While an engine carries what is in `source`, its accesses are not the kernel's: it does not count as a reader, and
  // what it stores has the writer of the source. nullptr: it is done.
  void CarriesFrom(const MemoryBuffer* source) { engine_source_ = source; }
  // The same of a copy of a block whose halves are apart.
  void BeginHalf(AgentId operation, Half half, const MemoryBuffer* source) {
    engine_source_ = source;
    copied_.clear();
    if (const auto at = carried_.find(operation); half == Half::kWrite && at != carried_.end()) {
      copied_ = std::move(at->second);
      carried_.erase(at);
    }
  }
  void EndHalf(AgentId operation, Half half) {
    engine_source_ = nullptr;
    if (half == Half::kRead && !copied_.empty()) carried_[operation] = std::move(copied_);
  }
  // Of another engine whose halves are apart. Of an output's bytes it is a reader like any other.
  void Carries(bool copies) { copies_ = copies; }

  // Each sets or reads the access's `defined`. `outside_is_error`: what the box has outside its
  // array is no padding.
  void Load(const MemoryBuffer& buffer, const BoxAccess& access, const BoxReach& reach, bool outside_is_error);
  void Load(const MemoryBuffer& buffer, const PointAccess& access, bool all_inside);
  void Store(MemoryBuffer& buffer, const BoxAccess& access, const BoxReach& reach);
  void Store(MemoryBuffer& buffer, const PointAccess& access);
  void Atomic(MemoryBuffer& buffer, const PointAccess& access);

 private:
  class Moves;
  class StoreRecord;

  DefinedMark Number(OriginKind kind, const MemoryBuffer& buffer, const Site* site);
  DefinedMark OutsideMark(const MemoryBuffer& buffer, const PointAccess& access, std::int64_t offset);
  void MarkMasked(const MemoryBuffer& buffer, const Mask& mask, const Site& site, std::size_t elements);
  void FinishLoad(Definedness& defined, const Site& site, std::size_t elements);
  void CopyStores(const MemoryBuffer& source, const BoxAccess& access, const BoxReach& reach, std::size_t elements);
  const DefinedMark* MarksInPlace(const MemoryBuffer& buffer, const BoxAccess& access, const BoxReach& reach);
  // Of what is stored, the first that is undefined and was computed: is the memory accumulated into?
  void NoteAccumulation(const MemoryBuffer& buffer, const Definedness& stored, std::size_t elements, const Site& site);
  void ForgetStores();

  std::vector<MemoryBuffer>& buffers_;
  const bool values_only_;
  Origins origins_;
  std::vector<DefinedMark> marks_;     // of the last load: Definedness::undefined
  std::vector<DefinedMark> in_place_;  // of a store to an output
  const MemoryBuffer* engine_source_ = nullptr;
  bool copies_ = false;              // an engine, without a value of the kernel
  std::vector<StoreNumber> copied_;  // of the engine's elements: the stores to them in its source; empty: none
  std::map<AgentId, std::vector<StoreNumber>> carried_;  // the same, of copies of blocks that have read
  UndefinedStores stores_;
};

}  // namespace palladion::memory_model

#endif  // PALLADION_MEMORY_MODEL_BYTES_DEFINEDNESS_TRACKER_H_
