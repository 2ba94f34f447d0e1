// Phases of barriers on a timeline. That a kernel's barriers come there: timing_test.cc.
#include "emu/timing/mosaic_gpu/barrier_lanes.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "memory_model/concurrency_model.h"
#include "semantics/base/cat.h"

namespace palladion::timing::mosaic_gpu {
namespace {

using scheduler::Ticks;
using timeline::kNoSpan;
using timeline::Span;
using timeline::Timeline;

class BarrierLanesTest : public testing::Test {
 protected:
  BarrierId Make(const std::string& name, std::int64_t arrivals) {
    return model_.MakeBarrier({.name = name, .num_arrivals = arrivals});
  }
  void Arrive(BarrierId id, Ticks at, std::int32_t by = kNoSpan) {
    model_.Arrive(agent_, id, {});
    lanes_.Saw({.id = id, .barrier = model_.Of(id), .name = model_.Of(id).spec().name, .born = {}, .at = at, .by = by});
  }
  // "lane: what, from-to", in the order of time.
  std::vector<std::string> Shown() {
    const Timeline timeline = recorder_.Take("SM 0", {1000});
    std::vector<std::string> shown;
    for (const Span& span : timeline.spans) {
      shown.push_back(Cat(timeline.lanes[static_cast<std::size_t>(span.lane)].name, ": ", span.what, ", ",
                          static_cast<std::int64_t>(span.begin.value()), "-",
                          static_cast<std::int64_t>(span.end.value())));
    }
    return shown;
  }

  memory_model::ConcurrencyModel model_;
  AgentId agent_ = model_.agents().Add("thread", {});
  timeline::TimelineRecorder recorder_{{.spans = 100}, 1};
  BarrierLanes lanes_{recorder_};
};

using Strings = std::vector<std::string>;

TEST_F(BarrierLanesTest, APhaseGoesFromCompletionToCompletion) {
  const BarrierId full = Make("full[0]", 1);
  Arrive(full, {10});
  Arrive(full, {30});
  EXPECT_EQ(Shown(), (Strings{"full[0]: full[0], phase 0, 0-10", "full[0]: full[0], phase 1, 10-30"}));
}

TEST_F(BarrierLanesTest, BelowItIsWhatHasNotArrived) {
  const BarrierId full = Make("full", 2);
  Arrive(full, {20});
  Arrive(full, {50});
  EXPECT_EQ(Shown(),
            (Strings{"full: full, phase 0, 0-50", "full: 2 of 2 pending, 0-20", "full: 1 of 2 pending, 20-50"}));
}

TEST_F(BarrierLanesTest, APhaseWithoutItsEndEndsWithTheBlock) {
  const BarrierId full = Make("full", 2);
  Arrive(full, {10});
  lanes_.Ends(full, {40});
  EXPECT_EQ(Shown(), (Strings{"full: full, phase 0, which did not complete, 0-40", "full: 2 of 2 pending, 0-10",
                              "full: 1 of 2 pending, 10-40"}));
}

TEST_F(BarrierLanesTest, ALaneGoesToTheNextBlockAndBlocksAtOnceHaveTheirOwn) {
  const BarrierId first = Make("full", 1), beside = Make("full", 1), later = Make("full", 1);
  Arrive(first, {10});
  Arrive(beside, {20});
  lanes_.Ends(first, {30});
  Arrive(later, {40});
  EXPECT_EQ(Shown(),
            (Strings{"full: full, phase 0, 0-10", "full, 2: full, phase 0, 0-20", "full: full, phase 0, 0-40"}));
}

TEST_F(BarrierLanesTest, WhoEndedAPhaseIsKnownAndItsSlot) {
  const std::int32_t copy =
      recorder_.RanBeside({.name = "copies in", .what = "x -> a[1]"}, {5}, {10}, {.text_line = 7});
  const BarrierId full = Make("full[1]", 1);
  lanes_.CountsFor(full, 1);
  Arrive(full, {10}, copy);
  const Timeline timeline = recorder_.Take("SM 0", {100});
  const Span& phase = timeline.spans[0];
  EXPECT_EQ(phase.kind, timeline::SpanKind::kPhase);
  EXPECT_EQ(phase.slot, 1);
  EXPECT_EQ(phase.text_line, 7);
  ASSERT_NE(phase.ended_by, kNoSpan);
  EXPECT_EQ(timeline.spans[static_cast<std::size_t>(phase.ended_by)].what, "x -> a[1]");
}

TEST_F(BarrierLanesTest, OneWithoutArrivalsHasNoLane) {
  const BarrierId full = Make("full", 1);
  lanes_.Saw({.id = full, .barrier = model_.Of(full), .name = "full", .born = {}, .at = {10}});
  EXPECT_TRUE(recorder_.Take("SM 0", {100}).lanes.empty());
}

}  // namespace
}  // namespace palladion::timing::mosaic_gpu
