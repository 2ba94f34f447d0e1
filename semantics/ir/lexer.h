// Tokens of kernel text, one at a time, with their place. Based on: docs/spec/kernel-text.md.
// It does not know the grammar: that a word is a primitive or a number fits its type is the parser's to find out.
#ifndef PALLADION_SEMANTICS_IR_LEXER_H_
#define PALLADION_SEMANTICS_IR_LEXER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "semantics/base/status.h"

namespace palladion {

enum class TokenKind : std::uint8_t {
  kEnd,
  kIdent,   // a word
  kNumber,  // digits, a decimal fraction, or 0x and hex digits; never a sign
  kString,  // with its quotes and escapes
  kValue,   // %name
  kSymbol,  // @name
  kLocId,   // #name
  kPunct,   // one of ( ) [ ] { } < > , ; : = . * ~ - and +:
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string_view text;  // names without their sigil; part of the lexer's text
  int line = 1;
  int column = 1;  // in bytes, from 1

  bool Is(std::string_view punct) const { return kind == TokenKind::kPunct && text == punct; }
  bool IsWord(std::string_view word) const { return kind == TokenKind::kIdent && text == word; }
};

// "the word `grid`", "`;`", "the end of the text": what an error says it found.
std::string Describe(const Token& token);

class Lexer {
 public:
  // `text` must outlive the lexer and its tokens. `path` is for errors.
  Lexer(std::string_view text, std::string_view path) : text_(text), path_(path) {}

  // The next token; kEnd again and again at the end. InvalidArgument with the place: a byte that starts no token, a
  // string that does not end on its line, a sigil without a name.
  absl::Status Next(Token* token);

  std::string_view path() const { return path_; }

 private:
  void SkipBlanks();
  std::size_t NameEnd(std::size_t from, bool dots) const;
  std::size_t NumberEnd(std::size_t from) const;
  absl::Status ErrorAt(std::size_t at, std::string_view message) const;

  std::string_view text_;
  std::string_view path_;
  std::size_t at_ = 0;
  std::size_t line_start_ = 0;
  int line_ = 1;
};

// The bytes that a string token stands for, and back. Escapes: \" \\ \n \r \t \xHH \uHHHH (written as UTF-8).
absl::StatusOr<std::string> Unquote(std::string_view quoted);
std::string Quote(std::string_view bytes);

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_IR_LEXER_H_
