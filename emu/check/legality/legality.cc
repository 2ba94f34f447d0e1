#include "emu/check/legality/legality.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "emu/chip/layouts/windows.h"
#include "semantics/base/cat.h"
#include "semantics/registry/attrs.h"
#include "semantics/registry/op_row.h"
#include "semantics/registry/rule_rows.h"

namespace palladion::legality {
namespace {

std::optional<Backend> BackendOf(TargetBackend backend) {
  switch (backend) {
    case TargetBackend::kMosaicTpu:
      return Backend::kMosaicTpu;
    case TargetBackend::kMosaicGpu:
      return Backend::kMosaicGpu;
    case TargetBackend::kTriton:
      return Backend::kTriton;
    default:
      return std::nullopt;
  }
}

// Rows say what a backend has for any of its cores and semantics. Why a kernel of pallas_call cannot have it all the
// same.
std::string_view OnlyElsewhere(const Instr& op, TargetBackend backend, const Kernel& kernel) {
  static const RuleRows kSparse("addupdate", "cumsum", "rev", "sort");
  static const RuleRows kWarpgroup("reduce_prod");
  if (backend == TargetBackend::kMosaicTpu && kSparse.Has(op)) return " except on SparseCores";
  const bool lanes = Find(kernel.params, "lowering_semantics") == nullptr;  // the default
  if (backend == TargetBackend::kMosaicGpu && lanes && kWarpgroup.Has(op)) return " except with warpgroup semantics";
  return "";
}

// A kind of call of JAX: the backends with a lowering for it, those that have one since JAX 0.11, and the alternative.
struct Call {
  std::string_view primitive;
  Backends backends, later;
  std::string_view without;
};
constexpr Call kCalls[] = {
    {"custom_jvp_call", kTpuTriton, kGpu, "call the function that jax.custom_jvp was given"},
    {"custom_vjp_call", kTpu, kGpu, "call the function that jax.custom_vjp was given"},
    {"checkpoint", kTriton, kNoBackend, "call the function without jax.checkpoint"},
    {"closed_call", kTriton, kNoBackend, "call the function without it"},
};

void CheckCall(Legality& legality, const Instr& op, Backend backend) {
  const absl::StatusOr<std::string> primitive = StringAttr(op, "primitive");
  const auto call = std::find_if(std::begin(kCalls), std::end(kCalls),
                                 [&](const Call& it) { return primitive.ok() && it.primitive == *primitive; });
  if (call == std::end(kCalls) || call->backends.accepts(backend)) return;
  if (legality.jax_0_11 && call->later.accepts(backend)) return;
  legality.Illegal(op, Cat(call->primitive, " has no lowering on ", legality.target(), ": the kernel would be refused"),
                   std::string(call->without));
}

}  // namespace

void Legality::WrittenBy(std::string_view producer) {
  jax = IsFromJax(producer);
  jax_0_11 = IsFromJax011(producer);
}

bool IsFromJax(std::string_view producer) { return producer.starts_with("jax "); }

bool IsFromJax011(std::string_view producer) {
  constexpr std::string_view kJax = "jax 0.";
  if (!producer.starts_with(kJax)) return IsFromJax(producer);
  int minor = 0;
  for (const char c : producer.substr(kJax.size())) {
    if (c < '0' || c > '9' || minor >= 11) break;
    minor = 10 * minor + (c - '0');
  }
  return minor >= 11;
}

std::string_view Words(Certainty certainty) {
  switch (certainty) {
    case Certainty::kSource:
      return "in the compiler's source while it was public, until November 2025";
    case Certainty::kReported:
      return "a message of the compiler in a public report";
    case Certainty::kLifted:
      return "reported of some releases; later ones take at least some of it";
    case Certainty::kFollows:
      return "follows from another rule; no report is known";
  }
  return "";
}

Legality::Legality(const Kernel& kernel, const Target& target, const Program* program)
    : kernel_(kernel), target_(target), program_(program), chip_(machines::FindChip(target.chip)) {
  std::size_t param = 0;
  for (std::size_t i = 0; i < kernel.operands.size(); ++i) {
    const std::vector<Param>& params = kernel.bodies[0].region.params;
    if (kernel.operands[i].role != Role::kBound && param < params.size())
      operand_of_.emplace_back(params[param++].value, i);
  }
  ForEachInstr(kernel.bodies[0].region, [&](const Instr& op) {
    static const RuleRows kPlatform("platform_index");
    if (!kPlatform.Has(op) || RowOf(op).prepare == nullptr || op.results.size() != 1) return;
    const absl::StatusOr<ValueKernel> chosen = RowOf(op).prepare(op, {.in = {}, .out = op.types, .target = target});
    if (!chosen.ok()) return;
    std::int32_t index = 0;
    auto* out = reinterpret_cast<std::byte*>(&index);
    chosen->run(chosen->params.get(), {.in = nullptr, .out = &out, .scratch = nullptr});
    platforms_.emplace_back(op.results[0], static_cast<std::size_t>(index));
  });
}

void Legality::MayRefuse(const Instr& op, const RefusalText& text, std::string_view found) {
  AddRefusal(op.loc, op.text_line, op.name, text, found);
}

void Legality::MayRefuse(const Operand& operand, const RefusalText& text, std::string_view found) {
  AddRefusal(operand.loc, operand.text_line, Cat("operand '", NameOf(operand), "'"), text, found);
}

void Legality::AddRefusal(LocId loc, int text_line, std::string_view what, const RefusalText& text,
                          std::string_view found) {
  Add(FindingCode::kCompiler, loc, text_line,
      Cat(what, ": the compiler may refuse this: ", MessageOf(text.limit, found)), std::string(text.limit.fix));
  Finding& finding = findings_.back();
  finding.why = Cat("the rule is from ", text.limit.source, ": ", Words(text.certainty));
  if (IsNote(text.certainty)) finding.severity = Severity::kNote;
}

std::optional<std::size_t> Legality::RegionOf(const Instr& op) const {
  if (op.regions.size() < 2 || op.args.empty()) return std::nullopt;
  const Arg& which = op.args[0];
  if (backend() == TargetBackend::kMosaicTpu && RowOf(op).loops == Loops::kBranch &&
      which.kind == Arg::Kind::kLiteral && which.literal.dtype == DType::kI32) {
    std::int32_t index = 0;  // a constant, of which Mosaic's lowering writes the one branch
    std::memcpy(&index, which.literal.bytes.data(), sizeof(index));
    return static_cast<std::size_t>(
        std::clamp<std::int64_t>(index, 0, static_cast<std::int64_t>(op.regions.size()) - 1));
  }
  if (which.kind != Arg::Kind::kValue) return std::nullopt;
  for (const auto& [value, index] : platforms_) {
    if (value == op.args[0].value) return std::min(index, op.regions.size() - 1);
  }
  return std::nullopt;
}

Finding& Legality::Add(FindingCode code, LocId loc, int text_line, std::string message, std::string fix) {
  findings_.push_back({.code = code,
                       .severity = RowOf(code).severity,
                       .message = std::move(message),
                       .loc = loc,
                       .text_line = text_line,
                       .fix = std::move(fix)});
  return findings_.back();
}

void Legality::Illegal(const Operand& operand, std::string message, std::string fix, About about) {
  if (about != About::kOther) of_shapes_.push_back({.finding = findings_.size(), .operand = &operand, .about = about});
  Add(FindingCode::kIllegal, operand.loc, operand.text_line, Cat("operand '", NameOf(operand), "': ", message),
      std::move(fix));
}

void Legality::Illegal(const Instr& op, std::string message, std::string fix, About about) {
  if (about != About::kOther) of_shapes_.push_back({.finding = findings_.size(), .op = &op, .about = about});
  Add(FindingCode::kIllegal, op.loc, op.text_line, std::move(message), std::move(fix));
}

void Legality::Illegal(std::string message, std::string fix) {
  Add(FindingCode::kIllegal, {}, kernel_.text_line, Cat("kernel @", kernel_.name, ": ", message), std::move(fix));
}

void Legality::Exceeds(std::string message, std::string fix) {
  Add(FindingCode::kCapacity, {}, kernel_.text_line, Cat("kernel @", kernel_.name, ": ", message), std::move(fix));
}

void Legality::MayExceed(std::string message, std::string fix) {
  Finding& note =
      Add(FindingCode::kCapacity, {}, kernel_.text_line, Cat("kernel @", kernel_.name, ": ", message), std::move(fix));
  note.severity = Severity::kNote;
  note.confidence = Confidence::kPredicted;
}

// The ref's name in the kernel, as other findings have it: JAX's own label of an array is "args[0]".
std::string Legality::NameOf(const Operand& operand) const {
  for (std::size_t i = 0; i < operand_of_.size(); ++i) {
    const std::string& label = kernel_.values[operand_of_[i].first.index()].label;
    if (&kernel_.operands[operand_of_[i].second] == &operand && !label.empty()) return label;
  }
  return operand.label.empty() ? kernel_.values[operand.value.index()].name : operand.label;
}

Space Legality::SpaceOf(std::size_t operand) const { return layouts::SpaceOf(kernel_, operand); }

Space Legality::SpaceOf(ValueId ref) const {
  for (const auto& [param, index] : operand_of_) {
    if (param == ref) return SpaceOf(index);
  }
  return kernel_.values[ref.index()].type.space;
}

const Operand* Legality::OperandOf(ValueId ref) const {
  for (const auto& [param, index] : operand_of_) {
    if (param == ref) return &kernel_.operands[index];
  }
  return nullptr;
}

std::optional<std::size_t> Legality::BlockRankOf(ValueId ref) const {
  const Operand* operand = OperandOf(ref);
  if (operand == nullptr) return std::nullopt;
  return operand->block.has_value() ? operand->block->dims.size() : kernel_.values[ref.index()].type.shape.size();
}

std::vector<const Region*> CompiledRegions(const Legality& legality) {
  const Kernel& kernel = legality.kernel();
  std::vector<const Region*> regions = {&kernel.bodies[0].region};
  if (legality.backend() != TargetBackend::kMosaicTpu || kernel.launch.grid.empty()) return regions;
  for (std::size_t i = 0; i < kernel.operands.size(); ++i) {
    const Space space = legality.SpaceOf(i);
    const bool moved = space != Space::kAny && space != Space::kHbm && space != Space::kSemaphore;
    if (moved && kernel.operands[i].block.has_value()) regions.push_back(&kernel.operands[i].block->map);
  }
  return regions;
}

bool IsTrivialWindow(const Operand& operand, const Type& array) {
  if (!operand.block.has_value()) return true;
  for (std::size_t d = 0; d < operand.block->dims.size(); ++d) {
    if (operand.block->dims[d].size != array.shape[d]) return false;
  }
  return std::all_of(operand.block->map.results.begin(), operand.block->map.results.end(), [](const Arg& result) {
    return result.kind == Arg::Kind::kLiteral && std::all_of(result.literal.bytes.begin(), result.literal.bytes.end(),
                                                             [](std::byte b) { return b == std::byte{0}; });
  });
}

void CheckGpuOperands(Legality& legality) {
  for (const Operand& operand : legality.kernel().operands) {
    ++legality.blocks;
    if (operand.role == Role::kBound)
      legality.Illegal(operand, Cat("a grid that is known only at run time has no lowering on ", legality.target()),
                       "make the grid static");
    if (operand.role == Role::kPrefetch)
      legality.Illegal(operand, Cat("scalar prefetch has no lowering on ", legality.target()),
                       "pass it as an input and read it in the kernel");
  }
}

void CheckOperations(Legality& legality) {
  const std::optional<Backend> backend = BackendOf(legality.backend());
  if (!backend.has_value()) return;
  const auto look = [&](const Instr& op) {
    ++legality.operations;
    static const RuleRows kCall("call");
    if (kCall.Has(op)) CheckCall(legality, op, *backend);
    const std::string_view elsewhere = OnlyElsewhere(op, legality.backend(), legality.kernel());
    const OpRow& row = RowOf(op);
    const bool accepted = row.backends.accepts(*backend) || (legality.jax_0_11 && row.later.accepts(*backend));
    if (accepted && elsewhere.empty()) return;
    legality.Illegal(op,
                     Cat(op.dialect, op.dialect.empty() ? "" : ".", op.name, " has no lowering on ", legality.target(),
                         elsewhere, ": the kernel would be refused"),
                     "use operations that the backend has (docs/reference/operations.md)");
  };
  for (const Region* region : CompiledRegions(legality)) ForEachCompiled(legality, *region, look);
}

}  // namespace palladion::legality
