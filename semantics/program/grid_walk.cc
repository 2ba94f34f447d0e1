#include "semantics/program/grid_walk.h"

#include <algorithm>

#include "semantics/program/program.h"

namespace palladion {

GridWalk::GridWalk(absl::Span<const std::int64_t> size, absl::Span<const DimOrder> order, WalkOrder walk)
    : size_(size.begin(), size.end()), programs_(1) {
  for (std::size_t d = 0; d < size.size(); ++d) {
    parallel_.push_back(order[d] == DimOrder::kParallel);
    backwards_.push_back(walk == WalkOrder::kReverse && parallel_[d]);
    programs_ *= size[d];
    slowest_first_.push_back(d);
  }
}

void GridWalk::At(std::int64_t n, absl::Span<std::int64_t> index) const {
  for (std::size_t k = size_.size(); k-- > 0;) {
    const std::size_t d = slowest_first_[k];
    const std::int64_t i = n % size_[d];
    n /= size_[d];
    index[d] = backwards_[d] ? size_[d] - 1 - i : i;
  }
}

void GridWalk::TasksFirst() {
  std::stable_partition(slowest_first_.begin(), slowest_first_.end(), [&](std::size_t d) { return parallel_[d]; });
}

// Up to the last parallel dimension: an index further out that differs has let other tasks come between.
bool GridWalk::NewTask(std::int64_t n, absl::Span<const std::int64_t> index) const {
  std::size_t dims = size_.size();
  while (dims > 0 && (!parallel_[dims - 1] || size_[dims - 1] == 1)) --dims;
  for (std::size_t k = size_.size(); k-- > 0;) {
    const std::size_t d = slowest_first_[k];
    const std::int64_t i = n % size_[d];
    n /= size_[d];
    if (d < dims && index[d] != (backwards_[d] ? size_[d] - 1 - i : i)) return true;
  }
  return false;
}

std::int64_t GridWalk::FirstHalf() const {
  std::int64_t tasks = 1;
  for (std::size_t d = 0; d < size_.size() && parallel_[d]; ++d) tasks *= size_[d];
  return tasks <= 1 ? programs_ : programs_ / tasks * ((tasks + 1) / 2);
}

}  // namespace palladion
