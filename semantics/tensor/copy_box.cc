#include "semantics/tensor/copy_box.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace palladion {
namespace {

constexpr int kMaxDims = 33;

// A CopyDim as the loops have it; of the innermost run `count` is bytes.
struct Steps {
  std::int64_t count, source_stride, destination_stride;
};
constexpr std::int64_t kTile = 32;  // elements on a side: two 32x32 tiles of 8 bytes fit in L1

template <std::size_t kBytes>
void CopyElement(const std::byte* source, std::byte* destination) {
  std::memcpy(destination, source, kBytes);
}

template <std::size_t kBytes>
void CopyRow(const std::byte* source, std::byte* destination, const Steps& dim) {
  for (std::int64_t i = 0; i < dim.count; ++i) {
    CopyElement<kBytes>(source + i * dim.source_stride, destination + i * dim.destination_stride);
  }
}

// Rows and columns in tiles, so that neither side walks a whole column of cache lines for each row of the other.
template <std::size_t kBytes>
void CopyPlane(const std::byte* source, std::byte* destination, const Steps& outer, const Steps& inner) {
  for (std::int64_t i0 = 0; i0 < outer.count; i0 += kTile) {
    const std::int64_t rows = std::min(kTile, outer.count - i0);
    for (std::int64_t j0 = 0; j0 < inner.count; j0 += kTile) {
      const Steps part{std::min(kTile, inner.count - j0), inner.source_stride, inner.destination_stride};
      for (std::int64_t i = i0; i < i0 + rows; ++i) {
        CopyRow<kBytes>(source + i * outer.source_stride + j0 * inner.source_stride,
                        destination + i * outer.destination_stride + j0 * inner.destination_stride, part);
      }
    }
  }
}

template <std::size_t kBytes>
void CopyInner(const std::byte* source, std::byte* destination, absl::Span<const Steps> dims) {
  if (dims.size() == 1) return CopyRow<kBytes>(source, destination, dims[0]);
  CopyPlane<kBytes>(source, destination, dims[0], dims[1]);
}

using InnerFn = void (*)(const std::byte*, std::byte*, absl::Span<const Steps>);

void CopyRun(const std::byte* source, std::byte* destination, absl::Span<const Steps> dims) {
  std::memcpy(destination, source, static_cast<std::size_t>(dims[0].count));
}

void Walk(const std::byte* source, std::byte* destination, absl::Span<const Steps> outer, absl::Span<const Steps> inner,
          InnerFn copy) {
  if (outer.empty()) return copy(source, destination, inner);
  for (std::int64_t i = 0; i < outer[0].count; ++i) {
    Walk(source + i * outer[0].source_stride, destination + i * outer[0].destination_stride, outer.subspan(1), inner,
         copy);
  }
}

InnerFn InnerFor(std::size_t element_bytes) {
  switch (element_bytes) {
    case 1:
      return CopyInner<1>;
    case 2:
      return CopyInner<2>;
    case 4:
      return CopyInner<4>;
    default:
      return CopyInner<8>;
  }
}

// Drops dimensions of one element and joins neighbours that are contiguous on both sides. Returns how many are left.
int Simplify(absl::Span<const CopyDim> dims, std::array<Steps, kMaxDims>& out) {
  int n = 0;
  for (const CopyDim& typed : dims) {
    const Steps dim{typed.count.value(), typed.source_stride.value(), typed.destination_stride.value()};
    if (dim.count == 1) continue;
    if (n > 0 && out[n - 1].source_stride == dim.count * dim.source_stride &&
        out[n - 1].destination_stride == dim.count * dim.destination_stride) {
      out[n - 1] = {out[n - 1].count * dim.count, dim.source_stride, dim.destination_stride};
    } else {
      out[n++] = dim;
    }
  }
  return n;
}

}  // namespace

void CopyBox(const std::byte* source, std::byte* destination, absl::Span<const CopyDim> dims,
             ElementSize element_size) {
  for (const CopyDim& dim : dims) {
    if (dim.count.value() == 0) return;
  }
  std::array<Steps, kMaxDims> simple;
  int n = Simplify(dims, simple);
  const std::int64_t bytes = element_size.value();
  const bool has_run = n > 0 && simple[n - 1].source_stride == bytes && simple[n - 1].destination_stride == bytes;
  if (n == 0 || has_run || (bytes & (bytes - 1)) != 0 || bytes > 8) {
    // The innermost thing to copy is a run of bytes: a row, or one (odd-sized) element.
    const std::int64_t run = has_run ? simple[--n].count * bytes : bytes;
    simple[n] = {run, 1, 1};
    return Walk(source, destination, absl::MakeSpan(simple.data(), n), absl::MakeSpan(&simple[n], 1), CopyRun);
  }
  const int inner = std::min(n, 2);
  Walk(source, destination, absl::MakeSpan(simple.data(), n - inner), absl::MakeSpan(&simple[n - inner], inner),
       InnerFor(element_size.size()));
}

}  // namespace palladion
