// One block of threads under way: who its threads are, and what lies in its shared memory. Memory is a stack of bytes,
// as Mosaic GPU lays scopes out: a later scope gets the bytes of an earlier one, so what is still under way in those is
// found when they are given again. Based on: JAX's Mosaic GPU backend, which aligns every ref to 1024 bytes.
#ifndef PALLADION_EMU_THREADS_BLOCK_H_
#define PALLADION_EMU_THREADS_BLOCK_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "memory_model/sync/rendezvous.h"
#include "semantics/base/agent_name.h"
#include "semantics/base/ids.h"
#include "semantics/port/machine.h"

namespace palladion::threads {

using BlockId = Id<struct BlockTag>;

// What an allocation is called in every block: the step that makes it, and the how-maniest time it ran.
struct ObjectName {
  std::int64_t step = 0, occurrence = 0;
  friend bool operator<(const ObjectName& a, const ObjectName& b) {
    return std::tie(a.step, a.occurrence) < std::tie(b.step, b.occurrence);
  }
};

struct SharedBuffer {
  BufferId buffer;
  std::int64_t offset = 0, bytes = 0;
  std::size_t users = 0;  // threads that have not left its scope
  bool reached = false;   // by a thread of the block itself, not only by a peer
  bool freed = false;     // another has its bytes, though some may not have left its scope
};

inline std::string NameOfBlock(absl::Span<const std::int64_t> index) { return AgentName({.blocks = true}, index); }

struct Block {
  static constexpr std::int64_t kAlignment = 1024;

  std::vector<std::int64_t> index;  // of the grid, without the thread
  std::int64_t cluster = 0;         // its number
  std::int64_t number = 0;          // in the grid, row-major
  memory_model::Place place;
  std::vector<AgentId> threads;
  std::size_t running = 0;
  bool ended = false;
  memory_model::RendezvousId meeting;
  std::map<ObjectName, SharedBuffer> live;
  std::vector<SharedBuffer> retired;  // their scope is over; nobody has their bytes yet
  std::map<ObjectName, SyncId> syncs;
  std::vector<std::pair<SyncId, CodeSite>> left;  // their scope is over; nobody has their bytes yet
  std::vector<SyncId> arrays;                     // of barriers and semaphores, that have not been retired

  // Where the next allocation begins. What peers alone have reached comes later, wherever it lies.
  std::int64_t Top() const {
    std::int64_t top = 0;
    for (const auto& [name, shared] : live) top = std::max(top, shared.reached ? shared.offset + shared.bytes : 0);
    return (top + kAlignment - 1) / kAlignment * kAlignment;
  }
};

}  // namespace palladion::threads

#endif  // PALLADION_EMU_THREADS_BLOCK_H_
