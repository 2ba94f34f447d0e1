// Boxes as access history keeps them: small, without direction, inside their array. A dimension is an arithmetic
// progression, so a strided slice is one box and two interleaved halves do not overlap. What is no such box (more
// dimensions, or arrays of 2^31 elements along one) is kept as bytes instead (access_set.h).
#ifndef PALLADION_MEMORY_MODEL_SETS_ACCESS_BOX_H_
#define PALLADION_MEMORY_MODEL_SETS_ACCESS_BOX_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/types/span.h"
#include "semantics/base/units.h"

namespace palladion::memory_model {

inline constexpr int kMaxHistoryRank = 6;

// The indices start + i*step, i < count; count >= 1, and step is 1 where count is.
struct Progression {
  std::int32_t start = 0, count = 1, step = 1;
  std::int32_t last() const { return start + (count - 1) * step; }
  friend bool operator==(const Progression& a, const Progression& b) {
    return a.start == b.start && a.count == b.count && a.step == b.step;
  }
};
std::optional<Progression> Common(const Progression& a, const Progression& b);
bool Covers(const Progression& outer, const Progression& inner);

struct AccessBox {
  std::int32_t rank = 0;
  std::array<Progression, kMaxHistoryRank> dim;  // the first `rank`

  static AccessBox Whole(absl::Span<const std::int64_t> shape);
};

inline bool Same(const AccessBox& a, const AccessBox& b) {  // of one array, as below
  // Number by number: a box has just been written that way, and the processor would wait for wider loads of it.
  const Progression* theirs = b.dim.data();
  for (const Progression *mine = a.dim.data(), *end = mine + a.rank; mine != end; ++mine, ++theirs) {
    if (!(*mine == *theirs)) return false;
  }
  return true;
}

enum class BoxRelation : std::uint8_t { kDisjoint, kOverlaps, kCovers };  // kCovers: a has all of b
BoxRelation RelateSlow(const AccessBox& a, const AccessBox& b);
inline BoxRelation Relate(const AccessBox& a, const AccessBox& b) {  // of one array, so of one rank
  if (a.rank > 0 && (a.dim[0].start > b.dim[0].last() || b.dim[0].start > a.dim[0].last())) {
    return BoxRelation::kDisjoint;  // most are
  }
  return RelateSlow(a, b);
}
AccessBox Overlap(const AccessBox& a, const AccessBox& b);  // they overlap

// `a` becomes the union of both where that is a box again and neither has an element of the other.
bool MergeAdjacent(AccessBox* a, const AccessBox& b);

std::string Describe(const AccessBox& box);  // "[0:64, 3, 0:128:2]"

// Calls f(begin, end), in bytes and ascending, for each longest contiguous run.
template <class F>
void ForEachRun(const AccessBox& box, absl::Span<const std::int64_t> shape, ElementSize element_size, const F& f);

template <class F>
void ForEachRun(const AccessBox& box, absl::Span<const std::int64_t> shape, ElementSize element_size, const F& f) {
  const std::int64_t element_bytes = element_size.value();
  std::array<std::int64_t, kMaxHistoryRank + 1> stride;  // bytes; [rank]: an element
  stride[static_cast<std::size_t>(box.rank)] = element_bytes;
  std::size_t inner = static_cast<std::size_t>(box.rank);  // dimensions from here on are one run
  std::int64_t run = element_bytes;
  bool whole = true;
  for (std::size_t d = static_cast<std::size_t>(box.rank); d-- > 0;) {
    stride[d] = d + 1 == static_cast<std::size_t>(box.rank) ? element_bytes : stride[d + 1] * shape[d + 1];
    if (whole && inner == d + 1 && (box.dim[d].step == 1 || box.dim[d].count == 1)) {
      inner = d;
      run = box.dim[d].count * stride[d];
      whole = box.dim[d].count == shape[d];
    }
  }
  std::int64_t base = 0;
  for (std::size_t d = 0; d < static_cast<std::size_t>(box.rank); ++d) base += box.dim[d].start * stride[d];
  std::array<std::int32_t, kMaxHistoryRank> at = {};
  while (true) {
    f(base, base + run);
    std::size_t d = inner;
    while (d > 0) {
      --d;
      const Progression& dim = box.dim[d];
      base += dim.step * stride[d];
      if (++at[d] < dim.count) break;
      base -= std::int64_t{dim.count} * dim.step * stride[d];
      at[d] = 0;
      if (d == 0) return;
    }
    if (inner == 0) return;
  }
}

}  // namespace palladion::memory_model

#endif  // PALLADION_MEMORY_MODEL_SETS_ACCESS_BOX_H_
