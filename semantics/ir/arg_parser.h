// Arguments of instructions: values with their views, constants and numbers.
#ifndef PALLADION_SEMANTICS_IR_ARG_PARSER_H_
#define PALLADION_SEMANTICS_IR_ARG_PARSER_H_

#include <string_view>
#include <vector>

#include "semantics/base/status.h"
#include "semantics/ir/declarations.h"
#include "semantics/ir/view_parser.h"

namespace palladion {

class ArgParser {
 public:
  ArgParser(TextCursor& in, const ValueNames& names, TypeParser& types, ConstantParser& constants,
            const Declarations& declarations)
      : in_(in),
        names_(names),
        types_(types),
        constants_(constants),
        declarations_(declarations),
        views_(in, names, types, constants, *this) {}
  absl::Status ParseArgs(std::string_view close, std::vector<Arg>* args);
  absl::Status ParseArg(Arg* arg);
  ViewParser& views() { return views_; }

  // Into an argument that is part of a view, and out of it: how deep is limited.
  absl::Status GoDeeper();
  void ComeUp() { --depth_; }

 private:
  absl::Status ParseView(Arg* arg);
  absl::Status ParseSelect(Arg* arg);
  absl::Status ParseLiteral(Literal* literal);

  TextCursor& in_;
  const ValueNames& names_;
  TypeParser& types_;
  ConstantParser& constants_;
  const Declarations& declarations_;
  ViewParser views_;
  int depth_ = 0;
};

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_IR_ARG_PARSER_H_
