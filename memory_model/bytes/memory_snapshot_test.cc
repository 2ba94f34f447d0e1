// Memory comes back as it was: bytes, allocations at their places, findings.
#include <gtest/gtest.h>

#include <cstring>

#include "memory_model/bytes/memory.h"

namespace palladion::memory_model {
namespace {

BufferId Alloc(Memory& memory, std::int64_t elements) {
  const std::int64_t shape[] = {elements};
  return *memory.Alloc({.name = "b", .dtype = DType::kI32, .shape = shape});
}

TEST(MemorySnapshot, BytesAndPlacesComeBack) {
  Memory memory;
  const BufferId kept = Alloc(memory, 4), freed = Alloc(memory, 100);
  std::byte *const kept_at = memory.DataOf(kept), *const freed_at = memory.DataOf(freed);
  std::memset(kept_at, 1, 16);
  std::memset(freed_at, 2, 400);
  const std::shared_ptr<const Memory::Saved> saved = memory.Save();

  for (int round = 0; round < 3; ++round) {
    std::memset(kept_at, 3, 16);
    memory.Free(freed);
    // One of the two takes the place that was freed.
    for (int i = 0; i < 2; ++i) std::memset(memory.DataOf(Alloc(memory, 100)), 4, 400);
    EXPECT_EQ(freed_at[0], std::byte{4});
    memory.Report({.message = "found"});
    memory.Print("printed");
    memory.Restore(*saved);
    EXPECT_EQ(memory.DataOf(kept), kept_at);
    EXPECT_EQ(memory.DataOf(freed), freed_at);
    EXPECT_EQ(kept_at[15], std::byte{1});
    EXPECT_EQ(freed_at[399], std::byte{2});
    EXPECT_TRUE(memory.findings().empty());
    EXPECT_TRUE(memory.printed().empty());
  }
  // What was allocated since is free again, and no place is given twice.
  const BufferId a = Alloc(memory, 100), b = Alloc(memory, 100);
  EXPECT_NE(memory.DataOf(a), freed_at);
  EXPECT_NE(memory.DataOf(b), freed_at);
  EXPECT_NE(memory.DataOf(a), memory.DataOf(b));
}

TEST(MemorySnapshot, FreedMemoryIsKeptUnderALimit) {
  Memory memory(1024);
  const BufferId first = Alloc(memory, 128);  // 512 bytes
  std::byte* const at = memory.DataOf(first);
  const std::shared_ptr<const Memory::Saved> saved = memory.Save();
  memory.Free(first);
  const std::int64_t shape[] = {200};
  EXPECT_EQ(memory.Alloc({.name = "b", .dtype = DType::kI32, .shape = shape}).status().code(),
            absl::StatusCode::kResourceExhausted);
  memory.Restore(*saved);
  EXPECT_EQ(memory.DataOf(first), at);
}

TEST(MemorySnapshot, NothingIsBorrowedWhereOthersWrite) {
  Memory memory;
  const BufferId buffer = Alloc(memory, 4);
  BoxAccess box;
  box.buffer = buffer;
  box.rank = box.value_rank = 1;
  box.start[0] = box.lower[0] = 0;
  box.count[0] = box.upper[0] = 4;
  box.step[0] = 1;
  box.order[0] = 0;
  EXPECT_EQ(memory.Borrow(box), memory.DataOf(buffer));
  memory.NeverBorrow();
  EXPECT_EQ(memory.Borrow(box), nullptr);
}

}  // namespace
}  // namespace palladion::memory_model
