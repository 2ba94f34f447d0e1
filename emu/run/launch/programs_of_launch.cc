// Programs of a grid, or cores of a TPU, as agents: each a frame over memory that all share.
#include <algorithm>
#include <optional>

#include "emu/run/agents/program_agents.h"
#include "emu/run/launch/agents_of_launch.h"
#include "emu/run/launch/launch_findings.h"
#include "semantics/base/cat.h"

namespace palladion::launch {
namespace {

constexpr std::size_t kFrameBytes = std::size_t{1} << 30;

class Programs final : public AgentsOfLaunch {
 public:
  Programs(agents::LaunchState& state, const agents::LaunchOptions& options) : state_(state), options_(options) {}

  void Make(bool search) override {
    if (!state_.program().grid_in_agent) state_.TasksAreAgents();
    shared_.emplace(state_, /*all=*/options_.loop.clock != nullptr);
    scratch_.emplace(state_);
    if (search) {
      touches_.emplace(state_.memory(), [this](BufferId buffer) { return shared_->Has(buffer); });
      state_.memory().Observe(&*touches_);
    }
    if (!state_.program().loops.empty()) state_.memory().Observe(&spins_.emplace(state_.memory()));
    agents_.emplace(state_, *shared_,
                    agents::ProgramAgent::Watching{.watcher = state_.watchers(),
                                                   .touches = touches_.has_value() ? &*touches_ : nullptr,
                                                   .spins = spins_.has_value() ? &*spins_ : nullptr,
                                                   .scratch = scratch_->any() ? &*scratch_ : nullptr},
                    options_.left_out);
  }

  scheduler::AgentSource& source() override { return *agents_; }
  bool copyable() const override {
    return options_.observers.empty() && !options_.definedness && options_.contracts == nullptr &&
           agents::HandedScratch::OperandsOf(state_.program()).empty();
  }

  std::optional<scheduler::Touches> TakeTouched() override {
    return touches_.has_value() ? std::optional(touches_->Take()) : std::nullopt;
  }

  scheduler::LoopOptions Fitting(scheduler::LoopOptions loop) const override {
    const Program& program = state_.program();
    const std::size_t each = std::max<std::size_t>(1, program.arena_bytes + program.scratch_bytes);
    loop.resident = std::clamp<std::size_t>(kFrameBytes / each, 2, std::max<std::size_t>(2, loop.resident));
    return loop;
  }

  void Complete(agents::Ran& result, const scheduler::LoopOptions& loop) const override {
    const agents::AgentPrograms first = state_.ProgramsOfAgent(0);
    const std::int64_t each = std::max<std::int64_t>(1, first.last - first.first);
    result.all_fit = static_cast<std::size_t>(result.programs / each) <= loop.resident;
  }

  std::string_view kind() const override { return "program"; }
  std::string_view counted() const override { return "operations on shared memory"; }
  std::string FixOf(const scheduler::Deadlock& deadlock) const override { return FixOfSpins(deadlock); }
  std::string_view begin_fix() const override {
    return "launch no more programs than fit at once, or let none wait for one that begins later";
  }
  std::string WhyNotBegun() const override {
    if (agents_->not_begun() == 0) return "";
    return Cat(agents_->not_begun(), " programs have not begun, for there is room for as many as are there");
  }
  std::string_view why_endless() const override { return "their loops change something for ever"; }
  Unfinished unfinished(std::size_t most) const override {
    const std::vector<const agents::ProgramAgent*> all = agents_->Unfinished();
    Unfinished running{.count = static_cast<std::int64_t>(all.size()), .first = {}};
    for (std::size_t i = 0; i < std::min(most, all.size()); ++i) {
      const Step& step = StepAt(all[i]->frame());
      running.first.push_back({Cat(all[i]->Name(), " at ", PlaceText(state_.module(), step.loc, step.text_line)),
                               step.loc, step.text_line});
    }
    return running;
  }

 private:
  agents::LaunchState& state_;
  const agents::LaunchOptions& options_;
  std::optional<agents::SharedMemory> shared_;
  std::optional<agents::HandedScratch> scratch_;
  std::optional<agents::TouchLog> touches_;  // of a search
  std::optional<agents::SpinWatch> spins_;
  std::optional<agents::ProgramAgents> agents_;
};

}  // namespace

std::unique_ptr<AgentsOfLaunch> ProgramsOfLaunch(agents::LaunchState& state, const agents::LaunchOptions& options) {
  return std::make_unique<Programs>(state, options);
}

}  // namespace palladion::launch
