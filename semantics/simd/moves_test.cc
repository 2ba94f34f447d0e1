// Select, fill, iota, and the vector conversions against semantics/tensor/convert.h.
#include "semantics/simd/moves.h"

#include <string>

#include "gtest/gtest.h"
#include "semantics/simd/elementwise.h"
#include "semantics/simd/testing.h"
#include "semantics/tensor/convert.h"

namespace palladion::simd {
namespace {

constexpr std::byte kFill{0xa5};

TEST(Select, TakesTheSecondCaseWhereTrue) {
  const std::uint8_t pred[4] = {0, 1, 255, 0};
  const std::int32_t on_false[4] = {1, 2, 3, 4}, on_true[4] = {-1, -2, -3, -4};
  std::int32_t out[4] = {};
  for (Target target : HostTargets()) {
    FindSelect(4, SelectForm::kVVV, target)(pred, on_false, on_true, out, 4);
    EXPECT_EQ(std::vector<std::int32_t>(out, out + 4), (std::vector<std::int32_t>{1, -2, -3, 4})) << Name(target);
    FindSelect(4, SelectForm::kVSV, target)(pred, on_false, on_true, out, 4);
    EXPECT_EQ(std::vector<std::int32_t>(out, out + 4), (std::vector<std::int32_t>{1, -2, -3, 1})) << Name(target);
  }
}

TEST(Select, EveryTargetGivesTheSameBits) {
  constexpr std::size_t kMax = 1003;
  std::vector<std::byte> pred = MixedElements(DType::kU8, kMax, 1);
  for (std::size_t i = 0; i < kMax; i += 3) pred[i] = std::byte{0};
  for (DType dtype : {DType::kU8, DType::kU16, DType::kU32, DType::kU64}) {
    const std::size_t size = StorageBytes(dtype);
    const std::vector<std::byte> a = MixedElements(dtype, kMax, 2), b = MixedElements(dtype, kMax, 3);
    for (SelectForm form : {SelectForm::kVVV, SelectForm::kVSV, SelectForm::kVVS, SelectForm::kVSS}) {
      for (Target target : HostTargets()) {
        for (std::size_t n : {0, 1, 3, 8, 15, 17, 31, 63, 65, 127, 1003}) {
          std::vector<std::byte> want(kMax * size + 64, kFill), got(kMax * size + 64, kFill);
          FindSelect(size, form, Target::kScalar)(pred.data(), a.data(), b.data(), want.data(), n);
          FindSelect(size, form, target)(pred.data(), a.data(), b.data(), got.data(), n);
          ASSERT_EQ(want, got) << Name(target) << " size " << size << " n " << n;
        }
      }
    }
  }
  EXPECT_EQ(FindSelect(3, SelectForm::kVVV), nullptr);
}

TEST(SelectN, ClampsTheIndex) {
  const std::int32_t which[5] = {2, 0, 1, -7, 9};
  const std::uint16_t a[5] = {10, 11, 12, 13, 14}, b[5] = {20, 21, 22, 23, 24}, c[5] = {30, 31, 32, 33, 34};
  std::uint16_t out[5];
  SelectN(which, {a, b, c}, 2, out, 5);
  EXPECT_EQ(std::vector<std::uint16_t>(out, out + 5), (std::vector<std::uint16_t>{30, 11, 22, 13, 34}));
}

TEST(Fill, RepeatsTheElement) {
  const std::uint64_t element = 0x0123456789abcdef;
  for (std::size_t size : {1, 2, 4, 8}) {
    std::vector<std::uint64_t> out(10, 0);
    Fill(&element, size, out.data(), 7);
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(out.data());
    for (std::size_t i = 0; i < 80; ++i) {
      ASSERT_EQ(bytes[i], i < 7 * size ? (element >> (8 * (i % size))) & 0xff : 0) << size << " " << i;
    }
  }
}

TEST(Iota, CountsAlongTheMiddle) {
  std::vector<std::int32_t> out(12);
  Iota(DType::kI32, 2, 3, 2, out.data());
  EXPECT_EQ(out, (std::vector<std::int32_t>{0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2}));
  std::vector<std::uint16_t> bf16(260);
  Iota(DType::kBF16, 1, 260, 1, bf16.data());
  EXPECT_EQ(bf16[256], 0x4380);
  EXPECT_EQ(bf16[257], 0x4380);  // 257 ties to 256
  EXPECT_EQ(bf16[259], 0x4382);  // 259 ties to 260
  std::vector<std::int8_t> i4(17);
  Iota(DType::kI4, 1, 17, 1, i4.data());
  EXPECT_EQ(i4[7], 7);
  EXPECT_EQ(i4[8], -8);
  EXPECT_EQ(i4[16], 0);
}

// Every 16-bit or narrower source value; for f32 and i32 sources special, random and near-tie values.
TEST(ConvertSimd, GivesTheBitsOfTheReference) {
  int found = 0;
  for (const DTypeInfo& from : AllDTypes()) {
    for (const DTypeInfo& to : AllDTypes()) {
      for (Target target : HostTargets()) {
        const ConvertFn kernel = FindConvertSimd(from.dtype, to.dtype, target);
        if (kernel == nullptr) continue;
        ++found;
        constexpr std::size_t kN = 65536 + 13;
        std::vector<std::byte> in = MixedElements(from.dtype, kN, 9);
        if (from.storage_bytes <= 2) {
          for (std::size_t i = 0; i < 65536; ++i) PutElement(from.dtype, i, in.data() + i * StorageBytes(from.dtype));
        }
        for (std::size_t n : {std::size_t{1}, std::size_t{7}, std::size_t{33}, kN}) {
          std::vector<std::byte> want(kN * StorageBytes(to.dtype), kFill), got(kN * StorageBytes(to.dtype), kFill);
          palladion::FindConvert(from.dtype, to.dtype)(in.data(), want.data(), n);
          kernel(in.data(), got.data(), n);
          ASSERT_EQ(want, got) << from.name << " to " << to.name << " on " << Name(target) << " n " << n;
        }
      }
    }
  }
  // 8 pairs on SSSE3, 10 with F16C; none on the scalar target.
  const auto vector_targets = static_cast<int>(HostTargets().size()) - 1;
  EXPECT_EQ(found, vector_targets == 0 ? 0 : 8 + 10 * (vector_targets - 1));
  EXPECT_EQ(FindConvertSimd(DType::kF32, DType::kBF16, Target::kScalar), nullptr);
}

}  // namespace
}  // namespace palladion::simd
