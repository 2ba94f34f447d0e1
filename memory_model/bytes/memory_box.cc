// Memory: accesses that are boxes, and copies between them.
#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_join.h"
#include "memory_model/bytes/memory.h"
#include "semantics/base/cat.h"
#include "semantics/tensor/copy_box.h"

namespace palladion::memory_model {

namespace {

// Is a lane that takes part outside the legal box? Rows of lanes go at once.
bool AnyLaneOutside(const BoxAccess& access, const BoxReach& reach, std::size_t elements) {
  if (access.mask.lanes == nullptr) return true;
  const auto named = static_cast<std::size_t>(access.value_rank);
  bool outer_outside = false;
  for (std::size_t d = 0; d < static_cast<std::size_t>(access.rank); ++d) {
    const auto end = access.order.begin() + access.value_rank;
    if (std::find(access.order.begin(), end, d) == end) outer_outside |= !reach.legal[d].contains(0);
  }
  const auto any = [&](std::size_t first, std::size_t count) {
    return std::any_of(access.mask.lanes + first, access.mask.lanes + first + count,
                       [](std::uint8_t lane) { return lane != 0; });
  };
  if (named == 0 || outer_outside) return outer_outside && any(0, elements);
  const std::size_t last = access.order[named - 1];
  const auto row = static_cast<std::size_t>(access.count[last]);
  const auto begin = static_cast<std::size_t>(reach.legal[last].begin),
             end = static_cast<std::size_t>(reach.legal[last].end);
  std::array<std::int64_t, kMaxBoxRank> index{};
  for (std::size_t e = 0; e < elements; e += row) {
    bool outside = false;
    for (std::size_t j = 0; j + 1 < named; ++j) outside |= !reach.legal[access.order[j]].contains(index[j]);
    if (outside ? any(e, row) : any(e, begin) || any(e + end, row - end)) return true;
    for (std::size_t j = named - 1; j-- > 0;) {
      if (++index[j] < access.count[access.order[j]]) break;
      index[j] = 0;
    }
  }
  return false;
}

// A block with no element in its array is a finding of its own, so its data need not be another.
bool WindowOutside(absl::Span<const std::int64_t> shape, const BoxAccess& access) {
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (access.lower[d] >= shape[d] || access.upper[d] <= 0) return true;
  }
  return false;
}

}  // namespace

bool Memory::InTiles(const Buffer& buffer, const BoxAccess& access) const {
  return padded_bounds_.has_value() && padded_bounds_->Covers(buffer.name, buffer.dtype, buffer.shape, access);
}

void Memory::ReportOutside(const Buffer& buffer, const BoxAccess& access, const BoxReach& reach, bool is_store) {
  if (InTiles(buffer, access)) return;
  std::vector<std::string> box;
  std::string worst;
  for (std::size_t d = 0; d < static_cast<std::size_t>(access.rank); ++d) {
    const bool windowed = access.lower[d] != std::numeric_limits<std::int64_t>::min();
    const std::int64_t origin = windowed ? access.lower[d] : 0;
    const std::int64_t size = windowed ? access.upper[d] - access.lower[d] : buffer.shape[d];
    const std::int64_t first = access.start[d] - origin;
    const std::int64_t last = first + (access.count[d] - 1) * access.step[d];
    box.push_back(first == last ? Cat(first) : Cat(first, "..", last));
    if (!reach.legal[d].all(access.count[d]) && worst.empty()) {
      worst = Cat("dimension ", d, " has indices 0..", size - 1);
    }
  }
  Report(
      {.code = FindingCode::kOutOfBounds,
       .severity = Severity::kDefect,
       .message = Cat(is_store ? "store to '" : "load of '", buffer.name, "'[", absl::StrJoin(box, ", "), "]",
                      AtAgent(naming_, access.site.program), " is out of bounds: ", worst,
                      is_store ? "; the elements outside were not written" : "; the elements outside read as poison"),
       .loc = access.site.loc,
       .text_line = access.site.text_line,
       .fix = "mask the elements outside, or shrink the slice"});
}

// At least the elements that are not copied.
void Memory::PoisonOutside(const Buffer& buffer, const BoxAccess& access, const BoxReach& reach,
                           const BoxLayout& layout, std::byte* value) {
  const ElementCount elements(static_cast<std::int64_t>(layout.elements));
  if (access.outside == Outside::kZero) {
    std::memset(value, 0, (elements * buffer.element_size).size());
    return;
  }
  if (access.value_rank != 1 || reach.none_copied) return FillPoison(buffer, value, elements);
  const Range inside = reach.copy[access.order[0]];
  const ElementCount begin(inside.begin), end(inside.end);
  FillPoison(buffer, value, begin);
  FillPoison(buffer, value + (end * buffer.element_size).size(), elements - end);
}

void Memory::Load(const BoxAccess& access, std::byte* value) {
  const Buffer& buffer = Touched(access.buffer);
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
  if (outside) ReportOutside(buffer, access, reach, false);
  if (access.mask.lanes != nullptr && moves) FillMasked(buffer, access.mask, layout.elements, value);
  if (tracker_ == nullptr) return;
  const bool is_error =
      !reach.all_copied && (outside || WindowOutside(buffer.shape, access)) && !InTiles(buffer, access);
  tracker_->Load(buffer, access, reach, is_error);
}

namespace {

// What is stored under a mask: a dense value, of whose elements those go whose lane is not 0.
struct MaskedValue {
  const std::byte* value;
  const std::uint8_t* lanes;
  ElementSize element_size;
};

// The runs of lanes that the mask admits in one row, which begins `first` bytes into the value and is dense there.
void StoreRow(const MaskedValue& from, ByteCount first, std::byte* to, ByteCount to_stride, ElementCount length) {
  const std::size_t element_bytes = from.element_size.size(), count = length.size();
  const std::byte* const value = from.value + first.value();
  const std::uint8_t* const lanes = from.lanes + (first / from.element_size).value();
  for (std::size_t i = 0; i < count;) {
    if (lanes[i] == 0) {
      ++i;
      continue;
    }
    std::size_t end = i + 1;
    if (to_stride.size() == element_bytes) {
      const void* zero = std::memchr(lanes + end, 0, count - end);
      end = zero == nullptr ? count : static_cast<std::size_t>(static_cast<const std::uint8_t*>(zero) - lanes);
    }
    std::memcpy(to + static_cast<std::int64_t>(i) * to_stride.value(), value + i * element_bytes,
                (end - i) * element_bytes);
    i = end;
  }
}

// The lanes of a box that the mask admits. The last dimension of the box is dense in the value.
void StoreLanes(const MaskedValue& from, ByteCount first, std::byte* to, absl::Span<const CopyDim> dims) {
  if (dims.empty()) return StoreRow(from, first, to, ByteCount(0), ElementCount(1));
  if (dims.size() == 1) return StoreRow(from, first, to, dims[0].destination_stride, dims[0].count);
  for (std::int64_t i = 0; i < dims[0].count.value(); ++i) {
    StoreLanes(from, first + i * dims[0].source_stride, to + i * dims[0].destination_stride.value(), dims.subspan(1));
  }
}

}  // namespace

void Memory::Store(const BoxAccess& access, const std::byte* value) {
  Buffer& buffer = Touched(access.buffer);
  const BoxReach reach = ReachOf(buffer.shape, access);
  if (reach.empty) return;
  Announce(AccessKind::kWrite, access, reach, value);
  const BoxLayout layout = LayoutOf(access, buffer.element_size);
  if (!reach.all_legal && AnyLaneOutside(access, reach, layout.elements)) ReportOutside(buffer, access, reach, true);
  if (reach.none_copied || !buffer.moves || value == nullptr) return;
  if (tracker_ != nullptr) tracker_->Store(buffer, access, reach);
  std::byte* to = buffer.data;
  const std::byte* end = buffer.data + buffer.element_size.value();
  for (std::size_t d = 0; d < static_cast<std::size_t>(access.rank); ++d) {
    to += (access.start[d] + reach.copy[d].begin * access.step[d]) * buffer.stride[d];
    end += (access.start[d] + (reach.copy[d].end - 1) * access.step[d]) * buffer.stride[d];
  }
  if (!buffer.lent.empty()) Settle(buffer, to, end);
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
  if (!lends_) return nullptr;
  const BoxReach reach = ReachOf(Touched(access.buffer).shape, access);
  const std::byte* at = WhereDense(access, reach);
  if (at != nullptr) {
    Announce(AccessKind::kRead, access, reach, nullptr);
    if (tracker_ != nullptr) tracker_->Load(Of(access.buffer), access, reach, false);
  }
  return at;
}

const std::byte* Memory::WhereDense(const BoxAccess& access, const BoxReach& reach) const {
  const Buffer& buffer = buffers_[access.buffer.index()];
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

absl::Status Memory::Start(AsyncRequest&& request) {
  const auto box = [](const std::vector<AsyncOperand>& operands) {
    return operands.size() == 1 ? std::get_if<BoxAccess>(&operands[0].where) : nullptr;
  };
  const BoxAccess *source = box(request.sources), *destination = box(request.destinations);
  const bool plain = source != nullptr && destination != nullptr && request.destinations[0].reduce == nullptr;
  if (!plain || request.function != nullptr || !request.completions.empty()) {
    return Machine::Start(std::move(request));
  }
  for (AccessObserver* observer : observers_) observer->Issued(request, AccessObserver::Halves::kHere);
  if (tracker_ == nullptr) {
    Copy(*source, *destination);
    return absl::OkStatus();
  }
  BoxAccess from = *source, to = *destination;
  Definedness defined;
  from.defined = to.defined = &defined;
  tracker_->CarriesFrom(&Of(from.buffer));
  Copy(from, to);
  tracker_->CarriesFrom(nullptr);
  return absl::OkStatus();
}

// Of a block the destination or the source is its own memory, whole: it serves as the value of the other side's access.
void Memory::Copy(const BoxAccess& source, const BoxAccess& destination) {
  if (const std::byte* whole = Borrow(source)) {
    Store(destination, whole);
    return;
  }
  const BoxReach reach = ReachOf(Touched(destination.buffer).shape, destination);
  if (const std::byte* target = WhereDense(destination, reach); target != nullptr) {
    SettleAll(Of(destination.buffer));
    Load(source, const_cast<std::byte*>(target));
    Announce(AccessKind::kWrite, destination, reach, target);
    if (tracker_ != nullptr) tracker_->Store(Of(destination.buffer), destination, reach);
  } else {
    const ElementSize element_size = Of(source.buffer).element_size;
    std::vector<std::byte> value(LayoutOf(source, element_size).elements * element_size.size());
    Load(source, value.data());
    Store(destination, value.data());
  }
}

}  // namespace palladion::memory_model
