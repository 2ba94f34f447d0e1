#include "semantics/ir/attr_parser.h"

#include <bit>
#include <cstring>

#include "semantics/base/cat.h"
#include "semantics/ir/literal.h"
#include "semantics/ir/parser.h"

namespace palladion {

absl::Status AttrParser::ParseAttrs(AttrMap* attrs) {
  if (++attr_depth_ > kMaxDepth)
    return in_.Limit(in_.token(), Cat("attributes are nested more than ", kMaxDepth, " deep; flatten them"));
  PALLADION_RETURN_IF_ERROR(in_.Expect("{"));
  bool more = !in_.token().Is("}");
  while (more) {
    if (in_.token().kind != TokenKind::kIdent) return in_.Expected("an attribute's name");
    if (Find(*attrs, in_.token().text) != nullptr) return in_.Expected("a new attribute", "this one is already given");
    if (attrs->size() == kMaxAttrs)
      return in_.Limit(in_.token(), Cat("an instruction or property has more than ", kMaxAttrs, " attributes"));
    AttrEntry& entry = attrs->emplace_back();
    entry.first.assign(in_.token().text);
    PALLADION_RETURN_IF_ERROR(in_.Advance());
    PALLADION_RETURN_IF_ERROR(in_.Expect("="));
    PALLADION_RETURN_IF_ERROR(ParseAttr(&entry.second));
    PALLADION_RETURN_IF_ERROR(in_.Accept(",", &more));
  }
  --attr_depth_;
  return in_.Expect("}");
}

absl::Status AttrParser::ParseAttrList(AttrList* list) {
  if (++attr_depth_ > kMaxDepth)
    return in_.Limit(in_.token(), Cat("attributes are nested more than ", kMaxDepth, " deep; flatten them"));
  PALLADION_RETURN_IF_ERROR(in_.Expect("["));
  bool more = !in_.token().Is("]");
  while (more) {
    PALLADION_RETURN_IF_ERROR(ParseAttr(&list->emplace_back()));
    PALLADION_RETURN_IF_ERROR(in_.Accept(",", &more));
  }
  --attr_depth_;
  return in_.Expect("]");
}

absl::Status AttrParser::ParseAttrNumber(Attr* attr) {
  bool negative = in_.token().Is("-");
  if (negative) PALLADION_RETURN_IF_ERROR(in_.Peek());
  const Token& number = negative ? in_.second() : in_.token();
  if (number.kind == TokenKind::kNumber && number.text.find_first_not_of("0123456789") == std::string_view::npos) {
    return in_.ParseInt(&attr->value.emplace<std::int64_t>());
  }
  PALLADION_RETURN_IF_ERROR(in_.Accept("-", &negative));
  if (in_.token().kind != TokenKind::kNumber && !in_.token().IsWord("inf")) return in_.Expected("a number");
  absl::StatusOr<ElementBytes> bytes = ParseNumber(DType::kF64, negative, in_.token().text);
  if (!bytes.ok()) return in_.Error(in_.token(), ToStd(bytes.status().message()));
  std::memcpy(&attr->value.emplace<double>(), bytes->data(), sizeof(double));
  return in_.Advance();
}

absl::Status AttrParser::ParseAttr(Attr* attr) {
  PALLADION_RETURN_IF_ERROR(in_.CountNode());
  if (in_.token().Is("[")) return ParseAttrList(&attr->value.emplace<AttrList>());
  if (in_.token().Is("{")) return ParseAttrs(&attr->value.emplace<AttrMap>());
  if (in_.token().kind == TokenKind::kString) return in_.ParseString(&attr->value.emplace<std::string>());
  if (in_.token().kind == TokenKind::kNumber || in_.token().Is("-") || in_.token().IsWord("inf"))
    return ParseAttrNumber(attr);
  if (in_.token().kind != TokenKind::kIdent) {
    return in_.Expected("an attribute's value", "write a number, a string, true, false, none, a word, [...] or {...}");
  }
  if (in_.token().text == "true" || in_.token().text == "false") {
    attr->value = in_.token().text == "true";
  } else if (in_.token().text == "nan") {
    attr->value = std::bit_cast<double>(std::uint64_t{0x7ff8000000000000});
  } else if (in_.token().text != "none") {
    attr->value.emplace<AttrIdent>().name.assign(in_.token().text);
  }
  return in_.Advance();
}

}  // namespace palladion
