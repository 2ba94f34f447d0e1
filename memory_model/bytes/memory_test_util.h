// Requests by hand to a memory, for its tests: buffers over vectors, boxes of whole buffers, copies.
#ifndef PALLADION_MEMORY_MODEL_BYTES_MEMORY_TEST_UTIL_H_
#define PALLADION_MEMORY_MODEL_BYTES_MEMORY_TEST_UTIL_H_

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "memory_model/bytes/memory.h"

namespace palladion::memory_model {

using Floats = std::vector<float>;
using Ints = std::vector<std::int64_t>;

inline std::byte* Bytes(Floats& v) { return reinterpret_cast<std::byte*>(v.data()); }

class MemoryFixture : public testing::Test {
 protected:
  BufferId Adopt(Floats& data, Ints shape) {
    shape_ = std::move(shape);
    return memory_.Adopt({.name = "x", .dtype = DType::kF32, .shape = shape_}, Bytes(data));
  }

  // The window is the whole buffer.
  BoxAccess Box(BufferId buffer, const Ints& start, const Ints& count, const Ints& step) {
    BoxAccess box;
    box.buffer = buffer;
    box.rank = box.value_rank = static_cast<int>(start.size());
    for (std::size_t d = 0; d < start.size(); ++d) {
      box.start[d] = start[d];
      box.count[d] = count[d];
      box.step[d] = step[d];
      box.lower[d] = 0;
      box.upper[d] = shape_[d];
      box.order[d] = static_cast<std::uint8_t>(d);
    }
    box.outside = Outside::kError;
    box.site = {.loc = {}, .text_line = 7, .program = program_};
    return box;
  }

  // NaN is written as -1, so that vectors compare.
  Floats Load(const BoxAccess& box, std::size_t n) {
    Floats value(n, 99);
    memory_.Load(box, Bytes(value));
    for (float& v : value) v = std::isnan(v) ? -1 : v;
    return value;
  }

  void Store(const BoxAccess& box, Floats value) { memory_.Store(box, Bytes(value)); }

  static AsyncRequest CopyOf(const BoxAccess& from, const BoxAccess& to) {
    AsyncRequest copy;
    copy.sources.push_back({.where = from});
    copy.destinations.push_back({.where = to});
    return copy;
  }
  void Copy(const BoxAccess& from, const BoxAccess& to) { EXPECT_TRUE(memory_.Start(CopyOf(from, to)).ok()); }

  Memory memory_;
  Ints shape_;
  Ints program_ = {1, 2};
};

inline Floats Iota(int n) {
  Floats v;
  for (int i = 0; i < n; ++i) v.push_back(static_cast<float>(i));
  return v;
}

}  // namespace palladion::memory_model

#endif  // PALLADION_MEMORY_MODEL_BYTES_MEMORY_TEST_UTIL_H_
