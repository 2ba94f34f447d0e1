// Which elements of an accumulator are undefined after a multiplication, when any one of the three values has marks.
#include "semantics/ops/gpu/mma.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace palladion {
namespace {

using Marks = std::vector<std::uint8_t>;

// Of a 2x3 by 3x2 product of zeros.
Marks MarksAfter(const Marks& a, const Marks& b, const Marks& acc) {
  const Mma mma(2, 2, 3, DType::kF16, DType::kF16, DType::kF32);
  const auto zeros = [](std::size_t bytes, const Marks& marks) {
    return AsyncValue{.bytes = std::vector<std::byte>(bytes), .marks = marks};
  };
  AsyncValue out{.bytes = std::vector<std::byte>(16), .marks = {}};
  mma.Run(zeros(12, a), zeros(12, b), zeros(16, acc), &out);
  return out.marks;
}

TEST(Mma, AMarkReachesItsRowItsColumnOrItsElement) {
  EXPECT_EQ((Marks{}), MarksAfter({}, {}, {}));
  EXPECT_EQ((Marks{0, 0, 2, 2}), MarksAfter({0, 0, 0, 0, 2, 0}, {}, {}));
  EXPECT_EQ((Marks{0, 2, 0, 2}), MarksAfter({}, {0, 0, 0, 2, 0, 0}, {}));
  EXPECT_EQ((Marks{0, 2, 0, 0}), MarksAfter({}, {}, {0, 2, 0, 0}));
}

}  // namespace
}  // namespace palladion
