// Refs that live inside a kernel: run_scoped, run_state, empty_ref, new_ref, freeze. Spec: docs/spec/ref.md.
#include <algorithm>
#include <utility>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/ir/view_type.h"
#include "semantics/ops/families.h"
#include "semantics/ops/gpu/wgmma.h"
#include "semantics/ops/scope/scope_objects.h"
#include "semantics/ops/scope/scoped_memory.h"
#include "semantics/program/builder.h"
#include "semantics/program/frame_shadow.h"
#include "semantics/program/scratch_scope.h"
#include "semantics/registry/attrs.h"

namespace palladion {
namespace {

// A whole buffer between memory and a value.
struct WholeParams {
  ViewPlan view;
  SlotId value;
};

absl::Status RunStoreWhole(const void* params, const Step& step, Frame& frame) {
  const auto& p = *static_cast<const WholeParams*>(params);
  BoxAccess box;
  ResolveBox(p.view, step, frame, box);
  Definedness defined;
  if (frame.shadow() != nullptr) {
    defined = frame.shadow()->Get(p.value);
    box.defined = &defined;
  }
  frame.machine().Store(box, frame.slot(p.value));
  return absl::OkStatus();
}

absl::Status RunLoadWhole(const void* params, const Step& step, Frame& frame) {
  const auto& p = *static_cast<const WholeParams*>(params);
  BoxAccess box;
  ResolveBox(p.view, step, frame, box);
  Definedness defined;
  if (frame.shadow() != nullptr) box.defined = &defined;
  frame.machine().Load(box, frame.slot(p.value));
  if (frame.shadow() != nullptr) frame.shadow()->Set(p.value, defined);
  return absl::OkStatus();
}

Arg WholeView(ValueId ref) {
  Arg arg;
  arg.kind = Arg::Kind::kValue;
  arg.value = ref;
  return arg;
}

absl::Status ExpectRefParams(const Region& region, const Kernel& kernel) {
  for (const Param& param : region.params) {
    const Type& type = kernel.values[param.value.index()].type;
    if (!type.is_ref())
      return absl::InvalidArgumentError(Cat("the region's parameters must be refs; found ", ToString(type)));
  }
  return absl::OkStatus();
}

// A ref's whole contents as a value.
Type ContentsOf(const Type& ref) {
  Type type = ref;
  type.kind = ref.key_impl.empty() ? TypeKind::kArray : TypeKind::kKey;
  return type;
}

// ---- run_scoped

absl::Status VerifyRunScoped(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectOperands(context, 0));
  if (op.regions.size() != 1) return absl::InvalidArgumentError(Cat("expected one region; found ", op.regions.size()));
  PALLADION_RETURN_IF_ERROR(ExpectRefParams(op.regions[0], context.kernel));
  if (HasAttr(op, "collective_axes") && !std::holds_alternative<AttrList>(Find(op.attrs, "collective_axes")->value)) {
    return absl::InvalidArgumentError("attribute 'collective_axes' must be a list of axis names");
  }
  return ExpectReturns(op.regions[0], context.kernel, op.types, "the region");
}

bool IsAccumulator(ValueId value, const Builder& builder) {
  const Type& type = builder.TypeOf(value);
  return type.element == ElementKind::kData && type.space == Space::kRegs;
}

absl::Status EmitZeros(ValueId ref, Builder& builder) {
  const Type& type = builder.TypeOf(ref);
  PALLADION_ASSIGN_OR_RETURN(Tensor zeros, Tensor::Create(type.dtype, type.shape));
  zeros.FillWithZeroBytes();
  Arg constant;
  constant.kind = Arg::Kind::kDense;
  constant.dense = std::make_shared<const Tensor>(std::move(zeros));
  WholeParams store;
  PALLADION_ASSIGN_OR_RETURN(store.view, builder.PlanView(WholeView(ref)));
  PALLADION_ASSIGN_OR_RETURN(store.value, builder.In(constant));
  builder.Emit(RunStoreWhole, std::move(store));
  return absl::OkStatus();
}

// ref.md#run_scoped: each parameter is new poisoned memory, an accumulator zeros; it is freed when the region returns.
// With collective_axes the threads of a block come together first, and share it. Of the kernel's own scratch the grid
// shares what is global memory.
absl::Status LowerRunScoped(const Instr& op, Builder& builder) {
  PALLADION_ASSIGN_OR_RETURN(const PlaceLevel owner, OwnerOf(op, builder));
  if (owner == PlaceLevel::kBlock) EmitMeeting(builder);
  const Region& region = op.regions[0];
  const bool scratch = &op == ScratchScopeOf(builder.kernel());
  std::vector<RefId> refs;
  for (const Param& param : region.params) {
    const bool of_grid = scratch && IsGlobalData(builder.TypeOf(param.value));
    PALLADION_ASSIGN_OR_RETURN(RefId ref, DefineScoped(param.value, of_grid ? PlaceLevel::kDevice : owner, builder));
    if (IsAccumulator(param.value, builder)) PALLADION_RETURN_IF_ERROR(EmitZeros(param.value, builder));
    refs.push_back(ref);
  }
  std::vector<SlotId> results, unnamed;
  for (std::size_t i = 0; i < op.results.size(); ++i) {
    if (!op.results[i].valid()) unnamed.push_back(builder.NewSlot(op.types[i]));
    results.push_back(op.results[i].valid() ? builder.Define(op.results[i]) : unnamed.back());
  }
  PALLADION_RETURN_IF_ERROR(builder.LowerRegion(region, results));
  for (std::size_t i = refs.size(); i-- > 0;) {
    if (builder.TypeOf(region.params[i].value).element != ElementKind::kData) {
      EmitLeaveSync(refs[i], builder);
    } else {
      EmitFree(refs[i], builder);
    }
  }
  for (SlotId slot : unnamed) builder.FreeSlot(slot);
  return absl::OkStatus();
}

// ---- run_state

absl::Status VerifyRunState(const Instr& op, const VerifyContext& context) {
  if (op.regions.size() != 1) return absl::InvalidArgumentError(Cat("expected one region; found ", op.regions.size()));
  const Region& region = op.regions[0];
  PALLADION_RETURN_IF_ERROR(ExpectRefParams(region, context.kernel));
  if (!region.results.empty())
    return absl::InvalidArgumentError("the region of run_state returns nothing; its results are what the refs hold");
  if (region.params.size() != op.args.size() || op.types.size() != op.args.size()) {
    return absl::InvalidArgumentError("run_state needs as many results and region parameters as operands");
  }
  for (std::size_t i = 0; i < op.args.size(); ++i) {
    const Type& ref = context.kernel.values[region.params[i].value.index()].type;
    PALLADION_RETURN_IF_ERROR(ExpectType(op, i, ContentsOf(ref)));
    if (op.args[i].kind == Arg::Kind::kNone) continue;
    PALLADION_RETURN_IF_ERROR(ExpectSameType(context.in[i], ContentsOf(ref), Cat("operand ", i)));
  }
  return absl::OkStatus();
}

// ref.md#run_state: refs that start with the operands (poison for none); the results are what they hold at the end.
absl::Status LowerRunState(const Instr& op, Builder& builder) {
  const Region& region = op.regions[0];
  std::vector<RefId> refs;
  for (std::size_t i = 0; i < op.args.size(); ++i) {
    const ValueId param = region.params[i].value;
    PALLADION_ASSIGN_OR_RETURN(RefId ref, DefineScoped(param, PlaceLevel::kThread, builder));
    refs.push_back(ref);
    if (op.args[i].kind == Arg::Kind::kNone) continue;
    WholeParams store;
    PALLADION_ASSIGN_OR_RETURN(store.view, builder.PlanView(WholeView(param)));
    PALLADION_ASSIGN_OR_RETURN(store.value, builder.In(op.args[i]));
    builder.Emit(RunStoreWhole, std::move(store));
  }
  PALLADION_RETURN_IF_ERROR(builder.LowerRegion(region, {}));
  const bool accumulates = std::any_of(region.params.begin(), region.params.end(),
                                       [&](const Param& param) { return IsAccumulator(param.value, builder); });
  if (accumulates && builder.program().uses_port) EmitAwaitMma(builder);
  for (std::size_t i = 0; i < op.args.size(); ++i) {
    if (op.results[i].valid()) {
      WholeParams load;
      PALLADION_ASSIGN_OR_RETURN(load.view, builder.PlanView(WholeView(region.params[i].value)));
      load.value = builder.Define(op.results[i]);
      builder.Emit(RunLoadWhole, std::move(load));
    }
    EmitFree(refs[i], builder);
  }
  return absl::OkStatus();
}

// ---- empty_ref, new_ref, freeze

absl::Status VerifyNewRef(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectOperands(context, op.name == "new_ref" ? 1 : 0));
  PALLADION_RETURN_IF_ERROR(ExpectResults(op, 1));
  if (!op.types[0].is_ref())
    return absl::InvalidArgumentError(Cat("the result must be a ref; found ", ToString(op.types[0])));
  return op.name == "new_ref" ? ExpectSameType(context.in[0], ContentsOf(op.types[0]), "the first value")
                              : absl::OkStatus();
}

// ref.md#new_ref, ref.md#empty_ref: memory that lives until the program ends, with the operand in it, or poison.
absl::Status LowerNewRef(const Instr& op, Builder& builder) {
  if (!op.results[0].valid()) return absl::OkStatus();
  PALLADION_RETURN_IF_ERROR(DefineScoped(op.results[0], PlaceLevel::kThread, builder).status());
  if (op.name == "empty_ref") return absl::OkStatus();
  WholeParams store;
  PALLADION_ASSIGN_OR_RETURN(store.view, builder.PlanView(WholeView(op.results[0])));
  PALLADION_ASSIGN_OR_RETURN(store.value, builder.In(op.args[0]));
  builder.Emit(RunStoreWhole, std::move(store));
  return absl::OkStatus();
}

absl::Status VerifyFreeze(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectOperands(context, 1));
  if (op.args[0].kind != Arg::Kind::kValue || !context.kernel.values[op.args[0].value.index()].type.is_ref() ||
      !op.args[0].transforms.empty()) {
    return absl::InvalidArgumentError("the operand must be a whole ref");
  }
  return ExpectType(op, 0, context.in[0]);
}

struct EndParams {
  RefId ref;
};

// What the ref's memory holds is the value's from here on.
absl::Status RunEnd(const void* params, const Step& step, Frame& frame) {
  RefState& state = frame.ref(static_cast<const EndParams*>(params)->ref);
  frame.machine().Poison(state.buffer);
  state.ended = &step;
  return absl::OkStatus();
}

// ref.md#freeze: the ref's contents; the ref may not be used afterwards.
absl::Status LowerFreeze(const Instr& op, Builder& builder) {
  WholeParams load;
  PALLADION_ASSIGN_OR_RETURN(load.view, builder.PlanView(op.args[0]));
  load.value = builder.Result(op, 0);
  const RefId ref = load.view.ref;
  const std::vector<OperandInfo>& operands = builder.program().operand_infos;
  if (std::any_of(operands.begin(), operands.end(), [&](const OperandInfo& info) { return info.ref == ref; }))
    return absl::InvalidArgumentError("the operand must be a ref that empty_ref or new_ref made; found an operand's");
  builder.Emit(RunLoadWhole, std::move(load));
  builder.Emit(RunEnd, EndParams{ref});
  return absl::OkStatus();
}

constexpr OpRow kScopeOps[] = {
    {.dialect = "",
     .name = "run_scoped",
     .spec = "ref.md#run_scoped",
     .verify = VerifyRunScoped,
     .lower = LowerRunScoped,
     .effect = Effect::kControl,
     .asks_port = AsksPort::kMay,
     .waits = Waits::kMeeting,
     .allocates = Allocates::kScope,
     .loops = Loops::kOnce,
     .backends = kTpuGpu,
     .unit = Unit::kControl},
    {.dialect = "",
     .name = "run_state",
     .spec = "ref.md#run_state",
     .verify = VerifyRunState,
     .lower = LowerRunState,
     .effect = Effect::kControl,
     .asks_port = AsksPort::kMay,
     .waits = Waits::kEngine,
     .allocates = Allocates::kState,
     .loops = Loops::kOnce,
     .backends = kGpu,
     .unit = Unit::kControl},
    {.dialect = "",
     .name = "empty_ref",
     .spec = "ref.md#empty_ref",
     .verify = VerifyNewRef,
     .lower = LowerNewRef,
     .effect = Effect::kAllocates,
     .allocates = Allocates::kRef,
     .backends = kTpu,
     .unit = Unit::kMemory},
    {.dialect = "",
     .name = "new_ref",
     .spec = "ref.md#new_ref",
     .verify = VerifyNewRef,
     .lower = LowerNewRef,
     .effect = Effect::kAllocates,
     .allocates = Allocates::kRef,
     .stored = 0,
     .backends = kNoBackend,
     .unit = Unit::kMemory},
    {.dialect = "",
     .name = "freeze",
     .spec = "ref.md#freeze",
     .verify = VerifyFreeze,
     .lower = LowerFreeze,
     .effect = Effect::kReadsWrites,  // its memory is poison afterwards
     .allocates = Allocates::kEnds,
     .backends = kNoBackend,
     .unit = Unit::kMemory},
};

}  // namespace

absl::Span<const OpRow> ScopeOps() { return kScopeOps; }

}  // namespace palladion
