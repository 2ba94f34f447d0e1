// A parser's position in a text, with one token of lookahead (two where a name may be an argument's), and its
// expectations. Every failed expectation is one error with the place of the token found. It also counts the nodes
// created from the text, whose number is limited.
#ifndef PALLADION_SEMANTICS_IR_TEXT_CURSOR_H_
#define PALLADION_SEMANTICS_IR_TEXT_CURSOR_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "semantics/base/status.h"
#include "semantics/ir/lexer.h"

namespace palladion {

class TextCursor {
 public:
  TextCursor(std::string_view text, std::string_view path) : lexer_(text, path) {}

  const Token& token() const { return token_; }    // the current one
  const Token& second() const { return second_; }  // the one after it, once peeked
  std::string_view path() const { return lexer_.path(); }
  absl::Status Advance();
  absl::Status Peek();

  absl::Status Error(const Token& at, std::string_view message) const;
  absl::Status Limit(const Token& at, std::string_view message) const;
  absl::Status Expected(std::string_view what, std::string_view remedy = "") const;  // at the current token

  absl::Status Expect(std::string_view punct);
  absl::Status Accept(std::string_view punct, bool* found);
  absl::Status AcceptWord(std::string_view word, bool* found);
  absl::Status ExpectName(TokenKind kind, std::string_view what, std::string* name);
  absl::Status ParseString(std::string* out);
  absl::Status ParseInt(std::int64_t* out);    // with sign
  absl::Status ParseCount(std::int64_t* out);  // 0 or more
  absl::Status ParseInts(std::vector<std::int64_t>* out);
  absl::Status ParseLine(std::string_view what, int* out);  // a line's or a column's number
  absl::Status CountNode();

 private:
  Lexer lexer_;
  Token token_, second_;
  bool peeked_ = false;
  int nodes_ = 0;
};

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_IR_TEXT_CURSOR_H_
