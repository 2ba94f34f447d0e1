#include "emu/chip/layouts/view_strides.h"

#include <algorithm>
#include <numeric>

#include "semantics/base/cat.h"
#include "semantics/ir/strides.h"

namespace palladion::layouts {
namespace {

// ---- memref_fold: dimensions [first, end) become one

enum class Fold : std::uint8_t { kDone, kApart, kRefused };  // JAX raises an error that its caller may catch; MLIR

// JAX's own look at it, which takes dimensions in any order.
bool FollowOneAnother(const Strided& ref, std::size_t first, std::size_t end) {
  std::vector<std::size_t> order(end - first);
  std::iota(order.begin(), order.end(), first);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return ref.strides[a] > ref.strides[b]; });
  for (std::size_t i = 0; i + 1 < order.size(); ++i) {
    if (ref.strides[order[i + 1]] * ref.shape[order[i + 1]] != ref.strides[order[i]]) return false;
  }
  return true;
}

// MLIR's: of dimensions of one element the strides mean nothing; the others are in order. The result's stride is that
// of the last of them, where JAX writes the last dimension's.
bool Collapses(const Strided& ref, std::size_t first, std::size_t end) {
  std::size_t last = end - 1;
  while (last > first && ref.shape[last] == 1) --last;
  if (ref.strides[last] != ref.strides[end - 1]) return false;
  std::int64_t stride = ref.strides[last];
  for (std::size_t d = end - 1; d > first; --d) {
    stride *= ref.shape[d];
    if (ref.shape[d - 1] != 1 && ref.strides[d - 1] != stride) return false;
  }
  return true;
}

Fold FoldDims(Strided& ref, std::size_t first, std::size_t end) {
  if (!FollowOneAnother(ref, first, end)) return Fold::kApart;
  if (!Collapses(ref, first, end)) return Fold::kRefused;
  for (std::size_t d = first + 1; d < end; ++d) ref.shape[first] *= ref.shape[d];
  ref.strides[first] = ref.strides[end - 1];
  const auto from = static_cast<std::ptrdiff_t>(first) + 1, to = static_cast<std::ptrdiff_t>(end);
  ref.shape.erase(ref.shape.begin() + from, ref.shape.begin() + to);
  ref.strides.erase(ref.strides.begin() + from, ref.strides.begin() + to);
  return Fold::kDone;
}

// memref_unfold
void UnfoldDim(Strided& ref, std::size_t dim, const Shape& factors) {
  std::vector<std::int64_t> strides = ElementStrides(factors);
  for (std::int64_t& stride : strides) stride *= ref.strides[dim];
  const auto at = static_cast<std::ptrdiff_t>(dim);
  ref.shape.erase(ref.shape.begin() + at);
  ref.shape.insert(ref.shape.begin() + at, factors.begin(), factors.end());
  ref.strides.erase(ref.strides.begin() + at);
  ref.strides.insert(ref.strides.begin() + at, strides.begin(), strides.end());
}

// ---- memref_reshape

// The end of the dimensions from `from` on that have `size` elements; 0: there are none.
std::size_t EndOf(const Shape& shape, std::size_t from, std::int64_t size) {
  std::int64_t elements = 1;
  for (std::size_t d = from; d < shape.size() && elements <= size; ++d) {
    elements *= shape[d];
    if (elements == size) return d + 1;
  }
  return 0;
}

// JAX's _reshape: each dimension is kept, split, or merged with those behind it, none both.
bool ReshapeInParts(Strided& ref, const Shape& to) {
  std::size_t i = 0, j = 0;
  while (i < ref.shape.size() && j < to.size()) {
    if (ref.shape[i] > to[j]) {
      const std::size_t end = EndOf(to, j, ref.shape[i]);
      if (end == 0) return false;
      UnfoldDim(ref, i,
                Shape(to.begin() + static_cast<std::ptrdiff_t>(j), to.begin() + static_cast<std::ptrdiff_t>(end)));
      i += end - j;
      j = end;
      continue;
    }
    if (ref.shape[i] < to[j]) {
      const std::size_t end = EndOf(ref.shape, i, to[j]);
      if (end == 0 || FoldDims(ref, i, end) != Fold::kDone) return false;
    }
    ++i;
    ++j;
  }
  if (i < ref.shape.size()) return FoldDims(ref, i - 1, ref.shape.size()) == Fold::kDone;
  if (j < to.size()) {
    Shape factors(to.size() - j + 1, 1);
    factors[0] = ref.shape[i - 1];
    UnfoldDim(ref, i - 1, factors);
  }
  return true;
}

bool Reshape(Strided& ref, const Shape& to) {
  if (ref.shape == to) return true;
  if (ref.shape.empty() || to.empty()) {
    ref = {.shape = to, .strides = std::vector<std::int64_t>(to.size(), 1)};
    return true;
  }
  const std::vector<std::int64_t> packed = ElementStrides(ref.shape);
  bool contiguous = true;
  for (std::size_t d = 0; d < packed.size(); ++d)
    contiguous = contiguous && (ref.shape[d] == 1 || ref.strides[d] == packed[d]);
  if (!contiguous) return ReshapeInParts(ref, to);
  if (FoldDims(ref, 0, ref.shape.size()) != Fold::kDone) return false;
  UnfoldDim(ref, 0, to);
  return true;
}

// memref_slice. False: not followed.
bool Slice(Strided& ref, const std::vector<Index>& indices) {
  if (indices.size() > ref.shape.size()) return false;
  Strided left;
  for (std::size_t d = 0; d < ref.shape.size(); ++d) {
    const Index index = d < indices.size() ? indices[d] : Index{};
    if (index.kind == Index::Kind::kRef) return false;
    if (index.kind == Index::Kind::kPoint) continue;
    std::int64_t size = ref.shape[d];
    if (index.kind == Index::Kind::kSlice) {
      const std::optional<std::int64_t> given = LiteralInt(index.size);
      if (!given.has_value() || index.stride != 1) return false;
      size = *given;
    }
    left.shape.push_back(size);
    left.strides.push_back(ref.strides[d]);
  }
  ref = left;
  return true;
}

bool Transpose(Strided& ref, const std::vector<std::int64_t>& permutation) {
  if (permutation.size() != ref.shape.size()) return false;
  const Strided before = ref;
  for (std::size_t d = 0; d < permutation.size(); ++d) {
    const auto from = static_cast<std::size_t>(permutation[d]);
    if (from >= before.shape.size()) return false;
    ref.shape[d] = before.shape[from];
    ref.strides[d] = before.strides[from];
  }
  return true;
}

}  // namespace

StridedView StridedViewOf(const GpuView& view) {
  StridedView seen;
  if (!view.tile.empty() || !view.swizzles.empty()) return seen;
  Strided ref{.shape = view.ref.shape, .strides = ElementStrides(view.ref.shape)};
  for (const Transform& transform : view.rest) {
    bool followed = false;
    if (transform.kind == Transform::Kind::kAt) followed = Slice(ref, transform.indices);
    if (transform.kind == Transform::Kind::kTranspose) followed = Transpose(ref, transform.ints);
    if (transform.kind == Transform::Kind::kReshape && NumElements(transform.ints) == NumElements(ref.shape)) {
      const Strided before = ref;
      followed = Reshape(ref, transform.ints);
      if (!followed) seen.bad_reshape = Cat(TextOf(before), " to ", ToString(Shape(transform.ints)));
    }
    if (!followed) return seen;
  }
  seen.lies = ref;
  return seen;
}

// transfer_strided: folded to one dimension, or with gaps that no vector spans. A vector.load or vector.store of more
// than one element wants the last dimension contiguous, too.
StridedMove MoveOf(const Strided& memory, std::int64_t vector) {
  Strided flat = memory;
  if (memory.shape.empty()) return StridedMove::kMoves;
  const Fold fold = FoldDims(flat, 0, flat.shape.size());
  if (fold == Fold::kRefused) return StridedMove::kOutOfOrder;
  if (vector <= 1) return StridedMove::kMoves;
  if (fold == Fold::kApart) {
    flat = memory;
    for (std::size_t d = memory.shape.size() - 1; d-- > 0;) {
      if (memory.strides[d] != memory.shape[d + 1] * memory.strides[d + 1]) continue;
      if (FoldDims(flat, d, d + 2) != Fold::kDone) return StridedMove::kCutsVectors;
    }
    for (std::size_t d = 0; d < flat.shape.size(); ++d) {
      const std::int64_t whole = flat.strides[d] == 1 ? flat.shape[d] : flat.strides[d];
      if ((flat.strides[d] == 1 || flat.shape[d] > 1) && whole % vector != 0) return StridedMove::kCutsVectors;
    }
  }
  return flat.strides.back() == 1 ? StridedMove::kMoves : StridedMove::kCutsVectors;
}

std::string TextOf(const Strided& strided) {
  return Cat(ToString(strided.shape), " with strides ", ToString(Shape(strided.strides)));
}

}  // namespace palladion::layouts
