// Kernels: properties, operands, blocks, launch, bodies.
#include <algorithm>

#include "semantics/base/cat.h"
#include "semantics/ir/parser.h"
#include "semantics/ir/parser_state.h"

namespace palladion {
namespace {

std::optional<Role> RoleFromName(std::string_view name) {
  for (const Role role : {Role::kBound, Role::kPrefetch, Role::kIn, Role::kOut, Role::kScratch}) {
    if (Name(role) == name) return role;
  }
  return std::nullopt;
}

bool IsProp(const Token& token) {
  for (const std::string_view word : {"backend", "arch", "params", "cost", "meta", "devices", "options"}) {
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

absl::Status Parser::ParseKernel() {
  Kernel& kernel = module_.kernels.emplace_back();
  kernel_ = &kernel;
  kernel.text_line = token_.line;
  PALLADION_RETURN_IF_ERROR(CountNode());
  PALLADION_RETURN_IF_ERROR(Advance());
  const Token name = token_;
  PALLADION_RETURN_IF_ERROR(ExpectName(TokenKind::kSymbol, "the kernel's `@name`", &kernel.name));
  if (!kernels_.emplace(ToAbsl(name.text), 0).second) {
    return Error(name, Cat("expected a new name, found ", Describe(name), ", the name of a kernel above; write @",
                           name.text, ".1"));
  }
  PALLADION_RETURN_IF_ERROR(Expect("{"));
  bool launched = false;
  while (!token_.IsWord("body") && !token_.Is("}")) {
    const std::optional<Role> role = token_.kind == TokenKind::kIdent ? RoleFromName(token_.text) : std::nullopt;
    if (role.has_value()) {
      PALLADION_RETURN_IF_ERROR(ParseOperand(*role));
    } else if (IsProp(token_) && !launched) {
      PALLADION_RETURN_IF_ERROR(ParseProp(&kernel, token_.text));
    } else if ((token_.IsWord("grid") || token_.IsWord("mesh")) && !launched) {
      launched = true;
      PALLADION_RETURN_IF_ERROR(token_.IsWord("grid") ? ParseGrid(&kernel.launch) : ParseMesh(&kernel.launch));
    } else {
      return launched
                 ? Expected("an operand or `body`", "properties and `grid` come before, and only one `grid` or `mesh`")
                 : Expected("a property, an operand, `grid` or `mesh`");
    }
  }
  if (!launched) return Expected("`grid` or `mesh`", "a kernel that runs once has `grid [];`");
  while (token_.IsWord("body")) PALLADION_RETURN_IF_ERROR(ParseBody());
  LeaveScope(0);
  return Expect("}");
}

absl::Status Parser::ParseProp(Kernel* kernel, std::string_view word) {
  const Token at = token_;
  PALLADION_RETURN_IF_ERROR(CountNode());
  PALLADION_RETURN_IF_ERROR(Advance());
  bool again = false;
  if (word == "backend") {
    again = !kernel->backend.empty();
    PALLADION_RETURN_IF_ERROR(ExpectName(TokenKind::kIdent, "the backend's name", &kernel->backend));
  } else if (word == "arch") {
    again = !kernel->arch.empty();
    PALLADION_RETURN_IF_ERROR(ParseString(&kernel->arch));
  } else if (word == "params") {
    again = !kernel->params.empty();
    PALLADION_RETURN_IF_ERROR(ParseAttrs(&kernel->params));
  } else {
    again = Find(kernel->other, word) != nullptr;
    AttrMap attrs;
    PALLADION_RETURN_IF_ERROR(ParseAttrs(&attrs));
    kernel->other.emplace_back(word, Attr{std::move(attrs)});
  }
  if (again) return Error(at, Cat("expected `", word, "` once in a kernel, found it again; merge the two"));
  return Expect(";");
}

absl::Status Parser::ParseOperand(Role role) {
  const Token at = token_;
  PALLADION_RETURN_IF_ERROR(CountNode());
  if (!kernel_->operands.empty() && role < kernel_->operands.back().role) {
    return Error(at, Cat("expected operands in the order bound, prefetch, in, out, scratch, found `", Name(role),
                         "` after `", Name(kernel_->operands.back().role), "`"));
  }
  if (kernel_->operands.size() == kMaxOperands)
    return Limit(at, Cat("a kernel has more than ", kMaxOperands, " operands"));
  Operand& operand = kernel_->operands.emplace_back();
  operand.role = role;
  operand.text_line = at.line;
  PALLADION_RETURN_IF_ERROR(Advance());
  const Token name = token_;
  if (name.kind != TokenKind::kValue) return Expected("the operand's `%name`");
  PALLADION_RETURN_IF_ERROR(Advance());
  PALLADION_RETURN_IF_ERROR(Expect(":"));
  Type type;
  PALLADION_RETURN_IF_ERROR(ParseType(&type));
  bool found = false;
  PALLADION_RETURN_IF_ERROR(AcceptWord("as", &found));
  if (found) PALLADION_RETURN_IF_ERROR(ParseString(&operand.label));
  PALLADION_RETURN_IF_ERROR(Define(name, std::move(type), operand.label, &operand.value));
  PALLADION_RETURN_IF_ERROR(AcceptWord("space", &found));
  if (found) PALLADION_RETURN_IF_ERROR(ParseSpace(&operand.space.emplace()));
  if (token_.IsWord("block")) PALLADION_RETURN_IF_ERROR(ParseBlock(&operand.block.emplace()));
  PALLADION_RETURN_IF_ERROR(AcceptWord("alias", &found));
  if (found) {
    if (token_.kind != TokenKind::kValue) return Expected("the `%name` of the input that shares its memory");
    PALLADION_RETURN_IF_ERROR(Lookup(token_, &operand.alias));
    PALLADION_RETURN_IF_ERROR(Advance());
  }
  PALLADION_RETURN_IF_ERROR(ParseOptionalLoc(&operand.loc));
  return Expect(";");
}

absl::Status Parser::ParseBlock(BlockSpec* block) {
  PALLADION_RETURN_IF_ERROR(Advance());
  PALLADION_RETURN_IF_ERROR(Expect("("));
  bool more = !token_.Is(")");
  while (more) {
    PALLADION_RETURN_IF_ERROR(CountNode());
    PALLADION_RETURN_IF_ERROR(ParseBlockDim(&block->dims.emplace_back()));
    PALLADION_RETURN_IF_ERROR(Accept(",", &more));
  }
  PALLADION_RETURN_IF_ERROR(Expect(")"));
  if (!token_.IsWord("map"))
    return Expected("`map` and the index map", "a block says where it lies: map (%i: i32[]) { return %i; }");
  PALLADION_RETURN_IF_ERROR(Advance());
  PALLADION_RETURN_IF_ERROR(ParseFun(&block->map));
  bool found = false;
  PALLADION_RETURN_IF_ERROR(AcceptWord("view", &found));
  if (found) PALLADION_RETURN_IF_ERROR(ParseTransforms(&block->view));
  PALLADION_RETURN_IF_ERROR(AcceptWord("buffered", &found));
  if (found) PALLADION_RETURN_IF_ERROR(ParseAttrs(&block->buffered.emplace()));
  return absl::OkStatus();
}

absl::Status Parser::ParseBlockDim(BlockDim* dim) {
  if (token_.kind == TokenKind::kNumber) return ParseCount(&dim->size);
  if (token_.IsWord("sq")) {
    dim->kind = BlockDim::Kind::kSqueezed;
    return Advance();
  }
  const bool element = token_.IsWord("el");
  if (!element && !token_.IsWord("bs") && !token_.IsWord("ind")) {
    return Expected("a block's dimension", "write its size, `sq`, `el(size, low, high)`, `bs(size)` or `ind(size)`");
  }
  dim->kind = element               ? BlockDim::Kind::kElement
              : token_.IsWord("bs") ? BlockDim::Kind::kBoundedSlice
                                    : BlockDim::Kind::kIndirect;
  PALLADION_RETURN_IF_ERROR(Advance());
  PALLADION_RETURN_IF_ERROR(Expect("("));
  PALLADION_RETURN_IF_ERROR(ParseCount(&dim->size));
  if (element) {
    PALLADION_RETURN_IF_ERROR(Expect(","));
    PALLADION_RETURN_IF_ERROR(ParseCount(&dim->low));
    PALLADION_RETURN_IF_ERROR(Expect(","));
    PALLADION_RETURN_IF_ERROR(ParseCount(&dim->high));
  }
  return Expect(")");
}

absl::Status Parser::ParseGrid(Launch* launch) {
  PALLADION_RETURN_IF_ERROR(Advance());
  PALLADION_RETURN_IF_ERROR(Expect("["));
  bool more = !token_.Is("]");
  while (more) {
    PALLADION_RETURN_IF_ERROR(CountNode());
    GridDim& dim = launch->grid.emplace_back();
    if (token_.kind == TokenKind::kValue) {
      PALLADION_RETURN_IF_ERROR(Lookup(token_, &dim.bound));
      // Another operand may stand before the grid here, and is printed after it.
      const auto is_it = [&](const Operand& o) { return o.role == Role::kBound && o.value == dim.bound; };
      if (std::none_of(kernel_->operands.begin(), kernel_->operands.end(), is_it))
        return Error(token_, Cat("expected a `bound` operand, found ", Describe(token_)));
      PALLADION_RETURN_IF_ERROR(Advance());
    } else {
      PALLADION_RETURN_IF_ERROR(ParseCount(&dim.size));
    }
    PALLADION_RETURN_IF_ERROR(Accept(",", &more));
  }
  PALLADION_RETURN_IF_ERROR(Expect("]"));
  bool found = false;
  PALLADION_RETURN_IF_ERROR(AcceptWord("names", &found));
  if (found) PALLADION_RETURN_IF_ERROR(ParseGridNames(launch));
  PALLADION_RETURN_IF_ERROR(AcceptWord("vmapped", &found));
  if (found) PALLADION_RETURN_IF_ERROR(ParseInts(&launch->vmapped));
  return Expect(";");
}

absl::Status Parser::ParseGridNames(Launch* launch) {
  PALLADION_RETURN_IF_ERROR(Expect("["));
  bool more = !token_.Is("]");
  while (more) {
    PALLADION_RETURN_IF_ERROR(CountNode());
    std::string& name = launch->names.emplace_back();
    if (token_.IsWord("none")) {
      PALLADION_RETURN_IF_ERROR(Advance());
    } else {
      PALLADION_RETURN_IF_ERROR(ParseString(&name));
    }
    PALLADION_RETURN_IF_ERROR(Accept(",", &more));
  }
  return Expect("]");
}

absl::Status Parser::ParseMesh(Launch* launch) {
  PALLADION_RETURN_IF_ERROR(Advance());
  PALLADION_RETURN_IF_ERROR(ExpectName(TokenKind::kIdent, "the mesh's kind", &launch->mesh));
  PALLADION_RETURN_IF_ERROR(ParseAttrs(&launch->mesh_attrs));
  return Expect(";");
}

absl::Status Parser::ParseBody() {
  PALLADION_RETURN_IF_ERROR(CountNode());
  PALLADION_RETURN_IF_ERROR(Advance());
  Body& body = kernel_->bodies.emplace_back();
  PALLADION_RETURN_IF_ERROR(ExpectName(TokenKind::kSymbol, "the body's `@name`", &body.name));
  bool found = false;
  PALLADION_RETURN_IF_ERROR(AcceptWord("on", &found));
  if (found) PALLADION_RETURN_IF_ERROR(ExpectName(TokenKind::kIdent, "the mesh's kind", &body.mesh));
  return ParseFun(&body.region);
}

}  // namespace palladion
