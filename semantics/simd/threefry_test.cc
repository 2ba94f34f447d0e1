// Threefry against the known-answer vectors of Random123, and every SIMD target against the definition.
#include "semantics/simd/threefry.h"

#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace palladion::simd {
namespace {

constexpr std::uint32_t kGuard = 0xa5a5a5a5;

TEST(Threefry, KnownAnswers) {
  EXPECT_EQ(Threefry2x32(0, 0, 0, 0), U32Pair(0x6b200159, 0x99ba4efe));
  EXPECT_EQ(Threefry2x32(~0u, ~0u, ~0u, ~0u), U32Pair(0x1cb996fc, 0xbb002be7));
  EXPECT_EQ(Threefry2x32(0x13198a2e, 0x03707344, 0x243f6a88, 0x85a308d3), U32Pair(0xc4923a9c, 0x483df7a0));
}

// Every count up to two of the widest vectors and beyond, each operand an array or one element for all.
TEST(Threefry, EveryTargetGivesTheBlocksOfTheDefinition) {
  constexpr std::size_t kMax = 100;
  std::mt19937 random(5);
  std::vector<std::uint32_t> words[4];
  for (auto& array : words) {
    for (std::size_t i = 0; i < kMax; ++i) array.push_back(static_cast<std::uint32_t>(random()));
  }
  for (Target target : HostTargets()) {
    const ThreefryFn hash = FindThreefry(target);
    for (unsigned broadcast = 0; broadcast < 16; ++broadcast) {
      for (std::size_t n = 0; n <= kMax; ++n) {
        SCOPED_TRACE(std::string(Name(target)) + ", n = " + std::to_string(n) +
                     ", one for all: " + std::to_string(broadcast));
        ThreefryOperand in[4];
        for (unsigned k = 0; k < 4; ++k) in[k] = {words[k].data(), (broadcast >> k & 1) != 0 ? 0u : 1u};
        std::vector<std::uint32_t> out0(n + 1, kGuard), out1(n + 1, kGuard);
        hash(in, n, out0.data(), out1.data());
        for (std::size_t i = 0; i < n; ++i) {
          const auto at = [&](int k) { return words[k][i * in[k].step]; };
          ASSERT_EQ(U32Pair(out0[i], out1[i]), Threefry2x32(at(0), at(1), at(2), at(3))) << i;
        }
        ASSERT_EQ(out0[n], kGuard);
        ASSERT_EQ(out1[n], kGuard);
      }
    }
  }
}

}  // namespace
}  // namespace palladion::simd
