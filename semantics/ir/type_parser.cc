#include "semantics/ir/type_parser.h"

#include <optional>

#include "semantics/base/cat.h"
#include "semantics/ir/parser.h"

namespace palladion {
namespace {

// Of one array, where sizes in bytes have 32 bits (WebAssembly): 2 GiB of its widest elements.
constexpr std::int64_t kMostOf32Bits = std::int64_t{1} << 28;

std::optional<ElementKind> SyncKindFromName(std::string_view name) {
  for (int i = 1; i <= static_cast<int>(ElementKind::kBarrierSem); ++i) {
    if (Name(static_cast<ElementKind>(i)) == name) return static_cast<ElementKind>(i);
  }
  return std::nullopt;
}

}  // namespace

absl::Status TypeParser::ParseDType(DType* dtype) {
  const std::optional<DType> found =
      in_.token().kind == TokenKind::kIdent ? DTypeFromName(in_.token().text) : std::nullopt;
  if (!found.has_value())
    return in_.Expected("an element type", "docs/reference/dtypes.md lists them: f32, bf16, i32, bool, ...");
  *dtype = *found;
  return in_.Advance();
}

absl::Status TypeParser::ParseSpace(Space* space) {
  const std::optional<Space> found =
      in_.token().kind == TokenKind::kIdent ? SpaceFromName(in_.token().text) : std::nullopt;
  if (!found.has_value()) {
    return in_.Expected("a memory space",
                        "write one of default any gmem smem tmem regs hbm vmem vmem_shared cmem semaphore "
                        "host index key error");
  }
  *space = *found;
  return in_.Advance();
}

absl::Status TypeParser::ParseType(Type* type) {
  PALLADION_RETURN_IF_ERROR(in_.CountNode());
  if (in_.token().IsWord("token")) {
    type->kind = TypeKind::kToken;
    return in_.Advance();
  }
  if (!in_.token().IsWord("ref")) {
    const bool is_key = in_.token().IsWord("key");
    type->kind = is_key ? TypeKind::kKey : TypeKind::kArray;
    PALLADION_RETURN_IF_ERROR(in_.Accept("~", &type->weak));
    const Token at = in_.token();
    PALLADION_RETURN_IF_ERROR(ParseElement(type));
    if (type->element != ElementKind::kData) {
      return in_.Error(at, Cat("expected the type of a value, found ", Describe(at),
                               ", which only a ref holds; write ref<semaphore,", at.text, "[]>"));
    }
    if (type->weak && !type->key_impl.empty()) return in_.Error(at, "expected an element type after `~`, found `key`");
    return absl::OkStatus();
  }
  type->kind = TypeKind::kRef;
  PALLADION_RETURN_IF_ERROR(in_.Advance());
  PALLADION_RETURN_IF_ERROR(in_.Expect("<"));
  PALLADION_RETURN_IF_ERROR(ParseSpace(&type->space));
  PALLADION_RETURN_IF_ERROR(in_.Expect(","));
  PALLADION_RETURN_IF_ERROR(ParseElement(type));
  if (in_.token().Is("{")) {
    if (type->element == ElementKind::kBarrier || type->element == ElementKind::kClusterBarrier) {
      return in_.Expected("`>`", "a barrier's attributes stand before its dimensions: barrier{arrivals=1}[2]");
    }
    AttrMap attrs;
    PALLADION_RETURN_IF_ERROR(attrs_.ParseAttrs(&attrs));
    type->attrs = ToString(attrs);
  }
  return in_.Expect(">");
}

absl::Status TypeParser::ParseElement(Type* type) {
  const std::optional<ElementKind> sync =
      in_.token().kind == TokenKind::kIdent ? SyncKindFromName(in_.token().text) : std::nullopt;
  if (sync.has_value()) {
    type->element = *sync;
    type->dtype = DType::kI32;
    PALLADION_RETURN_IF_ERROR(in_.Advance());
    if (in_.token().Is("{") && (*sync == ElementKind::kBarrier || *sync == ElementKind::kClusterBarrier)) {
      AttrMap attrs;
      PALLADION_RETURN_IF_ERROR(attrs_.ParseAttrs(&attrs));
      type->attrs = ToString(attrs);
    }
  } else if (in_.token().IsWord("key")) {
    type->dtype = DType::kU32;
    PALLADION_RETURN_IF_ERROR(in_.Advance());
    PALLADION_RETURN_IF_ERROR(in_.Expect("<"));
    PALLADION_RETURN_IF_ERROR(in_.ExpectName(TokenKind::kIdent, "the generator of the key", &type->key_impl));
    PALLADION_RETURN_IF_ERROR(in_.Expect(">"));
  } else {
    PALLADION_RETURN_IF_ERROR(ParseDType(&type->dtype));
  }
  return ParseDims(type);
}

absl::Status TypeParser::ParseDims(Type* type) {
  const Token start = in_.token();
  PALLADION_RETURN_IF_ERROR(in_.Expect("["));
  bool more = !in_.token().Is("]");
  std::int64_t count = 1;
  while (more) {
    if (type->rank() == kMaxRank)
      return in_.Limit(start, Cat("an array has more than ", kMaxRank, " dimensions; reshape it"));
    if (in_.token().kind == TokenKind::kValue) {
      ValueId operand;
      PALLADION_RETURN_IF_ERROR(names_.Lookup(in_.token(), &operand));
      type->dynamic.push_back({type->rank(), operand});
      type->shape.push_back(kDynamicDim);
      PALLADION_RETURN_IF_ERROR(in_.Advance());
    } else {
      std::int64_t& dim = type->shape.emplace_back();
      PALLADION_RETURN_IF_ERROR(in_.ParseCount(&dim));
      // Dimensions of size 0 are left out, so that the order of the dimensions does not decide what is refused.
      if (dim > 0 && count > kMaxElements / dim) {
        return in_.Limit(
            start, Cat("an array has more than ", kMaxElements, " elements (2^36); split it into several arrays"));
      }
      if (dim > 0) count *= dim;
      if (sizeof(std::size_t) < sizeof(std::int64_t) && count > kMostOf32Bits) {
        return in_.Limit(start, Cat("an array has more than ", kMostOf32Bits,
                                    " elements (2^28), the most of this 32-bit build; use the native command"));
      }
    }
    PALLADION_RETURN_IF_ERROR(in_.Accept(",", &more));
  }
  return in_.Expect("]");
}

}  // namespace palladion
