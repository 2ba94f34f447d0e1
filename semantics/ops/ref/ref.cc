// Reading and writing refs. Spec: docs/spec/ref.md. All bytes move through the machine port; here an access is
// resolved, masked and asked for.
#include <algorithm>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/ops/families.h"
#include "semantics/ops/ref/ref_access.h"
#include "semantics/program/builder.h"
#include "semantics/program/frame_shadow.h"
#include "semantics/registry/attrs.h"

namespace palladion {
namespace {

absl::Status ExpectView(const Instr& op, const VerifyContext& context) {
  if (op.args.empty() || op.args[0].kind != Arg::Kind::kValue ||
      !context.kernel.values[op.args[0].value.index()].type.is_ref()) {
    return absl::InvalidArgumentError("the first operand must be a view of a ref");
  }
  return absl::OkStatus();
}

absl::Status ExpectNumbers(const VerifyContext& context) {
  if (context.in[0].is_array()) return absl::OkStatus();
  return absl::InvalidArgumentError(Cat("the ref must hold numbers; found ", ToString(context.in[0])));
}

// NumPy's rule: aligned at the end, each dimension 1 or equal.
absl::Status ExpectBroadcasts(const Type& found, const Type& to, std::string_view what) {
  bool ok = found.shape.size() <= to.shape.size();
  for (std::size_t i = 0; ok && i < found.shape.size(); ++i) {
    const std::int64_t d = found.shape[found.shape.size() - 1 - i];
    ok = d == 1 || d == to.shape[to.shape.size() - 1 - i];
  }
  if (ok) return absl::OkStatus();
  return absl::InvalidArgumentError(
      Cat(what, " of shape ", ToString(found.shape), " cannot be broadcast to ", ToString(to.shape)));
}

// mask= is bool, other= has the value's element type; both broadcast to the shape of the access.
absl::Status ExpectMask(const Instr& op, const VerifyContext& context) {
  const Type& value = context.in[0];
  for (std::size_t i = 1; i < op.args.size(); ++i) {
    const Arg& arg = op.args[i];
    if (arg.kind == Arg::Kind::kNone || arg.name.empty()) continue;
    if (arg.name != "mask" && arg.name != "other") {
      return absl::InvalidArgumentError(Cat("expected mask= or other=; found ", arg.name, "="));
    }
    const DType dtype = arg.name == "mask" ? DType::kBool : value.dtype;
    if (context.in[i].dtype != dtype) {
      return absl::InvalidArgumentError(
          Cat(arg.name, " must be of ", Name(dtype), "; found ", ToString(context.in[i])));
    }
    PALLADION_RETURN_IF_ERROR(ExpectBroadcasts(context.in[i], value, arg.name));
  }
  return absl::OkStatus();
}

// ---- get, masked_load

absl::Status VerifyGet(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectOperands(context, 1));
  PALLADION_RETURN_IF_ERROR(ExpectView(op, context));
  return ExpectType(op, 0, context.in[0]);
}

absl::Status VerifyMaskedLoad(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectView(op, context));
  PALLADION_RETURN_IF_ERROR(ExpectMask(op, context));
  return ExpectType(op, 0, context.in[0]);
}

// ref.md#get: the value is what the view shows; a masked-off lane is no access and gives `other`, or poison without
// one.
absl::Status RunLoad(const void* params, const Step& step, Frame& frame) {
  const auto& p = *static_cast<const AccessParams*>(params);
  const SlotId out = frame.out(step, 0);
  UseIndices(p, step, frame);
  if (p.may_borrow) {
    BoxAccess box;
    Definedness defined;
    ResolveBox(p.view, step, frame, box);
    if (frame.shadow() != nullptr) box.defined = &defined;
    if (const std::byte* memory = frame.machine().Borrow(box)) {
      frame.set_slot(out, const_cast<std::byte*>(memory));  // values are never written after their definition
      if (frame.shadow() != nullptr) frame.shadow()->Set(out, defined);
      return absl::OkStatus();
    }
    frame.set_slot(out, frame.home(out));
  }
  LoadInto(p, out, step, frame);
  return absl::OkStatus();
}

absl::Status LowerLoad(const Instr& op, Builder& builder) {
  AccessParams params;
  PALLADION_ASSIGN_OR_RETURN(params.view, builder.PlanView(op.args[0]));
  PALLADION_RETURN_IF_ERROR(PlanMask(op, params.view.type.shape, params, builder));
  const SlotId out = builder.Result(op, 0);
  params.may_borrow = params.view.affine && params.view.unit == 1 && params.view.guards.empty() &&
                      !params.mask.valid() && op.results[0].valid() && builder.MayBorrow(op.results[0]);
  builder.Emit(RunLoad, std::move(params), {}, {out});
  return absl::OkStatus();
}

// ---- swap, masked_swap

absl::Status VerifySwap(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectView(op, context));
  if (context.in.size() < 2) return absl::InvalidArgumentError("expected a view and a value");
  PALLADION_RETURN_IF_ERROR(ExpectSameType(context.in[1], context.in[0], "the stored value"));
  PALLADION_RETURN_IF_ERROR(ExpectMask(op, context));
  return op.types.empty() ? absl::OkStatus() : ExpectType(op, 0, context.in[0]);
}

// ref.md#swap: the old value is read, then every lane that the mask admits is written. In a masked-off lane the result
// is the operand's own element.
absl::Status RunSwap(const void* params, const Step& step, Frame& frame) {
  const auto& p = *static_cast<const AccessParams*>(params);
  UseIndices(p, step, frame);
  if (p.old.valid()) LoadInto(p, p.old, step, frame);
  StoreFrom(p, p.value, step, frame);
  return absl::OkStatus();
}

absl::Status LowerSwap(const Instr& op, Builder& builder) {
  AccessParams params;
  PALLADION_ASSIGN_OR_RETURN(params.view, builder.PlanView(op.args[0]));
  PALLADION_ASSIGN_OR_RETURN(params.value, builder.In(op.args[1]));
  PALLADION_RETURN_IF_ERROR(PlanMask(op, params.view.type.shape, params, builder));
  if (params.mask.valid()) params.other = params.value;
  if (!op.results.empty() && op.results[0].valid()) params.old = builder.Define(op.results[0]);
  builder.Emit(RunSwap, std::move(params));
  return absl::OkStatus();
}

// ---- addupdate

absl::Status VerifyAddUpdate(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectOperands(context, 2));
  PALLADION_RETURN_IF_ERROR(ExpectView(op, context));
  PALLADION_RETURN_IF_ERROR(ExpectResults(op, 0));
  PALLADION_RETURN_IF_ERROR(ExpectNumbers(context));
  return ExpectSameType(context.in[1], context.in[0], "the added value");
}

struct AddUpdateParams {
  AccessParams access;
  ValueKernel add;
  SlotId sum;
  AtomicFn add_one = nullptr;
};

// ref.md#addupdate: each element of the view becomes itself plus the value's, rounded as `add` is. Where an index array
// names an element twice, it is added to twice, in row-major order.
absl::Status RunAddUpdate(const void* params, const Step& step, Frame& frame) {
  const auto& p = *static_cast<const AddUpdateParams*>(params);
  UseIndices(p.access, step, frame);
  if (!p.access.view.affine) {
    PointAccess points;
    ResolvePoints(p.access.view, step, frame, points);
    Definedness defined;
    if (frame.shadow() != nullptr) {
      defined = frame.shadow()->Get(p.access.value);
      points.defined = &defined;
    }
    frame.machine().Atomic(points, p.add_one, frame.slot(p.access.value), nullptr, nullptr);
    return absl::OkStatus();
  }
  LoadInto(p.access, p.access.old, step, frame);
  const std::byte* in[] = {frame.slot(p.access.old), frame.slot(p.access.value)};
  std::byte* out[] = {frame.slot(p.sum)};
  p.add.run(p.add.params.get(), {in, out, frame.scratch()});
  if (frame.shadow() != nullptr) frame.shadow()->Merge(p.access.old, p.access.value, p.sum);
  StoreFrom(p.access, p.sum, step, frame);
  return absl::OkStatus();
}

absl::Status LowerAddUpdate(const Instr& op, Builder& builder) {
  AddUpdateParams params;
  PALLADION_ASSIGN_OR_RETURN(params.access.view, builder.PlanView(op.args[0]));
  PALLADION_ASSIGN_OR_RETURN(params.access.value, builder.In(op.args[1]));
  const Type type = params.access.view.type;
  params.access.old = builder.NewSlot(type);
  params.sum = builder.NewSlot(type);
  Instr add;
  add.name = "add";
  PALLADION_ASSIGN_OR_RETURN(
      params.add, FindOp("", "add")->prepare(add, {.in = {type, type}, .out = {type}, .target = builder.target()}));
  PALLADION_ASSIGN_OR_RETURN(params.add_one, FindAtomic("add", type.dtype));
  builder.program().scratch_bytes = std::max(builder.program().scratch_bytes, params.add.scratch_bytes);
  const SlotId old = params.access.old, sum = params.sum;
  builder.Emit(RunAddUpdate, std::move(params));
  builder.FreeSlot(old);
  builder.FreeSlot(sum);
  return absl::OkStatus();
}

// ---- atomics

absl::Status VerifyAtomicRmw(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectView(op, context));
  if (context.in.size() < 2) return absl::InvalidArgumentError("expected a view and a value");
  PALLADION_RETURN_IF_ERROR(ExpectSameType(context.in[1], context.in[0], "the operand"));
  PALLADION_RETURN_IF_ERROR(ExpectMask(op, context));
  PALLADION_RETURN_IF_ERROR(ExpectNumbers(context));
  PALLADION_ASSIGN_OR_RETURN(std::string name, StringAttr(op, "op"));
  PALLADION_RETURN_IF_ERROR(FindAtomic(name, context.in[0].dtype).status());
  return op.types.empty() ? absl::OkStatus() : ExpectType(op, 0, context.in[0]);
}

absl::Status VerifyAtomicCas(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectOperands(context, 3));
  PALLADION_RETURN_IF_ERROR(ExpectView(op, context));
  PALLADION_RETURN_IF_ERROR(ExpectNumbers(context));
  if (!context.in[0].shape.empty())
    return absl::InvalidArgumentError(Cat("the view must be one element; found ", ToString(context.in[0])));
  PALLADION_RETURN_IF_ERROR(ExpectSameType(context.in[1], context.in[0], "the compared value"));
  PALLADION_RETURN_IF_ERROR(ExpectSameType(context.in[2], context.in[0], "the new value"));
  PALLADION_RETURN_IF_ERROR(FindAtomic("cas", context.in[0].dtype).status());
  return op.types.empty() ? absl::OkStatus() : ExpectType(op, 0, context.in[0]);
}

struct AtomicParams {
  AccessParams access;
  AtomicFn fn = nullptr;
  SlotId compare;
};

// ref.md#atomic_rmw: lanes one after another in row-major order; the result is each lane's old element.
absl::Status RunAtomic(const void* params, const Step& step, Frame& frame) {
  const auto& p = *static_cast<const AtomicParams*>(params);
  UseIndices(p.access, step, frame);
  PointAccess points;
  ResolvePoints(p.access.view, step, frame, points);
  points.mask = MaskOf(p.access, frame);
  Definedness defined;
  if (frame.shadow() != nullptr) {
    defined = frame.shadow()->Get(p.access.value);
    if (p.compare.valid() && !defined.any) defined = frame.shadow()->Get(p.compare);
    points.defined = &defined;
  }
  const std::byte* compare = p.compare.valid() ? frame.slot(p.compare) : nullptr;
  std::byte* old = p.access.old.valid() ? frame.slot(p.access.old) : nullptr;
  frame.machine().Atomic(points, p.fn, frame.slot(p.access.value), compare, old);
  if (frame.shadow() != nullptr && p.access.old.valid()) frame.shadow()->Set(p.access.old, defined);
  return absl::OkStatus();
}

absl::Status LowerAtomic(const Instr& op, Builder& builder) {
  const bool cas = op.name == "atomic_cas";
  AtomicParams params;
  PALLADION_ASSIGN_OR_RETURN(params.access.view, builder.PlanPoints(op.args[0]));
  PALLADION_ASSIGN_OR_RETURN(params.access.value, builder.In(op.args[cas ? 2 : 1]));
  if (cas) {
    PALLADION_ASSIGN_OR_RETURN(params.compare, builder.In(op.args[1]));
  }
  PALLADION_RETURN_IF_ERROR(PlanMask(op, params.access.view.type.shape, params.access, builder));
  PALLADION_ASSIGN_OR_RETURN(std::string name, cas ? absl::StatusOr<std::string>("cas") : StringAttr(op, "op"));
  PALLADION_ASSIGN_OR_RETURN(params.fn, FindAtomic(name, params.access.view.type.dtype));
  if (!op.results.empty() && op.results[0].valid()) params.access.old = builder.Define(op.results[0]);
  const bool sees = cas || name == "xchg" || params.access.old.valid();
  builder.Emit(RunAtomic, std::move(params));
  builder.program().steps.back().atomic = sees ? AtomicStep::kSees : AtomicStep::kUpdate;
  return absl::OkStatus();
}

constexpr OpRow kRefOps[] = {
    {.dialect = "",
     .name = "get",
     .spec = "ref.md#get",
     .verify = VerifyGet,
     .lower = LowerLoad,
     .effect = Effect::kReads,
     .asks_port = AsksPort::kMay,
     .waits = Waits::kNever,
     .access = RefAccess::kLoad,
     .backends = kAllBackends,
     .unit = Unit::kMemory},
    {.dialect = "",
     .name = "swap",
     .spec = "ref.md#swap",
     .verify = VerifySwap,
     .lower = LowerSwap,
     .effect = Effect::kReadsWrites,
     .asks_port = AsksPort::kMay,
     .waits = Waits::kNever,
     .access = RefAccess::kStore,
     .backends = kAllBackends,
     .unit = Unit::kMemory},
    {.dialect = "",
     .name = "addupdate",
     .spec = "ref.md#addupdate",
     .verify = VerifyAddUpdate,
     .lower = LowerAddUpdate,
     .effect = Effect::kReadsWrites,
     .asks_port = AsksPort::kMay,
     .waits = Waits::kNever,
     .access = RefAccess::kAdd,
     .backends = kTpuTriton,
     .unit = Unit::kMemory},
    {.dialect = "",
     .name = "masked_load",
     .spec = "ref.md#masked_load",
     .verify = VerifyMaskedLoad,
     .lower = LowerLoad,
     .effect = Effect::kReads,
     .asks_port = AsksPort::kMay,
     .waits = Waits::kNever,
     .access = RefAccess::kLoad,
     .backends = kTpuTriton,
     .unit = Unit::kMemory},
    {.dialect = "",
     .name = "masked_swap",
     .spec = "ref.md#masked_swap",
     .verify = VerifySwap,
     .lower = LowerSwap,
     .effect = Effect::kReadsWrites,
     .asks_port = AsksPort::kMay,
     .waits = Waits::kNever,
     .access = RefAccess::kStore,
     .backends = kTpuTriton,
     .unit = Unit::kMemory},
    {.dialect = "",
     .name = "atomic_rmw",
     .spec = "ref.md#atomic_rmw",
     .verify = VerifyAtomicRmw,
     .lower = LowerAtomic,
     .effect = Effect::kReadsWrites,
     .asks_port = AsksPort::kMay,
     .waits = Waits::kNever,
     .decides = Decides::kAlways,
     .access = RefAccess::kAtomic,
     .backends = kGpuTriton,
     .unit = Unit::kMemory},
    {.dialect = "",
     .name = "atomic_cas",
     .spec = "ref.md#atomic_cas",
     .verify = VerifyAtomicCas,
     .lower = LowerAtomic,
     .effect = Effect::kReadsWrites,
     .asks_port = AsksPort::kMay,
     .waits = Waits::kNever,
     .decides = Decides::kAlways,
     .access = RefAccess::kAtomic,
     .stored = 2,
     .backends = kTriton,
     .unit = Unit::kMemory},
};

}  // namespace

absl::Span<const OpRow> RefOps() { return kRefOps; }

}  // namespace palladion
