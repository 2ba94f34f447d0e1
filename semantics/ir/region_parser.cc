#include "semantics/ir/region_parser.h"

#include <string>
#include <utility>

#include "semantics/base/cat.h"
#include "semantics/ir/parser.h"

namespace palladion {

absl::Status RegionParser::ParseFun(Region* region) {
  const std::size_t mark = names_.mark();
  region->has_params = true;
  region->text_line = in_.token().line;
  PALLADION_RETURN_IF_ERROR(in_.Expect("("));
  bool more = !in_.token().Is(")");
  while (more) {
    PALLADION_RETURN_IF_ERROR(ParseParam(region));
    PALLADION_RETURN_IF_ERROR(in_.Accept(",", &more));
  }
  PALLADION_RETURN_IF_ERROR(in_.Expect(")"));
  PALLADION_RETURN_IF_ERROR(ParseRegion(region));
  names_.LeaveScope(mark);
  return absl::OkStatus();
}

absl::Status RegionParser::ParseParam(Region* region) {
  Param& param = region->params.emplace_back();
  const Token name = in_.token();
  if (name.kind != TokenKind::kValue) return in_.Expected("a parameter's `%name`");
  PALLADION_RETURN_IF_ERROR(in_.Advance());
  PALLADION_RETURN_IF_ERROR(in_.Expect(":"));
  Type type;
  PALLADION_RETURN_IF_ERROR(types_.ParseType(&type));
  std::string label;
  bool found = false;
  PALLADION_RETURN_IF_ERROR(in_.AcceptWord("as", &found));
  if (found) PALLADION_RETURN_IF_ERROR(in_.ParseString(&label));
  PALLADION_RETURN_IF_ERROR(names_.Define(name, std::move(type), std::move(label), &param.value));
  PALLADION_RETURN_IF_ERROR(in_.AcceptWord("view", &found));
  return found ? args_.views().ParseTransforms(&param.view) : absl::OkStatus();
}

absl::Status RegionParser::ParseRegion(Region* region) {
  if (++region_depth_ > kMaxDepth) {
    return in_.Limit(in_.token(),
                     Cat("regions are nested more than ", kMaxDepth, " deep; move inner ones out of the loop"));
  }
  const std::size_t mark = names_.mark();
  if (!region->has_params) region->text_line = in_.token().line;
  PALLADION_RETURN_IF_ERROR(in_.Expect("{"));
  bool returned = false;
  while (!returned) {
    if (in_.token().kind == TokenKind::kEnd || in_.token().Is("}")) {
      return in_.Expected("an instruction or `return`", "a region ends with `return;`");
    }
    PALLADION_RETURN_IF_ERROR(in_.AcceptWord("return", &returned));
    if (!returned) PALLADION_RETURN_IF_ERROR(ParseInstr(&region->body.emplace_back()));
  }
  PALLADION_RETURN_IF_ERROR(args_.ParseArgs(";", &region->results));
  names_.LeaveScope(mark);
  --region_depth_;
  return in_.Expect("}");
}

absl::Status RegionParser::ParseBinds(std::vector<Token>* binds) {
  bool more = in_.token().kind == TokenKind::kValue || in_.token().IsWord("_");
  if (!more) return absl::OkStatus();
  while (more) {
    if (in_.token().kind != TokenKind::kValue && !in_.token().IsWord("_"))
      return in_.Expected("the `%name` of a result, or `_`");
    binds->push_back(in_.token());
    PALLADION_RETURN_IF_ERROR(in_.CountNode());
    PALLADION_RETURN_IF_ERROR(in_.Advance());
    PALLADION_RETURN_IF_ERROR(in_.Accept(",", &more));
  }
  return in_.Expect("=");
}

absl::Status RegionParser::ParseInstr(Instr* instr) {
  if (++instructions_ > kMaxInstructions) {
    return in_.Limit(in_.token(), Cat("the text has more than ", kMaxInstructions,
                                      " instructions; roll loops up with scan or while"));
  }
  instr->text_line = in_.token().line;
  std::vector<Token> binds;
  PALLADION_RETURN_IF_ERROR(ParseBinds(&binds));
  PALLADION_RETURN_IF_ERROR(in_.ExpectName(TokenKind::kIdent, "the name of a primitive", &instr->name));
  bool found = false;
  PALLADION_RETURN_IF_ERROR(in_.Accept(".", &found));
  if (found) {
    instr->dialect = std::move(instr->name);
    PALLADION_RETURN_IF_ERROR(
        in_.ExpectName(TokenKind::kIdent, "the name of a primitive after its dialect", &instr->name));
  }
  if (in_.token().Is("{")) PALLADION_RETURN_IF_ERROR(types_.attrs().ParseAttrs(&instr->attrs));
  PALLADION_RETURN_IF_ERROR(in_.Expect("("));
  PALLADION_RETURN_IF_ERROR(args_.ParseArgs(")", &instr->args));
  while (in_.token().Is("(") || in_.token().Is("{")) {
    PALLADION_RETURN_IF_ERROR(in_.CountNode());
    Region& region = instr->regions.emplace_back();
    PALLADION_RETURN_IF_ERROR(in_.token().Is("(") ? ParseFun(&region) : ParseRegion(&region));
  }
  const Token types = in_.token();
  bool more = false;
  PALLADION_RETURN_IF_ERROR(in_.Accept(":", &more));
  while (more) {
    PALLADION_RETURN_IF_ERROR(types_.ParseType(&instr->types.emplace_back()));
    PALLADION_RETURN_IF_ERROR(in_.Accept(",", &more));
  }
  if (binds.size() != instr->types.size()) {
    return in_.Error(types, Cat("expected one type for each result of ", instr->name, ", found ", binds.size(),
                                " results and ", instr->types.size(), " types; name unused results `_`"));
  }
  for (std::size_t i = 0; i < binds.size(); ++i) {
    ValueId& result = instr->results.emplace_back();
    if (binds[i].kind == TokenKind::kValue)
      PALLADION_RETURN_IF_ERROR(names_.Define(binds[i], instr->types[i], "", &result));
  }
  PALLADION_RETURN_IF_ERROR(declarations_.ParseOptionalLoc(&instr->loc));
  return in_.Expect(";");
}

}  // namespace palladion
