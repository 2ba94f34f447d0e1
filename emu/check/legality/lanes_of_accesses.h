// How the accesses of a kernel are spread over the lanes of a program of Triton, or of a thread of Mosaic GPU, as far
// as the text says it. Two accesses that are spread alike have the same element of their values in the same lane. On
// Triton that is where they have one index expression (index_expressions.h), on Mosaic GPU where their values have one
// layout of registers (layout_walk.h) in which each element is one lane's.
//
// A Triton value of fewer elements than a program has lanes is held by several of them. All of these load it, and one
// of them stores it; so another may miss the store, or see a later one. Whether that matters depends on the use of the
// loaded value: it does not if the value only flows, element by element, into stores that the same lane makes. Based
// on: Triton's lowering to LLVM (redundant threads are masked off in stores and atomics, not in loads). Limits: those
// of the headers named.
#ifndef PALLADION_EMU_CHECK_LEGALITY_LANES_OF_ACCESSES_H_
#define PALLADION_EMU_CHECK_LEGALITY_LANES_OF_ACCESSES_H_

#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "semantics/ir/module.h"

namespace palladion::legality {

struct AccessLanes {
  std::uint32_t spread = 0;  // equal: spread alike; 0: not known, and like no other
  bool all_copies = true;    // of what it loads, every lane's copy matters
  std::uint32_t update = 0;  // of atomic updates: those of one number leave the same in every order; 0: it is seen
};

class LanesOfAccesses {
 public:
  static LanesOfAccesses OfTriton(const Kernel& kernel);
  static LanesOfAccesses OfMosaicGpu(const Kernel& kernel);

  // Of the access in that line of the text; of several, what is so of all.
  AccessLanes At(int text_line) const {
    const auto at = lines_.find(text_line);
    return at == lines_.end() ? AccessLanes{} : at->second;
  }
  std::int64_t lanes() const { return lanes_; }  // of a program, or a thread

 private:
  explicit LanesOfAccesses(std::int64_t lanes) : lanes_(lanes) {}
  void Add(int text_line, AccessLanes access);

  std::int64_t lanes_;
  absl::flat_hash_map<int, AccessLanes> lines_;
};

}  // namespace palladion::legality

#endif  // PALLADION_EMU_CHECK_LEGALITY_LANES_OF_ACCESSES_H_
