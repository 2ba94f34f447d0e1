#include "semantics/ir/arg_parser.h"

#include "semantics/base/cat.h"
#include "semantics/ir/literal.h"
#include "semantics/ir/parser.h"

namespace palladion {

absl::Status ArgParser::ParseArgs(std::string_view close, std::vector<Arg>* args) {
  bool more = !in_.token().Is(close);
  while (more) {
    PALLADION_RETURN_IF_ERROR(ParseArg(&args->emplace_back()));
    PALLADION_RETURN_IF_ERROR(in_.Accept(",", &more));
  }
  return in_.Expect(close);
}

absl::Status ArgParser::ParseArg(Arg* arg) {
  PALLADION_RETURN_IF_ERROR(in_.CountNode());
  if (in_.token().kind == TokenKind::kIdent) {
    PALLADION_RETURN_IF_ERROR(in_.Peek());
    if (in_.second().Is("=")) {
      PALLADION_RETURN_IF_ERROR(in_.ExpectName(TokenKind::kIdent, "an argument's name", &arg->name));
      PALLADION_RETURN_IF_ERROR(in_.Advance());
    }
  }
  if (in_.token().kind == TokenKind::kValue) return ParseView(arg);
  if (in_.token().IsWord("none")) return in_.Advance();
  if (in_.token().IsWord("select")) return ParseSelect(arg);
  if (in_.token().IsWord("dense")) {
    arg->kind = Arg::Kind::kDense;
    return constants_.ParseDense(&arg->dense);
  }
  if (in_.token().kind == TokenKind::kSymbol) {
    const NamedConst* const constant = declarations_.FindConst(in_.token().text);
    if (constant == nullptr) {
      return in_.Expected("the `@name` of a constant above", "declare it: const @name = dense<f32[2][0.0,1.0]>;");
    }
    arg->kind = Arg::Kind::kDense;
    arg->dense_name.assign(in_.token().text);
    arg->dense = constant->value;
    return in_.Advance();
  }
  const bool literal = in_.token().kind == TokenKind::kNumber || in_.token().Is("-") || in_.token().IsWord("true") ||
                       in_.token().IsWord("false") || in_.token().IsWord("inf") || in_.token().IsWord("nan");
  if (!literal)
    return in_.Expected("an argument",
                        "write %value, a number with its type (0.5:f32), true, false, none, dense<...> or @const");
  arg->kind = Arg::Kind::kLiteral;
  return ParseLiteral(&arg->literal);
}

absl::Status ArgParser::ParseLiteral(Literal* literal) {
  const Token at = in_.token();
  bool negative = false;
  PALLADION_RETURN_IF_ERROR(in_.Accept("-", &negative));
  const Token number = in_.token();
  const bool truth = number.IsWord("true") || number.IsWord("false");
  if (number.kind != TokenKind::kNumber && !truth && !number.IsWord("inf") && !number.IsWord("nan")) {
    return in_.Expected("a number after `-`");
  }
  PALLADION_RETURN_IF_ERROR(in_.Advance());
  literal->dtype = DType::kBool;
  if (!truth) {
    if (!in_.token().Is(":"))
      return in_.Expected("`:` and the number's element type", Cat("write ", number.text, ":f32 or another type"));
    PALLADION_RETURN_IF_ERROR(in_.Advance());
    PALLADION_RETURN_IF_ERROR(in_.Accept("~", &literal->weak));
    PALLADION_RETURN_IF_ERROR(types_.ParseDType(&literal->dtype));
  }
  absl::StatusOr<ElementBytes> bytes = ParseNumber(literal->dtype, negative, number.text);
  if (!bytes.ok()) return in_.Error(at, ToStd(bytes.status().message()));
  literal->bytes = *bytes;
  return absl::OkStatus();
}

absl::Status ArgParser::ParseView(Arg* arg) {
  arg->kind = Arg::Kind::kValue;
  PALLADION_RETURN_IF_ERROR(names_.Lookup(in_.token(), &arg->value));
  PALLADION_RETURN_IF_ERROR(in_.Advance());
  return in_.token().Is(".") ? views_.ParseTransforms(&arg->transforms) : absl::OkStatus();
}

absl::Status ArgParser::ParseSelect(Arg* arg) {
  PALLADION_RETURN_IF_ERROR(GoDeeper());
  arg->kind = Arg::Kind::kSelect;
  const Token at = in_.token();
  PALLADION_RETURN_IF_ERROR(in_.Advance());
  PALLADION_RETURN_IF_ERROR(in_.Expect("("));
  PALLADION_RETURN_IF_ERROR(ParseArgs(")", &arg->select));
  ComeUp();
  if (arg->select.size() < 2) return in_.Error(at, "expected `select(index, view, ...)`, found no view");
  return absl::OkStatus();
}

absl::Status ArgParser::GoDeeper() {
  if (++depth_ <= kMaxDepth) return absl::OkStatus();
  return in_.Limit(in_.token(), Cat("views are nested more than ", kMaxDepth, " deep; name inner ones"));
}

}  // namespace palladion
