#include "semantics/program/grid_walk.h"

#include "semantics/program/program.h"

namespace palladion {

GridWalk::GridWalk(absl::Span<const std::int64_t> size, absl::Span<const DimOrder> order, WalkOrder walk)
    : size_(size.begin(), size.end()), programs_(1) {
  for (std::size_t d = 0; d < size.size(); ++d) {
    parallel_.push_back(order[d] == DimOrder::kParallel);
    backwards_.push_back(walk == WalkOrder::kReverse && parallel_[d]);
    programs_ *= size[d];
  }
}

void GridWalk::At(std::int64_t n, absl::Span<std::int64_t> index) const {
  for (std::size_t d = size_.size(); d-- > 0;) {
    const std::int64_t i = n % size_[d];
    n /= size_[d];
    index[d] = backwards_[d] ? size_[d] - 1 - i : i;
  }
}

bool GridWalk::NewTask(std::int64_t n, absl::Span<const std::int64_t> index) const {
  for (std::size_t d = size_.size(); d-- > 0;) {
    const std::int64_t i = n % size_[d];
    n /= size_[d];
    if (parallel_[d] && index[d] != (backwards_[d] ? size_[d] - 1 - i : i)) return true;
  }
  return false;
}

std::int64_t GridWalk::FirstHalf() const {
  std::int64_t tasks = 1;
  for (std::size_t d = 0; d < size_.size() && parallel_[d]; ++d) tasks *= size_[d];
  return tasks <= 1 ? programs_ : programs_ / tasks * ((tasks + 1) / 2);
}

}  // namespace palladion
