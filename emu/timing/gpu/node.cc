#include "emu/timing/gpu/node.h"

#include <algorithm>

#include "emu/timing/base/ticks.h"

namespace palladion::timing::gpu {

using machines::Bytes;
using scheduler::Ticks;

namespace {

Bytes BytesOf(const GlobalBox& box) { return Bytes(static_cast<double>(box.bytes())); }

}  // namespace

GpuNode::GpuNode(const GpuCosts& costs, const std::optional<LinkCosts>& links, std::int64_t devices)
    : chips_(static_cast<std::size_t>(devices), GpuChip(costs)) {
  if (links.has_value()) links_.emplace(*links, devices);
}

Ticks GpuNode::link_latency() const { return base::TicksOf(links_->costs().latency); }

Ticks GpuNode::LoadDirectly(SmPlace me, Ticks at, absl::Span<const std::int64_t> of, const GlobalBox& box) {
  const Ticks requested = chip(me.device).AskPort(me.sm, at, BytesOf(box));
  Ticks given = at;
  for (const std::int64_t device : of) given = std::max(given, chip(device).Give(at, box));
  return std::max(requested, links_->Read(of, me.device, given, BytesOf(box))) + link_latency();
}

GpuChip::Stored GpuNode::StoreDirectly(SmPlace me, Ticks at, absl::Span<const std::int64_t> of, const GlobalBox& box) {
  const Ticks requested = chip(me.device).AskPort(me.sm, at, BytesOf(box));
  const Ticks there = links_->Write(me.device, of, at, BytesOf(box)).in;
  GpuChip::Stored stored{.read = requested, .written = std::max(requested, there)};
  for (const std::int64_t device : of) stored.written = std::max(stored.written, chip(device).Take(there, box));
  return stored;
}

Ticks GpuNode::Load(SmPlace me, Ticks at, std::int64_t of, const GlobalBox& box) {
  const Ticks requested = chip(me.device).AskEngine(me.sm, at, box);
  const Ticks there = links_->Read({&of, 1}, me.device, chip(of).Give(at, box), BytesOf(box));
  const Ticks last = std::max(requested, there) + link_latency();
  return std::max(last, chip(me.device).Land(me.sm, at + link_latency(), BytesOf(box)));
}

GpuChip::Stored GpuNode::Store(SmPlace me, Ticks at, absl::Span<const std::int64_t> of, const GlobalBox& box) {
  const Ticks requested =
      std::max(chip(me.device).AskEngine(me.sm, at, box), chip(me.device).AskPort(me.sm, at, BytesOf(box)));
  // What the link has not taken yet is still in shared memory.
  const GpuLinks::Passed passed = links_->Write(me.device, of, at, BytesOf(box));
  GpuChip::Stored stored{.read = std::max(requested, passed.out), .written = std::max(requested, passed.in)};
  for (const std::int64_t device : of) stored.written = std::max(stored.written, chip(device).Take(passed.in, box));
  stored.written = stored.written + link_latency();
  return stored;
}

GpuChip::Use GpuNode::use() const {
  GpuChip::Use all;
  for (const GpuChip& one : chips_) all.Add(one.use());
  return all;
}

GpuChip::Recent GpuNode::TakeRecent(SmPlace me) {
  GpuChip::Recent requested = chip(me.device).TakeRecent(me.sm);
  if (links_.has_value()) requested.link = links_->TakeRecent(me.device);
  return requested;
}

void GpuNode::Forget(const GpuChip::Past& past) {
  for (GpuChip& one : chips_) one.Forget(past);
  if (links_.has_value()) links_->Forget(past.memory);
}

}  // namespace palladion::timing::gpu
