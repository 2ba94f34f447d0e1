#include "memory_model/bytes/masked_lanes.h"

#include <cstring>

namespace palladion::memory_model {
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

}  // namespace

void FillMasked(const Mask& mask, ElementSize element_size, const std::byte* poison, std::size_t elements,
                std::byte* value) {
  const std::byte* other = mask.other == nullptr ? poison : mask.other;
  const std::int64_t stride = mask.other == nullptr ? 0 : 1;
  const std::size_t element_bytes = element_size.size();
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

void StoreLanes(const MaskedValue& from, ByteCount first, std::byte* to, absl::Span<const CopyDim> dims) {
  if (dims.empty()) return StoreRow(from, first, to, ByteCount(0), ElementCount(1));
  if (dims.size() == 1) return StoreRow(from, first, to, dims[0].destination_stride, dims[0].count);
  for (std::int64_t i = 0; i < dims[0].count.value(); ++i) {
    StoreLanes(from, first + i * dims[0].source_stride, to + i * dims[0].destination_stride.value(), dims.subspan(1));
  }
}

}  // namespace palladion::memory_model
