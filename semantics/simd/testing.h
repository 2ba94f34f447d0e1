// Operands for tests of kernels: bytes that hold every special value of a type among random ones, always the same.
#ifndef PALLADION_SEMANTICS_SIMD_TESTING_H_
#define PALLADION_SEMANTICS_SIMD_TESTING_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "semantics/base/dtype.h"

namespace palladion::simd {

// Bit patterns of a type that decide something: zeros, ones, limits, subnormals, infinities, NaNs of both kinds and
// signs, halves.
inline std::vector<std::uint64_t> SpecialBits(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return {0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x00000001, 0x80000001, 0x007fffff,
              0x00800000, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00000,
              0x7f800001, 0xff812345, 0x3f000000, 0xbf000000, 0x3effffff, 0x40200000, 0xc0200000,
              0x4b000000, 0x4affffff, 0xcb000001, 0x5f000000, 0x4f000000, 0xcf000000};
    case DType::kF64:
      return {0,
              0x8000000000000000,
              0x3ff0000000000000,
              0xbff0000000000000,
              1,
              0x8000000000000001,
              0x000fffffffffffff,
              0x0010000000000000,
              0x7fefffffffffffff,
              0x7ff0000000000000,
              0xfff0000000000000,
              0x7ff8000000000000,
              0xfff8000000000000,
              0x7ff0000000000001,
              0x3fe0000000000000,
              0xbfe0000000000000,
              0x3fdfffffffffffff,
              0x4330000000000000,
              0x432fffffffffffff,
              0xc004000000000000};
    case DType::kF16:
      return {0x0000, 0x8000, 0x3c00, 0xbc00, 0x0001, 0x8001, 0x03ff, 0x0400, 0x7bff, 0xfbff, 0x7c00,
              0xfc00, 0x7e00, 0xfe00, 0x7c01, 0xfd55, 0x3800, 0xb800, 0x37ff, 0x4100, 0xc100, 0x6400};
    case DType::kBF16:
      return {0x0000, 0x8000, 0x3f80, 0xbf80, 0x0001, 0x8001, 0x007f, 0x0080, 0x7f7f, 0xff7f, 0x7f80,
              0xff80, 0x7fc0, 0xffc0, 0x7f81, 0xffd5, 0x3f00, 0xbf00, 0x3eff, 0x4020, 0xc020, 0x4300};
    default: {
      const int bits = Info(dtype).bits;
      const std::uint64_t top = std::uint64_t{1} << (bits - 1);
      return {0, 1, 2, 3, 7, 8, 15, 16, 31, 32, 63, 64, top, top - 1, top + 1, ~std::uint64_t{0}, ~std::uint64_t{1}};
    }
  }
}

// One element's storage from the low bits of a word: narrow integers extended, bool 0 or 1.
inline std::uint64_t ToStorage(DType dtype, std::uint64_t word) {
  const int bits = Info(dtype).bits;
  if (bits >= 8) return word;
  const std::uint64_t low = word & ((std::uint64_t{1} << bits) - 1);
  const bool negative = IsSigned(dtype) && ((low >> (bits - 1)) & 1) != 0;
  return negative ? low | (~std::uint64_t{0} << bits) : low;
}

inline void PutElement(DType dtype, std::uint64_t word, std::byte* to) {
  const std::uint64_t storage = ToStorage(dtype, word);
  std::memcpy(to, &storage, StorageBytes(dtype));
}

// n elements: special values, random bits, and for types of 16 bits and more small numbers of like exponents, mixed.
inline std::vector<std::byte> MixedElements(DType dtype, std::size_t n, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const std::vector<std::uint64_t> special = SpecialBits(dtype);
  std::vector<std::byte> bytes(n * StorageBytes(dtype));
  for (std::size_t i = 0; i < n; ++i) {
    std::uint64_t word = random();
    switch (random() % 3) {
      case 0:
        word = special[random() % special.size()];
        break;
      case 1:
        break;
      default:
        if (IsFloat(dtype) && Info(dtype).bits >= 16) {  // near one, where sums cancel and ties happen
          word = special[2] + (word >> 40) % 5000 + ((word & 1) << (Info(dtype).bits - 1));
        } else {
          word %= 100;
        }
    }
    PutElement(dtype, word, bytes.data() + i * StorageBytes(dtype));
  }
  return bytes;
}

}  // namespace palladion::simd

#endif  // PALLADION_SEMANTICS_SIMD_TESTING_H_
