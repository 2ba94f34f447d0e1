#include "semantics/ir/parser.h"

#include <charconv>

#include "semantics/base/cat.h"
#include "semantics/ir/parser_state.h"

namespace palladion {

absl::Status Parser::Advance() {
  if (peeked_) {
    token_ = second_;
    peeked_ = false;
    return absl::OkStatus();
  }
  return lexer_.Next(&token_);
}

absl::Status Parser::Peek() {
  if (peeked_) return absl::OkStatus();
  peeked_ = true;
  return lexer_.Next(&second_);
}

absl::Status Parser::Error(const Token& at, std::string_view message) const {
  return absl::InvalidArgumentError(Cat(lexer_.path(), ":", at.line, ":", at.column, ": ", message));
}

absl::Status Parser::Limit(const Token& at, std::string_view message) const {
  return absl::ResourceExhaustedError(Cat(lexer_.path(), ":", at.line, ":", at.column, ": ", message));
}

absl::Status Parser::Expected(std::string_view what, std::string_view remedy) const {
  return Error(token_, Cat("expected ", what, ", found ", Describe(token_), remedy.empty() ? "" : "; ", remedy));
}

absl::Status Parser::Expect(std::string_view punct) {
  if (!token_.Is(punct)) return Expected(Cat("`", punct, "`"));
  return Advance();
}

absl::Status Parser::Accept(std::string_view punct, bool* found) {
  *found = token_.Is(punct);
  return *found ? Advance() : absl::OkStatus();
}

absl::Status Parser::AcceptWord(std::string_view word, bool* found) {
  *found = token_.IsWord(word);
  return *found ? Advance() : absl::OkStatus();
}

absl::Status Parser::ExpectName(TokenKind kind, std::string_view what, std::string* name) {
  if (token_.kind != kind) return Expected(what);
  name->assign(token_.text);
  return Advance();
}

absl::Status Parser::ParseString(std::string* out) {
  if (token_.kind != TokenKind::kString) return Expected("a string in double quotes");
  absl::StatusOr<std::string> bytes = Unquote(token_.text);
  if (!bytes.ok()) return Error(token_, ToStd(bytes.status().message()));
  *out = *std::move(bytes);
  return Advance();
}

absl::Status Parser::ParseInt(std::int64_t* out) {
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

absl::Status Parser::ParseCount(std::int64_t* out) {
  const Token at = token_;
  PALLADION_RETURN_IF_ERROR(ParseInt(out));
  if (*out < 0) return Error(at, Cat("expected a whole number, 0 or more, found ", *out));
  return absl::OkStatus();
}

absl::Status Parser::ParseInts(std::vector<std::int64_t>* out) {
  PALLADION_RETURN_IF_ERROR(Expect("["));
  bool more = !token_.Is("]");
  while (more) {
    PALLADION_RETURN_IF_ERROR(ParseInt(&out->emplace_back()));
    PALLADION_RETURN_IF_ERROR(Accept(",", &more));
  }
  return Expect("]");
}

absl::Status Parser::CountNode() {
  if (++nodes_ <= kMaxNodes) return absl::OkStatus();
  return Limit(token_, Cat("the text has more than ", kMaxNodes,
                           " arguments, index entries and attributes; split it into several texts"));
}

absl::Status Parser::ParseVersion() {
  if (!token_.IsWord("pkir")) return Expected("`pkir`", "a kernel text starts with `pkir 1;`");
  PALLADION_RETURN_IF_ERROR(Advance());
  const Token at = token_;
  std::int64_t version = 0;
  PALLADION_RETURN_IF_ERROR(ParseInt(&version));
  if (version != 1) {
    return Error(at,
                 Cat("expected version 1, found version ", version, "; read this text with the release that wrote it"));
  }
  return Expect(";");
}

absl::Status Parser::ParseLine(std::string_view what, int* out) {
  const Token at = token_;
  std::int64_t value = 0;
  PALLADION_RETURN_IF_ERROR(ParseCount(&value));
  if (value > 1'000'000'000) return Error(at, Cat("expected ", what, " number below 10^9, found ", value));
  *out = static_cast<int>(value);
  return absl::OkStatus();
}

absl::Status Parser::ParseLoc(Loc* loc) {
  if (token_.kind != TokenKind::kLocId) return Expected("the `#name` of a file");
  const auto file = files_.find(ToAbsl(token_.text));
  if (file == files_.end()) return Expected("the `#name` of a file above", "declare it: file #name = \"path.py\";");
  loc->file.value = file->second;
  PALLADION_RETURN_IF_ERROR(Advance());
  PALLADION_RETURN_IF_ERROR(Expect(":"));
  PALLADION_RETURN_IF_ERROR(ParseLine("a line", &loc->line));
  bool found = false;
  PALLADION_RETURN_IF_ERROR(Accept(":", &found));
  if (found) PALLADION_RETURN_IF_ERROR(ParseLine("a column", &loc->column));
  PALLADION_RETURN_IF_ERROR(AcceptWord("fn", &found));
  if (found) PALLADION_RETURN_IF_ERROR(ParseString(&loc->function));
  PALLADION_RETURN_IF_ERROR(AcceptWord("via", &found));
  if (!found) return absl::OkStatus();
  if (token_.kind != TokenKind::kLocId) return Expected("the `#name` of the caller's location");
  return ParseOptionalLoc(&loc->via);
}

absl::Status Parser::ParseOptionalLoc(LocId* loc) {
  if (token_.kind != TokenKind::kLocId) return absl::OkStatus();
  const auto found = locs_.find(ToAbsl(token_.text));
  if (found == locs_.end()) return Expected("the `#name` of a location above", "declare it: loc #name = #file:line;");
  loc->value = found->second;
  return Advance();
}

absl::Status Parser::ParseDecl(bool* found) {
  const Token word = token_;
  *found = word.IsWord("producer") || word.IsWord("file") || word.IsWord("loc") || word.IsWord("const");
  if (!*found) return absl::OkStatus();
  PALLADION_RETURN_IF_ERROR(CountNode());
  PALLADION_RETURN_IF_ERROR(Advance());
  if (word.IsWord("producer")) {
    PALLADION_RETURN_IF_ERROR(ParseString(&module_.producer));
    return Expect(";");
  }
  const bool is_const = word.IsWord("const");
  if (token_.kind != (is_const ? TokenKind::kSymbol : TokenKind::kLocId)) {
    return Expected(is_const ? "the constant's `@name`" : "a `#name`");
  }
  const Token name = token_;
  Names& names = is_const ? consts_ : word.IsWord("file") ? files_ : locs_;
  const std::size_t id = is_const              ? module_.consts.size()
                         : word.IsWord("file") ? module_.files.size()
                                               : module_.locs.size();
  PALLADION_RETURN_IF_ERROR(Advance());
  PALLADION_RETURN_IF_ERROR(Expect("="));
  if (is_const) {
    NamedConst& constant = module_.consts.emplace_back();
    constant.name.assign(name.text);
    PALLADION_RETURN_IF_ERROR(ParseDense(&constant.value));
  } else if (word.IsWord("file")) {
    module_.file_names.emplace_back(name.text);
    PALLADION_RETURN_IF_ERROR(ParseString(&module_.files.emplace_back()));
  } else {
    module_.loc_names.emplace_back(name.text);
    PALLADION_RETURN_IF_ERROR(ParseLoc(&module_.locs.emplace_back()));
  }
  // Only now: a location is not its own caller.
  if (!names.emplace(ToAbsl(name.text), static_cast<std::int32_t>(id)).second) {
    return Error(name, Cat("expected a new name, found ", Describe(name), ", which is declared above; rename one"));
  }
  return Expect(";");
}

absl::StatusOr<Module> Parser::Run() {
  module_.path.assign(lexer_.path());
  PALLADION_RETURN_IF_ERROR(Advance());
  PALLADION_RETURN_IF_ERROR(ParseVersion());
  for (bool found = true; found;) PALLADION_RETURN_IF_ERROR(ParseDecl(&found));
  do {
    if (!token_.IsWord("kernel")) {
      return Expected(module_.kernels.empty() ? "a declaration or `kernel`" : "`kernel` or the end of the text");
    }
    PALLADION_RETURN_IF_ERROR(ParseKernel());
  } while (token_.kind != TokenKind::kEnd);
  return std::move(module_);
}

absl::StatusOr<AttrMap> Parser::RunAttrs() {
  AttrMap attrs;
  PALLADION_RETURN_IF_ERROR(Advance());
  PALLADION_RETURN_IF_ERROR(ParseAttrs(&attrs));
  if (token_.kind != TokenKind::kEnd) return Expected("the end of the attributes");
  return attrs;
}

absl::StatusOr<AttrMap> ParseAttrMap(std::string_view text) { return Parser(text, "<attributes>").RunAttrs(); }

absl::StatusOr<Module> Parse(std::string_view text, std::string_view path) {
  if (text.size() > kMaxTextBytes) {
    return absl::ResourceExhaustedError(Cat(path, ": the text has ", text.size(), " bytes, more than the limit of ",
                                            kMaxTextBytes, "; pass large constants as inputs of the kernel"));
  }
  return Parser(text, path).Run();
}

}  // namespace palladion
