// Which SIMD target runs: names, the order of targets, PALLADION_SIMD. Oracle for what the host has: Highway.
#include "semantics/simd/target.h"

#include <string>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "hwy/targets.h"

namespace palladion::simd {
namespace {

TEST(Target, NamesRoundTrip) {
  for (Target target : {Target::kScalar, Target::kSsse3, Target::kAvx2, Target::kAvx512, Target::kNeon}) {
    EXPECT_EQ(TargetFromName(Name(target)), target);
  }
  EXPECT_EQ(TargetFromName("avx"), std::nullopt);
  EXPECT_EQ(TargetFromName(""), std::nullopt);
}

TEST(Target, HostTargetsRiseFromScalar) {
  const absl::Span<const Target> host = HostTargets();
  ASSERT_FALSE(host.empty());
  EXPECT_EQ(host.front(), Target::kScalar);
  for (std::size_t i = 1; i < host.size(); ++i) EXPECT_LT(host[i - 1], host[i]);
  // Highway's detection, which is not ours.
  const std::int64_t highway = hwy::SupportedTargets();
#if HWY_ARCH_ARM_A64
  EXPECT_EQ(host.back() == Target::kNeon, (highway & HWY_NEON) != 0);
#else
  EXPECT_EQ(host.back() >= Target::kSsse3, (highway & HWY_SSSE3) != 0);
  EXPECT_EQ(host.back() >= Target::kAvx2, (highway & HWY_AVX2) != 0);
  EXPECT_EQ(host.back() >= Target::kAvx512, (highway & HWY_AVX3) != 0);
#endif
}

TEST(Target, ChoosesBestWhenUnset) {
  ASSERT_TRUE(ChooseTarget(nullptr).ok());
  EXPECT_EQ(*ChooseTarget(nullptr), HostTargets().back());
}

TEST(Target, ChoosesWhatIsNamed) {
  for (Target target : HostTargets()) {
    const absl::StatusOr<Target> chosen = ChooseTarget(std::string(Name(target)).c_str());
    ASSERT_TRUE(chosen.ok());
    EXPECT_EQ(*chosen, target);
  }
}

TEST(Target, ReportsUnknownName) {
  const absl::Status status = ChooseTarget("sve9").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(absl::StrContains(status.message(), "PALLADION_SIMD")) << status;
  EXPECT_TRUE(absl::StrContains(status.message(), "\"sve9\"")) << status;
}

}  // namespace
}  // namespace palladion::simd
