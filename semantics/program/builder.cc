#include "semantics/program/builder.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_join.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/registry/op_row.h"
#include "semantics/registry/verifier.h"

namespace palladion {
namespace {

// Calls `use` with every value that an argument or an instruction reads, nested regions included.
template <class F>
void ForEachUse(const Arg& arg, const F& use) {
  if (arg.kind == Arg::Kind::kValue) use(arg.value);
  for (const Transform& t : arg.transforms) {
    for (const Index& index : t.indices) {
      ForEachUse(index.start, use);
      ForEachUse(index.size, use);
    }
    ForEachUse(t.peer, use);
  }
  for (const Arg& choice : arg.select) ForEachUse(choice, use);
}

template <class F>
void ForEachUse(const Region& region, const F& use);

template <class F>
void ForEachUse(const Instr& op, const F& use) {
  for (const Arg& arg : op.args) ForEachUse(arg, use);
  for (const Region& region : op.regions) ForEachUse(region, use);
}

template <class F>
void ForEachUse(const Region& region, const F& use) {
  for (const Instr& op : region.body) ForEachUse(op, use);
  for (const Arg& result : region.results) ForEachUse(result, use);
}

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
  frame.pc = *static_cast<const JumpParams*>(params)->to.target;
  return absl::OkStatus();
}

struct MoveParams {
  std::size_t bytes;
};

void EvalMove(const MoveParams& p, const ValueOperands& operands) {
  std::memcpy(operands.out[0], operands.in[0], p.bytes);
}

}  // namespace

Builder::Builder(const Module& module, const Kernel& kernel, Target target, const ProgramOptions& options)
    : module_(module), kernel_(kernel), swizzles_(kernel), observable_(options.observable) {
  program_.kernel_name = kernel.name;
  program_.target = std::move(target);
  slot_of_.resize(kernel.values.size());
  ref_of_.resize(kernel.values.size());
  borrowed_slot_.resize(kernel.values.size());
  for (const Body& body : kernel.bodies) freezes_ |= Freezes(body.region);
}

Type TypeOf(const Kernel& kernel, const Arg& arg) {
  switch (arg.kind) {
    case Arg::Kind::kLiteral:
      return Type{.dtype = arg.literal.dtype, .weak = arg.literal.weak};
    case Arg::Kind::kDense:
      return Type{.dtype = arg.dense->dtype(), .shape = arg.dense->shape()};
    default:
      return kernel.values[arg.value.index()].type;
  }
}

absl::StatusOr<SlotId> Builder::In(const Arg& arg) {
  const std::byte* constant = nullptr;
  if (arg.kind == Arg::Kind::kValue) {
    const SlotId slot = slot_of_[arg.value.index()];
    if (slot.valid()) return slot;
    return absl::InternalError(Cat("cannot happen: '%", kernel_.values[arg.value.index()].name, "' has no memory"));
  }
  if (arg.kind == Arg::Kind::kLiteral) {
    auto bytes = std::make_shared<const std::array<std::byte, 8>>(arg.literal.bytes);
    constant = bytes->data();
    program_.owned.push_back(std::move(bytes));
  } else if (arg.kind == Arg::Kind::kDense) {
    constant = arg.dense->bytes();
    program_.owned.push_back(arg.dense);
  } else {
    return absl::InternalError("cannot happen: an operand that is no value was verified");
  }
  program_.slots.push_back({.bytes = ByteSize(TypeOf(arg)), .constant = constant});
  return SlotId{static_cast<std::int32_t>(program_.slots.size() - 1)};
}

SlotId Builder::NewSlot(const Type& type) {
  const std::size_t bytes = ByteSize(type);
  program_.slots.push_back({.offset = memory_.Allocate(bytes),
                            .bytes = bytes,
                            .elements = static_cast<std::size_t>(NumElements(type.shape))});
  return SlotId{static_cast<std::int32_t>(program_.slots.size() - 1)};
}

void Builder::FreeSlot(SlotId slot) {
  const SlotInfo& info = program_.slots[slot.index()];
  if (info.constant != nullptr || ForgetUnplaced(slot)) return;
  if (strips_.ops.empty()) {
    memory_.Free(info.offset, info.bytes);
  } else {
    pending_frees_.push_back({info.offset, info.bytes});
  }
}

SlotId Builder::Define(ValueId value) {
  SlotId& slot = slot_of_[value.index()];
  if (!slot.valid() || !borrowed_slot_[value.index()]) slot = NewSlot(TypeOf(value));
  return slot;
}

void Builder::DefineAs(ValueId value, SlotId slot) {
  slot_of_[value.index()] = slot;
  borrowed_slot_[value.index()] = true;
}

SlotId Builder::Result(const Instr& op, std::size_t i) {
  if (op.results[i].valid()) return Define(op.results[i]);
  const SlotId slot = NewSlot(op.types[i]);
  temporaries_.push_back(slot);  // nobody reads it, yet the other results of this instruction must not share its memory
  return slot;
}

void Builder::AliasSlot(ValueId value, SlotId slot, absl::Span<const SlotId> owned) {
  if (!value.valid() || slot_of_[value.index()].valid()) {
    if (value.valid()) EmitMove(slot, slot_of_[value.index()], TypeOf(value));
    for (SlotId s : owned) FreeSlot(s);
    return;
  }
  DefineAs(value, slot);
  owned_by_[value.value].assign(owned.begin(), owned.end());
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
  if (borrowed_slot_[value.index()]) return false;
  const RegionState& state = regions_.back();
  const auto last = state.last_use.find(value.value);
  if (last == state.last_use.end() || last->second >= state.region->body.size()) return false;
  for (std::size_t i = state.position + 1; i <= last->second; ++i) {
    const Effect effect = state.region->body[i].row->effect;
    if (effect != Effect::kPure && effect != Effect::kReads) return false;
  }
  return true;
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
  const double work = kernel.work > 0 ? kernel.work : LargestOf(in, out);
  AppendStep({.value = kernel.run, .params = params, .op = op}, std::move(kernel.params), in, out);
  SetWork(work);
}

void Builder::EmitMove(SlotId from, SlotId to, const Type& type) {
  if (from != to) EmitValue(palladion::Bind<EvalMove>(MoveParams{ByteSize(type)}), {from}, {to});
}

void Builder::EmitJump(const Label& label) { Emit(RunJump, JumpParams{label}); }

void Builder::NumberLoop(std::vector<SlotId> carries) {
  program_.steps.back().loop = static_cast<std::int32_t>(program_.loops.size());
  program_.loops.push_back({.carries = std::move(carries)});
}

bool Builder::IsUsed(ValueId value) const { return value.valid() && regions_.back().last_use.contains(value.value); }

void Builder::VisitUses(const Instr& op, const std::function<void(ValueId)>& visit) { ForEachUse(op, visit); }

void Builder::VisitUses(const Arg& arg, const std::function<void(ValueId)>& visit) { ForEachUse(arg, visit); }

bool Builder::ReturnsParam(const Region& region, std::size_t result, ValueId param) {
  const Arg& arg = region.results[result];
  return arg.kind == Arg::Kind::kValue && arg.value == param;
}

// An error of the innermost instruction keeps its own place.
absl::Status Builder::AtInstr(const absl::Status& status, const Instr& op) const {
  constexpr absl::string_view kPlaced = "palladion/placed";
  if (status.GetPayload(kPlaced).has_value()) return status;
  std::string where = Cat("line ", op.text_line, ": ", op.name);
  if (op.loc.valid()) Append(&where, " at ", Describe(module_, op.loc));
  absl::Status placed(status.code(), Cat(where, ": ", status.message()));
  placed.SetPayload(kPlaced, absl::Cord());
  return placed;
}

absl::Status Builder::LowerInstr(const Instr& op) {
  const Instr* outer = std::exchange(current_, &op);
  const Views outer_views = std::exchange(views_, {});
  absl::Status status = MarkInstr(op, false);
  program_.uses_port = program_.uses_port || op.row->asks_port == AsksPort::kAlways;
  const bool asked = program_.uses_port;
  if (status.ok()) status = op.row->prepare != nullptr ? LowerValueOp(op) : op.row->lower(op, *this);
  if (status.ok() && op.regions.empty() && op.row->asks_port == AsksPort::kNever && program_.uses_port != asked)
    status = absl::InternalError(Cat(op.name, " asks the port, and its row says that it never does"));
  if (status.ok()) status = MarkInstr(op, true);
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
  const Inspected* inspected = op.row->inspect == nullptr ? nullptr : Inspect(op, types, in);
  if (inspected == nullptr && FoldConstant(op, kernel, in)) return absl::OkStatus();
  if (FitsStrips(kernel, types)) {
    AddToStrips(op, std::move(kernel), types, in, inspected);
    return absl::OkStatus();
  }
  // Pure, so it may come before a group that it does not depend on: scalars between the operations of a long chain do
  // not end the group. Its results' memory is free now, so nothing that the group reads lies there.
  before_strips_ = !ReadsStrips(in);
  for (std::size_t i = 0; i < op.results.size(); ++i) out.push_back(Result(op, i));
  EmitValue(std::move(kernel), in, out, &op);
  program_.steps.back().inspected = inspected;
  before_strips_ = false;
  return absl::OkStatus();
}

void Builder::FreeAfter(RegionState& state, std::size_t position) {
  std::erase_if(state.defined, [&](ValueId value) {
    const auto last = state.last_use.find(value.value);
    if (last != state.last_use.end() && last->second > position) return false;
    if (auto owned = owned_by_.find(value.value); owned != owned_by_.end()) {
      for (SlotId slot : owned->second) FreeSlot(slot);
      owned_by_.erase(owned);
    } else if (!borrowed_slot_[value.index()]) {
      FreeSlot(slot_of_[value.index()]);
    }
    return true;
  });
}

absl::Status Builder::LowerRegion(const Region& region, absl::Span<const SlotId> results) {
  RegionState state{.region = &region};
  for (std::size_t i = 0; i < region.body.size(); ++i) {
    ForEachUse(region.body[i], [&](ValueId v) { state.last_use[v.value] = i; });
  }
  absl::flat_hash_map<std::int32_t, int> returned;
  for (const Arg& result : region.results) {
    ForEachUse(result, [&](ValueId v) {
      state.last_use[v.value] = region.body.size();
      ++returned[v.value];
    });
  }
  absl::flat_hash_map<std::int32_t, bool> computed_here;
  for (const Instr& op : region.body) {
    for (std::size_t i = 0; i < op.results.size(); ++i) {
      if (op.results[i].valid() && !op.types[i].is_ref()) computed_here[op.results[i].value] = true;
    }
  }
  std::vector<bool> in_place(results.size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Arg& result = region.results[i];
    in_place[i] = result.kind == Arg::Kind::kValue && computed_here.contains(result.value.value) &&
                  returned[result.value.value] == 1;
    if (in_place[i]) DefineAs(result.value, results[i]);
  }
  regions_.push_back(std::move(state));
  PALLADION_RETURN_IF_ERROR(MarkRegion(region, true));
  for (std::size_t i = 0; i < region.body.size(); ++i) {
    regions_.back().position = i;
    const Instr& op = region.body[i];
    PALLADION_RETURN_IF_ERROR(LowerInstr(op));
    for (std::size_t r = 0; r < op.results.size(); ++r) {
      if (op.results[r].valid() && slot_of_[op.results[r].index()].valid())
        regions_.back().defined.push_back(op.results[r]);
    }
    FreeAfter(regions_.back(), i);
  }
  FlushStrips();
  PALLADION_RETURN_IF_ERROR(MarkRegion(region, false));
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
                                      "' is no named grid dimension, and no axis of `devices`, which are not modelled for GPUs; name one of [",
                                      absl::StrJoin(names, ", "), "]"));
}

Program Builder::Finish() && {
  program_.arena_bytes = memory_.size();
  return std::move(program_);
}

}  // namespace palladion
