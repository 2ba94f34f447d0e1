#include "emu/front/reports/module_json.h"

#include "absl/types/span.h"
#include "emu/emulate.h"
#include "emu/front/reports/attr_json.h"
#include "emu/kernel/float_environment.h"
#include "semantics/base/cat.h"
#include "semantics/base/json.h"
#include "semantics/ir/literal.h"
#include "semantics/ir/parser.h"

namespace palladion::reports {
namespace {

std::string Hex(absl::Span<const std::byte> bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  for (const std::byte byte : bytes) {
    hex += kDigits[std::to_integer<std::size_t>(byte) >> 4];
    hex += kDigits[std::to_integer<std::size_t>(byte) & 15];
  }
  return hex;
}

std::string_view BlockDimName(BlockDim::Kind kind) {
  switch (kind) {
    case BlockDim::Kind::kBlocked:
      return "blocked";
    case BlockDim::Kind::kSqueezed:
      return "squeezed";
    case BlockDim::Kind::kElement:
      return "element";
    case BlockDim::Kind::kBoundedSlice:
      return "bounded_slice";
    case BlockDim::Kind::kIndirect:
      return "indirect";
  }
  return "";
}

std::string_view TypeName(TypeKind kind) {
  switch (kind) {
    case TypeKind::kArray:
      return "array";
    case TypeKind::kRef:
      return "ref";
    case TypeKind::kKey:
      return "key";
    case TypeKind::kToken:
      return "token";
  }
  return "";
}

class ModulePrinter {
 public:
  explicit ModulePrinter(const Module& module) : module_(module) {}
  absl::StatusOr<std::string> Print();

 private:
  absl::Status PrintKernel(const Kernel& kernel);
  absl::Status PrintOperand(const Operand& operand);
  absl::Status PrintBlock(const BlockSpec& block);
  void PrintLaunch(const Launch& launch);
  absl::Status PrintRegion(const Region& region);
  absl::Status PrintInstr(const Instr& instr);
  absl::Status PrintType(const Type& type);
  void PrintDims(const Type& type);
  void Locations();
  void Value(ValueId id);
  void PrintArg(const Arg& arg);
  void PrintArgs(const std::vector<Arg>& args);
  void PrintView(const std::vector<Transform>& view);
  void PrintIndices(const std::vector<Index>& indices);
  void PrintDense(const Tensor& tensor);
  void Location(LocId loc);
  void Ints(const std::vector<std::int64_t>& ints);
  void PrintAttrs(const AttrMap& attrs) { WriteAttrs(attrs, json_); }

  const Module& module_;
  const Kernel* kernel_ = nullptr;
  JsonWriter json_;
};

absl::StatusOr<std::string> ModulePrinter::Print() {
  json_.Open('{').Key("version").Number(module_.version).Key("producer").String(module_.producer);
  Locations();
  json_.Key("consts").Open('[');
  for (const NamedConst& constant : module_.consts) {
    json_.Open('{').Key("name").String(constant.name).Key("value");
    PrintDense(*constant.value);
    json_.Close('}');
  }
  json_.Close(']').Key("kernels").Open('[');
  for (const Kernel& kernel : module_.kernels) PALLADION_RETURN_IF_ERROR(PrintKernel(kernel));
  return json_.Close(']').Close('}').Take();
}

void ModulePrinter::Locations() {
  json_.Key("locs").Open('{');
  for (std::size_t i = 0; i < module_.locs.size(); ++i) {
    const Loc& loc = module_.locs[i];
    json_.Key(module_.loc_names[i]).Open('{').Key("file").String(module_.files[loc.file.index()]);
    json_.Key("line").Number(loc.line).Key("column").Number(loc.column).Key("function").String(loc.function);
    json_.Key("via");
    Location(loc.via);
    json_.Close('}');
  }
  json_.Close('}');
}

void ModulePrinter::Location(LocId loc) {
  if (loc.valid()) {
    json_.String(module_.loc_names[loc.index()]);
  } else {
    json_.Null();
  }
}

void ModulePrinter::Value(ValueId id) {
  if (id.valid()) {
    json_.String(kernel_->values[id.index()].name);
  } else {
    json_.Null();
  }
}

void ModulePrinter::Ints(const std::vector<std::int64_t>& ints) {
  json_.Open('[');
  for (const std::int64_t number : ints) json_.Number(number);
  json_.Close(']');
}

absl::Status ModulePrinter::PrintKernel(const Kernel& kernel) {
  kernel_ = &kernel;
  json_.Open('{').Key("name").String(kernel.name).Key("line").Number(kernel.text_line);
  json_.Key("backend").String(kernel.backend).Key("arch").String(kernel.arch).Key("params");
  PrintAttrs(kernel.params);
  json_.Key("other");
  PrintAttrs(kernel.other);
  PrintLaunch(kernel.launch);
  json_.Key("operands").Open('[');
  for (const Operand& operand : kernel.operands) PALLADION_RETURN_IF_ERROR(PrintOperand(operand));
  json_.Close(']').Key("bodies").Open('[');
  for (const Body& body : kernel.bodies) {
    json_.Open('{').Key("name").String(body.name).Key("mesh").String(body.mesh).Key("region");
    PALLADION_RETURN_IF_ERROR(PrintRegion(body.region));
    json_.Close('}');
  }
  json_.Close(']').Close('}');
  return absl::OkStatus();
}

absl::Status ModulePrinter::PrintOperand(const Operand& operand) {
  json_.Open('{').Key("role").String(Name(operand.role)).Key("name");
  Value(operand.value);
  json_.Key("line").Number(operand.text_line).Key("type");
  PALLADION_RETURN_IF_ERROR(PrintType(kernel_->values[operand.value.index()].type));
  json_.Key("label").String(operand.label).Key("space");
  if (operand.space.has_value()) {
    json_.String(Name(*operand.space));
  } else {
    json_.Null();
  }
  json_.Key("alias");
  Value(operand.alias);
  json_.Key("loc");
  Location(operand.loc);
  json_.Key("block");
  if (operand.block.has_value()) {
    PALLADION_RETURN_IF_ERROR(PrintBlock(*operand.block));
  } else {
    json_.Null();
  }
  json_.Close('}');
  return absl::OkStatus();
}

absl::Status ModulePrinter::PrintBlock(const BlockSpec& block) {
  json_.Open('{').Key("dims").Open('[');
  for (const BlockDim& dim : block.dims) {
    json_.Open('{').Key("kind").String(BlockDimName(dim.kind)).Key("size").Number(dim.size);
    json_.Key("low").Number(dim.low).Key("high").Number(dim.high).Close('}');
  }
  json_.Close(']').Key("map");
  PALLADION_RETURN_IF_ERROR(PrintRegion(block.map));
  json_.Key("view");
  PrintView(block.view);
  json_.Key("buffered");
  if (block.buffered.has_value()) {
    PrintAttrs(*block.buffered);
  } else {
    json_.Null();
  }
  json_.Close('}');
  return absl::OkStatus();
}

void ModulePrinter::PrintLaunch(const Launch& launch) {
  json_.Key("grid").Open('[');
  for (const GridDim& dim : launch.grid) {
    if (dim.bound.valid()) {
      Value(dim.bound);
    } else {
      json_.Number(dim.size);
    }
  }
  json_.Close(']').Key("grid_names").Open('[');
  for (const std::string& name : launch.names) json_.String(name);
  json_.Close(']').Key("vmapped");
  Ints(launch.vmapped);
  json_.Key("mesh").String(launch.mesh).Key("mesh_attrs");
  PrintAttrs(launch.mesh_attrs);
}

absl::Status ModulePrinter::PrintRegion(const Region& region) {
  json_.Open('{').Key("line").Number(region.text_line).Key("params");
  if (region.has_params || !region.params.empty()) {
    json_.Open('[');
    for (const Param& param : region.params) {
      const ValueInfo& info = kernel_->values[param.value.index()];
      json_.Open('{').Key("name").String(info.name).Key("type");
      PALLADION_RETURN_IF_ERROR(PrintType(info.type));
      json_.Key("label").String(info.label).Key("view");
      PrintView(param.view);
      json_.Close('}');
    }
    json_.Close(']');
  } else {
    json_.Null();
  }
  json_.Key("body").Open('[');
  for (const Instr& instr : region.body) PALLADION_RETURN_IF_ERROR(PrintInstr(instr));
  json_.Close(']').Key("results");
  PrintArgs(region.results);
  json_.Close('}');
  return absl::OkStatus();
}

absl::Status ModulePrinter::PrintInstr(const Instr& instr) {
  json_.Open('{').Key("name").String(instr.dialect.empty() ? instr.name : Cat(instr.dialect, ".", instr.name));
  json_.Key("line").Number(instr.text_line).Key("attrs");
  PrintAttrs(instr.attrs);
  json_.Key("args");
  PrintArgs(instr.args);
  json_.Key("regions").Open('[');
  for (const Region& region : instr.regions) PALLADION_RETURN_IF_ERROR(PrintRegion(region));
  json_.Close(']').Key("results").Open('[');
  for (const ValueId result : instr.results) Value(result);
  json_.Close(']').Key("types").Open('[');
  for (const Type& type : instr.types) PALLADION_RETURN_IF_ERROR(PrintType(type));
  json_.Close(']').Key("loc");
  Location(instr.loc);
  json_.Close('}');
  return absl::OkStatus();
}

absl::Status ModulePrinter::PrintType(const Type& type) {
  json_.Open('{').Key("kind").String(TypeName(type.kind)).Key("dtype").String(Name(type.dtype));
  PrintDims(type);
  json_.Key("weak").Bool(type.weak).Key("key").String(type.key_impl);
  if (type.is_ref()) {
    json_.Key("space").String(Name(type.space)).Key("element").String(Name(type.element)).Key("attrs");
    PALLADION_ASSIGN_OR_RETURN(const AttrMap attrs, ParseAttrMap(type.attrs.empty() ? "{}" : type.attrs));
    PrintAttrs(attrs);
  }
  json_.Close('}');
  return absl::OkStatus();
}

void ModulePrinter::PrintDims(const Type& type) {
  json_.Key("shape").Open('[');
  for (int axis = 0; axis < type.rank(); ++axis) {
    ValueId operand;
    for (const DynamicDim& dim : type.dynamic) {
      if (dim.axis == axis) operand = dim.operand;
    }
    if (operand.valid()) {
      Value(operand);
    } else {
      json_.Number(type.shape[static_cast<std::size_t>(axis)]);
    }
  }
  json_.Close(']');
}

void ModulePrinter::PrintDense(const Tensor& tensor) {
  json_.Open('{').Key("dtype").String(Name(tensor.dtype())).Key("shape");
  Ints(tensor.shape());
  json_.Key("bytes").String(Hex({tensor.bytes(), tensor.num_bytes()})).Close('}');
}

void ModulePrinter::PrintArgs(const std::vector<Arg>& args) {
  json_.Open('[');
  for (const Arg& arg : args) PrintArg(arg);
  json_.Close(']');
}

void ModulePrinter::PrintArg(const Arg& arg) {
  json_.Open('{');
  if (!arg.name.empty()) json_.Key("arg").String(arg.name);
  switch (arg.kind) {
    case Arg::Kind::kNone:
      json_.Key("kind").String("none");
      break;
    case Arg::Kind::kValue:
      json_.Key("kind").String("value").Key("value");
      Value(arg.value);
      json_.Key("view");
      PrintView(arg.transforms);
      break;
    case Arg::Kind::kLiteral: {
      const absl::Span<const std::byte> bytes(arg.literal.bytes);
      json_.Key("kind").String("literal").Key("dtype").String(Name(arg.literal.dtype));
      json_.Key("weak").Bool(arg.literal.weak);
      json_.Key("number").String(NumberText(arg.literal.dtype, arg.literal.bytes.data()));
      json_.Key("bytes").String(Hex(bytes.subspan(0, StorageBytes(arg.literal.dtype))));
      break;
    }
    case Arg::Kind::kDense:
      json_.Key("kind").String("dense").Key("const").String(arg.dense_name).Key("dense");
      PrintDense(*arg.dense);
      break;
    case Arg::Kind::kSelect:
      json_.Key("kind").String("select").Key("select");
      PrintArgs(arg.select);
      break;
  }
  json_.Close('}');
}

void ModulePrinter::PrintView(const std::vector<Transform>& view) {
  json_.Open('[');
  for (const Transform& transform : view) {
    json_.Open('{').Key("kind").String(Name(transform.kind)).Key("ints");
    Ints(transform.ints);
    json_.Key("indices");
    PrintIndices(transform.indices);
    json_.Key("attrs");
    PrintAttrs(transform.attrs);
    if (transform.kind == Transform::Kind::kBitcast) json_.Key("dtype").String(Name(transform.dtype));
    if (transform.kind == Transform::Kind::kPeer) {
      json_.Key("peer");
      PrintArg(transform.peer);
    }
    json_.Close('}');
  }
  json_.Close(']');
}

void ModulePrinter::PrintIndices(const std::vector<Index>& indices) {
  json_.Open('[');
  for (const Index& index : indices) {
    json_.Open('{').Key("kind");
    switch (index.kind) {
      case Index::Kind::kFull:
        json_.String("full");
        break;
      case Index::Kind::kPoint:
      case Index::Kind::kRef:
        json_.String(index.kind == Index::Kind::kRef ? "ref" : "point").Key("start");
        PrintArg(index.start);
        break;
      case Index::Kind::kSlice:
        json_.String("range").Key("start");
        PrintArg(index.start);
        json_.Key("size");
        PrintArg(index.size);
        json_.Key("stride").Number(index.stride);
        break;
    }
    json_.Close('}');
  }
  json_.Close(']');
}

}  // namespace

absl::StatusOr<std::string> ModuleJson(const Module& module) { return ModulePrinter(module).Print(); }

}  // namespace palladion::reports

namespace palladion {

absl::StatusOr<std::string> TextAsJson(std::string_view text, std::string_view path) {
  const kernel::FloatEnvironment environment;
  PALLADION_ASSIGN_OR_RETURN(const Module module, Parse(text, path.empty() ? "<text>" : path));
  return reports::ModuleJson(module);
}

}  // namespace palladion
