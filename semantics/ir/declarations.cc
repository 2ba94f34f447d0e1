#include "semantics/ir/declarations.h"

#include "semantics/base/cat.h"

namespace palladion {

absl::Status Declarations::ParseLoc(Loc* loc) {
  if (in_.token().kind != TokenKind::kLocId) return in_.Expected("the `#name` of a file");
  const auto file = files_.find(ToAbsl(in_.token().text));
  if (file == files_.end()) return in_.Expected("the `#name` of a file above", "declare it: file #name = \"path.py\";");
  loc->file.value = file->second;
  PALLADION_RETURN_IF_ERROR(in_.Advance());
  PALLADION_RETURN_IF_ERROR(in_.Expect(":"));
  PALLADION_RETURN_IF_ERROR(in_.ParseLine("a line", &loc->line));
  bool found = false;
  PALLADION_RETURN_IF_ERROR(in_.Accept(":", &found));
  if (found) PALLADION_RETURN_IF_ERROR(in_.ParseLine("a column", &loc->column));
  PALLADION_RETURN_IF_ERROR(in_.AcceptWord("fn", &found));
  if (found) PALLADION_RETURN_IF_ERROR(in_.ParseString(&loc->function));
  PALLADION_RETURN_IF_ERROR(in_.AcceptWord("via", &found));
  if (!found) return absl::OkStatus();
  if (in_.token().kind != TokenKind::kLocId) return in_.Expected("the `#name` of the caller's location");
  return ParseOptionalLoc(&loc->via);
}

absl::Status Declarations::ParseOptionalLoc(LocId* loc) {
  if (in_.token().kind != TokenKind::kLocId) return absl::OkStatus();
  const auto found = locs_.find(ToAbsl(in_.token().text));
  if (found == locs_.end())
    return in_.Expected("the `#name` of a location above", "declare it: loc #name = #file:line;");
  loc->value = found->second;
  return in_.Advance();
}

absl::Status Declarations::ParseDecl(bool* found) {
  const Token word = in_.token();
  *found = word.IsWord("producer") || word.IsWord("file") || word.IsWord("loc") || word.IsWord("const");
  if (!*found) return absl::OkStatus();
  PALLADION_RETURN_IF_ERROR(in_.CountNode());
  PALLADION_RETURN_IF_ERROR(in_.Advance());
  if (word.IsWord("producer")) {
    PALLADION_RETURN_IF_ERROR(in_.ParseString(&module_.producer));
    return in_.Expect(";");
  }
  const bool is_const = word.IsWord("const");
  if (in_.token().kind != (is_const ? TokenKind::kSymbol : TokenKind::kLocId)) {
    return in_.Expected(is_const ? "the constant's `@name`" : "a `#name`");
  }
  const Token name = in_.token();
  Names& names = is_const ? consts_ : word.IsWord("file") ? files_ : locs_;
  const std::size_t id = is_const              ? module_.consts.size()
                         : word.IsWord("file") ? module_.files.size()
                                               : module_.locs.size();
  PALLADION_RETURN_IF_ERROR(in_.Advance());
  PALLADION_RETURN_IF_ERROR(in_.Expect("="));
  if (is_const) {
    NamedConst& constant = module_.consts.emplace_back();
    constant.name.assign(name.text);
    PALLADION_RETURN_IF_ERROR(constants_.ParseDense(&constant.value));
  } else if (word.IsWord("file")) {
    module_.file_names.emplace_back(name.text);
    PALLADION_RETURN_IF_ERROR(in_.ParseString(&module_.files.emplace_back()));
  } else {
    module_.loc_names.emplace_back(name.text);
    PALLADION_RETURN_IF_ERROR(ParseLoc(&module_.locs.emplace_back()));
  }
  // Only now: a location is not its own caller.
  if (!names.emplace(ToAbsl(name.text), static_cast<std::int32_t>(id)).second) {
    return in_.Error(name, Cat("expected a new name, found ", Describe(name), ", which is declared above; rename one"));
  }
  return in_.Expect(";");
}

const NamedConst* Declarations::FindConst(std::string_view name) const {
  const auto found = consts_.find(ToAbsl(name));
  return found == consts_.end() ? nullptr : &module_.consts[static_cast<std::size_t>(found->second)];
}

}  // namespace palladion
