// Regions, instructions and their arguments; the scopes of value names.
#include <cstring>

#include "semantics/base/cat.h"
#include "semantics/ir/literal.h"
#include "semantics/ir/parser.h"
#include "semantics/ir/parser_state.h"

namespace palladion {

absl::Status Parser::Define(const Token& name, Type type, std::string label, ValueId* id) {
  PALLADION_RETURN_IF_ERROR(CountNode());
  const auto value = static_cast<std::int32_t>(kernel_->values.size());
  if (!values_.emplace(ToAbsl(name.text), value).second) {
    return Error(name,
                 Cat("expected a new name, found ", Describe(name), ", which is visible here already; rename one"));
  }
  scope_.push_back(ToAbsl(name.text));
  kernel_->values.push_back({std::string(name.text), std::move(type), std::move(label)});
  id->value = value;
  return absl::OkStatus();
}

absl::Status Parser::Lookup(const Token& name, ValueId* id) const {
  const auto found = values_.find(ToAbsl(name.text));
  if (found == values_.end()) {
    return Error(name, Cat("expected a value that is defined before and visible here, found ", Describe(name),
                           "; define it in this region or in one around it"));
  }
  id->value = found->second;
  return absl::OkStatus();
}

void Parser::LeaveScope(std::size_t mark) {
  for (std::size_t i = mark; i < scope_.size(); ++i) values_.erase(scope_[i]);
  scope_.resize(mark);
}

absl::Status Parser::ParseFun(Region* region) {
  const std::size_t mark = scope_.size();
  region->has_params = true;
  region->text_line = token_.line;
  PALLADION_RETURN_IF_ERROR(Expect("("));
  bool more = !token_.Is(")");
  while (more) {
    PALLADION_RETURN_IF_ERROR(ParseParam(region));
    PALLADION_RETURN_IF_ERROR(Accept(",", &more));
  }
  PALLADION_RETURN_IF_ERROR(Expect(")"));
  PALLADION_RETURN_IF_ERROR(ParseRegion(region));
  LeaveScope(mark);
  return absl::OkStatus();
}

absl::Status Parser::ParseParam(Region* region) {
  Param& param = region->params.emplace_back();
  const Token name = token_;
  if (name.kind != TokenKind::kValue) return Expected("a parameter's `%name`");
  PALLADION_RETURN_IF_ERROR(Advance());
  PALLADION_RETURN_IF_ERROR(Expect(":"));
  Type type;
  PALLADION_RETURN_IF_ERROR(ParseType(&type));
  std::string label;
  bool found = false;
  PALLADION_RETURN_IF_ERROR(AcceptWord("as", &found));
  if (found) PALLADION_RETURN_IF_ERROR(ParseString(&label));
  PALLADION_RETURN_IF_ERROR(Define(name, std::move(type), std::move(label), &param.value));
  PALLADION_RETURN_IF_ERROR(AcceptWord("view", &found));
  return found ? ParseTransforms(&param.view) : absl::OkStatus();
}

absl::Status Parser::ParseRegion(Region* region) {
  if (++region_depth_ > kMaxDepth) {
    return Limit(token_, Cat("regions are nested more than ", kMaxDepth, " deep; move inner ones out of the loop"));
  }
  const std::size_t mark = scope_.size();
  if (!region->has_params) region->text_line = token_.line;
  PALLADION_RETURN_IF_ERROR(Expect("{"));
  bool returned = false;
  while (!returned) {
    if (token_.kind == TokenKind::kEnd || token_.Is("}")) {
      return Expected("an instruction or `return`", "a region ends with `return;`");
    }
    PALLADION_RETURN_IF_ERROR(AcceptWord("return", &returned));
    if (!returned) PALLADION_RETURN_IF_ERROR(ParseInstr(&region->body.emplace_back()));
  }
  PALLADION_RETURN_IF_ERROR(ParseArgs(";", &region->results));
  LeaveScope(mark);
  --region_depth_;
  return Expect("}");
}

absl::Status Parser::ParseBinds(std::vector<Token>* binds) {
  bool more = token_.kind == TokenKind::kValue || token_.IsWord("_");
  if (!more) return absl::OkStatus();
  while (more) {
    if (token_.kind != TokenKind::kValue && !token_.IsWord("_")) return Expected("the `%name` of a result, or `_`");
    binds->push_back(token_);
    PALLADION_RETURN_IF_ERROR(CountNode());
    PALLADION_RETURN_IF_ERROR(Advance());
    PALLADION_RETURN_IF_ERROR(Accept(",", &more));
  }
  return Expect("=");
}

absl::Status Parser::ParseInstr(Instr* instr) {
  if (++instructions_ > kMaxInstructions) {
    return Limit(token_,
                 Cat("the text has more than ", kMaxInstructions, " instructions; roll loops up with scan or while"));
  }
  instr->text_line = token_.line;
  std::vector<Token> binds;
  PALLADION_RETURN_IF_ERROR(ParseBinds(&binds));
  PALLADION_RETURN_IF_ERROR(ExpectName(TokenKind::kIdent, "the name of a primitive", &instr->name));
  bool found = false;
  PALLADION_RETURN_IF_ERROR(Accept(".", &found));
  if (found) {
    instr->dialect = std::move(instr->name);
    PALLADION_RETURN_IF_ERROR(ExpectName(TokenKind::kIdent, "the name of a primitive after its dialect", &instr->name));
  }
  if (token_.Is("{")) PALLADION_RETURN_IF_ERROR(ParseAttrs(&instr->attrs));
  PALLADION_RETURN_IF_ERROR(Expect("("));
  PALLADION_RETURN_IF_ERROR(ParseArgs(")", &instr->args));
  while (token_.Is("(") || token_.Is("{")) {
    PALLADION_RETURN_IF_ERROR(CountNode());
    Region& region = instr->regions.emplace_back();
    PALLADION_RETURN_IF_ERROR(token_.Is("(") ? ParseFun(&region) : ParseRegion(&region));
  }
  const Token types = token_;
  bool more = false;
  PALLADION_RETURN_IF_ERROR(Accept(":", &more));
  while (more) {
    PALLADION_RETURN_IF_ERROR(ParseType(&instr->types.emplace_back()));
    PALLADION_RETURN_IF_ERROR(Accept(",", &more));
  }
  if (binds.size() != instr->types.size()) {
    return Error(types, Cat("expected one type for each result of ", instr->name, ", found ", binds.size(),
                            " results and ", instr->types.size(), " types; name unused results `_`"));
  }
  for (std::size_t i = 0; i < binds.size(); ++i) {
    ValueId& result = instr->results.emplace_back();
    if (binds[i].kind == TokenKind::kValue) PALLADION_RETURN_IF_ERROR(Define(binds[i], instr->types[i], "", &result));
  }
  PALLADION_RETURN_IF_ERROR(ParseOptionalLoc(&instr->loc));
  return Expect(";");
}

absl::Status Parser::ParseArgs(std::string_view close, std::vector<Arg>* args) {
  bool more = !token_.Is(close);
  while (more) {
    PALLADION_RETURN_IF_ERROR(ParseArg(&args->emplace_back()));
    PALLADION_RETURN_IF_ERROR(Accept(",", &more));
  }
  return Expect(close);
}

absl::Status Parser::ParseArg(Arg* arg) {
  PALLADION_RETURN_IF_ERROR(CountNode());
  if (token_.kind == TokenKind::kIdent) {
    PALLADION_RETURN_IF_ERROR(Peek());
    if (second_.Is("=")) {
      PALLADION_RETURN_IF_ERROR(ExpectName(TokenKind::kIdent, "an argument's name", &arg->name));
      PALLADION_RETURN_IF_ERROR(Advance());
    }
  }
  if (token_.kind == TokenKind::kValue) return ParseView(arg);
  if (token_.IsWord("none")) return Advance();
  if (token_.IsWord("select")) return ParseSelect(arg);
  if (token_.IsWord("dense")) {
    arg->kind = Arg::Kind::kDense;
    return ParseDense(&arg->dense);
  }
  if (token_.kind == TokenKind::kSymbol) {
    const auto constant = consts_.find(ToAbsl(token_.text));
    if (constant == consts_.end()) {
      return Expected("the `@name` of a constant above", "declare it: const @name = dense<f32[2][0.0,1.0]>;");
    }
    arg->kind = Arg::Kind::kDense;
    arg->dense_name.assign(token_.text);
    arg->dense = module_.consts[static_cast<std::size_t>(constant->second)].value;
    return Advance();
  }
  const bool literal = token_.kind == TokenKind::kNumber || token_.Is("-") || token_.IsWord("true") ||
                       token_.IsWord("false") || token_.IsWord("inf") || token_.IsWord("nan");
  if (!literal)
    return Expected("an argument",
                    "write %value, a number with its type (0.5:f32), true, false, none, dense<...> or @const");
  arg->kind = Arg::Kind::kLiteral;
  return ParseLiteral(&arg->literal);
}

absl::Status Parser::ParseLiteral(Literal* literal) {
  const Token at = token_;
  bool negative = false;
  PALLADION_RETURN_IF_ERROR(Accept("-", &negative));
  const Token number = token_;
  const bool truth = number.IsWord("true") || number.IsWord("false");
  if (number.kind != TokenKind::kNumber && !truth && !number.IsWord("inf") && !number.IsWord("nan")) {
    return Expected("a number after `-`");
  }
  PALLADION_RETURN_IF_ERROR(Advance());
  literal->dtype = DType::kBool;
  if (!truth) {
    if (!token_.Is(":"))
      return Expected("`:` and the number's element type", Cat("write ", number.text, ":f32 or another type"));
    PALLADION_RETURN_IF_ERROR(Advance());
    PALLADION_RETURN_IF_ERROR(Accept("~", &literal->weak));
    PALLADION_RETURN_IF_ERROR(ParseDType(&literal->dtype));
  }
  absl::StatusOr<ElementBytes> bytes = ParseNumber(literal->dtype, negative, number.text);
  if (!bytes.ok()) return Error(at, ToStd(bytes.status().message()));
  literal->bytes = *bytes;
  return absl::OkStatus();
}

}  // namespace palladion
