// Inspectors look twice: first in vectors whether anything may break the rule, then exactly. The first look must not
// pass what the second would find: every value of the narrow types is asked alone (exactly) and beside a good one.
#include "semantics/registry/inspect.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "semantics/tensor/element.h"

namespace palladion {
namespace {

std::int64_t Count(const Inspector& inspector, const std::byte* x, std::size_t n) {
  Scan scan;
  inspector.run(inspector.params.get(), x, nullptr, n, scan);
  return scan.count;
}

// `good` is an element that breaks nothing.
void ExpectSameAnswers(const Inspector& inspector, const std::byte* x, const std::byte* good, const std::string& what) {
  const std::size_t bytes = StorageBytes(inspector.type.dtype);
  std::array<std::byte, 16> pair;
  std::memcpy(pair.data(), good, bytes);
  std::memcpy(pair.data() + bytes, x, bytes);
  ASSERT_EQ(Count(inspector, x, 1), Count(inspector, pair.data(), 2)) << what;
}

TEST(Inspect, NoFloatThatDoesNotFitPassesTheFirstLook) {
  for (const DTypeInfo& from : AllDTypes()) {
    if (from.kind != DTypeKind::kFloat || from.bits > 16) continue;
    for (const DTypeInfo& to : AllDTypes()) {
      if (to.kind != DTypeKind::kSigned && to.kind != DTypeKind::kUnsigned) continue;
      const ValueTypes types{.in = {Type{.dtype = from.dtype}}, .out = {Type{.dtype = to.dtype}}, .target = {}};
      const std::vector<Inspector> inspectors = InspectConversion({}, types);
      ASSERT_EQ(1u, inspectors.size());
      const std::uint16_t good = from.dtype == DType::kF8E8M0FNU ? 120 : 0;  // which has no zero: 2^-7
      for (std::uint32_t code = 0; code < (1u << from.bits); ++code) {
        const auto bits = static_cast<std::uint16_t>(code);
        ExpectSameAnswers(inspectors[0], reinterpret_cast<const std::byte*>(&bits),
                          reinterpret_cast<const std::byte*>(&good),
                          std::string(from.name) + " " + std::to_string(code) + " to " + std::string(to.name));
      }
    }
  }
}

template <class T>
void ExpectWideFloats(DType from) {
  for (const DTypeInfo& to : AllDTypes()) {
    if (to.kind != DTypeKind::kSigned && to.kind != DTypeKind::kUnsigned) continue;
    const ValueTypes types{.in = {Type{.dtype = from}}, .out = {Type{.dtype = to.dtype}}, .target = {}};
    const Inspector inspector = InspectConversion({}, types)[0];
    const bool is_signed = to.kind == DTypeKind::kSigned;
    const T high = std::ldexp(T{1}, is_signed ? to.bits - 1 : to.bits), low = is_signed ? -high : T{0}, zero = 0;
    std::vector<T> values = {std::numeric_limits<T>::quiet_NaN(),
                             std::numeric_limits<T>::infinity(),
                             -std::numeric_limits<T>::infinity(),
                             T{-1},
                             T{-0.5},
                             T{1}};
    for (const T limit : {high, low, low - 1, low - T{0.5}}) {
      for (const T toward : {-std::numeric_limits<T>::infinity(), std::numeric_limits<T>::infinity()})
        values.push_back(std::nextafter(limit, toward));
      values.push_back(limit);
    }
    for (const T& value : values) {
      const bool fits = value > low - 1 && value < high;  // exact wherever the subtraction is; else `low` decides
      const bool exact = low - 1 != low;
      if (exact) {
        EXPECT_EQ(fits ? 0 : 1, Count(inspector, reinterpret_cast<const std::byte*>(&value), 1)) << value << to.name;
      }
      ExpectSameAnswers(inspector, reinterpret_cast<const std::byte*>(&value),
                        reinterpret_cast<const std::byte*>(&zero),
                        std::to_string(value) + " to " + std::string(to.name));
    }
  }
}

TEST(Inspect, WideFloatsAroundEachLimit) {
  ExpectWideFloats<float>(DType::kF32);
  ExpectWideFloats<double>(DType::kF64);
}

TEST(Inspect, EveryAmountOfANarrowShift) {
  for (const DType dtype : {DType::kI4, DType::kU4, DType::kI8, DType::kU8, DType::kI16, DType::kU16}) {
    const ValueTypes types{
        .in = {Type{.dtype = dtype}, Type{.dtype = dtype}}, .out = {Type{.dtype = dtype}}, .target = {}};
    const Inspector inspector = InspectShift({}, types)[0];
    const std::uint16_t zero = 0;
    for (std::uint32_t code = 0; code < (1u << (StorageBytes(dtype) * 8)); ++code) {
      const auto bits = static_cast<std::uint16_t>(code);
      const auto* x = reinterpret_cast<const std::byte*>(&bits);
      EXPECT_EQ(code < static_cast<std::uint32_t>(Info(dtype).bits) ? 0 : 1, Count(inspector, x, 1))
          << Name(dtype) << code;
      ExpectSameAnswers(inspector, x, reinterpret_cast<const std::byte*>(&zero), std::string(Name(dtype)));
    }
  }
}

}  // namespace
}  // namespace palladion
