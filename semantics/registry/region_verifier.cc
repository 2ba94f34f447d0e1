#include "semantics/registry/region_verifier.h"

#include <string>
#include <utility>
#include <vector>

#include "semantics/base/cat.h"
#include "semantics/base/edit_distance.h"
#include "semantics/ir/parser.h"
#include "semantics/ir/printer.h"
#include "semantics/ir/view_type.h"
#include "semantics/registry/op_row.h"
#include "semantics/registry/operand_types.h"

namespace palladion {
namespace {

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

absl::Status FindRow(Instr& instr) {
  instr.row = FindOp(instr.dialect, instr.name);
  if (instr.row == nullptr) {
    std::string dialects;
    for (const OpRow& row : AllOps()) {
      if (row.name == instr.name)
        Append(&dialects, dialects.empty() ? "; write " : " or ", row.dialect, row.dialect.empty() ? "" : ".",
               row.name);
    }
    if (dialects.empty()) dialects = Cat(MeantBy(instr), " docs/reference/operations.md lists the known ones");
    return absl::InvalidArgumentError(Cat("unknown primitive ", FullName(instr), dialects));
  }
  if (instr.row->status == OpStatus::kImplemented) return absl::OkStatus();
  return absl::UnimplementedError(Cat(FullName(instr), " is not supported: ", instr.row->reason));
}

}  // namespace

// Ids and kinds only; the types of views and operands come after, when the row is known.
absl::Status RegionVerifier::CheckArg(const Arg& arg, int depth) const {
  if (depth > kMaxDepth) return absl::ResourceExhaustedError(Cat("views are nested more than ", kMaxDepth, " deep"));
  if (arg.kind == Arg::Kind::kDense && arg.dense == nullptr)
    return absl::InvalidArgumentError("expected a constant, found none");
  for (const Arg& inner : arg.select) PALLADION_RETURN_IF_ERROR(CheckArg(inner, depth + 1));
  if (arg.kind != Arg::Kind::kValue) return absl::OkStatus();
  PALLADION_RETURN_IF_ERROR(values_.CheckUse(arg.value));
  if (!arg.transforms.empty() && !kernel_.values[arg.value.index()].type.is_ref()) {
    return absl::InvalidArgumentError(Cat(
        "expected a ref before .", Name(arg.transforms[0].kind), ", found %", kernel_.values[arg.value.index()].name,
        ": ", ToString(kernel_.values[arg.value.index()].type), "; slice arrays with slice or dynamic_slice"));
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

absl::Status RegionVerifier::CheckRegionResult(const Arg& arg) const {
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

absl::Status RegionVerifier::CheckResultTypes(const Instr& instr) const {
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
    if (!InRange(kernel_, instr.results[i]) || !(kernel_.values[instr.results[i].index()].type == type)) {
      return absl::InvalidArgumentError(
          "expected results that are values of this kernel with the types of the instruction");
    }
  }
  return absl::OkStatus();
}

absl::Status RegionVerifier::CheckInstr(Instr& instr) {
  instr.row = nullptr;  // until the ids are checked: a module may be verified again
  PALLADION_RETURN_IF_ERROR(places_.CheckLoc(instr.loc));
  for (const Arg& arg : instr.args) PALLADION_RETURN_IF_ERROR(CheckArg(arg, 0));
  PALLADION_RETURN_IF_ERROR(CheckResultTypes(instr));
  PALLADION_RETURN_IF_ERROR(FindRow(instr));
  for (Region& region : instr.regions) PALLADION_RETURN_IF_ERROR(CheckRegion(region, instr.loc));
  for (const ValueId result : instr.results) {
    if (result.valid()) PALLADION_RETURN_IF_ERROR(values_.Define(result));
  }
  PALLADION_ASSIGN_OR_RETURN(std::vector<Type> in, OperandTypes(kernel_, instr));
  if (instr.row->verify == nullptr)
    return absl::InternalError(Cat(FullName(instr), " has no verify function; report this"));
  return instr.row->verify(instr, VerifyContext{module_, kernel_, std::move(in)});
}

absl::Status RegionVerifier::CheckRegion(Region& region, LocId owner) {
  if (++depth_ > kMaxDepth)
    return absl::ResourceExhaustedError(Cat("regions are nested more than ", kMaxDepth, " deep"));
  const std::size_t mark = values_.Enter();
  for (const Param& param : region.params) {
    PALLADION_RETURN_IF_ERROR(places_.At(region.text_line, owner, "", values_.Define(param.value)));
    if (param.view.empty()) continue;
    return places_.At(
        region.text_line, {}, Cat("parameter %", kernel_.values[param.value.index()].name),
        absl::UnimplementedError("a view of a region's parameter is not modelled; view it where it is used"));
  }
  for (Instr& instr : region.body) PALLADION_RETURN_IF_ERROR(places_.At(instr, CheckInstr(instr)));
  for (const Arg& arg : region.results)
    PALLADION_RETURN_IF_ERROR(places_.At(region.text_line, owner, "a region's return", CheckRegionResult(arg)));
  values_.Leave(mark);
  --depth_;
  return absl::OkStatus();
}

}  // namespace palladion
