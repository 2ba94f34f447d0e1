#include "memory_model/sweep/lane_history.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

namespace palladion::memory_model {
namespace {

constexpr bool InConflict(AccessKind a, AccessKind b) {
  if (a == AccessKind::kRead && b == AccessKind::kRead) return false;
  return !(a == AccessKind::kAtomic && b == AccessKind::kAtomic);
}

// A slice of stride 0 names its one element several times.
bool Repeats(const BoxAccess& access) {
  for (std::size_t d = 0; d < static_cast<std::size_t>(access.rank); ++d) {
    if (access.step[d] == 0 && access.count[d] > 1) return true;
  }
  return false;
}

std::size_t PiecesPerElement(const BoxAccess&) { return 1; }
std::size_t PiecesPerElement(const PointAccess& access) { return access.pieces_per_element; }

}  // namespace

std::uint32_t ElementsOf(const BoxAccess& access) {
  std::int64_t elements = 1;
  for (std::size_t j = 0; j < static_cast<std::size_t>(access.value_rank); ++j)
    elements *= access.count[access.order[j]];
  return static_cast<std::uint32_t>(elements);
}

// Is what it stores undefined, or whether it stores at all?
bool LaneHistory::Now::IsUndefined(std::size_t element) const {
  if (defined != nullptr && defined->any && defined->undefined[element] != 0) return true;
  return mask.lanes_undefined != nullptr && mask.lanes_undefined[element] != 0;
}

void LaneHistory::Track::Add(const Deed& deed) {
  if (deed.all_copies) copies = std::max(copies, deed.when);
  const bool is_older = deed.when < when;  // kept in another order than it came
  if (when != 0 && lane != deed.lane) {
    if (is_older) {
      if (deed.when > others) others = deed.when, other = deed.lane, others_site = deed.site, changed = true;
      return;
    }
    others = when, other = lane, others_site = site, changed = false;
  } else if (when != 0 && spread != deed.spread) {
    if (is_older) {
      if (deed.when > unlike) unlike = deed.when, unlike_site = deed.site;
      return;
    }
    unlike = when, unlike_site = site;
  }
  lane = deed.lane, when = std::max(when, deed.when), site = deed.site, spread = deed.spread;
  changed |= deed.changes;
}

// Either may be the later one. `when`: of those that are there; 0: there are none.
void LaneHistory::Updates::Add(const Updates& more, std::uint32_t when, std::uint32_t more_when) {
  const bool is_older = more_when < when;
  mixed = std::max(when == 0 ? 0 : mixed, more.mixed);
  if (when != 0 && number != more.number) mixed = std::max(mixed, std::min(when, more_when));
  if (!is_older) number = more.number;
}

LaneHistory::LaneHistory(const Memory& memory, BufferId buffer, LaneCopies copies)
    : memory_(memory),
      buffer_(buffer),
      copies_(copies),
      shape_(memory.ShapeOf(buffer).begin(), memory.ShapeOf(buffer).end()),
      element_bytes_(memory.ElementSizeOf(buffer).value()),
      unit_(element_bytes_) {}

void LaneHistory::Box(const LaneAccess& access, const BoxAccess& box, const BoxReach& reach,
                      std::vector<LaneConflict>* found) {
  ElementBox touched;
  const Extent extent = ExtentOf(box, reach, &touched);
  if (extent == Extent::kNothing) return;
  Drop(access.met);
  last_ = access.when;
  const std::uint32_t of = ElementsOf(box);
  if (!fine_ && !Repeats(box) && extent == Extent::kBox && static_cast<std::size_t>(touched.rank) <= kMaxRank) {
    Pattern pattern{.rank = static_cast<std::size_t>(touched.rank), .of = of, .spread = access.spread};
    for (std::size_t d = 0; d < pattern.rank; ++d) {
      pattern.low[d] = touched.low[d], pattern.high[d] = touched.high[d];
      pattern.start[d] = box.rank == 0 ? 0 : box.start[d], pattern.stride[d] = 0;
    }
    std::int64_t stride = 1;
    for (std::size_t j = static_cast<std::size_t>(box.value_rank); j-- > 0;) {
      const std::int64_t count = box.count[box.order[j]];
      if (count > 1) pattern.stride[box.order[j]] = stride;
      stride *= count;
    }
    if (FitsPatterns(access, pattern) && AddPattern(access, pattern)) return;
  }
  MakeFine();
  const Now now = Begin(access, box, found);
  VisitElements(box, reach, shape_, [&](std::int64_t element, std::int64_t lane) {
    Touch(now, {.byte = element * element_bytes_,
                .bytes = element_bytes_,
                .lane = {static_cast<std::uint32_t>(lane), of},
                .number = static_cast<std::size_t>(lane)});
  });
}

void LaneHistory::Points(const LaneAccess& access, const PointAccess& points, std::vector<LaneConflict>* found) {
  Drop(access.met);
  last_ = access.when;
  MakeFine();
  const auto bytes = static_cast<std::int64_t>(points.piece_bytes);
  const auto of = static_cast<std::uint32_t>(points.offset.size() / points.pieces_per_element);
  const auto within = [this](std::int64_t at) { return at < 0 || at % unit_ == 0; };
  if (bytes % unit_ != 0 || !std::all_of(points.offset.begin(), points.offset.end(), within)) Refine();
  const Now now = Begin(access, points, found);
  for (std::size_t p = 0; p < points.offset.size(); ++p) {
    if (!Touches(points, p)) continue;
    const std::size_t element = p / points.pieces_per_element;
    Touch(now,
          {.byte = points.offset[p], .bytes = bytes, .lane = {static_cast<std::uint32_t>(element), of}, .number = p});
  }
}

void LaneHistory::BoxOfOne(const LaneAccess& access, const BoxAccess& box, const BoxReach& reach,
                           std::vector<LaneConflict>* found) {
  Drop(access.met);
  if (!HoldsSince(access.met)) return;
  MakeFine();
  Now now = Begin(access, box, found);
  now.remembers = false;
  VisitElements(box, reach, shape_, [&](std::int64_t element, std::int64_t) {
    Touch(now, {.byte = element * element_bytes_, .bytes = element_bytes_, .lane = {0, 1}, .number = 0});
  });
}

void LaneHistory::Trim() {
  patterns_.clear();
  fine_ = false;
  if (pages_.size() <= kMaxPages) return;
  pages_.clear();
  page_ = -1, cells_ = nullptr;
}

// ---- few boxes

bool LaneHistory::SameLanes(const Pattern& a, const Pattern& b) {
  if (a.of != b.of) return false;
  for (std::size_t d = 0; d < a.rank; ++d) {
    if (a.stride[d] != b.stride[d] || (a.stride[d] != 0 && a.start[d] != b.start[d])) return false;
  }
  return true;
}

bool LaneHistory::Apart(const Pattern& a, const Pattern& b) {
  for (std::size_t d = 0; d < a.rank; ++d) {
    if (a.low[d] >= b.high[d] || b.low[d] >= a.high[d]) return true;
  }
  return false;
}

// Are all that it is in conflict with apart from it, or the same lanes'?
bool LaneHistory::FitsPatterns(const LaneAccess& access, const Pattern& pattern) const {
  return std::all_of(patterns_.begin(), patterns_.end(), [&](const Pattern& other) {
    bool conflicts = false;
    for (std::size_t kind = 0; kind < kKinds; ++kind)
      conflicts |= other.when[kind] != 0 && InConflict(static_cast<AccessKind>(kind), access.kind);
    const bool updates = access.kind == AccessKind::kAtomic && other.when[NumberOf(access.kind)] != 0;
    conflicts |= updates && other.updates.Shows(access);
    return !conflicts || SameLanes(pattern, other) || Apart(pattern, other);
  });
}

bool LaneHistory::AddPattern(const LaneAccess& access, const Pattern& pattern) {
  for (const Pattern& other : patterns_) {
    for (std::size_t k = 0; k < kKinds; ++k) {
      const auto kind = static_cast<AccessKind>(k);
      if (other.when[k] < access.met || !InConflict(kind, access.kind) || Apart(pattern, other)) continue;
      Track track;
      track.when = other.when[k], track.spread = other.spread, track.site = other.site[k];
      if (kind == AccessKind::kRead) track.copies = other.copies;
      Doubt(access, pattern.of, kind, track);
    }
    const std::size_t atomic = NumberOf(AccessKind::kAtomic);
    const bool both = access.kind == AccessKind::kAtomic && other.when[atomic] >= access.met;
    const bool alike = pattern.of == 1 || (access.spread != 0 && access.spread == other.spread);
    if (both && !alike && !doubt_.has_value() && other.updates.Shows(access) && !Apart(pattern, other))
      doubt_ = {.first = sites_[other.site[atomic]], .second = access.site, .updates = true};
  }
  const auto is_it = [&](const Pattern& other) {
    const auto rank = static_cast<std::ptrdiff_t>(pattern.rank);
    return SameLanes(pattern, other) && pattern.spread == other.spread &&
           std::equal(pattern.low.begin(), pattern.low.begin() + rank, other.low.begin()) &&
           std::equal(pattern.high.begin(), pattern.high.begin() + rank, other.high.begin());
  };
  auto at = std::find_if(patterns_.begin(), patterns_.end(), is_it);
  if (at == patterns_.end()) {
    if (patterns_.size() == kMaxPatterns) return false;
    patterns_.push_back(pattern);
    at = patterns_.end() - 1;
  }
  if (access.kind == AccessKind::kAtomic)
    at->updates.Add({.number = access.update}, at->when[NumberOf(access.kind)], access.when);
  at->when[NumberOf(access.kind)] = access.when;
  at->site[NumberOf(access.kind)] = SiteOf(access.site);
  if (access.kind == AccessKind::kRead && access.all_copies) at->copies = access.when;
  return true;
}

// What is ordered before all that comes.
void LaneHistory::Drop(std::uint32_t met) {
  if (last_ != 0 && last_ < met) return Trim();
  for (Pattern& pattern : patterns_) {
    for (std::uint32_t& when : pattern.when) when = when < met ? 0 : when;
  }
  const auto empty = [](const Pattern& pattern) { return pattern.when == std::array<std::uint32_t, kKinds>{0, 0, 0}; };
  patterns_.erase(std::remove_if(patterns_.begin(), patterns_.end(), empty), patterns_.end());
}

// ---- each element

void LaneHistory::MakeFine() {
  if (fine_) return;
  fine_ = true;
  for (const Pattern& pattern : patterns_) {
    ElementBox box{.rank = static_cast<int>(pattern.rank)};
    std::copy_n(pattern.low.begin(), pattern.rank, box.low.begin());
    std::copy_n(pattern.high.begin(), pattern.rank, box.high.begin());
    const std::vector<std::int64_t> scalar = {1};
    const absl::Span<const std::int64_t> shape = shape_.empty() ? absl::MakeConstSpan(scalar) : shape_;
    VisitRuns(box, shape, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t element = first; element < last; ++element) {
        std::int64_t place = 0, rest = element;
        for (std::size_t d = pattern.rank; d-- > 0; rest /= shape[d])
          place += (rest % shape[d] - pattern.start[d]) * pattern.stride[d];
        const Lane lane{static_cast<std::uint32_t>(place), pattern.of};
        for (std::int64_t u = element * element_bytes_ / unit_; u < (element + 1) * element_bytes_ / unit_; ++u) {
          Cell& cell = CellAt(u);
          const std::size_t atomic = NumberOf(AccessKind::kAtomic);
          if (pattern.when[atomic] != 0)
            cell.updates.Add(pattern.updates, cell.track[atomic].when, pattern.when[atomic]);
          for (std::size_t kind = 0; kind < kKinds; ++kind) {
            if (pattern.when[kind] != 0)
              cell.track[kind].Add({lane, pattern.when[kind], pattern.spread, pattern.site[kind]});
          }
          std::uint32_t& copies = cell.track[NumberOf(AccessKind::kRead)].copies;
          copies = std::max(copies, pattern.copies);
        }
      }
    });
  }
  patterns_.clear();
}

void LaneHistory::Refine() {
  if (unit_ == 1) return;
  const std::int64_t factor = unit_;
  auto old = std::exchange(pages_, {});
  unit_ = 1;
  page_ = -1, cells_ = nullptr;
  for (const auto& [page, cells] : old) {
    for (std::int64_t c = 0; c < kPage; ++c) {
      const Cell& cell = (*cells)[static_cast<std::size_t>(c)];
      for (std::int64_t part = 0; part < factor; ++part) CellAt((page * kPage + c) * factor + part) = cell;
    }
  }
}

template <class Access>
LaneHistory::Now LaneHistory::Begin(const LaneAccess& access, const Access& request, std::vector<LaneConflict>* found) {
  ++serial_;
  return {.access = access,
          .mask = request.mask,
          .defined = request.defined,
          .pieces_per_element = PiecesPerElement(request),
          .site = SiteOf(access.site),
          .found = found,
          .first_found = found->size()};
}

LaneHistory::Cell& LaneHistory::CellAt(std::int64_t unit) {
  if (const std::int64_t page = unit / kPage; page != page_) {
    auto& cells = pages_[page];
    if (cells == nullptr) cells = std::make_unique<std::array<Cell, kPage>>();
    page_ = page, cells_ = cells.get();
  }
  return (*cells_)[static_cast<std::size_t>(unit % kPage)];
}

void LaneHistory::Touch(const Now& now, const Piece& piece) {
  for (std::int64_t unit = piece.byte / unit_; unit < (piece.byte + piece.bytes) / unit_; ++unit)
    Meet(now, piece, CellAt(unit));
}

void LaneHistory::Meet(const Now& now, const Piece& piece, Cell& cell) {
  const LaneAccess& access = now.access;
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    if (!InConflict(static_cast<AccessKind>(kind), access.kind)) continue;
    const Track& track = cell.track[kind];
    const bool other = track.when >= access.met && track.lane != piece.lane;
    if (track.when >= access.met && !other) Doubt(access, piece.lane.of, static_cast<AccessKind>(kind), track);
    if (other || track.others >= access.met) Report(now, piece, kind, cell, other);
  }
  if (access.kind == AccessKind::kAtomic) Update(access, piece.lane, cell);
  if (!now.remembers) return;
  const bool all_copies = access.kind == AccessKind::kRead && access.all_copies;
  const bool changes = access.kind != AccessKind::kWrite || Differs(now, piece, cell);
  cell.track[NumberOf(access.kind)].Add({piece.lane, access.when, access.spread, now.site, all_copies, changes});
  if (access.kind == AccessKind::kWrite) cell.serial = serial_;
}

// Two lanes update an element, and which came first is seen.
void LaneHistory::Update(const LaneAccess& access, Lane lane, Cell& cell) {
  const Track& track = cell.track[NumberOf(AccessKind::kAtomic)];
  const bool is_first = track.when < access.met, other = track.lane != lane, others = track.others >= access.met;
  const bool shows = cell.updates.Shows(access);
  cell.updates.Add({.number = access.update}, track.when, access.when);
  const bool alike = lane.of == 1 || (access.spread != 0 && access.spread == track.spread && track.unlike < access.met);
  if (is_first || !shows || doubt_.has_value() || !(other || others || !alike)) return;
  const std::uint16_t unlike = access.spread == track.spread && access.spread != 0 ? track.unlike_site : track.site;
  const std::uint16_t site = other ? track.site : others ? track.others_site : unlike;
  doubt_ = {.first = sites_[site], .second = access.site, .updates = true};
}

// The two are at the same place of values of `of` elements.
void LaneHistory::Doubt(const LaneAccess& access, std::uint32_t of, AccessKind earlier, const Track& track) {
  if (doubt_.has_value()) return;
  const bool last_alike = track.spread == access.spread && access.spread != 0;
  const bool all_alike = last_alike && track.unlike < access.met;
  if (of > 1 && !all_alike) {
    doubt_ = {.first = sites_[last_alike ? track.unlike_site : track.site], .second = access.site};
    return;
  }
  // A lane may load what another one has stored over, or miss what one lane alone stores; and what each stores it may
  // lose to a copy of an earlier store.
  const bool reads = access.kind == AccessKind::kRead;
  const bool unsure = earlier == AccessKind::kRead ? track.copies >= access.met
                      : reads                      ? copies_.one_stores && access.all_copies
                                                   : !copies_.one_stores;
  if (of < copies_.lanes && unsure) doubt_ = {.first = sites_[track.site], .second = access.site, .copies = true};
}

void LaneHistory::Report(const Now& now, const Piece& piece, std::size_t kind, const Cell& cell, bool other) {
  const Track& track = cell.track[kind];
  const auto earlier = static_cast<AccessKind>(kind);
  const bool writes = earlier == AccessKind::kWrite && now.access.kind == AccessKind::kWrite;
  const bool at_once = writes && other && cell.serial == serial_;
  // What lies there is the last lane's: another one's are the same if that has stored the same since.
  const bool differ = !writes || Differs(now, piece, cell) || (!other && track.changed);
  const CodeSite& first = sites_[other ? track.site : track.others_site];
  for (std::size_t i = now.first_found; i < now.found->size(); ++i) {
    LaneConflict& known = (*now.found)[i];
    if (known.earlier != earlier || known.at_once != at_once || known.first.text_line != first.text_line ||
        known.first.loc != first.loc)
      continue;
    known.differ |= differ;
    ++known.elements;
    return;
  }
  now.found->push_back({.earlier = earlier,
                        .first = first,
                        .at_once = at_once,
                        .differ = differ,
                        .before = other ? track.lane : track.other,
                        .now = piece.lane,
                        .byte = piece.byte,
                        .elements = 1});
}

// What lies there is the last write's, but where this access has written there already.
bool LaneHistory::Differs(const Now& now, const Piece& piece, const Cell& cell) const {
  const std::byte* const value = now.access.value;
  if (value == nullptr || now.IsUndefined(piece.number / now.pieces_per_element)) return true;
  const auto bytes = static_cast<std::size_t>(piece.bytes);
  const std::byte* const stored = value + piece.number * bytes;
  if (cell.serial == serial_) {
    const std::size_t before = cell.track[NumberOf(AccessKind::kWrite)].lane.place;
    const std::size_t part = piece.number % now.pieces_per_element;
    const std::byte* const first = value + (before * now.pieces_per_element + part) * bytes;
    return now.IsUndefined(before) || std::memcmp(first, stored, bytes) != 0;
  }
  if (memory_.MarkOf(buffer_, ByteCount(piece.byte) / ElementSize(element_bytes_)) != 0) return true;
  return std::memcmp(memory_.DataOf(buffer_) + piece.byte, stored, bytes) != 0;
}

std::uint16_t LaneHistory::SiteOf(const CodeSite& site) {
  const auto is_it = [&](const CodeSite& known) { return known.text_line == site.text_line && known.loc == site.loc; };
  const auto at = std::find_if(sites_.begin(), sites_.end(), is_it);
  if (at != sites_.end()) return static_cast<std::uint16_t>(at - sites_.begin());
  if (sites_.size() == std::numeric_limits<std::uint16_t>::max()) return 0;
  sites_.push_back(site);
  return static_cast<std::uint16_t>(sites_.size() - 1);
}

}  // namespace palladion::memory_model
