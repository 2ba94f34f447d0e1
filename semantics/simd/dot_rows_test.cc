// A product whose rows go to memory with something between them, where what it is added to lies already: as if dense.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "semantics/simd/dot_testing.h"
#include "semantics/simd/target.h"

namespace palladion::simd {
namespace {

TEST(DotRows, RowsMayBeApart) {
  constexpr DotShape kShape{37, 45, 20};
  constexpr std::size_t kStride = 61, kBetween = kStride - kShape.n;
  constexpr float kThere = 3;
  Random random(27);
  const Operand a = MakeOperand(DType::kF16, {Layout::kRowMajor, kShape.m, kShape.k}, Data::kModerate, random);
  const Operand b = MakeOperand(DType::kF16, {Layout::kTransposed, kShape.n, kShape.k}, Data::kModerate, random);
  for (const Target target : HostTargets()) {
    std::vector<std::byte> scratch(DotScratchBytes(kShape));
    std::vector<float> dense(kShape.m * kShape.n, kThere), apart(kShape.m * kStride, kThere);
    for (const auto& [out, stride] : {std::pair{&dense, std::size_t{0}}, std::pair{&apart, kStride}})
      Dot({a.View(), b.View(), kShape, {DType::kF32, out->data(), out->data(), stride}}, absl::MakeSpan(scratch),
          target);
    for (std::size_t i = 0; i < kShape.m; ++i) {
      const float* const row = &apart[i * kStride];
      EXPECT_TRUE(std::equal(row, row + kShape.n, &dense[i * kShape.n])) << Name(target) << ", row " << i;
      EXPECT_EQ(kBetween, static_cast<std::size_t>(std::count(row + kShape.n, row + kStride, kThere))) << i;
    }
  }
}

}  // namespace
}  // namespace palladion::simd
