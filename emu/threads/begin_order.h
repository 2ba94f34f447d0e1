// Which program of a launch begins next: clusters in the walk's order, as many at a time as a device holds. Devices
// that run a kernel together have a part of the walk each, and one that is full keeps none of the others from going on.
// Based on: CUDA, where blocks begin in order as room for them becomes free. Limits: how many fit is residency.h's to
// say.
#ifndef PALLADION_EMU_THREADS_BEGIN_ORDER_H_
#define PALLADION_EMU_THREADS_BEGIN_ORDER_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace palladion::threads {

class BeginOrder {
 public:
  struct Sizes {
    std::int64_t programs = 0, devices = 1;  // each device has equally many programs, one after another
    std::int64_t of_cluster = 1;             // programs that begin together
    std::int64_t at_once = 1;                // clusters that a device holds
  };
  explicit BeginOrder(const Sizes& sizes) : sizes_(sizes), each_(sizes.programs / sizes.devices) {
    for (std::int64_t d = 0; d < sizes.devices; ++d) devices_.push_back({d * each_, sizes.at_once});
  }

  bool AllHaveBegun() const { return Waiting() == nullptr; }
  // Is there room for the next one, or none that waits?
  bool Ready() const { return CanBegin() != nullptr || AllHaveBegun(); }
  // The program that begins next; where there is room for none, the first that waits. One waits.
  std::int64_t Next() const { return CanBegin() != nullptr ? CanBegin()->next : Waiting()->next; }
  // That one has begun, as the agent of all programs before `last`.
  void Begin(std::int64_t last) {
    Device& device = Of(Next());
    if (StartsCluster(device.next)) --device.free_clusters;
    device.next = last;
  }
  void ClusterEnds(std::int64_t program) { ++Of(program).free_clusters; }  // that of the program

 private:
  struct Device {
    std::int64_t next = 0;  // program
    std::int64_t free_clusters = 0;
  };
  bool StartsCluster(std::int64_t program) const { return program % sizes_.of_cluster == 0; }
  Device& Of(std::int64_t program) { return devices_[static_cast<std::size_t>(program / each_)]; }
  std::int64_t EndOf(const Device& device) const {
    return (static_cast<std::int64_t>(&device - devices_.data()) + 1) * each_;
  }
  template <class F>
  const Device* First(const F& holds) const {
    const auto found = std::find_if(devices_.begin(), devices_.end(),
                                    [&](const Device& device) { return device.next < EndOf(device) && holds(device); });
    return found == devices_.end() ? nullptr : &*found;
  }
  const Device* Waiting() const {
    return First([](const Device&) { return true; });
  }
  // A cluster that has begun goes on.
  const Device* CanBegin() const {
    const Device* const within = First([this](const Device& device) { return !StartsCluster(device.next); });
    return within != nullptr ? within : First([](const Device& device) { return device.free_clusters > 0; });
  }

  const Sizes sizes_;
  const std::int64_t each_;
  std::vector<Device> devices_;
};

}  // namespace palladion::threads

#endif  // PALLADION_EMU_THREADS_BEGIN_ORDER_H_
