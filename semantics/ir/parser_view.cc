// Views: a value and the chain of transforms that an access goes through.
#include <cstring>

#include "semantics/base/cat.h"
#include "semantics/ir/parser.h"
#include "semantics/ir/parser_state.h"

namespace palladion {
namespace {

using Kind = Transform::Kind;

struct TransformName {
  std::string_view name;
  Kind kind;
};
constexpr TransformName kTransformNames[] = {
    {"at", Kind::kAt},
    {"bitcast", Kind::kBitcast},
    {"reshape", Kind::kReshape},
    {"transpose", Kind::kTranspose},
    {"unswizzle", Kind::kUnswizzle},
    {"untile", Kind::kUntile},
    {"tile", Kind::kTile},
    {"swizzle", Kind::kSwizzle},
    {"peer", Kind::kPeer},
    {"multicast", Kind::kMulticast},
    {"cluster", Kind::kCluster},
    {"alias", Kind::kAlias},
    {"expand_batch", Kind::kExpandBatch},
    {"collapse_batch", Kind::kCollapseBatch},
};

}  // namespace

std::string_view Name(Transform::Kind kind) { return kTransformNames[static_cast<std::size_t>(kind)].name; }

absl::Status Parser::ParseView(Arg* arg) {
  arg->kind = Arg::Kind::kValue;
  PALLADION_RETURN_IF_ERROR(Lookup(token_, &arg->value));
  PALLADION_RETURN_IF_ERROR(Advance());
  return token_.Is(".") ? ParseTransforms(&arg->transforms) : absl::OkStatus();
}

absl::Status Parser::ParseSelect(Arg* arg) {
  if (++arg_depth_ > kMaxDepth)
    return Limit(token_, Cat("views are nested more than ", kMaxDepth, " deep; name inner ones"));
  arg->kind = Arg::Kind::kSelect;
  const Token at = token_;
  PALLADION_RETURN_IF_ERROR(Advance());
  PALLADION_RETURN_IF_ERROR(Expect("("));
  PALLADION_RETURN_IF_ERROR(ParseArgs(")", &arg->select));
  --arg_depth_;
  if (arg->select.size() < 2) return Error(at, "expected `select(index, view, ...)`, found no view");
  return absl::OkStatus();
}

absl::Status Parser::ParseTransforms(std::vector<Transform>* transforms) {
  if (!token_.Is(".")) return Expected("a view such as `.at[...]`");
  while (token_.Is(".")) {
    if (transforms->size() == static_cast<std::size_t>(kMaxDepth)) {
      return Limit(token_, Cat("a view has more than ", kMaxDepth, " transforms; merge adjacent `.at`"));
    }
    PALLADION_RETURN_IF_ERROR(CountNode());
    PALLADION_RETURN_IF_ERROR(Advance());
    PALLADION_RETURN_IF_ERROR(ParseTransform(&transforms->emplace_back()));
  }
  return absl::OkStatus();
}

absl::Status Parser::ParseTransform(Transform* transform) {
  const TransformName* found = nullptr;
  for (const TransformName& entry : kTransformNames) {
    if (token_.IsWord(entry.name)) found = &entry;
  }
  if (found == nullptr)
    return Expected("a view after `.`", "write at, bitcast, reshape, transpose or another of docs/spec/kernel-text.md");
  transform->kind = found->kind;
  PALLADION_RETURN_IF_ERROR(Advance());
  switch (transform->kind) {
    case Kind::kAt:
      return ParseAt(&transform->indices);
    case Kind::kReshape:
    case Kind::kTranspose:
    case Kind::kUntile:
    case Kind::kTile:
    case Kind::kExpandBatch:
      return ParseInts(&transform->ints);
    case Kind::kCluster:
      PALLADION_RETURN_IF_ERROR(ParseAttrs(&transform->attrs));
      return token_.Is("[") ? ParseAt(&transform->indices) : absl::OkStatus();
    case Kind::kMulticast:
    case Kind::kAlias:
      return ParseAttrs(&transform->attrs);
    case Kind::kCollapseBatch:
      return absl::OkStatus();
    case Kind::kBitcast:
      PALLADION_RETURN_IF_ERROR(Expect("("));
      PALLADION_RETURN_IF_ERROR(ParseDType(&transform->dtype));
      return Expect(")");
    case Kind::kUnswizzle:
    case Kind::kSwizzle:
      PALLADION_RETURN_IF_ERROR(Expect("("));
      PALLADION_RETURN_IF_ERROR(ParseCount(&transform->ints.emplace_back()));
      return Expect(")");
    case Kind::kPeer:
      break;
  }
  if (++arg_depth_ > kMaxDepth)
    return Limit(token_, Cat("views are nested more than ", kMaxDepth, " deep; name inner ones"));
  PALLADION_RETURN_IF_ERROR(Expect("("));
  PALLADION_RETURN_IF_ERROR(ParseArg(&transform->peer));
  PALLADION_RETURN_IF_ERROR(Expect(","));
  AttrIdent kind;
  PALLADION_RETURN_IF_ERROR(ExpectName(TokenKind::kIdent, "`mesh` or `logical`", &kind.name));
  transform->attrs.emplace_back("kind", Attr{std::move(kind)});
  --arg_depth_;
  return Expect(")");
}

absl::Status Parser::ParseAt(std::vector<Index>* indices) {
  PALLADION_RETURN_IF_ERROR(Expect("["));
  bool more = !token_.Is("]");
  while (more) {
    PALLADION_RETURN_IF_ERROR(CountNode());
    PALLADION_RETURN_IF_ERROR(ParseIndex(&indices->emplace_back()));
    PALLADION_RETURN_IF_ERROR(Accept(",", &more));
  }
  return Expect("]");
}

absl::Status Parser::ParseIndex(Index* index) {
  bool found = false;
  PALLADION_RETURN_IF_ERROR(Accept("*", &found));
  if (found) return absl::OkStatus();
  PALLADION_RETURN_IF_ERROR(ParseIndexAtom(&index->start));
  index->kind = Index::Kind::kPoint;
  if (index->start.kind == Arg::Kind::kValue && kernel_->values[index->start.value.index()].type.is_ref()) {
    index->kind = Index::Kind::kRef;
  }
  PALLADION_RETURN_IF_ERROR(Accept("+:", &found));
  if (!found) return absl::OkStatus();
  index->kind = Index::Kind::kSlice;
  PALLADION_RETURN_IF_ERROR(ParseIndexAtom(&index->size));
  PALLADION_RETURN_IF_ERROR(Accept(":", &found));
  return found ? ParseCount(&index->stride) : absl::OkStatus();
}

absl::Status Parser::ParseIndexAtom(Arg* arg) {
  if (token_.kind == TokenKind::kValue) {
    arg->kind = Arg::Kind::kValue;
    PALLADION_RETURN_IF_ERROR(Lookup(token_, &arg->value));
    return Advance();
  }
  if (token_.IsWord("dense")) {
    arg->kind = Arg::Kind::kDense;
    return ParseDense(&arg->dense);
  }
  const Token at = token_;
  std::int64_t value = 0;
  if (at.kind != TokenKind::kNumber && !at.Is("-"))
    return Expected("an index", "write *, a whole number, %value or dense<...>");
  PALLADION_RETURN_IF_ERROR(ParseInt(&value));
  const auto narrow = static_cast<std::int32_t>(value);
  if (narrow != value) return Error(at, Cat("expected an index that i32 holds, found ", value));
  arg->kind = Arg::Kind::kLiteral;
  std::memcpy(arg->literal.bytes.data(), &narrow, sizeof(narrow));
  return absl::OkStatus();
}

}  // namespace palladion
