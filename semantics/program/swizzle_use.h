// Whether a kernel's views of one memory agree on how it is swizzled. Based on: the swizzle modes of Hopper's TMA and
// wgmma, as JAX addresses them (FragmentedArray.transfer_tiled in jax/experimental/mosaic/gpu/fragmented_array.py).
// Memory whose views agree is stored unswizzled, which no kernel can see; where they differ, bytes lie where hardware
// puts them and swizzled views go through the address function. Allocations start at multiples of 1024 bytes, as JAX
// aligns them.
#ifndef PALLADION_SEMANTICS_PROGRAM_SWIZZLE_USE_H_
#define PALLADION_SEMANTICS_PROGRAM_SWIZZLE_USE_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "semantics/ir/module.h"

namespace palladion {

// The 16-byte chunks of each 128 bytes are permuted: bits 4 to 6 of an address are changed by bits 7 to 9 of it, as
// many as the mask has. A swizzle of s bytes has the mask s/16 - 1; applied twice it is none.
constexpr std::int64_t Swizzled(std::int64_t address, std::int64_t mask) {
  return address ^ ((address >> 7 & mask) << 4);
}

// Of all swizzles of a chain together; 0: none.
std::int64_t SwizzleMask(absl::Span<const Transform> transforms);

class SwizzleUse {
 public:
  explicit SwizzleUse(const Kernel& kernel);

  // Whether some other view of the bytes that `view` may touch has another swizzle.
  bool Differs(const Arg& view) const;

  // How many elements of the narrowest member a byte of the union of refs holds; 1 where none is narrower than a byte.
  std::int64_t PlacesOfByte(ValueId ref) const { return places_[static_cast<std::size_t>(root_[ref.index()])]; }

 private:
  struct View {
    std::int64_t begin, end;  // bytes of the ref that it may touch
    std::int64_t mask;
  };
  // Bytes whose views belong together because they overlap.
  struct Stretch {
    std::int64_t begin, end;
    bool differs;
  };

  void Collect(const Region& region);
  void Collect(const Arg& arg);
  static std::int64_t PlacesFor(const Arg& arg);
  View ViewOf(const Arg& arg) const;
  static std::vector<Stretch> Join(std::vector<View> views);

  const Kernel& kernel_;
  std::vector<std::int32_t> root_;            // by ValueId: a callee's parameter is the caller's ref
  std::vector<std::vector<View>> views_;      // by root
  std::vector<std::vector<Stretch>> joined_;  // by root, in order
  std::vector<std::int64_t> places_;          // by root
};

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_PROGRAM_SWIZZLE_USE_H_
