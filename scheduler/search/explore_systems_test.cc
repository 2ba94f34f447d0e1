// Small random systems, with all that an operation may be: the search that leaves schedules out ends in the same ways
// as every interleaving does. Each rule of the search carries weight: without it some system here loses a way.
// PALLADION_EXPLORE_SYSTEMS: how many systems (300).
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <set>
#include <string>

#include "scheduler/policies/random.h"
#include "scheduler/search/explore.h"
#include "semantics/base/cat.h"

namespace palladion::scheduler::test {
namespace {

enum class Does : std::uint8_t {
  kRead,
  kWrite,
  kSignal,  // a semaphore, by one
  kTake,    // waits for one, and takes it
  kAwait,   // waits for one, and leaves it
  kArrive,  // at a barrier of two arrivals; commutes with the other arrivals of its phase but the last
  kPass,    // waits for the next phase of the barrier
  kAlloc,   // what the first that comes there makes: it takes the next place, and clears a cell
  kMeet,    // all agents, which should do the same
  kPart,    // waits until all have met
  kStart,   // an engine, which writes a cell and then signals a semaphore
};

struct Op {
  Does does = Does::kRead;
  std::int64_t object = 0;
};
using System = std::vector<std::vector<Op>>;  // of each agent

constexpr std::int64_t kObjects = 2, kSemaphores = 10, kBarriers = 20, kEnds = 30, kMeeting = 40, kScopes = 50,
                       kArrivals = 2;

// What the agents share, and the touches of the current operation.
struct World {
  std::array<std::int64_t, kObjects> cells{}, counts{}, arrived{}, completed{};
  std::vector<std::string> saw;  // of each agent; an engine shows in what it writes
  // Agents and engines that have not ended. The last agent's end takes the cells away, whichever that is: what they
  // held then, and how often an engine has written to one since.
  std::int64_t running = 0, engines = 0, late = 0;
  std::string left;
  std::array<std::int64_t, kObjects> places{};  // 0: it is not there
  std::int64_t made = 0, agents = 0, met = 0, ended = 0;
  std::vector<std::int64_t> met_as;  // of the current meeting
  bool mismatched = false;
  Touches touched;
};

class SystemAgent final : public Agent, private Condition {
 public:
  SystemAgent(std::vector<Op> ops, int number, World& world, bool engine = false)
      : ops_(std::move(ops)), number_(number), world_(world), engine_(engine) {}

  absl::Status Resume(Gate& gate) override {
    for (; state_.at < ops_.size(); ++state_.at) {
      const Op& op = ops_[state_.at];
      if (!gate.MayGo(OperationOf(op))) return absl::OkStatus();
      Do(op, gate);
      if (state_.at + 1 == ops_.size()) engine_ ? static_cast<void>(--world_.engines) : End();
    }
    return absl::OkStatus();
  }
  bool done() const override { return state_.at == ops_.size(); }
  std::string Name() const override { return Cat("agent ", number_); }
  absl::StatusOr<std::shared_ptr<const void>> Save() const override {
    return std::shared_ptr<const void>(std::make_shared<State>(state_));
  }
  void Restore(const void* saved) override { state_ = *static_cast<const State*>(saved); }

  Operation OperationOf(const Op& op) {
    const bool waits =
        op.does == Does::kTake || op.does == Does::kAwait || op.does == Does::kPass || op.does == Does::kPart;
    Operation operation{.footprint = Footprint::Writes(ObjectOf(op)), .waits_for = waits ? this : nullptr};
    if (op.does == Does::kStart) operation.footprint = {};
    return operation;
  }
  Operation First() { return OperationOf(ops_[0]); }

 private:
  struct State {
    std::size_t at = 0;
    std::array<std::int64_t, kObjects> seen{};  // phases
    std::int64_t meetings = 0;
  };

  static std::int64_t ObjectOf(const Op& op) {
    if (op.does == Does::kRead || op.does == Does::kWrite || op.does == Does::kStart) return op.object;
    if (op.does == Does::kMeet || op.does == Does::kPart) return kMeeting;
    if (op.does == Does::kAlloc) return kScopes;
    return op.object + (op.does == Does::kArrive || op.does == Does::kPass ? kBarriers : kSemaphores);
  }

  bool Ready() const override {
    const Op& op = ops_[state_.at];
    const auto i = static_cast<std::size_t>(op.object);
    if (op.does == Does::kPart) return world_.met >= state_.meetings;
    return op.does == Does::kPass ? world_.completed[i] > state_.seen[i] : world_.counts[i] > 0;
  }
  std::string Describe() const override { return "its count"; }
  bool MaySignal(AgentOrdinal) const override { return true; }
  std::optional<Need> Needs() const override {
    const Op& op = ops_[state_.at];
    if (op.does == Does::kPart) return std::nullopt;
    const std::int64_t seen = state_.seen[static_cast<std::size_t>(op.object)];
    return Need{ObjectOf(op), op.does == Does::kPass ? seen + 1 : 1};
  }

  void Do(const Op& op, Gate& gate) {
    const auto i = static_cast<std::size_t>(op.object);
    Touched touched{{.object = ObjectOf(op)}};
    switch (op.does) {
      case Does::kRead:
        touched.writes = false;
        Append(&world_.saw[static_cast<std::size_t>(number_)], world_.cells[i], " ");
        break;
      case Does::kWrite:
        world_.cells[i] = 10 * number_ + static_cast<std::int64_t>(state_.at) + 1;
        world_.late += !world_.left.empty();
        break;
      case Does::kSignal:
        touched.held = world_.counts[i]++;
        break;
      case Does::kTake:
        touched.held = world_.counts[i]--;
        break;
      case Does::kAwait:
        touched.writes = false;
        break;
      case Does::kArrive:
        Arrive(i, &touched);
        break;
      case Does::kPass:
        touched.writes = false;
        state_.seen[i] = world_.completed[i];
        Append(&world_.saw[static_cast<std::size_t>(number_)], "phase ", world_.completed[i], " ");
        break;
      case Does::kAlloc:
        return Alloc(i);
      case Does::kMeet:
        return Meet(op.object);
      case Does::kPart:
        touched.writes = false;
        touched.first = touched.last = 1;
        break;
      case Does::kStart: {
        auto engine = std::make_shared<SystemAgent>(std::vector<Op>{{Does::kWrite, op.object}, {Does::kSignal, 0}},
                                                    number_ + 1 + static_cast<int>(state_.at), world_, true);
        ++world_.engines;
        const Operation first = engine->First();
        gate.Spawn(std::move(engine), first);
        return;
      }
    }
    world_.touched.Add(touched);
  }

  void Arrive(std::size_t barrier, Touched* touched) {
    touched->held = world_.completed[barrier];
    const std::int64_t left = kArrivals - ++world_.arrived[barrier];
    touched->commutes = left > 0 ? 1 : 0;
    touched->turns = left == 1;
    if (left > 0) return;
    world_.arrived[barrier] = 0;
    ++world_.completed[barrier];
  }

  void Alloc(std::size_t name) {
    Touched found{{.object = kScopes}};
    found.first = found.last = 1 + static_cast<std::int64_t>(name);
    found.writes = world_.places[name] == 0;
    world_.touched.Add(found);
    if (world_.places[name] == 0) {
      world_.places[name] = ++world_.made;
      world_.cells[name] = 0;
      world_.touched.Add({{.object = kScopes, .first = 0, .last = 0}});
      world_.touched.Add({{.object = static_cast<std::int64_t>(name)}});
    }
    Append(&world_.saw[static_cast<std::size_t>(number_)], "place ", world_.places[name], " ");
  }

  void Meet(std::int64_t as) {
    Touched comes{{.object = kMeeting, .first = 0, .last = 0}};
    comes.commutes = 10 + as;
    ++state_.meetings;
    world_.met_as.push_back(as);
    world_.mismatched |= as != world_.met_as[0];
    comes.closes = static_cast<std::int64_t>(world_.met_as.size()) == world_.agents;
    world_.mismatched |= !comes.closes && world_.ended > 0;
    world_.touched.Add(comes);
    if (!comes.closes) return;
    world_.met_as.clear();
    ++world_.met;
    Closing({{.object = kMeeting, .first = 1, .last = 1}});
  }

  void Closing(Touched touched) {
    touched.closing = true;
    world_.touched.Add(touched);
  }

  // Part of the agent's last operation.
  void End() {
    const bool last = --world_.running == 0, open = world_.engines > 0;
    Touched ends{{.object = kEnds}};
    ends.commutes = !last || !open ? 2 : 0;
    ends.turns = open;
    ends.closes = last;
    world_.touched.Add(ends);
    Touched left{{.object = kMeeting}};
    left.commutes = 2;
    world_.touched.Add(left);
    ++world_.ended;
    world_.mismatched |= !world_.met_as.empty();
    if (!last) return;
    for (const std::int64_t kind : {std::int64_t{0}, kSemaphores, kBarriers}) {
      for (std::int64_t i = 0; i < kObjects; ++i) Closing({{.object = kind + i}});
    }
    for (const std::int64_t cell : world_.cells) Append(&world_.left, cell, " ");
  }

  const std::vector<Op> ops_;
  const int number_;
  World& world_;
  const bool engine_;
  State state_;
};

class Running final : public Explorable, private AgentSource {
 public:
  explicit Running(const System& system) {
    world.saw.resize(system.size() + 8);
    world.running = world.agents = static_cast<std::int64_t>(system.size());
    for (std::size_t a = 0; a < system.size(); ++a)
      agents_.push_back(std::make_unique<SystemAgent>(system[a], static_cast<int>(a), world));
  }
  AgentSource& agents() override { return *this; }
  absl::StatusOr<std::shared_ptr<const void>> Save() const override {
    return std::shared_ptr<const void>(std::make_shared<World>(world));
  }
  void Restore(const void* saved) override { world = *static_cast<const World*>(saved); }
  std::optional<Touches> TakeTouched() override { return std::exchange(world.touched, {}); }
  World world;

 private:
  absl::StatusOr<Agent*> Next() override { return next_ < agents_.size() ? agents_[next_++].get() : nullptr; }
  std::vector<std::unique_ptr<SystemAgent>> agents_;
  std::size_t next_ = 0;
};

struct Ends {
  std::set<std::string> ways;
  Explored explored;
};

Ends EndsOf(const System& system, const ExploreOptions& options) {
  Ends ends;
  const auto make = [&]() -> absl::StatusOr<std::unique_ptr<Explorable>> { return std::make_unique<Running>(system); };
  const auto visit = [&](Explorable& running, const LoopResult& result) -> absl::StatusOr<bool> {
    const World& world = static_cast<Running&>(running).world;
    std::string way = result.outcome == Outcome::kDeadlock ? "deadlock " : "";
    for (const auto* numbers : {&world.cells, &world.counts, &world.arrived, &world.completed}) {
      for (const std::int64_t number : *numbers) Append(&way, number, " ");
    }
    for (const std::string& saw : world.saw) Append(&way, "| ", saw);
    Append(&way, "made ", world.made, " met ", world.met, world.mismatched ? " not alike " : " ");
    for (const std::int64_t place : world.places) Append(&way, place, " ");
    Append(&way, "left ", world.left, "late ", world.late);
    ends.ways.insert(way);
    return true;
  };
  const absl::StatusOr<Explored> explored = Explore(make, options, visit);
  EXPECT_TRUE(explored.ok()) << explored.status();
  if (explored.ok()) ends.explored = *explored;
  return ends;
}

System RandomSystem(Random& random) {
  System system(2 + random.Below(2));
  for (std::vector<Op>& agent : system) {
    for (std::uint64_t n = 1 + random.Below(system.size() == 2 ? 5 : 3); n > 0; --n) {
      const auto does = static_cast<Does>(random.Below(static_cast<std::uint64_t>(Does::kStart) + 1));
      agent.push_back({does, static_cast<std::int64_t>(random.Below(kObjects))});
    }
  }
  return system;
}

std::string Text(const System& system) {
  std::string text;
  for (const std::vector<Op>& agent : system) {
    for (const Op& op : agent) Append(&text, static_cast<int>(op.does), "@", op.object, " ");
    Append(&text, "/ ");
  }
  return text;
}

TEST(ExploreSystems, EveryWayToEndIsFound) {
  const char* const wanted = std::getenv("PALLADION_EXPLORE_SYSTEMS");
  const int systems = wanted == nullptr ? 300 : std::atoi(wanted);
  Random random(7);
  std::int64_t schedules = 0, all_schedules = 0, pruned = 0, deadlocks = 0;
  for (int i = 0; i < systems; ++i) {
    const System system = RandomSystem(random);
    const Ends all = EndsOf(system, {.reduce = false, .max_schedules = 200'000});
    if (!all.explored.complete) continue;
    const Ends fewer = EndsOf(system, {});
    ASSERT_EQ(fewer.ways, all.ways) << "system " << i << ": " << Text(system);
    const Ends again = EndsOf(system, {.snapshots = false});
    EXPECT_EQ(again.explored.schedules, fewer.explored.schedules) << "system " << i << ": " << Text(system);
    EXPECT_EQ(again.ways, all.ways) << "system " << i << ": " << Text(system);
    schedules += fewer.explored.schedules;
    all_schedules += all.explored.schedules;
    pruned += fewer.explored.pruned;
    deadlocks += all.ways.rbegin()->rfind("deadlock", 0) == 0;
  }
  EXPECT_LT(20 * schedules, all_schedules);
  EXPECT_LT(pruned, schedules);
  EXPECT_GT(deadlocks, systems / 10);
  RecordProperty("schedules", std::to_string(schedules));
  RecordProperty("interleavings", std::to_string(all_schedules));
  RecordProperty("pruned", std::to_string(pruned));
}

}  // namespace
}  // namespace palladion::scheduler::test
