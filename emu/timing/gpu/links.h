// The links of GPUs that run a kernel together: for each device one into the switch and one out of it, shared by its
// SMs. Based on: NVLink with a switch, which gives every device its full bandwidth to every other one, forwards
// multicasts to each, and reduces reads from all of them (multimem). Limits: request and acknowledgement traffic is not
// modelled, nor is contention inside the switch.
#ifndef PALLADION_EMU_TIMING_GPU_LINKS_H_
#define PALLADION_EMU_TIMING_GPU_LINKS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "emu/chip/machines/amount.h"
#include "emu/timing/gpu/machine_costs.h"
#include "scheduler/virtual_clock.h"

namespace palladion::timing::gpu {

class GpuLinks {
 public:
  GpuLinks(const LinkCosts& costs, std::int64_t devices) : costs_(costs), links_(static_cast<std::size_t>(devices)) {}

  const LinkCosts& costs() const { return costs_; }

  struct Passed {
    scheduler::Ticks out, in;  // the last byte has left, and is at the last of those that it is for
  };
  // Bytes of `from`, once, to each of `to`.
  Passed Write(std::int64_t from, absl::Span<const std::int64_t> to, scheduler::Ticks at, machines::Bytes bytes);
  // Bytes of each of `from`, added up, to `to`: the last is there.
  scheduler::Ticks Read(absl::Span<const std::int64_t> from, std::int64_t to, scheduler::Ticks at,
                        machines::Bytes bytes);

  struct Use {
    scheduler::Ticks out, in;  // busy
    std::int64_t out_bytes = 0, in_bytes = 0;
  };
  Use use(std::int64_t device) const;
  scheduler::Server::Recent TakeRecent(std::int64_t device);  // of both, since the last call of this
  void Forget(scheduler::Ticks before);

 private:
  struct Link {
    scheduler::Server out, in;
    std::int64_t out_bytes = 0, in_bytes = 0;
  };
  Link& At(std::int64_t device) { return links_[static_cast<std::size_t>(device)]; }

  const LinkCosts costs_;
  std::vector<Link> links_;  // by device
};

}  // namespace palladion::timing::gpu

#endif  // PALLADION_EMU_TIMING_GPU_LINKS_H_
