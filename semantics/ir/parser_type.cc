// Types, attributes and array constants.
#include <bit>
#include <cstring>

#include "semantics/base/cat.h"
#include "semantics/ir/literal.h"
#include "semantics/ir/parser.h"
#include "semantics/ir/parser_state.h"
#include "semantics/tensor/tensor.h"

namespace palladion {
namespace {

int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

// Types narrower than a byte leave bits of theirs unused; what may stand there is what the type's operations write.
bool IsElement(DType dtype, std::byte byte) {
  const int bits = Info(dtype).bits;
  if (bits >= 8) return true;
  const int value = std::to_integer<int>(byte);
  if (!IsSigned(dtype)) return value >> bits == 0;
  const int high = static_cast<std::int8_t>(value) >> (bits - 1);
  return high == 0 || high == -1;
}

std::optional<ElementKind> SyncKindFromName(std::string_view name) {
  for (int i = 1; i <= static_cast<int>(ElementKind::kBarrierSem); ++i) {
    if (Name(static_cast<ElementKind>(i)) == name) return static_cast<ElementKind>(i);
  }
  return std::nullopt;
}

}  // namespace

absl::Status Parser::ParseDType(DType* dtype) {
  const std::optional<DType> found = token_.kind == TokenKind::kIdent ? DTypeFromName(token_.text) : std::nullopt;
  if (!found.has_value()) return Expected("an element type", "docs/dtypes.md lists them: f32, bf16, i32, bool, ...");
  *dtype = *found;
  return Advance();
}

absl::Status Parser::ParseSpace(Space* space) {
  const std::optional<Space> found = token_.kind == TokenKind::kIdent ? SpaceFromName(token_.text) : std::nullopt;
  if (!found.has_value()) {
    return Expected("a memory space",
                    "write one of default any gmem smem tmem regs hbm vmem vmem_shared cmem semaphore "
                    "host index key error");
  }
  *space = *found;
  return Advance();
}

absl::Status Parser::ParseType(Type* type) {
  PALLADION_RETURN_IF_ERROR(CountNode());
  if (token_.IsWord("token")) {
    type->kind = TypeKind::kToken;
    return Advance();
  }
  if (!token_.IsWord("ref")) {
    const bool is_key = token_.IsWord("key");
    type->kind = is_key ? TypeKind::kKey : TypeKind::kArray;
    PALLADION_RETURN_IF_ERROR(Accept("~", &type->weak));
    const Token at = token_;
    PALLADION_RETURN_IF_ERROR(ParseElement(type));
    if (type->element != ElementKind::kData) {
      return Error(at, Cat("expected the type of a value, found ", Describe(at),
                           ", which only a ref holds; write ref<semaphore,", at.text, "[]>"));
    }
    if (type->weak && !type->key_impl.empty()) return Error(at, "expected an element type after `~`, found `key`");
    return absl::OkStatus();
  }
  type->kind = TypeKind::kRef;
  PALLADION_RETURN_IF_ERROR(Advance());
  PALLADION_RETURN_IF_ERROR(Expect("<"));
  PALLADION_RETURN_IF_ERROR(ParseSpace(&type->space));
  PALLADION_RETURN_IF_ERROR(Expect(","));
  PALLADION_RETURN_IF_ERROR(ParseElement(type));
  if (token_.Is("{")) {
    if (type->element == ElementKind::kBarrier || type->element == ElementKind::kClusterBarrier) {
      return Expected("`>`", "a barrier's attributes stand before its dimensions: barrier{arrivals=1}[2]");
    }
    AttrMap attrs;
    PALLADION_RETURN_IF_ERROR(ParseAttrs(&attrs));
    type->attrs = ToString(attrs);
  }
  return Expect(">");
}

absl::Status Parser::ParseElement(Type* type) {
  const std::optional<ElementKind> sync =
      token_.kind == TokenKind::kIdent ? SyncKindFromName(token_.text) : std::nullopt;
  if (sync.has_value()) {
    type->element = *sync;
    type->dtype = DType::kI32;
    PALLADION_RETURN_IF_ERROR(Advance());
    if (token_.Is("{") && (*sync == ElementKind::kBarrier || *sync == ElementKind::kClusterBarrier)) {
      AttrMap attrs;
      PALLADION_RETURN_IF_ERROR(ParseAttrs(&attrs));
      type->attrs = ToString(attrs);
    }
  } else if (token_.IsWord("key")) {
    type->dtype = DType::kU32;
    PALLADION_RETURN_IF_ERROR(Advance());
    PALLADION_RETURN_IF_ERROR(Expect("<"));
    PALLADION_RETURN_IF_ERROR(ExpectName(TokenKind::kIdent, "the generator of the key", &type->key_impl));
    PALLADION_RETURN_IF_ERROR(Expect(">"));
  } else {
    PALLADION_RETURN_IF_ERROR(ParseDType(&type->dtype));
  }
  return ParseDims(type);
}

absl::Status Parser::ParseDims(Type* type) {
  const Token start = token_;
  PALLADION_RETURN_IF_ERROR(Expect("["));
  bool more = !token_.Is("]");
  std::int64_t count = 1;
  while (more) {
    if (type->rank() == kMaxRank)
      return Limit(start, Cat("an array has more than ", kMaxRank, " dimensions; reshape it"));
    if (token_.kind == TokenKind::kValue) {
      ValueId operand;
      PALLADION_RETURN_IF_ERROR(Lookup(token_, &operand));
      type->dynamic.push_back({type->rank(), operand});
      type->shape.push_back(kDynamicDim);
      PALLADION_RETURN_IF_ERROR(Advance());
    } else {
      std::int64_t& dim = type->shape.emplace_back();
      PALLADION_RETURN_IF_ERROR(ParseCount(&dim));
      // Dimensions of size 0 are left out, so that the order of the dimensions does not decide what is refused.
      if (dim > 0 && count > kMaxElements / dim) {
        return Limit(start,
                     Cat("an array has more than ", kMaxElements, " elements (2^36); split it into several arrays"));
      }
      if (dim > 0) count *= dim;
    }
    PALLADION_RETURN_IF_ERROR(Accept(",", &more));
  }
  return Expect("]");
}

absl::Status Parser::ParseAttrs(AttrMap* attrs) {
  if (++attr_depth_ > kMaxDepth)
    return Limit(token_, Cat("attributes are nested more than ", kMaxDepth, " deep; flatten them"));
  PALLADION_RETURN_IF_ERROR(Expect("{"));
  bool more = !token_.Is("}");
  while (more) {
    if (token_.kind != TokenKind::kIdent) return Expected("an attribute's name");
    if (Find(*attrs, token_.text) != nullptr) return Expected("a new attribute", "this one is already given");
    if (attrs->size() == kMaxAttrs)
      return Limit(token_, Cat("an instruction or property has more than ", kMaxAttrs, " attributes"));
    AttrEntry& entry = attrs->emplace_back();
    entry.first.assign(token_.text);
    PALLADION_RETURN_IF_ERROR(Advance());
    PALLADION_RETURN_IF_ERROR(Expect("="));
    PALLADION_RETURN_IF_ERROR(ParseAttr(&entry.second));
    PALLADION_RETURN_IF_ERROR(Accept(",", &more));
  }
  --attr_depth_;
  return Expect("}");
}

absl::Status Parser::ParseAttrList(AttrList* list) {
  if (++attr_depth_ > kMaxDepth)
    return Limit(token_, Cat("attributes are nested more than ", kMaxDepth, " deep; flatten them"));
  PALLADION_RETURN_IF_ERROR(Expect("["));
  bool more = !token_.Is("]");
  while (more) {
    PALLADION_RETURN_IF_ERROR(ParseAttr(&list->emplace_back()));
    PALLADION_RETURN_IF_ERROR(Accept(",", &more));
  }
  --attr_depth_;
  return Expect("]");
}

absl::Status Parser::ParseAttrNumber(Attr* attr) {
  bool negative = token_.Is("-");
  if (negative) PALLADION_RETURN_IF_ERROR(Peek());
  const Token& number = negative ? second_ : token_;
  if (number.kind == TokenKind::kNumber && number.text.find_first_not_of("0123456789") == std::string_view::npos) {
    return ParseInt(&attr->value.emplace<std::int64_t>());
  }
  PALLADION_RETURN_IF_ERROR(Accept("-", &negative));
  if (token_.kind != TokenKind::kNumber && !token_.IsWord("inf")) return Expected("a number");
  absl::StatusOr<ElementBytes> bytes = ParseNumber(DType::kF64, negative, token_.text);
  if (!bytes.ok()) return Error(token_, ToStd(bytes.status().message()));
  std::memcpy(&attr->value.emplace<double>(), bytes->data(), sizeof(double));
  return Advance();
}

absl::Status Parser::ParseAttr(Attr* attr) {
  PALLADION_RETURN_IF_ERROR(CountNode());
  if (token_.Is("[")) return ParseAttrList(&attr->value.emplace<AttrList>());
  if (token_.Is("{")) return ParseAttrs(&attr->value.emplace<AttrMap>());
  if (token_.kind == TokenKind::kString) return ParseString(&attr->value.emplace<std::string>());
  if (token_.kind == TokenKind::kNumber || token_.Is("-") || token_.IsWord("inf")) return ParseAttrNumber(attr);
  if (token_.kind != TokenKind::kIdent) {
    return Expected("an attribute's value", "write a number, a string, true, false, none, a word, [...] or {...}");
  }
  if (token_.text == "true" || token_.text == "false") {
    attr->value = token_.text == "true";
  } else if (token_.text == "nan") {
    attr->value = std::bit_cast<double>(std::uint64_t{0x7ff8000000000000});
  } else if (token_.text != "none") {
    attr->value.emplace<AttrIdent>().name.assign(token_.text);
  }
  return Advance();
}

absl::Status Parser::ParseDenseList(const Token& start, DType dtype, std::int64_t count,
                                    std::vector<std::byte>* bytes) {
  PALLADION_RETURN_IF_ERROR(Expect("["));
  bool more = !token_.Is("]");
  std::int64_t found = 0;
  while (more) {
    bool negative = false;
    PALLADION_RETURN_IF_ERROR(Accept("-", &negative));
    if (token_.kind != TokenKind::kNumber && token_.kind != TokenKind::kIdent) return Expected("a number");
    absl::StatusOr<ElementBytes> element = ParseNumber(dtype, negative, token_.text);
    if (!element.ok()) return Error(token_, ToStd(element.status().message()));
    if (++found > count) return Error(start, Cat("expected ", count, " numbers, as the shape says, found more"));
    bytes->insert(bytes->end(), element->begin(), element->begin() + static_cast<std::ptrdiff_t>(StorageBytes(dtype)));
    PALLADION_RETURN_IF_ERROR(Advance());
    PALLADION_RETURN_IF_ERROR(Accept(",", &more));
  }
  if (found != count) return Error(start, Cat("expected ", count, " numbers, as the shape says, found ", found));
  return Expect("]");
}

absl::Status Parser::ParseDenseHex(const Token& start, DType dtype, std::int64_t count, std::vector<std::byte>* bytes) {
  PALLADION_RETURN_IF_ERROR(Advance());
  if (token_.kind != TokenKind::kString) return Expected("a string of hex digits");
  const std::string_view digits = token_.text.substr(1, token_.text.size() - 2);
  // count is at most 2^36 and an element at most 8 bytes: no overflow.
  const std::uint64_t expected = static_cast<std::uint64_t>(count) * StorageBytes(dtype) * 2;
  if (digits.size() != expected) {
    return Error(start, Cat("expected ", expected, " hex digits (", count, " elements of ", StorageBytes(dtype),
                            " bytes, little-endian), found ", digits.size()));
  }
  bytes->reserve(digits.size() / 2);
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    const int high = HexValue(digits[i]);
    const int low = HexValue(digits[i + 1]);
    if (high < 0 || low < 0) return Error(token_, "expected digits 0-9 and a-f");
    bytes->push_back(static_cast<std::byte>(high * 16 + low));
    if (!IsElement(dtype, bytes->back())) {
      return Error(token_, Cat("expected bytes that are a ", Name(dtype), ", found ", digits.substr(i, 2),
                               "; its high bits repeat the sign of a signed type and are 0 otherwise"));
    }
  }
  return Advance();
}

absl::Status Parser::ParseDense(std::shared_ptr<const Tensor>* out) {
  PALLADION_RETURN_IF_ERROR(CountNode());
  const Token start = token_;
  if (!start.IsWord("dense")) return Expected("`dense<`");
  PALLADION_RETURN_IF_ERROR(Advance());
  PALLADION_RETURN_IF_ERROR(Expect("<"));
  Type type;
  PALLADION_RETURN_IF_ERROR(ParseDType(&type.dtype));
  PALLADION_RETURN_IF_ERROR(ParseDims(&type));
  if (!type.dynamic.empty()) return Error(start, "expected a constant's dimensions as numbers, found a value");
  const std::int64_t count = NumElements(type.shape);
  std::vector<std::byte> bytes;  // grows with the digits read, so that no short text asks for much memory
  PALLADION_RETURN_IF_ERROR(token_.IsWord("hex") ? ParseDenseHex(start, type.dtype, count, &bytes)
                                                 : ParseDenseList(start, type.dtype, count, &bytes));
  PALLADION_ASSIGN_OR_RETURN(Tensor tensor, Tensor::CreateUninitialized(type.dtype, std::move(type.shape)));
  if (!bytes.empty()) std::memcpy(tensor.bytes(), bytes.data(), bytes.size());
  *out = std::make_shared<const Tensor>(std::move(tensor));
  return Expect(">");
}

}  // namespace palladion
