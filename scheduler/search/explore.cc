#include "scheduler/search/explore.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "scheduler/search/trace.h"
#include "semantics/base/status.h"

namespace palladion::scheduler {
namespace {

using Make = std::function<absl::StatusOr<std::unique_ptr<Explorable>>()>;
using Visitor = std::function<absl::StatusOr<bool>(Explorable&, const LoopResult&)>;

// An agent whose next operation need not be tried: all that comes after it has been seen, in another order.
struct Sleeper {
  Tracked agent = -1;
  Touches touches;
};

// A choice of the current schedule. Its event is that of the trace with its number.
struct Node {
  std::shared_ptr<const RunLoop::Saved> loop;
  std::shared_ptr<const void> shared;
  std::vector<Tracked> ready;
  std::vector<Tracked> taken;     // the ways on that have been, or have to be, followed
  std::vector<Tracked> untried;   // of these
  std::vector<Sleeper> sleepers;  // those that were followed too
};

bool Has(const std::vector<Tracked>& agents, Tracked agent) {
  return std::find(agents.begin(), agents.end(), agent) != agents.end();
}

class Explorer {
 public:
  Explorer(const Make& make, const ExploreOptions& options, const Visitor& visit)
      : make_(make), options_(options), visit_(visit) {}

  absl::StatusOr<Explored> Run() {
    PALLADION_RETURN_IF_ERROR(Begin());
    NameNewAgents();
    explored_.complete = true;
    PALLADION_RETURN_IF_ERROR(ToTheEnd({}));
    while (!stopped_ && BackToAChoice()) {
      if (explored_.schedules + explored_.pruned >= options_.max_schedules) {
        explored_.complete = false;
        break;
      }
      PALLADION_RETURN_IF_ERROR(BackToTop());
      Node& top = stack_.back();
      const Tracked next = top.untried.back();
      top.untried.pop_back();
      PALLADION_ASSIGN_OR_RETURN(std::vector<Sleeper> sleepers, Take(next));
      PALLADION_RETURN_IF_ERROR(ToTheEnd(std::move(sleepers)));
    }
    return explored_;
  }

 private:
  absl::Status Begin() {
    loop_.reset();  // before what it refers to
    PALLADION_ASSIGN_OR_RETURN(system_, make_());
    loop_ = std::make_unique<RunLoop>(system_->agents(), options_.loop);
    return loop_->Start(options_.snapshots ? RunLoop::Search::kSnapshots : RunLoop::Search::kFromTheStart);
  }

  absl::Status StepAgent(AgentOrdinal id) {
    const Candidate* const candidate = loop_->candidates().Find(id);
    if (candidate != nullptr) return loop_->Step(*candidate);
    return absl::InternalError("a schedule did not repeat: the agents do not depend on their choices alone");
  }

  // The last choice that has a way on left. False: there is none.
  bool BackToAChoice() {
    for (; !stack_.empty(); stack_.pop_back()) {
      if (trace_.size() == stack_.size()) trace_.Pop();
      if (!stack_.back().untried.empty()) return true;
    }
    return false;
  }

  absl::Status BackToTop() {
    const Node& top = stack_.back();
    if (top.loop != nullptr) {
      system_->Restore(top.shared.get());
      loop_->Restore(*top.loop);
      return absl::OkStatus();
    }
    PALLADION_RETURN_IF_ERROR(Begin());
    for (std::size_t i = 0; i + 1 < stack_.size(); ++i)
      PALLADION_RETURN_IF_ERROR(StepAgent(trace_.OrdinalOf(trace_.agent(i))));
    return absl::OkStatus();
  }

  // The agent goes on from the node on top; returns the agents that sleep after it.
  absl::StatusOr<std::vector<Sleeper>> Take(Tracked agent) {
    const AgentOrdinal ordinal = trace_.OrdinalOf(agent);
    const Candidate* const candidate = loop_->candidates().Find(ordinal);
    Action action = candidate == nullptr ? Action() : ActionOf(agent, *candidate->operation);
    system_->TakeTouched();  // of a beginning, or of what has run once more
    PALLADION_RETURN_IF_ERROR(StepAgent(ordinal));
    if (std::optional<Touches> touched = system_->TakeTouched(); touched.has_value())
      action.touches = *std::move(touched);
    if (ChangedUnseen(action) || BeganOthers()) action.touches.AddEverything();
    Node& top = stack_.back();
    std::vector<Sleeper> after;
    if (options_.reduce) {
      for (const Sleeper& sleeper : top.sleepers) {
        if (!sleeper.touches.ChangedBy(action.touches)) after.push_back(sleeper);
      }
      top.sleepers.push_back({agent, action.touches});
    }
    for (const Reversal& race : trace_.Add(std::move(action))) Reverse(race);
    NameNewAgents();
    return after;
  }

  static Action ActionOf(Tracked agent, const Operation& operation) {
    Action action{.agent = agent, .touches = Touches(operation.footprint), .waits = operation.waits_for != nullptr};
    if (action.waits) action.need = operation.waits_for->Needs();
    return action;
  }

  // Has the operation let another one go on, or kept it from that, by what it says that it did not touch?
  bool ChangedUnseen(const Action& done) const {
    bool unseen = false;
    loop_->ForEachLive([&](const Candidate& candidate, bool ready, bool) {
      if (candidate.id.value >= trace_.started()) return;
      const Tracked agent = trace_.AgentOf(candidate.id);
      if (agent == done.agent || ready == Has(stack_.back().ready, agent)) return;
      unseen |= !done.touches.Conflicts(Touches(candidate.operation->footprint));
    });
    return unseen;
  }

  // Has the source begun agents: the end of one made room?
  bool BeganOthers() const {
    std::int64_t spawned_now = 0;
    loop_->ForEachLive([&](const Candidate& candidate, bool, bool spawned) {
      spawned_now += candidate.id.value >= trace_.started() && spawned;
    });
    return loop_->started() > trace_.started() + spawned_now;
  }

  void NameNewAgents() {
    std::vector<std::pair<AgentOrdinal, bool>> added;
    loop_->ForEachLive([&](const Candidate& candidate, bool, bool spawned) {
      if (candidate.id.value >= trace_.started()) added.emplace_back(candidate.id, spawned);
    });
    std::sort(added.begin(), added.end());
    for (const auto& [ordinal, spawned] : added) {
      trace_.SkipAgents(ordinal.value);
      trace_.AddAgent(ordinal, spawned);
    }
    trace_.SkipAgents(loop_->started());
  }

  // Another way on from an earlier choice, unless one that has been followed, or will be, has the order too.
  void Reverse(const Reversal& race) {
    if (!options_.reduce) return;
    Node& node = stack_[race.at];
    const auto is_seen = [&](Tracked agent) {
      return Has(node.taken, agent) || std::any_of(node.sleepers.begin(), node.sleepers.end(),
                                                   [&](const Sleeper& sleeper) { return sleeper.agent == agent; });
    };
    if (std::any_of(race.initials.begin(), race.initials.end(), is_seen)) return;
    const auto first =
        std::find_if(race.initials.begin(), race.initials.end(), [&](Tracked agent) { return Has(node.ready, agent); });
    if (first == race.initials.end()) return;
    node.taken.push_back(*first);
    node.untried.push_back(*first);
  }

  void ReverseWaits() {
    loop_->ForEachLive([&](const Candidate& candidate, bool ready, bool) {
      if (ready || !options_.reduce) return;
      const Action waiting = ActionOf(trace_.AgentOf(candidate.id), *candidate.operation);
      for (const Reversal& race : trace_.RacesOfWaiting(waiting)) Reverse(race);
    });
  }

  absl::Status ToTheEnd(std::vector<Sleeper> sleepers) {
    std::int64_t steps = static_cast<std::int64_t>(stack_.size());
    while (!loop_->candidates().empty()) {
      if (Interrupted(options_.loop.control)) return InterruptedStatus();
      if (steps++ >= options_.loop.budget) return Visit(Outcome::kBudget);
      Node node{.sleepers = std::move(sleepers)};
      for (const Candidate& candidate : loop_->candidates()) {
        const Tracked agent = trace_.AgentOf(candidate.id);
        node.ready.push_back(agent);
        const bool sleeps = std::any_of(node.sleepers.begin(), node.sleepers.end(),
                                        [&](const Sleeper& sleeper) { return sleeper.agent == agent; });
        if (!sleeps && (node.taken.empty() || !options_.reduce)) node.taken.push_back(agent);
      }
      if (node.taken.empty()) {
        ++explored_.pruned;
        ReverseWaits();
        return absl::OkStatus();
      }
      node.untried.assign(node.taken.rbegin(), node.taken.rend() - 1);
      const Tracked next = node.taken.front();
      PALLADION_RETURN_IF_ERROR(Push(std::move(node)));
      PALLADION_ASSIGN_OR_RETURN(sleepers, Take(next));
    }
    ReverseWaits();
    return Visit(Outcome::kFinished);
  }

  absl::Status Push(Node node) {
    if (options_.snapshots && node.ready.size() > 1) {
      PALLADION_ASSIGN_OR_RETURN(node.shared, system_->Save());
      PALLADION_ASSIGN_OR_RETURN(node.loop, loop_->Save());
    }
    stack_.push_back(std::move(node));
    return absl::OkStatus();
  }

  absl::Status Visit(Outcome outcome) {
    PALLADION_ASSIGN_OR_RETURN(LoopResult result, loop_->Finish());
    if (outcome == Outcome::kBudget) {
      result.outcome = outcome;
      explored_.complete = false;
    }
    ++explored_.schedules;
    PALLADION_ASSIGN_OR_RETURN(const bool go_on, visit_(*system_, result));
    stopped_ = !go_on;
    explored_.complete &= go_on;
    return absl::OkStatus();
  }

  const Make& make_;
  const ExploreOptions& options_;
  const Visitor& visit_;
  std::unique_ptr<Explorable> system_;
  std::unique_ptr<RunLoop> loop_;
  std::vector<Node> stack_;
  Trace trace_;
  Explored explored_;
  bool stopped_ = false;
};

}  // namespace

absl::StatusOr<Explored> Explore(const Make& make, const ExploreOptions& options, const Visitor& visit) {
  return Explorer(make, options, visit).Run();
}

}  // namespace palladion::scheduler
