// Numbers: every code of every type up to 16 bits and many of f32 and f64 come back to the same bits, and what is read
// is the nearest value by the C library's strtod and strtof, which know nothing of ours.
#include "semantics/ir/literal.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "semantics/base/cat.h"
#include "semantics/tensor/element.h"

namespace palladion {
namespace {

absl::StatusOr<ElementBytes> Read(DType dtype, std::string_view text) {
  const bool negative = text.starts_with("-");
  return ParseNumber(dtype, negative, text.substr(negative ? 1 : 0));
}

template <typename T>
T ValueOf(const ElementBytes& bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof(value));
  return value;
}

// All codes that a type of at most 16 bits has, as storage.
std::vector<std::uint64_t> CodesOf(DType dtype) {
  std::vector<std::uint64_t> codes;
  for (std::uint64_t code = 0; code < std::uint64_t{1} << Info(dtype).bits; ++code) {
    std::uint64_t storage = code;
    if (IsSigned(dtype) && Info(dtype).bits < 8 && code >> (Info(dtype).bits - 1) != 0)
      storage |= 0xff << Info(dtype).bits & 0xff;
    codes.push_back(storage);
  }
  return codes;
}

TEST(LiteralTest, EveryCodeOfTheNarrowTypesComesBack) {
  for (const DTypeInfo& info : AllDTypes()) {
    if (info.bits > 16) continue;
    for (const std::uint64_t code : CodesOf(info.dtype)) {
      const std::string text = NumberText(info.dtype, reinterpret_cast<const std::byte*>(&code));
      const absl::StatusOr<ElementBytes> back = Read(info.dtype, text);
      ASSERT_TRUE(back.ok()) << info.name << " " << text << ": " << back.status();
      ASSERT_EQ(ValueOf<std::uint64_t>(*back), code) << info.name << " " << text;
    }
  }
}

TEST(LiteralTest, TheDecimalOfAValueIsNearestToIt) {
  for (const DTypeInfo& info : AllDTypes()) {
    if (info.bits > 16 || info.kind != DTypeKind::kFloat) continue;
    VisitDType(info.dtype, [&](auto tag) {
      using E = Element<decltype(tag)::value>;
      for (const std::uint64_t code : CodesOf(info.dtype)) {
        const double value = E::ToDouble(static_cast<typename E::Storage>(code));
        if (!std::isfinite(value)) continue;
        const double decimal =
            std::strtod(NumberText(info.dtype, reinterpret_cast<const std::byte*>(&code)).c_str(), nullptr);
        for (const std::uint64_t other : {code - 1, code + 1}) {
          if (other >> info.bits != 0) continue;
          const double neighbour = E::ToDouble(static_cast<typename E::Storage>(other));
          if (!std::isfinite(neighbour) || neighbour == value) continue;
          ASSERT_LE(std::abs(decimal - value), std::abs(decimal - neighbour)) << info.name << " " << code;
        }
      }
    });
  }
}

TEST(LiteralTest, RandomBitsOfWideTypesComeBackAndReadAsTheCLibraryReadsThem) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 200000; ++i) {
    const std::uint64_t bits = random();
    const std::string wide = NumberText(DType::kF64, reinterpret_cast<const std::byte*>(&bits));
    ASSERT_EQ(ValueOf<std::uint64_t>(*Read(DType::kF64, wide)), bits) << wide;
    const auto half = static_cast<std::uint32_t>(bits);
    const std::string narrow = NumberText(DType::kF32, reinterpret_cast<const std::byte*>(&half));
    ASSERT_EQ(ValueOf<std::uint32_t>(*Read(DType::kF32, narrow)), half) << narrow;
    const std::string integer = NumberText(DType::kI64, reinterpret_cast<const std::byte*>(&bits));
    ASSERT_EQ(ValueOf<std::uint64_t>(*Read(DType::kI64, integer)), bits) << integer;
    // A decimal of 25 digits reads as strtod and strtof read it: one rounding each.
    const std::string decimal = Cat(bits >> 1, ".", random() % 1000000, "e", static_cast<int>(random() % 60) - 45);
    ASSERT_EQ(ValueOf<double>(*Read(DType::kF64, decimal)), std::strtod(decimal.c_str(), nullptr)) << decimal;
    ASSERT_EQ(ValueOf<float>(*Read(DType::kF32, decimal)), std::strtof(decimal.c_str(), nullptr)) << decimal;
  }
}

TEST(LiteralTest, ShortDecimalsStayShort) {
  const auto text = [](DType dtype, std::string_view number) {
    const absl::StatusOr<ElementBytes> bytes = Read(dtype, number);
    return bytes.ok() ? NumberText(dtype, bytes->data()) : bytes.status().ToString();
  };
  EXPECT_EQ(text(DType::kF32, "0.1"), "0.1");
  EXPECT_EQ(text(DType::kBF16, "0.1"), "0.1");
  EXPECT_EQ(text(DType::kF16, "0.1"), "0.1");
  EXPECT_EQ(text(DType::kF8E4M3FN, "448"), "448.0");
  EXPECT_EQ(text(DType::kF64, "1"), "1.0");
  EXPECT_EQ(text(DType::kF32, "16777217"), "16777216.0");
  EXPECT_EQ(text(DType::kF32, "3.4028235e38"), "3.4028235e+38");
  EXPECT_EQ(text(DType::kF32, "1e-46"), "0.0");
  EXPECT_EQ(text(DType::kF64, "-0"), "-0.0");
  EXPECT_EQ(text(DType::kF32, "0x7fc00000"), "nan");
  EXPECT_EQ(text(DType::kF32, "0x7fc00001"), "0x7fc00001");
  EXPECT_EQ(text(DType::kF8E8M0FNU, "0x00"), "5.877e-39");
  EXPECT_EQ(text(DType::kF6E2M3FN, "0.375"), "0.4");
  EXPECT_EQ(text(DType::kF4E2M1FN, "-6"), "-6.0");
  EXPECT_EQ(text(DType::kI4, "0xf"), "-1");
  EXPECT_EQ(text(DType::kBool, "0x1"), "true");
}

}  // namespace
}  // namespace palladion
