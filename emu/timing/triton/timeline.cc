#include "emu/timing/triton/timeline.h"

#include <algorithm>
#include <cstdlib>

#include "emu/chip/layouts/triton_memory.h"
#include "emu/run/watch/access_text.h"
#include "emu/run/watch/observed.h"
#include "semantics/base/cat.h"

namespace palladion::timing::triton {

using gpu::GpuChip;
using gpu::Stall;
using scheduler::Ticks;
using timeline::kNoSpan;
using timeline::LaneKind;
using timeline::SpanKind;
using timeline::TimelineLine;
using timeline::TimelineRecorder;

namespace {

constexpr std::string_view kBlock = "block ", kUnits = "units";

SpanKind KindOf(const TritonPlan& plan) {
  switch (plan.work) {
    case TritonWork::kAccess:
      return plan.stores ? SpanKind::kCopyOut : SpanKind::kCopyIn;
    case TritonWork::kAtomic:
      return SpanKind::kCopyOut;
    case TritonWork::kProduct:
      return SpanKind::kMultiply;
    default:
      return SpanKind::kWork;
  }
}

std::string_view Name(TritonTimeline::Level level) {
  switch (level) {
    case TritonTimeline::Level::kL1:
      return "L1";
    case TritonTimeline::Level::kL2:
      return "L2";
    case TritonTimeline::Level::kDram:
      break;
  }
  return "DRAM";
}

}  // namespace

TritonTimeline::TritonTimeline(const Parts& parts)
    : plans_(parts.plans),
      recorder_(parts.recorder),
      stages_(std::max<std::int64_t>(1, layouts::StagesOfTriton(parts.kernel.text()))),
      warps_(parts.warps),
      most_places_(parts.places) {}

TimelineLine TritonTimeline::LineOf(std::int32_t plan) const {
  if (plan < 0) return {};
  const Instr& instr = *plans_[static_cast<std::size_t>(plan)].instr;
  return {.instruction = -1, .loc = instr.loc, .text_line = instr.text_line, .op = watch::OpName(instr)};
}

// ---- blocks

// In the place that was left longest ago, or in a new one.
std::int32_t TritonTimeline::Begins(const std::vector<std::int64_t>& index, Ticks launched, Ticks begins) {
  std::int32_t here = kNoPlace;
  for (std::size_t p = 0; p < places_.size(); ++p) {
    if (!places_[p].block.empty() || places_[p].left > launched) continue;
    if (here == kNoPlace || places_[p].left < At(here).left) here = static_cast<std::int32_t>(p);
  }
  if (here == kNoPlace) {
    here = static_cast<std::int32_t>(places_.size());
    Place added{.name = most_places_ == 1 ? "blocks" : Cat("place ", here + 1, " of ", most_places_)};
    added.warps = recorder_.NewLane({.group = added.name,
                                     .name = warps_ == 1 ? "its warp" : Cat("its ", warps_, " warps"),
                                     .kind = LaneKind::kThread});
    added.blocks = recorder_.NewLane({.group = added.name, .name = "block", .kind = LaneKind::kUnit});
    places_.push_back(std::move(added));
  }
  Place& place = At(here);
  place.block = std::string(kBlock) + "(";
  for (std::size_t d = 0; d < index.size(); ++d) Append(&place.block, d == 0 ? "" : ", ", index[d]);
  place.block += ")";
  if (index.empty()) place.block = "the block";
  recorder_.Put({.lane = place.blocks, .kind = SpanKind::kWait, .what = "free"}, place.left, launched, {});
  recorder_.Put({.lane = place.blocks, .kind = SpanKind::kWait, .what = Cat("launch of ", place.block)}, launched,
                begins, {});
  place.begins = place.now = begins;
  return here;
}

void TritonTimeline::Ends(std::int32_t place, Ticks at) {
  if (place == kNoPlace) return;
  Place& it = At(place);
  recorder_.Put({.lane = it.blocks, .what = it.block}, it.begins, at, {});
  it.block.clear();
  it.left = at;
  it.last.clear();
  it.stage.clear();
  it.iterated.clear();
}

Ticks TritonTimeline::Finished(Ticks end) {
  if (places_.empty()) {
    const std::int32_t lane = recorder_.NewLane({.group = "blocks", .name = "block", .kind = LaneKind::kUnit});
    recorder_.Put({.lane = lane, .kind = SpanKind::kWait, .what = "no block on this SM; others run"}, {}, end, {});
  }
  for (const Place& place : places_) end = std::max(end, place.now);
  for (Place& place : places_) {
    if (!place.block.empty()) {
      recorder_.Put({.lane = place.blocks, .what = Cat(place.block, ", which does not end")}, place.begins, place.now,
                    {});
      place.left = place.now;
    }
    recorder_.Put({.lane = place.blocks, .kind = SpanKind::kWait, .what = "tail: other blocks run on"}, place.left, end,
                  {});
  }
  return end;
}

// ---- what a block does

void TritonTimeline::Keep(const When& when, std::int32_t span) {
  constexpr std::size_t kRecent = 4;  // a product, and those before it that still run
  if (span == kNoSpan) return;
  std::vector<Beside>& last = At(when.place).last[when.plan];
  if (last.size() == kRecent) last.erase(last.begin());
  last.push_back({span, when.end});
}

// Of the plan's last spans the one whose end is the nearest.
std::int32_t TritonTimeline::EndedBy(const When& when, std::int32_t by) const {
  const Place& place = places_[static_cast<std::size_t>(when.place)];
  const auto found = place.last.find(by < 0 ? when.plan : by);
  if (found == place.last.end()) return kNoSpan;
  const Beside* nearest = nullptr;
  for (const Beside& one : found->second) {
    const auto distance = [&](const Beside& of) { return std::abs((of.end - when.end).value); };
    if (nearest == nullptr || distance(one) <= distance(*nearest)) nearest = &one;
  }
  const bool own = by < 0 || by == when.plan;
  return own && nearest->end != when.end ? kNoSpan : nearest->span;
}

void TritonTimeline::Worked(const When& when) {
  if (when.place == kNoPlace || when.end <= when.begin) return;
  At(when.place).now = when.end;
  recorder_.Worked(At(when.place).warps, when.begin, when.end, LineOf(when.plan));
  if (KindOf(plans_[static_cast<std::size_t>(when.plan)]) == SpanKind::kWork)
    Keep(when, recorder_.LastOf(At(when.place).warps));
}

void TritonTimeline::Stalled(const When& when, Stall stall, std::int32_t by) {
  if (when.place == kNoPlace || when.end <= when.begin) return;
  At(when.place).now = when.end;
  TimelineLine line = LineOf(when.plan);
  Append(&line.op, " waits for ", gpu::Name(stall));
  recorder_.WaitedFor(At(when.place).warps, when.begin, when.end, line, EndedBy(when, by));
}

void TritonTimeline::Iterates(std::int32_t place, Ticks at) {
  constexpr std::size_t kMost = 1024;  // more than there can be stages, times loops in loops
  std::map<Ticks, std::int32_t>& iterated = At(place).iterated;
  if (iterated.size() == kMost) iterated.erase(iterated.begin());
  iterated.try_emplace(at, recorder_.LastOf(At(place).warps));
}

void TritonTimeline::Reaches(std::string_view array, const BoxAccess* box, std::int64_t elements) {
  array_ = std::string(array);
  reached_ =
      Cat(array, box != nullptr ? watch::BoxText(*box) : Cat(", ", elements, elements == 1 ? " element" : " elements"));
}

std::int32_t TritonTimeline::RanBeside(const When& when, TimelineRecorder::Beside beside) {
  if (when.place == kNoPlace || when.end <= when.begin) return kNoSpan;
  const auto iterated = At(when.place).iterated.find(when.begin);
  if (iterated != At(when.place).iterated.end()) {
    beside.issuer_span = iterated->second;
  } else {
    beside.issuer = At(when.place).warps;
  }
  const std::int32_t span = recorder_.RanBeside(beside, when.begin, when.end, LineOf(when.plan));
  Keep(when, span);
  return span;
}

// Loads of one name have one each.
std::string TritonTimeline::NameOfLoad(std::int32_t plan) {
  const auto [known, is_new] = loads_.try_emplace(plan, array_);
  if (!is_new) return known->second;
  const bool taken = std::any_of(loads_.begin(), loads_.end(),
                                 [&](const auto& one) { return one.first != plan && one.second == array_; });
  if (taken) Append(&known->second, ", line ", plans_[static_cast<std::size_t>(plan)].instr->text_line);
  return known->second;
}

// Iterations fill the stages in turn.
TritonTimeline::Stage TritonTimeline::StageOf(const When& when, std::int64_t iteration) {
  const std::int64_t number = iteration % stages_;
  const std::string of = most_places_ == 1 ? "" : Cat(At(when.place).name, ": ");
  const std::int32_t lane = recorder_.LaneNamed({.group = "stages in shared memory",
                                                 .name = Cat(of, NameOfLoad(when.plan), ", stage ", number),
                                                 .kind = LaneKind::kSlot});
  return At(when.place).stage[when.plan] = {.lane = lane, .slot = static_cast<std::int32_t>(number)};
}

void TritonTimeline::Loaded(const When& when, Level level, std::int64_t iteration) {
  if (when.place == kNoPlace || when.end <= when.begin) return;
  const bool staged = iteration >= 0;
  const Stage stage = staged ? StageOf(when, iteration) : Stage{};
  const std::string to = staged ? Cat("stage ", stage.slot) : "registers";
  const std::string what = Cat(reached_, " -> ", to, ", from ", Name(level));
  const std::string lane = staged ? "copies into stages" : Cat("loads from ", Name(level));
  const std::int32_t span =
      RanBeside(when, {.name = lane, .kind = SpanKind::kCopyIn, .what = what, .slot = stage.slot});
  if (!staged) return;
  recorder_.Put({.lane = stage.lane, .kind = SpanKind::kCopyIn, .what = what, .slot = stage.slot, .by = span},
                when.begin, when.end, LineOf(when.plan));
}

void TritonTimeline::Stored(const When& when) {
  RanBeside(when, {.name = "stores", .kind = SpanKind::kCopyOut, .what = Cat("registers -> ", reached_)});
}

void TritonTimeline::Updated(const When& when) {
  RanBeside(when, {.name = "atomics", .kind = SpanKind::kCopyOut, .what = Cat("registers +> ", reached_, ", in L2")});
}

void TritonTimeline::Multiplied(const When& when, Ticks read, const std::vector<std::int32_t>& loads) {
  if (when.place == kNoPlace || when.end <= when.begin) return;
  std::vector<Stage> stages;
  std::string what = LineOf(when.plan).op;
  for (const std::int32_t load : loads) {
    const auto filled = At(when.place).stage.find(load);
    if (filled == At(when.place).stage.end()) continue;
    const bool is_new =
        std::none_of(stages.begin(), stages.end(), [&](const Stage& one) { return one.lane == filled->second.lane; });
    if (!is_new) continue;
    stages.push_back(filled->second);
    Append(&what, stages.size() == 1 ? " of " : " and ", NameOfLoad(load), ", stage ", filled->second.slot);
  }
  const std::int32_t slot = stages.empty() ? -1 : stages.front().slot;
  const std::int32_t span =
      RanBeside(when, {.name = "products", .kind = SpanKind::kMultiply, .what = what, .slot = slot});
  for (const Stage& stage : stages) {
    recorder_.Put({.lane = stage.lane, .kind = SpanKind::kMultiply, .what = what, .slot = stage.slot, .by = span},
                  when.begin, read, LineOf(when.plan));
  }
}

// ---- the SM and the chip

void TritonTimeline::UnitBusy(std::string_view unit, const scheduler::Server::Piece& piece, std::int32_t plan) {
  const std::int32_t lane =
      recorder_.LaneNamed({.group = std::string(kUnits), .name = std::string(unit), .kind = LaneKind::kUnit});
  const SpanKind kind = plan < 0 ? SpanKind::kWork : KindOf(plans_[static_cast<std::size_t>(plan)]);
  recorder_.Worked(lane, piece.begin, piece.end, LineOf(plan), kind);
}

// A unit has been asked for all that it will do for the blocks that wait: it does no more than there was time for.
void TritonTimeline::Use(const GpuChip& chip, Ticks now, std::int64_t sms) {
  const GpuChip::Use use = chip.use();
  const Ticks elapsed = now - used_until_;
  if (elapsed.value <= 0) return;
  used_until_ = now;
  const auto show = [&](std::size_t strip, const char* name, Ticks requested, std::int64_t units) {
    Ticks& used = used_[strip];
    used = std::min(requested, used + Ticks{elapsed.value * units});
    recorder_.Used(strip, name, now, used, units);
  };
  show(0, "L2", use.l2, 1);
  show(1, "DRAM", use.dram, 1);
  show(2, "tensor cores of all SMs", use.tensor, sms);
}

void TritonTimeline::Look(const memory_model::Memory& memory, std::int32_t place, Ticks at) {
  const std::vector<Finding>& findings = memory.findings();
  for (; findings_ < findings.size(); ++findings_)
    recorder_.Found(findings[findings_], at, place == kNoPlace ? kNoSpan : recorder_.LastOf(At(place).warps));
}

}  // namespace palladion::timing::triton
