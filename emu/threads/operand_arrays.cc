#include "emu/threads/operand_arrays.h"

#include <algorithm>
#include <string>
#include <utility>

#include "memory_model/sets/operand_set.h"
#include "semantics/base/cat.h"

namespace palladion::threads {

memory_model::TrackedBuffer OperandArrays::Tracked(BufferId array, std::int64_t device) const {
  const absl::Span<const std::int64_t> shape = base_.memory.ShapeOf(array);
  return {.name = std::string(base_.memory.NameOf(array)),
          .shape = {shape.begin(), shape.end()},
          .element_bytes = static_cast<std::int64_t>(base_.memory.ElementBytesOf(array)),
          .space = memory_model::ProxySpace::kGlobal,
          .place = base_.shape.PlaceOfDevice(device)};
}

void OperandArrays::Adopt(BufferId array) { base_.model.Adopt(array, Tracked(array, 0)); }

void OperandArrays::AdoptOf(std::int64_t device, std::size_t operand, BufferId array) {
  of_device_.resize(static_cast<std::size_t>(base_.shape.devices()), std::vector<BufferId>(operands_));
  of_device_[static_cast<std::size_t>(device)][operand] = array;
  operand_of_.try_emplace(array.value, operand);
}

void OperandArrays::WrittenBefore(BufferId array) {
  const absl::Span<const std::int64_t> shape = base_.memory.ShapeOf(array);
  const auto bytes = static_cast<std::int64_t>(base_.memory.ElementBytesOf(array));
  base_.model.Touch(base_.residents.Before(), array, AccessKind::kWrite, memory_model::SetOfAll(shape, bytes), {});
}

void OperandArrays::AllocAt(AgentId core, std::int64_t device) {
  if (of_device_.empty()) return;
  std::vector<BufferId> arrays = of_device_[static_cast<std::size_t>(device)];
  std::sort(arrays.begin(), arrays.end());
  arrays.erase(std::unique(arrays.begin(), arrays.end()), arrays.end());
  for (const BufferId array : arrays) {
    if (array.valid()) base_.model.AllocAtStart(core, array, Tracked(array, device), {});
  }
}

// What is done to a device's arrays, by whom ever, comes after it has entered: before that, they may be another
// kernel's. The cores of a device enter together.
void OperandArrays::EnterDevices(bool meet) {
  memory_model::AgentTable& agents = base_.model.agents();
  std::vector<bool> entered(static_cast<std::size_t>(base_.shape.devices()));
  // By those of a device, or, where all meet, in the first by all.
  std::vector<memory_model::ClockBundle> told(entered.size());
  const std::vector<BlockId> blocks = base_.residents.InOrder();
  for (const BlockId id : blocks) {
    const std::int64_t device = base_.shape.DeviceOf(base_.residents.Of(id).index);
    const AgentId core = base_.residents.Of(id).threads[0];
    if (!entered[static_cast<std::size_t>(device)]) AllocAt(core, device);
    entered[static_cast<std::size_t>(device)] = true;
    agents.Tick(core, {});
    told[meet ? 0 : static_cast<std::size_t>(device)].Join(agents.ClockOf(core));
  }
  for (const BlockId id : blocks) {
    const std::int64_t device = base_.shape.DeviceOf(base_.residents.Of(id).index);
    agents.Acquire(base_.residents.Of(id).threads[0], told[meet ? 0 : static_cast<std::size_t>(device)]);
  }
}

BufferId OperandArrays::OfPeer(AgentId thread, BufferId array, absl::Span<const PeerCoordinate> where,
                               const Site& site) const {
  const std::vector<std::int64_t> index = LaunchShape::PeerOf(base_.residents.BlockOf(thread).index, where);
  const std::size_t operand = operand_of_.at(array.value);
  if (peers_.At(index).valid()) return of_device_[static_cast<std::size_t>(base_.shape.DeviceOf(index))][operand];
  peers_.Report(thread, Cat("'", std::string(base_.memory.NameOf(array)), "'"), index, site);
  return array;
}

std::int64_t OperandArrays::DeviceOf(BufferId array) const {
  const auto operand = operand_of_.find(array.value);
  for (std::size_t device = 0; operand != operand_of_.end() && device < of_device_.size(); ++device) {
    if (of_device_[device][operand->second] == array) return static_cast<std::int64_t>(device);
  }
  return -1;
}

}  // namespace palladion::threads
