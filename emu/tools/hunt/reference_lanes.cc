#include "emu/tools/hunt/reference_lanes.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "scheduler/policies/random.h"
#include "semantics/base/cat.h"

namespace palladion::hunt {
namespace {

using What = LaneOp::What;

std::uint64_t NumberOf(const std::string& spread, int layouts) {
  std::uint64_t number = 1469598103934665603u + static_cast<std::uint64_t>(layouts) * 1099511628211u;
  for (const char c : spread) number = (number ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return number;
}

// The lanes that have element i of a value: of several the first one stores it, or each does.
using Layout = std::vector<std::vector<int>>;
Layout LayoutOf(const LaneStep& step, int layouts, int all) {
  const int n = step.op->elements;
  const bool alike = layouts == 0 || n == 1;
  scheduler::Random random(NumberOf(step.spread, layouts));
  const auto below = [&](std::size_t k) { return static_cast<std::size_t>(random.Below(k)); };
  std::vector<int> lanes(static_cast<std::size_t>(all));
  std::iota(lanes.begin(), lanes.end(), 0);
  for (std::size_t l = lanes.size(); !alike && l > 1; --l) std::swap(lanes[l - 1], lanes[below(l)]);
  const bool blocked = alike || below(2) == 0;
  // Where each of 128 lanes has a copy and stores it, two of them show what all would.
  if (n == 1 && all > 32) return {{0, 1 + static_cast<int>(below(static_cast<std::size_t>(all - 1)))}};
  Layout layout(static_cast<std::size_t>(n));
  for (int i = 0; i < std::max(n, all); ++i) {
    const int lane = n <= all ? i : blocked ? i * all / n : i % all;
    layout[static_cast<std::size_t>(i % n)].push_back(lanes[static_cast<std::size_t>(lane)]);
  }
  return layout;
}

// Something that a lane does to a cell.
struct Event {
  int step = 0, element = 0, lane = 0, cell = 0, phase = 0;
  int needs = -1;     // the event that has its value
  bool sums = false;  // adds something, and what was there is not used
};

class Machine {
 public:
  Machine(const LaneKernel& kernel, const std::vector<LaneStep>& steps, int layouts, std::int64_t max_states)
      : kernel_(kernel), steps_(steps), layouts_(layouts), lanes_(LanesOf(kernel)), states_(max_states) {
    MakeEvents();
  }

  LanesReached Take(int program) {
    FindClash();
    std::set<State> states = {{LanesBefore(kernel_, program), std::vector<std::int64_t>(events_.size(), 0)}};
    const int phases = events_.empty() ? 0 : events_.back().phase + 1;
    for (int phase = 0; phase < phases; ++phase) {
      for (const std::vector<int>& lanes : TogetherIn(phase)) {
        std::set<State> next;
        for (const State& state : states) Search(lanes, phase, state, &next);
        states = std::move(next);
      }
    }
    for (const State& state : states) reached_.outcomes.insert(state.memory);
    return std::move(reached_);
  }

 private:
  struct State {
    LaneMemory memory;
    std::vector<std::int64_t> values;  // by event
    friend bool operator<(const State& a, const State& b) {
      return std::tie(a.memory, a.values) < std::tie(b.memory, b.values);
    }
  };
  static constexpr std::size_t kMaxEnds = 4;  // of one search: more than one is enough
  static constexpr std::int64_t kMore = 100;  // states beyond the limit

  // From the last step to the first: a load is an event where its value is taken.
  void MakeEvents() {
    std::vector<std::set<std::pair<int, int>>> wanted(steps_.size());  // element and lane
    std::vector<Event> events;
    for (std::size_t s = steps_.size(); s-- > 0;) {
      const LaneStep& step = steps_[s];
      const Layout layout = LayoutOf(step, layouts_, lanes_);
      for (int i = step.op->elements; i-- > 0;) {
        const std::vector<int>& lanes = layout[static_cast<std::size_t>(i)];
        for (const int lane : lanes) {
          const bool acts =
              step.op->what == What::kLoad ? wanted[s].count({i, lane}) > 0 : kernel_.thread || lane == lanes[0];
          if (!acts) continue;
          const bool part = TakesPart(*step.op, i);
          events.push_back({static_cast<int>(s), i, lane, part ? CellOf(step, i) : -1, step.phase, -1});
          if (part && step.value_of >= 0) wanted[static_cast<std::size_t>(step.value_of)].insert(Source(step, i, lane));
        }
      }
    }
    events_.assign(events.rbegin(), events.rend());
    std::map<std::tuple<int, int, int>, int> numbers;
    for (std::size_t e = 0; e < events_.size(); ++e) {
      Event& event = events_[e];
      numbers[{event.step, event.element, event.lane}] = static_cast<int>(e);
      const LaneStep& step = steps_[static_cast<std::size_t>(event.step)];
      event.sums = step.op->what == What::kAdd;
      if (event.cell < 0 || step.value_of < 0) continue;
      const auto [element, lane] = Source(step, event.element, event.lane);
      event.needs = numbers.at({step.value_of, element, lane});
      events_[static_cast<std::size_t>(event.needs)].sums = false;
    }
  }

  // Whose copy of the value goes into element i: the lane's own where it has one.
  std::pair<int, int> Source(const LaneStep& step, int i, int lane) const {
    const LaneStep& from = steps_[static_cast<std::size_t>(step.value_of)];
    const int element = from.op->elements == 1 ? 0 : i;
    const Layout layout = LayoutOf(from, layouts_, lanes_);
    const std::vector<int>& lanes = layout[static_cast<std::size_t>(element)];
    if (IsAtomic(*from.op)) return {element, lanes[0]};  // its result is handed to the others
    const bool own = std::find(lanes.begin(), lanes.end(), lane) != lanes.end();
    return {element, own ? lane : lanes[static_cast<std::size_t>(lane + layouts_) % lanes.size()]};
  }

  const LaneOp& OpOf(const Event& event) const { return *steps_[static_cast<std::size_t>(event.step)].op; }
  bool Meet(const Event& a, const Event& b) const {
    if (a.sums && b.sums) return false;  // in whatever order
    return a.cell >= 0 && a.cell == b.cell && (OpOf(a).what != What::kLoad || OpOf(b).what != What::kLoad);
  }

  // Has the lane stored the same itself?
  bool HasCopy(const Event& store, int lane) const {
    return std::any_of(events_.begin(), events_.end(), [&](const Event& event) {
      return event.step == store.step && event.element == store.element && event.lane == lane;
    });
  }

  void FindClash() {
    for (std::size_t b = 0; b < events_.size(); ++b) {
      for (std::size_t a = 0; a < b && reached_.clash.empty(); ++a) {
        const Event &first = events_[a], &second = events_[b];
        if (first.phase != second.phase || first.lane == second.lane || !Meet(first, second)) continue;
        if (IsAtomic(OpOf(first)) && IsAtomic(OpOf(second))) continue;
        if (first.step == second.step && first.element == second.element) continue;     // copies of one value
        if (OpOf(second).what == What::kLoad && HasCopy(first, second.lane)) continue;  // it reads what it stores
        const auto line = [&](const Event& event) { return steps_[static_cast<std::size_t>(event.step)].line; };
        reached_.clash = Cat("lines ", line(first), " and ", line(second), ", lanes ", first.lane, " and ", second.lane,
                             ", cell ", first.cell);
      }
    }
  }

  // The lanes of a phase in sets of which no two see each other.
  std::vector<std::vector<int>> TogetherIn(int phase) const {
    std::vector<int> root(static_cast<std::size_t>(lanes_));
    std::iota(root.begin(), root.end(), 0);
    const std::function<int(int)> find = [&](int lane) {
      const auto l = static_cast<std::size_t>(lane);
      return root[l] == lane ? lane : root[l] = find(root[l]);
    };
    const auto join = [&](int a, int b) { root[static_cast<std::size_t>(find(a))] = find(b); };
    std::map<int, std::vector<const Event*>> by_cell;
    for (const Event& event : events_) {
      if (event.phase != phase) continue;
      for (const Event* const other : by_cell[event.cell]) {
        if (Meet(event, *other)) join(event.lane, other->lane);
      }
      by_cell[event.cell].push_back(&event);
      if (event.needs < 0) continue;
      const Event& needed = events_[static_cast<std::size_t>(event.needs)];
      if (needed.phase == phase) join(event.lane, needed.lane);
    }
    std::map<int, std::vector<int>> sets;
    for (int lane = 0; lane < lanes_; ++lane) sets[find(lane)].push_back(lane);
    std::vector<std::vector<int>> together;
    for (auto& [of, lanes] : sets) together.push_back(std::move(lanes));
    return together;
  }

  void Search(const std::vector<int>& lanes, int phase, const State& state, std::set<State>* ends) {
    lists_.clear();
    for (const int lane : lanes) {
      std::vector<int> list;
      for (std::size_t e = 0; e < events_.size(); ++e) {
        if (events_[e].lane == lane && events_[e].phase == phase) list.push_back(static_cast<int>(e));
      }
      if (!list.empty()) lists_.push_back(std::move(list));
    }
    seen_.clear();
    ends_ = ends;
    done_.assign(events_.size(), false);
    for (std::size_t e = 0; e < events_.size(); ++e) done_[e] = events_[e].phase < phase;
    Visit(state, std::vector<std::size_t>(lists_.size(), 0));
  }

  bool CanGo(const Event& event) const { return event.needs < 0 || done_[static_cast<std::size_t>(event.needs)]; }

  // Does nothing that another lane does make a difference to it, or to whom it makes one? It may come first then.
  bool Alone(const Event& event, std::size_t list, const std::vector<std::size_t>& at) const {
    for (std::size_t other = 0; other < lists_.size(); ++other) {
      for (std::size_t k = at[other]; other != list && k < lists_[other].size(); ++k) {
        if (Meet(event, events_[static_cast<std::size_t>(lists_[other][k])])) return false;
      }
    }
    return true;
  }

  void Visit(State state, std::vector<std::size_t> at) {
    std::vector<std::size_t> ready;
    for (std::size_t l = 0; l < lists_.size(); ++l) {
      if (at[l] == lists_[l].size()) continue;
      const Event& event = events_[static_cast<std::size_t>(lists_[l][at[l]])];
      if (!CanGo(event)) continue;
      if (Alone(event, l, at)) {
        ready = {l};
        break;
      }
      ready.push_back(l);
    }
    if (ready.empty()) {
      ends_->insert(std::move(state));
      return;
    }
    if (ready.size() > 1) {
      if (ends_->size() >= kMaxEnds || !seen_.insert({at, state}).second) return;
      // Where there are too many: the first lane first, and the last one, and no more after a while.
      if (--states_ < 0) {
        reached_.complete = false;
        if (states_ < -kMore) return;
        ready = {ready.front(), ready.back()};
      }
    }
    for (const std::size_t l : ready) {
      const int e = lists_[l][at[l]];
      State next = state;
      Do(e, &next);
      done_[static_cast<std::size_t>(e)] = true;
      ++at[l];
      Visit(std::move(next), at);
      --at[l];
      done_[static_cast<std::size_t>(e)] = false;
    }
  }

  void Do(int e, State* state) const {
    const Event& event = events_[static_cast<std::size_t>(e)];
    std::int64_t& value = state->values[static_cast<std::size_t>(e)];
    if (event.cell < 0) return;  // a mask: what is loaded is 0
    const std::int64_t taken = event.needs < 0 ? 0 : state->values[static_cast<std::size_t>(event.needs)];
    value = Act(OpOf(event), ValueOf(steps_[static_cast<std::size_t>(event.step)], event.element, taken),
                &state->memory[static_cast<std::size_t>(event.cell)]);
  }

  const LaneKernel& kernel_;
  const std::vector<LaneStep>& steps_;
  const int layouts_, lanes_;
  std::int64_t states_;
  std::vector<Event> events_;  // in the order of the text
  LanesReached reached_;
  // Of a search.
  std::vector<std::vector<int>> lists_;  // events of each lane
  std::set<std::pair<std::vector<std::size_t>, State>> seen_;
  std::set<State>* ends_ = nullptr;
  std::vector<bool> done_;
};

}  // namespace

LanesReached ExploreLanes(const LaneKernel& kernel, const std::vector<LaneStep>& steps, int program, int layouts,
                          std::int64_t max_states) {
  return Machine(kernel, steps, layouts, max_states).Take(program);
}

}  // namespace palladion::hunt
