#include "emu/run/launch/last_writes.h"

#include <algorithm>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "memory_model/sets/region.h"

namespace palladion::launch {
namespace {

constexpr std::size_t kUsualRank = 8;  // tiled shapes have six dimensions

// The weight of index i of a dimension is this at i + 1 less this at i, so sums of neighbours are one difference.
std::uint64_t Upto(std::size_t dimension, std::int64_t index) {
  return Mixed(dimension + 1, static_cast<std::uint64_t>(index));
}

}  // namespace

void LastWrites::Clear(std::uint64_t writer) {
  first_ = writer;
  cleared_ = true;
  begun_ = fine_ = false;
}

void LastWrites::Begin(absl::Span<const std::int64_t> shape) {
  begun_ = true;
  shape_.assign(shape.begin(), shape.end());
  side_.clear();
  for (const std::int64_t size : shape) side_.push_back({0, size});
  writer_.assign(1, first_);
}

std::uint64_t LastWrites::Weight(Box box) const {
  std::uint64_t weight = 1;
  for (std::size_t d = 0; d < box.size(); ++d) weight *= Upto(d, box[d].high) - Upto(d, box[d].low);
  return weight;
}

std::uint64_t LastWrites::WeightOf(std::int64_t element) const {
  std::uint64_t weight = 1;
  for (std::size_t d = shape_.size(); d-- > 0; element /= shape_[d]) {
    const std::int64_t i = element % shape_[d];
    weight *= Upto(d, i + 1) - Upto(d, i);
  }
  return weight;
}

// Into dense_; false: elements lie apart, or a mask says which take part.
bool LastWrites::TakeDense(const BoxAccess& access, const memory_model::BoxReach& reach) {
  if (access.mask.lanes != nullptr) return false;
  dense_.clear();
  for (std::size_t d = 0; d < shape_.size(); ++d) {
    const memory_model::Range copied = reach.copy[d];
    if (access.step[d] != 1 && copied.end - copied.begin != 1) return false;
    const std::int64_t low = access.start[d] + copied.begin * access.step[d];
    dense_.push_back({low, low + copied.end - copied.begin});
  }
  return true;
}

void LastWrites::Append(Box box, std::uint64_t writer) {
  side_.insert(side_.end(), box.begin(), box.end());
  writer_.push_back(writer);
}

void LastWrites::Drop(std::size_t i) {
  const std::size_t rank = shape_.size(), last = pieces() - 1;
  std::copy_n(side_.begin() + static_cast<std::ptrdiff_t>(last * rank), rank,
              side_.begin() + static_cast<std::ptrdiff_t>(i * rank));
  writer_[i] = writer_[last];
  side_.resize(last * rank);
  writer_.pop_back();
}

// What of the piece lies outside the box, in pieces at the end of the list; the piece itself goes.
void LastWrites::CutOut(std::size_t i, Box box) {
  absl::InlinedVector<Side, kUsualRank> rest(Piece(i).begin(), Piece(i).end());
  const std::uint64_t writer = writer_[i];
  for (std::size_t d = 0; d < rest.size(); ++d) {
    const Side whole = rest[d];
    if (whole.low < box[d].low) {
      rest[d] = {whole.low, box[d].low};
      Append(rest, writer);
    }
    if (box[d].high < whole.high) {
      rest[d] = {box[d].high, whole.high};
      Append(rest, writer);
    }
    rest[d] = {std::max(whole.low, box[d].low), std::min(whole.high, box[d].high)};
  }
  Drop(i);
}

namespace {

template <class Box>
bool Meet(const Box& a, const Box& b) {
  for (std::size_t d = 0; d < a.size(); ++d) {
    if (a[d].high <= b[d].low || b[d].high <= a[d].low) return false;
  }
  return true;
}

}  // namespace

void LastWrites::Write(const BoxAccess& access, const memory_model::BoxReach& reach, std::uint64_t writer) {
  if (!fine_ && TakeDense(access, reach)) {
    const Box box = dense_;
    for (std::size_t i = pieces(); i-- > 0;) {
      if (Meet(Piece(i), box)) CutOut(i, box);
    }
    Append(box, writer);
    if (pieces() > kMostPieces) MakeFine();
    return;
  }
  MakeFine();
  memory_model::VisitElements(access, reach, shape_, [&](std::int64_t element, std::int64_t) {
    writer_[static_cast<std::size_t>(element)] = writer;
  });
}

// A write of a part of an element leaves what others wrote there: the element is of both.
void LastWrites::Write(const PointAccess& access, ElementSize element_size, std::uint64_t writer) {
  const std::int64_t element_bytes = element_size.value();
  MakeFine();
  memory_model::VisitBytes(access, [&](std::int64_t first, std::int64_t end) {
    for (std::int64_t e = first / element_bytes; e * element_bytes < end; ++e) {
      const bool whole = first <= e * element_bytes && (e + 1) * element_bytes <= end;
      std::uint64_t& last = writer_[static_cast<std::size_t>(e)];
      last = whole ? writer : Mixed(last, writer);
    }
  });
}

std::uint64_t LastWrites::ReadBox(Box box) const {
  std::uint64_t sum = 0;
  absl::InlinedVector<Side, kUsualRank> shared(box.size());
  for (std::size_t i = 0; i < pieces(); ++i) {
    const Box piece = Piece(i);
    if (!Meet(piece, box)) continue;
    for (std::size_t d = 0; d < box.size(); ++d)
      shared[d] = {std::max(piece[d].low, box[d].low), std::min(piece[d].high, box[d].high)};
    sum += writer_[i] * Weight(shared);
  }
  return sum;
}

std::uint64_t LastWrites::Read(const BoxAccess& access, const memory_model::BoxReach& reach) {
  if (!fine_ && TakeDense(access, reach)) return ReadBox(dense_);
  MakeFine();
  std::uint64_t sum = 0;
  memory_model::VisitElements(access, reach, shape_, [&](std::int64_t element, std::int64_t) {
    sum += writer_[static_cast<std::size_t>(element)] * WeightOf(element);
  });
  return sum;
}

std::uint64_t LastWrites::Read(const PointAccess& access, ElementSize element_size) {
  const std::int64_t element_bytes = element_size.value();
  MakeFine();
  std::uint64_t sum = 0, place = 0;
  memory_model::VisitBytes(access, [&](std::int64_t first, std::int64_t end) {
    for (std::int64_t e = first / element_bytes; e * element_bytes < end; ++e)
      sum += Mixed(++place, writer_[static_cast<std::size_t>(e)]);
  });
  return sum;
}

std::uint64_t LastWrites::All() const {
  std::uint64_t sum = 0;
  if (!fine_) {
    for (std::size_t i = 0; i < pieces(); ++i) sum += writer_[i] * Weight(Piece(i));
    return sum;
  }
  for (std::size_t e = 0; e < writer_.size(); ++e) sum += writer_[e] * WeightOf(static_cast<std::int64_t>(e));
  return sum;
}

void LastWrites::MakeFine() {
  if (fine_) return;
  fine_ = true;
  std::int64_t elements = 1;
  for (const std::int64_t size : shape_) elements *= size;
  std::vector<std::uint64_t> fine(static_cast<std::size_t>(elements));
  for (std::size_t i = 0; i < pieces(); ++i) {
    BoxAccess whole;
    whole.rank = whole.value_rank = static_cast<int>(shape_.size());
    for (std::size_t d = 0; d < shape_.size(); ++d) {
      whole.start[d] = Piece(i)[d].low;
      whole.count[d] = Piece(i)[d].high - Piece(i)[d].low;
      whole.step[d] = 1;
      whole.lower[d] = 0;
      whole.upper[d] = shape_[d];
      whole.order[d] = static_cast<std::uint8_t>(d);
    }
    memory_model::VisitElements(
        whole, memory_model::ReachOf(shape_, whole), shape_,
        [&](std::int64_t element, std::int64_t) { fine[static_cast<std::size_t>(element)] = writer_[i]; });
  }
  writer_ = std::move(fine);
  side_.clear();
}

}  // namespace palladion::launch
