// The list of observers of a launch: which is notified of what, and in which order.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "emu/kernel/prepared_kernel.h"
#include "emu/run/events.h"
#include "emu/run/launch/execution_mode.h"
#include "emu/run/launch/run.h"
#include "scheduler/policies/portfolio.h"
#include "semantics/base/cat.h"

namespace palladion::watch {
namespace {

using Log = std::vector<std::string>;

// Stores one element: its one visible step.
const char* const kStore =
    "pkir 1;\nkernel @k {\n  grid [1];\n  out %o: i32[];\n  body @k (%or: ref<default,i32[]>) {\n"
    "    _ = swap(%or, 1:i32) : i32[];\n    return;\n  }\n}\n";

class Recorder final : public run::Watcher {
 public:
  Recorder(std::string name, bool steps, Log* log) : name_(std::move(name)), steps_(steps), log_(log) {}
  memory_model::EventSet wants() const override {
    using enum memory_model::EventKind;
    return steps_ ? memory_model::EventSet{kStep, kTurn, kAccess} : memory_model::EventSet{kTurn, kAccess};
  }
  void Bound(memory_model::Memory&, absl::Span<const BufferId>) override { Say("bound"); }
  void Before(const Step& step, Frame&) override {
    if (step.visible) Say("before");
  }
  void After(const Step& step, Frame&) override {
    if (step.visible) Say("after");
  }
  void Finished(memory_model::Memory&, absl::Span<const BufferId>) override { Say("finished"); }
  void Running(const RunningAgent& now) override {
    if (now.begins) Say(Cat("runs ", now.id.value));
  }
  void Box(const Who&, AccessKind, const BoxAccess&, const memory_model::BoxReach&, const std::byte*) override {
    Say("store");
  }

 private:
  void Say(const std::string& what) { log_->push_back(Cat(name_, " ", what)); }
  const std::string name_;
  const bool steps_;
  Log* const log_;
};

// One that is handed to memory when operands are bound.
class Late final : public memory_model::MemoryWatcher {
 public:
  explicit Late(Log* log) : log_(log) {}
  memory_model::EventSet wants() const override { return {memory_model::EventKind::kAccess}; }
  void Box(const Who&, AccessKind, const BoxAccess&, const memory_model::BoxReach&, const std::byte*) override {
    log_->push_back("late store");
  }
  void Points(const Who&, AccessKind, const PointAccess&, const std::byte*) override {}

 private:
  Log* const log_;
};

Log RunWith(bool scheduled) {
  const absl::StatusOr<PreparedKernel> kernel = PrepareText(kStore, {.kernel = "", .target = "generic", .path = ""});
  EXPECT_TRUE(kernel.ok()) << kernel.status();
  std::int32_t o = 0;
  const MutableArray output{DType::kI32, {}, reinterpret_cast<std::byte*>(&o)};
  Log log;
  Late late(&log);
  run::BoundAndFinished first([&](memory_model::Memory& memory, absl::Span<const BufferId> arrays) {
    EXPECT_EQ(arrays.size(), 1u);
    memory.Observe(&late);
    log.push_back("first bound");
  });
  Recorder a("a", true, &log), b("b", false, &log), c("c", true, &log);
  agents::LaunchOptions launch{.observers = {&first, &a, &b, &c}};
  absl::Status status;
  if (scheduled) {
    launch.mode = launch::ExecutionModeOf(kernel->state().program(), {.purpose = launch::Purpose::kMoves});
    status = launch::Run({kernel->state(), {}, {&output, 1}}, launch,
                         *scheduler::MakePolicy(scheduler::PolicyOfSeed(0), 0, {}))
                 .status();
  } else {
    status = launch::Run({kernel->state(), {}, {&output, 1}}, launch).status();
  }
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(o, 1);
  return log;
}

TEST(Observers, AreNotifiedInTheOrderOfTheirList) {
  const Log expected = {"first bound", "a bound",  "b bound",  "c bound",    "a runs 0",   "b runs 0",
                        "c runs 0",    "a before", "c before", "a store",    "b store",    "c store",
                        "late store",  "a after",  "c after",  "a finished", "b finished", "c finished"};
  EXPECT_EQ(RunWith(false), expected);
  EXPECT_EQ(RunWith(true), expected) << "under a policy";
}

}  // namespace
}  // namespace palladion::watch
