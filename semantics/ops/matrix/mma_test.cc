// Which elements of an accumulator are undefined after a multiplication, when any one of the three values has marks;
// and operands where they lie, which give the bits that dense ones give.
#include "semantics/ops/matrix/mma.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "semantics/tensor/element.h"
#include "semantics/tensor/visit_dtype.h"

namespace palladion {
namespace {

using Marks = std::vector<std::uint8_t>;

// Of a 2x3 by 3x2 product of zeros.
Marks MarksAfter(const Marks& a, const Marks& b, const Marks& acc) {
  const Mma mma({2, 2, 3, DType::kF16, DType::kF16, DType::kF32});
  const auto zeros = [](std::size_t bytes, const Marks& marks) {
    return AsyncValue{.bytes = std::vector<std::byte>(bytes), .marks = marks};
  };
  AsyncValue out{.bytes = std::vector<std::byte>(16), .marks = {}};
  const AsyncValue left = zeros(12, a), right = zeros(12, b), before = zeros(16, acc);
  const AsyncValue* const one = &right;
  mma.Run({.a = left, .b = {&one, 1}, .acc = &before}, &out);
  return out.marks;
}

TEST(Mma, AMarkReachesItsRowItsColumnOrItsElement) {
  EXPECT_EQ((Marks{}), MarksAfter({}, {}, {}));
  EXPECT_EQ((Marks{0, 0, 2, 2}), MarksAfter({0, 0, 0, 0, 2, 0}, {}, {}));
  EXPECT_EQ((Marks{0, 2, 0, 2}), MarksAfter({}, {0, 0, 0, 2, 0, 0}, {}));
  EXPECT_EQ((Marks{0, 2, 0, 0}), MarksAfter({}, {}, {0, 2, 0, 0}));
}

constexpr std::int64_t kRows = 8, kColumns = 12, kDepth = 4;

// Small integers, exact in every type here.
std::vector<std::byte> Elements(DType dtype, std::int64_t count, int seed) {
  std::vector<std::byte> bytes;
  for (std::int64_t i = 0; i < count; ++i) {
    const int value = static_cast<int>((i * 7 + seed) % 5) - 2;
    VisitDType(dtype, [&](auto tag) {
      const StorageOf<decltype(tag)::value> element = Element<decltype(tag)::value>::FromDouble(value);
      const auto* first = reinterpret_cast<const std::byte*>(&element);
      bytes.insert(bytes.end(), first, first + sizeof element);
    });
  }
  return bytes;
}

// The same elements in memory of their own: of each dimension more is there than is theirs.
class Scattered {
 public:
  Scattered(const std::vector<std::byte>& dense, DType dtype, std::vector<std::int64_t> shape)
      : size_(static_cast<std::int64_t>(StorageBytes(dtype))) {
    std::int64_t stride = size_.value();
    value.view.dims.resize(shape.size());
    for (std::size_t d = shape.size(); d-- > 0; stride *= shape[d] + 3) value.view.dims[d] = {shape[d], stride};
    memory_.resize(static_cast<std::size_t>(stride));
    value.view.data = memory_.data();
    CopyIn(dense.data(), size_, value.view);
  }
  std::vector<std::byte> Dense() const {
    std::vector<std::byte> bytes((value.view.elements() * size_).size());
    CopyOut(value.view, size_, bytes.data());
    return bytes;
  }
  AsyncValue value;

 private:
  ElementSize size_;
  std::vector<std::byte> memory_;
};

struct Types {
  DType in, acc;
};

class MmaViews : public testing::TestWithParam<Types> {
 protected:
  MmaViews() {
    Values both{{.bytes = b_[0]}, {.bytes = b_[1]}};
    expected_ = Run({.bytes = a_}, both, {.bytes = acc_}, {.bytes = acc_});
  }
  using Values = std::vector<AsyncValue>;

  std::vector<std::byte> Run(const AsyncValue& a, const Values& b, const AsyncValue& acc, AsyncValue out) const {
    const std::vector<const AsyncValue*> parts = {&b[0], &b[1]};
    mma_.Run({.a = a, .b = parts, .acc = &acc}, &out);
    return out.bytes;
  }

  const DType in_ = GetParam().in, sum_ = GetParam().acc;
  const Mma mma_{Mma::Form{kRows, kColumns, kDepth, in_, in_, sum_}};
  const std::vector<std::byte> a_ = Elements(in_, kRows*kDepth, 1), acc_ = Elements(sum_, kRows*kColumns, 2);
  const std::vector<std::byte> b_[2] = {Elements(in_, kDepth* kColumns / 2, 3), Elements(in_, kDepth* kColumns / 2, 4)};
  std::vector<std::byte> expected_;
};

TEST_P(MmaViews, SourcesMayLieAnyhow) {
  const Scattered a(a_, in_, {2, 4, 2, 2}), left(b_[0], in_, {4, 6}), right(b_[1], in_, {4, 6}),
      tiled(b_[1], in_, {4, 2, 3}), across(a_, in_, {16, 2}), acc(acc_, sum_, {8, 2, 6});
  const AsyncValue dense{.bytes = b_[1]};
  const AsyncValue out{.bytes = acc_};
  EXPECT_EQ(expected_, Run(a.value, {left.value, right.value}, acc.value, out));
  EXPECT_EQ(expected_, Run(a.value, {left.value, tiled.value}, acc.value, out));
  EXPECT_EQ(expected_, Run(a.value, {left.value, dense}, acc.value, out));
  EXPECT_EQ(expected_, Run(across.value, {{.bytes = b_[0]}, right.value}, acc.value, out));  // no dimension is a row
}

TEST_P(MmaViews, SumsMayGoWhereTheyLie) {
  for (const std::vector<std::int64_t>& shape : {std::vector<std::int64_t>{8, 12}, {2, 4, 12}, {8, 2, 6}}) {
    Scattered there(acc_, sum_, shape), elsewhere(std::vector<std::byte>(acc_.size()), sum_, shape);
    const Values b{{.bytes = b_[0]}, {.bytes = b_[1]}};
    Run({.bytes = a_}, b, {.bytes = acc_}, elsewhere.value);
    EXPECT_EQ(expected_, elsewhere.Dense());
    Run({.bytes = a_}, b, there.value, there.value);
    EXPECT_EQ(expected_, there.Dense());
    Run({.bytes = a_}, b, {.bytes = std::vector<std::byte>(acc_.size())}, elsewhere.value);
    const std::vector<const AsyncValue*> parts = {&b[0], &b[1]};
    mma_.Run({.a = {.bytes = a_}, .b = parts}, &there.value);  // nothing to add to
    EXPECT_EQ(elsewhere.Dense(), there.Dense());
  }
}

INSTANTIATE_TEST_SUITE_P(All, MmaViews,
                         testing::Values(Types{DType::kF16, DType::kF32}, Types{DType::kI8, DType::kI32}));

}  // namespace
}  // namespace palladion
