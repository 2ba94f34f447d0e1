#include "emu/check/orders.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "emu/check/compare.h"
#include "emu/run/launch/grid_checks.h"
#include "memory_model/sweep/sweep.h"

namespace palladion::check {

bool HasParallelDimension(const Program& program, absl::Span<const ConstArray> inputs) {
  const std::vector<memory_model::TaskDim> dims = launch::GridDims(program, inputs);
  const auto empty = [](const memory_model::TaskDim& dim) { return dim.size < 1; };
  return std::none_of(dims.begin(), dims.end(), empty) && launch::HasTasks(dims);
}

// Starting one takes some 20 microseconds; a step takes 20 nanoseconds, and more where values are large. Two orders
// together hold the outputs twice while the first is watched: large ones take turns instead.
bool WorthAThread(const Program& program, absl::Span<const ConstArray> inputs) {
  constexpr std::int64_t kEnough = std::int64_t{1} << 13, kBytesAsStep = 256;
  constexpr std::size_t kMaxOutputsTogether = std::size_t{1} << 24;
  std::int64_t work = static_cast<std::int64_t>(program.steps.size() + program.arena_bytes / kBytesAsStep);
  for (const memory_model::TaskDim& dim : launch::GridDims(program, inputs)) {
    if (work < kEnough) work *= dim.size;
  }
  return work >= kEnough && OutputBytes(program) <= kMaxOutputsTogether;
}

}  // namespace palladion::check
