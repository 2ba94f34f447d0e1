#include "semantics/ir/lexer.h"

#include "absl/strings/ascii.h"
#include "semantics/base/cat.h"

namespace palladion {
namespace {

bool IsNameByte(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$'; }
bool IsWordStart(char c) { return absl::ascii_isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool IsDigit(char c) { return absl::ascii_isdigit(static_cast<unsigned char>(c)); }

// The string token's text from its opening quote, its closing quote included; npos when the line ends first.
std::size_t StringEnd(std::string_view text, std::size_t from) {
  for (std::size_t i = from + 1; i < text.size() && text[i] != '\n'; ++i) {
    if (text[i] == '"') return i + 1;
    if (text[i] == '\\' && i + 1 < text.size() && text[i + 1] != '\n') ++i;
  }
  return std::string_view::npos;
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

void AppendUtf8(unsigned code, std::string* out) {
  if (code < 0x80) {
    out->push_back(static_cast<char>(code));
  } else if (code < 0x800) {
    out->push_back(static_cast<char>(0xc0 | (code >> 6)));
    out->push_back(static_cast<char>(0x80 | (code & 0x3f)));
  } else {
    out->push_back(static_cast<char>(0xe0 | (code >> 12)));
    out->push_back(static_cast<char>(0x80 | ((code >> 6) & 0x3f)));
    out->push_back(static_cast<char>(0x80 | (code & 0x3f)));
  }
}

}  // namespace

std::string Describe(const Token& token) {
  switch (token.kind) {
    case TokenKind::kEnd:
      return "the end of the text";
    case TokenKind::kIdent:
      return Cat("`", token.text, "`");
    case TokenKind::kNumber:
      return Cat("the number ", token.text.substr(0, 40));
    case TokenKind::kString:
      return Cat("the string ", token.text.substr(0, 40));
    case TokenKind::kValue:
      return Cat("`%", token.text, "`");
    case TokenKind::kSymbol:
      return Cat("`@", token.text, "`");
    case TokenKind::kLocId:
      return Cat("`#", token.text, "`");
    case TokenKind::kPunct:
      return Cat("`", token.text, "`");
  }
  return "";
}

absl::Status Lexer::ErrorAt(std::size_t at, std::string_view message) const {
  return absl::InvalidArgumentError(Cat(path_, ":", line_, ":", at - line_start_ + 1, ": ", message));
}

void Lexer::SkipBlanks() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '\n') {
      ++line_;
      line_start_ = at_ + 1;
    } else if (c == '/' && at_ + 1 < text_.size() && text_[at_ + 1] == '/') {
      while (at_ + 1 < text_.size() && text_[at_ + 1] != '\n') ++at_;
    } else if (c != ' ' && c != '\t' && c != '\r') {
      return;
    }
    ++at_;
  }
}

std::size_t Lexer::NameEnd(std::size_t from, bool dots) const {
  while (from < text_.size() && (IsNameByte(text_[from]) || (dots && text_[from] == '.'))) ++from;
  return from;
}

std::size_t Lexer::NumberEnd(std::size_t from) const {
  const auto byte = [&](std::size_t i) { return i < text_.size() ? text_[i] : '\0'; };
  if (byte(from) == '0' && byte(from + 1) == 'x') {
    from += 2;
    while (HexDigit(byte(from)) >= 0) ++from;
    return from;
  }
  while (IsDigit(byte(from))) ++from;
  if (byte(from) == '.') {
    ++from;
    while (IsDigit(byte(from))) ++from;
  }
  if (byte(from) == 'e' || byte(from) == 'E') {
    const std::size_t digits = from + (byte(from + 1) == '+' || byte(from + 1) == '-' ? 2 : 1);
    if (IsDigit(byte(digits))) {
      from = digits;
      while (IsDigit(byte(from))) ++from;
    }
  }
  return from;
}

absl::Status Lexer::Next(Token* token) {
  SkipBlanks();
  token->line = line_;
  token->column = static_cast<int>(at_ - line_start_ + 1);
  if (at_ >= text_.size()) {
    token->kind = TokenKind::kEnd;
    token->text = {};
    return absl::OkStatus();
  }
  const char c = text_[at_];
  std::size_t start = at_;
  std::size_t end = at_ + 1;
  if (IsWordStart(c)) {
    token->kind = TokenKind::kIdent;
    while (end < text_.size() && (IsWordStart(text_[end]) || IsDigit(text_[end]))) ++end;
  } else if (IsDigit(c)) {
    token->kind = TokenKind::kNumber;
    end = NumberEnd(at_);
  } else if (c == '%' || c == '@' || c == '#') {
    token->kind = c == '%' ? TokenKind::kValue : c == '@' ? TokenKind::kSymbol : TokenKind::kLocId;
    start = at_ + 1;
    end = NameEnd(start, /*dots=*/c != '%');  // after %v a dot starts a view
    if (end == start) return ErrorAt(at_, Cat("expected a name after `", std::string_view(&c, 1), "`"));
  } else if (c == '"') {
    token->kind = TokenKind::kString;
    end = StringEnd(text_, at_);
    if (end == std::string_view::npos) {
      return ErrorAt(at_, "this string does not end on its line; close it with `\"` and write a new line as `\\n`");
    }
  } else if (c == '+' && text_.substr(at_, 2) == "+:") {
    token->kind = TokenKind::kPunct;
    end = at_ + 2;
  } else if (std::string_view("()[]{}<>,;:=.*~-").find(c) != std::string_view::npos) {
    token->kind = TokenKind::kPunct;
  } else {
    return ErrorAt(at_, Cat("the byte 0x", absl::Hex(static_cast<unsigned char>(c), absl::kZeroPad2),
                            " starts no word, number, name or sign of kernel text; remove it"));
  }
  token->text = text_.substr(start, end - start);
  at_ = end;
  return absl::OkStatus();
}

absl::StatusOr<std::string> Unquote(std::string_view quoted) {
  const std::string_view body = quoted.substr(1, quoted.size() - 2);
  std::string out;
  out.reserve(body.size());
  for (std::size_t i = 0; i < body.size(); ++i) {
    if (body[i] != '\\') {
      out.push_back(body[i]);
      continue;
    }
    const char c = ++i < body.size() ? body[i] : '\0';
    const int digits = c == 'x' ? 2 : c == 'u' ? 4 : 0;
    unsigned code = 0;
    for (int d = 0; d < digits; ++d) {
      const int value = i + 1 < body.size() ? HexDigit(body[i + 1]) : -1;
      if (value < 0) return absl::InvalidArgumentError("expected hex digits after `\\x` (two) or `\\u` (four)");
      code = code * 16 + static_cast<unsigned>(value);
      ++i;
    }
    if (c == 'u' && code >= 0xd800 && code < 0xe000) {
      return absl::InvalidArgumentError("`\\u` names half of a surrogate pair; write the character itself as UTF-8");
    }
    switch (c) {
      case '"':
        out.push_back('"');
        break;
      case '\\':
        out.push_back('\\');
        break;
      case 'n':
        out.push_back('\n');
        break;
      case 'r':
        out.push_back('\r');
        break;
      case 't':
        out.push_back('\t');
        break;
      case 'x':
        out.push_back(static_cast<char>(code));
        break;
      case 'u':
        AppendUtf8(code, &out);
        break;
      default:
        return absl::InvalidArgumentError(
            "a string has an unknown escape; write one of \\\" \\\\ \\n \\r \\t \\xHH \\uHHHH");
    }
  }
  return out;
}

std::string Quote(std::string_view bytes) {
  std::string out = "\"";
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out.push_back('\\');
      out.push_back(c);
    } else if (c == '\n') {
      out += "\\n";
    } else if (byte < 0x20 || byte == 0x7f) {
      Append(&out, "\\x", absl::Hex(byte, absl::kZeroPad2));
    } else {
      out.push_back(c);
    }
  }
  out.push_back('"');
  return out;
}

}  // namespace palladion
