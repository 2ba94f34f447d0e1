// The chips of the GPUs that run a kernel together, and their accesses to each other's memory: over their links
// (links.h), through the L2 and the DRAM of the memory's owner. Based on: symmetric memory over NVLink: a load of
// another device's memory is served by that device's L2 and not cached locally. Limits: the latency of a load or a
// store of a peer's memory is not published, so each takes as long as an atomic; with one device this is just its chip.
#ifndef PALLADION_EMU_TIMING_GPU_NODE_H_
#define PALLADION_EMU_TIMING_GPU_NODE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "emu/timing/gpu/chip.h"
#include "emu/timing/gpu/links.h"
#include "emu/timing/gpu/machine_costs.h"

namespace palladion::timing::gpu {

// An SM of one of the devices.
struct SmPlace {
  std::int64_t device = 0, sm = 0;
};

class GpuNode {
 public:
  // Without links there is one device.
  GpuNode(const GpuCosts& costs, const std::optional<LinkCosts>& links, std::int64_t devices);

  std::int64_t devices() const { return static_cast<std::int64_t>(chips_.size()); }
  GpuChip& chip(std::int64_t device) { return chips_[static_cast<std::size_t>(device)]; }
  const GpuChip& chip(std::int64_t device) const { return chips_[static_cast<std::size_t>(device)]; }
  const std::optional<GpuLinks>& links() const { return links_; }

  // ---- In the memory of devices that are not the SM's own alone; the same box of each of them.
  // By threads: the values of one, or of several added up, are there.
  scheduler::Ticks LoadDirectly(SmPlace me, scheduler::Ticks at, absl::Span<const std::int64_t> of,
                                const GlobalBox& box);
  // `read`: the thread goes on; `written`: they are in the memory of all.
  GpuChip::Stored StoreDirectly(SmPlace me, scheduler::Ticks at, absl::Span<const std::int64_t> of,
                                const GlobalBox& box);
  // By the copy engine: into shared memory, and out of it. `written`: and its SM knows it.
  scheduler::Ticks Load(SmPlace me, scheduler::Ticks at, std::int64_t of, const GlobalBox& box);
  GpuChip::Stored Store(SmPlace me, scheduler::Ticks at, absl::Span<const std::int64_t> of, const GlobalBox& box);
  // From a signal, or an atomic, until the other device sees it, or its result is back.
  scheduler::Ticks link_latency() const;

  GpuChip::Use use() const;  // of all chips together
  GpuChip::Recent TakeRecent(SmPlace me);
  void Forget(const GpuChip::Past& past);

 private:
  std::vector<GpuChip> chips_;  // by device
  std::optional<GpuLinks> links_;
};

}  // namespace palladion::timing::gpu

#endif  // PALLADION_EMU_TIMING_GPU_NODE_H_
