// Which program of a launch begins next: clusters in the walk's order, as many at a time as a device holds. Devices
// that run a kernel together have a part of the walk each, and a device that is full does not hold up the others. Based
// on: CUDA, where blocks begin in order as room for them becomes free. Limits: how many fit is residency.h's to say.
#ifndef PALLADION_EMU_RUN_THREADS_BEGIN_ORDER_H_
#define PALLADION_EMU_RUN_THREADS_BEGIN_ORDER_H_

#include <cstddef>
#include <cstdint>
#include <set>
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
    for (std::int64_t d = 0; d < sizes.devices; ++d) Changed(d);
  }

  bool AllHaveBegun() const { return waiting_.empty(); }
  // Is there room for the next one, or none that waits?
  bool Ready() const { return !within_.empty() || !with_room_.empty() || AllHaveBegun(); }
  // The program that begins next; where there is room for none, the first that waits. One waits.
  std::int64_t Next() const {
    const Numbers& of = !within_.empty() ? within_ : !with_room_.empty() ? with_room_ : waiting_;
    return devices_[static_cast<std::size_t>(*of.begin())].next;
  }
  // That one has begun, as the agent of all programs before `last`.
  void Begin(std::int64_t last) {
    const std::int64_t next = Next();
    Device& device = Of(next);
    if (StartsCluster(next)) --device.free_clusters;
    device.next = last;
    Changed(next / each_);
  }
  void ClusterEnds(std::int64_t program) {  // that of the program
    ++Of(program).free_clusters;
    Changed(program / each_);
  }

 private:
  struct Device {
    std::int64_t next = 0;  // program
    std::int64_t free_clusters = 0;
  };
  using Numbers = std::set<std::int64_t>;  // of devices

  bool StartsCluster(std::int64_t program) const { return program % sizes_.of_cluster == 0; }
  Device& Of(std::int64_t program) { return devices_[static_cast<std::size_t>(program / each_)]; }
  static void Keep(Numbers& numbers, std::int64_t number, bool belongs) {
    if (numbers.contains(number) == belongs) return;
    belongs ? static_cast<void>(numbers.insert(number)) : static_cast<void>(numbers.erase(number));
  }
  void Changed(std::int64_t number) {
    const Device& device = devices_[static_cast<std::size_t>(number)];
    const bool waits = device.next < (number + 1) * each_;
    Keep(waiting_, number, waits);
    Keep(within_, number, waits && !StartsCluster(device.next));
    Keep(with_room_, number, waits && device.free_clusters > 0);
  }

  const Sizes sizes_;
  const std::int64_t each_;
  std::vector<Device> devices_;
  Numbers waiting_;    // whose programs have not all begun; of these:
  Numbers within_;     // next is one of a cluster that has begun, which goes on
  Numbers with_room_;  // a cluster may begin
};

}  // namespace palladion::threads

#endif  // PALLADION_EMU_RUN_THREADS_BEGIN_ORDER_H_
