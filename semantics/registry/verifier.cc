#include "semantics/registry/verifier.h"

#include <algorithm>
#include <string>
#include <vector>

#include "semantics/base/cat.h"
#include "semantics/base/edit_distance.h"
#include "semantics/ir/parser.h"
#include "semantics/ir/printer.h"
#include "semantics/ir/tmem_layout.h"
#include "semantics/ir/view_type.h"
#include "semantics/registry/op_row.h"
#include "semantics/registry/verifier_state.h"

namespace palladion {
namespace {

constexpr absl::string_view kPlaced = "palladion/placed";

bool IsCall(const Instr& instr) {
  for (const std::string_view name : {"jit", "closed_call", "custom_jvp_call", "custom_vjp_call", "checkpoint"}) {
    if (instr.dialect.empty() && instr.name == name) return true;
  }
  return false;
}

// Where a ref may stand: the memory that an operation reads or writes is its first operand, and a call hands refs on.
bool TakesRef(const Instr& instr, std::size_t operand) {
  if (instr.row->named_refs) return true;
  const Effect effect = instr.row->effect;
  if (effect == Effect::kReads || effect == Effect::kWrites || effect == Effect::kReadsWrites) return operand == 0;
  return IsCall(instr);
}

// Only a TPU's DMA engines take sizes that are known only at run time, and choices among refs.
bool TakesSizesAndChoices(const OpRow& row) { return row.named_refs && row.backends.bits == kTpu.bits; }

absl::Status CheckSizes(const OpRow& row, const Type& type) {
  const bool sized = std::find(type.shape.begin(), type.shape.end(), kDynamicDim) != type.shape.end();
  if (!sized || TakesSizesAndChoices(row)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "a slice whose size is known only at run time is for a TPU's asynchronous copies alone; found it in another "
      "access: give it a size, and a mask for what is too much");
}

std::string FullName(const Instr& instr) {
  return instr.dialect.empty() ? instr.name : Cat(instr.dialect, ".", instr.name);
}

// "; did you mean add?", or ";".
std::string MeantBy(const Instr& instr) {
  std::vector<std::string> names;
  for (const OpRow& row : AllOps())
    names.push_back(row.dialect.empty() ? std::string(row.name) : Cat(row.dialect, ".", row.name));
  std::vector<std::string_view> words(names.begin(), names.end());
  if (instr.dialect.empty()) {
    for (const OpRow& row : AllOps()) words.push_back(row.name);
  }
  const std::string nearest = Nearest(FullName(instr), words);
  return nearest.empty() ? ";" : Cat("; did you mean ", nearest, "?");
}

// A text that is no file: the line of the user's Python says where, and a line of the text would say it to no one.
bool OnlyInMemory(const Module& module) { return module.path == "<text>"; }

// Of a long instruction its start says enough; the line says the rest.
std::string Shortened(std::string text) {
  constexpr std::size_t kLength = 160;
  if (text.size() > kLength) text = Cat(text.substr(0, kLength), "...");
  return text;
}

}  // namespace

// Dimensions that are operands' values would read as a size further on.
absl::Status CheckType(const Type& type) {
  bool dynamic = !type.dynamic.empty();
  for (const std::int64_t dim : type.shape) dynamic = dynamic || dim < 0;
  if (dynamic) {
    return absl::UnimplementedError(
        "arrays of a size known only at run time need SparseCore, which is not modelled yet");
  }
  PALLADION_RETURN_IF_ERROR(CheckLimits(type.shape).status());
  const bool cells = type.is_ref() && type.space == Space::kTmem && type.element == ElementKind::kData;
  return cells ? TmemLayoutOf(type).status() : absl::OkStatus();
}

absl::Status KernelVerifier::At(int line, LocId loc, const std::string& what, const absl::Status& status) const {
  if (status.ok() || status.GetPayload(kPlaced).has_value()) return status;
  const std::string user = Describe(module_, loc);
  if (OnlyInMemory(module_) && !user.empty()) {
    absl::Status placed(status.code(), Cat("kernel @", kernel_.name, what.empty() ? "" : ": ", what, ": ",
                                           status.message(), "; at ", user));
    placed.SetPayload(kPlaced, absl::Cord());
    return placed;
  }
  absl::Status placed(status.code(), Cat(module_.path, ":", line, ": kernel @", kernel_.name, what.empty() ? "" : ": ",
                                         what, ": ", status.message(), user.empty() ? "" : "; at ", user));
  placed.SetPayload(kPlaced, absl::Cord());
  return placed;
}

// Printing needs ids that are in range, so only what passed CheckArg is printed whole.
absl::Status KernelVerifier::At(const Instr& instr, const absl::Status& status) const {
  if (status.ok() || status.GetPayload(kPlaced).has_value()) return status;
  const bool printable = instr.row != nullptr;
  if (OnlyInMemory(module_) && instr.loc.valid()) {
    const bool named = ToStd(status.message()).starts_with(FullName(instr));
    return At(instr.text_line, instr.loc, named ? "" : FullName(instr), status);
  }
  return At(instr.text_line, instr.loc,
            Cat("`", printable ? Shortened(Print(module_, kernel_, instr)) : FullName(instr), "`"), status);
}

absl::Status KernelVerifier::CheckLoc(LocId loc) const {
  if (!loc.valid() || loc.index() < module_.locs.size()) return absl::OkStatus();
  return absl::InvalidArgumentError("expected a location of this module, found an id out of range");
}

absl::Status KernelVerifier::CheckUse(ValueId value) const {
  if (!InRange(value)) return absl::InvalidArgumentError("expected a value of this kernel, found an id out of range");
  const std::string& name = kernel_.values[value.index()].name;
  switch (state_[value.index()]) {
    case State::kVisible:
      return absl::OkStatus();
    case State::kOperand:
      return absl::InvalidArgumentError(Cat("expected a value of this body or map, found the kernel's operand %", name,
                                            "; use the parameter that stands for it"));
    case State::kUndefined:
    case State::kLeft:
      break;
  }
  return absl::InvalidArgumentError(Cat("expected a value that is defined before and visible here, found %", name));
}

absl::Status KernelVerifier::Define(ValueId value) {
  if (!InRange(value)) return absl::InvalidArgumentError("expected a value of this kernel, found an id out of range");
  if (state_[value.index()] != State::kUndefined) {
    return absl::InvalidArgumentError(
        Cat("expected a new value, found %", kernel_.values[value.index()].name, ", which is defined twice"));
  }
  state_[value.index()] = State::kVisible;
  scope_.push_back(value);
  return absl::OkStatus();
}

void KernelVerifier::Leave(std::size_t mark) {
  for (std::size_t i = mark; i < scope_.size(); ++i) state_[scope_[i].index()] = State::kLeft;
  scope_.resize(mark);
}

// Ids and kinds only; the types of views and operands come after, when the row is known.
absl::Status KernelVerifier::CheckArg(const Arg& arg, int depth) const {
  if (depth > kMaxDepth) return absl::ResourceExhaustedError(Cat("views are nested more than ", kMaxDepth, " deep"));
  if (arg.kind == Arg::Kind::kDense && arg.dense == nullptr)
    return absl::InvalidArgumentError("expected a constant, found none");
  for (const Arg& inner : arg.select) PALLADION_RETURN_IF_ERROR(CheckArg(inner, depth + 1));
  if (arg.kind != Arg::Kind::kValue) return absl::OkStatus();
  PALLADION_RETURN_IF_ERROR(CheckUse(arg.value));
  if (!arg.transforms.empty() && !TypeOf(arg.value).is_ref()) {
    return absl::InvalidArgumentError(Cat("expected a ref before .", Name(arg.transforms[0].kind), ", found %",
                                          kernel_.values[arg.value.index()].name, ": ", ToString(TypeOf(arg.value)),
                                          "; slice arrays with slice or dynamic_slice"));
  }
  for (const Transform& transform : arg.transforms) {
    PALLADION_RETURN_IF_ERROR(CheckArg(transform.peer, depth + 1));
    for (const Index& index : transform.indices) {
      PALLADION_RETURN_IF_ERROR(CheckArg(index.start, depth + 1));
      PALLADION_RETURN_IF_ERROR(CheckArg(index.size, depth + 1));
    }
  }
  return absl::OkStatus();
}

absl::Status KernelVerifier::FindRow(Instr& instr) const {
  instr.row = FindOp(instr.dialect, instr.name);
  if (instr.row == nullptr) {
    std::string dialects;
    for (const OpRow& row : AllOps()) {
      if (row.name == instr.name)
        Append(&dialects, dialects.empty() ? "; write " : " or ", row.dialect, row.dialect.empty() ? "" : ".",
               row.name);
    }
    if (dialects.empty()) dialects = Cat(MeantBy(instr), " docs/operations.md lists the known ones");
    return absl::InvalidArgumentError(Cat("unknown primitive ", FullName(instr), dialects));
  }
  if (instr.row->status == OpStatus::kImplemented) return absl::OkStatus();
  return absl::UnimplementedError(Cat(FullName(instr), " is not supported: ", instr.row->reason));
}

absl::StatusOr<Type> KernelVerifier::OperandType(const Instr& instr, std::size_t i, const Arg& arg) const {
  if (arg.kind == Arg::Kind::kSelect) return SelectType(instr, i, arg);
  Type type = TypeOfArg(kernel_, arg);
  if (!type.is_ref() || arg.kind != Arg::Kind::kValue) return type;
  if (!TakesRef(instr, i)) {
    return absl::InvalidArgumentError(Cat("expected an array as operand ", i, ", found the ref %",
                                          kernel_.values[arg.value.index()].name, ": ", ToString(type),
                                          "; read it with get first"));
  }
  PALLADION_ASSIGN_OR_RETURN(type, ViewType(kernel_, type, arg.transforms));
  PALLADION_RETURN_IF_ERROR(CheckSizes(*instr.row, type));
  return type;
}

// A choice among refs, by a truth value or an integer: views of one type.
absl::StatusOr<Type> KernelVerifier::SelectType(const Instr& instr, std::size_t i, const Arg& arg) const {
  if (!TakesSizesAndChoices(*instr.row)) {
    return absl::UnimplementedError("a choice among refs (select) is modelled in a TPU's asynchronous copies only");
  }
  if (arg.select.size() < 2) return absl::InvalidArgumentError("expected an index and at least one ref in select");
  const Type index = TypeOfArg(kernel_, arg.select[0]);
  if (!index.is_array() || index.rank() != 0 || !(IsInteger(index.dtype) || IsBool(index.dtype))) {
    return absl::InvalidArgumentError(
        Cat("expected an integer or a truth value as index of select, found ", ToString(index)));
  }
  PALLADION_ASSIGN_OR_RETURN(const Type type, OperandType(instr, i, arg.select[1]));
  for (std::size_t k = 2; k < arg.select.size(); ++k) {
    PALLADION_ASSIGN_OR_RETURN(const Type other, OperandType(instr, i, arg.select[k]));
    if (ToString(other) != ToString(type)) {
      return absl::InvalidArgumentError(
          Cat("expected refs of one type in select, found ", ToString(type), " and ", ToString(other)));
    }
  }
  return type;
}

absl::StatusOr<std::vector<Type>> KernelVerifier::OperandTypes(const Instr& instr) const {
  std::vector<Type> types;
  types.reserve(instr.args.size());
  for (std::size_t i = 0; i < instr.args.size(); ++i) {
    PALLADION_ASSIGN_OR_RETURN(types.emplace_back(), OperandType(instr, i, instr.args[i]));
  }
  return types;
}

absl::Status KernelVerifier::CheckRegionResult(const Arg& arg) const {
  PALLADION_RETURN_IF_ERROR(CheckArg(arg, 0));
  const bool value = arg.kind == Arg::Kind::kValue || arg.kind == Arg::Kind::kLiteral || arg.kind == Arg::Kind::kDense;
  if (!value || !arg.name.empty())
    return absl::InvalidArgumentError("expected `return` with values, numbers and constants only");
  const Type type = TypeOfArg(kernel_, arg);
  if (type.is_ref()) {
    return absl::InvalidArgumentError(Cat("expected an array to return, found the ref %",
                                          kernel_.values[arg.value.index()].name, "; read it with get first"));
  }
  return absl::OkStatus();
}

absl::Status KernelVerifier::CheckResultTypes(const Instr& instr) const {
  if (instr.results.size() != instr.types.size()) {
    return absl::InvalidArgumentError(Cat("expected one type for each result, found ", instr.results.size(),
                                          " results and ", instr.types.size(), " types"));
  }
  for (std::size_t i = 0; i < instr.types.size(); ++i) {
    const Type& type = instr.types[i];
    PALLADION_RETURN_IF_ERROR(CheckType(type));
    if (type.is_key() && type.key_impl != "fry") {
      return absl::UnimplementedError(
          Cat("keys of the implementation '", type.key_impl, "' are not done yet; use threefry2x32 keys (key<fry>)"));
    }
    if (!instr.results[i].valid()) continue;
    if (!InRange(instr.results[i]) || !(TypeOf(instr.results[i]) == type)) {
      return absl::InvalidArgumentError(
          "expected results that are values of this kernel with the types of the instruction");
    }
  }
  return absl::OkStatus();
}

absl::Status KernelVerifier::CheckInstr(Instr& instr) {
  instr.row = nullptr;  // until the ids are checked: a module may be verified again
  PALLADION_RETURN_IF_ERROR(CheckLoc(instr.loc));
  for (const Arg& arg : instr.args) PALLADION_RETURN_IF_ERROR(CheckArg(arg, 0));
  PALLADION_RETURN_IF_ERROR(CheckResultTypes(instr));
  PALLADION_RETURN_IF_ERROR(FindRow(instr));
  for (Region& region : instr.regions) PALLADION_RETURN_IF_ERROR(CheckRegion(region, instr.loc));
  for (const ValueId result : instr.results) {
    if (result.valid()) PALLADION_RETURN_IF_ERROR(Define(result));
  }
  PALLADION_ASSIGN_OR_RETURN(std::vector<Type> in, OperandTypes(instr));
  if (instr.row->verify == nullptr)
    return absl::InternalError(Cat(FullName(instr), " has no verify function; report this"));
  return instr.row->verify(instr, VerifyContext{module_, kernel_, std::move(in)});
}

absl::Status KernelVerifier::CheckRegion(Region& region, LocId owner) {
  if (++depth_ > kMaxDepth)
    return absl::ResourceExhaustedError(Cat("regions are nested more than ", kMaxDepth, " deep"));
  const std::size_t mark = scope_.size();
  for (const Param& param : region.params) {
    PALLADION_RETURN_IF_ERROR(At(region.text_line, owner, "", Define(param.value)));
    if (param.view.empty()) continue;
    return At(region.text_line, {}, Cat("parameter %", kernel_.values[param.value.index()].name),
              absl::UnimplementedError("a view of a region's parameter is not modelled; view it where it is used"));
  }
  for (Instr& instr : region.body) PALLADION_RETURN_IF_ERROR(At(instr, CheckInstr(instr)));
  for (const Arg& arg : region.results)
    PALLADION_RETURN_IF_ERROR(At(region.text_line, owner, "a region's return", CheckRegionResult(arg)));
  Leave(mark);
  --depth_;
  return absl::OkStatus();
}

absl::StatusOr<VerifiedModule> Verify(Module module) {
  if (module.version != 1)
    return absl::InvalidArgumentError(Cat(module.path, ": expected version 1, found version ", module.version));
  if (module.kernels.empty())
    return absl::InvalidArgumentError(Cat(module.path, ": expected at least one kernel, found none"));
  for (const Loc& loc : module.locs) {
    const bool ok = loc.file.valid() && loc.file.index() < module.files.size() &&
                    (!loc.via.valid() || loc.via.index() < module.locs.size());
    if (!ok)
      return absl::InvalidArgumentError(
          Cat(module.path, ": expected locations in files of this module, found an id out of range"));
  }
  for (Kernel& kernel : module.kernels) {
    const absl::Status status = KernelVerifier(module, kernel).Run();
    if (!status.ok()) return absl::Status(status.code(), status.message());  // the mark of a place is ours alone
  }
  return VerifiedModule(std::move(module));
}

}  // namespace palladion
