#include "semantics/program/builder.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>
#include <utility>

#include "absl/strings/str_join.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/program/constant_fold.h"
#include "semantics/program/ended_refs.h"
#include "semantics/program/marking.h"
#include "semantics/program/operand_inspectors.h"
#include "semantics/program/step_work.h"
#include "semantics/program/view_planner.h"
#include "semantics/registry/op_row.h"
#include "semantics/registry/verifier.h"

namespace palladion {
namespace {

bool IsVisible(Effect effect) {
  return effect != Effect::kPure && effect != Effect::kControl && effect != Effect::kPrints && effect != Effect::kDraws;
}

bool IsLasting(Effect effect) {
  return effect == Effect::kAllocates || effect == Effect::kPrints || effect == Effect::kDraws ||
         effect == Effect::kSynchronises;
}

struct JumpParams {
  Label to;
};

absl::Status RunJump(const void* params, const Step&, Frame& frame) {
  frame.JumpTo(*static_cast<const JumpParams*>(params)->to.target);
  return absl::OkStatus();
}

struct LoopJumpParams {
  Label to;
  std::int64_t weight;  // iterations that one of these counts as
};

absl::Status RunLoopJump(const void* params, const Step&, Frame& frame) {
  const auto& p = *static_cast<const LoopJumpParams*>(params);
  PALLADION_RETURN_IF_ERROR(frame.GoRound(p.weight));
  frame.JumpTo(*p.to.target);
  return frame.pauses() ? PauseStatus() : absl::OkStatus();
}

struct MoveParams {
  std::size_t bytes;
};

void EvalMove(const MoveParams& p, const ValueOperands& operands) {
  std::memcpy(operands.out[0], operands.in[0], p.bytes);
}

}  // namespace

Builder::Builder(const Module& module, const Kernel& kernel, Target target, const ProgramOptions& options)
    : module_(module),
      kernel_(kernel),
      swizzles_(kernel),
      slots_(kernel, program_),
      strips_(program_, slots_),
      observable_(options.observable),
      freezes_(Freezes(kernel)) {
  program_.kernel_name = kernel.name;
  program_.target = std::move(target);
  ref_of_.resize(kernel.values.size());
}

void Builder::FreeSlot(SlotId slot) {
  if (!slots_.IsConstant(slot) && !strips_.EndsInside(slot)) slots_.Free(slot);
}

SlotId Builder::Result(const Instr& op, std::size_t i) {
  // Unused results: the other results of this instruction must not share its memory.
  return op.results[i].valid() ? Define(op.results[i]) : NewTemporary(op.types[i]);
}

SlotId Builder::NewTemporary(const Type& type) {
  temporaries_.push_back(NewSlot(type));
  return temporaries_.back();
}

void Builder::AliasSlot(ValueId value, SlotId slot, absl::Span<const SlotId> owned) {
  if (!value.valid() || SlotOf(value).valid()) {
    if (value.valid()) EmitMove(slot, SlotOf(value), TypeOf(value));
    for (SlotId s : owned) FreeSlot(s);
    return;
  }
  DefineAs(value, slot);
  slots_.Own(value, owned);
}

std::optional<SlotId> Builder::Fold(const ValueKernel& kernel, const std::vector<SlotId>& in, const Type& type) {
  return FoldConstant(kernel, in, type, program_, slots_);
}

absl::StatusOr<ViewPlan> Builder::PlanView(const Arg& view) { return ViewPlanner(*this).View(view); }

absl::StatusOr<ViewPlan> Builder::PlanPoints(const Arg& view) { return ViewPlanner(*this).Points(view); }

absl::StatusOr<IndexValue> Builder::PlanIndex(const Arg& arg) { return ViewPlanner(*this).PlanIndex(arg); }

void Builder::Views(RefId ref, const Shape& shape) {
  views_.several |= views_.ref.valid() && views_.ref != ref;
  views_.ref = ref;
  views_.elements += std::fabs(static_cast<double>(NumElements(shape)));
}

RefId Builder::NewRef(RefInfo info) {
  program_.refs.push_back(std::move(info));
  return RefId{static_cast<std::int32_t>(program_.refs.size() - 1)};
}

void Builder::DefineRef(ValueId value, RefId ref) { ref_of_[value.index()] = ref; }

RefId Builder::RefOf(ValueId value) const { return ref_of_[value.index()]; }

RefInfo Builder::WholeRef(const Type& type, std::string name) const {
  RefInfo info{.name = std::move(name),
               .dtype = type.dtype,
               .words_per_element = WordsPerElement(type),
               .buffer_shape = type.shape,
               .window = type.shape,
               .kept = {}};
  for (int d = 0; d < type.rank(); ++d) info.kept.push_back(d);
  return info;
}

bool Builder::MayBorrow(ValueId value) const {
  if (slots_.Borrowed(value)) return false;
  const RegionState& state = regions_.back();
  const std::size_t last = state.uses.Last(value);
  if (last >= state.region.body.size()) return false;
  for (std::size_t i = state.position + 1; i <= last; ++i) {
    const Effect effect = state.region.body[i].row->effect;
    if (effect != Effect::kPure && effect != Effect::kReads) return false;
  }
  return true;
}

void Builder::FlushStrips() {
  if (strips_.empty()) return;
  const Instr* now = std::exchange(current_, strips_.place());
  StripParams group = strips_.Finish();
  program_.wants_threads |= group.parts > 1;
  if (group.ops.size() == 1) {
    StripOp& op = group.ops[0];
    std::vector<SlotId> in;
    for (const StripOperand& operand : op.in) in.push_back(operand.slot);
    EmitValue(std::move(op.kernel), in, {op.out.slot}, op.op);
    program_.steps.back().inspected = op.inspected;
  } else {
    const double work = static_cast<double>(group.elements) * static_cast<double>(group.ops.size());
    EmitAs(StepKind::kStrips, RunStrips, std::move(group));
    SetWork(work);
  }
  current_ = now;
  slots_.LetFreesGo();
}

void Builder::AppendStep(Step step, std::shared_ptr<const void> owned, const std::vector<SlotId>& in,
                         const std::vector<SlotId>& out) {
  if (!before_strips_) FlushStrips();
  step.first_operand = static_cast<std::uint32_t>(program_.operands.size());
  step.n_in = static_cast<std::uint32_t>(in.size());
  step.n_out = static_cast<std::uint32_t>(out.size());
  program_.operands.insert(program_.operands.end(), in.begin(), in.end());
  program_.operands.insert(program_.operands.end(), out.begin(), out.end());
  step.text_line = current_ != nullptr ? current_->text_line : place_line_;
  step.loc = current_ != nullptr ? current_->loc : place_loc_;
  step.visible = step.fn != nullptr && current_ != nullptr && IsVisible(current_->row->effect);
  step.lasting = step.fn != nullptr && current_ != nullptr && IsLasting(current_->row->effect);
  if (step.visible) {
    step.ref = views_.several ? RefId{} : views_.ref;
    step.only_reads = current_->row->effect == Effect::kReads;
    step.own_memory = current_->row->effect == Effect::kAllocates;
  }
  if (owned != nullptr) program_.owned.push_back(std::move(owned));
  program_.steps.push_back(step);
  if (step.visible) SetWork(views_.elements);
}

void Builder::EmitValue(ValueKernel kernel, const std::vector<SlotId>& in, const std::vector<SlotId>& out,
                        const Instr* op) {
  program_.scratch_bytes = std::max(program_.scratch_bytes, kernel.scratch_bytes);
  program_.wants_threads |= kernel.wants_threads;
  const void* params = kernel.params.get();
  const double work = kernel.work > 0 ? kernel.work : LargestOf(program_, in, out);
  AppendStep({.value = kernel.run, .params = params, .op = op}, std::move(kernel.params), in, out);
  SetWork(work);
}

void Builder::EmitMove(SlotId from, SlotId to, const Type& type) {
  if (from != to) EmitValue(palladion::Bind<EvalMove>(MoveParams{ByteSize(type)}), {from}, {to});
}

void Builder::EmitJump(const Label& label) { Emit(RunJump, JumpParams{label}); }

void Builder::EmitLoopJump(const Label& label) {
  FlushStrips();
  Emit(RunLoopJump, LoopJumpParams{label, LoopWeight(program_, *label.target)});
}

void Builder::SetWork(double work) { palladion::SetWork(program_.steps.back(), work); }

void Builder::NumberLoop(std::vector<SlotId> carries) {
  program_.steps.back().loop = static_cast<std::int32_t>(program_.loops.size());
  program_.loops.push_back({.carries = std::move(carries)});
}

// An error of the innermost instruction keeps its own place.
absl::Status Builder::AtInstr(const absl::Status& status, const Instr& op) const {
  constexpr absl::string_view kPlaced = "palladion/placed";
  if (status.GetPayload(kPlaced).has_value()) return status;
  const std::string where =
      op.loc.valid() ? Cat(op.name, " at ", Describe(module_, op.loc)) : Cat("line ", op.text_line, ": ", op.name);
  absl::Status placed(status.code(), Cat(where, ": ", status.message()));
  placed.SetPayload(kPlaced, absl::Cord());
  return placed;
}

absl::Status Builder::LowerInstr(const Instr& op) {
  const Instr* outer = std::exchange(current_, &op);
  const ViewedRefs outer_views = std::exchange(views_, {});
  absl::Status status = observable_ ? EmitMark(op, false, *this) : absl::OkStatus();
  program_.uses_port = program_.uses_port || op.row->asks_port == AsksPort::kAlways;
  const bool used_port = program_.uses_port;
  if (status.ok()) status = op.row->prepare != nullptr ? LowerValueOp(op) : op.row->lower(op, *this);
  if (status.ok() && op.regions.empty() && op.row->asks_port == AsksPort::kNever && program_.uses_port != used_port)
    status = absl::InternalError(Cat(op.name, " asks the port, and its row says that it never does"));
  if (status.ok() && observable_) status = EmitMark(op, true, *this);
  if (!status.ok()) status = AtInstr(status, op);
  for (SlotId slot : temporaries_) FreeSlot(slot);
  temporaries_.clear();
  current_ = outer;
  views_ = outer_views;
  return status;
}

absl::Status Builder::LowerValueOp(const Instr& op) {
  ValueTypes types{.in = {}, .out = op.types, .target = program_.target};
  std::vector<SlotId> in, out;
  for (const Arg& arg : op.args) {
    types.in.push_back(TypeOf(arg));
    PALLADION_ASSIGN_OR_RETURN(SlotId slot, In(arg));
    in.push_back(slot);
  }
  PALLADION_ASSIGN_OR_RETURN(ValueKernel kernel, op.row->prepare(op, types));
  const Inspected* inspected = InspectorsOf(op, types, in, program_);
  const bool one = op.results.size() == 1 && op.results[0].valid();
  if (one && inspected == nullptr && !slots_.Borrowed(op.results[0])) {
    if (const std::optional<SlotId> folded = Fold(kernel, in, op.types[0]); folded.has_value()) {
      slots_.DefineAsConstant(op.results[0], *folded);
      return absl::OkStatus();
    }
  }
  if (FitsStrips(kernel, types)) {
    if (!one) return absl::OkStatus();  // pure and unused
    if (strips_.EndsBefore(types)) FlushStrips();
    if (strips_.empty()) strips_.Begin(current_);
    strips_.Add(op, std::move(kernel), types, in);
    strips_.Inspects(inspected);
    return absl::OkStatus();
  }
  // Pure, so it may come before a group that it does not depend on: scalars between the operations of a long chain do
  // not end the group. Its results' memory is free now, so nothing that the group reads lies there.
  before_strips_ = !strips_.Reads(in);
  for (std::size_t i = 0; i < op.results.size(); ++i) out.push_back(Result(op, i));
  EmitValue(std::move(kernel), in, out, &op);
  program_.steps.back().inspected = inspected;
  before_strips_ = false;
  return absl::OkStatus();
}

void Builder::FreeAfter(RegionState& state, std::size_t position) {
  std::erase_if(state.defined, [&](ValueId value) {
    if (!state.uses.EndsBy(value, position)) return false;
    for (SlotId slot : slots_.SlotsOf(value)) FreeSlot(slot);
    return true;
  });
}

// Results that an instruction of the region computes, once, are computed where they are wanted.
std::vector<bool> Builder::ResultsInPlace(const Region& region, const LastUses& uses,
                                          absl::Span<const SlotId> results) {
  std::set<ValueId> wanted, computed_here;  // by the region, of what it returns
  for (std::size_t i = 0; i < results.size(); ++i)
    if (region.results[i].kind == Arg::Kind::kValue) wanted.insert(region.results[i].value);
  for (const Instr& op : region.body) {
    if (wanted.empty()) break;
    for (std::size_t i = 0; i < op.results.size(); ++i) {
      if (op.results[i].valid() && !op.types[i].is_ref() && wanted.contains(op.results[i]))
        computed_here.insert(op.results[i]);
    }
  }
  std::vector<bool> in_place(results.size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Arg& result = region.results[i];
    in_place[i] =
        result.kind == Arg::Kind::kValue && computed_here.contains(result.value) && uses.Returned(result.value) == 1;
    if (in_place[i]) DefineAs(result.value, results[i]);
  }
  return in_place;
}

absl::Status Builder::LowerRegion(const Region& region, absl::Span<const SlotId> results) {
  const LastUses uses(region);
  const std::vector<bool> in_place = ResultsInPlace(region, uses, results);
  regions_.push_back({.region = region, .uses = uses, .defined = {}});
  if (observable_) PALLADION_RETURN_IF_ERROR(EmitMark(region, current_, true, *this));
  for (std::size_t i = 0; i < region.body.size(); ++i) {
    regions_.back().position = i;
    const Instr& op = region.body[i];
    PALLADION_RETURN_IF_ERROR(LowerInstr(op));
    for (ValueId result : op.results) {
      if (result.valid() && SlotOf(result).valid()) regions_.back().defined.push_back(result);
    }
    FreeAfter(regions_.back(), i);
  }
  FlushStrips();
  if (observable_) PALLADION_RETURN_IF_ERROR(EmitMark(region, current_, false, *this));
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (in_place[i]) continue;
    PALLADION_ASSIGN_OR_RETURN(SlotId from, In(region.results[i]));
    EmitMove(from, results[i], TypeOf(region.results[i]));
  }
  FreeAfter(regions_.back(), region.body.size());
  regions_.pop_back();
  return absl::OkStatus();
}

absl::StatusOr<int> Builder::GridAxis(std::int64_t axis) const {
  const Launch& launch = kernel_.launch;
  std::int64_t user_axis = 0;
  const int device_dims = static_cast<int>(program_.device_axes.size());
  for (int d = device_dims; d < static_cast<int>(program_.grid.size()); ++d) {
    if (std::count(launch.vmapped.begin(), launch.vmapped.end(), d - device_dims) > 0) continue;
    if (user_axis++ == axis) return d;
  }
  return absl::InvalidArgumentError(
      Cat("axis must name one of the ", user_axis, " grid dimensions (vmapped ones are not counted); found ", axis));
}

absl::StatusOr<int> Builder::GridAxis(const std::string& name) const {
  std::vector<std::string> names = program_.device_axes;
  const std::vector<std::string>& own = program_.mesh.has_value() ? program_.mesh->names : kernel_.launch.names;
  names.insert(names.end(), own.begin(), own.end());
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<int>(found - names.begin());
  return absl::UnimplementedError(Cat("'", name,
                                      "' is no named grid dimension, and no axis of `devices`; name one of [",
                                      absl::StrJoin(names, ", "), "]"));
}

Program Builder::Finish() && {
  program_.arena_bytes = slots_.arena_bytes();
  return std::move(program_);
}

}  // namespace palladion
