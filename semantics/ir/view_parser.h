// The chain of transforms that an access goes through: `.at[...]`, `.reshape[...]` and the others, and indices.
#ifndef PALLADION_SEMANTICS_IR_VIEW_PARSER_H_
#define PALLADION_SEMANTICS_IR_VIEW_PARSER_H_

#include <vector>

#include "semantics/base/status.h"
#include "semantics/ir/constant_parser.h"
#include "semantics/ir/module.h"
#include "semantics/ir/text_cursor.h"
#include "semantics/ir/type_parser.h"
#include "semantics/ir/value_names.h"

namespace palladion {

class ArgParser;  // arg_parser.h: a transform may name a peer by an argument, whose view may

class ViewParser {
 public:
  ViewParser(TextCursor& in, const ValueNames& names, TypeParser& types, ConstantParser& constants, ArgParser& args)
      : in_(in), names_(names), types_(types), constants_(constants), args_(args) {}
  absl::Status ParseTransforms(std::vector<Transform>* transforms);

 private:
  absl::Status ParseTransform(Transform* transform);
  absl::Status ParsePeer(Transform* transform);
  absl::Status ParseAt(std::vector<Index>* indices);
  absl::Status ParseIndex(Index* index);
  absl::Status ParseIndexAtom(Arg* arg);

  TextCursor& in_;
  const ValueNames& names_;
  TypeParser& types_;
  ConstantParser& constants_;
  ArgParser& args_;
};

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_IR_VIEW_PARSER_H_
