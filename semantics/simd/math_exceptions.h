// The f32 inputs where rounding our double result once does not give the correctly rounded one, with the right answer.
// Found by math_exhaustive_main.cc over every f32 and judged by MPFR; bf16 and f16 have none (math_test.cc tries all).
// x and y are bit patterns; odd and even functions list |x| only.
#ifndef PALLADION_SEMANTICS_SIMD_MATH_EXCEPTIONS_H_
#define PALLADION_SEMANTICS_SIMD_MATH_EXCEPTIONS_H_

#include <cstdint>

#include "semantics/simd/math.h"

namespace palladion::simd {

struct Exceptions {
  struct Entry {
    std::uint32_t x;
    std::uint32_t y;
  };
  int count;
  Entry entries[12];
};

template <MathOp op>
inline constexpr Exceptions kExceptionsF32 = {0, {}};

template <>
inline constexpr Exceptions kExceptionsF32<MathOp::kExp2> = {2,
                                                             {{0x3B429D37u, 0x3F804385u}, {0xBCF3A937u, 0x3F7AC6B1u}}};
template <>
inline constexpr Exceptions kExceptionsF32<MathOp::kLog> = {7,
                                                            {{0x3C413D3Au, 0xC08E158Fu},
                                                             {0x41178FEBu, 0x400FE5E7u},
                                                             {0x4C5D65A5u, 0x418F034Bu},
                                                             {0x4D604EBEu, 0x419A352Cu},
                                                             {0x65D890D3u, 0x4254D1F9u},
                                                             {0x66A8C860u, 0x42595E46u},
                                                             {0x6F31A8ECu, 0x42845A89u}}};
template <>
inline constexpr Exceptions kExceptionsF32<MathOp::kSinh> = {1, {{0x3A1285FFu, 0x3A1285FFu}}};
template <>
inline constexpr Exceptions kExceptionsF32<MathOp::kSin> = {1, {{0x46199998u, 0xBEB1FA5Du}}};
template <>
inline constexpr Exceptions kExceptionsF32<MathOp::kCos> = {2,
                                                            {{0x5F18B878u, 0x3F7F14BBu}, {0x6115CB11u, 0x3F78142Fu}}};
template <>
inline constexpr Exceptions kExceptionsF32<MathOp::kAtan> = {1, {{0x3D8D6B23u, 0x3D8D31C3u}}};
template <>
inline constexpr Exceptions kExceptionsF32<MathOp::kLog1p> = {9,
                                                              {{0x35400003u, 0x353FFFFFu},
                                                               {0x3710001Bu, 0x370FFFF3u},
                                                               {0x3EFD81ADu, 0x3ECDEEE1u},
                                                               {0x41078FEBu, 0x400FE5E7u},
                                                               {0x65D890D3u, 0x4254D1F9u},
                                                               {0x6F31A8ECu, 0x42845A89u},
                                                               {0xB53FFFFDu, 0xB5400001u},
                                                               {0xB70FFFE5u, 0xB710000Du},
                                                               {0xBB0EC8C4u, 0xBB0EF0A5u}}};
template <>
inline constexpr Exceptions kExceptionsF32<MathOp::kErfInv> = {1, {{0x340CE640u, 0x33F9BCDAu}}};
template <>
inline constexpr Exceptions kExceptionsF32<MathOp::kErfc> = {1, {{0xB76C9F62u, 0x3F800085u}}};
template <>
inline constexpr Exceptions kExceptionsF32<MathOp::kAsinh> = {
    3, {{0x4BDD65A5u, 0x418F034Bu}, {0x655890D3u, 0x4254D1F9u}, {0x6EB1A8ECu, 0x42845A89u}}};
template <>
inline constexpr Exceptions kExceptionsF32<MathOp::kAcos> = {2,
                                                             {{0x328885A3u, 0x3FC90FDBu}, {0x39826222u, 0x3FC907B5u}}};
template <>
inline constexpr Exceptions kExceptionsF32<MathOp::kAcosh> = {2,
                                                              {{0x655890D3u, 0x4254D1F9u}, {0x6EB1A8ECu, 0x42845A89u}}};

}  // namespace palladion::simd

#endif  // PALLADION_SEMANTICS_SIMD_MATH_EXCEPTIONS_H_
