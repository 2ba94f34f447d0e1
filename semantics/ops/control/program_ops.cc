// Where in the grid a program is, and what it says: program_id and friends, debug_print, check. Spec:
// docs/spec/program.md.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/ops/families.h"
#include "semantics/program/builder.h"
#include "semantics/program/frame_shadow.h"
#include "semantics/registry/attrs.h"
#include "semantics/registry/value_text.h"

namespace palladion {
namespace {

struct GridParams {
  std::size_t axis;
};

// Indices and sizes fit: a grid with a larger dimension is refused at launch.
void WriteI32(std::int64_t value, std::byte* out) {
  const auto narrow = static_cast<std::int32_t>(value);
  std::memcpy(out, &narrow, sizeof(narrow));
}

absl::Status VerifyGridScalar(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectOperands(context, 0));
  PALLADION_RETURN_IF_ERROR(IntAttr(op, "axis").status());
  return ExpectType(op, 0, Type{.dtype = DType::kI32});
}

// program.md#program_id: the program's index along the axis; vmapped dimensions are not counted.
absl::Status RunProgramId(const void* params, const Step& step, Frame& frame) {
  const auto& p = *static_cast<const GridParams*>(params);
  WriteI32(frame.grid_index()[p.axis], frame.slot(frame.out(step, 0)));
  return absl::OkStatus();
}

// program.md#num_programs: the size of the grid along the axis.
absl::Status RunNumPrograms(const void* params, const Step& step, Frame& frame) {
  const auto& p = *static_cast<const GridParams*>(params);
  WriteI32(frame.grid_size()[p.axis], frame.slot(frame.out(step, 0)));
  return absl::OkStatus();
}

absl::Status LowerGridScalar(const Instr& op, Builder& builder) {
  PALLADION_ASSIGN_OR_RETURN(int axis, builder.GridAxis(Int(op, "axis")));
  builder.Emit(op.name == "program_id" ? RunProgramId : RunNumPrograms, GridParams{static_cast<std::size_t>(axis)}, {},
               {builder.Result(op, 0)});
  return absl::OkStatus();
}

absl::Status VerifyAxisIndex(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectOperands(context, 0));
  PALLADION_RETURN_IF_ERROR(StringAttr(op, "axis").status());
  return ExpectType(op, 0, Type{.dtype = DType::kI32});
}

absl::Status RunWarpIndex(const void*, const Step& step, Frame& frame) {
  WriteI32(frame.warp()->number, frame.slot(frame.out(step, 0)));
  return absl::OkStatus();
}

// program.md#axis_index: the program's index along the grid dimension of that name; of a warp, its number.
absl::Status LowerAxisIndex(const Instr& op, Builder& builder) {
  PALLADION_ASSIGN_OR_RETURN(std::string name, StringAttr(op, "axis"));
  if (!name.empty() && name == builder.warp_axis()) {
    builder.Emit(RunWarpIndex, GridParams{0}, {}, {builder.Result(op, 0)});
    return absl::OkStatus();
  }
  PALLADION_ASSIGN_OR_RETURN(int axis, builder.GridAxis(name));
  builder.Emit(RunProgramId, GridParams{static_cast<std::size_t>(axis)}, {}, {builder.Result(op, 0)});
  return absl::OkStatus();
}

// ---- debug_print

absl::Status VerifyDebugPrint(const Instr& op, const VerifyContext&) {
  PALLADION_RETURN_IF_ERROR(ExpectResults(op, 0));
  return StringAttr(op, "fmt").status();
}

struct PrintParams {
  std::string format;
  std::vector<Type> types;
};

// program.md#debug_print: each {} is replaced by the next operand; operands without a place are appended.
absl::Status RunDebugPrint(const void* params, const Step& step, Frame& frame) {
  const auto& p = *static_cast<const PrintParams*>(params);
  std::string line;
  std::size_t next = 0, position = 0;
  while (position < p.format.size()) {
    const std::size_t open = p.format.find('{', position);
    const std::size_t close = open == std::string::npos ? open : p.format.find('}', open);
    if (close == std::string::npos || next >= p.types.size()) break;
    line.append(p.format, position, open - position);
    line += ValueText(p.types[next], frame.slot(frame.in(step, next)));
    ++next;
    position = close + 1;
  }
  line.append(p.format, position, std::string::npos);
  for (; next < p.types.size(); ++next) {
    Append(&line, line.empty() ? "" : " ", ValueText(p.types[next], frame.slot(frame.in(step, next))));
  }
  frame.machine().Print(std::move(line));
  return absl::OkStatus();
}

absl::Status LowerDebugPrint(const Instr& op, Builder& builder) {
  PrintParams params;
  PALLADION_ASSIGN_OR_RETURN(params.format, StringAttr(op, "fmt"));
  std::vector<SlotId> in;
  for (const Arg& arg : op.args) {
    params.types.push_back(builder.TypeOf(arg));
    PALLADION_ASSIGN_OR_RETURN(SlotId slot, builder.In(arg));
    in.push_back(slot);
  }
  builder.Emit(RunDebugPrint, std::move(params), in, {});
  return absl::OkStatus();
}

// ---- platform_index

// What each group of `platforms` names; an empty one is `none`, which stands for all others.
absl::StatusOr<std::vector<std::vector<std::string>>> PlatformsOf(const Instr& op) {
  const Attr* attr = Find(op.attrs, "platforms");
  const auto* groups = attr == nullptr ? nullptr : std::get_if<AttrList>(&attr->value);
  bool right = groups != nullptr && !groups->empty();
  std::vector<std::vector<std::string>> platforms;
  for (std::size_t i = 0; right && i < groups->size(); ++i) {
    std::vector<std::string>& names = platforms.emplace_back();
    if (std::holds_alternative<AttrNone>((*groups)[i].value)) continue;
    const auto* words = std::get_if<AttrList>(&(*groups)[i].value);
    right = words != nullptr && !words->empty();
    for (std::size_t k = 0; right && k < words->size(); ++k) {
      const auto* name = std::get_if<std::string>(&(*words)[k].value);
      right = name != nullptr;
      if (right) names.push_back(*name);
    }
  }
  if (right) return platforms;
  return absl::InvalidArgumentError("expected attribute 'platforms' as a list of lists of names; the last may be none");
}

absl::Status VerifyPlatformIndex(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectOperands(context, 0));
  PALLADION_RETURN_IF_ERROR(ExpectResults(op, 1));
  PALLADION_RETURN_IF_ERROR(PlatformsOf(op).status());
  return ExpectType(op, 0, ArrayType(DType::kI32, {}));
}

// What the target is called there: Mosaic's lowering of TPU kernels has a name of its own.
std::string_view PlatformOf(const Target& target) {
  switch (target.backend) {
    case TargetBackend::kMosaicTpu:
      return "mosaic";
    case TargetBackend::kMosaicGpu:
    case TargetBackend::kTriton:
      return "cuda";
    case TargetBackend::kGeneric:
      break;
  }
  return "cpu";
}

struct PlatformParams {
  std::int32_t index;
};
void EvalPlatformIndex(const PlatformParams& p, const ValueOperands& operands) {
  std::memcpy(operands.out[0], &p.index, sizeof(p.index));
}

absl::StatusOr<ValueKernel> PreparePlatformIndex(const Instr& op, const ValueTypes& types) {
  PALLADION_ASSIGN_OR_RETURN(const auto platforms, PlatformsOf(op));
  const std::string name(PlatformOf(types.target));
  for (std::size_t i = 0; i < platforms.size(); ++i) {
    const bool is_in = std::find(platforms[i].begin(), platforms[i].end(), name) != platforms[i].end();
    if (is_in || platforms[i].empty()) return Bind<EvalPlatformIndex>(PlatformParams{static_cast<std::int32_t>(i)});
  }
  return absl::UnimplementedError(Cat("the kernel has no code for ", ToString(types.target), ", which is '", name,
                                      "' in lax.platform_dependent, and no default"));
}

// ---- check

absl::Status VerifyCheck(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectOperands(context, 1));
  PALLADION_RETURN_IF_ERROR(StringAttr(op, "message").status());
  if (context.in[0].dtype == DType::kBool && context.in[0].shape.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(Cat("the predicate must be bool[]; found ", ToString(context.in[0])));
}

struct CheckParams {
  std::string message;
};

// program.md#check: a false predicate is the finding CHECK; the program goes on.
absl::Status RunCheck(const void* params, const Step& step, Frame& frame) {
  if (frame.shadow() != nullptr) frame.shadow()->Use(frame.in(step, 0), "the predicate of debug_check", step, frame);
  if (ReadIndex(frame.slot(frame.in(step, 0)), DType::kBool, 0) != 0) return absl::OkStatus();
  frame.machine().Report({.code = FindingCode::kCheckFailed,
                          .severity = Severity::kDefect,
                          .message = Cat("debug_check failed: ", static_cast<const CheckParams*>(params)->message),
                          .loc = step.loc,
                          .text_line = step.text_line});
  return absl::OkStatus();
}

absl::Status LowerCheck(const Instr& op, Builder& builder) {
  CheckParams params;
  PALLADION_ASSIGN_OR_RETURN(params.message, StringAttr(op, "message"));
  PALLADION_ASSIGN_OR_RETURN(SlotId predicate, builder.In(op.args[0]));
  builder.Emit(RunCheck, std::move(params), {predicate});
  return absl::OkStatus();
}

// ---- no effect on values

absl::Status VerifyDelay(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectOperands(context, op.name == "delay" ? 1 : 0));
  return ExpectResults(op, 0);
}

// program.md#call: what is called stands behind it.
absl::Status VerifyCall(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(StringAttr(op, "primitive").status());
  PALLADION_RETURN_IF_ERROR(ExpectOperands(context, 0));
  return ExpectResults(op, 0);
}

// program.md#delay: it slows the threads of one program, which here is one agent, so there is no step.
absl::Status LowerNothing(const Instr&, Builder&) { return absl::OkStatus(); }

struct NoParams {};

absl::Status RunBarrier(const void*, const Step& step, Frame& frame) {
  return frame.machine().Make(Fence::kLanes, frame.site(step));
}

// program.md#debug_barrier: of the lanes of one program, which no other program sees.
absl::Status LowerBarrier(const Instr&, Builder& builder) {
  builder.Emit(RunBarrier, NoParams{});
  Step& step = builder.program().steps.back();
  step.visible = step.lasting = false;
  return absl::OkStatus();
}

constexpr OpRow kProgramOps[] = {
    {.dialect = "",
     .name = "program_id",
     .spec = "program.md#program_id",
     .verify = VerifyGridScalar,
     .lower = LowerGridScalar,
     .effect = Effect::kPure,
     .backends = kAllBackends,
     .unit = Unit::kScalar},
    {.dialect = "",
     .name = "num_programs",
     .spec = "program.md#num_programs",
     .verify = VerifyGridScalar,
     .lower = LowerGridScalar,
     .effect = Effect::kPure,
     .backends = kTpuTriton,
     .unit = Unit::kScalar},
    {.dialect = "",
     .name = "axis_index",
     .spec = "program.md#axis_index",
     .verify = VerifyAxisIndex,
     .lower = LowerAxisIndex,
     .effect = Effect::kPure,
     .backends = kAllBackends,
     .unit = Unit::kScalar},
    {.dialect = "",
     .name = "platform_index",
     .spec = "program.md#platform_index",
     .verify = VerifyPlatformIndex,
     .prepare = PreparePlatformIndex,
     .effect = Effect::kPure,
     .backends = kTpu,
     .unit = Unit::kNone},
    {.dialect = "",
     .name = "debug_print",
     .spec = "program.md#debug_print",
     .verify = VerifyDebugPrint,
     .lower = LowerDebugPrint,
     .effect = Effect::kPrints,
     .backends = kAllBackends,
     .unit = Unit::kNone},
    {.dialect = "",
     .name = "check",
     .spec = "program.md#check",
     .verify = VerifyCheck,
     .lower = LowerCheck,
     .effect = Effect::kPrints,
     .backends = kTpuGpu,
     .unit = Unit::kNone},
    {.dialect = "",
     .name = "delay",
     .spec = "program.md#delay",
     .verify = VerifyDelay,
     .lower = LowerNothing,
     .effect = Effect::kSynchronises,
     .waits = Waits::kNever,
     .signals = Signals::kNever,
     .decides = Decides::kNever,
     .backends = kTpuGpu,
     .unit = Unit::kNone},
    {.dialect = "",
     .name = "debug_barrier",
     .spec = "program.md#debug_barrier",
     .verify = VerifyDelay,
     .lower = LowerBarrier,
     .effect = Effect::kSynchronises,
     .waits = Waits::kNever,
     .signals = Signals::kNever,
     .decides = Decides::kNever,
     .backends = kTriton,
     .unit = Unit::kNone},
    {.dialect = "",
     .name = "call",
     .spec = "program.md#call",
     .verify = VerifyCall,
     .lower = LowerNothing,
     .effect = Effect::kPure,
     .backends = kAllBackends,  // by its primitive: emu/check/legality/legality.cc
     .unit = Unit::kNone},
};

}  // namespace

absl::Span<const OpRow> ProgramOps() { return kProgramOps; }

}  // namespace palladion
