// Five small wrong programs, one for each way in which concurrent kernels go wrong (a missing wait, a ring without
// back-pressure, locks taken in opposite orders, an order that is only luck, a read and a write that should be one).
// `work` unrelated visible operations stand around the bug, so that a lucky switch is rare.
#ifndef PALLADION_SCHEDULER_TOY_BUGS_TEST_UTIL_H_
#define PALLADION_SCHEDULER_TOY_BUGS_TEST_UTIL_H_

#include <array>
#include <memory>
#include <string_view>

#include "scheduler/scenario_test_util.h"

namespace palladion::scheduler::test {

class ToyBug : public Scenario {
 public:
  // Did this run show the bug in what it computed? (A deadlock shows in the result of the run.)
  virtual bool Shown() const { return false; }
};

// An engine copies; the agent reads the destination without waiting for it.
class MissingWait final : public ToyBug {
 public:
  explicit MissingWait(int work) {
    Add([this, work](AgentContext& me) {
      me.Go({.footprint = Footprint::Writes(9)});
      const auto copy = [this](AgentContext& self) { destination.Write(self, 42); };
      me.Spawn(std::make_shared<CoroutineAgent>("copy", copy, AgentRole::kOperation),
               {.footprint = Footprint::Writes(1)});
      Work(me, 10, work);
      seen = destination.Read(me);
    });
    Add([work](AgentContext& me) { Work(me, 11, work); });
  }
  ~MissingWait() override { StopAgents(); }
  bool Shown() const override { return seen != 42; }

 private:
  Cell destination{1};
  std::int64_t seen = -1;
};

// A producer fills a ring of two slots without asking whether they are free.
class NoBackPressure final : public ToyBug {
 public:
  explicit NoBackPressure(int work) {
    Add([this, work](AgentContext& me) {
      for (int i = 0; i < kItems; ++i) {
        Work(me, 10, work / kItems);
        slots[static_cast<std::size_t>(i % 2)].Write(me, i);
        full.Signal(me);
      }
    });
    Add([this, work](AgentContext& me) {
      for (int i = 0; i < kItems; ++i) {
        full.Wait(me);
        Work(me, 11, work / kItems);
        wrong |= slots[static_cast<std::size_t>(i % 2)].Read(me) != i;
      }
    });
  }
  ~NoBackPressure() override { StopAgents(); }
  bool Shown() const override { return wrong; }

 private:
  static constexpr int kItems = 4;
  std::array<Cell, 2> slots{Cell(1), Cell(2)};
  Semaphore full{3, "full", 0};
  bool wrong = false;
};

class OppositeLocks final : public ToyBug {
 public:
  explicit OppositeLocks(int work) {
    Add([this, work](AgentContext& me) {
      Work(me, 10, work / 2), a.Wait(me), b.Wait(me), b.Signal(me), a.Signal(me), Work(me, 10, work / 2);
    });
    Add([this, work](AgentContext& me) {
      Work(me, 11, work / 2), b.Wait(me), a.Wait(me), a.Signal(me), b.Signal(me), Work(me, 11, work / 2);
    });
  }
  ~OppositeLocks() override { StopAgents(); }

 private:
  Semaphore a{0, "a", 1, {0, 1}}, b{1, "b", 1, {0, 1}};
};

// The second agent waits for the first, it seems; but the semaphore starts with a credit.
class MaskedCredit final : public ToyBug {
 public:
  explicit MaskedCredit(int work) {
    Add([this, work](AgentContext& me) { cell.Write(me, 1), ready.Signal(me), Work(me, 10, work); });
    Add([this, work](AgentContext& me) {
      Work(me, 11, work);
      ready.Wait(me);
      early = cell.Read(me) != 1;
    });
  }
  ~MaskedCredit() override { StopAgents(); }
  bool Shown() const override { return early; }

 private:
  Cell cell{1};
  Semaphore ready{2, "ready", 1};
  bool early = false;
};

// Two agents add one by a read and a write.
class SplitUpdate final : public ToyBug {
 public:
  explicit SplitUpdate(int work) {
    for (int i = 0; i < 2; ++i) {
      Add([this, i, work](AgentContext& me) {
        Work(me, 10 + i, work / 2);
        const std::int64_t value = cell.Read(me);
        cell.Write(me, value + 1);
        Work(me, 10 + i, work / 2);
      });
    }
  }
  bool Shown() const override { return cell.value() != 2; }

 private:
  Cell cell{1};
};

struct ToyBugRow {
  std::string_view name;
  std::unique_ptr<ToyBug> (*make)(int work);
};

template <class Bug>
std::unique_ptr<ToyBug> MakeBug(int work) {
  return std::make_unique<Bug>(work);
}

inline constexpr ToyBugRow kToyBugs[] = {
    {"missing wait", MakeBug<MissingWait>},     {"no back-pressure", MakeBug<NoBackPressure>},
    {"opposite locks", MakeBug<OppositeLocks>}, {"masked credit", MakeBug<MaskedCredit>},
    {"split update", MakeBug<SplitUpdate>},
};

}  // namespace palladion::scheduler::test

#endif  // PALLADION_SCHEDULER_TOY_BUGS_TEST_UTIL_H_
