// Copies that memory carries out where they are asked for, and what it has no engines for.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "memory_model/bytes/memory.h"
#include "memory_model/bytes/memory_test_util.h"

namespace palladion::memory_model {
namespace {

class MemoryCopyTest : public MemoryFixture {};

TEST_F(MemoryCopyTest, ACopyWhoseSourceIsPartlyPadding) {
  Floats from = Iota(5), to = Floats(4, 7);
  const BufferId x = Adopt(from, {5});
  BoxAccess source = Box(x, {3}, {4}, {1});
  source.outside = Outside::kPad;
  source.upper[0] = 8;
  shape_ = {4};
  const BufferId y = memory_.Adopt({.name = "y", .dtype = DType::kF32, .shape = shape_}, Bytes(to));
  const BoxAccess destination = Box(y, {0}, {4}, {1});
  Copy(source, destination);
  EXPECT_TRUE(memory_.Wait({.kind = WaitTarget::Kind::kQueue, .object = {}, .queue = AsyncQueue::kBlocks}, {}).ok());
  EXPECT_EQ(3, to[0]);
  EXPECT_EQ(4, to[1]);
  EXPECT_TRUE(std::isnan(to[2]) && std::isnan(to[3]));
  to = {30, 40, 50, 60};
  Copy(destination, source);
  EXPECT_EQ((Floats{0, 1, 2, 30, 40}), from);
  EXPECT_TRUE(memory_.findings().empty());
}

TEST_F(MemoryCopyTest, ACopyBetweenTwoStridedBoxes) {
  Floats from = Iota(8), to(8, 0);
  const BufferId x = Adopt(from, {8});
  const BufferId y = memory_.Adopt({.name = "y", .dtype = DType::kF32, .shape = shape_}, Bytes(to));
  const BoxAccess source = Box(x, {1}, {3}, {2}), destination = Box(y, {0}, {3}, {3});
  Copy(source, destination);
  EXPECT_EQ((Floats{1, 0, 0, 3, 0, 0, 5, 0}), to);
}

// What an engine is asked for, in the order of the calls.
class Calls final : public MemoryWatcher {
 public:
  EventSet wants() const override {
    return {EventKind::kAccess, EventKind::kIssue, EventKind::kHalf, EventKind::kWait};
  }
  void Issued(const Who& who, const AsyncRequest& request) override {
    text += who.at_once ? "here " : "later ";
    text += request.name + ": ";
    operations.push_back(who.operation);
  }
  void HalfDone(const Who& who) override {
    text += "done ";
    operations.push_back(who.operation);
  }
  void Awaited(const Who&, const WaitTarget&) override { text += "awaited"; }
  void Box(const Who& who, AccessKind kind, const BoxAccess&, const BoxReach&, const std::byte*) override {
    text += kind == AccessKind::kRead ? "read " : "write ";
    operations.push_back(who.operation);
    EXPECT_EQ(kind == AccessKind::kRead ? Half::kRead : Half::kWrite, who.half);
  }
  void Points(const Who&, AccessKind, const PointAccess&, const std::byte*) override {}
  std::string text;
  std::vector<AgentId> operations;
};

TEST_F(MemoryCopyTest, ACopyIsCompleteWhenItHasBeenIssuedAndLeavesItsRequest) {
  Calls calls;
  memory_.Observe(&calls);
  Floats from = Iota(4), to(4, 0);
  const BufferId x = Adopt(from, {4});
  const BufferId y = memory_.Adopt({.name = "y", .dtype = DType::kF32, .shape = shape_}, Bytes(to));
  AsyncRequest copy = CopyOf(Box(x, {0}, {4}, {1}), Box(y, {0}, {4}, {1}));
  copy.queue = memory_.QueueOf(AsyncQueue::kBlocks);
  ASSERT_TRUE(memory_.Start(std::move(copy)).ok());
  EXPECT_EQ(from, to);
  ASSERT_TRUE(memory_.Wait({.kind = WaitTarget::Kind::kQueue, .object = {}, .queue = AsyncQueue::kBlocks}, {}).ok());
  EXPECT_EQ("here copy: read done write done awaited", calls.text);
  EXPECT_EQ(std::vector<AgentId>(5, AgentId{kFirstOperation}), calls.operations);
  ASSERT_EQ(1u, copy.sources.size());  // NOLINT: it is not taken
  EXPECT_EQ(x, copy.sources[0].buffer());
}

TEST_F(MemoryCopyTest, WhatNeedsAnEngineOrAnotherAgentIsAnError) {
  Floats from = Iota(4), to(4, 0);
  const BufferId x = Adopt(from, {4});
  const BufferId y = memory_.Adopt({.name = "y", .dtype = DType::kF32, .shape = shape_}, Bytes(to));
  AsyncRequest product = CopyOf(Box(x, {0}, {4}, {1}), Box(y, {0}, {4}, {1}));
  product.name = "wgmma";
  product.site.text_line = 7;
  product.function = [](const auto&, auto*) {};
  const absl::Status started = memory_.Start(std::move(product));
  EXPECT_EQ(absl::StatusCode::kUnimplemented, started.code());
  EXPECT_EQ("line 7 asks for an asynchronous wgmma, and this launch has memory alone; expected one over threads",
            started.message());
  EXPECT_EQ(Floats(4, 0), to);
  EXPECT_FALSE(memory_.Wait({.kind = WaitTarget::Kind::kBarrier, .object = {}}, {}).ok());
  EXPECT_FALSE(memory_.Wait({.kind = WaitTarget::Kind::kQueue, .object = {}, .queue = AsyncQueue::kStores}, {}).ok());
  const auto barrier = memory_.AllocSync(
      {.name = "full", .shape = {}, .axes = {}, .place = {}, .site = {.loc = {}, .text_line = 3, .program = {}}});
  EXPECT_EQ("line 3 asks for the barrier 'full', and this launch has memory alone; expected one over threads",
            barrier.status().message());
  EXPECT_FALSE(memory_.Make(Fence::kSharedToAsync, {}).ok());
  EXPECT_FALSE(memory_.Arrive({.at = {.kind = WaitTarget::Kind::kMeeting}, .what = "run_scoped"}, {}).ok());
  EXPECT_FALSE(memory_.Poll({.kind = WaitTarget::Kind::kSemaphore}, {}).ok());
  EXPECT_FALSE(memory_.Spawn({.first = 0, .count = 4}, {}).ok());
  EXPECT_FALSE(memory_.CommitGroup(AsyncQueue::kStores, {}).ok());
  const PeerCoordinate peer[] = {{0, 1}};
  EXPECT_EQ(x, memory_.PeerBuffer(x, peer, {}));
  EXPECT_EQ(FindingCode::kPeerLifetime, memory_.findings()[0].code);
}

// Only outputs remember the stores to them: for scratch memory, and for a copy between arrays on another machine, the
// writer is not known.
TEST_F(MemoryCopyTest, UndefinedDataInAnOutputWasStoredByTheCopyThatBroughtItThere) {
  memory_.TrackDefinedness();
  shape_ = {4};
  const BufferId never = *memory_.Alloc({.name = "never", .dtype = DType::kF32, .shape = shape_});
  const BufferId scratch = *memory_.Alloc({.name = "scratch", .dtype = DType::kF32, .shape = shape_});
  const BufferId output = *memory_.Alloc({.name = "output", .dtype = DType::kF32, .shape = shape_, .is_output = true});
  const auto whole = [&](BufferId buffer, int line) {
    BoxAccess box = Box(buffer, {0}, {4}, {1});
    box.site.text_line = line;
    return box;
  };
  Definedness defined;
  Floats value(4);
  BoxAccess load = whole(never, 3), store = whole(scratch, 4);
  load.defined = store.defined = &defined;
  memory_.Load(load, Bytes(value));
  memory_.Store(store, Bytes(value));
  Copy(whole(scratch, 5), whole(output, 5));
  EXPECT_EQ(4, memory_.ReportUndefinedOutput(output, "", {}));
  ASSERT_EQ(1u, memory_.findings().size());
  EXPECT_EQ(5, memory_.findings()[0].text_line) << memory_.findings()[0].message;
}

}  // namespace
}  // namespace palladion::memory_model
