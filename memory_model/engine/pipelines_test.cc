// What a product follows in a tensor core without a wait, and what it does not.
#include "memory_model/engine/pipelines.h"

#include "gtest/gtest.h"

namespace palladion::memory_model {
namespace {

constexpr AgentId kThread{1}, kOther{2};

AsyncRequest Product(std::int64_t column, std::string kind = "f16 f16") {
  AsyncRequest request{.name = "tcgen05_mma", .pipelined = Pipelined{Pipelined::Stage::kProduct, std::move(kind)}};
  BoxAccess box{.buffer = BufferId{7}, .rank = 2};
  box.start = {0, column};
  box.count = {128, 64};
  box.step = {1, 1};
  request.destinations.push_back({.where = box, .proxy = Proxy::kTensorCore});
  return request;
}

AsyncRequest Copy() { return {.name = "copy", .pipelined = Pipelined{}}; }

class PipelinesTest : public testing::Test {
 protected:
  // `knows`: what the issuer knows the tensor core's way. What the operation follows.
  std::vector<AgentId> Start(const AsyncRequest& request, AgentId issuer, std::uint32_t time, ClockBundle knows) {
    const AgentId operation{kFirstOperation + started_++};
    knows.RaiseTensorCore({issuer, time});
    std::vector<AgentId> follows = pipelines_.Follow(request, Place(), &knows);
    known_ = knows;
    ClockBundle released = knows;
    released.Raise({operation, 2});
    pipelines_.Add(request, {operation, {issuer, time}, issuer, Place()}, released);
    return follows;
  }

  Pipelines pipelines_;
  ClockBundle known_;  // by the last operation
  std::int32_t started_ = 0;
};

TEST_F(PipelinesTest, AProductFollowsThoseIntoItsAccumulator) {
  Start(Product(0), kThread, 1, {});
  EXPECT_EQ(std::vector{AgentId{kFirstOperation}}, Start(Product(0), kThread, 2, {}));
  EXPECT_TRUE(known_[ClockPart::kGeneric].Covers({AgentId{kFirstOperation}, 2}));
  EXPECT_EQ(std::vector{AgentId{kFirstOperation + 1}}, Start(Product(0), kThread, 3, {}));  // and by that the first
  EXPECT_TRUE(known_[ClockPart::kGeneric].Covers({AgentId{kFirstOperation}, 2}));
}

TEST_F(PipelinesTest, NotOfAnotherViewOrKind) {
  Start(Product(0), kThread, 1, {});
  EXPECT_TRUE(Start(Product(64), kThread, 2, {}).empty());
  EXPECT_TRUE(Start(Product(0, "f8e4m3fn f8e4m3fn"), kThread, 3, {}).empty());
}

TEST_F(PipelinesTest, AProductFollowsAllCopiesAndACopyNothing) {
  Start(Copy(), kThread, 1, {});
  Start(Product(0), kThread, 2, {});
  EXPECT_TRUE(Start(Copy(), kThread, 3, {}).empty());
  EXPECT_EQ((std::vector{AgentId{kFirstOperation}, AgentId{kFirstOperation + 2}}), Start(Product(64), kThread, 4, {}));
}

TEST_F(PipelinesTest, OnlyThoseWhoseIssueItsIssuerKnows) {
  Start(Product(0), kThread, 3, {});
  EXPECT_TRUE(Start(Product(0), kOther, 1, {}).empty());
  ClockBundle earlier, released;
  earlier.RaiseTensorCore({kThread, 2});
  EXPECT_EQ(std::vector{AgentId{kFirstOperation + 1}}, Start(Product(0), kOther, 2, earlier));  // its own
  released.RaiseTensorCore({kThread, 3});
  EXPECT_EQ((std::vector{AgentId{kFirstOperation}, AgentId{kFirstOperation + 2}}),
            Start(Product(0), kOther, 3, released));
  ClockBundle generic;
  generic.RaiseGeneric({kThread, 3});
  Start(Product(128), kThread, 3, {});
  EXPECT_TRUE(Start(Product(128), kOther, 4, generic).empty());
}

// A thread that is ordered after the first product only, before or after the second one is issued.
TEST_F(PipelinesTest, AnotherThreadMayKnowOfTheFirstAndNotOfTheSecond) {
  Start(Product(0), kThread, 1, {});
  Start(Product(0), kThread, 2, {});
  ClockBundle of_first, of_both;
  of_first.RaiseTensorCore({kThread, 1});
  of_both.RaiseTensorCore({kThread, 2});
  EXPECT_EQ(std::vector{AgentId{kFirstOperation}}, Start(Product(0), kOther, 1, of_first));
  EXPECT_FALSE(known_[ClockPart::kGeneric].Covers({AgentId{kFirstOperation + 1}, 2}));
  EXPECT_EQ(std::vector{AgentId{kFirstOperation + 1}}, Start(Product(0), AgentId{3}, 1, of_both));
  EXPECT_TRUE(known_[ClockPart::kGeneric].Covers({AgentId{kFirstOperation}, 2}));
  EXPECT_FALSE(known_[ClockPart::kGeneric].Covers({AgentId{kFirstOperation + 2}, 2}));
}

TEST_F(PipelinesTest, ForgetsWhoIsGone) {
  Start(Product(0), kThread, 1, {});
  Start(Copy(), kOther, 1, {});
  const std::vector<AgentId> live = {AgentId{kFirstOperation}, AgentId{kFirstOperation + 1}};
  Remaining remaining(live);
  pipelines_.Forget([](AgentId owner) { return owner == kThread; }, remaining);
  ClockBundle released;
  released.RaiseTensorCore({kThread, 1});
  released.RaiseTensorCore({kOther, 1});
  EXPECT_EQ(std::vector{AgentId{kFirstOperation + 1}}, Start(Product(0), AgentId{3}, 1, released));
}

}  // namespace
}  // namespace palladion::memory_model
