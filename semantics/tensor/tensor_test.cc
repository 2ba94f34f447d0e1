// Tensors as values, shapes from outside that cannot be, and the poison of every type.
#include "semantics/tensor/tensor.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "semantics/tensor/element.h"
#include "semantics/tensor/poison.h"

namespace palladion {
namespace {

TEST(Tensor, CopiesAreDeepAndMovesKeepTheMemory) {
  Tensor a(DType::kI32, {2, 3});
  for (int i = 0; i < 6; ++i) a.data<std::int32_t>()[i] = i;
  Tensor b = a;
  EXPECT_TRUE(a.BitwiseEquals(b));
  b.data<std::int32_t>()[5] = 7;
  EXPECT_FALSE(a.BitwiseEquals(b));
  EXPECT_EQ(a.data<std::int32_t>()[5], 5);

  const std::byte* memory = b.bytes();
  Tensor c = std::move(b);
  EXPECT_EQ(c.bytes(), memory);
  EXPECT_EQ(c.shape(), (std::vector<std::int64_t>{2, 3}));
  a = c;
  EXPECT_TRUE(a.BitwiseEquals(c));
  const Tensor& self = a;
  a = self;
  EXPECT_TRUE(a.BitwiseEquals(c));
}

TEST(Tensor, MovedFromAndDefaultTensorsAreEmptyButValid) {
  Tensor a(DType::kF32, {4});
  const Tensor b = std::move(a);
  for (const Tensor& t : {Tensor(), a}) {  // NOLINT(bugprone-use-after-move): what a moved-from tensor is, is promised
    EXPECT_EQ(t.num_elements(), 0);
    EXPECT_EQ(t.num_bytes(), 0u);
    EXPECT_EQ(t.shape(), std::vector<std::int64_t>{0});
    EXPECT_TRUE(t.BitwiseEquals(Tensor()));
  }
}

TEST(Tensor, StorageIsAligned) {
  for (const std::int64_t n : {0, 1, 63, 64, 65, 1000}) {
    const Tensor t(DType::kU8, {n});
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(t.bytes()) % kTensorAlignment, 0u) << n;
  }
}

TEST(Tensor, ScalarsAndEmptyShapes) {
  EXPECT_EQ(Tensor(DType::kF64, {}).num_elements(), 1);
  EXPECT_EQ(Tensor(DType::kF64, {3, 0, 5}).num_elements(), 0);
  const std::int64_t huge = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(CountElements(DType::kF64, {huge, huge, 0}).value(), 0);
}

TEST(Tensor, ImpossibleShapesAreErrors) {
  EXPECT_EQ(Tensor::Create(DType::kF32, {2, -1}).status().code(), absl::StatusCode::kInvalidArgument);
  const std::int64_t half = std::int64_t{1} << 32;
  EXPECT_EQ(CountElements(DType::kU8, {half, half}).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(CountElements(DType::kF64, {half, half / 16}).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(CountElements(DType::kF64, {kMaxTensorBytes / 8}).value(), kMaxTensorBytes / 8);
  EXPECT_FALSE(CountElements(DType::kF64, {kMaxTensorBytes / 8 + 1}).ok());
  EXPECT_EQ(Tensor::CreateUninitialized(DType::kU8, {std::int64_t{1} << 60}).status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_THROW(Tensor(DType::kF32, {-1}), std::length_error);
}

TEST(Tensor, ReshapeKeepsBytesAndRefusesOtherSizes) {
  Tensor t(DType::kI8, {2, 6});
  for (int i = 0; i < 12; ++i) t.data<std::int8_t>()[i] = static_cast<std::int8_t>(i);
  t.Reshape({3, 4});
  EXPECT_EQ(t.shape(), (std::vector<std::int64_t>{3, 4}));
  EXPECT_EQ(t.data<std::int8_t>()[11], 11);
  EXPECT_THROW(t.Reshape({5}), std::length_error);
}

TEST(Poison, EveryTypeHasItsPattern) {
  const auto first = [](DType dtype) {
    Tensor t(dtype, {33});
    std::uint64_t bits[2] = {0, 0};
    std::memcpy(&bits[0], t.bytes(), StorageBytes(dtype));
    std::memcpy(&bits[1], t.bytes() + 32 * StorageBytes(dtype), StorageBytes(dtype));
    EXPECT_EQ(bits[0], bits[1]);
    return bits[0];
  };
  EXPECT_EQ(first(DType::kBool), 1u);
  EXPECT_EQ(first(DType::kI2), 0xfeu);  // -2, sign-extended to its byte
  EXPECT_EQ(first(DType::kI4), 0xf8u);
  EXPECT_EQ(first(DType::kI8), 0x80u);
  EXPECT_EQ(first(DType::kI16), 0x8000u);
  EXPECT_EQ(first(DType::kI32), 0x80000000u);
  EXPECT_EQ(first(DType::kI64), 0x8000000000000000u);
  EXPECT_EQ(first(DType::kU2), 3u);
  EXPECT_EQ(first(DType::kU4), 15u);
  EXPECT_EQ(first(DType::kU8), 0xffu);
  EXPECT_EQ(first(DType::kU16), 0xffffu);
  EXPECT_EQ(first(DType::kU32), 0xffffffffu);
  EXPECT_EQ(first(DType::kU64), 0xffffffffffffffffu);
  EXPECT_EQ(first(DType::kF16), 0x7e00u);
  EXPECT_EQ(first(DType::kBF16), 0x7fc0u);
  EXPECT_EQ(first(DType::kF32), 0x7fc00000u);
  EXPECT_EQ(first(DType::kF64), 0x7ff8000000000000u);
  EXPECT_EQ(first(DType::kF8E8M0FNU), 0xffu);
  EXPECT_EQ(first(DType::kF6E2M3FN), 0x3fu);  // -7.5
  EXPECT_EQ(first(DType::kF6E3M2FN), 0x3fu);  // -28
  EXPECT_EQ(first(DType::kF4E2M1FN), 0x0fu);  // -6
}

TEST(Poison, FloatsThatHaveANaNArePoisonedWithIt) {
  for (const DTypeInfo& info : AllDTypes()) {
    VisitDType(info.dtype, [&](auto tag) {
      constexpr DType kD = decltype(tag)::value;
      if constexpr (Element<kD>::kIsFloat) {
        EXPECT_EQ(std::isnan(Element<kD>::ToDouble(PoisonOf<kD>())), info.bits > 6) << std::string(info.name);
      }
    });
  }
}

TEST(VisitDType, CallsWithTheTypeItWasGiven) {
  for (const DTypeInfo& info : AllDTypes()) {
    EXPECT_EQ(VisitDType(info.dtype, [](auto tag) { return decltype(tag)::value; }), info.dtype);
    EXPECT_EQ(VisitDType(info.dtype, [](auto tag) { return sizeof(StorageOf<decltype(tag)::value>); }),
              StorageBytes(info.dtype));
  }
}

}  // namespace
}  // namespace palladion
