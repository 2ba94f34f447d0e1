// Attributes: `{name=value, ...}`, with lists and maps inside each other to a limited depth.
#ifndef PALLADION_SEMANTICS_IR_ATTR_PARSER_H_
#define PALLADION_SEMANTICS_IR_ATTR_PARSER_H_

#include "semantics/base/status.h"
#include "semantics/ir/attr.h"
#include "semantics/ir/text_cursor.h"

namespace palladion {

class AttrParser {
 public:
  explicit AttrParser(TextCursor& in) : in_(in) {}
  absl::Status ParseAttrs(AttrMap* attrs);

 private:
  absl::Status ParseAttr(Attr* attr);
  absl::Status ParseAttrList(AttrList* list);
  absl::Status ParseAttrNumber(Attr* attr);

  TextCursor& in_;
  int attr_depth_ = 0;
};

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_IR_ATTR_PARSER_H_
