// Threefry-2x32 with 20 rounds on arrays: a keyed bijection of 64 bits per element, JAX's default source of random
// bits. Based on: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011, section 4.
#ifndef PALLADION_SEMANTICS_SIMD_THREEFRY_H_
#define PALLADION_SEMANTICS_SIMD_THREEFRY_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "semantics/simd/target.h"

namespace palladion::simd {

using U32Pair = std::pair<std::uint32_t, std::uint32_t>;

inline constexpr std::uint32_t kThreefryParity = 0x1bd11bda;
inline constexpr int kThreefryRotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};

// One block: the definition that the array kernels are tested against.
constexpr U32Pair Threefry2x32(std::uint32_t key0, std::uint32_t key1, std::uint32_t x0, std::uint32_t x1) {
  const std::uint32_t keys[3] = {key0, key1, key0 ^ key1 ^ kThreefryParity};
  x0 += keys[0];
  x1 += keys[1];
  for (std::uint32_t group = 0; group < 5; ++group) {
    for (int rotation : kThreefryRotations[group % 2]) {
      x0 += x1;
      x1 = std::rotl(x1, rotation) ^ x0;
    }
    x0 += keys[(group + 1) % 3];
    x1 += keys[(group + 2) % 3] + group + 1;
  }
  return {x0, x1};
}

// The operands key0, key1, x0, x1 of an array of blocks: element i is data[i * step], step 0 (one for all) or 1.
struct ThreefryOperand {
  const std::uint32_t* data;
  std::size_t step;
};

// Writes the n pairs of words to out0 and out1, which overlap no operand.
using ThreefryFn = void (*)(const ThreefryOperand (&operands)[4], std::size_t n, std::uint32_t* out0,
                            std::uint32_t* out1);

ThreefryFn FindThreefry(Target target);

}  // namespace palladion::simd

#endif  // PALLADION_SEMANTICS_SIMD_THREEFRY_H_
