// Bytes and elements: what their arithmetic gives, and which confusions do not compile.
#include "semantics/base/units.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <type_traits>

namespace palladion {
namespace {

template <class Operation, class A, class B>
constexpr bool kAllowed = std::is_invocable_v<Operation, A, B>;

// Neither is the other, and a plain number becomes one of them only by an explicit conversion.
static_assert(!std::is_convertible_v<ByteCount, ElementCount> && !std::is_convertible_v<ElementCount, ByteCount>);
static_assert(!std::is_constructible_v<ByteCount, ElementCount> && !std::is_constructible_v<ElementCount, ByteCount>);
static_assert(!std::is_constructible_v<ElementSize, ByteCount> && !std::is_constructible_v<ByteCount, ElementSize>);
static_assert(!std::is_convertible_v<std::int64_t, ByteCount> && std::is_constructible_v<ByteCount, std::int64_t>);
static_assert(!std::is_convertible_v<std::int64_t, ElementCount> && !std::is_convertible_v<std::int64_t, ElementSize>);
static_assert(!std::is_convertible_v<ByteCount, std::int64_t> && !std::is_convertible_v<ElementSize, std::int64_t>);
static_assert(!std::is_assignable_v<ByteCount&, ElementCount> && !std::is_assignable_v<ByteCount&, std::int64_t>);

// One unit adds up and compares with itself only; elements become bytes by their size, and nothing else does.
static_assert(kAllowed<std::plus<>, ByteCount, ByteCount> && !kAllowed<std::plus<>, ByteCount, ElementCount>);
static_assert(kAllowed<std::minus<>, ByteCount, ByteCount> && !kAllowed<std::minus<>, ElementCount, ByteCount>);
static_assert(!kAllowed<std::plus<>, ByteCount, std::int64_t> && !kAllowed<std::plus<>, ByteCount, ElementSize>);
static_assert(kAllowed<std::less<>, ByteCount, ByteCount> && !kAllowed<std::less<>, ByteCount, ElementCount>);
static_assert(!kAllowed<std::equal_to<>, ByteCount, ElementSize> && !kAllowed<std::less<>, ByteCount, std::int64_t>);
static_assert(kAllowed<std::multiplies<>, ElementCount, ElementSize>);
static_assert(!kAllowed<std::multiplies<>, ByteCount, ElementSize>);
static_assert(!kAllowed<std::multiplies<>, ElementCount, ElementCount>);
static_assert(kAllowed<std::multiplies<>, std::int64_t, ByteCount> &&
              kAllowed<std::divides<>, ByteCount, std::int64_t>);
static_assert(!kAllowed<std::divides<>, ByteCount, ElementCount> && !kAllowed<std::divides<>, ElementCount, ByteCount>);
static_assert(std::is_same_v<decltype(ByteCount(8) / ByteCount(4)), std::int64_t>);
static_assert(kAllowed<std::divides<>, ByteCount, ElementSize> && !kAllowed<std::divides<>, ElementCount, ElementSize>);
static_assert(std::is_same_v<decltype(ElementCount(1) * ElementSize(1)), ByteCount>);
static_assert(std::is_same_v<decltype(ByteCount(1) / ElementSize(1)), ElementCount>);

// As cheap as the number.
static_assert(sizeof(ByteCount) == sizeof(std::int64_t) && std::is_trivially_copyable_v<ByteCount>);
static_assert(sizeof(ElementSize) == sizeof(std::int64_t) && std::is_trivially_copyable_v<ElementSize>);

TEST(Units, ElementsBecomeBytesAndBack) {
  const ElementSize each(4);
  EXPECT_EQ((ElementCount(6) * each).value(), 24);
  EXPECT_EQ((ByteCount(24) / each).value(), 6);
  EXPECT_EQ((ByteCount(27) / each).value(), 6) << "the element that the byte lies in";
}

TEST(Units, OneUnitAddsUpAndCompares) {
  ByteCount end = ByteCount(1024) + ByteCount(8);
  end += ByteCount(4);
  EXPECT_EQ(end.value(), 1036);
  EXPECT_EQ((end - ByteCount(1024)).size(), 12u);
  EXPECT_EQ((3 * ByteCount(8)).value(), 24);
  EXPECT_EQ((ElementCount(24) / 4).value(), 6);
  EXPECT_EQ(ByteCount(24) / ByteCount(10), 2);
  EXPECT_LT(ByteCount(-1), ByteCount());
  EXPECT_GE(end, ByteCount(1036));
  EXPECT_NE(ElementCount(1), ElementCount(2));
}

}  // namespace
}  // namespace palladion
