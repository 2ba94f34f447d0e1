#include "emu/run/threads/launch_shape.h"

#include <algorithm>
#include <utility>

#include "semantics/base/cat.h"
#include "semantics/program/agent_naming.h"

namespace palladion::threads {

LaunchShape::LaunchShape(const Program& program, absl::Span<const std::int64_t> grid)
    : program_(program), grid_(grid.begin(), grid.end()) {
  block_dims_ = program.block_dims();
  cluster_first_ = tpus() ? 0 : program.first_cluster_dim();
  const std::size_t last = tpus() ? grid_.size() : block_dims_;
  for (std::size_t d = cluster_first_; d < last; ++d) cluster_size_ *= grid_[d];
}

std::int64_t LaunchShape::NumberOf(absl::Span<const std::int64_t> index) const {
  std::int64_t number = 0;
  for (std::size_t d = 0; d < block_dims_; ++d) number = number * grid_[d] + index[d];
  return number;
}

std::int64_t LaunchShape::blocks() const {
  std::int64_t blocks = 1;
  for (std::size_t d = 0; d < block_dims_; ++d) blocks *= grid_[d];
  return blocks;
}

std::vector<std::int64_t> LaunchShape::IndexOf(std::int64_t number) const {
  std::vector<std::int64_t> index(block_dims_);
  for (std::size_t d = block_dims_; d-- > 0; number /= grid_[d]) index[d] = number % grid_[d];
  return index;
}

std::int64_t LaunchShape::DeviceOf(absl::Span<const std::int64_t> index) const {
  std::int64_t device = 0;
  for (std::size_t d = 0; d < program_.device_axes.size(); ++d) device = device * grid_[d] + index[d];
  return device;
}

bool LaunchShape::Has(absl::Span<const std::int64_t> index) const {
  for (std::size_t d = 0; d < block_dims_; ++d) {
    if (index[d] < 0 || index[d] >= grid_[d]) return false;
  }
  return true;
}

bool LaunchShape::HasDevice(absl::Span<const std::int64_t> index) const {
  for (std::size_t d = 0; d < program_.device_axes.size(); ++d) {
    if (index[d] < 0 || index[d] >= grid_[d]) return false;
  }
  return true;
}

memory_model::Place LaunchShape::PlaceOfDevice(std::int64_t device) const {
  return memory_model::Place{}.With(PlaceLevel::kDevice, static_cast<std::int32_t>(device));
}

memory_model::Place LaunchShape::PlaceOf(absl::Span<const std::int64_t> index) const {
  const std::int64_t number = NumberOf(index);
  return PlaceOfDevice(DeviceOf(index))
      .With(PlaceLevel::kCluster, static_cast<std::int32_t>(number / cluster_size_))
      .With(PlaceLevel::kBlock, static_cast<std::int32_t>(number % cluster_size_));
}

std::vector<std::int64_t> LaunchShape::PeerOf(absl::Span<const std::int64_t> index,
                                              absl::Span<const PeerCoordinate> where) {
  std::vector<std::int64_t> peer(index.begin(), index.end());
  for (const PeerCoordinate& coordinate : where) peer[coordinate.grid_dim] = coordinate.index;
  return peer;
}

std::vector<std::vector<std::int64_t>> LaunchShape::Along(absl::Span<const std::int64_t> index,
                                                          absl::Span<const std::size_t> grid_dims) const {
  std::vector<std::vector<std::int64_t>> blocks = {{index.begin(), index.end()}};
  for (const std::size_t d : grid_dims) {
    std::vector<std::vector<std::int64_t>> more;
    for (const std::vector<std::int64_t>& block : blocks) {
      for (std::int64_t i = 0; i < grid_[d]; ++i) more.emplace_back(block)[d] = i;
    }
    blocks = std::move(more);
  }
  return blocks;
}

// A block of one thread is called by its block alone.
std::string LaunchShape::NameOf(absl::Span<const std::int64_t> index) const {
  if (program_.grid_in_agent) {
    const std::size_t device_dims = program_.device_axes.size();
    const absl::Span<const std::int64_t> program = index.subspan(device_dims);
    const bool first = std::all_of(program.begin(), program.end(), [](std::int64_t i) { return i == 0; });
    const std::string core =
        program.empty() || (first && device_dims > 0) ? "the core" : "the core from " + AgentName(program) + " on";
    return device_dims == 0 ? core : Cat(core, first ? " on " : ", on ", DeviceName(index.first(device_dims)));
  }
  if (several_devices() || cores()) return AgentName(NamingOf(program_), index);
  if (!counts_threads() || grid_.back() == 1) return NameOfBlock(index.first(block_dims_));
  return AgentName({.blocks = true, .thread_index = true, .many_threads = true}, index);
}

std::string LaunchShape::BlockNameOf(absl::Span<const std::int64_t> index) const {
  if (program_.grid_in_agent || cores()) return NameOf(index);
  return AgentName({.blocks = true, .device_dims = program_.device_axes.size()}, index.first(block_dims_));
}

std::string LaunchShape::DeviceNameOf(std::int64_t device) const {
  std::vector<std::int64_t> index(program_.device_axes.size());
  for (std::size_t d = index.size(); d-- > 0; device /= grid_[d]) index[d] = device % grid_[d];
  return DeviceName(index);
}

std::string LaunchShape::WhyNoPeer(absl::Span<const std::int64_t> index, bool begun) const {
  if (several_devices() && !cores() && !HasDevice(index)) {
    return Cat("of ", DeviceName(index.first(program_.device_axes.size())), ", which is not in the mesh of ",
               program_.devices, program_.devices == 1 ? " device" : " devices");
  }
  if (cores()) {
    return Cat("of ", AgentName(NamingOf(program_), index), ", which ",
               begun ? "has come to its end" : "is not in the mesh");
  }
  return Cat("of a block that ", begun ? "has come to its end" : "is not in its cluster");
}

}  // namespace palladion::threads
