#include "memory_model/bytes/memory.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "memory_model/bytes/gather.h"
#include "memory_model/bytes/masked_lanes.h"
#include "memory_model/bytes/undefined_findings.h"
#include "semantics/base/status.h"
#include "semantics/tensor/copy_box.h"

namespace palladion::memory_model {

void Memory::Print(std::string line) { printed_.Add(std::move(line)); }

void Memory::Running(const RunningAgent& now) {
  who_ = {.agent = now.id};
  watchers_.Each(EventKind::kTurn, [&](MemoryWatcher& watcher) { watcher.Running(now); });
}

absl::Status Memory::Wait(const WaitTarget& target, const Site& site) {
  if (target.kind != WaitTarget::Kind::kQueue || target.queue != AsyncQueue::kBlocks)
    return Machine::Wait(target, site);
  watchers_.Each(EventKind::kWait, [&](MemoryWatcher& watcher) { watcher.Awaited(who_, target); });
  return absl::OkStatus();
}

AgentId Memory::NewOperation(std::size_t parts) {
  constexpr std::int32_t kMost = std::numeric_limits<std::int32_t>::max();
  if (parts >= static_cast<std::size_t>(kMost - next_operation_)) next_operation_ = kFirstOperation;
  return AgentId{std::exchange(next_operation_, next_operation_ + static_cast<std::int32_t>(parts))};
}

absl::StatusOr<BufferId> Memory::Alloc(const AllocRequest& request) {
  PALLADION_ASSIGN_OR_RETURN(const BufferId id, buffers_.Alloc(request));
  Poison(id);
  watchers_.Each(EventKind::kAlloc, [&](MemoryWatcher& watcher) { watcher.Alloc(who_, id); });
  return id;
}

void Memory::Free(BufferId id) {
  watchers_.Each(EventKind::kAlloc, [&](MemoryWatcher& watcher) { watcher.Free(who_, id); });
  buffers_.Free(id);
}

void Memory::Poison(BufferId id) {
  buffers_.Fill(id);
  if (tracker_ != nullptr) tracker_->SetUndefined(buffers_[id]);
  watchers_.Each(EventKind::kAlloc, [&](MemoryWatcher& watcher) { watcher.Poison(who_, id); });
}

struct Memory::Saved {
  LaunchBuffers::Saved buffers;
  FindingLog log;
  PrintedLines printed;
};

std::shared_ptr<const Memory::Saved> Memory::Save() {
  return std::make_shared<Saved>(Saved{.buffers = buffers_.Save(), .log = log_, .printed = printed_});
}

void Memory::Restore(const Saved& saved) {
  buffers_.Restore(saved.buffers);
  log_ = saved.log;
  printed_ = saved.printed;
}

void Memory::TrackDefinedness(bool values_only) {
  tracker_ = std::make_unique<DefinednessTracker>(buffers_.all(), values_only);
  tracker_->NameAgents(bounds_.naming());
}

void Memory::SetUndefined(BufferId buffer) { tracker_->SetUndefined(buffers_[buffer]); }

std::uint8_t Memory::MarkOfValue(const Finding& finding, const Site& site) {
  return tracker_ == nullptr ? std::uint8_t{0} : tracker_->MarkOfValue(finding, site);
}

void Memory::ReportUndefined(DefinedMark mark, std::string_view use, const Site& site) {
  undefined_arrived_ |= HoldsNothing(tracker_->origins(), mark);
  if (tracker_->origins().IsReported(mark)) return;
  Report(UndefinedUse({tracker_->origins(), tracker_->stores(), bounds_.naming()}, mark, use, site));
}

std::int64_t Memory::ReportUndefinedOutput(BufferId id, std::string_view device, const Site& site) {
  const UndefinedContext context{tracker_->origins(), tracker_->stores(), bounds_.naming()};
  const MemoryBuffer& buffer = buffers_[id];
  undefined_arrived_ |= AnyHoldsNothing(tracker_->origins(), buffer);
  for (Finding& finding : UndefinedOutput(context, buffer, device, site)) Report(std::move(finding));
  return buffer.elements().value();
}

// Of two at one place the worse one is kept: a copy may be worth a note for its source, and wrong in its destination.
void Memory::Report(Finding finding) { log_.Take(std::move(finding)); }

// ---- boxes

void Memory::ReportOutside(const MemoryBuffer& buffer, const BoxAccess& access, const BoxReach& reach,
                           Direction direction) {
  std::optional<Finding> outside = bounds_.OfBox(buffer, access, reach, direction);
  if (outside.has_value()) Report(*std::move(outside));
}

void Memory::FillMasked(const MemoryBuffer& buffer, const Mask& mask, std::size_t elements, std::byte* value) {
  alignas(8) std::array<std::byte, 64> poison;
  if (mask.other == nullptr) buffers_.FillPoison(buffer, poison.data(), ElementCount(1));
  memory_model::FillMasked(mask, buffer.element_size, poison.data(), elements, value);
}

// At least the elements that are not copied.
void Memory::PoisonOutside(const MemoryBuffer& buffer, const BoxAccess& access, const BoxReach& reach,
                           const BoxLayout& layout, std::byte* value) {
  const ElementCount elements(static_cast<std::int64_t>(layout.elements));
  if (access.outside == Outside::kZero) {
    std::memset(value, 0, (elements * buffer.element_size).size());
    return;
  }
  if (access.value_rank != 1 || reach.none_copied) return buffers_.FillPoison(buffer, value, elements);
  const Range inside = reach.copy[access.order[0]];
  const ElementCount begin(inside.begin), end(inside.end);
  buffers_.FillPoison(buffer, value, begin);
  buffers_.FillPoison(buffer, value + (end * buffer.element_size).size(), elements - end);
}

void Memory::Load(const BoxAccess& access, std::byte* value) {
  const MemoryBuffer& buffer = buffers_.Touched(access.buffer);
  const BoxReach reach = ReachOf(buffer.shape, access);
  if (reach.empty) return;
  Announce(AccessKind::kRead, access, reach, nullptr);
  const BoxLayout layout = LayoutOf(access, buffer.element_size);
  const bool moves = buffer.moves && value != nullptr;  // engines have no bytes where nothing moves
  if (!reach.all_copied && moves) PoisonOutside(buffer, access, reach, layout, value);
  if (!reach.none_copied && moves) {
    const std::byte* from = buffer.data;
    for (std::size_t d = 0; d < static_cast<std::size_t>(access.rank); ++d) {
      from += (access.start[d] + reach.copy[d].begin * access.step[d]) * buffer.stride[d];
    }
    absl::InlinedVector<CopyDim, 8> dims(static_cast<std::size_t>(access.value_rank));
    std::byte* to = value;
    for (std::size_t j = 0; j < static_cast<std::size_t>(access.value_rank); ++j) {
      const std::size_t d = access.order[j];
      dims[j] = {ElementCount(reach.copy[d].end - reach.copy[d].begin), ByteCount(access.step[d] * buffer.stride[d]),
                 ByteCount(layout.stride[j])};
      to += reach.copy[d].begin * layout.stride[j];
    }
    CopyBox(from, to, dims, buffer.element_size);
  }
  const bool outside = !reach.all_legal && AnyLaneOutside(access, reach, layout.elements);
  if (outside) ReportOutside(buffer, access, reach, Direction::kLoad);
  if (access.mask.lanes != nullptr && moves) FillMasked(buffer, access.mask, layout.elements, value);
  if (tracker_ == nullptr) return;
  const bool is_error = !reach.all_copied && (outside || WindowNowhere(access)) && !bounds_.InTiles(buffer, access);
  tracker_->Load(buffer, access, reach, is_error);
}

void Memory::Store(const BoxAccess& access, const std::byte* value) {
  MemoryBuffer& buffer = buffers_.Touched(access.buffer);
  const BoxReach reach = ReachOf(buffer.shape, access);
  if (reach.empty) return;
  Announce(AccessKind::kWrite, access, reach, value);
  const BoxLayout layout = LayoutOf(access, buffer.element_size);
  if (!reach.all_legal && AnyLaneOutside(access, reach, layout.elements))
    ReportOutside(buffer, access, reach, Direction::kStore);
  if (reach.none_copied || !buffer.moves || value == nullptr) return;
  if (tracker_ != nullptr) tracker_->Store(buffer, access, reach);
  std::byte* to = buffer.data;
  const std::byte* end = buffer.data + buffer.element_size.value();
  for (std::size_t d = 0; d < static_cast<std::size_t>(access.rank); ++d) {
    to += (access.start[d] + reach.copy[d].begin * access.step[d]) * buffer.stride[d];
    end += (access.start[d] + (reach.copy[d].end - 1) * access.step[d]) * buffer.stride[d];
  }
  buffers_.Settle(buffer, to, end);
  absl::InlinedVector<CopyDim, 8> dims(static_cast<std::size_t>(access.value_rank));
  std::int64_t first = 0;
  for (std::size_t j = 0; j < static_cast<std::size_t>(access.value_rank); ++j) {
    const std::size_t d = access.order[j];
    dims[j] = {ElementCount(reach.copy[d].end - reach.copy[d].begin), ByteCount(layout.stride[j]),
               ByteCount(access.step[d] * buffer.stride[d])};
    first += reach.copy[d].begin * layout.stride[j];
  }
  if (access.mask.lanes == nullptr) return CopyBox(value + first, to, dims, buffer.element_size);
  StoreLanes({value, access.mask.lanes, buffer.element_size}, ByteCount(first), to, dims);
}

const std::byte* Memory::Borrow(const BoxAccess& access) {
  if (!borrows_) return nullptr;
  const BoxReach reach = ReachOf(buffers_.Touched(access.buffer).shape, access);
  const std::byte* at = WhereDense(access, reach);
  if (at != nullptr) {
    Announce(AccessKind::kRead, access, reach, nullptr);
    if (tracker_ != nullptr) tracker_->Load(buffers_[access.buffer], access, reach, false);
  }
  return at;
}

const std::byte* Memory::WhereDense(const BoxAccess& access, const BoxReach& reach) const {
  const MemoryBuffer& buffer = buffers_[access.buffer];
  if (reach.empty || !reach.all_copied || access.mask.lanes != nullptr) return nullptr;
  const BoxLayout layout = LayoutOf(access, buffer.element_size);
  const std::byte* at = buffer.data;
  for (std::size_t d = 0; d < static_cast<std::size_t>(access.rank); ++d) at += access.start[d] * buffer.stride[d];
  for (std::size_t j = 0; j < static_cast<std::size_t>(access.value_rank); ++j) {
    const std::size_t d = access.order[j];
    if (layout.count[j] != 1 && access.step[d] * buffer.stride[d] != layout.stride[j]) return nullptr;
  }
  return at;
}

// ---- copy-on-write reads of engines, and room for what they make

namespace {

// Where the elements of a box that lies in its array are.
ValueView ViewOf(const MemoryBuffer& buffer, const BoxAccess& access) {
  ValueView view{.data = buffer.data, .dims = {}};
  for (std::size_t d = 0; d < static_cast<std::size_t>(access.rank); ++d)
    view.data += access.start[d] * buffer.stride[d];
  for (std::size_t j = 0; j < static_cast<std::size_t>(access.value_rank); ++j) {
    const std::size_t d = access.order[j];
    if (access.count[d] != 1) view.dims.push_back({access.count[d], access.step[d] * buffer.stride[d]});
  }
  return view;
}

}  // namespace

CowReadId Memory::BeginCowRead(const BoxAccess& access) {
  MemoryBuffer& buffer = buffers_.Touched(access.buffer);
  const BoxReach reach = ReachOf(buffer.shape, access);
  if (reach.empty || !reach.all_copied || access.mask.lanes != nullptr || !buffer.moves) return {};
  Announce(AccessKind::kRead, access, reach, nullptr);
  const CowReadId read = buffers_.BeginCowRead(access.buffer, ViewOf(buffer, access));
  if (tracker_ != nullptr) tracker_->Load(buffer, access, reach, false);
  return read;
}

ValueView Memory::Room(const BoxAccess& access) {
  MemoryBuffer& buffer = buffers_.Touched(access.buffer);
  const BoxReach reach = ReachOf(buffer.shape, access);
  if (reach.empty || !reach.all_copied || access.mask.lanes != nullptr || !buffer.moves) return {};
  ValueView view = ViewOf(buffer, access);
  if (view.elements() <= ElementCount(most_values_)) return {};
  Announce(AccessKind::kWrite, access, reach, nullptr);
  buffers_.Settle(buffer, view.data, view.End(buffer.element_size));
  return view;
}

void Memory::Wrote(const BoxAccess& access) {
  MemoryBuffer& buffer = buffers_[access.buffer];
  if (tracker_ != nullptr) tracker_->Store(buffer, access, ReachOf(buffer.shape, access));
}

// ---- lists of places

void Memory::Load(const PointAccess& access, std::byte* value) {
  Announce(AccessKind::kRead, access, nullptr);
  const MemoryBuffer& buffer = buffers_.Touched(access.buffer);
  const std::size_t elements = access.offset.size() / access.pieces_per_element;
  const bool whole = access.piece_bytes == buffer.element_size.size() && access.pieces_per_element == 1;
  const bool moves = buffer.moves && value != nullptr;
  const bool all_inside =
      moves ? Gather(access.offset, buffer.data, access.piece_bytes, value)
            : std::all_of(access.offset.begin(), access.offset.end(), [](std::int64_t at) { return at >= 0; });
  if (tracker_ != nullptr) tracker_->Load(buffer, access, all_inside);
  if (!all_inside) {
    for (std::size_t p = 0; p < access.offset.size(); ++p) {
      if (access.offset[p] >= 0) continue;
      const std::size_t element = p / access.pieces_per_element;
      const bool active = access.mask.lanes == nullptr || access.mask.lanes[element] != 0;
      if (active && access.offset[p] == PointAccess::kOutOfBounds)
        Report(bounds_.OfPoint(buffer, access.site, element, Direction::kLoad));
      if (!moves) continue;
      std::byte* at = value + p * access.piece_bytes;
      if (whole) {
        buffers_.FillPoison(buffer, at, ElementCount(1));
      } else {
        buffers_.filler().Bytes(at, access.piece_bytes);  // a piece of another type
      }
    }
  }
  if (access.mask.lanes == nullptr || !moves) return;
  if (whole) return FillMasked(buffer, access.mask, elements, value);
  const std::size_t bytes = access.piece_bytes * access.pieces_per_element;
  for (std::size_t e = 0; e < elements; ++e) {
    if (access.mask.lanes[e] != 0) continue;
    if (access.mask.other != nullptr) {
      std::memcpy(value + e * bytes, access.mask.other + e * bytes, bytes);
    } else {
      buffers_.filler().Bytes(value + e * bytes, bytes);
    }
  }
}

void Memory::Store(const PointAccess& access, const std::byte* value) {
  Announce(AccessKind::kWrite, access, value);
  MemoryBuffer& buffer = buffers_.Touched(access.buffer);
  if (tracker_ != nullptr) tracker_->Store(buffer, access);
  buffers_.SettleAll(buffer);
  const bool moves = buffer.moves && value != nullptr;
  for (std::size_t p = 0; p < access.offset.size(); ++p) {
    const std::size_t element = p / access.pieces_per_element;
    if (access.mask.lanes != nullptr && access.mask.lanes[element] == 0) continue;
    if (access.offset[p] >= 0) {
      if (moves) std::memcpy(buffer.data + access.offset[p], value + p * access.piece_bytes, access.piece_bytes);
    } else if (access.offset[p] == PointAccess::kOutOfBounds) {
      Report(bounds_.OfPoint(buffer, access.site, element, Direction::kStore));
    }
  }
}

// An element of several pieces is put together, changed and taken apart again.
void Memory::Atomic(const PointAccess& access, AtomicFn fn, const std::byte* operand, const std::byte* compare,
                    std::byte* old) {
  Announce(AccessKind::kAtomic, access, operand);
  MemoryBuffer& buffer = buffers_.Touched(access.buffer);
  if (tracker_ != nullptr) tracker_->Atomic(buffer, access);
  buffers_.SettleAll(buffer);
  const std::size_t pieces = access.pieces_per_element, piece = access.piece_bytes, bytes = piece * pieces;
  for (std::size_t e = 0; e < access.offset.size() / pieces; ++e) {
    const absl::Span<const std::int64_t> offset = access.offset.subspan(e * pieces, pieces);
    std::byte* before = old == nullptr ? nullptr : old + e * bytes;
    const bool active = access.mask.lanes == nullptr || access.mask.lanes[e] != 0;
    if (!buffer.moves || operand == nullptr) {
      if (active && std::count(offset.begin(), offset.end(), PointAccess::kOutOfBounds) > 0)
        Report(bounds_.OfPoint(buffer, access.site, e, Direction::kStore));
      continue;
    }
    if (active && pieces == 1 && offset[0] >= 0) {
      std::byte* at = buffer.data + offset[0];
      if (before != nullptr) std::memcpy(before, at, bytes);
      fn(at, operand + e * bytes, compare, at);
      continue;
    }
    if (active && *std::min_element(offset.begin(), offset.end()) >= 0) {
      std::array<std::byte, 16> element;
      for (std::size_t p = 0; p < pieces; ++p) std::memcpy(element.data() + p * piece, buffer.data + offset[p], piece);
      if (before != nullptr) std::memcpy(before, element.data(), bytes);
      fn(element.data(), operand + e * bytes, compare, element.data());
      for (std::size_t p = 0; p < pieces; ++p) std::memcpy(buffer.data + offset[p], element.data() + p * piece, piece);
      continue;
    }
    if (active && std::count(offset.begin(), offset.end(), PointAccess::kOutOfBounds) > 0)
      Report(bounds_.OfPoint(buffer, access.site, e, Direction::kStore));
    if (before == nullptr) continue;
    if (bytes == buffer.element_size.size() && pieces == 1) {
      buffers_.FillPoison(buffer, before, ElementCount(1));
    } else {
      buffers_.filler().Bytes(before, bytes);  // as in Load
    }
  }
}

}  // namespace palladion::memory_model
