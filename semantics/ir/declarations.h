// The declarations before the kernels of a text: producer, files, locations and constants, with the names by which
// kernels refer to them.
#ifndef PALLADION_SEMANTICS_IR_DECLARATIONS_H_
#define PALLADION_SEMANTICS_IR_DECLARATIONS_H_

#include <cstdint>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "semantics/base/status.h"
#include "semantics/ir/constant_parser.h"
#include "semantics/ir/module.h"
#include "semantics/ir/text_cursor.h"

namespace palladion {

class Declarations {
 public:
  // What is declared becomes part of the module.
  Declarations(TextCursor& in, ConstantParser& constants, Module& module)
      : in_(in), constants_(constants), module_(module) {}
  absl::Status ParseDecl(bool* found);
  absl::Status ParseOptionalLoc(LocId* loc);
  const NamedConst* FindConst(std::string_view name) const;  // nullptr: none is declared above

 private:
  using Names = absl::flat_hash_map<absl::string_view, std::int32_t>;
  absl::Status ParseLoc(Loc* loc);

  TextCursor& in_;
  ConstantParser& constants_;
  Module& module_;
  Names files_, locs_, consts_;
};

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_IR_DECLARATIONS_H_
