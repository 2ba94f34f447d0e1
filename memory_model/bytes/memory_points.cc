// Memory: accesses that are lists of places, atomics, and what masked-off lanes get.
#include <algorithm>
#include <array>
#include <cstring>

#include "memory_model/bytes/memory.h"
#include "semantics/base/cat.h"

namespace palladion::memory_model {

void Memory::ReportPoint(const Buffer& buffer, const Site& site, std::size_t element, bool is_store) {
  Report(
      {.code = FindingCode::kOutOfBounds,
       .severity = Severity::kDefect,
       .message = Cat(is_store ? "store to '" : "load of '", buffer.name, "' through an index array or view, element ",
                      element, " of the value", AtAgent(naming_, site.program), ", is out of bounds of its ref"),
       .loc = site.loc,
       .text_line = site.text_line,
       .fix = "mask it, or correct the index"});
}

namespace {

// Masked-off lanes take `other`'s element, or the one poison element. Masks are mostly long runs: eight lanes at a
// time.
template <class T>
void Blend(const std::uint8_t* lanes, const std::byte* other, std::int64_t other_stride, std::size_t elements,
           std::byte* value) {
  constexpr std::uint64_t kAllOn = 0x0101010101010101;
  auto* out = reinterpret_cast<T*>(value);
  const auto* in = reinterpret_cast<const T*>(other);
  const auto blend = [&](std::size_t e, bool off) {
    if (off) out[e] = in[static_cast<std::int64_t>(e) * other_stride];
  };
  std::size_t e = 0;
  for (; e + 8 <= elements; e += 8) {
    std::uint64_t eight;
    std::memcpy(&eight, lanes + e, sizeof(eight));
    if (eight == kAllOn) continue;
    for (std::size_t i = e; i < e + 8; ++i) blend(i, eight == 0 || lanes[i] == 0);
  }
  for (; e < elements; ++e) blend(e, lanes[e] == 0);
}

}  // namespace

void Memory::FillMasked(const Buffer& buffer, const Mask& mask, std::size_t elements, std::byte* value) {
  alignas(8) std::array<std::byte, 64> poison;
  if (mask.other == nullptr) FillPoison(buffer, poison.data(), ElementCount(1));
  const std::byte* other = mask.other == nullptr ? poison.data() : mask.other;
  const std::int64_t stride = mask.other == nullptr ? 0 : 1;
  const std::size_t element_bytes = buffer.element_size.size();
  switch (element_bytes) {
    case 1:
      return Blend<std::uint8_t>(mask.lanes, other, stride, elements, value);
    case 2:
      return Blend<std::uint16_t>(mask.lanes, other, stride, elements, value);
    case 4:
      return Blend<std::uint32_t>(mask.lanes, other, stride, elements, value);
    case 8:
      return Blend<std::uint64_t>(mask.lanes, other, stride, elements, value);
    default:
      break;
  }
  for (std::size_t e = 0; e < elements; ++e) {  // PRNG keys of four words
    if (mask.lanes[e] == 0)
      std::memcpy(value + e * element_bytes, other + e * element_bytes * static_cast<std::size_t>(stride),
                  element_bytes);
  }
}

namespace {

// The pieces that lie somewhere, whatever the mask says: reading a masked-off lane's memory is no access of the
// kernel's, and its bytes are replaced afterwards. Returns whether every piece lay somewhere.
template <class T>
bool Gather(absl::Span<const std::int64_t> offset, const std::byte* data, std::byte* value) {
  bool all = true;
  auto* out = reinterpret_cast<T*>(value);
  for (std::size_t p = 0; p < offset.size(); ++p) {
    if (offset[p] >= 0) {
      std::memcpy(out + p, data + offset[p], sizeof(T));
    } else {
      all = false;
    }
  }
  return all;
}

bool Gather(absl::Span<const std::int64_t> offset, const std::byte* data, std::size_t piece_bytes, std::byte* value) {
  switch (piece_bytes) {
    case 1:
      return Gather<std::uint8_t>(offset, data, value);
    case 2:
      return Gather<std::uint16_t>(offset, data, value);
    case 4:
      return Gather<std::uint32_t>(offset, data, value);
    case 8:
      return Gather<std::uint64_t>(offset, data, value);
    default:
      return Gather<std::array<std::byte, 16>>(offset, data, value);  // PRNG keys of four words
  }
}

}  // namespace

void Memory::Load(const PointAccess& access, std::byte* value) {
  Announce(AccessKind::kRead, access, nullptr);
  const Buffer& buffer = Touched(access.buffer);
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
      if (active && access.offset[p] == PointAccess::kOutOfBounds) ReportPoint(buffer, access.site, element, false);
      if (!moves) continue;
      std::byte* at = value + p * access.piece_bytes;
      if (whole) {
        FillPoison(buffer, at, ElementCount(1));
      } else {
        filler_.Bytes(at, access.piece_bytes);  // a piece of another type
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
      filler_.Bytes(value + e * bytes, bytes);
    }
  }
}

void Memory::Store(const PointAccess& access, const std::byte* value) {
  Announce(AccessKind::kWrite, access, value);
  Buffer& buffer = Touched(access.buffer);
  if (tracker_ != nullptr) tracker_->Store(buffer, access);
  SettleAll(buffer);
  const bool moves = buffer.moves && value != nullptr;
  for (std::size_t p = 0; p < access.offset.size(); ++p) {
    const std::size_t element = p / access.pieces_per_element;
    if (access.mask.lanes != nullptr && access.mask.lanes[element] == 0) continue;
    if (access.offset[p] >= 0) {
      if (moves) std::memcpy(buffer.data + access.offset[p], value + p * access.piece_bytes, access.piece_bytes);
    } else if (access.offset[p] == PointAccess::kOutOfBounds) {
      ReportPoint(buffer, access.site, element, true);
    }
  }
}

// An element of several pieces is put together, changed and taken apart again.
void Memory::Atomic(const PointAccess& access, AtomicFn fn, const std::byte* operand, const std::byte* compare,
                    std::byte* old) {
  Announce(AccessKind::kAtomic, access, operand);
  Buffer& buffer = Touched(access.buffer);
  if (tracker_ != nullptr) tracker_->Atomic(buffer, access);
  SettleAll(buffer);
  const std::size_t pieces = access.pieces_per_element, piece = access.piece_bytes, bytes = piece * pieces;
  for (std::size_t e = 0; e < access.offset.size() / pieces; ++e) {
    const absl::Span<const std::int64_t> offset = access.offset.subspan(e * pieces, pieces);
    std::byte* before = old == nullptr ? nullptr : old + e * bytes;
    const bool active = access.mask.lanes == nullptr || access.mask.lanes[e] != 0;
    if (!buffer.moves || operand == nullptr) {
      if (active && std::count(offset.begin(), offset.end(), PointAccess::kOutOfBounds) > 0)
        ReportPoint(buffer, access.site, e, true);
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
      ReportPoint(buffer, access.site, e, true);
    if (before == nullptr) continue;
    if (bytes == buffer.element_size.size() && pieces == 1) {
      FillPoison(buffer, before, ElementCount(1));
    } else {
      filler_.Bytes(before, bytes);  // as in Load
    }
  }
}

}  // namespace palladion::memory_model
