// Asynchronous operations of a thread: copies, matrix products, stores to other SMs and devices. GpuChip and GpuNode
// compute their time; here it is requested, and passed to the clock and the timeline.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

#include "emu/timing/base/ticks.h"
#include "emu/timing/mosaic_gpu/stall_causes.h"
#include "emu/timing/mosaic_gpu/timer.h"

namespace palladion::timing::mosaic_gpu {

using base::TicksOf;
using gpu::GlobalBox;
using gpu::GpuChip;
using gpu::SmPlace;
using machines::Bytes;
using scheduler::Ticks;
using timeline::SpanKind;

std::vector<GlobalBox> GpuTimer::BoxesOfOperand(const AsyncOperand& operand) const {
  const gpu::ArrayLayout array = LayoutOf(operand.buffer());
  std::vector<GlobalBox> boxes;
  if (const auto* box = std::get_if<BoxAccess>(&operand.where)) {
    boxes = BoxesOf(*box, array);
  } else {
    const auto& points = std::get<AsyncPoints>(operand.where);
    boxes = BoxesOf(points.offset, points.piece_bytes.value(), array);
  }
  for (GlobalBox& box : boxes) box.landing_bytes = plans_[now_.plan].landing_bytes;
  return boxes;
}

void GpuTimer::Issued(const Who& who, const AsyncRequest& request) {
  if (now_.plan == kNoPlan || who.at_once) return;
  const auto plan = static_cast<std::size_t>(now_.plan);
  // A commit, which only signals that earlier operations are over, takes no time itself: the time until a wait for it
  // returns is that of the products.
  if (request.after_earlier) {
    signalled_by_engine_[plan] = true;
    if (const std::int32_t last = now_.thread->last_engine; last != kNoPlan) ends_as_[plan] = StallOf(plans_[last]);
    if (Shown()) timeline_->Commits(Here(clock_.now(), clock_.now()), request);
    return clock_.AppointNext({clock_.now(), clock_.now()}, now_.plan);
  }
  now_.thread->last_engine = now_.plan;
  switch (plans_[now_.plan].work) {
    case GpuWork::kCopyIn:
      return IssueCopyIn(request);
    case GpuWork::kCopyOut:
      return IssueCopyOut(request);
    case GpuWork::kProduct:
    case GpuWork::kTensorCopy:
      return IssueProduct(request);
    case GpuWork::kPeerStore:
      return IssuePeerStore(request);
    case GpuWork::kAccess:
      if (InTensorMemory() && plans_[now_.plan].stores && !request.destinations.empty()) {
        const AsyncOperand& to = request.destinations[0];
        AccessTensor(to.buffer(), std::get_if<BoxAccess>(&to.where));
      }
      return;
    default:
      return;
  }
}

// One that a false predicate keeps from moving anything only arrives.
void GpuTimer::IssueCopyIn(const AsyncRequest& request) {
  if (request.sources.empty()) return clock_.AppointNext({clock_.now()}, now_.plan);
  signalled_by_engine_[static_cast<std::size_t>(now_.plan)] = true;
  Charge(TicksOf(costs_.tma_issue));
  const SmPlace me = now_.thread->at;
  std::vector<std::int64_t> sms = {me.sm};
  const std::int64_t first = me.sm - me.sm % cluster_size_;
  for (std::int64_t sm = first; sms.size() < request.destinations.size() && sm < first + cluster_size_; ++sm) {
    if (sm != me.sm) sms.push_back(sm);
  }
  const std::int64_t of = DeviceOf(request.sources[0].buffer());
  Ticks landed = clock_.now();
  for (const GlobalBox& box : BoxesOfOperand(request.sources[0])) {
    landed =
        std::max(landed, of == me.device ? Chip().Load(sms, clock_.now(), box) : node_.Load(me, clock_.now(), of, box));
  }
  if (Shown()) timeline_->Copied(Here(clock_.now(), landed), SpanKind::kCopyIn, request);
  clock_.AppointNext({clock_.now(), landed}, now_.plan);
}

// To one device, or to several at once.
void GpuTimer::IssueCopyOut(const AsyncRequest& request) {
  Charge(TicksOf(costs_.tma_issue));
  const SmPlace me = now_.thread->at;
  std::vector<std::int64_t> to;
  for (const AsyncOperand& destination : request.destinations) to.push_back(DeviceOf(destination.buffer()));
  const bool here = to.size() == 1 && to[0] == me.device;
  GpuChip::Stored stored{.read = clock_.now(), .written = clock_.now()};
  for (const GlobalBox& box : BoxesOfOperand(request.destinations[0])) {
    const GpuChip::Stored part = here ? Chip().Store(me.sm, clock_.now(), box) : node_.Store(me, clock_.now(), to, box);
    stored = {.read = std::max(stored.read, part.read), .written = std::max(stored.written, part.written)};
  }
  if (Shown()) timeline_->Copied(Here(clock_.now(), stored.written), SpanKind::kCopyOut, request);
  clock_.AppointNext({stored.read, stored.written}, now_.plan);
}

// A pair's blocks are neighbours.
void GpuTimer::IssueProduct(const AsyncRequest& request) {
  const GpuPlan& plan = plans_[now_.plan];
  const std::int64_t mine = now_.thread->at.sm, in_cluster = mine % cluster_size_;
  std::vector<std::int64_t> sms = {mine};
  if (plan.pair) sms.push_back(mine - in_cluster + (in_cluster ^ 1));
  const Ticks requested = clock_.operation_began() - now_.waited;
  const Ticks result = Chip().Multiply(sms, requested, plan.tensor);
  if (Shown()) {
    const Ticks began = std::max(requested, result - TicksOf(plan.tensor.pipe + plan.tensor.drain));
    timeline_->Multiplied(Here(began, result), request);
  }
  Charge(requested + TicksOf(plan.tensor.issue) - clock_.now());
  clock_.AppointNext({clock_.now(), std::max(clock_.now(), result)}, now_.plan);
}

void GpuTimer::IssuePeerStore(const AsyncRequest& request) {
  const Bytes bytes(static_cast<double>(request.destinations[0].bytes.value()));
  Charge(TicksOf(bytes / *costs_.dsmem_store));
  clock_.AppointNext({clock_.now() + TicksOf(*costs_.dsmem_latency)}, now_.plan);
}

}  // namespace palladion::timing::mosaic_gpu
