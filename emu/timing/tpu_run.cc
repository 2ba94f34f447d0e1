#include "emu/timing/tpu_run.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <variant>

#include "emu/check/legality/call_place.h"
#include "emu/chip/layouts/windows.h"
#include "emu/run/watch/observed.h"
#include "emu/timing/line_places.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/prepare/block_mode.h"
#include "semantics/program/block_pipeline.h"
#include "semantics/program/blocks.h"
#include "semantics/registry/attrs.h"
#include "semantics/registry/op_row.h"

namespace palladion::timing {

using machines::Bytes;
using machines::Cycles;
using scheduler::Ticks;

namespace {

std::int64_t ProgramsOf(const Frame& frame) {
  std::int64_t programs = 1;
  for (const std::int64_t size : frame.grid_size()) programs *= size;
  return programs;
}

TpuChain Longest(const TpuChain& a, const TpuChain& b) {
  return {std::max(a.bundles, b.bundles), std::max(a.products, b.products)};
}

}  // namespace

TpuRun::TpuRun(const kernel::PreparedKernelState& kernel, const TpuCosts& costs)
    : state_(kernel), kernel_(kernel.text()), costs_(costs), body_(&kernel_.bodies[0].region) {
  std::size_t param = 0;
  for (std::size_t i = 0; i < kernel.program().operand_infos.size(); ++i) {
    const OperandInfo& info = kernel.program().operand_infos[i];
    traffic_.push_back({.operand = info.name});
    if (info.role == Role::kBound) continue;
    if (param < body_->params.size() && kernel_.operands[i].block.has_value())
      block_of_.emplace(body_->params[param].value.value, i);
    ++param;
  }
}

// An output may share an input's memory: reads are the input's, writes the output's.
void TpuRun::Bound(memory_model::Memory& memory, absl::Span<const BufferId> arrays) {
  memory_ = &memory;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const OperandInfo& info = state_.program().operand_infos[i];
    if (!arrays[i].valid() || info.role == Role::kScratch || IsWholeInCore(info)) continue;
    read_as_.emplace(arrays[i].value, i);
    if (info.role == Role::kOut) written_as_[arrays[i].value] = i;
    written_as_.emplace(arrays[i].value, i);
  }
}

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
  if (shown_.has_value()) Show(*now_, halves ? 2 : 1);
  CopyWholeOperands(/*back=*/false, Role::kPrefetch);
  return *now_;
}

// ---- lines

LineTime& TpuRun::LineOf(const std::string& op, const Place& at) {
  LineTime& line = lines_[{at.text_line, op}];
  if (line.op.empty()) line = {.loc = at.loc, .text_line = at.text_line, .op = op, .waited_for = {}};
  return line;
}

LineTime& TpuRun::LineOfBlock(std::size_t operand) {
  const Operand& declared = kernel_.operands[operand];
  return LineOf(Cat("block of ", state_.program().operand_infos[operand].name), {declared.loc, declared.text_line});
}

std::vector<LineTime> TpuRun::Lines() const {
  std::vector<LineTime> lines;
  for (const auto& [key, line] : lines_) {
    if (line.busy.value() > 0 || line.waited.value() > 0) lines.push_back(line);
  }
  return lines;
}

// ---- straight-line work

const TpuInstruction* TpuRun::CostOf(const Instr& instr) {
  const auto found = costs_of_.find(&instr);
  if (found != costs_of_.end()) return &found->second;
  absl::StatusOr<TpuInstruction> cost = InstructionOf(costs_, kernel_, instr);
  if (!cost.ok()) {
    const std::string place = LineText(state_.module(), kernel_, instr.text_line);
    status_.Update(absl::Status(cost.status().code(), ToAbsl(Cat(place, ": ", ToStd(cost.status().message())))));
    return nullptr;
  }
  return &costs_of_.emplace(&instr, *std::move(cost)).first->second;
}

TpuChain TpuRun::DependsOn(const Instr& instr) const {
  TpuChain longest;
  for (const Arg& arg : instr.args) {
    if (arg.kind != Arg::Kind::kValue) continue;
    const auto found = now_->chain_of.find(arg.value.value);
    if (found != now_->chain_of.end()) longest = Longest(longest, found->second);
  }
  return longest;
}

void TpuRun::Add(const Instr& instr) {
  const TpuInstruction* cost = CostOf(instr);
  if (cost == nullptr || !now_->in_body) return;
  met_.several |= cost->several;
  met_.prints |= cost->prints;
  flops_ += cost->flops;
  if (cost->products > 0) products_[cost->product_type] += cost->products;
  LineTime& line = LineOf(watch::OpName(instr), {instr.loc, instr.text_line});
  ++line.runs;
  TpuChain chain = DependsOn(instr);
  if (!cost->work.empty()) {
    ++chain.bundles;
    chain.products += cost->products > 0 ? 1 : 0;
    now_->work += cost->work;
    now_->longest = Longest(now_->longest, chain);
    now_->parts.push_back(
        {.line = &line, .alone = TimeOf(costs_, cost->work, {1, cost->products > 0 ? 1 : 0}), .work = cost->work});
    if (now_->timeline != nullptr) SayBlock(instr, &now_->parts.back());
  }
  for (const ValueId result : instr.results) {
    if (result.valid()) now_->chain_of[result.value] = chain;
  }
}

// What the bundles took is their lines', in the shares that each would have had alone.
void TpuRun::Close() {
  if (now_->parts.empty()) return;
  const Ticks before = now_->core.now();
  now_->core.Compute(now_->work, now_->longest);
  const Cycles took = CyclesOf(now_->core.now() - before);
  Cycles alone;
  for (const TpuPart& part : now_->parts) alone += part.alone;
  for (const TpuPart& part : now_->parts) part.line->busy += (part.alone / alone) * took;
  if (now_->timeline != nullptr) now_->timeline->Ran(before, now_->core.now(), now_->parts);
  now_->work = {};
  now_->longest = {};
  now_->chain_of.clear();
  now_->parts.clear();
}

// ---- programs

// Copies for the next program start once a step has taken what it takes.
void TpuRun::BeginBody(const Frame& frame) {
  BringWholeOperands();
  AwaitCopies(std::exchange(now_->others, {}));
  now_->last_program = frame.program_number();
  ++now_->programs;
  const Ticks ready = now_->core.now();
  if (pipelined_) {
    now_->core.StepOfGrid();
    LineTime& line = LineOf("step of the grid", {legality::CallPlace(state_.module(), kernel_), kernel_.text_line});
    ++line.runs;
    line.busy += CyclesOf(now_->core.now() - ready);
    if (now_->timeline != nullptr)
      now_->timeline->Worked(ready, now_->core.now(), {.loc = line.loc, .text_line = line.text_line, .op = line.op});
  }
  if (now_->timeline != nullptr) now_->timeline->BeganBody();
  now_->fetches.StartAll([&](TpuBlockCopy& copy) { Start(copy, now_->core.now()); });
  now_->core.Forget(now_->core.now());
  now_->in_body = true;
}

void TpuRun::EndBody(const Frame& frame) {
  Close();
  now_->in_body = false;
  if (now_->timeline != nullptr && pipelined_) ShowStep(frame);
  now_->ended = now_->core.now();
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
  const TpuInstruction* cost = CostOf(*mark.instr);
  if (cost != nullptr && cost->closes) Close();
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
void TpuRun::AwaitCopies(absl::Span<const TpuBlockCopy> copies) {
  const auto last = std::max_element(copies.begin(), copies.end(),
                                     [](const TpuBlockCopy& a, const TpuBlockCopy& b) { return a.landed < b.landed; });
  const Ticks begin = now_->core.now();
  if (last == copies.end() || last->landed <= begin) return;
  LineTime& line = LineOfBlock(last->operand);
  ++line.runs;
  line.waited += CyclesOf(last->landed - begin);
  line.waited_for = last->goes_back ? "its block to go back to main memory" : "its block to come from main memory";
  if (now_->timeline != nullptr) ShowWait(*last, begin);
  now_->core.WaitUntil(last->landed);
}

// What a body needs of operands without blocks is awaited with its blocks.
void TpuRun::AwaitGroups(const WaitTarget& target) {
  std::vector<TpuBlockCopy> copies = QueueOf(target.queue).TakeAllBut(static_cast<std::size_t>(target.value));
  if (target.queue == AsyncQueue::kFetches) {
    BringWholeOperands();
    std::ranges::move(std::exchange(now_->others, {}), std::back_inserter(copies));
  }
  AwaitCopies(copies);
}

// Of several copies that told the semaphore, those that landed first are the ones that are waited for.
void TpuRun::Wait(const WaitTarget& target, Frame& frame, const Place& at) {
  if (target.kind != WaitTarget::Kind::kSemaphore || !target.object.array.valid()) return;
  Close();
  const Completion told = frame.machine().CompletionAt(target.object);
  std::vector<Credit>& credits = credits_[std::get<SemaphoreId>(told.object).value];
  std::stable_sort(credits.begin(), credits.end(),
                   [](const Credit& a, const Credit& b) { return a.landed < b.landed; });
  std::int64_t missing = target.value;
  Credit last;
  std::size_t used = 0;
  while (missing > 0 && used < credits.size()) {
    Credit& credit = credits[used];
    const std::int64_t taken = std::min(missing, credit.amount);
    missing -= taken;
    last = credit;
    if (target.decrement) credit.amount -= taken;
    if (credit.amount > 0) break;
    ++used;
  }
  credits.erase(credits.begin(), credits.begin() + static_cast<std::ptrdiff_t>(used));
  if (last.landed <= now_->core.now()) return;
  LineTime& line = LineOf("wait", at);
  line.waited += CyclesOf(last.landed - now_->core.now());
  line.waited_for = Cat("a copy that ", LineText(state_.module(), kernel_, last.text_line), " starts");
  ++line.runs;
  if (now_->timeline != nullptr)
    now_->timeline->Waited(now_->core.now(), last.landed, {.loc = at.loc, .text_line = at.text_line, .op = "wait"},
                           last.copy);
  now_->core.WaitUntil(last.landed);
}

// ---- copies

bool TpuRun::IsWholeInCore(const OperandInfo& info) const {
  if (info.mode != BlockMode::kWhole || info.role == Role::kBound || info.role == Role::kScratch) return false;
  if (info.type.element != ElementKind::kData) return false;
  const auto at = static_cast<std::size_t>(&info - state_.program().operand_infos.data());
  const Space space = layouts::SpaceOf(kernel_, at);
  return space == Space::kDefault || space == Space::kVmem || space == Space::kSmem;
}

// Operands without blocks that lie in the core's memory: they come before the kernel, and go after it.
void TpuRun::CopyWholeOperands(bool back, Role role) {
  const std::vector<OperandInfo>& infos = state_.program().operand_infos;
  for (std::size_t i = 0; i < infos.size(); ++i) {
    if (infos[i].role != role || !IsWholeInCore(infos[i])) continue;
    const Bytes bytes = PaddedBytes(costs_, infos[i].type);
    (back ? traffic_[i].written : traffic_[i].read) += bytes;
    TpuBlockCopy copy{.operand = i, .bytes = bytes, .what = BlockText(i, nullptr, bytes), .goes_back = back};
    role == Role::kPrefetch ? CopyPrefetched(std::move(copy)) : StartOther(std::move(copy));
  }
}

void TpuRun::BringWholeOperands() {
  if (std::exchange(now_->has_whole_operands, true)) return;
  CopyWholeOperands(/*back=*/false, Role::kIn);
}

void TpuRun::Start(TpuBlockCopy& copy, Ticks at) {
  copy.start = at;
  copy.landed = now_->core.Copy(at, copy.bytes);
  if (now_->timeline != nullptr) copy.span = ShowBlock(copy);
}

void TpuRun::StartOther(TpuBlockCopy copy) {
  Start(copy, copy.goes_back ? now_->ended : now_->core.now());
  now_->others.push_back(std::move(copy));
}

// Index maps read them, so the core waits.
void TpuRun::CopyPrefetched(TpuBlockCopy copy) {
  Start(copy, now_->core.now());
  AwaitCopies({&copy, 1});
  if (now_->last_program < 0) now_->ended = now_->core.now();
}

std::int64_t TpuRun::BuffersOf(std::size_t operand) const { return palladion::BuffersOf(kernel_.operands[operand]); }

// What is inside the array; the copy of a block does not touch what is outside.
Type TpuRun::TypeOfCopy(const AsyncOperand& operand) const {
  const auto* box = std::get_if<BoxAccess>(&operand.where);
  const DType dtype = memory_->DTypeOf(operand.buffer());
  if (box == nullptr) {
    return ArrayType(dtype, {operand.bytes.value() / static_cast<std::int64_t>(StorageBytes(dtype))});
  }
  Shape shape;
  const absl::Span<const std::int64_t> array = memory_->ShapeOf(box->buffer);
  for (int d = 0; d < box->rank; ++d) {
    const auto at = static_cast<std::size_t>(d);
    const std::int64_t first = std::max<std::int64_t>(0, box->start[at]);
    const std::int64_t last = box->start[at] + (box->count[at] - 1) * box->step[at];
    const std::int64_t inside = std::min(last, array[at] - 1) - first;
    shape.push_back(inside < 0 ? 0 : inside / std::max<std::int64_t>(1, box->step[at]) + 1);
  }
  return ArrayType(dtype, std::move(shape));
}

const std::size_t* TpuRun::OperandAt(const AsyncOperand& side, bool written) const {
  const auto& as = written ? written_as_ : read_as_;
  const auto found = as.find(side.buffer().value);
  return found == as.end() ? nullptr : &found->second;
}

void TpuRun::Issued(const Who& who, const AsyncRequest& request) {
  if (now_ == nullptr || request.sources.empty() || request.destinations.empty()) return;
  if (request.block != nullptr) return IssueBlock(request);
  who.at_once ? CopyAtOnce(request) : Copy(request);
}

std::optional<TpuBlockCopy> TpuRun::BlockCopyOf(const AsyncRequest& request) {
  const std::size_t* from = OperandAt(request.sources[0], /*written=*/false);
  const std::size_t* to = OperandAt(request.destinations[0], /*written=*/true);
  if (from == nullptr && to == nullptr) return std::nullopt;
  const std::size_t operand = from != nullptr ? *from : *to;
  const AsyncOperand& array = from != nullptr ? request.sources[0] : request.destinations[0];
  const Bytes bytes = PaddedBytes(costs_, TypeOfCopy(array));
  (from != nullptr ? traffic_[operand].read : traffic_[operand].written) += bytes;
  return TpuBlockCopy{.operand = operand,
                      .bytes = bytes,
                      .buffers = BuffersOf(operand),
                      .what = BlockText(operand, &array, bytes),
                      .goes_back = from == nullptr};
}

TpuCopyQueue& TpuRun::QueueOf(AsyncQueue queue) {
  return queue == AsyncQueue::kFlushes ? now_->flushes : now_->fetches;
}

// The next program's starts when this one's body does.
void TpuRun::IssueBlock(const AsyncRequest& request) {
  std::optional<TpuBlockCopy> copy = BlockCopyOf(request);
  if (!copy.has_value()) return;
  if (request.block->number <= program_) Start(*copy, now_->core.now());
  QueueOf(request.block->flush ? AsyncQueue::kFlushes : AsyncQueue::kFetches).Add(*std::move(copy));
}

// Of an operand without blocks that has memory of its own.
void TpuRun::CopyAtOnce(const AsyncRequest& request) {
  std::optional<TpuBlockCopy> copy = BlockCopyOf(request);
  if (!copy.has_value()) return;
  if (state_.program().operand_infos[copy->operand].role == Role::kPrefetch) return CopyPrefetched(*std::move(copy));
  StartOther(*std::move(copy));
}

// Through main memory once for each side that is there. Of what stays within the core's memory nobody published the
// rate.
void TpuRun::Copy(const AsyncRequest& request) {
  Close();
  const std::size_t* from = OperandAt(request.sources[0], /*written=*/false);
  const std::size_t* to = OperandAt(request.destinations[0], /*written=*/true);
  const Bytes bytes = PaddedBytes(costs_, TypeOfCopy(from != nullptr ? request.sources[0] : request.destinations[0]));
  if (from != nullptr) traffic_[*from].read += bytes;
  if (to != nullptr) traffic_[*to].written += bytes;
  met_.copies_within |= from == nullptr && to == nullptr;
  const double sides = (from != nullptr) + (to != nullptr);
  const Ticks landed = now_->core.Copy(now_->core.now(), sides * bytes);
  const std::int32_t copy = now_->timeline == nullptr ? kNoSpan : ShowCopy(request, bytes, landed);
  for (const Completion& completion : request.completions) {
    const auto* semaphore = std::get_if<SemaphoreId>(&completion.object);
    if (semaphore == nullptr) continue;
    credits_[semaphore->value].push_back({landed, completion.amount, request.site.text_line, copy});
  }
}

void TpuRun::Finished(memory_model::Memory&, absl::Span<const BufferId>) {
  for (const std::unique_ptr<Core>& core : cores_) {
    now_ = core.get();
    Close();
    CopyWholeOperands(/*back=*/true, Role::kOut);
    AwaitCopies(now_->others);
  }
}

}  // namespace palladion::timing
