// In which order an agent visits the programs of a grid. Programs along sequential dimensions keep their order; those
// along parallel ones have none, so every walk here is one that hardware may take.
#ifndef PALLADION_SEMANTICS_PROGRAM_GRID_WALK_H_
#define PALLADION_SEMANTICS_PROGRAM_GRID_WALK_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace palladion {

enum class DimOrder : std::uint8_t;

enum class WalkOrder : std::uint8_t {
  kRowMajor,  // the last dimension fastest: program order
  kReverse,   // the same with every parallel dimension from its end
};

class GridWalk {
 public:
  GridWalk() = default;
  // `order` has one entry for each dimension of `size`, and the product of the sizes is below 2^62.
  GridWalk(absl::Span<const std::int64_t> size, absl::Span<const DimOrder> order, WalkOrder walk);

  std::int64_t programs() const { return programs_; }
  // The index in the grid of the n-th program, 0 <= n < programs().
  void At(std::int64_t n, absl::Span<std::int64_t> index) const;

  // From here on all programs of a task come one after another: the parallel dimensions are the slowest, whatever lies
  // outside them. So each task can be an agent's.
  void TasksFirst();

  // Programs that have the same index along the parallel dimensions are one task: they keep their order, tasks have
  // none. May another task have come between the program at `index` and the n-th, the next of an agent?
  bool NewTask(std::int64_t n, absl::Span<const std::int64_t> index) const;
  // How many programs the first of two cores takes: half of the programs along the leading parallel dimensions,
  // rounded up, in one piece. All of them where no leading dimension is parallel.
  std::int64_t FirstHalf() const;

 private:
  std::vector<std::int64_t> size_;
  std::vector<std::size_t> slowest_first_;  // dimensions
  std::vector<bool> backwards_, parallel_;
  std::int64_t programs_ = 0;
};

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_PROGRAM_GRID_WALK_H_
