// Slices of refs that cut the tiles of the last two dimensions. Based on: verifyOffsetAndSizeTileAlignment of the
// dialect (tpu_ops.cc), infer_vector_layout.cc and apply_vector_layout.cc, public until November 2025; XLA's error
// E2003.
#include <algorithm>

#include "emu/check/legality/tpu/refusals.h"
#include "semantics/base/cat.h"
#include "semantics/ir/view_type.h"

namespace palladion::legality {
namespace {

std::string Whole(const SliceSite& site) {
  return Cat("'", site.slicing.name, "', ", Name(site.slicing.dtype), ToString(site.slicing.array), " in tiles of ",
             site.slicing.array.size() == 1 ? "" : Cat(site.slicing.tiling.rows, " x "), site.slicing.tiling.lanes);
}

std::string KnownOf(const KnownMultiple& known) {
  return known.of <= 1 ? std::string("of which nothing is known") : Cat("known to be a multiple of ", known.of);
}

// Its start, where it is neither a multiple of `tile` nor one of the numbers that the compiler has and we do not.
std::optional<KnownMultiple> UnalignedStart(const SliceSite& site, const SlicedDim& dim, std::int64_t tile) {
  if (dim.start == nullptr || !site.slicing.IsTiled(dim)) return std::nullopt;
  const KnownMultiple known = site.multiples.Of(*dim.start);
  if (known.of % tile == 0 || (known.is_static && !known.number.has_value())) return std::nullopt;
  return known;
}

// ---- parts of views

std::optional<std::string> SliceStart(const SliceSite& site) {
  for (const SlicedDim& dim : site.slicing.dims) {
    const std::optional<KnownMultiple> known = UnalignedStart(site, dim, site.slicing.TileOf(dim));
    if (!known.has_value() || !known->number.has_value()) continue;
    return Cat(*known->number, " in dimension ", dim.array, " of ", Whole(site));
  }
  return std::nullopt;
}

std::optional<std::string> SliceProof(const SliceSite& site) {
  for (const SlicedDim& dim : site.slicing.dims) {
    const std::optional<KnownMultiple> known = UnalignedStart(site, dim, site.slicing.TileOf(dim));
    if (!known.has_value() || known->number.has_value()) continue;
    return Cat("a start ", KnownOf(*known), " in dimension ", dim.array, " of ", Whole(site));
  }
  return std::nullopt;
}

std::optional<std::string> SliceSize(const SliceSite& site) {
  for (const SlicedDim& dim : site.slicing.dims) {
    if (dim.start == nullptr || !site.slicing.IsTiled(dim) || !dim.size.has_value()) continue;
    const std::int64_t tile = site.slicing.IsLast(dim) ? site.slicing.tiling.lanes : site.slicing.tiling.size_rows;
    const bool whole = *dim.size == site.slicing.array[static_cast<std::size_t>(dim.array)];
    if (whole || *dim.size % tile == 0) continue;
    return Cat(*dim.size, " in dimension ", dim.array, " of ", Whole(site));
  }
  return std::nullopt;
}

constexpr std::string_view kSliceSource = "tpu_ops.cc, verifyOffsetAndSizeTileAlignment";
constexpr std::string_view kWholeTiles =
    "slice whole tiles and select in vmem, or make it a dimension before the last two, which are free";

constexpr Refusal<SliceSite> kSlices[] = {
    {{{"tpu.compiler.slice-start",
       "a slice of the last two dimensions of a ref, as in a copy, begins at a multiple of the tile", kSliceSource,
       kWholeTiles}},
     SliceStart},
    {{{"tpu.compiler.slice-proof",
       "the start of a slice of the last two dimensions of a ref, as in a copy, is provably a multiple of the "
       "tile: a constant, pl.multiple_of, or a sum or product of such",
       kSliceSource,
       "multiply the index by the tile, or promise with pl.multiple_of that it is such a multiple; or make it a "
       "dimension "
       "before the last two, which are free"}},
     SliceProof},
    {{{"tpu.compiler.slice-size",
       "a slice of the last two dimensions of a ref, as in a copy, takes all of the array's dimension or a "
       "multiple of the tile",
       kSliceSource, kWholeTiles}},
     SliceSize},
};

// ---- loads and stores

// A view that bitcasts elements of less than a byte is written as an access of whole words of them (exporter/
// packed_views.py), whose rows are no rows of the compiler's.
std::optional<std::string> AccessProof(const SliceSite& site) {
  constexpr std::int64_t kLanes = 128, kWord = 4;
  constexpr int kByteBits = 8;
  if (Info(site.slicing.dtype).bits < kByteBits && !IsBool(site.slicing.dtype)) return std::nullopt;
  for (const SlicedDim& dim : site.slicing.dims) {
    const bool one_row = !site.slicing.IsLast(dim) && dim.size == 1 && StorageBytes(site.slicing.dtype) == kWord;
    if (one_row || dim.step != 1) continue;
    const std::int64_t tile = site.slicing.IsLast(dim) ? kLanes : site.slicing.tiling.rows;
    const std::optional<KnownMultiple> known = UnalignedStart(site, dim, tile);
    if (!known.has_value() || known->number.has_value()) continue;
    return Cat("an index ", KnownOf(*known), " in dimension ", dim.array, " of '", site.slicing.name, "', ",
               Name(site.slicing.dtype), ToString(site.slicing.array), ", where it must be one of ", tile);
  }
  return std::nullopt;
}

// A step of 0 repeats one row, which is taken.
std::optional<std::string> StridedBits(const SliceSite& site) {
  constexpr int kWord = 4;
  const std::vector<SlicedDim>& dims = site.slicing.dims;
  const bool strided = std::any_of(dims.begin(), dims.end(), [](const SlicedDim& dim) { return dim.step > 1; });
  if (!strided) return std::nullopt;
  const Shape& array = site.slicing.array;
  const SlicedDim& last = dims.back();
  const bool from_start = last.start == nullptr || site.multiples.Of(*last.start).number == 0;
  constexpr std::int64_t kLanes = 128;
  if (StorageBytes(site.slicing.dtype) == kWord && array.size() >= 2 && array.back() == kLanes && last.step == 1 &&
      from_start)
    return std::nullopt;
  return Cat("a step in '", site.slicing.name, "', ", Name(site.slicing.dtype), ToString(array));
}

constexpr Refusal<SliceSite> kAccesses[] = {
    {{{"tpu.compiler.strided",
       "a load or a store with a step has 32-bit elements, of a ref of rank 2 or more, and takes all of a last "
       "dimension of 128",
       "jax#29520, tpu-inference#3198; apply_vector_layout.cc, tpu.strided_load: \"The last dim size is not 128 in "
       "original base memref\"",
       "give the ref the shape (.., d / 128, 128), or load all of it and select"},
      "all",
      Certainty::kReported},
     StridedBits},
    {{{"tpu.compiler.access-proof",
       "the start of a load or a store in the last two dimensions is a constant, or provably a multiple of the "
       "tile: pl.multiple_of, or a sum or product of such; one row of 32-bit elements may start anywhere",
       "infer_vector_layout.cc, vector.load; error E2003, \"cannot statically prove that index in dimension 1 is a "
       "multiple of 128\"",
       "multiply the index by the tile, or promise with pl.multiple_of that it is such a multiple; else load whole "
       "tiles "
       "and shift by pltpu.roll, or make it a dimension before the last two, which are free"},
      "all",
      Certainty::kReported},
     AccessProof},
};

}  // namespace

absl::Span<const Refusal<SliceSite>> SliceRefusals() { return kSlices; }
absl::Span<const Refusal<SliceSite>> AccessRefusals() { return kAccesses; }

}  // namespace palladion::legality
