#include "semantics/ir/parser.h"

#include <utility>

#include "semantics/base/cat.h"
#include "semantics/ir/arg_parser.h"
#include "semantics/ir/constant_parser.h"
#include "semantics/ir/declarations.h"
#include "semantics/ir/kernel_parser.h"
#include "semantics/ir/region_parser.h"
#include "semantics/ir/text_cursor.h"
#include "semantics/ir/type_parser.h"
#include "semantics/ir/value_names.h"

namespace palladion {
namespace {

// A text. Recursive descent, one method for each production of docs/spec/kernel-text.md; every recursion counts its
// depth. Each part knows those before it.
class Parser {
 public:
  Parser(std::string_view text, std::string_view path) : in_(text, path) {}
  absl::StatusOr<Module> Run();

 private:
  absl::Status ParseVersion();

  Module module_;
  TextCursor in_;
  ValueNames names_{in_};
  TypeParser types_{in_, names_};
  ConstantParser constants_{in_, types_};
  Declarations declarations_{in_, constants_, module_};
  ArgParser args_{in_, names_, types_, constants_, declarations_};
  RegionParser regions_{in_, names_, types_, args_, declarations_};
  KernelParser kernels_{in_, names_, types_, regions_, declarations_};
};

absl::Status Parser::ParseVersion() {
  if (!in_.token().IsWord("pkir")) return in_.Expected("`pkir`", "a kernel text starts with `pkir 1;`");
  PALLADION_RETURN_IF_ERROR(in_.Advance());
  const Token at = in_.token();
  std::int64_t version = 0;
  PALLADION_RETURN_IF_ERROR(in_.ParseInt(&version));
  if (version != 1) {
    return in_.Error(
        at, Cat("expected version 1, found version ", version, "; read this text with the release that wrote it"));
  }
  return in_.Expect(";");
}

absl::StatusOr<Module> Parser::Run() {
  module_.path.assign(in_.path());
  PALLADION_RETURN_IF_ERROR(in_.Advance());
  PALLADION_RETURN_IF_ERROR(ParseVersion());
  for (bool found = true; found;) PALLADION_RETURN_IF_ERROR(declarations_.ParseDecl(&found));
  do {
    if (!in_.token().IsWord("kernel")) {
      return in_.Expected(module_.kernels.empty() ? "a declaration or `kernel`" : "`kernel` or the end of the text");
    }
    PALLADION_RETURN_IF_ERROR(kernels_.ParseKernel(&module_));
  } while (in_.token().kind != TokenKind::kEnd);
  return std::move(module_);
}

}  // namespace

absl::StatusOr<AttrMap> ParseAttrMap(std::string_view text) {
  TextCursor in(text, "<attributes>");
  AttrMap attrs;
  PALLADION_RETURN_IF_ERROR(in.Advance());
  PALLADION_RETURN_IF_ERROR(AttrParser(in).ParseAttrs(&attrs));
  if (in.token().kind != TokenKind::kEnd) return in.Expected("the end of the attributes");
  return attrs;
}

absl::StatusOr<Module> Parse(std::string_view text, std::string_view path) {
  if (text.size() > kMaxTextBytes) {
    return absl::ResourceExhaustedError(Cat(path, ": the text has ", text.size(), " bytes, more than the limit of ",
                                            kMaxTextBytes, "; pass large constants as inputs of the kernel"));
  }
  return Parser(text, path).Run();
}

}  // namespace palladion
