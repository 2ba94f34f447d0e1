#include "semantics/base/agent_name.h"

#include <algorithm>

#include "absl/strings/str_join.h"
#include "semantics/base/cat.h"

namespace palladion {

std::string DeviceName(absl::Span<const std::int64_t> coordinates) {
  const std::string numbers = absl::StrJoin(coordinates, ", ");
  return coordinates.size() == 1 ? Cat("device ", numbers) : Cat("device (", numbers, ")");
}

std::string AgentName(const AgentNaming& naming, absl::Span<const std::int64_t> grid_index) {
  const std::size_t device_dims = std::min(naming.device_dims, grid_index.size());
  if (device_dims > 0) {
    AgentNaming on_device = naming;
    on_device.device_dims = 0;
    return Cat(AgentName(on_device, grid_index.subspan(device_dims)), " on ",
               DeviceName(grid_index.first(device_dims)));
  }
  std::string thread;
  if (naming.thread_index && !grid_index.empty()) {
    if (naming.many_threads) thread = Cat("thread ", grid_index.back());
    grid_index.remove_suffix(1);
  }
  if (naming.cores)
    return grid_index.size() == 1 ? Cat("core ", grid_index[0]) : Cat("core (", absl::StrJoin(grid_index, ", "), ")");
  if (grid_index.empty()) return !thread.empty() ? thread : naming.blocks ? "the block" : "the program";
  return Cat(thread, thread.empty() ? "" : " of ", naming.blocks ? "block (" : "program (",
             absl::StrJoin(grid_index, ", "), ")");
}

std::string AtAgent(const AgentNaming& naming, absl::Span<const std::int64_t> grid_index) {
  const bool alone = grid_index.size() == 1 && naming.thread_index && !naming.many_threads;
  return grid_index.empty() || alone ? "" : Cat(" at ", AgentName(naming, grid_index));
}

}  // namespace palladion
