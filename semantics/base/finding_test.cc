// The table of codes agrees with the enumeration.
#include "semantics/base/finding.h"

#include <gtest/gtest.h>

#include <string>

namespace palladion {
namespace {

TEST(Finding, EveryCodeHasItsRow) {
  std::size_t i = 0;
  for (const CodeRow& row : AllCodes()) {
    EXPECT_EQ(i++, static_cast<std::size_t>(row.code)) << std::string(row.name);
    EXPECT_EQ(row.code, CodeFromName(row.name));
    EXPECT_EQ('.', row.rule.back());
  }
  EXPECT_EQ(i, static_cast<std::size_t>(FindingCode::kPeerLifetime) + 1) << "the last of the enumeration";
  EXPECT_FALSE(CodeFromName("NO_SUCH_CODE").has_value());
}

TEST(Finding, FoldsByCodeAndPlaces) {
  Finding a{.code = FindingCode::kRaceReadWrite, .text_line = 4};
  Finding b = a;
  EXPECT_TRUE(SameFinding(a, b));
  b.first = FindingAccess{.kind = AccessKind::kWrite, .text_line = 2};
  EXPECT_FALSE(SameFinding(a, b));
  a.first = b.first;
  a.first->agent = "program (1)";
  EXPECT_TRUE(SameFinding(a, b));
}

TEST(Finding, ARaceIsTheSameRaceTheOtherWayRound) {
  const FindingAccess read{.kind = AccessKind::kRead, .text_line = 7},
      write{.kind = AccessKind::kWrite, .text_line = 9};
  const Finding there{.code = FindingCode::kRaceReadWrite, .text_line = 9, .first = read, .second = write};
  Finding back{.code = FindingCode::kRaceReadWrite, .text_line = 7, .first = write, .second = read};
  EXPECT_TRUE(SameFinding(there, back));
  back.second->text_line = 8;
  EXPECT_FALSE(SameFinding(there, back));
  back = there;
  back.code = FindingCode::kRaceWriteWrite;
  EXPECT_FALSE(SameFinding(there, back));
}

}  // namespace
}  // namespace palladion
