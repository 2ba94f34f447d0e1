// Types: of values and refs, with the attributes of some, and their parts: element types, dimensions, memory spaces.
#ifndef PALLADION_SEMANTICS_IR_TYPE_PARSER_H_
#define PALLADION_SEMANTICS_IR_TYPE_PARSER_H_

#include "semantics/base/status.h"
#include "semantics/ir/attr_parser.h"
#include "semantics/ir/text_cursor.h"
#include "semantics/ir/type.h"
#include "semantics/ir/value_names.h"

namespace palladion {

class TypeParser {
 public:
  TypeParser(TextCursor& in, const ValueNames& names) : in_(in), names_(names), attrs_(in) {}
  absl::Status ParseType(Type* type);
  absl::Status ParseDims(Type* type);
  absl::Status ParseSpace(Space* space);
  absl::Status ParseDType(DType* dtype);
  AttrParser& attrs() { return attrs_; }

 private:
  absl::Status ParseElement(Type* type);

  TextCursor& in_;
  const ValueNames& names_;  // a dimension may be an operand
  AttrParser attrs_;
};

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_IR_TYPE_PARSER_H_
