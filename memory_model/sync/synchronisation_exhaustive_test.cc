// Barriers and semaphores in every short sequence of requests, against models that keep the sequence itself: what each
// event follows is found by walking it, and the rules are read off it as the documents state them.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "memory_model/sync/barrier.h"
#include "memory_model/sync/semaphore.h"

namespace palladion::memory_model {
namespace {

// One request that happened, and all that happened before it in every order that has the same synchronisation.
struct Event {
  int agent;
  bool publishes;
  std::set<int> after;  // events
};

class EventLog {
 public:
  // `sources`: what it learns from.
  int Add(int agent, bool publishes, const std::vector<int>& sources) {
    Event event{agent, publishes, {}};
    for (int i = 0; i < static_cast<int>(events_.size()); ++i) {
      if (events_[static_cast<std::size_t>(i)].agent == agent) event.after.insert(i);
    }
    for (const int source : sources) event.after.insert(source);
    for (const int i : std::set<int>(event.after)) {
      const auto& more = events_[static_cast<std::size_t>(i)].after;
      event.after.insert(more.begin(), more.end());
    }
    events_.push_back(std::move(event));
    return static_cast<int>(events_.size()) - 1;
  }
  bool Follows(int later, int earlier) const { return Of(later).after.contains(earlier); }
  // How many publications of `other` the agent's latest event follows, or is.
  std::uint32_t Acquired(int agent, int other) const {
    std::set<int> known;
    for (int i = 0; i < static_cast<int>(events_.size()); ++i) {
      if (Of(i).agent != agent) continue;
      known.insert(i);
      known.insert(Of(i).after.begin(), Of(i).after.end());
    }
    return static_cast<std::uint32_t>(
        std::count_if(known.begin(), known.end(), [&](int i) { return Of(i).agent == other && Of(i).publishes; }));
  }

 private:
  const Event& Of(int i) const { return events_[static_cast<std::size_t>(i)]; }
  std::vector<Event> events_;
};

// (code, confidence, line): each request is a line.
using Found = std::multiset<std::tuple<FindingCode, Confidence, int>>;

class BarrierModel {
 public:
  BarrierModel(int arrivals, int agents) : arrivals_(arrivals), seen_(static_cast<std::size_t>(agents), kNever) {}

  void Arrive(int agent, int line) {
    gathering_.push_back(log.Add(agent, true, {}));
    if (static_cast<int>(gathering_.size()) < arrivals_) return;
    if (completions() > 0) CheckCompletion(line);
    completed_.push_back(std::exchange(gathering_, {}));
    waits_since_.push_back({});
  }
  bool CanWait(int agent) const {
    for (int c = Seen(agent) + 1; c <= completions(); ++c) {
      if (!Doubled(c)) return true;
    }
    return false;
  }
  void Wait(int agent, int line) {
    // Another agent waited for it before the last completion, and this one did not.
    const int before = completions() - 1;
    if (before > Seen(agent) && !Doubled(before)) {
      found.insert({FindingCode::kBarrierPhaseSkip, Confidence::kProved, line});
    }
    waits_since_.back().push_back({agent, log.Add(agent, false, completed_.back())});
    seen_[static_cast<std::size_t>(agent)] = completions();
  }
  void End(int line) {
    if (!gathering_.empty()) found.insert({FindingCode::kBarrierPending, Confidence::kProved, line});
    if (completions() == 0) return;
    if (waits_since_.back().empty()) {
      found.insert({FindingCode::kBarrierUnawaited, Confidence::kProved, line});
      return;
    }
    for (const int seen : seen_) {
      if (seen != kNever && seen < completions()) {
        found.insert({FindingCode::kBarrierPhaseSkip, Confidence::kProved, 0});
      }
    }
  }
  int completions() const { return static_cast<int>(completed_.size()); }

  EventLog log;
  Found found;

 private:
  static constexpr int kNever = 0;
  struct Waited {
    int agent, event;
  };
  int Seen(int agent) const { return seen_[static_cast<std::size_t>(agent)]; }
  // Was the next completion there before any wait for this one?
  bool Doubled(int completion) const {
    return completion < completions() && waits_since_[static_cast<std::size_t>(completion) - 1].empty();
  }
  void CheckCompletion(int line) {
    const std::vector<Waited>& waits = waits_since_.back();
    if (waits.empty()) {
      found.insert({FindingCode::kBarrierDouble, Confidence::kProved, line});
      return;
    }
    const auto ordered = [&](const Waited& waited) {
      return std::any_of(gathering_.begin(), gathering_.end(), [&](int a) { return log.Follows(a, waited.event); });
    };
    if (std::none_of(waits.begin(), waits.end(), ordered)) {
      found.insert({FindingCode::kBarrierDouble, Confidence::kPredicted, line});
      return;
    }
    for (const Waited& waited : waits) {
      if (!ordered(waited)) found.insert({FindingCode::kBarrierPhaseSkip, Confidence::kPredicted, line});
    }
  }

  int arrivals_;
  std::vector<int> gathering_;
  std::vector<std::vector<int>> completed_;       // arrivals of each completion
  std::vector<std::vector<Waited>> waits_since_;  // of each completion, before the next
  std::vector<int> seen_;                         // by agent
};

constexpr CodeSite Line(int line) { return {LocId{}, line}; }

Found FoundBy(const FindingLog& log) {
  Found found;
  for (const Finding& finding : log.findings()) {
    // Of a waiter that missed the end, the line is that of its last wait: whichever that is.
    const bool missed_end =
        finding.code == FindingCode::kBarrierPhaseSkip && finding.message.find("has waited") != std::string::npos;
    const bool predicted = finding.confidence == Confidence::kPredicted;
    found.insert({finding.code, finding.confidence, missed_end && !predicted ? 0 : finding.text_line});
  }
  return found;
}

void RunBarrier(int num_arrivals, int agents, int length, std::int64_t code) {
  const BarrierSpec spec{"b", num_arrivals};
  Barrier barrier(BarrierId{0}, std::make_shared<const BarrierSpec>(spec));
  BarrierModel model(num_arrivals, agents);
  AgentTable table;
  std::vector<AgentId> ids;
  for (int i = 0; i < agents; ++i) ids.push_back(table.Add("agent", {}));
  FindingLog log;
  for (int line = 1; line <= length; ++line, code /= 2 * agents) {
    const int what = static_cast<int>(code % (2 * agents)), agent = what / 2;
    const AgentId id = ids[static_cast<std::size_t>(agent)];
    if (what % 2 == 0) {
      barrier.Arrive({id, table.ClockOf(id), Line(line)}, table, &log);
      table.Tick(id, Line(line));
      model.Arrive(agent, line);
    } else {
      ASSERT_EQ(barrier.CanWait(id, table), model.CanWait(agent));
      if (!barrier.CanWait(id, table)) return;  // a shorter sequence was this one
      barrier.Wait(id, Line(line), &table, &log);
      model.Wait(agent, line);
    }
    ASSERT_EQ(static_cast<int>(barrier.completed()), model.completions());
    for (int a = 0; a < agents; ++a) {
      for (int b = 0; b < agents; ++b) {
        if (a == b) continue;
        const auto& clock = table.ClockOf(ids[static_cast<std::size_t>(a)])[ClockPart::kGeneric];
        ASSERT_EQ(clock.TimeOf(ids[static_cast<std::size_t>(b)]), model.log.Acquired(a, b));
      }
    }
    ASSERT_EQ(FoundBy(log), model.found);
  }
  barrier.End(Barrier::Ends::kScope, Line(length + 1), table, &log);
  model.End(length + 1);
  ASSERT_EQ(FoundBy(log), model.found);
}

std::int64_t Power(std::int64_t base, int exponent) { return exponent == 0 ? 1 : base * Power(base, exponent - 1); }

TEST(BarrierExhaustive, EverySequence) {
  struct Case {
    int num_arrivals, agents, length;
  };
  for (const Case& c : {Case{1, 2, 7}, Case{2, 2, 8}, Case{1, 3, 5}, Case{2, 3, 6}, Case{3, 2, 7}}) {
    for (std::int64_t code = 0; code < Power(2 * c.agents, c.length); ++code) {
      RunBarrier(c.num_arrivals, c.agents, c.length, code);
      ASSERT_FALSE(testing::Test::HasFatalFailure())
          << code << " of " << c.num_arrivals << " arrivals, " << c.agents << " agents";
    }
  }
}

// Every credit by itself, with the event that made it.
class SemaphoreModel {
 public:
  void Signal(int agent, int amount) {
    const int event = log.Add(agent, true, {});
    for (int i = 0; i < amount; ++i) credits_.push_back(event);
  }
  bool CanWait(int value) const { return static_cast<int>(credits_.size()) >= value; }
  void Wait(int agent, int value, bool decrement) {
    log.Add(agent, false, {credits_.begin(), credits_.begin() + value});
    if (decrement) credits_.erase(credits_.begin(), credits_.begin() + value);
  }
  void Read(int agent) { log.Add(agent, false, credits_); }
  int count() const { return static_cast<int>(credits_.size()); }
  EventLog log;

 private:
  std::vector<int> credits_;
};

TEST(SemaphoreExhaustive, EverySequence) {
  struct Request {
    enum { kSignal, kWait, kWatch, kRead } what;
    int agent, amount;
  };
  const std::vector<Request> requests = {{Request::kSignal, 0, 1}, {Request::kSignal, 1, 2}, {Request::kSignal, 2, 1},
                                         {Request::kWait, 1, 1},   {Request::kWait, 2, 2},   {Request::kWatch, 0, 1},
                                         {Request::kRead, 1, 0}};
  constexpr int kLength = 6;
  const auto n = static_cast<std::int64_t>(requests.size());
  for (std::int64_t number = 0; number < Power(n, kLength); ++number) {
    Semaphore semaphore(SemaphoreId{0}, {"s"});
    SemaphoreModel model;
    AgentTable table(/*proxies=*/false);  // what a GPU's waits leave is no leak
    std::vector<AgentId> ids;
    for (int i = 0; i < 3; ++i) ids.push_back(table.Add("agent", {}));
    std::int64_t code = number;
    for (int line = 1; line <= kLength; ++line, code /= n) {
      const Request& request = requests[static_cast<std::size_t>(code % n)];
      const AgentId id = ids[static_cast<std::size_t>(request.agent)];
      if (request.what == Request::kSignal) {
        semaphore.Signal(id, table.ClockOf(id), request.amount, Line(line));
        table.Tick(id, Line(line));
        model.Signal(request.agent, request.amount);
      } else if (request.what == Request::kRead) {
        ASSERT_EQ(semaphore.Read(id, &table), model.count());
        model.Read(request.agent);
      } else {
        ASSERT_EQ(semaphore.CanWait(request.amount), model.CanWait(request.amount));
        if (!model.CanWait(request.amount)) break;
        semaphore.Wait(id, request.amount, {.decrement = request.what == Request::kWait}, &table);
        model.Wait(request.agent, request.amount, request.what == Request::kWait);
      }
      ASSERT_EQ(semaphore.count(), model.count());
      for (int a = 0; a < 3; ++a) {
        for (int b = 0; b < 3; ++b) {
          if (a == b) continue;
          const auto& clock = table.ClockOf(ids[static_cast<std::size_t>(a)])[ClockPart::kGeneric];
          ASSERT_EQ(clock.TimeOf(ids[static_cast<std::size_t>(b)]), model.log.Acquired(a, b)) << number;
        }
      }
    }
    FindingLog log;
    semaphore.End(Line(kLength + 1), table, &log);
    ASSERT_EQ(log.findings().size(), model.count() == 0 ? 0u : 1u);
  }
}

}  // namespace
}  // namespace palladion::memory_model
