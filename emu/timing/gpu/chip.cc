#include "emu/timing/gpu/chip.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "emu/timing/base/ticks.h"

namespace palladion::timing::gpu {

using base::TicksOf;
using machines::Bytes;
using machines::Cycles;
using scheduler::Ticks;

GpuChip::GpuChip(const GpuCosts& costs)
    : costs_(costs),
      sms_(static_cast<std::size_t>(costs.sms)),
      cache_({.line_bytes = static_cast<std::int64_t>(costs.l2_line.value()),
              .sector_bytes = static_cast<std::int64_t>(costs.l2_sector.value()),
              .lines = std::max<std::int64_t>(1, static_cast<std::int64_t>(costs.l2_size / costs.l2_line)),
              .together = TicksOf(costs.tma_l2_latency)}) {
  for (Sm& sm : sms_) sm.quadrants.resize(static_cast<std::size_t>(costs.issue_slots));
}

namespace {

constexpr std::string_view kTensorCores = "tensor cores", kPort = "shared memory port", kEngine = "copy engine",
                           kLanding = "copies into shared memory";

}  // namespace

Ticks GpuChip::Serve(const Sm& sm, std::string_view unit, scheduler::Server& server, Ticks at, Ticks time) {
  server.Forget(past_.products);
  if (&sm != watched_) return server.Serve(at, time);
  pieces_.clear();
  const Ticks end = server.Serve(at, time, &pieces_);
  for (const scheduler::Server::Piece& piece : pieces_) watcher_(unit, piece);
  return end;
}

Ticks GpuChip::Multiply(absl::Span<const std::int64_t> sms, Ticks at, const TensorWork& work) {
  const Ticks pipe = TicksOf(work.pipe), operands = TicksOf(work.port);
  Ticks over = at;
  for (const std::int64_t sm : sms) {
    const Ticks end = Serve(At(sm), kTensorCores, At(sm).tensor, at, pipe);
    // What it reads goes through the port while it runs, before what copies write: those that have been given their
    // time keep it, and later ones find what is left.
    const Ticks begin = std::max(at, end - pipe);
    Serve(At(sm), kPort, At(sm).port, begin, operands);
    At(sm).reads.Forget(past_.products);
    over = std::max({over, end, At(sm).reads.Serve(begin, operands)});
  }
  return over + TicksOf(work.drain);
}

GpuChip::Traffic& GpuChip::TrafficOf(std::int64_t array) {
  const auto at = static_cast<std::size_t>(array);
  if (at >= traffic_.size()) traffic_.resize(at + 1);
  return traffic_[at];
}

GpuChip::Fetched GpuChip::Fetch(Ticks at, const GlobalBox& box, const Route& way) {
  const L2Cache::Found found = cache_.Look(box, at);
  const Bytes from_l2 = BytesOf(found.hit + found.missed), from_dram = BytesOf(found.missed);
  l2_bytes_ += static_cast<std::int64_t>(from_l2.value());
  dram_bytes_ += static_cast<std::int64_t>(from_dram.value());
  Traffic& traffic = TrafficOf(box.array);
  traffic.read += static_cast<std::int64_t>(BytesOf(found.merged + found.hit + found.missed).value());
  traffic.missed += static_cast<std::int64_t>(from_dram.value());
  ForgetMemory();
  const Ticks given =
      std::max(l2_.Serve(at, TicksOf(from_l2 / costs_.l2)), dram_.Serve(at, TicksOf(from_dram / costs_.dram)));
  if (found.missed > 0) cache_.Arrived(given + (way.far - way.near));
  const Ticks latency = found.missed > 0 ? way.far : way.near;
  return {.first = at + latency,
          .last = std::max(std::max(way.requested, given) + latency, found.in_flight + way.near)};
}

// L2 keeps it. No thread waits until DRAM has it, but DRAM's free rate limits it.
Ticks GpuChip::Write(Ticks at, const GlobalBox& box, Ticks* taken) {
  const L2Cache::Found found = cache_.Store(box, at);
  const Bytes all = BytesOf(found.hit);
  ForgetMemory();
  l2_bytes_ += static_cast<std::int64_t>(all.value());
  TrafficOf(box.array).written += static_cast<std::int64_t>(all.value());
  *taken = std::max(*taken, l2_.Serve(at, TicksOf(all / costs_.l2)));
  const Bytes dirtied = BytesOf(found.dirtied);
  dram_bytes_ += static_cast<std::int64_t>(dirtied.value());
  return dram_.Serve(at, TicksOf(dirtied / costs_.dram));
}

namespace {

Cycles EngineTimeOf(const GpuCosts& costs, const GlobalBox& box) {
  const std::int64_t row = box.landing_bytes == 0 ? box.row_bytes : std::min(box.landing_bytes, box.row_bytes);
  const std::int64_t rows = box.planes * box.rows * ((box.row_bytes + row - 1) / row);
  return EngineTime(costs, rows, Bytes(static_cast<double>(row)));
}

}  // namespace

Ticks GpuChip::Land(std::int64_t sm, Ticks at, Bytes bytes) {
  if (!costs_.smem_landing.has_value()) return Serve(At(sm), kPort, At(sm).port, at, TicksOf(PortTime(costs_, bytes)));
  return Serve(At(sm), kLanding, At(sm).landing, at, TicksOf(bytes / *costs_.smem_landing));
}

Ticks GpuChip::Load(absl::Span<const std::int64_t> sms, Ticks at, const GlobalBox& box) {
  const Ticks engine = TicksOf(EngineTimeOf(costs_, box));
  Sm& first = At(sms.front());
  const Ticks requested = Serve(first, kEngine, first.engine, at, engine);
  const Ticks begin = std::max(at, requested - engine);
  // When all rows have been requested, the latency of the last one is left.
  const Route way{
      .requested = requested, .near = TicksOf(costs_.tma_l2_latency), .far = TicksOf(costs_.tma_dram_latency)};
  const Fetched fetched = Fetch(begin, box, way);
  const Bytes all(static_cast<double>(box.bytes()));
  Ticks landed = fetched.last;
  for (const std::int64_t sm : sms) landed = std::max(landed, Land(sm, fetched.first, all));
  return landed;
}

GpuChip::Stored GpuChip::Store(std::int64_t sm, Ticks at, const GlobalBox& box) {
  const Bytes all(static_cast<double>(box.bytes()));
  const Ticks engine = Serve(At(sm), kEngine, At(sm).engine, at, TicksOf(EngineTimeOf(costs_, box)));
  const Ticks read = std::max(engine, Serve(At(sm), kPort, At(sm).port, at, TicksOf(PortTime(costs_, all))));
  Ticks taken = read;
  Write(at, box, &taken);
  return {.read = read, .written = taken + TicksOf(costs_.tma_l2_latency)};
}

Ticks GpuChip::AskPort(std::int64_t sm, Ticks at, Bytes bytes) {
  return Serve(At(sm), kPort, At(sm).port, at, TicksOf(PortTime(costs_, bytes)));
}

Ticks GpuChip::AskEngine(std::int64_t sm, Ticks at, const GlobalBox& box) {
  return Serve(At(sm), kEngine, At(sm).engine, at, TicksOf(EngineTimeOf(costs_, box)));
}

Ticks GpuChip::Give(Ticks at, const GlobalBox& box) {
  return Fetch(at, box, {.requested = at, .near = {}, .far = TicksOf(costs_.tma_dram_latency - costs_.tma_l2_latency)})
      .last;
}

Ticks GpuChip::Take(Ticks at, const GlobalBox& box) {
  Ticks taken = at;
  Write(at, box, &taken);
  return taken;
}

Ticks GpuChip::LoadDirectly(std::int64_t sm, Ticks at, const GlobalBox& box) {
  return Read(at, AskPort(sm, at, Bytes(static_cast<double>(box.bytes()))), box);
}

Ticks GpuChip::Read(Ticks at, Ticks requested, const GlobalBox& box) {
  const Route way{.requested = requested, .near = TicksOf(costs_.l2_latency), .far = TicksOf(costs_.dram_latency)};
  return Fetch(at, box, way).last;
}

Ticks GpuChip::StoreDirectly(std::int64_t sm, Ticks at, const GlobalBox& box) {
  const Ticks requested = AskPort(sm, at, Bytes(static_cast<double>(box.bytes())));
  Ticks taken = requested;
  Write(at, box, &taken);
  return requested;
}

Ticks GpuChip::TakeThrough(Ticks at, const GlobalBox& box) {
  Ticks taken = at;
  const Ticks through = Write(at, box, &taken);
  return std::max(taken, through);
}

void GpuChip::ForgetMemory() {
  l2_.Forget(past_.memory);
  dram_.Forget(past_.memory);
}

std::int64_t GpuChip::least_dram_bytes() const {
  return static_cast<std::int64_t>((BytesOf(cache_.read()) + BytesOf(cache_.written())).value());
}

Ticks GpuChip::Compute(std::int64_t sm, Ticks at, const Burst& burst, std::int64_t quadrant) {
  const Ticks issue = TicksOf(burst.issue), pipe = TicksOf(burst.slot);
  Ticks over = at;
  const auto number = static_cast<std::size_t>(burst.pipe);
  std::vector<Quadrant>& quadrants = At(sm).quadrants;
  const Sm* const drawn = &At(sm);
  const auto serve = [&](Quadrant& it) {
    it.issue.Forget(past_.registers);
    it.pipes[number].Forget(past_.registers);
    if (drawn == watched_ && &it == &quadrants.front()) {
      over = std::max({over, Serve(*drawn, "issue slots", it.issue, at, issue),
                       Serve(*drawn, kPipeNames[number], it.pipes[number], at, pipe)});
    } else {
      over = std::max({over, it.issue.Serve(at, issue), it.pipes[number].Serve(at, pipe)});
    }
  };
  if (quadrant == kAllQuadrants) {
    for (Quadrant& it : quadrants) serve(it);
  } else {
    serve(quadrants[static_cast<std::size_t>(quadrant) % quadrants.size()]);
  }
  return over + TicksOf(burst.result - burst.slot);
}

Ticks GpuChip::LoadTensor(std::int64_t sm, Ticks at, const Burst& burst) {
  return Serve(At(sm), "tensor memory reads", At(sm).tensor_loads, at, TicksOf(burst.slot)) +
         TicksOf(burst.result - burst.slot);
}

Ticks GpuChip::StoreTensor(std::int64_t sm, Ticks at, const Burst& burst) {
  return Serve(At(sm), "tensor memory writes", At(sm).tensor_stores, at, TicksOf(burst.slot)) +
         TicksOf(burst.result - burst.slot);
}

Ticks GpuChip::Access(std::int64_t sm, Ticks at, const PortUse& use) {
  conflicts_ = conflicts_ + TicksOf(use.conflicts);
  return Serve(At(sm), kPort, At(sm).port, at, TicksOf(use.time)) + TicksOf(costs_.smem_latency);
}

namespace {

constexpr std::array kUses = {&GpuChip::Use::tensor,    &GpuChip::Use::issue,        &GpuChip::Use::port,
                              &GpuChip::Use::engine,    &GpuChip::Use::tensor_loads, &GpuChip::Use::tensor_stores,
                              &GpuChip::Use::conflicts, &GpuChip::Use::l2,           &GpuChip::Use::dram};

}  // namespace

void GpuChip::Use::AddShare(double share) {
  const auto more = [share](std::int64_t sum) { return std::llround(share * static_cast<double>(sum)); };
  for (const auto member : kUses) {
    if (member != &Use::dram) (this->*member).value += more((this->*member).value);
  }
  for (Ticks& pipe : pipes) pipe.value += more(pipe.value);
  l2_bytes += more(l2_bytes);
}

void GpuChip::Use::Add(const Use& other) {
  for (const auto member : kUses) this->*member = this->*member + other.*member;
  for (std::size_t p = 0; p < kPipes; ++p) pipes[p] = pipes[p] + other.pipes[p];
  l2_bytes += other.l2_bytes;
  dram_bytes += other.dram_bytes;
}

GpuChip::Use GpuChip::use() const {
  Use use{.conflicts = conflicts_,
          .l2 = l2_.busy(),
          .dram = dram_.busy(),
          .l2_bytes = l2_bytes_,
          .dram_bytes = dram_bytes_};
  for (const Sm& sm : sms_) {
    use.tensor = use.tensor + sm.tensor.busy();
    for (const Quadrant& quadrant : sm.quadrants) {
      use.issue = use.issue + quadrant.issue.busy();
      for (std::size_t p = 0; p < kPipes; ++p) use.pipes[p] = use.pipes[p] + quadrant.pipes[p].busy();
    }
    use.port = use.port + sm.port.busy();
    use.engine = use.engine + sm.engine.busy();
    use.tensor_loads = use.tensor_loads + sm.tensor_loads.busy();
    use.tensor_stores = use.tensor_stores + sm.tensor_stores.busy();
  }
  use.issue.value /= costs_.issue_slots;
  for (Ticks& pipe : use.pipes) pipe.value /= costs_.issue_slots;
  return use;
}

GpuChip::Recent GpuChip::TakeRecent(std::int64_t sm) {
  Sm& it = At(sm);
  scheduler::Server::Recent issue;  // of the quadrant that the warpgroup waited for longest; it uses all
  for (Quadrant& quadrant : it.quadrants) {
    const scheduler::Server::Recent one = quadrant.issue.TakeRecent();
    issue = {.waited = std::max(issue.waited, one.waited), .served = std::max(issue.served, one.served)};
  }
  return {.issue = issue,
          .port = it.port.TakeRecent(),
          .tensor_loads = it.tensor_loads.TakeRecent(),
          .tensor_stores = it.tensor_stores.TakeRecent(),
          .l2 = l2_.TakeRecent(),
          .dram = dram_.TakeRecent(),
          .link = {}};
}

}  // namespace palladion::timing::gpu
