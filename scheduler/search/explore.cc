#include "scheduler/search/explore.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "semantics/base/status.h"

namespace palladion::scheduler {
namespace {

using Make = std::function<absl::StatusOr<std::unique_ptr<Explorable>>()>;
using Visitor = std::function<absl::StatusOr<bool>(Explorable&, const LoopResult&)>;

// An agent whose next operation need not be tried: all that comes after it has been seen, in another order.
struct Sleeper {
  AgentOrdinal id;
  Footprint touched;
};

struct Node {
  std::shared_ptr<const RunLoop::Saved> loop;
  std::shared_ptr<const void> shared;
  std::vector<AgentOrdinal> untried;  // the last one is next
  std::vector<Sleeper> sleepers;      // with sleep sets, those that were tried too
  AgentOrdinal taken;                 // the way that leads to the node above
};

class Explorer {
 public:
  Explorer(const Make& make, const ExploreOptions& options, const Visitor& visit)
      : make_(make), options_(options), visit_(visit) {}

  absl::StatusOr<Explored> Run() {
    PALLADION_RETURN_IF_ERROR(Begin());
    explored_.complete = true;
    PALLADION_RETURN_IF_ERROR(ToTheEnd({}));
    while (!stopped_ && !stack_.empty()) {
      if (stack_.back().untried.empty()) {
        stack_.pop_back();
        continue;
      }
      if (explored_.schedules >= options_.max_schedules) {
        explored_.complete = false;
        break;
      }
      PALLADION_RETURN_IF_ERROR(BackToTop());
      PALLADION_ASSIGN_OR_RETURN(std::vector<Sleeper> sleepers, TakeNext());
      PALLADION_RETURN_IF_ERROR(ToTheEnd(std::move(sleepers)));
    }
    return explored_;
  }

 private:
  absl::Status Begin() {
    loop_.reset();  // before what it refers to
    PALLADION_ASSIGN_OR_RETURN(system_, make_());
    loop_ = std::make_unique<RunLoop>(system_->agents(), options_.loop);
    return loop_->Start();
  }

  absl::Status StepAgent(AgentOrdinal id) {
    const Candidate* const candidate = loop_->candidates().Find(id);
    if (candidate != nullptr) return loop_->Step(*candidate);
    return absl::InternalError("a schedule did not repeat: the agents do not depend on their choices alone");
  }

  absl::Status BackToTop() {
    const Node& top = stack_.back();
    if (top.loop != nullptr) {
      system_->Restore(top.shared.get());
      loop_->Restore(*top.loop);
      return absl::OkStatus();
    }
    PALLADION_RETURN_IF_ERROR(Begin());
    for (std::size_t i = 0; i + 1 < stack_.size(); ++i) PALLADION_RETURN_IF_ERROR(StepAgent(stack_[i].taken));
    return absl::OkStatus();
  }

  // The next way on from the node on top; returns who sleeps after it.
  absl::StatusOr<std::vector<Sleeper>> TakeNext() {
    Node& top = stack_.back();
    top.taken = top.untried.back();
    top.untried.pop_back();
    PALLADION_RETURN_IF_ERROR(StepAgent(top.taken));
    std::vector<Sleeper> after;
    if (!options_.sleep_sets) return after;
    const Footprint touched = loop_->touched();
    for (const Sleeper& sleeper : top.sleepers) {
      if (!sleeper.touched.Conflicts(touched)) after.push_back(sleeper);
    }
    top.sleepers.push_back({top.taken, touched});
    return after;
  }

  absl::Status ToTheEnd(std::vector<Sleeper> sleepers) {
    std::int64_t steps = static_cast<std::int64_t>(stack_.size());
    while (!loop_->candidates().empty()) {
      if (Interrupted(options_.loop.control)) return InterruptedStatus();
      if (steps++ >= options_.loop.budget) return Visit(Outcome::kBudget);
      Node node{.sleepers = std::move(sleepers)};
      for (const Candidate& candidate : loop_->candidates()) {
        const bool sleeps = std::any_of(node.sleepers.begin(), node.sleepers.end(),
                                        [&](const Sleeper& sleeper) { return sleeper.id == candidate.id; });
        if (!sleeps) node.untried.push_back(candidate.id);
      }
      if (node.untried.empty()) {
        ++explored_.pruned;
        return absl::OkStatus();
      }
      std::reverse(node.untried.begin(), node.untried.end());
      PALLADION_RETURN_IF_ERROR(Push(std::move(node)));
      PALLADION_ASSIGN_OR_RETURN(sleepers, TakeNext());
    }
    return Visit(Outcome::kFinished);
  }

  absl::Status Push(Node node) {
    if (options_.snapshots && node.untried.size() > 1) {
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
  Explored explored_;
  bool stopped_ = false;
};

}  // namespace

absl::StatusOr<Explored> Explore(const Make& make, const ExploreOptions& options, const Visitor& visit) {
  return Explorer(make, options, visit).Run();
}

}  // namespace palladion::scheduler
