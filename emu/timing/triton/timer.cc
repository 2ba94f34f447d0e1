#include "emu/timing/triton/timer.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "emu/timing/base/placed_steps.h"
#include "emu/timing/base/ticks.h"
#include "emu/timing/gpu/fused_products.h"
#include "semantics/base/status.h"
#include "semantics/registry/op_row.h"

namespace palladion::timing::triton {

using base::TicksOf;
using gpu::Burst;
using gpu::HowOf;
using gpu::Spent;
using gpu::Stall;
using machines::Bytes;
using machines::Cycles;
using scheduler::Ticks;

namespace {

gpu::SectorSizes SizesOf(const gpu::GpuCosts& costs) {
  return {.line_bytes = static_cast<std::int64_t>(costs.l2_line.value()),
          .sector_bytes = static_cast<std::int64_t>(costs.l2_sector.value())};
}

absl::Status PlanRegion(const TritonPlanner& planner, const Region& region, std::vector<TritonPlan>* plans) {
  const absl::flat_hash_set<const Instr*> fused = gpu::FusedProducts(region);
  for (const Instr& instr : region.body) {
    PALLADION_ASSIGN_OR_RETURN(TritonPlan plan, planner.PlanOf(instr));
    if (fused.contains(&instr)) plan.work = TritonWork::kFree;
    plans->push_back(std::move(plan));
    for (const Region& inner : instr.regions) PALLADION_RETURN_IF_ERROR(PlanRegion(planner, inner, plans));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<TritonTimer>> TritonTimer::Create(const kernel::PreparedKernelState& kernel,
                                                                 const TritonCosts& costs, const On& on) {
  const TritonValues values(kernel.text());
  const TritonPlanner planner(kernel.module(), kernel.text(), costs, values);
  Planned planned{.plans = {}, .of_step = {}, .warps = planner.warps()};
  for (const Body& body : kernel.text().bodies)
    PALLADION_RETURN_IF_ERROR(PlanRegion(planner, body.region, &planned.plans));
  // A block's program computes where its blocks of the operands lie.
  for (const Operand& operand : kernel.text().operands) {
    if (operand.block.has_value()) PALLADION_RETURN_IF_ERROR(PlanRegion(planner, operand.block->map, &planned.plans));
  }
  absl::flat_hash_map<const Instr*, std::int32_t> number_of;
  for (std::size_t i = 0; i < planned.plans.size(); ++i)
    number_of[planned.plans[i].instr] = static_cast<std::int32_t>(i);
  PALLADION_ASSIGN_OR_RETURN(planned.of_step, base::InstructionsOfSteps(kernel.program(), number_of));
  return std::unique_ptr<TritonTimer>(new TritonTimer(kernel, costs, on, std::move(planned)));
}

TritonTimer::TritonTimer(const kernel::PreparedKernelState& kernel, const TritonCosts& costs, const On& on,
                         Planned planned)
    : kernel_(kernel),
      costs_(costs),
      sectors_(SizesOf(costs.common)),
      chip_(costs.common),
      l1_(static_cast<std::size_t>(costs.common.sms), gpu::L1Cache(on.l1_lines)),
      places_(on.room),
      plans_(std::move(planned.plans)),
      of_step_(std::move(planned.of_step)),
      warps_(planned.warps),
      spent_(plans_.size()),
      equal_(on.equal) {
  clock_.ReportTo(path_);
}

void TritonTimer::Bound(memory_model::Memory& memory, absl::Span<const BufferId> arrays) {
  memory_ = &memory;
  arrays_.Bound(memory, arrays);
}

// ---- blocks

TritonTimer::Block& TritonTimer::BlockOf(const Frame& frame) {
  const auto [found, added] = blocks_.try_emplace(frame.agent().value);
  Block& block = found->second;
  if (!added) return block;
  const gpu::BlockPlaces::Place place = places_.Begin();
  if (equal_.count > 0) NoteBegin(place.begins);
  block.sm = place.group;
  block.first_quadrant = frame.program_number() * warps_;
  block.ready.resize(kernel_.text().values.size());
  if (place.begins.value == 0) {
    ShowBlock(frame, block, place.begins);
    return block;
  }
  const Ticks launch = TicksOf(costs_.common.replace);
  launches_ = launches_ + launch;
  if (const auto left = left_.find({place.group, place.begins - launch}); left != left_.end()) {
    path_.StartFrom(clock_.running(), left->second);
    path_.Release(left->second);
    left_.erase(left);
  }
  path_.Spent(clock_.running(), launch, {.what = kNone, .how = HowOf(Stall::kLaunch)});
  clock_.MoveTo(place.begins);
  ShowBlock(frame, block, place.begins - launch);
  return block;
}

// Blocks of a wave may begin together or one by one, so the pace is that of the mean beginning of a wave.
void TritonTimer::NoteBegin(Ticks at) {
  if (begun_ == equal_.like || begun_ == equal_.first) marks_.push_back(TotalsAt(at));
  for (std::size_t w = 0; w < beginnings_.size(); ++w) {
    const std::int64_t wave = equal_.like + static_cast<std::int64_t>(w) * (equal_.first - equal_.like) / 2;
    if (begun_ >= wave && begun_ < wave + places_.room()) beginnings_[w] = beginnings_[w] + at;
  }
  ++begun_;
}

double TritonTimer::PaceOf(std::size_t sooner, std::size_t later) const {
  const auto blocks = static_cast<double>(equal_.first - equal_.like) * static_cast<double>(later - sooner) / 2;
  return static_cast<double>((beginnings_[later] - beginnings_[sooner]).value) / static_cast<double>(places_.room()) /
         blocks;
}

bool TritonTimer::Steady() const {
  constexpr double kMost = 0.1;  // of the pace of all
  return equal_.count == 0 || std::abs(PaceOf(0, 1) - PaceOf(1, 2)) <= kMost * PaceOf(0, 2);
}

// The SM has its room back when all that the block has requested is done.
void TritonTimer::EndBlock(const Frame& frame) {
  now_ = block_->done_by;
  Stalled(Stall::kGlobalMemory, block_->done - clock_.now());
  if (Shown()) timeline_->Ends(block_->place, clock_.now());
  places_.End(block_->sm, clock_.now());
  left_.emplace(std::pair(block_->sm, clock_.now()), path_.Hold(clock_.running()));
  blocks_.erase(frame.agent().value);
}

void TritonTimer::Before(const Step& step, Frame& frame) {
  constexpr std::int64_t kForgetEvery = 4096, kShowEvery = 64;
  block_ = &BlockOf(frame);
  if (timeline_.has_value() && steps_ % kShowEvery == 0)
    timeline_->Use(chip_, clock_.operation_began(), costs_.common.sms);
  now_ = of_step_[static_cast<std::size_t>(&step - kernel_.program().steps.data())];
  if (++steps_ % kForgetEvery == 0) {
    // The requests of loads are in iterations that are over.
    const Ticks began = clock_.operation_began(), long_ago = began - TicksOf(Cycles(1e6));
    chip_.Forget({.registers = began, .memory = long_ago, .products = long_ago});
  }
  if (step.kind == StepKind::kMark || now_ == kNone) return;
  clock_.CallRunning(now_);
  const Ticks waited = clock_.TakeWaited();  // for another block
  if (waited.value == 0) return;
  if (Shown()) timeline_->Stalled(Here(clock_.now() - waited, clock_.now()), Stall::kOther, kNone);
  Spent& spent = spent_[static_cast<std::size_t>(now_)];
  spent.waited = spent.waited + waited;
  Ticks& other = spent.stalls[static_cast<std::size_t>(Stall::kOther)];
  other = other + waited;
}

void TritonTimer::After(const Step& step, Frame& frame) {
  if (const Mark* const mark = MarkOf(step); mark != nullptr && now_ != kNone) Pass(*mark);
  if (timeline_.has_value()) timeline_->Look(*memory_, block_->place, clock_.operation_began());
  if (frame.done()) EndBlock(frame);
  block_ = nullptr;
  now_ = kNone;
}

// ---- instructions

void TritonTimer::Pass(const Mark& mark) {
  switch (mark.kind) {
    case Mark::Kind::kBegin: {
      const bool waits = plan().work != TritonWork::kFree;
      for (const ValueId value : plan().reads) {
        if (waits) Await(At(value));
      }
      if (mark.instr->regions.empty()) return;
      Loop loop{.instr = mark.instr, .begins = {clock_.now()}, .carried = {}};
      const std::size_t first =
          plan().work == TritonWork::kBranch && RowOf(*mark.instr).loops == Loops::kBranch ? 1 : 0;
      for (std::size_t i = first; i < mark.instr->args.size(); ++i)
        loop.carried.push_back(ReadyOf(mark.instr->args[i]));
      if (Shown()) timeline_->Iterates(block_->place, clock_.now());
      block_->loops.push_back(std::move(loop));
      return;
    }
    case Mark::Kind::kEnter:
      return Enter(mark);
    case Mark::Kind::kLeave:
      return Leave(mark);
    case Mark::Kind::kFinish:
      ++spent_[static_cast<std::size_t>(now_)].runs;
      flops_ += plan().flops;
      return Finish(plan());
  }
}

// What comes in stands last among parameters, and what goes out among results.
void TritonTimer::Enter(const Mark& mark) {
  Loop& loop = block_->loops.back();
  const std::vector<Param>& params = mark.region->params;
  for (std::size_t i = 0; i < params.size() && i < loop.carried.size(); ++i) {
    const ValueId value = params[params.size() - 1 - i].value;
    if (value.valid()) At(value) = loop.carried[loop.carried.size() - 1 - i];
  }
  const bool condition = RowOf(*loop.instr).loops == Loops::kWhile && mark.region == &loop.instr->regions[0];
  if (condition) return;
  if (IsLoop(RowOf(*loop.instr))) {
    Charge(TicksOf(costs_.common.alu_interval));
    if (Shown()) timeline_->Iterates(block_->place, clock_.now());
    loop.begins.push_back(clock_.now());
  }
}

void TritonTimer::Leave(const Mark& mark) {
  Loop& loop = block_->loops.back();
  if (RowOf(*loop.instr).loops == Loops::kWhile && mark.region == &loop.instr->regions[0]) {
    for (const Arg& result : mark.region->results) Await(ReadyOf(result));
    return;
  }
  loop.carried.clear();
  for (const Arg& result : mark.region->results) loop.carried.push_back(ReadyOf(result));
}

void TritonTimer::Finish(const TritonPlan& plan) {
  switch (plan.work) {
    case TritonWork::kFree: {
      Ready last;
      for (const ValueId value : plan.reads) {
        if (At(value).at > last.at) last = At(value);
      }
      last.staged = plan.reads.size() == 1 && At(plan.reads[0]).staged;
      return Make(last);
    }
    case TritonWork::kRegisters:
      for (const Burst& burst : plan.bursts) Work(burst);
      if (!plan.bursts.empty()) {
        const Cycles latency = plan.bursts.back().result - plan.bursts.back().slot;
        Make({.at = clock_.now() + TicksOf(latency), .by = now_, .as = Stall::kArithmetic});
      }
      return;
    case TritonWork::kReduction:
      return Reduce(plan);
    case TritonWork::kProduct:
      return Multiply(plan);
    case TritonWork::kLoop:
    case TritonWork::kBranch: {
      const std::vector<Ready> out = std::move(block_->loops.back().carried);
      block_->loops.pop_back();
      const std::vector<ValueId>& results = plan.instr->results;
      for (std::size_t i = 0; i < results.size() && i < out.size(); ++i) {
        const ValueId value = results[results.size() - 1 - i];
        if (value.valid()) At(value) = out[out.size() - 1 - i];
      }
      return;
    }
    case TritonWork::kAccess:
    case TritonWork::kAtomic:
      return;  // memory has said what it touches
  }
}

// Lanes fold what they hold, then shuffle; warps that hold parts of a result synchronise and read each other's.
void TritonTimer::Reduce(const TritonPlan& plan) {
  for (const Burst& burst : plan.bursts) Work(burst);
  Ready ready{.at = clock_.now() + TicksOf(plan.chain), .by = now_, .as = Stall::kArithmetic};
  if (plan.meets) {
    Await(ready);
    Exchange(plan.exchanged);
    ready.at = clock_.now() + TicksOf(costs_.common.smem_latency + costs_.common.shfl_latency);
  }
  Make(ready);
}

void TritonTimer::Multiply(const TritonPlan& plan) {
  PlaceOperands(plan);
  if (plan.product == TritonProduct::kFma) {
    for (const Burst& burst : plan.bursts) Work(burst);
    Make({.at = clock_.now() + TicksOf(costs_.common.fp32_latency), .by = now_, .as = Stall::kProduct});
    return;
  }
  const Ticks began = clock_.now();
  const Ticks least = began + TicksOf(plan.chained + plan.tensor.drain);
  const Ready result{
      .at = std::max(least, chip_.Multiply({&block_->sm, 1}, began, plan.tensor)), .by = now_, .as = Stall::kProduct};
  Charge(TicksOf(plan.tensor.issue));
  ShowProduct(plan, began, result.at);
  Make(result);
  const bool at_once = plan.product == TritonProduct::kMmaSync;
  if (at_once) {  // its warps go on when their last instruction has begun
    Ready issued = result;
    issued.at = result.at - TicksOf(plan.tensor.drain);
    Await(issued);
  } else if (!plan.overlaps) {
    Await(result);
  } else if (const auto last = block_->last_product.find(now_); last != block_->last_product.end()) {
    Await(last->second);
  }
  block_->last_product[now_] = result;
}

// Into shared memory, once for each value that is not there.
void TritonTimer::PlaceOperands(const TritonPlan& plan) {
  bool meets = false;
  for (std::size_t i = 0; i < plan.operands.size(); ++i) {
    const Arg& arg = plan.instr->args[i];
    meets |= plan.operands[i] == TritonOperand::kPrefetched;
    if (plan.operands[i] != TritonOperand::kStaged) continue;
    if (arg.kind == Arg::Kind::kValue && std::exchange(At(arg.value).staged, true)) continue;
    const Ticks through = chip_.AskPort(block_->sm, clock_.now(), Bytes(static_cast<double>(plan.operand_bytes[i])));
    Stalled(Stall::kPort, through - clock_.now());
    if (plan.product == TritonProduct::kWgmma) Charge(TicksOf(costs_.common.fence));
    meets = true;
  }
  if (meets) Meet();
}

// ---- the block's time

void TritonTimer::Await(const Ready& ready) { Stalled(ready.as, ready.at - clock_.now(), ready.by); }

void TritonTimer::Work(const Burst& burst) {
  const Ticks began = clock_.now();
  Ticks over = began;
  if (warps_ >= costs_.common.issue_slots) {
    over = chip_.Compute(block_->sm, began, burst);
  } else {
    for (std::int64_t w = 0; w < warps_; ++w)
      over = std::max(over, chip_.Compute(block_->sm, began, burst, block_->first_quadrant + w));
  }
  const Ticks all = over - began - TicksOf(burst.result - burst.slot);
  const Ticks own = std::min(all, TicksOf(std::max(burst.slot, burst.issue)));
  Stalled(Stall::kIssueSlots, all - own);
  Charge(own);
}

// Warps store what they have, synchronise, and read.
void TritonTimer::Exchange(std::int64_t bytes) {
  const Ticks through = chip_.AskPort(block_->sm, clock_.now(), Bytes(2 * static_cast<double>(bytes)));
  Stalled(Stall::kPort, through - clock_.now());
  Meet();
}

void TritonTimer::Meet() {
  if (warps_ == 1) return;
  Stalled(Stall::kMeeting,
          TicksOf(costs_.common.barrier_base + static_cast<double>(warps_) * costs_.common.barrier_per_warp));
}

void TritonTimer::Charge(Ticks time) {
  if (time.value <= 0) return;
  if (Shown()) timeline_->Worked(Here(clock_.now(), clock_.now() + time));
  clock_.Spend(time, {.what = now_});
  Spent& spent = spent_[static_cast<std::size_t>(now_)];
  spent.busy = spent.busy + time;
}

void TritonTimer::Stalled(Stall stall, Ticks time, std::int32_t by) {
  if (time.value <= 0) return;
  if (Shown()) timeline_->Stalled(Here(clock_.now(), clock_.now() + time), stall, by);
  clock_.Spend(time, {.what = now_, .how = HowOf(stall)});
  Spent& spent = spent_[static_cast<std::size_t>(now_)];
  spent.waited = spent.waited + time;
  if (by != kNone) spent.waited_for[by] = spent.waited_for[by] + time;
  Ticks& reason = spent.stalls[static_cast<std::size_t>(stall)];
  reason = reason + time;
}

void TritonTimer::Make(const Ready& ready) {
  for (const ValueId result : plan().instr->results) {
    if (result.valid()) At(result) = ready;
  }
}

TritonTimer::Ready TritonTimer::ReadyOf(const Arg& arg) const {
  if (arg.kind != Arg::Kind::kValue || kernel_.text().values[arg.value.index()].type.is_ref()) return {};
  return block_->ready[arg.value.index()];
}

void TritonTimer::DoneBy(Ticks when) {
  if (when <= block_->done) return;
  block_->done = when;
  block_->done_by = now_;
}

TritonTotals TritonTimer::TotalsAt(Ticks at) const {
  TritonTotals totals{.at = at,
                      .spent = spent_,
                      .launches = launches_,
                      .flops = flops_,
                      .use = chip_.use(),
                      .traffic = {},
                      .least_dram_bytes = chip_.least_dram_bytes()};
  for (std::size_t i = 0; i < kernel_.program().operand_infos.size(); ++i)
    totals.traffic.push_back(chip_.traffic(static_cast<std::int64_t>(i)));
  return totals;
}

TritonTotals TritonTimer::Totals() const {
  const TritonTotals end = TotalsAt(clock_.end());
  if (marks_.size() < 2) return end;
  return WithLeftOut(end, {.count = equal_.count,
                           .timed = begun_,
                           .places = places_.room(),
                           .missed_bytes = equal_.missed * costs_.common.l2_sector.value(),
                           .ticks_of_block = PaceOf(1, 2),
                           .from = marks_[0],
                           .to = marks_[1]});
}

Ticks TritonTimer::atomics() const {
  std::int64_t most = 0;
  for (const auto& [address, times] : updates_) most = std::max(most, times);
  return TicksOf(static_cast<double>(most) * costs_.atomic);
}

}  // namespace palladion::timing::triton
