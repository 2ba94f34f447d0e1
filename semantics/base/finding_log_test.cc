// What is the same finding, and how those that are the same are counted.
#include "semantics/base/finding_log.h"

#include <gtest/gtest.h>

namespace palladion {
namespace {

Finding Race(int first, int second) {
  Finding finding{.code = FindingCode::kRaceReadWrite, .text_line = second};
  finding.first = FindingAccess{.kind = AccessKind::kRead, .text_line = first};
  finding.second = FindingAccess{.kind = AccessKind::kWrite, .text_line = second};
  return finding;
}

TEST(FindingLog, ARaceOfTwoPlacesIsOneHoweverItIsMet) {
  FindingLog log;
  log.Take(Race(3, 5));
  log.Take(Race(5, 3));
  log.Take(Race(3, 5));
  log.Take(Race(3, 6));
  ASSERT_EQ(2u, log.size());
  EXPECT_EQ(2, log[0].count) << "as often as it was met one way round";
  EXPECT_EQ(1, log[1].count);
}

// A caller that has the places alone can ask whether the finding is there already.
TEST(FindingLog, TheKeyOfTwoPlacesIsThatOfTheFindingWithThem) {
  const FindingLog::Where low{.loc = {}, .text_line = 3}, high{.loc = {}, .text_line = 5};
  for (const FindingCode code : {FindingCode::kRaceReadWrite, FindingCode::kBarrierPhaseSkip}) {
    Finding there = Race(3, 5), back = Race(5, 3);
    there.code = back.code = code;
    EXPECT_TRUE(FindingLog::Key(there) == FindingLog::Key(code, low, high)) << Code(code);
    EXPECT_EQ(FindingLog::Key(back) == FindingLog::Key(code, high, low), code == FindingCode::kRaceReadWrite);
  }
}

TEST(FindingLog, TheWorseOfTwoIsReported) {
  FindingLog log;
  log.Take({.code = FindingCode::kOutOfBounds, .severity = Severity::kNote, .message = "padding", .text_line = 4});
  log.Take({.code = FindingCode::kOutOfBounds, .message = "outside", .text_line = 4, .count = 3});
  log.Take({.code = FindingCode::kOutOfBounds, .severity = Severity::kNote, .message = "padding", .text_line = 4});
  ASSERT_EQ(1u, log.size());
  EXPECT_EQ("outside", log[0].message);
  EXPECT_EQ(5, log[0].count);
}

TEST(FindingLog, ObjectsOfOneRunAreDistinguished) {
  FindingLog log;
  const FindingLog::Where here{.loc = {}, .text_line = 3}, there{.loc = {}, .text_line = 5};
  for (const std::int64_t object : {1, 2, 1}) {
    if (log.IsNew({FindingCode::kRaceWriteWrite, here, there, object})) log.Add({.code = FindingCode::kRaceWriteWrite});
  }
  EXPECT_FALSE(log.IsNew({FindingCode::kRaceWriteWrite, there, here, 2})) << "the other way round";
  ASSERT_EQ(2u, log.size());
  EXPECT_EQ(2, log[0].count);
  EXPECT_EQ(1, log[1].count);
}

TEST(FindingLog, WhoArrivedAndWhoWaitedAreNotAlike) {
  FindingLog log;
  const FindingLog::Where here{.loc = {}, .text_line = 3}, there{.loc = {}, .text_line = 5};
  EXPECT_TRUE(log.IsNew({FindingCode::kBarrierPhaseSkip, here, there, 1}));
  log.Add({.code = FindingCode::kBarrierPhaseSkip});
  EXPECT_TRUE(log.IsNew({FindingCode::kBarrierPhaseSkip, there, here, 1}));
}

TEST(FindingLog, AFindingOfOnePlaceIsNoneOfTwo) {
  const FindingLog::Where here{.loc = {}, .text_line = 3};
  Finding one{.code = FindingCode::kSemaphoreLeak, .text_line = 3};
  one.first = FindingAccess{.text_line = 3};
  EXPECT_TRUE(FindingLog::Key(one) == FindingLog::Key::OfOne(FindingCode::kSemaphoreLeak, here));
  EXPECT_FALSE(FindingLog::Key(one) == FindingLog::Key(FindingCode::kSemaphoreLeak, here, here));
  Finding turned = one;
  one.first->text_line = 5;
  turned.text_line = 5;
  EXPECT_FALSE(SameFinding(one, turned)) << "an access and a finding's own place are not alike";
  one.first.reset();
  EXPECT_FALSE(FindingLog::Key(one) == FindingLog::Key::OfOne(FindingCode::kSemaphoreLeak, here));
}

TEST(FindingLog, WhatBecomesAnotherFindingIsFoundAsThat) {
  FindingLog log;
  log.Push(Race(3, 5));
  Finding worse = Race(3, 5);
  worse.code = FindingCode::kRaceWriteWrite;
  log.Replace(0, worse);
  EXPECT_FALSE(log.Find(FindingLog::Key(Race(3, 5))).has_value());
  EXPECT_EQ(0u, log.Find(FindingLog::Key(worse)));
}

}  // namespace
}  // namespace palladion
