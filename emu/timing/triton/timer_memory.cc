// Loads, stores and atomics of a Triton block: which sectors its lanes request, of which cache, and when they arrive.
#include <algorithm>
#include <bit>
#include <utility>

#include "emu/timing/base/ticks.h"
#include "emu/timing/triton/timer.h"
#include "memory_model/bytes/memory.h"
#include "semantics/registry/op_row.h"

namespace palladion::timing::triton {

using base::TicksOf;
using gpu::ArrayLayout;
using gpu::BoxesOf;
using gpu::GlobalBox;
using gpu::GpuChip;
using gpu::L1Cache;
using gpu::LinesOf;
using gpu::Pipe;
using gpu::SectorLine;
using gpu::Stall;
using gpu::Touched;
using gpu::TouchedBy;
using machines::Bytes;
using machines::Count;
using machines::Cycles;
using scheduler::Ticks;

void TritonTimer::Box(const Who& who, AccessKind kind, const BoxAccess& access, const memory_model::BoxReach&,
                      const std::byte*) {
  if (block_ == nullptr || now_ == kNone || who.of_engine()) return;
  const ArrayLayout array = arrays_.LayoutOf(access.buffer);
  const Touched touched = TouchedBy(access, array);
  if (Shown()) timeline_->Reaches(memory_->NameOf(access.buffer), &access, touched.elements);
  Touch(kind, touched, array.element_bytes);
}

void TritonTimer::Points(const Who& who, AccessKind kind, const PointAccess& access, const std::byte*) {
  if (block_ == nullptr || now_ == kNone || who.of_engine()) return;
  const ArrayLayout array = arrays_.LayoutOf(access.buffer);
  const Touched touched = TouchedBy(access, array);
  if (Shown()) timeline_->Reaches(memory_->NameOf(access.buffer), nullptr, touched.elements);
  Touch(kind, touched, array.element_bytes);
}

void TritonTimer::Touch(AccessKind kind, const Touched& touched, std::int64_t element_bytes) {
  const TritonPlan& of = plan();
  if (of.work != TritonWork::kAccess && of.work != TritonWork::kAtomic) return;
  IssueAccess(touched, element_bytes);
  if (of.work == TritonWork::kAtomic) return Update(of, touched, element_bytes);
  if (kind == AccessKind::kRead) return Fetch(of, touched, element_bytes);
  Store(touched);
}

// A lane computes an address of 64 bits for each vector, with two instructions, and requests it.
void TritonTimer::IssueAccess(const Touched& touched, std::int64_t element_bytes) {
  constexpr std::int64_t kLanes = 32, kOfAddress = 2;
  const std::vector<Type>& types = plan().instr->types;
  std::int64_t elements = types.empty() ? touched.elements : NumElements(types[0].shape);
  elements = std::max({elements, touched.elements, std::int64_t{1}});
  const std::int64_t lanes = kLanes * warps_, of_lane = (elements + lanes - 1) / lanes;
  const std::int64_t vector = std::max<std::int64_t>(1, gpu::VectorBytes(touched.boxes, element_bytes) / element_bytes);
  const std::int64_t instructions = (of_lane + vector - 1) / vector;
  Work(gpu::BurstOf(costs_.common, Pipe::kAlu, kOfAddress * instructions * lanes, warps_));
  const std::int64_t of_quadrant =
      instructions * ((warps_ + costs_.common.issue_slots - 1) / costs_.common.issue_slots);
  const Cycles issue = Count(static_cast<double>(of_quadrant)) / costs_.common.issue_rate;
  Work({.slot = {}, .result = {}, .issue = issue, .pipe = Pipe::kNone});
}

// What was fetched ahead was requested in an earlier iteration, or, for the first ones, when the loop began.
Ticks TritonTimer::RequestedAt(const TritonPlan& of) const {
  if (!of.prefetched || block_->loops.empty()) return clock_.now();
  for (auto loop = block_->loops.rbegin(); loop != block_->loops.rend(); ++loop) {
    if (!IsLoop(RowOf(*loop->instr))) continue;
    const auto ahead = static_cast<std::size_t>(of.ahead), last = loop->begins.size() - 1;
    return loop->begins[last > ahead ? last - ahead : 0];
  }
  return clock_.now();
}

void TritonTimer::Fetch(const TritonPlan& of, const Touched& touched, std::int64_t element_bytes) {
  const Ticks at = RequestedAt(of);
  chip_.TakeRecent(block_->sm);  // by others
  const std::vector<SectorLine> lines = LinesOf(touched.boxes, sectors_);
  const std::int64_t array = touched.boxes.empty() ? 0 : touched.boxes.front().array;
  const GpuChip::Traffic before = chip_.traffic(array);
  const Ticks there = of.prefetched ? Copy(lines, at) : Load(lines, at);
  const gpu::GpuChip::Recent requested = chip_.TakeRecent(block_->sm);
  Ready ready{.at = there, .by = now_, .as = of.prefetched ? Stall::kCopyIn : Stall::kGlobalMemory};
  // The longest of what kept it waiting stands for all.
  const Ticks half{(there - at).value / 2};
  if (requested.l2.waited > half) ready.as = Stall::kL2;
  if (requested.port.waited > half) ready.as = Stall::kPort;
  if (requested.dram.waited > half) ready.as = Stall::kDram;
  if (of.read_back) {
    const Bytes all(static_cast<double>(touched.elements * element_bytes));
    ready.at = std::max(ready.at, chip_.AskPort(block_->sm, clock_.now(), all)) + TicksOf(costs_.common.smem_latency);
  }
  ready.staged = of.prefetched;
  if (Shown()) ShowLoad(of, ready, at, before, array);
  Make(ready);
}

// Each line takes a turn of L1, which is the port of shared memory, and gives up to 128 bytes.
Ticks TritonTimer::Load(absl::Span<const SectorLine> lines, Ticks at) {
  L1Cache& l1 = l1_[static_cast<std::size_t>(block_->sm)];
  const Bytes turns(static_cast<double>(static_cast<std::int64_t>(lines.size()) * sectors_.line_bytes));
  const Ticks through = chip_.AskPort(block_->sm, at, turns);
  Ticks there = through + TicksOf(costs_.l1_latency);
  std::vector<SectorLine> missed;
  for (const SectorLine& line : lines) {
    const L1Cache::Found found = l1.Look(line);
    if (found.missed != line.sectors) there = std::max(there, found.there);
    if (found.missed != 0) missed.push_back({.key = line.key, .sectors = found.missed});
  }
  for (const GlobalBox& box : BoxesOf(missed, sectors_)) there = std::max(there, chip_.Read(at, through, box));
  for (const SectorLine& line : missed) l1.Arrived(line, there);
  return there;
}

// Past L1 into shared memory.
Ticks TritonTimer::Copy(absl::Span<const SectorLine> lines, Ticks at) {
  Ticks there = at;
  std::int64_t bytes = 0;
  for (const GlobalBox& box : BoxesOf(lines, sectors_)) {
    there = std::max(there, chip_.Read(at, at, box));
    bytes += box.bytes();
  }
  const Ticks first = at + TicksOf(costs_.common.l2_latency);
  return std::max(there, chip_.Land(block_->sm, first, Bytes(static_cast<double>(bytes))));
}

// The block goes on at once. It is over when DRAM has what it stored: an H200 that copies writes at DRAM's rate
// (emu/timing/gpu/l2_cache.h).
void TritonTimer::Store(const Touched& touched) {
  const std::vector<SectorLine> lines = LinesOf(touched.boxes, sectors_);
  if (lines.empty()) return;
  const Bytes turns(static_cast<double>(static_cast<std::int64_t>(lines.size()) * sectors_.line_bytes));
  const Ticks through = chip_.AskPort(block_->sm, clock_.now(), turns);
  Ticks taken = through;
  for (const GlobalBox& box : BoxesOf(lines, sectors_)) taken = std::max(taken, chip_.TakeThrough(through, box));
  if (Shown()) timeline_->Stored(Here(clock_.now(), taken));
  DoneBy(taken);
}

// L2 carries out those on one address one after another.
void TritonTimer::Update(const TritonPlan& of, const Touched& touched, std::int64_t element_bytes) {
  const Ticks there = clock_.now() + Ticks{TicksOf(costs_.common.l2_latency).value / 2};
  Ticks last = there;
  for (const GlobalBox& box : touched.boxes) {
    last = std::max(last, chip_.Take(there, box));
    for (std::int64_t r = 0; r < box.planes * box.rows; ++r) {
      const std::int64_t row = box.first_byte + r / box.rows * box.plane_stride + r % box.rows * box.row_stride;
      for (std::int64_t b = 0; b < box.row_bytes; b += element_bytes) {
        const std::pair address(box.array, row + b);
        Ticks& free = updated_[address];
        free = std::max(free, there) + TicksOf(costs_.atomic);
        last = std::max(last, free);
        ++updates_[address];
      }
    }
  }
  if (Shown()) timeline_->Updated(Here(clock_.now(), last));
  DoneBy(last);
  if (of.stores) return;
  Make({.at = last + Ticks{TicksOf(costs_.common.l2_latency).value / 2}, .by = now_, .as = Stall::kGlobalMemory});
}

}  // namespace palladion::timing::triton
