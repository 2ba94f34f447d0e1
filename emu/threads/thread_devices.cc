// Several devices that run a kernel together: what each has, from when, and how another one comes by it.
#include <algorithm>
#include <utility>

#include "emu/threads/thread_machine.h"
#include "semantics/base/cat.h"

namespace palladion::threads {

void ThreadMachine::AdoptOf(std::int64_t device, std::size_t operand, BufferId array) {
  device_arrays_.resize(static_cast<std::size_t>(program_.devices),
                        std::vector<BufferId>(program_.operand_infos.size()));
  device_arrays_[static_cast<std::size_t>(device)][operand] = array;
  operand_of_.try_emplace(array.value, operand);
}

// What is done to a device's arrays, by whom ever, comes after it has entered: before that, they may be another
// kernel's. The cores of a device enter together.
void ThreadMachine::EnterDevices(bool meet) {
  std::vector<bool> entered(static_cast<std::size_t>(program_.devices));
  std::vector<memory_model::ClockBundle> told(
      entered.size());  // by those of a device, or, where all meet, in the first by all
  const std::map<std::int64_t, BlockId> blocks(block_at_.begin(), block_at_.end());
  for (const auto& [number, id] : blocks) {
    const std::int64_t device = DeviceOf(Of(id).index);
    const AgentId core = Of(id).threads[0];
    if (!entered[static_cast<std::size_t>(device)] && !device_arrays_.empty()) {
      std::vector<BufferId> arrays = device_arrays_[static_cast<std::size_t>(device)];
      std::sort(arrays.begin(), arrays.end());
      arrays.erase(std::unique(arrays.begin(), arrays.end()), arrays.end());
      for (const BufferId array : arrays) {
        if (array.valid()) model_.AllocAtStart(core, array, Tracked(array, DevicePlace(device)), {});
      }
    }
    entered[static_cast<std::size_t>(device)] = true;
    model_.agents().Tick(core, {});
    told[meet ? 0 : static_cast<std::size_t>(device)].Join(model_.agents().ClockOf(core));
  }
  for (const auto& [number, id] : blocks) {
    const std::int64_t device = DeviceOf(Of(id).index);
    model_.agents().Acquire(Of(id).threads[0], told[meet ? 0 : static_cast<std::size_t>(device)]);
  }
}

std::int64_t ThreadMachine::DeviceOf(absl::Span<const std::int64_t> index) const {
  std::int64_t device = 0;
  for (std::size_t d = 0; d < program_.device_axes.size(); ++d) device = device * grid_[d] + index[d];
  return device;
}

std::int64_t ThreadMachine::BlocksOfCluster() const {
  return several_devices() ? static_cast<std::int64_t>(block_at_.size()) : units_;
}

// Blocks of a cluster begin together, and their memory with them. A device's is there from when it enters the kernel;
// what a scope makes later, from then on.
void ThreadMachine::Began(BufferId buffer, memory_model::TrackedBuffer tracked, const Block& block,
                          const CodeSite& site) {
  const AgentId core = block.threads[0];
  if (!several_devices()) return model_.Adopt(buffer, std::move(tracked));
  if (current_ != core || AtEntry(core)) return model_.AllocAtStart(core, buffer, std::move(tracked), site);
  model_.Alloc(core, buffer, std::move(tracked), site);
}

// The same operand of another device.
BufferId ThreadMachine::PeerArray(BufferId buffer, std::size_t operand, absl::Span<const PeerCoordinate> where,
                                  const Site& site) {
  const BlockId mine = Current().block;
  const BlockId peer = PeerOf(mine, where);
  if (peer.valid()) return device_arrays_[static_cast<std::size_t>(DeviceOf(Of(peer).index))][operand];
  ReportPeer(Cat("'", std::string(memory_.NameOf(buffer)), "' ", WhyNoPeer(mine, where)), site);
  return buffer;
}

std::int64_t ThreadMachine::DeviceOf(BufferId buffer) const {
  const auto named = names_.find(buffer.value);
  if (named != names_.end()) return DeviceOf(Of(named->second.first).index);
  const auto operand = operand_of_.find(buffer.value);
  for (std::size_t device = 0; operand != operand_of_.end() && device < device_arrays_.size(); ++device) {
    if (device_arrays_[device][operand->second] == buffer) return static_cast<std::int64_t>(device);
  }
  return -1;
}

// The link that a copy goes over, where links keep the order of copies; none of a copy that stays on its device.
QueueId ThreadMachine::LinkOf(const AsyncRequest& request) {
  if (!options_.ordered_links || !several_devices() || request.destinations.empty()) return {};
  const std::int64_t from = DeviceOf(Of(Current().block).index), to = DeviceOf(request.destinations[0].buffer());
  if (to < 0 || to == from) return {};
  QueueId& link = links_[{from, to}];
  if (link.valid()) return link;
  link = model_.MakeQueue(memory_model::QueueOrder::kLanding);
  queue_objects_[link.value] = kLinkObjects + link.value;
  return link;
}

}  // namespace palladion::threads
