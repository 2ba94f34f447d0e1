// Regions and functions, and the instructions in them.
#ifndef PALLADION_SEMANTICS_IR_REGION_PARSER_H_
#define PALLADION_SEMANTICS_IR_REGION_PARSER_H_

#include <vector>

#include "semantics/base/status.h"
#include "semantics/ir/arg_parser.h"
#include "semantics/ir/declarations.h"
#include "semantics/ir/module.h"

namespace palladion {

class RegionParser {
 public:
  RegionParser(TextCursor& in, ValueNames& names, TypeParser& types, ArgParser& args, Declarations& declarations)
      : in_(in), names_(names), types_(types), args_(args), declarations_(declarations) {}
  absl::Status ParseFun(Region* region);  // with parameters
  ViewParser& views() { return args_.views(); }

 private:
  absl::Status ParseRegion(Region* region);
  absl::Status ParseParam(Region* region);
  absl::Status ParseInstr(Instr* instr);
  absl::Status ParseBinds(std::vector<Token>* binds);

  TextCursor& in_;
  ValueNames& names_;
  TypeParser& types_;
  ArgParser& args_;
  Declarations& declarations_;
  int region_depth_ = 0, instructions_ = 0;
};

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_IR_REGION_PARSER_H_
