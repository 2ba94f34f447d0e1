// Control flow: structured in the text, jumps in the program. Spec: docs/spec/control.md.
// Based on: JAX's cond, while and scan primitives. Calls are in calls.cc.
#include <algorithm>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/ops/control/loop_carries.h"
#include "semantics/ops/families.h"
#include "semantics/program/builder.h"
#include "semantics/program/frame_shadow.h"
#include "semantics/registry/attrs.h"

namespace palladion {
namespace {

std::vector<const Arg*> Named(const Instr& op, std::string_view name) {
  std::vector<const Arg*> args;
  for (const Arg& arg : op.args) {
    if (arg.name == name) args.push_back(&arg);
  }
  return args;
}

// ---- cond

absl::Status VerifyCond(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectOperands(context, 1));
  const Type& index = context.in[0];
  if (!index.shape.empty() || (index.dtype != DType::kI32 && index.dtype != DType::kBool)) {
    return absl::InvalidArgumentError(Cat("the index must be i32[] or bool[]; found ", ToString(index)));
  }
  if (op.regions.empty()) return absl::InvalidArgumentError("expected at least one branch; found none");
  for (const Region& branch : op.regions) {
    PALLADION_RETURN_IF_ERROR(ExpectParams(branch, context.kernel, {}, "a branch"));
    PALLADION_RETURN_IF_ERROR(ExpectReturns(branch, context.kernel, op.types, "a branch"));
  }
  return absl::OkStatus();
}

struct BranchParams {
  DType dtype;
  std::vector<Label> branches;
};

// control.md#cond: an index outside the branches is clamped to the nearest.
absl::Status RunBranch(const void* params, const Step& step, Frame& frame) {
  const auto& p = *static_cast<const BranchParams*>(params);
  if (frame.shadow() != nullptr) frame.shadow()->Use(frame.in(step, 0), "the predicate of a branch", step, frame);
  const std::int64_t index = ReadIndex(frame.slot(frame.in(step, 0)), p.dtype, 0);
  const std::int64_t last = static_cast<std::int64_t>(p.branches.size()) - 1;
  frame.JumpTo(*p.branches[static_cast<std::size_t>(std::clamp<std::int64_t>(index, 0, last))].target);
  return absl::OkStatus();
}

absl::Status LowerCond(const Instr& op, Builder& builder) {
  PALLADION_ASSIGN_OR_RETURN(SlotId index, builder.In(op.args[0]));
  BranchParams params{.dtype = builder.TypeOf(op.args[0]).dtype, .branches = std::vector<Label>(op.regions.size())};
  const std::vector<Label> branches = params.branches;
  std::vector<SlotId> results;
  for (std::size_t i = 0; i < op.results.size(); ++i) {
    results.push_back(op.results[i].valid() ? builder.Define(op.results[i]) : builder.NewSlot(op.types[i]));
  }
  builder.Emit(RunBranch, std::move(params), {index});
  const Label end;
  for (std::size_t b = 0; b < op.regions.size(); ++b) {
    builder.Bind(branches[b]);
    PALLADION_RETURN_IF_ERROR(builder.LowerRegion(op.regions[b], results));
    if (b + 1 < op.regions.size()) builder.EmitJump(end);
  }
  builder.Bind(end);
  for (std::size_t i = 0; i < op.results.size(); ++i) {
    if (!op.results[i].valid()) builder.FreeSlot(results[i]);
  }
  return absl::OkStatus();
}

// ---- loop carries: two blocks of memory for each, `now` read by the body and `next` written; a turn swaps them.

struct Carry {
  SlotId now, next;
  bool unchanged = false;  // the body returns the parameter itself
};

struct TurnParams {
  std::vector<Carry> carries;
};

absl::Status RunTurn(const void* params, const Step&, Frame& frame) {
  const auto& p = *static_cast<const TurnParams*>(params);
  for (const Carry& carry : p.carries) frame.swap_slots(carry.now, carry.next);
  if (frame.shadow() != nullptr) {
    for (const Carry& carry : p.carries) frame.shadow()->Swap(carry.now, carry.next);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Carry>> StartCarries(absl::Span<const Arg* const> init, const Region& body,
                                                Builder& builder) {
  std::vector<Carry> carries;
  for (std::size_t i = 0; i < init.size(); ++i) {
    const Type type = builder.TypeOf(*init[i]);
    PALLADION_ASSIGN_OR_RETURN(SlotId first, builder.In(*init[i]));
    Carry carry{.now = builder.NewSlot(type), .next = {}, .unchanged = ReturnsParam(body, i, body.params[i].value)};
    carry.next = carry.unchanged ? carry.now : builder.NewSlot(type);
    builder.EmitMove(first, carry.now, type);
    carries.push_back(carry);
  }
  return carries;
}

void EmitTurn(const std::vector<Carry>& carries, Builder& builder) {
  TurnParams params;
  for (const Carry& carry : carries) {
    if (!carry.unchanged) params.carries.push_back(carry);
  }
  if (!params.carries.empty()) builder.Emit(RunTurn, std::move(params));
}

// The loop's results are the carries' memory: nothing is copied at the end.
void FinishCarries(const Instr& op, const std::vector<Carry>& carries, Builder& builder) {
  for (std::size_t i = 0; i < carries.size(); ++i) {
    std::vector<SlotId> owned = {carries[i].now};
    if (!carries[i].unchanged) owned.push_back(carries[i].next);
    builder.AliasSlot(op.results[i], carries[i].now, owned);
  }
}

std::vector<SlotId> NextSlots(const std::vector<Carry>& carries) {
  std::vector<SlotId> slots;
  for (const Carry& carry : carries) slots.push_back(carry.next);
  return slots;
}

// ---- while

absl::Status VerifyWhile(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectRegions(op, 2));
  PALLADION_RETURN_IF_ERROR(ExpectOperands(context, op.types.size()));
  for (std::size_t i = 0; i < context.in.size(); ++i) {
    if (op.args[i].name != "init") return absl::InvalidArgumentError("every operand of while is written init=");
    PALLADION_RETURN_IF_ERROR(ExpectSameType(context.in[i], op.types[i], Cat("init operand ", i)));
  }
  const std::vector<Type> predicate = {Type{.dtype = DType::kBool}};
  PALLADION_RETURN_IF_ERROR(ExpectParams(op.regions[0], context.kernel, op.types, "the condition"));
  PALLADION_RETURN_IF_ERROR(ExpectReturns(op.regions[0], context.kernel, predicate, "the condition"));
  PALLADION_RETURN_IF_ERROR(ExpectParams(op.regions[1], context.kernel, op.types, "the body"));
  return ExpectReturns(op.regions[1], context.kernel, op.types, "the body");
}

struct ExitParams {
  Label end;
};

absl::Status RunExitUnless(const void* params, const Step& step, Frame& frame) {
  if (frame.shadow() != nullptr) frame.shadow()->Use(frame.in(step, 0), "the condition of a loop", step, frame);
  if (ReadIndex(frame.slot(frame.in(step, 0)), DType::kBool, 0) == 0)
    frame.JumpTo(*static_cast<const ExitParams*>(params)->end.target);
  return absl::OkStatus();
}

// control.md#while: the condition before every iteration; the carries' types do not change.
absl::Status LowerWhile(const Instr& op, Builder& builder) {
  const Region& condition = op.regions[0];
  const Region& body = op.regions[1];
  PALLADION_ASSIGN_OR_RETURN(std::vector<Carry> carries, StartCarries(Named(op, "init"), body, builder));
  for (std::size_t i = 0; i < carries.size(); ++i) {
    builder.DefineAs(condition.params[i].value, carries[i].now);
    builder.DefineAs(body.params[i].value, carries[i].now);
  }
  const SlotId predicate = builder.NewSlot(Type{.dtype = DType::kBool});
  const Label head, end;
  builder.Bind(head);
  PALLADION_RETURN_IF_ERROR(builder.LowerRegion(condition, {predicate}));
  builder.Emit(RunExitUnless, ExitParams{end}, {predicate});
  const std::vector<bool> matters = CarriesThatMatter(op, builder);
  std::vector<SlotId> watched;
  for (std::size_t i = 0; i < carries.size(); ++i) {
    if (matters[i] && !carries[i].unchanged) watched.push_back(carries[i].now);
  }
  builder.NumberLoop(std::move(watched));
  PALLADION_RETURN_IF_ERROR(builder.LowerRegion(body, NextSlots(carries)));
  EmitTurn(carries, builder);
  builder.EmitLoopJump(head);
  builder.Bind(end);
  builder.FreeSlot(predicate);
  FinishCarries(op, carries, builder);
  return absl::OkStatus();
}

// ---- scan

absl::Status VerifyScan(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectRegions(op, 1));
  PALLADION_ASSIGN_OR_RETURN(std::int64_t length, IntAttr(op, "length"));
  if (length < 0) return absl::InvalidArgumentError(Cat("length must not be negative; found ", length));
  std::vector<Type> params, returns;
  std::size_t carries = 0;
  for (std::size_t i = 0; i < op.args.size(); ++i) {
    Type type = context.in[i];
    if (op.args[i].name == "init" && carries == i) {
      ++carries;
      returns.push_back(type);
    } else if (op.args[i].name == "xs") {
      if (type.shape.empty() || type.shape[0] != length) {
        return absl::InvalidArgumentError(
            Cat("an xs operand must have ", length, " elements along dimension 0; found ", ToString(type)));
      }
      type.shape.erase(type.shape.begin());
    } else {
      return absl::InvalidArgumentError("the operands of scan are init=..., then xs=...");
    }
    params.push_back(type);
  }
  if (op.types.size() < carries)
    return absl::InvalidArgumentError(Cat("expected at least ", carries, " results; found ", op.types.size()));
  for (std::size_t i = 0; i < op.types.size(); ++i) {
    Type type = op.types[i];
    if (i < carries) {
      PALLADION_RETURN_IF_ERROR(ExpectSameType(type, returns[i], Cat("result ", i)));
      continue;
    }
    if (type.shape.empty() || type.shape[0] != length) {
      return absl::InvalidArgumentError(
          Cat("a stacked result must have ", length, " elements along dimension 0; found ", ToString(type)));
    }
    type.shape.erase(type.shape.begin());
    returns.push_back(type);
  }
  PALLADION_RETURN_IF_ERROR(ExpectParams(op.regions[0], context.kernel, params, "the body"));
  return ExpectReturns(op.regions[0], context.kernel, returns, "the body");
}

// One element of an xs operand or of a stacked result: `element` is a window that moves over `whole`.
struct Stacked {
  SlotId whole, element;
  std::size_t bytes;     // of one element
  std::size_t elements;  // in it
  bool written;          // a stacked result
};

struct ScanParams {
  std::int64_t length;
  bool reverse;
  SlotId counter;
  std::vector<Stacked> stacked;
  Label end;
};

std::int64_t& Counter(const ScanParams& p, Frame& frame) {
  return *reinterpret_cast<std::int64_t*>(frame.slot(p.counter));
}

absl::Status RunScanStart(const void* params, const Step&, Frame& frame) {
  const auto& p = *static_cast<const ScanParams*>(params);
  Counter(p, frame) = 0;
  if (frame.shadow() != nullptr) {
    for (const Stacked& s : p.stacked) {
      if (s.written) frame.shadow()->SetDefined(s.whole);
    }
  }
  return absl::OkStatus();
}

std::size_t ElementOfTurn(const ScanParams& p, std::int64_t turn) {
  return static_cast<std::size_t>(p.reverse ? p.length - 1 - turn : turn);
}

// What the last turn wrote becomes part of the stacked results; the windows move on to the next.
void MoveShadowWindows(const ScanParams& p, std::int64_t turn, FrameShadow& shadow) {
  for (const Stacked& s : p.stacked) {
    if (turn > 0 && s.written)
      shadow.CloseWindow(s.whole, s.element, ElementOfTurn(p, turn - 1) * s.elements, s.elements);
    if (turn == p.length) continue;
    const std::size_t first = ElementOfTurn(p, turn) * s.elements;
    if (s.written) {
      shadow.WriteWindow(s.whole, s.element, first);
    } else {
      shadow.ReadWindow(s.whole, s.element, first, s.elements);
    }
  }
}

// control.md#scan: iteration i sees element i of every xs, or length-1-i in reverse, and writes the same one of every
// ys.
absl::Status RunScanHead(const void* params, const Step&, Frame& frame) {
  const auto& p = *static_cast<const ScanParams*>(params);
  std::int64_t& counter = Counter(p, frame);
  if (frame.shadow() != nullptr) MoveShadowWindows(p, counter, *frame.shadow());
  if (counter == p.length) {
    frame.JumpTo(*p.end.target);
    return absl::OkStatus();
  }
  const std::size_t i = ElementOfTurn(p, counter);
  for (const Stacked& s : p.stacked) frame.set_slot(s.element, frame.slot(s.whole) + i * s.bytes);
  ++counter;
  return absl::OkStatus();
}

// Only the slot's number is used: it points into an operand or a result.
SlotId NewWindow(std::size_t elements, Builder& builder) {
  const SlotId window = builder.NewSlot(Type{.dtype = DType::kI64});
  builder.program().slots[window.index()].elements = elements;
  return window;
}

absl::Status LowerScan(const Instr& op, Builder& builder) {
  const Region& body = op.regions[0];
  PALLADION_ASSIGN_OR_RETURN(std::vector<Carry> carries, StartCarries(Named(op, "init"), body, builder));
  ScanParams params{.length = Int(op, "length"),
                    .reverse = BoolAttrOr(op, "reverse", false),
                    .counter = builder.NewSlot(Type{.dtype = DType::kI64}),
                    .stacked = {},
                    .end = {}};
  for (std::size_t i = 0; i < carries.size(); ++i) builder.DefineAs(body.params[i].value, carries[i].now);
  const std::vector<const Arg*> xs = Named(op, "xs");
  for (std::size_t i = 0; i < xs.size(); ++i) {
    const ValueId param = body.params[carries.size() + i].value;
    PALLADION_ASSIGN_OR_RETURN(SlotId whole, builder.In(*xs[i]));
    const auto elements = static_cast<std::size_t>(NumElements(builder.TypeOf(param).shape));
    const SlotId element = NewWindow(elements, builder);
    builder.DefineAs(param, element);
    params.stacked.push_back({whole, element, ByteSize(builder.TypeOf(param)), elements, false});
  }
  std::vector<SlotId> returns = NextSlots(carries);
  std::vector<SlotId> unnamed;
  for (std::size_t i = carries.size(); i < op.results.size(); ++i) {
    SlotId whole;
    if (op.results[i].valid()) {
      whole = builder.Define(op.results[i]);
    } else {
      unnamed.push_back(whole = builder.NewSlot(op.types[i]));
    }
    const std::size_t count = static_cast<std::size_t>(std::max<std::int64_t>(1, params.length));
    const std::size_t elements = static_cast<std::size_t>(NumElements(op.types[i].shape)) / count;
    const SlotId element = NewWindow(elements, builder);
    params.stacked.push_back({whole, element, ByteSize(op.types[i]) / count, elements, true});
    returns.push_back(element);
  }
  const Label head, end = params.end;
  const SlotId counter = params.counter;
  std::vector<SlotId> windows;
  for (const Stacked& s : params.stacked) windows.push_back(s.element);
  builder.Emit(RunScanStart, params);
  builder.Bind(head);
  builder.Emit(RunScanHead, std::move(params));
  PALLADION_RETURN_IF_ERROR(builder.LowerRegion(body, returns));
  EmitTurn(carries, builder);
  builder.EmitLoopJump(head);
  builder.Bind(end);
  builder.FreeSlot(counter);
  for (SlotId slot : windows) builder.FreeSlot(slot);
  for (SlotId slot : unnamed) builder.FreeSlot(slot);
  FinishCarries(op, carries, builder);
  return absl::OkStatus();
}

constexpr OpRow kControlOps[] = {
    {.dialect = "",
     .name = "cond",
     .spec = "control.md#cond",
     .verify = VerifyCond,
     .lower = LowerCond,
     .effect = Effect::kControl,
     .loops = Loops::kBranch,
     .backends = kAllBackends,
     .unit = Unit::kControl},
    {.dialect = "",
     .name = "while",
     .spec = "control.md#while",
     .verify = VerifyWhile,
     .lower = LowerWhile,
     .effect = Effect::kControl,
     .loops = Loops::kWhile,
     .backends = kAllBackends,
     .unit = Unit::kControl},
    {.dialect = "",
     .name = "scan",
     .spec = "control.md#scan",
     .verify = VerifyScan,
     .lower = LowerScan,
     .effect = Effect::kControl,
     .loops = Loops::kTurns,
     .backends = kAllBackends,
     .unit = Unit::kControl},
};

}  // namespace

absl::Span<const OpRow> ControlOps() { return kControlOps; }

}  // namespace palladion
