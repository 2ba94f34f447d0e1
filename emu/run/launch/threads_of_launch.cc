// The threads of GPU blocks as agents, over a ThreadMachine.
#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "emu/run/launch/agents_of_launch.h"
#include "emu/run/launch/launch_findings.h"
#include "emu/run/threads/repeated_work.h"
#include "emu/run/threads/thread_accesses.h"
#include "emu/run/threads/thread_agents.h"
#include "emu/run/threads/thread_machine.h"
#include "emu/run/threads/thread_touches.h"
#include "semantics/base/cat.h"
#include "semantics/program/agent_naming.h"
#include "semantics/registry/op_row.h"

namespace palladion::launch {
namespace {

// Is it one that begins before the kernel before it has ended?
bool MayOverlap(const Region& region) {
  return std::any_of(region.body.begin(), region.body.end(), [](const Instr& op) {
    return MayWaitFor(*op.row, Waits::kLaunch) || std::any_of(op.regions.begin(), op.regions.end(), MayOverlap);
  });
}

class Threads final : public AgentsOfLaunch {
 public:
  Threads(agents::LaunchState& state, const agents::LaunchOptions& options)
      : state_(state), kernel_(state.kernel().text()), options_(options) {}

  void Bound(memory_model::Memory& memory, absl::Span<const BufferId> arrays) override {
    const std::int64_t device = devices_bound_++;
    if (device == 0) MakeMachine(memory);
    if (state_.program().several_devices()) {
      AdoptOf(device, arrays);
      return;
    }
    std::vector<BufferId> adopted;
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      const OperandInfo& info = state_.program().operand_infos[i];
      const bool is_input = info.role == Role::kIn || info.role == Role::kPrefetch;
      const bool before = is_input && options_.races && MayOverlap(kernel_.bodies[0].region);
      // Read-only memory has no races. An output may be an input's memory.
      const bool lands = state_.arrivals().Lands({i, 0});
      if (!arrays[i].valid() || (info.role != Role::kOut && !info.written && !before && !lands)) continue;
      if (std::find(adopted.begin(), adopted.end(), arrays[i]) != adopted.end()) continue;
      adopted.push_back(arrays[i]);
      machine_->operands().Adopt(arrays[i], /*holds_nothing=*/info.role == Role::kOut && info.alias < 0);
      if (before) machine_->operands().WrittenBefore(arrays[i]);
    }
    for (const BufferId copy : state_.CopiesOfSecondCore(0)) {
      if (copy.valid()) machine_->operands().Adopt(copy);
    }
  }

  void Make(bool search) override {
    state_.TasksAreAgents();
    if (options_.races) {
      accesses_.emplace(state_.memory(), *machine_);
      state_.memory().Observe(&*accesses_);
    }
    if (options_.races && threads::RepeatedWork::May(kernel_)) {
      const auto is_output = [this](BufferId buffer) { return state_.OutputOf(buffer).has_value(); };
      repeated_.emplace(state_.memory(), *machine_, is_output);
      state_.memory().Observe(&*repeated_);
    }
    threads::Residency residency{.clusters = std::numeric_limits<std::int64_t>::max()};
    // A TPU's cores do not wait for each other yet: one after another is enough.
    const bool mesh = CountsCores(state_.program());
    const bool cores = state_.program().grid_in_agent || mesh;
    const bool devices = state_.program().several_devices();  // which may wait for each other
    if (cores && !devices && !mesh) residency = {};
    const bool at_once = cores || (options_.together && !threads::BlocksInteract(state_.program(), kernel_));
    if (options_.clusters_at_once > 0) {
      residency.clusters = options_.clusters_at_once;
    } else if (!search && !at_once) {
      residency = threads::ResidencyOf(state_.program(), kernel_, state_.frame().grid_size());
    }
    const std::int64_t of_device = state_.walk().programs() / state_.program().devices;
    if (residency.Limits(of_device) && !options_.begin_backwards) state_.WalkInOrder();
    if (search) {
      machine_->launch_control().OfferAll();
      machine_->ReportTouchesTo(&touches_.emplace(state_.memory(), *machine_));
      state_.memory().Observe(&touches_->log());
    }
    agents_.emplace(state_, *machine_, kernel_, std::move(residency));
  }

  scheduler::AgentSource& source() override { return *agents_; }
  scheduler::LoopOptions Fitting(scheduler::LoopOptions loop) const override {
    loop.resident = std::numeric_limits<std::size_t>::max();  // ThreadAgents decides
    return loop;
  }

  std::optional<scheduler::Touches> TakeTouched() override {
    return touches_.has_value() ? std::optional(touches_->log().Take()) : std::nullopt;
  }

  void End() override {
    for (run::Watcher* observer : options_.observers) observer->Ended(*machine_);
    left_ = machine_->HandOver();
    machine_->End({});
  }
  std::vector<Finding> Found() const override { return machine_->model().findings(); }
  void Complete(agents::Ran& result, const scheduler::LoopOptions&) const override {
    result.all_fit = agents_->all_fit();
    result.arrivals_race = machine_->model().ArrivalsRace();
    result.racing_wait = machine_->model().RacingWait();
    result.engines = agents_->engines();
    result.left = left_;
  }

  std::string_view kind() const override {
    if (state_.program().grid_in_agent || CountsCores(state_.program())) return "core";
    return NamingOf(state_.program()).many_threads ? "thread" : "block";
  }
  std::string_view counted() const override { return "visible operations"; }
  std::string FixOf(const scheduler::Deadlock& deadlock) const override {
    const std::vector<scheduler::Wait>& waits = deadlock.waits;
    if (std::any_of(waits.begin(), waits.end(), [](const scheduler::Wait& w) { return w.holder.has_value(); }))
      return FixOfSpins(deadlock);
    return FixOfWaits(deadlock);
  }
  std::string WhyNotBegun() const override { return agents_->WhyNotBegun(); }
  std::string_view begin_fix() const override {
    return "launch no more blocks than fit at once, or let none wait for one that begins later";
  }
  std::string_view why_endless() const override { return "their loops change something for ever"; }
  Unfinished unfinished(std::size_t most) const override {
    const std::vector<const threads::ThreadAgent*> all = agents_->Unfinished();
    Unfinished running{.count = static_cast<std::int64_t>(all.size()), .first = {}};
    for (std::size_t i = 0; i < std::min(most, all.size()); ++i) {
      const Step& step = StepAt(all[i]->frame());
      running.first.push_back({"", step.loc, step.text_line});
    }
    return running;
  }

 private:
  void MakeMachine(memory_model::Memory& memory) {
    machine_.emplace(state_.program(), memory, state_.frame().grid_size(),
                     threads::ThreadMachineOptions{.policy = options_.fences,
                                                   .automatic_barriers = state_.kernel().automatic_barriers(),
                                                   .races = options_.races,
                                                   .definedness = state_.tracks_definedness(),
                                                   .moves_nothing = options_.moves_nothing,
                                                   .ordered_links = options_.ordered_links,
                                                   .places = [this](const CodeSite& site) { return PlaceOf(site); },
                                                   .between = Between()});
    if (!options_.races_between_tasks) machine_->model().LeaveRacesBetweenBlocks();
    for (run::Watcher* observer : options_.observers) observer->Begun(*machine_);
  }

  threads::BetweenLaunches Between() {
    return {.arrivals = &state_.arrivals(),
            .array_of = [this](const agents::OperandPlace& at) { return state_.ArraysOf(at.device)[at.operand]; },
            .output_of = [this](BufferId buffer) { return state_.OutputOf(buffer); }};
  }

  void AdoptOf(std::int64_t device, absl::Span<const BufferId> arrays) {
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      const OperandInfo& info = state_.program().operand_infos[i];
      const bool written = info.role == Role::kOut || info.written || state_.arrivals().Lands({i, device});
      const CodeSite declared{kernel_.operands[i].loc, kernel_.operands[i].text_line};
      const bool holds_nothing = info.role == Role::kOut && info.alias < 0;
      if (arrays[i].valid()) machine_->operands().AdoptOf({device, i, written, holds_nothing, declared}, arrays[i]);
      const absl::Span<const BufferId> copies = state_.CopiesOfSecondCore(device);
      if (!copies.empty() && copies[i].valid())
        machine_->operands().AdoptOf({device, i, written, holds_nothing, declared, /*second_core=*/true}, copies[i]);
    }
  }

  // Threads come to the same places again and again.
  std::string PlaceOf(const CodeSite& site) {
    std::string& text = places_[{site.loc.value, site.text_line}];
    if (text.empty()) text = PlaceText(state_.module(), site.loc, site.text_line);
    return text;
  }

  agents::LaunchState& state_;
  const Kernel& kernel_;
  const agents::LaunchOptions& options_;
  std::int64_t devices_bound_ = 0;
  std::optional<threads::ThreadMachine> machine_;
  std::optional<threads::ThreadAccesses> accesses_;
  std::optional<threads::RepeatedWork> repeated_;
  std::optional<threads::ThreadTouches> touches_;  // of a search
  std::optional<threads::ThreadAgents> agents_;
  agents::LaunchLeft left_;
  absl::flat_hash_map<std::pair<std::int32_t, int>, std::string> places_;  // by place, and line of the text
};

}  // namespace

std::unique_ptr<AgentsOfLaunch> ThreadsOfLaunch(agents::LaunchState& state, const agents::LaunchOptions& options) {
  return std::make_unique<Threads>(state, options);
}

}  // namespace palladion::launch
