#include "semantics/ir/constant_parser.h"

#include <cstring>
#include <utility>

#include "semantics/base/cat.h"
#include "semantics/ir/literal.h"

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

}  // namespace

absl::Status ConstantParser::ParseDenseList(const Token& start, DType dtype, std::int64_t count,
                                            std::vector<std::byte>* bytes) {
  PALLADION_RETURN_IF_ERROR(in_.Expect("["));
  bool more = !in_.token().Is("]");
  std::int64_t found = 0;
  while (more) {
    bool negative = false;
    PALLADION_RETURN_IF_ERROR(in_.Accept("-", &negative));
    if (in_.token().kind != TokenKind::kNumber && in_.token().kind != TokenKind::kIdent)
      return in_.Expected("a number");
    absl::StatusOr<ElementBytes> element = ParseNumber(dtype, negative, in_.token().text);
    if (!element.ok()) return in_.Error(in_.token(), ToStd(element.status().message()));
    if (++found > count) return in_.Error(start, Cat("expected ", count, " numbers, as the shape says, found more"));
    bytes->insert(bytes->end(), element->begin(), element->begin() + static_cast<std::ptrdiff_t>(StorageBytes(dtype)));
    PALLADION_RETURN_IF_ERROR(in_.Advance());
    PALLADION_RETURN_IF_ERROR(in_.Accept(",", &more));
  }
  if (found != count) return in_.Error(start, Cat("expected ", count, " numbers, as the shape says, found ", found));
  return in_.Expect("]");
}

absl::Status ConstantParser::ParseDenseHex(const Token& start, DType dtype, std::int64_t count,
                                           std::vector<std::byte>* bytes) {
  PALLADION_RETURN_IF_ERROR(in_.Advance());
  if (in_.token().kind != TokenKind::kString) return in_.Expected("a string of hex digits");
  const std::string_view digits = in_.token().text.substr(1, in_.token().text.size() - 2);
  // count is at most 2^36 and an element at most 8 bytes: no overflow.
  const std::uint64_t expected = static_cast<std::uint64_t>(count) * StorageBytes(dtype) * 2;
  if (digits.size() != expected) {
    return in_.Error(start, Cat("expected ", expected, " hex digits (", count, " elements of ", StorageBytes(dtype),
                                " bytes, little-endian), found ", digits.size()));
  }
  bytes->reserve(digits.size() / 2);
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    const int high = HexValue(digits[i]);
    const int low = HexValue(digits[i + 1]);
    if (high < 0 || low < 0) return in_.Error(in_.token(), "expected digits 0-9 and a-f");
    bytes->push_back(static_cast<std::byte>(high * 16 + low));
    if (!IsElement(dtype, bytes->back())) {
      return in_.Error(in_.token(), Cat("expected bytes that are a ", Name(dtype), ", found ", digits.substr(i, 2),
                                        "; its high bits repeat the sign of a signed type and are 0 otherwise"));
    }
  }
  return in_.Advance();
}

absl::Status ConstantParser::ParseDense(std::shared_ptr<const Tensor>* out) {
  PALLADION_RETURN_IF_ERROR(in_.CountNode());
  const Token start = in_.token();
  if (!start.IsWord("dense")) return in_.Expected("`dense<`");
  PALLADION_RETURN_IF_ERROR(in_.Advance());
  PALLADION_RETURN_IF_ERROR(in_.Expect("<"));
  Type type;
  PALLADION_RETURN_IF_ERROR(types_.ParseDType(&type.dtype));
  PALLADION_RETURN_IF_ERROR(types_.ParseDims(&type));
  if (!type.dynamic.empty()) return in_.Error(start, "expected a constant's dimensions as numbers, found a value");
  const std::int64_t count = NumElements(type.shape);
  std::vector<std::byte> bytes;  // grows with the digits read, so that no short text asks for much memory
  PALLADION_RETURN_IF_ERROR(in_.token().IsWord("hex") ? ParseDenseHex(start, type.dtype, count, &bytes)
                                                      : ParseDenseList(start, type.dtype, count, &bytes));
  PALLADION_ASSIGN_OR_RETURN(Tensor tensor, Tensor::CreateUninitialized(type.dtype, std::move(type.shape)));
  if (!bytes.empty()) std::memcpy(tensor.bytes(), bytes.data(), bytes.size());
  *out = std::make_shared<const Tensor>(std::move(tensor));
  return in_.Expect(">");
}

}  // namespace palladion
