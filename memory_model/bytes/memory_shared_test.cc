// Memories of several launches over the buffers of one run.
#include <gtest/gtest.h>

#include <array>

#include "memory_model/bytes/memory.h"

namespace palladion::memory_model {
namespace {

TEST(SharedBuffers, AnIdIsOneBufferOfTheRunOnItsDevice) {
  const std::shared_ptr<RunBuffers> buffers = std::make_shared<RunBuffers>();
  std::array<std::int32_t, 2> mine = {1, 2}, theirs = {3, 4};
  const std::array<std::int64_t, 1> shape = {2};
  auto first = std::make_unique<Memory>(buffers, 0, std::size_t{1} << 20);
  Memory second(buffers, 1, std::size_t{1} << 20);
  const AllocRequest request{.name = "a", .dtype = DType::kI32, .shape = shape, .loc = {}};
  const BufferId a = first->Adopt(request, reinterpret_cast<std::byte*>(mine.data()));
  const BufferId b = second.Adopt(request, reinterpret_cast<std::byte*>(theirs.data()));
  EXPECT_NE(a, b);
  EXPECT_EQ(0, second.DeviceOf(a));
  EXPECT_EQ(1, first->DeviceOf(b));
  EXPECT_EQ(reinterpret_cast<const std::byte*>(theirs.data()), first->DataOf(b)) << "whoever has the id reaches it";
  const absl::StatusOr<BufferId> owned = first->Alloc(request);
  ASSERT_TRUE(owned.ok()) << owned.status();
  first->Report({.message = "found"});
  EXPECT_TRUE(second.findings().empty()) << "what is found is each launch's own";
  first.reset();
  const absl::StatusOr<BufferId> again = second.Alloc(request);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(a, *again) << "what a launch has left goes with its memory";
  EXPECT_EQ(1, second.DeviceOf(*again));
  EXPECT_EQ(4, theirs[1]);
}

}  // namespace
}  // namespace palladion::memory_model
