#include "semantics/ir/view_parser.h"

#include <cstring>
#include <utility>

#include "semantics/base/cat.h"
#include "semantics/ir/arg_parser.h"
#include "semantics/ir/parser.h"

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

absl::Status ViewParser::ParseTransforms(std::vector<Transform>* transforms) {
  if (!in_.token().Is(".")) return in_.Expected("a view such as `.at[...]`");
  while (in_.token().Is(".")) {
    if (transforms->size() == static_cast<std::size_t>(kMaxDepth)) {
      return in_.Limit(in_.token(), Cat("a view has more than ", kMaxDepth, " transforms; merge adjacent `.at`"));
    }
    PALLADION_RETURN_IF_ERROR(in_.CountNode());
    PALLADION_RETURN_IF_ERROR(in_.Advance());
    PALLADION_RETURN_IF_ERROR(ParseTransform(&transforms->emplace_back()));
  }
  return absl::OkStatus();
}

absl::Status ViewParser::ParseTransform(Transform* transform) {
  const TransformName* found = nullptr;
  for (const TransformName& entry : kTransformNames) {
    if (in_.token().IsWord(entry.name)) found = &entry;
  }
  if (found == nullptr)
    return in_.Expected("a view after `.`",
                        "write at, bitcast, reshape, transpose or another of docs/spec/kernel-text.md");
  transform->kind = found->kind;
  PALLADION_RETURN_IF_ERROR(in_.Advance());
  switch (transform->kind) {
    case Kind::kAt:
      return ParseAt(&transform->indices);
    case Kind::kReshape:
    case Kind::kTranspose:
    case Kind::kUntile:
    case Kind::kTile:
    case Kind::kExpandBatch:
      return in_.ParseInts(&transform->ints);
    case Kind::kCluster:
      PALLADION_RETURN_IF_ERROR(types_.attrs().ParseAttrs(&transform->attrs));
      return in_.token().Is("[") ? ParseAt(&transform->indices) : absl::OkStatus();
    case Kind::kMulticast:
    case Kind::kAlias:
      return types_.attrs().ParseAttrs(&transform->attrs);
    case Kind::kCollapseBatch:
      return absl::OkStatus();
    case Kind::kBitcast:
      PALLADION_RETURN_IF_ERROR(in_.Expect("("));
      PALLADION_RETURN_IF_ERROR(types_.ParseDType(&transform->dtype));
      return in_.Expect(")");
    case Kind::kUnswizzle:
    case Kind::kSwizzle:
      PALLADION_RETURN_IF_ERROR(in_.Expect("("));
      PALLADION_RETURN_IF_ERROR(in_.ParseCount(&transform->ints.emplace_back()));
      return in_.Expect(")");
    case Kind::kPeer:
      return ParsePeer(transform);
  }
  return absl::OkStatus();
}

absl::Status ViewParser::ParsePeer(Transform* transform) {
  PALLADION_RETURN_IF_ERROR(args_.GoDeeper());
  PALLADION_RETURN_IF_ERROR(in_.Expect("("));
  PALLADION_RETURN_IF_ERROR(args_.ParseArg(&transform->peer));
  PALLADION_RETURN_IF_ERROR(in_.Expect(","));
  AttrIdent kind;
  PALLADION_RETURN_IF_ERROR(in_.ExpectName(TokenKind::kIdent, "`mesh` or `logical`", &kind.name));
  AttrEntry& entry = transform->attrs.emplace_back();
  entry.first = "kind";
  entry.second.value = std::move(kind);
  args_.ComeUp();
  return in_.Expect(")");
}

absl::Status ViewParser::ParseAt(std::vector<Index>* indices) {
  PALLADION_RETURN_IF_ERROR(in_.Expect("["));
  bool more = !in_.token().Is("]");
  while (more) {
    PALLADION_RETURN_IF_ERROR(in_.CountNode());
    PALLADION_RETURN_IF_ERROR(ParseIndex(&indices->emplace_back()));
    PALLADION_RETURN_IF_ERROR(in_.Accept(",", &more));
  }
  return in_.Expect("]");
}

absl::Status ViewParser::ParseIndex(Index* index) {
  bool found = false;
  PALLADION_RETURN_IF_ERROR(in_.Accept("*", &found));
  if (found) return absl::OkStatus();
  PALLADION_RETURN_IF_ERROR(ParseIndexAtom(&index->start));
  index->kind = Index::Kind::kPoint;
  if (index->start.kind == Arg::Kind::kValue && names_.TypeOf(index->start.value).is_ref()) {
    index->kind = Index::Kind::kRef;
  }
  PALLADION_RETURN_IF_ERROR(in_.Accept("+:", &found));
  if (!found) return absl::OkStatus();
  index->kind = Index::Kind::kSlice;
  PALLADION_RETURN_IF_ERROR(ParseIndexAtom(&index->size));
  PALLADION_RETURN_IF_ERROR(in_.Accept(":", &found));
  return found ? in_.ParseCount(&index->stride) : absl::OkStatus();
}

absl::Status ViewParser::ParseIndexAtom(Arg* arg) {
  if (in_.token().kind == TokenKind::kValue) {
    arg->kind = Arg::Kind::kValue;
    PALLADION_RETURN_IF_ERROR(names_.Lookup(in_.token(), &arg->value));
    return in_.Advance();
  }
  if (in_.token().IsWord("dense")) {
    arg->kind = Arg::Kind::kDense;
    return constants_.ParseDense(&arg->dense);
  }
  const Token at = in_.token();
  std::int64_t value = 0;
  if (at.kind != TokenKind::kNumber && !at.Is("-"))
    return in_.Expected("an index", "write *, a whole number, %value or dense<...>");
  PALLADION_RETURN_IF_ERROR(in_.ParseInt(&value));
  const auto narrow = static_cast<std::int32_t>(value);
  if (narrow != value) return in_.Error(at, Cat("expected an index that i32 holds, found ", value));
  arg->kind = Arg::Kind::kLiteral;
  std::memcpy(arg->literal.bytes.data(), &narrow, sizeof(narrow));
  return absl::OkStatus();
}

}  // namespace palladion
