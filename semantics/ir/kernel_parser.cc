#include "semantics/ir/kernel_parser.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "semantics/base/cat.h"
#include "semantics/ir/parser.h"

namespace palladion {
namespace {

std::optional<Role> RoleFromName(std::string_view name) {
  for (const Role role : {Role::kBound, Role::kPrefetch, Role::kIn, Role::kOut, Role::kScratch}) {
    if (Name(role) == name) return role;
  }
  return std::nullopt;
}

bool IsProp(const Token& token) {
  for (const std::string_view word : {"backend", "arch", "params", "cost", "meta", "devices", "arrays", "options"}) {
    if (token.IsWord(word)) return true;
  }
  return false;
}

}  // namespace

std::string_view Name(Role role) {
  switch (role) {
    case Role::kBound:
      return "bound";
    case Role::kPrefetch:
      return "prefetch";
    case Role::kIn:
      return "in";
    case Role::kOut:
      return "out";
    case Role::kScratch:
      return "scratch";
  }
  return "";
}

absl::Status KernelParser::ParseKernel(Module* module) {
  Kernel& kernel = module->kernels.emplace_back();
  kernel_ = &kernel;
  names_.BeginKernel(&kernel);
  kernel.text_line = in_.token().line;
  PALLADION_RETURN_IF_ERROR(in_.CountNode());
  PALLADION_RETURN_IF_ERROR(in_.Advance());
  const Token name = in_.token();
  PALLADION_RETURN_IF_ERROR(in_.ExpectName(TokenKind::kSymbol, "the kernel's `@name`", &kernel.name));
  if (!kernels_.insert(ToAbsl(name.text)).second) {
    return in_.Error(name, Cat("expected a new name, found ", Describe(name), ", the name of a kernel above; write @",
                               name.text, ".1"));
  }
  PALLADION_RETURN_IF_ERROR(in_.Expect("{"));
  bool launched = false;
  while (!in_.token().IsWord("body") && !in_.token().Is("}")) {
    const std::optional<Role> role =
        in_.token().kind == TokenKind::kIdent ? RoleFromName(in_.token().text) : std::nullopt;
    if (role.has_value()) {
      PALLADION_RETURN_IF_ERROR(ParseOperand(*role));
    } else if (IsProp(in_.token()) && !launched) {
      PALLADION_RETURN_IF_ERROR(ParseProp(&kernel, in_.token().text));
    } else if ((in_.token().IsWord("grid") || in_.token().IsWord("mesh")) && !launched) {
      launched = true;
      PALLADION_RETURN_IF_ERROR(in_.token().IsWord("grid") ? ParseGrid(&kernel.launch) : ParseMesh(&kernel.launch));
    } else {
      return launched ? in_.Expected("an operand or `body`",
                                     "properties and `grid` come before, and only one `grid` or `mesh`")
                      : in_.Expected("a property, an operand, `grid` or `mesh`");
    }
  }
  if (!launched) return in_.Expected("`grid` or `mesh`", "a kernel that runs once has `grid [];`");
  while (in_.token().IsWord("body")) PALLADION_RETURN_IF_ERROR(ParseBody());
  names_.LeaveScope(0);
  return in_.Expect("}");
}

absl::Status KernelParser::ParseProp(Kernel* kernel, std::string_view word) {
  const Token at = in_.token();
  PALLADION_RETURN_IF_ERROR(in_.CountNode());
  PALLADION_RETURN_IF_ERROR(in_.Advance());
  bool again = false;
  if (word == "backend") {
    again = !kernel->backend.empty();
    PALLADION_RETURN_IF_ERROR(in_.ExpectName(TokenKind::kIdent, "the backend's name", &kernel->backend));
  } else if (word == "arch") {
    again = !kernel->arch.empty();
    PALLADION_RETURN_IF_ERROR(in_.ParseString(&kernel->arch));
  } else if (word == "params") {
    again = !kernel->params.empty();
    PALLADION_RETURN_IF_ERROR(types_.attrs().ParseAttrs(&kernel->params));
  } else {
    again = Find(kernel->other, word) != nullptr;
    AttrMap attrs;
    PALLADION_RETURN_IF_ERROR(types_.attrs().ParseAttrs(&attrs));
    kernel->other.emplace_back(word, Attr{std::move(attrs)});
  }
  if (again) return in_.Error(at, Cat("expected `", word, "` once in a kernel, found it again; merge the two"));
  return in_.Expect(";");
}

absl::Status KernelParser::ParseOperand(Role role) {
  const Token at = in_.token();
  PALLADION_RETURN_IF_ERROR(in_.CountNode());
  if (!kernel_->operands.empty() && role < kernel_->operands.back().role) {
    return in_.Error(at, Cat("expected operands in the order bound, prefetch, in, out, scratch, found `", Name(role),
                             "` after `", Name(kernel_->operands.back().role), "`"));
  }
  if (kernel_->operands.size() == kMaxOperands)
    return in_.Limit(at, Cat("a kernel has more than ", kMaxOperands, " operands"));
  Operand& operand = kernel_->operands.emplace_back();
  operand.role = role;
  operand.text_line = at.line;
  PALLADION_RETURN_IF_ERROR(in_.Advance());
  const Token name = in_.token();
  if (name.kind != TokenKind::kValue) return in_.Expected("the operand's `%name`");
  PALLADION_RETURN_IF_ERROR(in_.Advance());
  PALLADION_RETURN_IF_ERROR(in_.Expect(":"));
  Type type;
  PALLADION_RETURN_IF_ERROR(types_.ParseType(&type));
  bool found = false;
  PALLADION_RETURN_IF_ERROR(in_.AcceptWord("as", &found));
  if (found) PALLADION_RETURN_IF_ERROR(in_.ParseString(&operand.label));
  PALLADION_RETURN_IF_ERROR(names_.Define(name, std::move(type), operand.label, &operand.value));
  PALLADION_RETURN_IF_ERROR(in_.AcceptWord("space", &found));
  if (found) PALLADION_RETURN_IF_ERROR(types_.ParseSpace(&operand.space.emplace()));
  if (in_.token().IsWord("block")) PALLADION_RETURN_IF_ERROR(ParseBlock(&operand.block.emplace()));
  PALLADION_RETURN_IF_ERROR(in_.AcceptWord("alias", &found));
  if (found) {
    if (in_.token().kind != TokenKind::kValue) return in_.Expected("the `%name` of the input that shares its memory");
    PALLADION_RETURN_IF_ERROR(names_.Lookup(in_.token(), &operand.alias));
    PALLADION_RETURN_IF_ERROR(in_.Advance());
  }
  PALLADION_RETURN_IF_ERROR(declarations_.ParseOptionalLoc(&operand.loc));
  return in_.Expect(";");
}

absl::Status KernelParser::ParseBlock(BlockSpec* block) {
  PALLADION_RETURN_IF_ERROR(in_.Advance());
  PALLADION_RETURN_IF_ERROR(in_.Expect("("));
  bool more = !in_.token().Is(")");
  while (more) {
    PALLADION_RETURN_IF_ERROR(in_.CountNode());
    PALLADION_RETURN_IF_ERROR(ParseBlockDim(&block->dims.emplace_back()));
    PALLADION_RETURN_IF_ERROR(in_.Accept(",", &more));
  }
  PALLADION_RETURN_IF_ERROR(in_.Expect(")"));
  if (!in_.token().IsWord("map"))
    return in_.Expected("`map` and the index map", "a block says where it lies: map (%i: i32[]) { return %i; }");
  PALLADION_RETURN_IF_ERROR(in_.Advance());
  PALLADION_RETURN_IF_ERROR(regions_.ParseFun(&block->map));
  bool found = false;
  PALLADION_RETURN_IF_ERROR(in_.AcceptWord("view", &found));
  if (found) PALLADION_RETURN_IF_ERROR(regions_.views().ParseTransforms(&block->view));
  PALLADION_RETURN_IF_ERROR(in_.AcceptWord("buffered", &found));
  if (found) PALLADION_RETURN_IF_ERROR(types_.attrs().ParseAttrs(&block->buffered.emplace()));
  return absl::OkStatus();
}

absl::Status KernelParser::ParseBlockDim(BlockDim* dim) {
  if (in_.token().kind == TokenKind::kNumber) return in_.ParseCount(&dim->size);
  if (in_.token().IsWord("sq")) {
    dim->kind = BlockDim::Kind::kSqueezed;
    return in_.Advance();
  }
  const bool element = in_.token().IsWord("el");
  if (!element && !in_.token().IsWord("bs") && !in_.token().IsWord("ind")) {
    return in_.Expected("a block's dimension",
                        "write its size, `sq`, `el(size, low, high)`, `bs(size)` or `ind(size)`");
  }
  dim->kind = element                    ? BlockDim::Kind::kElement
              : in_.token().IsWord("bs") ? BlockDim::Kind::kBoundedSlice
                                         : BlockDim::Kind::kIndirect;
  PALLADION_RETURN_IF_ERROR(in_.Advance());
  PALLADION_RETURN_IF_ERROR(in_.Expect("("));
  PALLADION_RETURN_IF_ERROR(in_.ParseCount(&dim->size));
  if (element) {
    PALLADION_RETURN_IF_ERROR(in_.Expect(","));
    PALLADION_RETURN_IF_ERROR(in_.ParseCount(&dim->low));
    PALLADION_RETURN_IF_ERROR(in_.Expect(","));
    PALLADION_RETURN_IF_ERROR(in_.ParseCount(&dim->high));
  }
  return in_.Expect(")");
}

absl::Status KernelParser::ParseGrid(Launch* launch) {
  PALLADION_RETURN_IF_ERROR(in_.Advance());
  PALLADION_RETURN_IF_ERROR(in_.Expect("["));
  bool more = !in_.token().Is("]");
  while (more) {
    PALLADION_RETURN_IF_ERROR(in_.CountNode());
    GridDim& dim = launch->grid.emplace_back();
    if (in_.token().kind == TokenKind::kValue) {
      PALLADION_RETURN_IF_ERROR(names_.Lookup(in_.token(), &dim.bound));
      // Another operand may stand before the grid here, and is printed after it.
      const auto is_it = [&](const Operand& o) { return o.role == Role::kBound && o.value == dim.bound; };
      if (std::none_of(kernel_->operands.begin(), kernel_->operands.end(), is_it))
        return in_.Error(in_.token(), Cat("expected a `bound` operand, found ", Describe(in_.token())));
      PALLADION_RETURN_IF_ERROR(in_.Advance());
    } else {
      PALLADION_RETURN_IF_ERROR(in_.ParseCount(&dim.size));
    }
    PALLADION_RETURN_IF_ERROR(in_.Accept(",", &more));
  }
  PALLADION_RETURN_IF_ERROR(in_.Expect("]"));
  bool found = false;
  PALLADION_RETURN_IF_ERROR(in_.AcceptWord("names", &found));
  if (found) PALLADION_RETURN_IF_ERROR(ParseGridNames(launch));
  PALLADION_RETURN_IF_ERROR(in_.AcceptWord("vmapped", &found));
  if (found) PALLADION_RETURN_IF_ERROR(in_.ParseInts(&launch->vmapped));
  return in_.Expect(";");
}

absl::Status KernelParser::ParseGridNames(Launch* launch) {
  PALLADION_RETURN_IF_ERROR(in_.Expect("["));
  bool more = !in_.token().Is("]");
  while (more) {
    PALLADION_RETURN_IF_ERROR(in_.CountNode());
    std::string& name = launch->names.emplace_back();
    if (in_.token().IsWord("none")) {
      PALLADION_RETURN_IF_ERROR(in_.Advance());
    } else {
      PALLADION_RETURN_IF_ERROR(in_.ParseString(&name));
    }
    PALLADION_RETURN_IF_ERROR(in_.Accept(",", &more));
  }
  return in_.Expect("]");
}

absl::Status KernelParser::ParseMesh(Launch* launch) {
  PALLADION_RETURN_IF_ERROR(in_.Advance());
  PALLADION_RETURN_IF_ERROR(in_.ExpectName(TokenKind::kIdent, "the mesh's kind", &launch->mesh));
  PALLADION_RETURN_IF_ERROR(types_.attrs().ParseAttrs(&launch->mesh_attrs));
  return in_.Expect(";");
}

absl::Status KernelParser::ParseBody() {
  PALLADION_RETURN_IF_ERROR(in_.CountNode());
  PALLADION_RETURN_IF_ERROR(in_.Advance());
  Body& body = kernel_->bodies.emplace_back();
  PALLADION_RETURN_IF_ERROR(in_.ExpectName(TokenKind::kSymbol, "the body's `@name`", &body.name));
  bool found = false;
  PALLADION_RETURN_IF_ERROR(in_.AcceptWord("on", &found));
  if (found) PALLADION_RETURN_IF_ERROR(in_.ExpectName(TokenKind::kIdent, "the mesh's kind", &body.mesh));
  return regions_.ParseFun(&body.region);
}

}  // namespace palladion
