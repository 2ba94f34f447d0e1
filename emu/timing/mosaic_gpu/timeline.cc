#include "emu/timing/mosaic_gpu/timeline.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "emu/run/watch/access_text.h"
#include "emu/run/watch/observed.h"
#include "emu/timing/base/ticks.h"
#include "semantics/base/cat.h"
#include "semantics/program/thread_mesh.h"

namespace palladion::timing::mosaic_gpu {

using scheduler::Ticks;
using timeline::kNoSpan;
using timeline::LaneKind;
using timeline::SpanKind;
using timeline::TimelineLine;

namespace {

// What keeps a unit busy has the colour of its engine.
SpanKind KindOf(GpuWork work) {
  switch (work) {
    case GpuWork::kCopyIn:
      return SpanKind::kCopyIn;
    case GpuWork::kCopyOut:
      return SpanKind::kCopyOut;
    case GpuWork::kProduct:
    case GpuWork::kTensorCopy:
      return SpanKind::kMultiply;
    default:
      return SpanKind::kWork;
  }
}

}  // namespace

// ---- agents of the SM

std::int32_t GpuTimeline::LaneOf(const Frame& frame, std::int64_t sm) {
  if (!recorder_.Shows(sm)) return kNoLane;
  here_.insert(clock_.running().value);
  const std::optional<ThreadMesh>& mesh = kernel_.program().mesh;
  const bool has_threads = mesh.has_value() && mesh->thread_dim;
  const std::size_t block_dims = frame.grid_size().size() - (has_threads ? 1 : 0);
  std::string block, name = Cat("thread ", has_threads ? frame.grid_index().back() : 0);
  for (std::size_t d = 0; d < block_dims; ++d) Append(&block, d == 0 ? "" : ", ", frame.grid_index()[d]);
  if (frame.warp().has_value()) Append(&name, " warp ", frame.warp()->number);
  block = block.empty() ? "the block" : Cat("block (", block, ")");
  if (!frame.warp().has_value() && machine_ != nullptr) {
    const threads::BlockId id = machine_->residents().Of(frame.agent()).block;
    const bool is_new = std::none_of(blocks_.begin(), blocks_.end(), [&](const Block& one) { return one.id == id; });
    if (is_new) blocks_.push_back({id, block, clock_.now(), machine_->residents().Of(id).threads.size()});
  }
  // A warp that is forked again goes on in its lane.
  return recorder_.LaneNamed({.group = block, .name = name, .kind = LaneKind::kThread});
}

void GpuTimeline::EndThread(const Frame& frame, std::int32_t lane) {
  if (lane == kNoLane || machine_ == nullptr || frame.warp().has_value()) return;
  const threads::BlockId id = machine_->residents().Of(frame.agent()).block;
  const auto block = std::find_if(blocks_.begin(), blocks_.end(), [&](const Block& one) { return one.id == id; });
  if (block == blocks_.end() || --block->running > 0) return;
  ForEachBarrier(*block,
                 [&](BarrierId barrier, const memory_model::Barrier&) { barriers_.Ends(barrier, clock_.now()); });
  recorder_.Put({.lane = BlocksLane(), .what = block->name}, block->begins, clock_.now(), {});
  ended_ = std::max(ended_, clock_.now());
  blocks_.erase(block);
}

std::int32_t GpuTimeline::BlocksLane() {
  return recorder_.LaneNamed({.group = "units", .name = "blocks of this SM", .kind = LaneKind::kUnit});
}

void GpuTimeline::Finished(Ticks end) {
  const std::string what = ended_.value == 0 ? "no block on this SM; others run" : "tail: blocks of other SMs run on";
  recorder_.Put({.lane = BlocksLane(), .kind = SpanKind::kWait, .what = what}, ended_, end, {});
}

TimelineLine GpuTimeline::LineOf(std::int32_t plan) const {
  if (plan < 0) return {};
  const Instr& instr = *plans_[static_cast<std::size_t>(plan)].instr;
  return {.instruction = plan, .loc = instr.loc, .text_line = instr.text_line, .op = watch::OpName(instr)};
}

// ---- what threads do

void GpuTimeline::Worked(const When& when) {
  if (when.lane != kNoLane) recorder_.Worked(when.lane, when.begin, when.end, LineOf(when.plan));
}

void GpuTimeline::Waited(const When& when, std::int32_t ended_by, const std::optional<Awaited>& awaited) {
  if (when.lane == kNoLane) return;
  TimelineLine line = LineOf(when.plan);
  if (awaited.has_value()) Append(&line.op, WaitText(*awaited, &line.slot));
  const auto by = awaited.has_value() ? followed_.find(clock_.running().value) : followed_.end();
  if (by == followed_.end() || here_.contains(by->second))
    return recorder_.Waited(when.lane, when.begin, when.end, line, ended_by);
  recorder_.WaitedFor(when.lane, when.begin, when.end, line, FromElsewhere(when.end, ended_by));
}

std::int32_t GpuTimeline::FromElsewhere(Ticks at, std::int32_t plan) {
  const TimelineLine line = LineOf(plan);
  const std::int32_t lane =
      recorder_.LaneNamed({.group = "engines", .name = "signals of other SMs", .kind = LaneKind::kEngine});
  return recorder_.Put({.lane = lane, .what = Cat(line.op.empty() ? "signal" : line.op, " of another SM")},
                       at - base::TicksOf(machines::Cycles(1)), at, line);
}

// Without its owner where that is the block itself.
std::string GpuTimeline::NameOf(BarrierId id, const threads::Block& of) const {
  const std::string &name = machine_->model().Of(id).spec().name,
                    own = Cat(" of ", machine_->shape().BlockNameOf(of.index));
  return name.ends_with(own) ? name.substr(0, name.size() - own.size()) : name;
}

// For a barrier, " full[1], phase 3". The waiting thread has not taken the phase yet.
std::string GpuTimeline::WaitText(const Awaited& awaited, std::int32_t* slot) const {
  const WaitTarget& target = awaited.target;
  if (machine_ == nullptr || target.kind != WaitTarget::Kind::kBarrier || !machine_->syncs().Lives(target.object.array))
    return "";
  const BarrierId id = machine_->syncs().BarrierOf(target.object);
  *slot = barriers_.SlotOf(id);
  return Cat(" ", NameOf(id, machine_->residents().BlockOf(awaited.thread)), ", phase ",
             static_cast<std::int64_t>(machine_->model().Of(id).completed()) - 1);
}

// Before the clock goes on: what changed at this time, its operation did.
void GpuTimeline::Stepped(std::int32_t lane) {
  issued_.reset();
  Look(lane == kNoLane ? kNoSpan : recorder_.LastOf(lane));
}

// ---- memories of the SM

GpuTimeline::Place GpuTimeline::PlaceOf(BufferId buffer, const BoxAccess* box, std::string_view memory) {
  constexpr std::size_t kMostPlaces = 32;
  const std::string of(memory_->NameOf(buffer));
  Place place{.name = of};
  const absl::Span<const std::int64_t> shape = memory_->ShapeOf(buffer);
  if (box != nullptr && box->rank > 0 && !shape.empty() && box->count[0] < shape[0]) {
    const std::int64_t last = box->start[0] + (box->count[0] - 1) * box->step[0];
    place.name =
        box->count[0] == 1 ? Cat(of, "[", box->start[0], "]") : Cat(of, "[", box->start[0], ":", last + 1, "]");
    place.slot = recorder_.SlotOf(buffer.value, box->start[0]);
  }
  std::map<std::string, std::int32_t>& known = places_[of];
  if (known.size() >= kMostPlaces && !known.contains(place.name)) place.name = Cat(of, ", elsewhere");
  const auto [lane, is_new] = known.try_emplace(place.name, 0);
  if (is_new)
    lane->second = recorder_.LaneNamed({.group = std::string(memory), .name = place.name, .kind = LaneKind::kSlot});
  place.lane = lane->second;
  return place;
}

void GpuTimeline::Touched(const When& when, BufferId buffer, const BoxAccess* box) {
  if (when.lane == kNoLane) return;
  const bool tensor = plans_[static_cast<std::size_t>(when.plan)].space == Space::kTmem;
  const Place place = PlaceOf(buffer, box, tensor ? kTensorMemory : kSharedMemory);
  TimelineLine line = LineOf(when.plan);
  line.instruction = -1;
  line.slot = place.slot;
  recorder_.Worked(place.lane, when.begin, when.end, line);
}

// ---- engines

std::int32_t GpuTimeline::RanBeside(const When& when, timeline::TimelineRecorder::Beside beside) {
  const TimelineLine line = LineOf(when.plan);
  if (beside.what.empty()) beside.what = line.op;
  beside.issuer = when.lane;
  const std::int32_t span = recorder_.RanBeside(beside, when.begin, when.end, line);
  issued_ = Engine{.span = span};
  last_engine_[when.lane] = span;
  return span;
}

std::string GpuTimeline::SideText(const AsyncOperand& side) const {
  const auto* box = std::get_if<BoxAccess>(&side.where);
  return Cat(memory_->NameOf(side.buffer()), box == nullptr ? "" : watch::BoxText(*box));
}

void GpuTimeline::Copied(const When& when, SpanKind kind, const AsyncRequest& request) {
  if (when.lane == kNoLane) return;
  const bool in = kind == SpanKind::kCopyIn;
  const AsyncOperand& shared = in ? request.destinations[0] : request.sources[0];
  const Place place = PlaceOf(shared.buffer(), std::get_if<BoxAccess>(&shared.where));
  const std::string far = SideText(in ? request.sources[0] : request.destinations[0]);
  const std::string what = in ? Cat(far, " -> ", place.name) : Cat(place.name, " -> ", far);
  const std::int32_t span =
      RanBeside(when, {.name = in ? "copies in" : "copies out", .kind = kind, .what = what, .slot = place.slot});
  recorder_.Put({.lane = place.lane, .kind = kind, .what = what, .slot = place.slot, .by = recorder_.LastOf(when.lane)},
                when.begin, when.end, LineOf(when.plan));
  if (place.slot < 0 || span == kNoSpan) return;
  for (const Completion& completion : request.completions) {
    if (const auto* barrier = std::get_if<BarrierId>(&completion.object)) barriers_.CountsFor(*barrier, place.slot);
  }
}

// It reads what it has from shared memory all the time.
void GpuTimeline::Multiplied(const When& when, const AsyncRequest& request) {
  if (when.lane == kNoLane) return;
  std::vector<Place> read;
  for (const AsyncOperand& source : request.sources) {
    if (source.proxy != Proxy::kAsync) continue;
    Place place = PlaceOf(source.buffer(), std::get_if<BoxAccess>(&source.where));
    const bool is_new =
        std::none_of(read.begin(), read.end(), [&](const Place& one) { return one.lane == place.lane; });
    if (is_new) read.push_back(std::move(place));  // not the other block's of a pair
  }
  std::sort(read.begin(), read.end(), [](const Place& a, const Place& b) { return a.name < b.name; });
  std::string what = LineOf(when.plan).op;
  for (const Place& place : read) Append(&what, " ", place.name);
  const std::int32_t slot = read.empty() ? -1 : read.front().slot;
  RanBeside(when, {.name = "products", .kind = SpanKind::kMultiply, .what = what, .slot = slot});
  for (const std::vector<AsyncOperand>* operands : {&request.sources, &request.destinations}) {
    for (const AsyncOperand& operand : *operands) {
      if (operand.proxy != Proxy::kTensorCore) continue;
      Place place = PlaceOf(operand.buffer(), std::get_if<BoxAccess>(&operand.where), kTensorMemory);
      const bool is_new =
          std::none_of(read.begin(), read.end(), [&](const Place& one) { return one.lane == place.lane; });
      if (is_new) read.push_back(std::move(place));
    }
  }
  for (const Place& place : read) {
    recorder_.Put({.lane = place.lane,
                   .kind = SpanKind::kMultiply,
                   .what = what,
                   .slot = place.slot,
                   .by = recorder_.LastOf(when.lane)},
                  when.begin, when.end, LineOf(when.plan));
  }
}

void GpuTimeline::Commits(const When& when, const AsyncRequest& request) {
  if (when.lane == kNoLane) return;
  const auto last = last_engine_.find(when.lane);
  issued_ = Engine{.commit = when, .after = last == last_engine_.end() ? kNoSpan : last->second, .what = "commit"};
  if (request.completions.empty() || machine_ == nullptr) return;
  if (const auto* barrier = std::get_if<BarrierId>(&request.completions[0].object))
    Append(&issued_->what, " -> ", machine_->model().Of(*barrier).spec().name);
}

// ---- the clock

void GpuTimeline::Entered(Agent agent, Agent by) {
  next_.Entered(agent, by);
  if (by.valid() && here_.contains(by.value)) here_.insert(agent.value);
  if (!by.valid() || !issued_.has_value()) return;
  engines_[agent.value] = *issued_;
  issued_.reset();
}

void GpuTimeline::Followed(Agent agent, Agent by) {
  next_.Followed(agent, by);
  if (here_.contains(agent.value)) followed_[agent.value] = by.value;
}

// The last phase of the operation has signalled its waiters.
void GpuTimeline::Left(Agent agent, Ticks time) {
  next_.Left(agent, time);
  const auto engine = engines_.find(agent.value);
  std::int32_t by = kNoSpan;
  if (engine != engines_.end()) {
    by = engine->second.span;
    if (engine->second.commit.has_value()) {
      When when = *engine->second.commit;
      when.end = clock_.operation_began();
      const TimelineLine line = LineOf(when.plan);
      by = recorder_.RanBeside({.name = "commits",
                                .kind = SpanKind::kWait,
                                .what = engine->second.what,
                                .issuer_span = engine->second.after},
                               when.begin, when.end, line);
    }
    engines_.erase(engine);
  }
  Look(by);
}

template <class F>
void GpuTimeline::ForEachBarrier(const Block& block, const F& f) const {
  for (const SyncId id : machine_->residents().Of(block.id).syncs.all) {
    for (const BarrierId barrier : machine_->syncs()[id].barriers) f(barrier, machine_->model().Of(barrier));
  }
}

void GpuTimeline::LookAtFindings(std::int32_t by) {
  const auto look = [&](const std::vector<Finding>& findings, std::size_t* seen) {
    for (; *seen < findings.size(); ++*seen) recorder_.Found(findings[*seen], clock_.operation_began(), by);
  };
  look(machine_->model().findings(), &of_model_);
  look(memory_->findings(), &of_memory_);
}

void GpuTimeline::Look(std::int32_t by) {
  if (machine_ == nullptr) return;
  LookAtFindings(by);
  const Ticks at = clock_.operation_began();
  for (const Block& block : blocks_) {
    ForEachBarrier(block, [&](BarrierId id, const memory_model::Barrier& barrier) {
      barriers_.Saw({.id = id,
                     .barrier = barrier,
                     .name = NameOf(id, machine_->residents().Of(block.id)),
                     .born = block.begins,
                     .at = at,
                     .by = by});
    });
  }
}

// ---- units

void GpuTimeline::UnitBusy(std::string_view unit, const scheduler::Server::Piece& piece, std::int32_t plan) {
  TimelineLine line = LineOf(plan);
  line.instruction = -1;
  const std::int32_t lane = recorder_.LaneNamed({.group = "units", .name = std::string(unit), .kind = LaneKind::kUnit});
  const SpanKind kind = plan < 0 ? SpanKind::kWork : KindOf(plans_[static_cast<std::size_t>(plan)].work);
  recorder_.Worked(lane, piece.begin, piece.end, line, kind);
}

void GpuTimeline::Use(const gpu::GpuNode& node, std::int64_t device, Ticks now, std::int64_t sms) {
  const gpu::GpuChip::Use use = node.chip(device).use();
  recorder_.Used(0, "L2", now, use.l2, 1);
  recorder_.Used(1, "DRAM", now, use.dram, 1);
  recorder_.Used(2, "tensor cores of all SMs", now, use.tensor, sms);
  if (!node.links().has_value()) return;
  const gpu::GpuLinks::Use link = node.links()->use(device);
  recorder_.Used(3, "NVLink, out", now, link.out, 1);
  recorder_.Used(4, "NVLink, in", now, link.in, 1);
}

}  // namespace palladion::timing::mosaic_gpu
