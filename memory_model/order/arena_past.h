// The history of bytes of shared memory from before their reuse. A later scope reuses the bytes of an earlier one:
// without a fence, a plain access of the earlier scope is as invisible to asynchronous units as one of the later scope.
// Accesses are stored relative to the earlier allocation, and reported relative to the one that reuses the bytes. Based
// on Mosaic GPU's layout of scopes, a stack in which nothing is cleared. Not kept: bytes that are never reused. What it
// does not see: where two allocations are swizzled differently, a part of a kilobyte of one is assumed to lie where it
// would without a swizzle. The arena of tensor memory is its cells, column by column; parts of one cell are one unit,
// as in hardware loads and stores.
#ifndef PALLADION_MEMORY_MODEL_ORDER_ARENA_PAST_H_
#define PALLADION_MEMORY_MODEL_ORDER_ARENA_PAST_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "memory_model/order/fence_rule.h"
#include "memory_model/sets/access_set.h"
#include "semantics/base/tensor_cells.h"
#include "semantics/base/units.h"

namespace palladion::memory_model {

// Where an allocation lies in its arena.
struct ArenaLayout {
  std::vector<std::int64_t> shape;
  ElementSize element_size{1};
  ByteCount offset;
  const TensorCells* cells = nullptr;  // of tensor memory; nullptr: its bytes lie there as they are

  ByteCount bytes() const;  // of its elements
  ByteCount end() const;    // of what it takes of the arena
  friend bool operator==(const ArenaLayout& a, const ArenaLayout& b) {
    return a.shape == b.shape && a.element_size == b.element_size && a.offset == b.offset &&
           (a.cells == b.cells || (a.cells != nullptr && b.cells != nullptr &&
                                   a.cells->of_element == b.cells->of_element && a.cells->copies == b.cells->copies));
  }
};

// One arena of a block: its shared memory, or its tensor memory.
class ArenaPast {
 public:
  struct Use {
    AccessEvent event;
    AccessSet set;
    std::string object;  // what its bytes were then, by the user's name
  };

  // An allocation has ended, and this is what was done to it.
  void Add(ArenaLayout layout, std::vector<Use> uses);
  // Another gets its bytes: what was done to those. From here on that is the new one's to remember.
  std::vector<Use> Take(const ArenaLayout& layout);

  template <class F>
  void ForEachEvent(const F& f) const {
    for (const Piece& piece : pieces_) {
      for (const Use& use : piece.past->uses) f(use.event);
    }
  }

 private:
  struct Past {
    ArenaLayout layout;
    std::vector<Use> uses;
  };
  // Bytes of the arena that were not reused since.
  struct Piece {
    std::shared_ptr<const Past> past;
    ByteCount begin, end;
  };

  std::vector<Piece> pieces_;
};

}  // namespace palladion::memory_model

#endif  // PALLADION_MEMORY_MODEL_ORDER_ARENA_PAST_H_
