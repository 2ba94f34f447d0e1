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
  const Ticks asked = chip(me.device).AskPort(me.sm, at, BytesOf(box));
  Ticks given = at;
  for (const std::int64_t device : of) given = std::max(given, chip(device).Give(at, box));
  return std::max(asked, links_->Read(of, me.device, given, BytesOf(box))) + link_latency();
}

GpuChip::Stored GpuNode::StoreDirectly(SmPlace me, Ticks at, absl::Span<const std::int64_t> of, const GlobalBox& box) {
  const Ticks asked = chip(me.device).AskPort(me.sm, at, BytesOf(box));
  const Ticks there = links_->Write(me.device, of, at, BytesOf(box)).in;
  GpuChip::Stored stored{.read = asked, .written = std::max(asked, there)};
  for (const std::int64_t device : of) stored.written = std::max(stored.written, chip(device).Take(there, box));
  return stored;
}

Ticks GpuNode::Load(SmPlace me, Ticks at, std::int64_t of, const GlobalBox& box) {
  const Ticks asked = chip(me.device).AskEngine(me.sm, at, box);
  const Ticks there = links_->Read({&of, 1}, me.device, chip(of).Give(at, box), BytesOf(box));
  const Ticks last = std::max(asked, there) + link_latency();
  return std::max(last, chip(me.device).Land(me.sm, at + link_latency(), BytesOf(box)));
}

GpuChip::Stored GpuNode::Store(SmPlace me, Ticks at, absl::Span<const std::int64_t> of, const GlobalBox& box) {
  const Ticks asked =
      std::max(chip(me.device).AskEngine(me.sm, at, box), chip(me.device).AskPort(me.sm, at, BytesOf(box)));
  // What the link has not taken yet is still in shared memory.
  const GpuLinks::Passed passed = links_->Write(me.device, of, at, BytesOf(box));
  GpuChip::Stored stored{.read = std::max(asked, passed.out), .written = std::max(asked, passed.in)};
  for (const std::int64_t device : of) stored.written = std::max(stored.written, chip(device).Take(passed.in, box));
  stored.written = stored.written + link_latency();
  return stored;
}

GpuChip::Use GpuNode::use() const {
  GpuChip::Use all;
  for (const GpuChip& one : chips_) all.Add(one.use());
  return all;
}

GpuChip::Asked GpuNode::TakeAsked(SmPlace me) {
  GpuChip::Asked asked = chip(me.device).TakeAsked(me.sm);
  if (links_.has_value()) asked.link = links_->TakeAsked(me.device);
  return asked;
}

void GpuNode::Forget(const GpuChip::Past& past) {
  for (GpuChip& one : chips_) one.Forget(past);
  if (links_.has_value()) links_->Forget(past.memory);
}

}  // namespace palladion::timing::gpu
