#include "memory_model/bytes/definedness.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace palladion::memory_model {
namespace {

// A row of a box along the value's last dimension: dense in the value, every step-th element of the buffer.
struct Row {
  std::size_t value, buffer;  // first element
  std::int64_t step;          // in the buffer
  std::size_t count;
};

// Calls `row` for every row of what lies in the array, as long as it answers true.
template <class F>
void ForEachRow(absl::Span<const std::int64_t> shape, const BoxAccess& access, const BoxReach& reach, const F& row) {
  std::array<std::int64_t, kMaxBoxRank> stride;
  std::int64_t elements = 1;
  for (std::size_t d = shape.size(); d-- > 0;) stride[d] = elements, elements *= shape[d];
  std::int64_t buffer = 0, value = 0;
  for (std::size_t d = 0; d < shape.size(); ++d)
    buffer += (access.start[d] + reach.copy[d].begin * access.step[d]) * stride[d];
  const BoxLayout layout = LayoutOf(access, ElementSize(1));
  const auto rank = static_cast<std::size_t>(access.value_rank);
  std::array<std::int64_t, kMaxBoxRank> count, step, i{};
  for (std::size_t j = 0; j < rank; ++j) {
    const std::size_t d = access.order[j];
    count[j] = reach.copy[d].end - reach.copy[d].begin;
    step[j] = access.step[d] * stride[d];
    value += reach.copy[d].begin * layout.stride[j];
  }
  const std::size_t outer = rank == 0 ? 0 : rank - 1;
  const std::size_t n = rank == 0 ? 1 : static_cast<std::size_t>(count[outer]);
  const std::int64_t along = rank == 0 ? 1 : step[outer];
  while (true) {
    if (!row(Row{static_cast<std::size_t>(value), static_cast<std::size_t>(buffer), along, n})) return;
    std::size_t j = outer;
    while (j-- > 0) {
      value += layout.stride[j];
      buffer += step[j];
      if (++i[j] < count[j]) break;
      value -= i[j] * layout.stride[j];
      buffer -= i[j] * step[j];
      i[j] = 0;
    }
    if (j == static_cast<std::size_t>(-1)) return;
  }
}

}  // namespace

bool BufferDefinedness::AllDefined(absl::Span<const std::int64_t> shape, const BoxAccess& access,
                                   const BoxReach& reach) const {
  if (all_defined() || reach.none_copied) return true;
  if (marks_ == nullptr) return false;
  bool all = true;
  ForEachRow(shape, access, reach, [&](const Row& row) {
    if (row.step == 1) {  // the first is 0, and each is the one before it
      const DefinedMark* first = marks_.get() + row.buffer * unit_;
      return all = *first == 0 && std::memcmp(first, first + 1, row.count * unit_ - 1) == 0;
    }
    for (std::size_t i = 0; i < row.count && all; ++i)
      all = At(ElementCount(static_cast<std::int64_t>(row.buffer) + static_cast<std::int64_t>(i) * row.step)) == 0;
    return all;
  });
  return all;
}

void BufferDefinedness::SetAll(DefinedMark mark) {
  marks_.reset();
  whole_ = mark;
  unit_ = 1;
  undefined_ = 0;
}

void BufferDefinedness::Materialise() {
  if (marks_ != nullptr) return;
  marks_.reset(new DefinedMark[elements_]);
  std::fill_n(marks_.get(), elements_, whole_);
  undefined_ = whole_ == 0 ? 0 : elements_;
}

void BufferDefinedness::Refine() {
  Materialise();
  if (unit_ == element_bytes_) return;
  std::unique_ptr<DefinedMark[]> bytes(new DefinedMark[elements_ * element_bytes_]);
  for (std::size_t e = 0; e < elements_; ++e) std::fill_n(bytes.get() + e * element_bytes_, element_bytes_, marks_[e]);
  marks_ = std::move(bytes);
  unit_ = element_bytes_;
  undefined_ *= unit_;
}

void BufferDefinedness::DropIfDefined() {
  if (undefined_ == 0) SetAll(0);
}

DefinedMark BufferDefinedness::At(ElementCount at) const {
  if (marks_ == nullptr) return whole_;
  const std::size_t element = at.size();
  DefinedMark mark = 0;
  for (std::size_t k = 0; k < unit_; ++k) mark = MergeMarks(mark, marks_[element * unit_ + k]);
  return mark;
}

void BufferDefinedness::Put(std::size_t element, DefinedMark mark) {
  DefinedMark* at = MarksOf(element);
  undefined_ += (mark != 0 ? unit_ : 0) - CountMarks(at, unit_);
  std::fill_n(at, unit_, mark);
}

void BufferDefinedness::LoadBox(absl::Span<const std::int64_t> shape, const BoxAccess& access, const BoxReach& reach,
                                DefinedMark* value) const {
  if (reach.none_copied) return;
  ForEachRow(shape, access, reach, [&](const Row& row) {
    DefinedMark* out = value + row.value;
    if (marks_ == nullptr) {
      std::fill_n(out, row.count, whole_);
    } else if (unit_ == 1 && row.step == 1) {
      std::memcpy(out, marks_.get() + row.buffer, row.count);
    } else {
      for (std::size_t i = 0; i < row.count; ++i)
        out[i] = At(ElementCount(static_cast<std::int64_t>(row.buffer) + static_cast<std::int64_t>(i) * row.step));
    }
    return true;
  });
}

// Every element of the buffer, each once, and all lanes.
bool BufferDefinedness::Covers(absl::Span<const std::int64_t> shape, const BoxAccess& access,
                               const BoxReach& reach) const {
  if (!reach.all_copied || access.mask.lanes != nullptr) return false;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (access.count[d] != shape[d]) return false;
  }
  return true;
}

bool BufferDefinedness::StoreBox(absl::Span<const std::int64_t> shape, const BoxAccess& access, const BoxReach& reach,
                                 const DefinedMark* value) {
  if (reach.none_copied) return false;
  const std::uint8_t* lanes = access.mask.lanes;
  const DefinedMark* unsure = access.mask.lanes_undefined;
  if (value == nullptr && unsure == nullptr) {
    if (AllDefined(shape, access, reach)) return false;
    if (Covers(shape, access, reach)) {
      SetAll(0);
      return false;
    }
  }
  Materialise();
  std::size_t stored = 0;
  ForEachRow(shape, access, reach, [&](const Row& row) {
    if (unit_ == 1 && row.step == 1) {
      DefinedMark* to = MarksOf(row.buffer);
      const std::size_t before = CountMarks(to, row.count);
      StoreMarks(to, value == nullptr ? nullptr : value + row.value, lanes == nullptr ? nullptr : lanes + row.value,
                 unsure == nullptr ? nullptr : unsure + row.value, row.count);
      const std::size_t after =
          value == nullptr && lanes == nullptr && unsure == nullptr ? 0 : CountMarks(to, row.count);
      undefined_ += after - before;
      stored += after;
      return true;
    }
    for (std::size_t i = 0; i < row.count; ++i) {
      const std::size_t v = row.value + i;
      const DefinedMark mark = unsure == nullptr ? DefinedMark{0} : ComputedMark(unsure[v]);
      if (lanes != nullptr && lanes[v] == 0 && mark == 0) continue;
      const DefinedMark put = MergeMarks(mark, value == nullptr ? DefinedMark{0} : value[v]);
      Put(row.buffer + i * static_cast<std::size_t>(row.step), put);
      stored += put != 0 ? 1 : 0;
    }
    return true;
  });
  DropIfDefined();
  return stored != 0;
}

DefinedMark BufferDefinedness::LoadPiece(ByteCount first, ByteCount count) const {
  if (marks_ == nullptr) return whole_;
  const std::size_t offset = first.size(), bytes = count.size();
  DefinedMark mark = 0;
  if (unit_ == 1) {
    const std::size_t end = (offset + bytes + element_bytes_ - 1) / element_bytes_;
    for (std::size_t e = offset / element_bytes_; e < end; ++e) mark = MergeMarks(mark, marks_[e]);
    return mark;
  }
  for (std::size_t k = 0; k < bytes; ++k) mark = MergeMarks(mark, marks_[offset + k]);
  return mark;
}

void BufferDefinedness::StorePiece(ByteCount first, ByteCount count, DefinedMark mark) {
  if (marks_ == nullptr && whole_ == mark) return;
  const std::size_t offset = first.size(), bytes = count.size();
  if (bytes < element_bytes_) {
    Refine();
    undefined_ += (mark != 0 ? bytes : 0) - CountMarks(marks_.get() + offset, bytes);
    std::fill_n(marks_.get() + offset, bytes, mark);
  } else {
    Materialise();
    for (std::size_t at = offset; at < offset + bytes; at += element_bytes_) Put(at / element_bytes_, mark);
  }
  DropIfDefined();
}

}  // namespace palladion::memory_model
