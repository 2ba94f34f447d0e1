// An array under a sweep, and requests to it by hand.
#ifndef PALLADION_MEMORY_MODEL_SWEEP_SWEEP_TEST_UTIL_H_
#define PALLADION_MEMORY_MODEL_SWEEP_SWEEP_TEST_UTIL_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "memory_model/sweep/sweep.h"

namespace palladion::memory_model::sweep_test {

using Ints = std::vector<std::int64_t>;

// An array of i32 under a sweep.
class Swept {
 public:
  Swept(Ints shape, std::vector<TaskDim> dims, Sweep::Sharing sharing = Sweep::Sharing::kShared)
      : shape_(std::move(shape)), sweep_(std::move(dims)) {
    std::int64_t elements = 1;
    for (std::int64_t size : shape_) elements *= size;
    data_.assign(static_cast<std::size_t>(elements), 0);
    value_.assign(static_cast<std::size_t>(elements), 0);
    memory_.Observe(&sweep_);
    buffer_ =
        memory_.Adopt({.name = "x", .dtype = DType::kI32, .shape = shape_}, reinterpret_cast<std::byte*>(data_.data()));
    sweep_.Watch(memory_, buffer_, sharing);
  }

  void Begin(Ints program) { memory_.Running({.id = {}, .index = program_ = std::move(program), .begins = true}); }

  BoxAccess Box(const Ints& start, const Ints& count, const Ints& step = {}) {
    BoxAccess box;
    box.buffer = buffer_;
    box.rank = box.value_rank = static_cast<int>(start.size());
    for (std::size_t d = 0; d < start.size(); ++d) {
      box.start[d] = start[d];
      box.count[d] = count[d];
      box.step[d] = step.empty() ? 1 : step[d];
      box.lower[d] = -1000;
      box.upper[d] = 1000;
      box.order[d] = static_cast<std::uint8_t>(d);
    }
    box.site = {.loc = {}, .text_line = line_, .program = program_};
    return box;
  }

  void Read(const BoxAccess& box) { memory_.Load(box, Value()); }
  void Write(const BoxAccess& box) { memory_.Store(box, Value()); }
  void Do(AccessKind kind, const BoxAccess& box) { kind == AccessKind::kRead ? Read(box) : Write(box); }

  void Do(AccessKind kind, const Ints& offset, std::size_t piece = 4, const std::uint8_t* lanes = nullptr) {
    const PointAccess points{.buffer = buffer_,
                             .offset = offset,
                             .piece_bytes = piece,
                             .pieces_per_element = 1,
                             .mask = {.lanes = lanes, .other = nullptr},
                             .site = {.loc = {}, .text_line = line_, .program = program_}};
    std::vector<std::byte> value(offset.size() * piece);
    const AtomicFn keep = [](const std::byte*, const std::byte*, const std::byte*, std::byte*) {};
    if (kind == AccessKind::kRead) memory_.Load(points, value.data());
    if (kind == AccessKind::kWrite) memory_.Store(points, value.data());
    if (kind == AccessKind::kAtomic) memory_.Atomic(points, keep, value.data(), nullptr, nullptr);
  }

  void At(int line) { line_ = line; }
  const std::vector<SweepConflict>& conflicts() const { return sweep_.conflicts(); }
  const Sweep& sweep() const { return sweep_; }

 private:
  std::byte* Value() { return reinterpret_cast<std::byte*>(value_.data()); }

  Ints shape_, program_ = {0};
  std::vector<std::int32_t> data_, value_;
  Memory memory_;
  Sweep sweep_;
  BufferId buffer_;
  int line_ = 1;
};

}  // namespace palladion::memory_model::sweep_test

#endif  // PALLADION_MEMORY_MODEL_SWEEP_SWEEP_TEST_UTIL_H_
