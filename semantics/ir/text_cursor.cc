#include "semantics/ir/text_cursor.h"

#include <charconv>

#include "semantics/base/cat.h"
#include "semantics/ir/parser.h"

namespace palladion {

absl::Status TextCursor::Advance() {
  if (peeked_) {
    token_ = second_;
    peeked_ = false;
    return absl::OkStatus();
  }
  return lexer_.Next(&token_);
}

absl::Status TextCursor::Peek() {
  if (peeked_) return absl::OkStatus();
  peeked_ = true;
  return lexer_.Next(&second_);
}

absl::Status TextCursor::Error(const Token& at, std::string_view message) const {
  return absl::InvalidArgumentError(Cat(lexer_.path(), ":", at.line, ":", at.column, ": ", message));
}

absl::Status TextCursor::Limit(const Token& at, std::string_view message) const {
  return absl::ResourceExhaustedError(Cat(lexer_.path(), ":", at.line, ":", at.column, ": ", message));
}

absl::Status TextCursor::Expected(std::string_view what, std::string_view remedy) const {
  return Error(token_, Cat("expected ", what, ", found ", Describe(token_), remedy.empty() ? "" : "; ", remedy));
}

absl::Status TextCursor::Expect(std::string_view punct) {
  if (!token_.Is(punct)) return Expected(Cat("`", punct, "`"));
  return Advance();
}

absl::Status TextCursor::Accept(std::string_view punct, bool* found) {
  *found = token_.Is(punct);
  return *found ? Advance() : absl::OkStatus();
}

absl::Status TextCursor::AcceptWord(std::string_view word, bool* found) {
  *found = token_.IsWord(word);
  return *found ? Advance() : absl::OkStatus();
}

absl::Status TextCursor::ExpectName(TokenKind kind, std::string_view what, std::string* name) {
  if (token_.kind != kind) return Expected(what);
  name->assign(token_.text);
  return Advance();
}

absl::Status TextCursor::ParseString(std::string* out) {
  if (token_.kind != TokenKind::kString) return Expected("a string in double quotes");
  absl::StatusOr<std::string> bytes = Unquote(token_.text);
  if (!bytes.ok()) return Error(token_, ToStd(bytes.status().message()));
  *out = *std::move(bytes);
  return Advance();
}

absl::Status TextCursor::ParseInt(std::int64_t* out) {
  bool negative = false;
  PALLADION_RETURN_IF_ERROR(Accept("-", &negative));
  if (token_.kind != TokenKind::kNumber) return Expected("a whole number");
  std::uint64_t magnitude = 0;
  const char* const last = token_.text.data() + token_.text.size();
  const auto [end, error] = std::from_chars(token_.text.data(), last, magnitude);
  const std::uint64_t limit = (std::uint64_t{1} << 63) - (negative ? 0 : 1);
  if (error == std::errc() && end != last) return Expected("a whole number");
  if (error != std::errc() || magnitude > limit) return Expected("a whole number of at most 64 bits with its sign");
  *out = static_cast<std::int64_t>(negative ? std::uint64_t{0} - magnitude : magnitude);
  return Advance();
}

absl::Status TextCursor::ParseCount(std::int64_t* out) {
  const Token at = token_;
  PALLADION_RETURN_IF_ERROR(ParseInt(out));
  if (*out < 0) return Error(at, Cat("expected a whole number, 0 or more, found ", *out));
  return absl::OkStatus();
}

absl::Status TextCursor::ParseInts(std::vector<std::int64_t>* out) {
  PALLADION_RETURN_IF_ERROR(Expect("["));
  bool more = !token_.Is("]");
  while (more) {
    PALLADION_RETURN_IF_ERROR(ParseInt(&out->emplace_back()));
    PALLADION_RETURN_IF_ERROR(Accept(",", &more));
  }
  return Expect("]");
}

absl::Status TextCursor::ParseLine(std::string_view what, int* out) {
  const Token at = token_;
  std::int64_t value = 0;
  PALLADION_RETURN_IF_ERROR(ParseCount(&value));
  if (value > 1'000'000'000) return Error(at, Cat("expected ", what, " number below 10^9, found ", value));
  *out = static_cast<int>(value);
  return absl::OkStatus();
}

absl::Status TextCursor::CountNode() {
  if (++nodes_ <= kMaxNodes) return absl::OkStatus();
  return Limit(token_, Cat("the text has more than ", kMaxNodes,
                           " arguments, index entries and attributes; split it into several texts"));
}

}  // namespace palladion
