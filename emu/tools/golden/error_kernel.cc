#include "emu/tools/golden/error_kernel.h"

#include <algorithm>
#include <utility>

#include "emu/tools/golden/error_rules.h"
#include "emu/tools/golden/rewrite.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/ir/printer.h"
#include "semantics/registry/op_id.h"
#include "semantics/registry/op_row.h"

namespace palladion::golden {
namespace {

bool IsFloatArray(const Type& type) { return type.is_array() && IsFloat(type.dtype); }
bool IsFloatRef(const Type& type) {
  return type.is_ref() && type.element == ElementKind::kData && type.key_impl.empty() && IsFloat(type.dtype);
}

// Inputs that the kernel may write have a companion, which begins as zeros; those of the others are exact.
class Doubler {
 public:
  Doubler(Module module, ErrorKernel& out) : module_(std::move(module)), kernel_(module_.kernels[0]), out_(out) {
    twins_.resize(kernel_.values.size());
  }

  absl::Status Run() {
    const std::vector<bool> doubled = DoubleOperands();
    for (Body& body : kernel_.bodies) {
      std::vector<Param> params;
      std::size_t at = 0;
      for (std::size_t i = 0; i < doubled.size(); ++i) {
        if (was_[i] == Role::kBound) continue;
        const Param param = body.region.params[at++];
        params.push_back(param);
        if (!doubled[i]) continue;
        params.push_back({.value = TwinOf(param.value), .view = param.view});
        Name(i, param.value);
      }
      body.region.params = std::move(params);
      PALLADION_RETURN_IF_ERROR(DoubleBody(body.region));
    }
    out_.text = Print(module_);
    return absl::OkStatus();
  }

 private:
  // The companion of the body's ref of an operand, by each name that the ref has.
  void Name(std::size_t operand, ValueId ref) {
    const std::string& companion = kernel_.values[TwinOf(ref).index()].name;
    const ValueInfo& shown = kernel_.values[ref.index()];
    for (const std::string& name :
         {shown.name, shown.label, kernel_.values[names_[operand].index()].name, labels_[operand]}) {
      if (!name.empty()) out_.companion_refs.emplace(name, companion);
    }
  }

  // A companion for a value, made at the first call.
  ValueId TwinOf(ValueId value) {
    if (twins_.size() < kernel_.values.size()) twins_.resize(kernel_.values.size());
    if (twins_[value.index()].valid()) return twins_[value.index()];
    Type type = kernel_.values[value.index()].type;
    type.dtype = DType::kF64;
    type.weak = false;
    const ValueId twin = Writer::NewValue(kernel_, type);
    twins_.resize(kernel_.values.size());
    return twins_[value.index()] = twin;
  }
  bool HasTwin(ValueId value) const { return value.index() < twins_.size() && twins_[value.index()].valid(); }

  std::vector<bool> DoubleOperands() {
    std::vector<Operand> operands;
    std::vector<bool> doubled;
    std::size_t input = 0;
    for (const Operand& operand : kernel_.operands) {
      const bool is_float = operand.value.valid() && IsFloat(kernel_.values[operand.value.index()].type.dtype) &&
                            kernel_.values[operand.value.index()].type.element == ElementKind::kData;
      const bool aliased = std::any_of(kernel_.operands.begin(), kernel_.operands.end(), [&](const Operand& one) {
        return one.role == Role::kOut && one.alias.valid() && one.alias == operand.value;
      });
      const bool twice = is_float && (operand.role == Role::kOut || operand.role == Role::kScratch ||
                                      (operand.role == Role::kIn && aliased));
      was_.push_back(operand.role);
      names_.push_back(operand.value);
      labels_.push_back(operand.label);
      doubled.push_back(twice);
      operands.push_back(operand);
      const bool is_input = operand.role != Role::kOut && operand.role != Role::kScratch;
      if (is_input) out_.inputs.push_back(input++);
      if (operand.role == Role::kOut) {
        out_.is_float.push_back(twice);
        out_.companions.push_back(outputs_ + (twice ? 1 : 0));
        outputs_ += twice ? 2 : 1;
      }
      if (!twice) continue;
      Operand twin = operand;
      twin.value = TwinOf(operand.value);
      if (operand.alias.valid()) twin.alias = TwinOf(operand.alias);
      operands.push_back(std::move(twin));
      if (is_input) out_.inputs.push_back(kNoInput);
    }
    kernel_.operands = std::move(operands);
    return doubled;
  }

  absl::Status DoubleBody(Region& region) {
    std::vector<Instr> old = std::move(region.body);
    region.body.clear();
    for (Instr& instr : old) PALLADION_RETURN_IF_ERROR(Double(std::move(instr), region.body));
    return absl::OkStatus();
  }

  // The region of an operation: parameters and results have companions next to them.
  absl::Status DoubleRegion(Region& region, bool doubles_results) {
    std::vector<Param> params;
    for (const Param& param : region.params) {
      params.push_back(param);
      const Type type = kernel_.values[param.value.index()].type;
      if (IsFloatArray(type) || IsFloatRef(type)) params.push_back({.value = TwinOf(param.value), .view = param.view});
    }
    region.params = std::move(params);
    PALLADION_RETURN_IF_ERROR(DoubleBody(region));
    Writer writer(kernel_, region.body, LocId{});
    if (doubles_results) region.results = WithBounds(region.results, writer);
    return absl::OkStatus();
  }

  Bound BoundOf(const Arg& arg) const {
    if (arg.kind != Arg::Kind::kValue || !arg.value.valid() || !HasTwin(arg.value)) return std::nullopt;
    return ValueArg(twins_[arg.value.index()]);
  }

  std::vector<Arg> WithBounds(const std::vector<Arg>& args, Writer& writer) {
    std::vector<Arg> out;
    for (const Arg& arg : args) {
      out.push_back(arg);
      if (arg.kind == Arg::Kind::kNone) continue;
      const bool ref = arg.kind == Arg::Kind::kValue && kernel_.values[arg.value.index()].type.is_ref();
      const Type type = writer.TypeOfArg(arg);
      if (ref ? !IsFloatRef(type) : !IsFloatArray(type)) continue;
      Arg bound = arg;
      if (ref) {
        bound.value = TwinOf(arg.value);
      } else {
        bound = BoundOf(arg).value_or(Arg());
        if (bound.kind == Arg::Kind::kNone) bound = writer.Filled(0, ArrayType(DType::kF64, type.shape));
        bound.name = arg.name;
      }
      out.push_back(std::move(bound));
    }
    return out;
  }

  absl::Status Double(Instr instr, std::vector<Instr>& to) {
    const OpRow& row = RowOf(instr);
    Writer writer(kernel_, to, instr.loc);
    if (!instr.regions.empty()) return DoubleControl(std::move(instr), writer);
    switch (row.access) {
      case RefAccess::kLoad:
      case RefAccess::kStore:
        return DoubleAccess(std::move(instr), writer);
      case RefAccess::kAdd:
        return DoubleAdd(std::move(instr), writer);
      case RefAccess::kNone:
      case RefAccess::kPrefetch:
        break;
      default:
        return absl::UnimplementedError(Cat("no rule bounds the error of '", instr.name, "'"));
    }
    const Instr op = instr;
    writer.Add(std::move(instr));
    if (row.prepare == nullptr) return NoFloats(op);
    BoundedInstr bounded{.instr = op, .in = {}, .rules = out_.rules};
    for (const Arg& arg : op.args) bounded.in.push_back(BoundOf(arg));
    if (std::none_of(op.results.begin(), op.results.end(), [](ValueId id) { return id.valid(); }))
      return absl::OkStatus();
    PALLADION_ASSIGN_OR_RETURN(const std::vector<Bound> bounds, BoundsOf(bounded, writer));
    twins_.resize(kernel_.values.size());
    for (std::size_t i = 0; i < bounds.size(); ++i) {
      if (op.results[i].valid() && bounds[i].has_value()) twins_[op.results[i].index()] = bounds[i]->value;
    }
    return absl::OkStatus();
  }

  // Prints, program ids and their like.
  static absl::Status NoFloats(const Instr& op) {
    if (RowOf(op).effect != Effect::kSynchronises && std::none_of(op.types.begin(), op.types.end(), IsFloatArray))
      return absl::OkStatus();
    return absl::UnimplementedError(Cat("no rule bounds the error of '", op.name, "'"));
  }

  absl::Status DoubleControl(Instr instr, Writer& writer) {
    const OpRow& row = RowOf(instr);
    if (row.loops == Loops::kUnsaid || row.loops == Loops::kWarps)
      return absl::UnimplementedError(Cat("no rule bounds the error of '", instr.name, "'"));
    instr.args = WithBounds(instr.args, writer);
    for (std::size_t i = 0; i < instr.regions.size(); ++i) {
      const bool condition = row.loops == Loops::kWhile && i == 0;
      PALLADION_RETURN_IF_ERROR(DoubleRegion(instr.regions[i], !condition));
    }
    std::vector<ValueId> results;
    std::vector<Type> types;
    for (std::size_t i = 0; i < instr.types.size(); ++i) {
      const ValueId result = instr.results[i];
      results.push_back(result);
      types.push_back(instr.types[i]);
      if (!IsFloatArray(instr.types[i])) continue;
      results.push_back(result.valid() ? TwinOf(result) : ValueId{});
      types.push_back(ArrayType(DType::kF64, instr.types[i].shape));
    }
    instr.results = std::move(results);
    instr.types = std::move(types);
    writer.Add(std::move(instr));
    return absl::OkStatus();
  }

  static absl::Status CheckView(const Arg& view) {
    for (const Transform& transform : view.transforms) {
      if (transform.kind == Transform::Kind::kBitcast)
        return absl::UnimplementedError("no rule bounds the error of what is seen through another type");
    }
    return absl::OkStatus();
  }

  // The same access to the companion; a ref without one holds what is exact.
  absl::Status DoubleAccess(Instr instr, Writer& writer) {
    Instr twin = InF64(instr);
    const ValueId ref = instr.args.empty() ? ValueId{} : instr.args[0].value;
    if (RowOf(instr).named_refs || !ref.valid())
      return absl::UnimplementedError(Cat("no rule bounds the error of '", instr.name, "'"));
    writer.Add(std::move(instr));
    if (!HasTwin(ref)) return absl::OkStatus();
    PALLADION_RETURN_IF_ERROR(CheckView(twin.args[0]));
    twin.args[0].value = twins_[ref.index()];
    for (std::size_t i = 1; i < twin.args.size(); ++i) {
      Arg& arg = twin.args[i];
      if (arg.kind == Arg::Kind::kNone || !IsFloat(writer.TypeOfArg(arg).dtype)) continue;
      const std::string name = arg.name;
      arg = BoundOf(arg).value_or(writer.Filled(0, ArrayType(DType::kF64, writer.TypeOfArg(arg).shape)));
      arg.name = name;
    }
    for (ValueId& result : twin.results) result = result.valid() ? TwinOf(result) : result;
    writer.Add(std::move(twin));
    return absl::OkStatus();
  }

  // r += x: what is stored is rounded once more.
  absl::Status DoubleAdd(Instr instr, Writer& writer) {
    const Arg view = instr.args[0], added = instr.args[1];
    if (!HasTwin(view.value)) return absl::UnimplementedError("no rule bounds the error of a sum in an input");
    PALLADION_RETURN_IF_ERROR(CheckView(view));
    const Type type = writer.TypeOfArg(added);
    writer.Add(std::move(instr));
    Arg twin = view;
    twin.value = twins_[view.value.index()];
    const Type wide = ArrayType(DType::kF64, type.shape);
    const Arg sum = writer.Convert(writer.Apply(OpId::kGet, {view}, type), DType::kF64);
    Arg e = writer.Apply(OpId::kGet, {twin}, wide);
    if (const Bound more = BoundOf(added)) e = writer.Plus(e, *more);
    e = writer.Plus(e, writer.Times(writer.Abs(sum), FloatLiteral(DType::kF64, 2 * UnitRoundoff(type.dtype))));
    writer.Apply(OpId::kSwap, {twin, e}, wide);
    return absl::OkStatus();
  }

  Module module_;
  Kernel& kernel_;
  ErrorKernel& out_;
  std::vector<ValueId> twins_;  // by value; invalid: it is exact
  std::vector<Role> was_;       // of the kernel's operands before
  std::vector<ValueId> names_;
  std::vector<std::string> labels_;
  std::size_t outputs_ = 0;
};

void SetPlaces(Module& module, FileId file, Region& region) {
  for (Instr& instr : region.body) {
    instr.loc = LocId{static_cast<std::int32_t>(module.locs.size())};
    module.locs.push_back({.file = file, .line = instr.text_line});
    module.loc_names.push_back(Cat("line", module.locs.size()));
    for (Region& inner : instr.regions) SetPlaces(module, file, inner);
  }
}

void SetTextPlaces(Module& module) {
  module.files.emplace_back(kTextFile);
  module.file_names.push_back(Cat("text", module.files.size()));
  const FileId file{static_cast<std::int32_t>(module.files.size()) - 1};
  for (Body& body : module.kernels[0].bodies) SetPlaces(module, file, body.region);
}

}  // namespace

absl::StatusOr<ErrorKernel> MakeErrorKernel(const PreparedKernel& kernel, Places places) {
  ErrorKernel out;
  Module module = OnlyKernel(kernel);
  if (places == Places::kOfText) SetTextPlaces(module);
  if (!module.kernels[0].launch.mesh.empty())
    return absl::UnimplementedError("kernels whose blocks have threads have no error kernel");
  PALLADION_RETURN_IF_ERROR(Doubler(std::move(module), out).Run());
  return out;
}

}  // namespace palladion::golden
