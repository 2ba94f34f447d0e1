// Threefry-2x32 on arrays for each SIMD target: one block per lane. Two vectors at a time hide the latency of a round,
// whose three operations wait for each other.
#include "semantics/simd/target.h"
#include "semantics/simd/threefry.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "semantics/simd/threefry_simd.cc"
#include "hwy/foreach_target.h"  // must come before highway.h
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace palladion::simd::HWY_NAMESPACE {
#if HWY_TARGET != HWY_STATIC_TARGET
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<std::uint32_t>;
using V = hn::Vec<D>;

struct Blocks {
  V x0, x1;
};

struct Keys {
  V key[3];
};

HWY_INLINE Keys KeySchedule(V key0, V key1) {
  const V parity = hn::Set(D(), kThreefryParity);
  return {{key0, key1, hn::Xor(hn::Xor(key0, key1), parity)}};
}

template <int kRotation>
HWY_INLINE void Round(Blocks& a, Blocks& b) {
  a.x0 = hn::Add(a.x0, a.x1);
  b.x0 = hn::Add(b.x0, b.x1);
  a.x1 = hn::Xor(hn::RotateRight<32 - kRotation>(a.x1), a.x0);
  b.x1 = hn::Xor(hn::RotateRight<32 - kRotation>(b.x1), b.x0);
}

HWY_INLINE void Inject(const Keys& keys, std::uint32_t group, Blocks& x) {
  x.x0 = hn::Add(x.x0, keys.key[(group + 1) % 3]);
  x.x1 = hn::Add(x.x1, hn::Add(keys.key[(group + 2) % 3], hn::Set(D(), group + 1)));
}

template <std::uint32_t kGroup>
HWY_INLINE void Group(const Keys& keys_a, const Keys& keys_b, Blocks& a, Blocks& b) {
  Round<kThreefryRotations[kGroup % 2][0]>(a, b);
  Round<kThreefryRotations[kGroup % 2][1]>(a, b);
  Round<kThreefryRotations[kGroup % 2][2]>(a, b);
  Round<kThreefryRotations[kGroup % 2][3]>(a, b);
  Inject(keys_a, kGroup, a);
  Inject(keys_b, kGroup, b);
}

HWY_INLINE void Hash(const Keys& keys_a, const Keys& keys_b, Blocks& a, Blocks& b) {
  a.x0 = hn::Add(a.x0, keys_a.key[0]);
  b.x0 = hn::Add(b.x0, keys_b.key[0]);
  a.x1 = hn::Add(a.x1, keys_a.key[1]);
  b.x1 = hn::Add(b.x1, keys_b.key[1]);
  Group<0>(keys_a, keys_b, a, b);
  Group<1>(keys_a, keys_b, a, b);
  Group<2>(keys_a, keys_b, a, b);
  Group<3>(keys_a, keys_b, a, b);
  Group<4>(keys_a, keys_b, a, b);
}

HWY_INLINE V At(const ThreefryOperand& operand, std::size_t i) {
  return operand.step == 0 ? hn::Set(D(), *operand.data) : hn::LoadU(D(), operand.data + i);
}

// The pair of vectors at i and j.
HWY_INLINE void Pair(const ThreefryOperand (&in)[4], std::size_t i, std::size_t j, Blocks& a, Blocks& b) {
  a = {At(in[2], i), At(in[3], i)};
  b = {At(in[2], j), At(in[3], j)};
  Hash(KeySchedule(At(in[0], i), At(in[1], i)), KeySchedule(At(in[0], j), At(in[1], j)), a, b);
}

// The last elements, fewer than two vectors, are hashed in vectors that begin with them; the other lanes are zeros.
HWY_INLINE void Tail(const ThreefryOperand (&operands)[4], std::size_t n, std::uint32_t* out0, std::uint32_t* out1) {
  const std::size_t lanes = hn::Lanes(D());
  HWY_ALIGN std::uint32_t in[4][2 * hn::MaxLanes(D())] = {};
  HWY_ALIGN std::uint32_t out[2][2 * hn::MaxLanes(D())];
  ThreefryOperand copies[4];
  for (int k = 0; k < 4; ++k) {
    for (std::size_t i = 0; i < n; ++i) in[k][i] = operands[k].data[i * operands[k].step];
    copies[k].data = in[k];
    copies[k].step = 1;
  }
  Blocks a, b;
  Pair(copies, 0, lanes, a, b);
  hn::Store(a.x0, D(), out[0]);
  hn::Store(a.x1, D(), out[1]);
  hn::Store(b.x0, D(), out[0] + lanes);
  hn::Store(b.x1, D(), out[1] + lanes);
  for (std::size_t i = 0; i < n; ++i) {
    out0[i] = out[0][i];
    out1[i] = out[1][i];
  }
}

void Threefry(const ThreefryOperand (&operands)[4], std::size_t n, std::uint32_t* out0, std::uint32_t* out1) {
  const std::size_t lanes = hn::Lanes(D());
  std::size_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    Blocks a, b;
    Pair(operands, i, i + lanes, a, b);
    hn::StoreU(a.x0, D(), out0 + i);
    hn::StoreU(b.x0, D(), out0 + i + lanes);
    hn::StoreU(a.x1, D(), out1 + i);
    hn::StoreU(b.x1, D(), out1 + i + lanes);
  }
  if (i == n) return;
  ThreefryOperand rest[4];
  for (int k = 0; k < 4; ++k) {
    rest[k].data = operands[k].data + i * operands[k].step;
    rest[k].step = operands[k].step;
  }
  Tail(rest, n - i, out0 + i, out1 + i);
}

}  // namespace

ThreefryFn FindThreefryOfTarget() { return &Threefry; }

#endif  // HWY_TARGET != HWY_STATIC_TARGET
}  // namespace palladion::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace palladion::simd {
namespace {

void ThreefryScalar(const ThreefryOperand (&operands)[4], std::size_t n, std::uint32_t* out0, std::uint32_t* out1) {
  for (std::size_t i = 0; i < n; ++i) {
    std::uint32_t word[4];
    for (int k = 0; k < 4; ++k) word[k] = operands[k].data[i * operands[k].step];
    const U32Pair words = Threefry2x32(word[0], word[1], word[2], word[3]);
    out0[i] = words.first;
    out1[i] = words.second;
  }
}

}  // namespace

ThreefryFn FindThreefry(Target target) {
  switch (target) {
#if HWY_ARCH_X86
    case Target::kSsse3:
      return N_SSSE3::FindThreefryOfTarget();
    case Target::kAvx2:
      return N_AVX2::FindThreefryOfTarget();
    case Target::kAvx512:
      return N_AVX3::FindThreefryOfTarget();
#elif HWY_ARCH_ARM_A64
    case Target::kNeon:
      return N_NEON::FindThreefryOfTarget();
#endif
    default:
      return &ThreefryScalar;
  }
}

}  // namespace palladion::simd
#endif
