// Collective operations without waits: in every interleaving of the members' lists, a difference between the
// lists is found, and equal lists are none.
#include "memory_model/sync/collective.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace palladion::memory_model {
namespace {

using Lists = std::vector<std::string>;  // by member: a letter for each operation

// Every interleaving, ends included.
template <class Visit>
void ForEachOrder(const Lists& lists, const Visit& visit) {
  std::vector<std::size_t> order;
  for (std::size_t m = 0; m < lists.size(); ++m) order.insert(order.end(), lists[m].size() + 1, m);
  do {
    FindingLog log;
    CollectiveLog collective(CollectiveId{0}, "copies along x", {"block 0", "block 1", "block 2"});
    std::vector<std::size_t> at(lists.size(), 0);
    for (const std::size_t m : order) {
      const int line = 10 * static_cast<int>(m + 1) + static_cast<int>(at[m]);
      if (at[m] < lists[m].size()) {
        collective.Enter(m, std::string(1, lists[m][at[m]]), {LocId{}, line}, &log);
      } else {
        collective.MemberEnds(m, {LocId{}, line}, &log);
      }
      ++at[m];
    }
    visit(collective, log);
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(CollectiveLog, EqualListsAreNoFinding) {
  for (const Lists& lists : {Lists{"", "", ""}, Lists{"a", "a", "a"}, Lists{"aba", "aba", "aba"}}) {
    ForEachOrder(lists, [](const CollectiveLog& collective, const FindingLog& log) {
      EXPECT_TRUE(log.findings().empty());
      EXPECT_EQ(collective.open(), 0u);  // nothing is kept of what all have made
    });
  }
}

TEST(CollectiveLog, ADifferenceIsFoundInEveryOrder) {
  struct Case {
    Lists lists;
    std::size_t least, most;  // findings
  };
  // The comparison is with the first member: two of three may differ from it, or one.
  for (const Case& c : {Case{{"a", "b", "a"}, 1, 2}, Case{{"ab", "ab", "aa"}, 1, 2}, Case{{"aa", "a", "aa"}, 1, 1},
                        Case{{"", "a", ""}, 2, 2}, Case{{"ab", "ba", "ab"}, 2, 4}, Case{{"aaa", "a", "aaa"}, 1, 1}}) {
    ForEachOrder(c.lists, [&](const CollectiveLog&, const FindingLog& log) {
      EXPECT_GE(log.findings().size(), c.least);
      EXPECT_LE(log.findings().size(), c.most);
      for (const Finding& finding : log.findings()) {
        EXPECT_EQ(finding.code, FindingCode::kCollectiveMismatch);
        ASSERT_TRUE(finding.first.has_value() && finding.second.has_value());
        EXPECT_NE(finding.first->agent, finding.second->agent);
        EXPECT_NE(finding.first->text_line / 10, finding.second->text_line / 10);
      }
    });
  }
}

TEST(CollectiveLog, WhatItSays) {
  FindingLog log;
  CollectiveLog collective(CollectiveId{0}, "copies along x", {"block 0", "block 1"});
  collective.Enter(0, "a copy of x[0:64]", {LocId{}, 3}, &log);
  collective.Enter(1, "a copy of x[64:128]", {LocId{}, 5}, &log);
  collective.Enter(0, "a copy of y", {LocId{}, 4}, &log);
  collective.MemberEnds(1, {LocId{}, 9}, &log);
  ASSERT_EQ(log.findings().size(), 2u);
  EXPECT_EQ(log.findings()[0].message, "block 1 makes a copy of x[64:128] where block 0 makes a copy of x[0:64]");
  EXPECT_EQ(log.findings()[0].first->text_line, 3);
  EXPECT_EQ(log.findings()[0].text_line, 5);
  EXPECT_EQ(log.findings()[1].message,
            "block 1 ends after 1 of the copies along x, and block 0 makes one more: a copy of y");
  EXPECT_EQ(log.findings()[1].first->text_line, 4);
  EXPECT_EQ(log.findings()[1].text_line, 9);
}

}  // namespace
}  // namespace palladion::memory_model
