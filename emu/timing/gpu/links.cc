#include "emu/timing/gpu/links.h"

#include <algorithm>

#include "emu/timing/base/ticks.h"

namespace palladion::timing::gpu {

using base::TicksOf;
using machines::Bytes;
using scheduler::Ticks;

GpuLinks::Passed GpuLinks::Write(std::int64_t from, absl::Span<const std::int64_t> to, Ticks at, Bytes bytes) {
  const Ticks time = TicksOf(bytes / costs_.write);
  const auto count = static_cast<std::int64_t>(bytes.value());
  At(from).out_bytes += count;
  Passed passed{.out = At(from).out.Serve(at, time), .in = {}};
  passed.in = passed.out;
  for (const std::int64_t device : to) {
    At(device).in_bytes += count;
    passed.in = std::max(passed.in, At(device).in.Serve(at, time));
  }
  return passed;
}

Ticks GpuLinks::Read(absl::Span<const std::int64_t> from, std::int64_t to, Ticks at, Bytes bytes) {
  const Ticks time = TicksOf(bytes / costs_.read);
  const auto count = static_cast<std::int64_t>(bytes.value());
  At(to).in_bytes += count;
  Ticks there = At(to).in.Serve(at, time);
  for (const std::int64_t device : from) {
    At(device).out_bytes += count;
    there = std::max(there, At(device).out.Serve(at, time));
  }
  return there;
}

GpuLinks::Use GpuLinks::use(std::int64_t device) const {
  const Link& link = links_[static_cast<std::size_t>(device)];
  return {.out = link.out.busy(), .in = link.in.busy(), .out_bytes = link.out_bytes, .in_bytes = link.in_bytes};
}

scheduler::Server::Recent GpuLinks::TakeRecent(std::int64_t device) {
  const scheduler::Server::Recent out = At(device).out.TakeRecent(), in = At(device).in.TakeRecent();
  return {.waited = std::max(out.waited, in.waited), .served = std::max(out.served, in.served)};
}

void GpuLinks::Forget(Ticks before) {
  for (Link& link : links_) {
    link.out.Forget(before);
    link.in.Forget(before);
  }
}

}  // namespace palladion::timing::gpu
