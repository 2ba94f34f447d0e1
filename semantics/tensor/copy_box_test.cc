// Copies between strided boxes, of elements of every size: powers of two go in tiles, others byte by byte.
#include "semantics/tensor/copy_box.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace palladion {
namespace {

TEST(CopyBox, TransposesElementsOfEverySize) {
  constexpr std::int64_t kRows = 5, kColumns = 7;
  for (const std::int64_t size : {1, 2, 3, 4, 6, 8, 12, 16, 24}) {
    std::vector<std::byte> from(kRows * kColumns * size), to(from.size());
    for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i * 31 + i / 256);
    const CopyDim dims[] = {{ElementCount(kRows), ByteCount(kColumns * size), ByteCount(size)},
                            {ElementCount(kColumns), ByteCount(size), ByteCount(kRows * size)}};
    CopyBox(from.data(), to.data(), dims, ElementSize(size));
    for (std::int64_t i = 0; i < kRows * kColumns * size; ++i) {
      const std::int64_t element = i / size, row = element / kColumns, column = element % kColumns;
      ASSERT_EQ(from[i], to[(column * kRows + row) * size + i % size]) << "size " << size << ", byte " << i;
    }
  }
}

}  // namespace
}  // namespace palladion
