#include "emu/run/threads/operand_arrays.h"

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
          .element_size = base_.memory.ElementSizeOf(array),
          .space = memory_model::ProxySpace::kGlobal,
          .place = base_.shape.PlaceOfDevice(device),
          .holds_nothing = hold_nothing_.contains(array.value)};
}

void OperandArrays::Adopt(BufferId array, bool holds_nothing) {
  if (holds_nothing) hold_nothing_.insert(array.value);
  base_.model.Adopt(array, Tracked(array, 0));
}

void OperandArrays::AdoptOf(const Operand& operand, BufferId array) {
  const std::size_t number = operand.number + (operand.second_core ? operands_ : 0);
  of_device_.resize(static_cast<std::size_t>(base_.shape.devices()), std::vector<BufferId>(numbers_));
  written_.resize(numbers_);
  sites_.resize(numbers_);
  sites_[number] = operand.site;
  of_device_[static_cast<std::size_t>(operand.device)][number] = array;
  written_[number] = written_[number] || operand.written;
  if (operand.holds_nothing) hold_nothing_.insert(array.value);
  const bool added = operand_of_.try_emplace(array.value, number).second;
  if (added && base_.shape.gpus()) base_.model.Adopt(array, Tracked(array, operand.device));
}

void OperandArrays::WrittenBefore(BufferId array) {
  const absl::Span<const std::int64_t> shape = base_.memory.ShapeOf(array);
  const memory_model::AccessSet all = memory_model::SetOfAll(shape, base_.memory.ElementSizeOf(array));
  base_.model.Touch(base_.residents.Before(), array, AccessKind::kWrite, all, {});
}

// An output may be an input's memory.
std::vector<OperandArrays::Declared> OperandArrays::ArraysOf(std::int64_t device, bool written) const {
  std::vector<Declared> arrays;
  for (std::size_t i = 0; !of_device_.empty() && i < numbers_; ++i) {
    const BufferId array = of_device_[static_cast<std::size_t>(device)][i];
    if (array.valid() && (written_[i] || !written)) arrays.push_back({array, sites_[i]});
  }
  const auto less = [](const Declared& a, const Declared& b) { return a.array < b.array; };
  const auto same = [](const Declared& a, const Declared& b) { return a.array == b.array; };
  std::stable_sort(arrays.begin(), arrays.end(), less);
  arrays.erase(std::unique(arrays.begin(), arrays.end(), same), arrays.end());
  return arrays;
}

void OperandArrays::AllocAt(AgentId core, std::int64_t device) {
  for (const Declared& operand : ArraysOf(device, /*written=*/true))
    base_.model.AllocAtStart(core, operand.array, Tracked(operand.array, device), {});
}

void OperandArrays::Gather(const Block& block) {
  GatheredClock& known = ended_[static_cast<std::size_t>(base_.shape.DeviceOf(block.index))];
  for (const AgentId thread : block.threads) known.Add(base_.model.agents().ClockOf(thread));
}

void OperandArrays::ClusterRetires(std::int64_t number) {
  if (!races_) return;
  for (const BlockId block : base_.residents.ClusterOf(number).blocks) Gather(base_.residents.Of(block));
}

void OperandArrays::LeaveDevices() {
  if (!races_) return;
  for (const BlockId id : base_.residents.InOrder()) {
    if (base_.residents.Of(id).running > 0) return;  // the run was cut short
    Gather(base_.residents.Of(id));
  }
  for (std::size_t d = 0; d < ended_.size(); ++d) {
    const auto device = static_cast<std::int64_t>(d);
    const std::string name = Cat("the end of the kernel on ", base_.shape.DeviceNameOf(device));
    const AgentId end = base_.residents.AddLaunch(name, base_.shape.PlaceOfDevice(device));
    base_.model.agents().Acquire(end, ended_[d].All());
    for (const Declared& operand : ArraysOf(device, /*written=*/false))
      base_.model.FreeAt(end, name, operand.array, operand.site);
  }
}

// What any agent does to a device's arrays comes after it has entered: before that, they may be another
// kernel's. The cores of a device enter together.
void OperandArrays::EnterDevices(bool meet) {
  memory_model::AgentTable& agents = base_.model.agents();
  std::vector<bool> entered(static_cast<std::size_t>(base_.shape.devices()));
  // By those of a device, or, where all meet, in the first by all.
  std::vector<memory_model::ClockBundle> released(entered.size());
  const std::vector<BlockId> blocks = base_.residents.InOrder();
  for (const BlockId id : blocks) {
    const std::int64_t device = base_.shape.DeviceOf(base_.residents.Of(id).index);
    const AgentId core = base_.residents.Of(id).threads[0];
    if (!entered[static_cast<std::size_t>(device)]) AllocAt(core, device);
    entered[static_cast<std::size_t>(device)] = true;
    released[meet ? 0 : static_cast<std::size_t>(device)].Join(agents.ClockOf(core));
    agents.Tick(core, {});  // what it does from here on is not released
  }
  for (const BlockId id : blocks) {
    const std::int64_t device = base_.shape.DeviceOf(base_.residents.Of(id).index);
    agents.Acquire(base_.residents.Of(id).threads[0], released[meet ? 0 : static_cast<std::size_t>(device)]);
  }
}

BufferId OperandArrays::OfPeer(AgentId thread, BufferId array, absl::Span<const PeerCoordinate> where,
                               const Site& site) const {
  const std::vector<std::int64_t> index = LaunchShape::PeerOf(base_.residents.BlockOf(thread).index, where);
  const std::size_t operand = operand_of_.at(array.value);
  // A device of GPUs is there whether its blocks have begun, or have ended.
  const bool there = base_.shape.gpus() ? base_.shape.Has(index) : peers_.At(index).valid();
  if (there) return of_device_[static_cast<std::size_t>(base_.shape.DeviceOf(index))][operand];
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
