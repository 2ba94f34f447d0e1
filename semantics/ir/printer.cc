#include "semantics/ir/printer.h"

#include "semantics/base/cat.h"
#include "semantics/ir/lexer.h"
#include "semantics/ir/literal.h"
#include "semantics/ir/type_text.h"

namespace palladion {
namespace {

void AppendInts(const std::vector<std::int64_t>& ints, std::string* out) { out->append(ToString(ints)); }

// ToString leaves an empty map out; here the braces stand for themselves.
std::string Braces(const AttrMap& attrs) { return attrs.empty() ? "{}" : ToString(attrs); }

void AppendDense(const Tensor& tensor, std::string* out) {
  Append(out, "dense<", Name(tensor.dtype()));
  AppendInts(tensor.shape(), out);
  const std::size_t width = StorageBytes(tensor.dtype());
  if (tensor.num_elements() <= kMaxPrintedNumbers) {
    out->push_back('[');
    for (std::int64_t i = 0; i < tensor.num_elements(); ++i) {
      Append(out, i > 0 ? "," : "", NumberText(tensor.dtype(), tensor.bytes() + static_cast<std::size_t>(i) * width));
    }
    out->append("]>");
    return;
  }
  constexpr std::string_view kDigits = "0123456789abcdef";
  out->append(" hex \"");
  for (std::size_t i = 0; i < tensor.num_bytes(); ++i) {
    const auto byte = std::to_integer<std::size_t>(tensor.bytes()[i]);
    out->push_back(kDigits[byte >> 4]);
    out->push_back(kDigits[byte & 15]);
  }
  out->append("\">");
}

class Printer {
 public:
  Printer(const Module& module, std::string* out) : module_(module), out_(out) {}

  void Decls();
  void KernelItem(const Kernel& kernel);
  void InstrHead(const Instr& instr);
  void InstrTypes(const Instr& instr);
  void PrintArg(const Arg& arg);
  void set_kernel(const Kernel& kernel) { kernel_ = &kernel; }

 private:
  void Props(const Kernel& kernel);
  void OperandItem(const Operand& operand);
  void Block(const BlockSpec& block);
  void LaunchItem(const Launch& launch);
  void Fun(const Region& region, int depth);
  void PrintRegion(const Region& region, int depth);
  void PrintInstr(const Instr& instr, int depth);
  void Args(const std::vector<Arg>& args);
  void Transforms(const std::vector<Transform>& transforms);
  void At(const std::vector<Index>& indices);
  void Atom(const Arg& arg);
  void PrintType(const Type& type);
  void OptionalLoc(LocId loc);
  std::string Value(ValueId id) const { return id.valid() ? Cat("%", kernel_->values[id.index()].name) : "_"; }

  const Module& module_;
  const Kernel* kernel_ = nullptr;
  std::string* out_;
};

void Printer::Decls() {
  Append(out_, "pkir ", module_.version, ";\n");
  if (!module_.producer.empty()) Append(out_, "producer ", Quote(module_.producer), ";\n");
  for (std::size_t i = 0; i < module_.files.size(); ++i) {
    Append(out_, "file #", module_.file_names[i], " = ", Quote(module_.files[i]), ";\n");
  }
  for (std::size_t i = 0; i < module_.locs.size(); ++i) {
    const Loc& loc = module_.locs[i];
    Append(out_, "loc #", module_.loc_names[i], " = #", module_.file_names[loc.file.index()], ":", loc.line);
    if (loc.column != 0) Append(out_, ":", loc.column);
    if (!loc.function.empty()) Append(out_, " fn ", Quote(loc.function));
    if (loc.via.valid()) Append(out_, " via #", module_.loc_names[loc.via.index()]);
    out_->append(";\n");
  }
  for (const NamedConst& constant : module_.consts) {
    Append(out_, "const @", constant.name, " = ");
    AppendDense(*constant.value, out_);
    out_->append(";\n");
  }
}

void Printer::KernelItem(const Kernel& kernel) {
  kernel_ = &kernel;
  Append(out_, "kernel @", kernel.name, " {\n");
  Props(kernel);
  // The launch may name bounds, so they come first.
  for (const Operand& operand : kernel.operands) {
    if (operand.role == Role::kBound) OperandItem(operand);
  }
  LaunchItem(kernel.launch);
  for (const Operand& operand : kernel.operands) {
    if (operand.role != Role::kBound) OperandItem(operand);
  }
  for (const Body& body : kernel.bodies) {
    Append(out_, "  body @", body.name, " ");
    if (!body.mesh.empty()) Append(out_, "on ", body.mesh, " ");
    Fun(body.region, 1);
    out_->append("\n");
  }
  out_->append("}\n");
}

void Printer::Props(const Kernel& kernel) {
  if (!kernel.backend.empty()) Append(out_, "  backend ", kernel.backend, ";\n");
  if (!kernel.arch.empty()) Append(out_, "  arch ", Quote(kernel.arch), ";\n");
  if (!kernel.params.empty()) Append(out_, "  params ", ToString(kernel.params), ";\n");
  for (const auto& [name, attr] : kernel.other) {
    const auto* attrs = std::get_if<AttrMap>(&attr.value);
    Append(out_, "  ", name, " ", attrs != nullptr ? Braces(*attrs) : "{}", ";\n");
  }
}

void Printer::OperandItem(const Operand& operand) {
  Append(out_, "  ", Name(operand.role), " ", Value(operand.value), ": ");
  PrintType(kernel_->values[operand.value.index()].type);
  if (!operand.label.empty()) Append(out_, " as ", Quote(operand.label));
  if (operand.space.has_value()) Append(out_, " space ", Name(*operand.space));
  if (operand.block.has_value()) Block(*operand.block);
  if (operand.alias.valid()) Append(out_, " alias ", Value(operand.alias));
  OptionalLoc(operand.loc);
  out_->append(";\n");
}

void Printer::Block(const BlockSpec& block) {
  out_->append(" block (");
  for (std::size_t i = 0; i < block.dims.size(); ++i) {
    const BlockDim& dim = block.dims[i];
    if (i > 0) out_->push_back(',');
    switch (dim.kind) {
      case BlockDim::Kind::kBlocked:
        Append(out_, dim.size);
        break;
      case BlockDim::Kind::kSqueezed:
        out_->append("sq");
        break;
      case BlockDim::Kind::kElement:
        Append(out_, "el(", dim.size, ",", dim.low, ",", dim.high, ")");
        break;
      case BlockDim::Kind::kBoundedSlice:
        Append(out_, "bs(", dim.size, ")");
        break;
      case BlockDim::Kind::kIndirect:
        Append(out_, "ind(", dim.size, ")");
        break;
    }
  }
  out_->append(") map ");
  Fun(block.map, 2);
  if (!block.view.empty()) {
    out_->append(" view ");
    Transforms(block.view);
  }
  if (block.buffered.has_value()) Append(out_, " buffered ", Braces(*block.buffered));
}

void Printer::LaunchItem(const Launch& launch) {
  if (!launch.mesh.empty()) {
    Append(out_, "  mesh ", launch.mesh, " ", Braces(launch.mesh_attrs), ";\n");
    return;
  }
  out_->append("  grid [");
  for (std::size_t i = 0; i < launch.grid.size(); ++i) {
    const GridDim& dim = launch.grid[i];
    Append(out_, i > 0 ? "," : "", dim.bound.valid() ? Value(dim.bound) : Cat(dim.size));
  }
  out_->push_back(']');
  for (std::size_t i = 0; i < launch.names.size(); ++i) {
    Append(out_, i == 0 ? " names [" : ",", launch.names[i].empty() ? "none" : Quote(launch.names[i]));
  }
  if (!launch.names.empty()) out_->push_back(']');
  if (!launch.vmapped.empty()) {
    out_->append(" vmapped ");
    AppendInts(launch.vmapped, out_);
  }
  out_->append(";\n");
}

void Printer::Fun(const Region& region, int depth) {
  out_->push_back('(');
  for (std::size_t i = 0; i < region.params.size(); ++i) {
    const Param& param = region.params[i];
    const ValueInfo& info = kernel_->values[param.value.index()];
    Append(out_, i > 0 ? ", %" : "%", info.name, ": ");
    PrintType(info.type);
    if (!info.label.empty()) Append(out_, " as ", Quote(info.label));
    if (!param.view.empty()) {
      out_->append(" view ");
      Transforms(param.view);
    }
  }
  out_->append(") ");
  PrintRegion(region, depth);
}

void Printer::PrintRegion(const Region& region, int depth) {
  const std::string indent(static_cast<std::size_t>(depth) * 2, ' ');
  out_->append(region.body.empty() ? "{ " : "{\n");
  for (const Instr& instr : region.body) {
    Append(out_, indent, "  ");
    PrintInstr(instr, depth + 1);
    out_->append("\n");
  }
  if (!region.body.empty()) Append(out_, indent, "  ");
  out_->append(region.results.empty() ? "return" : "return ");
  Args(region.results);
  if (region.body.empty()) {
    out_->append("; }");
  } else {
    Append(out_, ";\n", indent, "}");
  }
}

void Printer::InstrHead(const Instr& instr) {
  for (std::size_t i = 0; i < instr.results.size(); ++i) Append(out_, i > 0 ? ", " : "", Value(instr.results[i]));
  if (!instr.results.empty()) out_->append(" = ");
  if (!instr.dialect.empty()) Append(out_, instr.dialect, ".");
  Append(out_, instr.name, ToString(instr.attrs), "(");
  Args(instr.args);
  out_->push_back(')');
}

void Printer::InstrTypes(const Instr& instr) {
  for (std::size_t i = 0; i < instr.types.size(); ++i) {
    out_->append(i == 0 ? " : " : ", ");
    PrintType(instr.types[i]);
  }
}

void Printer::PrintInstr(const Instr& instr, int depth) {
  InstrHead(instr);
  for (const Region& region : instr.regions) {
    out_->push_back(' ');
    if (region.has_params) {
      Fun(region, depth);
    } else {
      PrintRegion(region, depth);
    }
  }
  InstrTypes(instr);
  OptionalLoc(instr.loc);
  out_->push_back(';');
}

void Printer::Args(const std::vector<Arg>& args) {
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (i > 0) out_->append(", ");
    PrintArg(args[i]);
  }
}

void Printer::PrintArg(const Arg& arg) {
  if (!arg.name.empty()) Append(out_, arg.name, "=");
  switch (arg.kind) {
    case Arg::Kind::kNone:
      out_->append("none");
      return;
    case Arg::Kind::kValue:
      out_->append(Value(arg.value));
      Transforms(arg.transforms);
      return;
    case Arg::Kind::kLiteral:
      out_->append(NumberText(arg.literal.dtype, arg.literal.bytes.data()));
      if (!IsBool(arg.literal.dtype)) Append(out_, arg.literal.weak ? ":~" : ":", Name(arg.literal.dtype));
      return;
    case Arg::Kind::kDense:
      if (arg.dense_name.empty()) {
        AppendDense(*arg.dense, out_);
      } else {
        Append(out_, "@", arg.dense_name);
      }
      return;
    case Arg::Kind::kSelect:
      out_->append("select(");
      Args(arg.select);
      out_->push_back(')');
      return;
  }
}

void Printer::Transforms(const std::vector<Transform>& transforms) {
  for (const Transform& t : transforms) {
    Append(out_, ".", Name(t.kind));
    switch (t.kind) {
      case Transform::Kind::kAt:
        At(t.indices);
        break;
      case Transform::Kind::kBitcast:
        Append(out_, "(", Name(t.dtype), ")");
        break;
      case Transform::Kind::kReshape:
      case Transform::Kind::kTranspose:
      case Transform::Kind::kUntile:
      case Transform::Kind::kTile:
      case Transform::Kind::kExpandBatch:
        AppendInts(t.ints, out_);
        break;
      case Transform::Kind::kUnswizzle:
      case Transform::Kind::kSwizzle:
        Append(out_, "(", t.ints.empty() ? 0 : t.ints[0], ")");
        break;
      case Transform::Kind::kPeer: {
        const Attr* kind = Find(t.attrs, "kind");
        out_->push_back('(');
        PrintArg(t.peer);
        Append(out_, ", ", kind != nullptr ? ToString(*kind) : "mesh", ")");
        break;
      }
      case Transform::Kind::kCluster:
        out_->append(Braces(t.attrs));
        if (!t.indices.empty()) At(t.indices);
        break;
      case Transform::Kind::kMulticast:
      case Transform::Kind::kAlias:
        out_->append(Braces(t.attrs));
        break;
      case Transform::Kind::kCollapseBatch:
        break;
    }
  }
}

void Printer::At(const std::vector<Index>& indices) {
  out_->push_back('[');
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const Index& index = indices[i];
    if (i > 0) out_->append(", ");
    if (index.kind == Index::Kind::kFull) {
      out_->push_back('*');
      continue;
    }
    Atom(index.start);
    if (index.kind != Index::Kind::kSlice) continue;
    out_->append(" +: ");
    Atom(index.size);
    if (index.stride != 1) Append(out_, " : ", index.stride);
  }
  out_->push_back(']');
}

void Printer::Atom(const Arg& arg) {
  if (arg.kind == Arg::Kind::kLiteral) {
    out_->append(NumberText(DType::kI32, arg.literal.bytes.data()));
  } else {
    PrintArg(arg);
  }
}

void Printer::PrintType(const Type& type) {
  out_->append(ToString(type, [this](ValueId operand) { return Value(operand); }));
}

void Printer::OptionalLoc(LocId loc) {
  if (loc.valid()) Append(out_, " #", module_.loc_names[loc.index()]);
}

}  // namespace

std::string Print(const Module& module) {
  std::string out;
  Printer printer(module, &out);
  printer.Decls();
  for (const Kernel& kernel : module.kernels) printer.KernelItem(kernel);
  return out;
}

std::string Print(const Module& module, const Kernel& kernel, const Instr& instr) {
  std::string out;
  Printer printer(module, &out);
  printer.set_kernel(kernel);
  printer.InstrHead(instr);
  printer.InstrTypes(instr);
  return out;
}

std::string Print(const Module& module, const Kernel& kernel, const Arg& arg) {
  std::string out;
  Printer printer(module, &out);
  printer.set_kernel(kernel);
  printer.PrintArg(arg);
  return out;
}

}  // namespace palladion
