#include "emu/timing/tpu/run.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>
#include <variant>

#include "emu/check/legality/call_place.h"
#include "emu/run/watch/observed.h"
#include "emu/timing/base/ticks.h"
#include "emu/timing/report/line_places.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/program/block_pipeline.h"
#include "semantics/program/blocks.h"
#include "semantics/registry/attrs.h"
#include "semantics/registry/op_row.h"

namespace palladion::timing::tpu {

using base::CyclesOf;
using machines::Bytes;
using machines::Cycles;
using report::LineText;
using report::LineTime;
using scheduler::Ticks;

namespace {

constexpr std::string_view kBlockIn = "a block from main memory", kBlockOut = "a block to main memory",
                           kOwnCopy = "a copy of the kernel's own";

std::int64_t ProgramsOf(const Frame& frame) {
  std::int64_t programs = 1;
  for (const std::int64_t size : frame.grid_size()) programs *= size;
  return programs;
}

}  // namespace

TpuRun::TpuRun(const kernel::PreparedKernelState& kernel, const TpuCosts& costs)
    : state_(kernel), kernel_(kernel.text()), costs_(costs), operands_(kernel), body_(&kernel_.bodies[0].region) {
  for (const OperandInfo& info : kernel.program().operand_infos) traffic_.push_back({.operand = info.name});
}

void TpuRun::Bound(memory_model::Memory& memory, absl::Span<const BufferId> arrays) { operands_.Bound(memory, arrays); }

TpuRun::Core& TpuRun::CoreOf(const Frame& frame) {
  // Where cores are agents of a schedule, one takes the frame of another that has ended.
  const bool by_agent = state_.program().uses_port;
  for (std::size_t i = 0; i < frames_.size(); ++i) {
    if (by_agent ? agents_[i] == frame.agent() : frames_[i] == &frame) return *cores_[i];
  }
  agents_.push_back(frame.agent());
  const std::int64_t programs = ProgramsOf(frame);
  const bool halves = frame.program_number() > 0 || frame.end_program() < programs;
  pipelined_ = programs > 1;
  frames_.push_back(&frame);
  cores_.push_back(std::make_unique<Core>(costs_, halves ? 2 : 1));
  now_ = cores_.back().get();
  now_->agent = base::CriticalPath::Agent{static_cast<std::int32_t>(cores_.size()) - 1};
  lines_.path().Entered(now_->agent, {});
  now_->way_to_end = lines_.path().Hold(now_->agent);
  if (shown_.has_value()) {
    shown_->WatchMemory(now_->core, halves ? 2 : 1);
    if (static_cast<std::int64_t>(cores_.size()) - 1 == shown_->core()) now_->timeline = &shown_->timeline();
  }
  now_->end_program = frame.end_program();
  CopyWholeOperands(/*back=*/false, Role::kPrefetch);
  return *now_;
}

LineTime& TpuRun::LineOfBlock(std::size_t operand) {
  const Operand& declared = kernel_.operands[operand];
  return lines_.Of(Cat("block of ", state_.program().operand_infos[operand].name), {declared.loc, declared.text_line});
}

// ---- straight-line work

const TpuRun::Costed* TpuRun::CostOf(const Instr& instr) {
  const auto found = costs_of_.find(&instr);
  if (found != costs_of_.end()) return &found->second;
  absl::StatusOr<TpuInstruction> cost = InstructionOf(costs_, kernel_, instr, distinct_);
  if (!cost.ok()) {
    const std::string place = LineText(state_.module(), kernel_, instr.text_line);
    status_.Update(absl::Status(cost.status().code(), ToAbsl(Cat(place, ": ", ToStd(cost.status().message())))));
    return nullptr;
  }
  if (instr.results.size() == 1 && cost->distinct != instr.types[0].shape)
    distinct_[instr.results[0].value] = cost->distinct;
  LineTime& line = lines_.Of(watch::OpName(instr), {instr.loc, instr.text_line});
  return &costs_of_.emplace(&instr, Costed{*std::move(cost), &line}).first->second;
}

TpuChain TpuRun::DependsOn(const Instr& instr) const {
  TpuChain longest;
  for (const Arg& arg : instr.args) {
    if (arg.kind != Arg::Kind::kValue) continue;
    const auto found = now_->chain_of.find(arg.value.value);
    if (found != now_->chain_of.end()) longest = Longest(costs_, longest, found->second);
  }
  return longest;
}

void TpuRun::Add(const Instr& instr) {
  const Costed* const costed = CostOf(instr);
  if (costed == nullptr || !now_->in_body) return;
  const TpuInstruction* const cost = &costed->cost;
  met_.several |= cost->several;
  met_.prints |= cost->prints;
  flops_ += cost->flops;
  if (cost->products > 0) products_[cost->product_type] += cost->products;
  ++costed->line->runs;
  TpuChain chain = DependsOn(instr);
  Live(instr, *cost, chain.products + chain.reductions);
  if (!cost->work.empty()) {
    const TpuChain own{1, cost->products > 0 ? 1 : 0, cost->across_lanes ? 1 : 0};
    chain.bundles += own.bundles;
    chain.products += own.products;
    chain.reductions += own.reductions;
    now_->work += cost->work;
    now_->longest = Longest(costs_, now_->longest, chain);
    now_->parts.push_back({.line = costed->line, .alone = TimeOf(costs_, cost->work, own), .work = cost->work});
    if (Shows(*now_)) shown_->SayBlock(instr, &now_->parts.back());
  }
  for (const ValueId result : instr.results) {
    if (result.valid()) now_->chain_of[result.value] = chain;
  }
}

// What an instruction reads, and what it leaves. Loads, and what is computed of them alone, can be done when they are
// needed.
void TpuRun::Live(const Instr& instr, const TpuInstruction& cost, std::int64_t turn) {
  for (const Arg& arg : instr.args) {
    if (arg.kind == Arg::Kind::kValue) now_->living.Used(arg.value.value, turn);
  }
  const std::int64_t made = turn + (cost.products > 0 || cost.across_lanes ? 1 : 0);
  const bool kept = made > 0 && cost.registers > 0 && instr.results.size() == 1;
  if (kept && instr.results[0].valid()) now_->living.Made(instr.results[0].value, made, cost.registers, &instr);
}

// Values for which registers do not suffice go to the core's memory and come back.
void TpuRun::Spill() {
  for (const TpuLiving::Spilled& one : now_->living.Take(static_cast<double>(costs_.registers))) {
    LineTime& line = lines_.Of("registers that spill", {one.instr->loc, one.instr->text_line});
    ++line.runs;
    TpuWork work;
    work[TpuSlot::kStore] = work[TpuSlot::kLoad] = one.registers;
    now_->work += work;
    now_->parts.push_back({.line = &line, .alone = TimeOf(costs_, work, {1}), .work = work});
  }
}

// What the bundles took is their lines', in the shares that each would have had alone.
void TpuRun::Close() {
  Spill();
  if (now_->parts.empty()) return;
  const Ticks before = now_->core.now();
  now_->core.Compute(now_->work, now_->longest);
  const Cycles took = CyclesOf(now_->core.now() - before);
  Cycles alone;
  for (const TpuPart& part : now_->parts) alone += part.alone;
  Cycles so_far;
  Ticks charged;
  for (const TpuPart& part : now_->parts) {
    part.line->busy += (part.alone / alone) * took;
    so_far += (part.alone / alone) * took;
    const Ticks until = &part == &now_->parts.back() ? now_->core.now() - before : base::TicksOf(so_far);
    lines_.Worked(now_->agent, *part.line, until - charged);
    charged = until;
  }
  if (now_->timeline != nullptr) now_->timeline->Ran(before, now_->core.now(), now_->parts);
  now_->work = {};
  now_->longest = {};
  now_->chain_of.clear();
  now_->parts.clear();
}

// ---- programs

// Copies for the next program go beside all of a step.
void TpuRun::BeginBody(const Frame& frame) {
  BringWholeOperands();
  AwaitCopies(std::exchange(now_->others, {}));
  now_->last_program = frame.program_number();
  ++now_->programs;
  const Ticks ready = now_->core.now();
  LineTime* step = nullptr;
  if (pipelined_) {
    now_->core.StepOfGrid();
    LineTime& line = lines_.Of("step of the grid", {legality::CallPlace(state_.module(), kernel_), kernel_.text_line});
    ++line.runs;
    line.busy += CyclesOf(now_->core.now() - ready);
    step = &line;
    if (now_->timeline != nullptr)
      now_->timeline->Worked(ready, now_->core.now(), {.loc = line.loc, .text_line = line.text_line, .op = line.op});
  }
  if (now_->timeline != nullptr) now_->timeline->BeganBody();
  now_->fetches.StartAll([&](TpuBlockCopy& copy) {
    Start(copy, ready, copy.buffers > 1 ? TpuCore::CopyKind::kInStep : TpuCore::CopyKind::kWaitedFor);
  });
  if (step != nullptr) lines_.Worked(now_->agent, *step, now_->core.now() - ready);
  now_->core.Forget(now_->core.now());
  now_->in_body = true;
}

void TpuRun::EndBody(const Frame& frame) {
  Close();
  now_->in_body = false;
  if (Shows(*now_) && pipelined_) shown_->Step(frame, now_->ended, now_->core.now(), body_->text_line);
  now_->ended = now_->core.now();
  lines_.path().Release(now_->way_to_end);
  now_->way_to_end = lines_.path().Hold(now_->agent);
  if (now_->timeline != nullptr) now_->timeline->EndedBody(now_->ended);
}

void TpuRun::Pass(const Mark& mark, const Frame& frame) {
  switch (mark.kind) {
    case Mark::Kind::kBegin:
      return;
    case Mark::Kind::kEnter:
      if (mark.instr == nullptr && mark.region == body_) return BeginBody(frame);
      break;
    case Mark::Kind::kLeave:
      if (mark.instr != nullptr || mark.region != body_) break;
      return EndBody(frame);
    case Mark::Kind::kFinish:
      return Add(*mark.instr);
  }
  if (mark.instr == nullptr || !now_->in_body) return;
  const Costed* const costed = CostOf(*mark.instr);
  if (costed != nullptr && costed->cost.closes) Close();
}

// ---- steps

void TpuRun::Before(const Step& step, Frame& frame) {
  now_ = &CoreOf(frame);
  program_ = frame.program_number();
  place_ = {step.loc, step.text_line};
  if (step.waits == WaitsForGroups) return AwaitGroups(step.waits(step.params, step, frame));
  if (step.kind != StepKind::kOperation) return;
  met_.polls |= step.polls != nullptr;
  if (step.waits == nullptr) return;
  Wait(step.waits(step.params, step, frame), frame, place_);
}

void TpuRun::After(const Step& step, Frame& frame) {
  if (step.fn == RunCommitBlocks) return QueueOf(static_cast<const GroupParams*>(step.params)->queue).Commit();
  const Mark* mark = MarkOf(step);
  if (mark != nullptr) Pass(*mark, frame);
}

// The last one to land is what is waited for.
void TpuRun::AwaitCopies(std::vector<TpuBlockCopy> copies) {
  AwaitLast(copies);
  for (TpuBlockCopy& copy : copies) lines_.path().Release(copy.held);
}

void TpuRun::AwaitLast(absl::Span<const TpuBlockCopy> copies) {
  const auto last = std::max_element(copies.begin(), copies.end(),
                                     [](const TpuBlockCopy& a, const TpuBlockCopy& b) { return a.landed < b.landed; });
  const Ticks begin = now_->core.now();
  if (last == copies.end() || last->landed <= begin) return;
  LineTime& line = LineOfBlock(last->operand);
  lines_.Waited(now_->agent, line,
                {.stall = last->goes_back ? kBlockOut : kBlockIn,
                 .from = now_->core.now(),
                 .start = *last->start,
                 .landed = last->landed,
                 .held = last->held});
  line.waited_for = last->goes_back ? "its block to go back to main memory" : "its block to come from main memory";
  if (Shows(*now_)) shown_->Wait(*last, begin);
  now_->core.WaitUntil(last->landed);
}

// What a body needs of operands without blocks is awaited with its blocks.
void TpuRun::AwaitGroups(const WaitTarget& target) {
  std::vector<TpuBlockCopy> copies = QueueOf(target.queue).TakeAllBut(static_cast<std::size_t>(target.value));
  if (target.queue == AsyncQueue::kFetches) {
    BringWholeOperands();
    std::move(now_->others.begin(), now_->others.end(), std::back_inserter(copies));
    now_->others.clear();
  }
  AwaitCopies(std::move(copies));
}

// Where several copies signal the semaphore, the wait is for those that landed first.
void TpuRun::Wait(const WaitTarget& target, Frame& frame, const Place& at) {
  if (target.kind != WaitTarget::Kind::kSemaphore || !target.object.array.valid()) return;
  Close();
  const Completion completion = frame.machine().CompletionAt(target.object);
  std::vector<Credit>& credits = credits_[std::get<SemaphoreId>(completion.object).value];
  std::stable_sort(credits.begin(), credits.end(),
                   [](const Credit& a, const Credit& b) { return a.landed < b.landed; });
  std::int64_t missing = target.value;
  const Credit* last = nullptr;
  std::size_t used = 0;
  while (missing > 0 && used < credits.size()) {
    Credit& credit = credits[used];
    const std::int64_t taken = std::min(missing, credit.amount);
    missing -= taken;
    last = &credit;
    if (target.decrement) credit.amount -= taken;
    if (credit.amount > 0) break;
    ++used;
  }
  if (last != nullptr && last->landed > now_->core.now()) WaitFor(*last, at);
  for (std::size_t i = 0; i < used; ++i) lines_.path().Release(credits[i].held);
  credits.erase(credits.begin(), credits.begin() + static_cast<std::ptrdiff_t>(used));
}

void TpuRun::WaitFor(const Credit& last, const Place& at) {
  LineTime& line = lines_.Of("wait", at);
  lines_.Waited(
      now_->agent, line,
      {.stall = kOwnCopy, .from = now_->core.now(), .start = last.start, .landed = last.landed, .held = last.held});
  line.waited_for = Cat("a copy that ", LineText(state_.module(), kernel_, last.text_line), " starts");
  if (now_->timeline != nullptr)
    now_->timeline->Waited(now_->core.now(), last.landed, {.loc = at.loc, .text_line = at.text_line, .op = "wait"},
                           last.copy);
  now_->core.WaitUntil(last.landed);
}

// ---- copies

// Operands without blocks that lie in the core's memory: they come before the kernel, and go after it.
void TpuRun::CopyWholeOperands(bool back, Role role) {
  const std::vector<OperandInfo>& infos = state_.program().operand_infos;
  for (std::size_t i = 0; i < infos.size(); ++i) {
    if (infos[i].role != role || !operands_.IsWholeInCore(i)) continue;
    const Bytes bytes = PaddedBytes(costs_, infos[i].type);
    (back ? traffic_[i].written : traffic_[i].read) += bytes;
    TpuBlockCopy copy{.operand = i, .bytes = bytes, .what = WordsFor(i, nullptr, bytes), .goes_back = back};
    role == Role::kPrefetch ? CopyPrefetched(std::move(copy)) : StartOther(std::move(copy));
  }
}

void TpuRun::BringWholeOperands() {
  if (std::exchange(now_->has_whole_operands, true)) return;
  CopyWholeOperands(/*back=*/false, Role::kIn);
}

void TpuRun::Start(TpuBlockCopy& copy, Ticks at, TpuCore::CopyKind way) {
  copy.start = at;
  if (at == now_->core.now() || !copy.goes_back) {
    copy.held = lines_.path().Hold(now_->agent);
  } else {
    copy.held = lines_.path().Copy(now_->way_to_end);
  }
  copy.landed = now_->core.Copy(at, copy.bytes, way);
  if (Shows(*now_)) copy.span = shown_->Block(copy);
}

void TpuRun::StartOther(TpuBlockCopy copy) {
  Start(copy, copy.goes_back ? now_->ended : now_->core.now());
  now_->others.push_back(std::move(copy));
}

// Index maps read them, so the core waits.
void TpuRun::CopyPrefetched(TpuBlockCopy copy) {
  Start(copy, now_->core.now());
  AwaitCopies({copy});
  if (now_->last_program >= 0) return;
  now_->ended = now_->core.now();
  lines_.path().Release(now_->way_to_end);
  now_->way_to_end = lines_.path().Hold(now_->agent);
}

std::string TpuRun::WordsFor(std::size_t operand, const AsyncOperand* box, Bytes bytes) const {
  return Shows(*now_) ? operands_.BlockText(operand, box, bytes) : "";
}

void TpuRun::Issued(const Who& who, const AsyncRequest& request) {
  if (now_ == nullptr || request.sources.empty() || request.destinations.empty()) return;
  if (request.block != nullptr) return IssueBlock(request);
  who.at_once ? CopyAtOnce(request) : Copy(request);
}

std::optional<TpuBlockCopy> TpuRun::BlockCopyOf(const AsyncRequest& request) {
  const std::size_t* from = operands_.At(request.sources[0], /*written=*/false);
  const std::size_t* to = operands_.At(request.destinations[0], /*written=*/true);
  if (from == nullptr && to == nullptr) return std::nullopt;
  const std::size_t operand = from != nullptr ? *from : *to;
  const AsyncOperand& array = from != nullptr ? request.sources[0] : request.destinations[0];
  const Bytes bytes = PaddedBytes(costs_, operands_.TypeOfCopy(array));
  (from != nullptr ? traffic_[operand].read : traffic_[operand].written) += bytes;
  return TpuBlockCopy{.operand = operand,
                      .bytes = bytes,
                      .buffers = operands_.BuffersOf(operand),
                      .what = WordsFor(operand, &array, bytes),
                      .goes_back = from == nullptr};
}

TpuCopyQueue& TpuRun::QueueOf(AsyncQueue queue) {
  return queue == AsyncQueue::kFlushes ? now_->flushes : now_->fetches;
}

// The next program's goes beside this one's step; what goes back after the last one is waited for, as is a block that
// has one buffer.
void TpuRun::IssueBlock(const AsyncRequest& request) {
  std::optional<TpuBlockCopy> copy = BlockCopyOf(request);
  if (!copy.has_value()) return;
  const bool beside = request.block->flush ? program_ + 1 < now_->end_program : request.block->number > program_;
  const bool in_step = beside && copy->buffers > 1;
  if (request.block->number <= program_)
    Start(*copy, now_->core.now(), in_step ? TpuCore::CopyKind::kInStep : TpuCore::CopyKind::kWaitedFor);
  QueueOf(request.block->flush ? AsyncQueue::kFlushes : AsyncQueue::kFetches).Add(*std::move(copy));
}

// Of an operand without blocks that has memory of its own.
void TpuRun::CopyAtOnce(const AsyncRequest& request) {
  std::optional<TpuBlockCopy> copy = BlockCopyOf(request);
  if (!copy.has_value()) return;
  if (state_.program().operand_infos[copy->operand].role == Role::kPrefetch) return CopyPrefetched(*std::move(copy));
  StartOther(*std::move(copy));
}

// Through main memory once for each side that is there. The rate of copies within the core's memory is not published.
void TpuRun::Copy(const AsyncRequest& request) {
  Close();
  const std::size_t* from = operands_.At(request.sources[0], /*written=*/false);
  const std::size_t* to = operands_.At(request.destinations[0], /*written=*/true);
  const Bytes bytes =
      PaddedBytes(costs_, operands_.TypeOfCopy(from != nullptr ? request.sources[0] : request.destinations[0]));
  if (from != nullptr) traffic_[*from].read += bytes;
  if (to != nullptr) traffic_[*to].written += bytes;
  met_.copies_within |= from == nullptr && to == nullptr;
  const double sides = (from != nullptr) + (to != nullptr);
  const Ticks landed = now_->core.Copy(now_->core.now(), sides * bytes);
  const std::int32_t copy = Shows(*now_) ? shown_->Copy(request, bytes, now_->core.now(), landed) : timeline::kNoSpan;
  for (const Completion& completion : request.completions) {
    const auto* semaphore = std::get_if<SemaphoreId>(&completion.object);
    if (semaphore == nullptr) continue;
    credits_[semaphore->value].push_back({.landed = landed,
                                          .amount = completion.amount,
                                          .text_line = request.site.text_line,
                                          .start = now_->core.now(),
                                          .held = lines_.path().Hold(now_->agent),
                                          .copy = copy});
  }
}

std::optional<timeline::Timeline> TpuRun::TakeTimeline() {
  if (!shown_.has_value() || shown_->core() >= static_cast<std::int64_t>(cores_.size())) return std::nullopt;
  Ticks end;
  for (const std::unique_ptr<Core>& core : cores_) end = std::max(end, core->core.now());
  return shown_->timeline().Take(end);
}

void TpuRun::Finished(memory_model::Memory&, absl::Span<const BufferId>) {
  for (const std::unique_ptr<Core>& core : cores_) {
    now_ = core.get();
    Close();
    CopyWholeOperands(/*back=*/true, Role::kOut);
    AwaitCopies(std::move(now_->others));
    lines_.path().Left(now_->agent, now_->core.now());
  }
}

}  // namespace palladion::timing::tpu
