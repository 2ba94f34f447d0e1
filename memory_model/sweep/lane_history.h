// The accesses of one agent's lanes to one buffer since the last barrier between them. A program of Triton is a block
// of threads, and so is a thread of Pallas: each holds some elements of every value, and no two of them are ordered but
// by a barrier. The compiler decides which ones a lane holds. Two accesses at different row-major positions of their
// values, or of values of different sizes, count as different lanes: that is a conflict. At the same position they are
// one lane's if both have the same layout over the lanes, which the caller says of each, and if only one lane holds the
// element; where that is not known it is recorded as a doubt. Atomic updates do not conflict, but are a doubt where
// their order is observable. Few boxes are kept as they are; after that, what was done to each element.
#ifndef PALLADION_MEMORY_MODEL_SWEEP_LANE_HISTORY_H_
#define PALLADION_MEMORY_MODEL_SWEEP_LANE_HISTORY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
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

std::uint32_t ElementsOf(const BoxAccess& access);  // of its value

// An access, as its agent stands. Time is counted in stretches, from 1; what was done before stretch `met` is ordered
// before all that comes.
struct LaneAccess {
  AccessKind kind = AccessKind::kRead;
  CodeSite site;
  std::uint32_t when = 1, met = 1;
  const std::byte* value = nullptr;  // of a store, where its elements are wanted
  std::uint32_t spread = 0;          // equal: over the lanes alike; 0: like no other
  bool all_copies = true;            // of a read: each lane that has a copy of the value has to have it right
  std::uint32_t update = 0;          // of an atomic one: those of one number leave the same in every order; 0: it shows
};

// Accesses in conflict at the same place that may be two lanes', and nothing orders.
struct LaneDoubt {
  CodeSite first, second;
  bool copies = false;   // because several lanes hold the element; else because the two are not spread alike
  bool updates = false;  // or because two lanes update it, and the result shows which came first
};

// Values of fewer elements than an agent has lanes are held by several. All of these load it; one of them stores it, or
// each does.
struct LaneCopies {
  std::int64_t lanes = 1;
  bool one_stores = true;
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
  LaneHistory(const Memory& memory, BufferId buffer, LaneCopies copies = {});

  // Conflicts go to the end of *found: one for each kind and place of what came earlier.
  void Box(const LaneAccess& access, const BoxAccess& box, const BoxReach& reach, std::vector<LaneConflict>* found);
  void Points(const LaneAccess& access, const PointAccess& points, std::vector<LaneConflict>* found);
  // What one lane of all reads or writes for an engine; it is not remembered.
  void BoxOfOne(const LaneAccess& access, const BoxAccess& box, const BoxReach& reach,
                std::vector<LaneConflict>* found);

  // Has it something from stretch `met` on?
  bool HoldsSince(std::uint32_t met) const { return last_ >= met; }
  // The first one since the last call.
  std::optional<LaneDoubt> TakeDoubt() { return std::exchange(doubt_, std::nullopt); }
  // All is ordered: of much, the memory may go.
  void Trim();

 private:
  static constexpr std::size_t kKinds = 3, kMaxPatterns = 8, kMaxRank = 6;
  static constexpr std::int64_t kPage = 64;
  static constexpr std::size_t kMaxPages = std::size_t{1} << 12;

  // The number of the last atomic update, and when one of another number last was made.
  struct Updates {
    std::uint32_t number = 0, mixed = 0;
    bool Shows(const LaneAccess& access) const {
      return access.update == 0 || number != access.update || mixed >= access.met;
    }
    void Add(const Updates& more, std::uint32_t when, std::uint32_t more_when);
  };
  // A box of elements that are touched, the lanes that have them, and what these did.
  struct Pattern {
    std::size_t rank = 0;
    std::array<std::int64_t, kMaxRank> low, high;      // the elements
    std::array<std::int64_t, kMaxRank> start, stride;  // the place of an element: the sum of (index - start) * stride
    std::uint32_t of = 1, spread = 0;
    std::array<std::uint32_t, kKinds> when = {0, 0, 0};  // 0: never
    std::array<std::uint16_t, kKinds> site = {0, 0, 0};
    std::uint32_t copies = 0;  // when it last was a read of which every copy matters
    Updates updates;
  };
  // Something done by a lane.
  struct Deed {
    Lane lane;
    std::uint32_t when = 0, spread = 0;
    std::uint16_t site = 0;
    bool all_copies = false;
    bool changes = true;  // a write of other bytes than lay there, as far as is known
  };
  // What lanes did to one unit, of one kind: the last of them, and when any other one last did; when the last one did
  // so spread in another way, and when it last was a read of which every copy matters.
  struct Track {
    Lane lane, other;
    std::uint32_t when = 0, others = 0, unlike = 0, copies = 0, spread = 0;
    std::uint16_t site = 0, others_site = 0, unlike_site = 0;
    bool changed = true;  // has the last lane left other bytes than the other one?
    void Add(const Deed& deed);
  };
  struct Cell {
    std::array<Track, kKinds> track;
    std::uint32_t serial = 0;  // of the access that wrote it last
    Updates updates;
  };
  struct Piece {
    std::int64_t byte = 0, bytes = 0;
    Lane lane;
    std::size_t number = 0;  // of the access's value
  };
  // The current access.
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
  void Doubt(const LaneAccess& access, std::uint32_t of, AccessKind earlier, const Track& track);
  void Update(const LaneAccess& access, Lane lane, Cell& cell);
  void Report(const Now& now, const Piece& piece, std::size_t kind, const Cell& cell, bool other);
  bool Differs(const Now& now, const Piece& piece, const Cell& cell) const;
  std::uint16_t SiteOf(const CodeSite& site);

  const Memory& memory_;
  const BufferId buffer_;
  const LaneCopies copies_;
  std::vector<std::int64_t> shape_;
  std::int64_t element_bytes_, unit_;  // bytes
  std::vector<Pattern> patterns_;      // what was done, while it is not `fine_`
  bool fine_ = false;
  std::uint32_t last_ = 0, serial_ = 0;
  std::optional<LaneDoubt> doubt_;
  absl::flat_hash_map<std::int64_t, std::unique_ptr<std::array<Cell, kPage>>> pages_;
  std::int64_t page_ = -1;
  std::array<Cell, kPage>* cells_ = nullptr;  // of `page_`
  std::vector<CodeSite> sites_;
};

}  // namespace palladion::memory_model

#endif  // PALLADION_MEMORY_MODEL_SWEEP_LANE_HISTORY_H_
