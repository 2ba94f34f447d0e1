// The agents that can go, beside a std::set of numbers under the same changes, and each view of it beside the same set
// filtered: with few and with many, with and without one left out. Does not show what it costs
// (bench/schedule_bench.cc).
#include "scheduler/candidates.h"

#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "scheduler/policies/random.h"
#include "semantics/base/cat.h"

namespace palladion::scheduler::test {
namespace {

using Who = Candidates::Who;

bool IsEngine(int id) { return id % 3 == 0; }

Candidate Of(int id) {
  return {.id = AgentOrdinal{id},
          .slot = static_cast<std::uint32_t>(id),
          .role = IsEngine(id) ? AgentRole::kOperation : AgentRole::kThread};
}

int IdOf(const Candidate* candidate) { return candidate == nullptr ? -1 : candidate->id.value; }

std::vector<int> Expected(const std::set<int>& all, Who who, std::optional<int> without) {
  std::vector<int> some;
  for (const int id : all) {
    if (id != without && (who == Who::kAll || IsEngine(id) == (who == Who::kEngines))) some.push_back(id);
  }
  return some;
}

// The view and the numbers that it should show: as a whole, by position, by number, and what is next to `near`.
void ExpectShown(const Candidates& shown, const std::vector<int>& expected, int near) {
  ASSERT_EQ(shown.size(), expected.size());
  EXPECT_EQ(shown.empty(), expected.empty());
  std::vector<int> walked;
  for (const Candidate& candidate : shown) walked.push_back(candidate.id.value);
  EXPECT_EQ(walked, expected);
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(shown[i].id.value, expected[i]);
  const std::set<int> all(expected.begin(), expected.end());
  const auto after = all.upper_bound(near), from = all.lower_bound(near);
  EXPECT_EQ(IdOf(shown.After(AgentOrdinal{near})), after == all.end() ? -1 : *after);
  EXPECT_EQ(IdOf(shown.Before(AgentOrdinal{near})), from == all.begin() ? -1 : *std::prev(from));
  EXPECT_EQ(IdOf(shown.Find(AgentOrdinal{near})), all.contains(near) ? near : -1);
  if (expected.empty()) return;
  EXPECT_EQ(shown.front().id.value, expected.front());
  EXPECT_EQ(shown.back().id.value, expected.back());
}

void ExpectViews(const CandidateList& list, const std::set<int>& all, int near) {
  for (const Who who : {Who::kAll, Who::kEngines, Who::kOthers}) {
    SCOPED_TRACE(Cat("who ", static_cast<int>(who), ", near ", near));
    const Candidates shown = Candidates(list).Only(who);
    ExpectShown(shown, Expected(all, who, std::nullopt), near);
    const auto left = all.lower_bound(near);
    if (left != all.end()) ExpectShown(shown.Without(Of(*left)), Expected(all, who, *left), near);
  }
}

TEST(Candidates, AreThoseOfASetUnderTheSameChanges) {
  for (const int numbers : {3, 40, 900}) {
    SCOPED_TRACE(Cat(numbers, " numbers"));
    Random random(static_cast<std::uint64_t>(numbers));
    const auto below = [&](int n) { return static_cast<int>(random.Below(static_cast<std::uint64_t>(n))); };
    CandidateList list;
    std::set<int> all;
    // It fills up and becomes empty again, several times.
    for (int step = 0; step < 12 * numbers; ++step) {
      const bool fills = step / (2 * numbers) % 2 == 0;
      const int id = below(numbers);
      if (all.contains(id) && (!fills || below(4) == 0)) {
        list.Erase(AgentOrdinal{id});
        all.erase(id);
      } else if (!all.contains(id) && (fills || below(4) == 0)) {
        list.Insert(Of(id));
        all.insert(id);
      }
      if (step % (numbers / 3) == 0) ExpectViews(list, all, below(numbers));
    }
  }
}

// As blocks begin and end: at the end of the list, and from its beginning.
TEST(Candidates, ComeInOrderAndGoInOrder) {
  constexpr int kNumbers = 1000;
  CandidateList list;
  std::set<int> all;
  for (int id = 0; id < kNumbers; ++id) {
    list.Insert(Of(id));
    all.insert(id);
  }
  ExpectViews(list, all, kNumbers / 2);
  for (int id = 0; id < kNumbers; ++id) {
    list.Erase(AgentOrdinal{id});
    all.erase(id);
    if (id % 100 == 0) ExpectViews(list, all, id);
  }
  EXPECT_TRUE(list.empty());
  EXPECT_EQ(list.Find(AgentOrdinal{0}), nullptr);
}

}  // namespace
}  // namespace palladion::scheduler::test
