// What the lanes of one agent did to one buffer, as far as nothing has brought them together since. A program of Triton
// is a block of threads, and so is a thread of Pallas: each holds some elements of every value, and no two of them are
// ordered but by a barrier. Which ones a lane holds is the compiler's to say; what counts as the same lane here is the
// same place in values of as many elements, row-major: the same index expression. Few boxes are kept as they are; after
// that, what was done to each element. Limits: accesses of one size are taken to have one layout, and those of one
// element to be made by every lane.
#ifndef PALLADION_MEMORY_MODEL_SWEEP_LANE_HISTORY_H_
#define PALLADION_MEMORY_MODEL_SWEEP_LANE_HISTORY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "memory_model/bytes/memory.h"
#include "memory_model/sets/region.h"

namespace palladion::memory_model {

// A place, and of how many.
struct Lane {
  std::uint32_t place = 0, of = 0;
  friend bool operator==(Lane a, Lane b) { return a.place == b.place && a.of == b.of; }
  friend bool operator!=(Lane a, Lane b) { return !(a == b); }
};

// An access, as its agent stands. Time is counted in stretches, from 1; what was done before stretch `met` is ordered
// before all that comes.
struct LaneAccess {
  AccessKind kind = AccessKind::kRead;
  CodeSite site;
  std::uint32_t when = 1, met = 1;
  const std::byte* value = nullptr;  // of a store, where its elements are wanted
};

// Where another lane did something earlier that nothing orders.
struct LaneConflict {
  AccessKind earlier = AccessKind::kRead;
  CodeSite first;
  bool at_once = false;       // by the same access: it names an element twice
  bool differ = true;         // of two writes: somewhere they store other bytes
  Lane before, now;           // at the first element
  std::int64_t byte = 0;      // of the buffer, where that begins
  std::int64_t elements = 0;  // so many, in units of the history
};

class LaneHistory {
 public:
  // The memory outlives it.
  LaneHistory(const Memory& memory, BufferId buffer);

  // Conflicts go to the end of *found: one for each kind and place of what came earlier.
  void Box(const LaneAccess& access, const BoxAccess& box, const BoxReach& reach, std::vector<LaneConflict>* found);
  void Points(const LaneAccess& access, const PointAccess& points, std::vector<LaneConflict>* found);
  // What one lane of all reads or writes for an engine; it is not remembered.
  void BoxOfOne(const LaneAccess& access, const BoxAccess& box, const BoxReach& reach,
                std::vector<LaneConflict>* found);

  // Has it something from stretch `met` on?
  bool HoldsSince(std::uint32_t met) const { return last_ >= met; }
  // Were accesses in conflict, of several elements, taken for one lane's? They are if they have one layout.
  bool relies_on_layouts() const { return relies_on_layouts_; }
  // All is ordered: of much, the memory may go.
  void Trim();

 private:
  static constexpr std::size_t kKinds = 3, kMaxPatterns = 8, kMaxRank = 6;
  static constexpr std::int64_t kPage = 64;
  static constexpr std::size_t kMaxPages = std::size_t{1} << 12;

  // A box of elements that are touched, the lanes that have them, and what these did.
  struct Pattern {
    std::size_t rank = 0;
    std::array<std::int64_t, kMaxRank> low, high;      // the elements
    std::array<std::int64_t, kMaxRank> start, stride;  // the place of an element: the sum of (index - start) * stride
    std::uint32_t of = 1;
    std::array<std::uint32_t, kKinds> when = {0, 0, 0};  // 0: never
    std::array<std::uint16_t, kKinds> site = {0, 0, 0};
  };
  // What lanes did to one unit, of one kind: the last of them, and when any other one last did.
  struct Track {
    Lane lane, other;
    std::uint32_t when = 0, others = 0;
    std::uint16_t site = 0, others_site = 0;
    void Add(Lane who, std::uint32_t at, std::uint16_t where);
  };
  struct Cell {
    std::array<Track, kKinds> track;
    std::uint32_t serial = 0;  // of the access that wrote it last
  };
  struct Piece {
    std::int64_t byte = 0, bytes = 0;
    Lane lane;
    std::size_t number = 0;  // of the access's value
  };
  // An access under way.
  struct Now {
    const LaneAccess& access;
    const Mask& mask;
    const Definedness* defined;
    std::size_t pieces_per_element;
    std::uint16_t site;
    std::vector<LaneConflict>* found;
    std::size_t first_found;
    bool remembers = true;

    bool IsUndefined(std::size_t element) const;
  };

  static std::size_t NumberOf(AccessKind kind) { return static_cast<std::size_t>(kind); }
  static bool SameLanes(const Pattern& a, const Pattern& b);
  static bool Apart(const Pattern& a, const Pattern& b);
  bool FitsPatterns(const LaneAccess& access, const Pattern& pattern) const;
  bool AddPattern(const LaneAccess& access, const Pattern& pattern);
  void Drop(std::uint32_t met);
  void MakeFine();
  void Refine();
  template <class Access>
  Now Begin(const LaneAccess& access, const Access& request, std::vector<LaneConflict>* found);
  Cell& CellAt(std::int64_t unit);
  void Touch(const Now& now, const Piece& piece);
  void Meet(const Now& now, const Piece& piece, Cell& cell);
  void Report(const Now& now, const Piece& piece, std::size_t kind, const Cell& cell, bool other);
  bool Differs(const Now& now, const Piece& piece, const Cell& cell) const;
  std::uint16_t SiteOf(const CodeSite& site);

  const Memory& memory_;
  const BufferId buffer_;
  std::vector<std::int64_t> shape_;
  std::int64_t element_bytes_, unit_;  // bytes
  std::vector<Pattern> patterns_;      // what was done, while it is not `fine_`
  bool fine_ = false;
  std::uint32_t last_ = 0, serial_ = 0;
  bool relies_on_layouts_ = false;
  absl::flat_hash_map<std::int64_t, std::unique_ptr<std::array<Cell, kPage>>> pages_;
  std::int64_t page_ = -1;
  std::array<Cell, kPage>* cells_ = nullptr;  // of `page_`
  std::vector<CodeSite> sites_;
};

}  // namespace palladion::memory_model

#endif  // PALLADION_MEMORY_MODEL_SWEEP_LANE_HISTORY_H_
