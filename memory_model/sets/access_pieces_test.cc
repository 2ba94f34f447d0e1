// Accesses in pieces: what a history that puts adjacent pieces of one access together finds, against one in which no
// two are of one line, so that nothing is put together. access_history_test.cc holds that form against an oracle.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include "memory_model/order/access_history.h"
#include "memory_model/order/agents.h"

namespace palladion::memory_model {
namespace {

using Shape = std::vector<std::int64_t>;
constexpr CodeSite kNowhere;
constexpr int kAgents = 3;

class TwoHistories {
 public:
  TwoHistories() {
    for (int i = 0; i < kAgents; ++i) ids_.push_back(agents_.Add("a", {}));
  }
  void Publish(std::size_t agent) {
    channel_ = agents_.ClockOf(ids_[agent]);
    agents_.Tick(ids_[agent], kNowhere);
  }
  void Acquire(std::size_t agent) { agents_.Acquire(ids_[agent], channel_); }
  void Commit(std::size_t agent) { agents_.Commit(ids_[agent], ClockPart::kAsyncSmem, kNowhere); }

  // Of the agent, or of an operation that it starts now and that the channel then releases.
  void BeginAccess(std::size_t agent, AccessKind kind, bool operation) {
    event_ = {.who = ids_[agent], .time = agents_.NowOf(ids_[agent]), .kind = kind, .text_line = 1};
    operation_ = operation;
    if (!operation) return;
    event_.who = agents_.AddOperation(ids_[agent], "copy", kNowhere);
    event_.time = 1;
    event_.proxy = Proxy::kAsync;
    channel_ = agents_.Completion(event_.who, 1);
  }
  // Is there a race, and is a fence missing? Both histories say the same.
  std::pair<bool, bool> Touch(const AccessBox& box) {
    const std::pair<bool, bool> together = Apply(&together_, event_, box);
    AccessEvent apart = event_;
    apart.text_line = ++line_;
    const std::pair<bool, bool> truth = Apply(&apart_, apart, box);
    EXPECT_EQ(together.first, truth.first);
    EXPECT_TRUE(truth.first || together.second == truth.second);
    merged_ |= together_.records() < apart_.records();
    return truth;
  }
  bool merged() const { return merged_; }
  bool dropped() const { return together_.dropped() + apart_.dropped() > 0; }

 private:
  std::pair<bool, bool> Apply(AccessHistory* history, const AccessEvent& event, const AccessBox& box) {
    std::vector<AccessConflict> found;
    const ClockBundle& clock = operation_ ? agents_.Fork(event.who) : agents_.ClockOf(event.who);
    const ClockPart part = operation_ ? ClockPart::kAsyncSmem : ClockPart::kGeneric;
    history->Apply(event, AccessSet::Of(box), {clock, part, event.who}, &found);
    const auto has = [&](Ordering order) {
      return std::any_of(found.begin(), found.end(), [&](const AccessConflict& f) { return f.order == order; });
    };
    return {has(Ordering::kUnordered), has(Ordering::kUnfenced)};
  }

  AgentTable agents_;
  std::vector<AgentId> ids_;
  ClockBundle channel_;
  AccessHistory together_{Shape{3, 12, 2}, ElementSize(2)}, apart_{Shape{3, 12, 2}, ElementSize(2)};
  AccessEvent event_;
  bool operation_ = false;
  std::int32_t line_ = 1;
  bool merged_ = false;
};

TEST(AccessPieces, FindWhatTheyFindApart) {
  int races = 0, unfenced = 0, clean = 0, merged = 0;
  for (std::uint32_t seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const auto draw = [&](int n) { return static_cast<int>(random() % static_cast<std::uint32_t>(n)); };
    TwoHistories both;
    for (int step = 0; step < 60 && !both.dropped(); ++step) {
      const auto agent = static_cast<std::size_t>(draw(kAgents));
      const int what = draw(8);
      if (what < 2) both.Publish(agent);
      if (what >= 2 && what < 5) both.Acquire(agent);
      if (what == 5) both.Commit(agent);
      if (what < 6) continue;
      const AccessKind kinds[] = {AccessKind::kRead, AccessKind::kRead, AccessKind::kWrite, AccessKind::kAtomic};
      both.BeginAccess(agent, kinds[draw(4)], draw(5) == 0);
      const int slot = draw(3), rows = 1 << draw(4);
      for (int row = draw(4) == 0 ? draw(12) : 0; row + rows <= 12; row += draw(8) == 0 ? draw(3) : rows) {
        const auto [race, fence] = both.Touch({3, {Progression{slot, 1, 1}, {row, rows, 1}, {0, 2, 1}}});
        races += race;
        unfenced += fence;
        clean += !race && !fence;
        if (both.dropped()) break;
      }
    }
    merged += both.merged();
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(races, 1000);
  EXPECT_GT(unfenced, 100);
  EXPECT_GT(clean, 1000);
  EXPECT_GT(merged, 1000);
}

}  // namespace
}  // namespace palladion::memory_model
