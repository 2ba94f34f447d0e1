// Attributes as JSON. A value that JSON cannot represent directly is an object of one member: {"word": "f32"}, a bare
// word; {"float": "1.5"}, as text, for its bits; {"map": {...}}, attributes within attributes.
#ifndef PALLADION_EMU_FRONT_REPORTS_ATTR_JSON_H_
#define PALLADION_EMU_FRONT_REPORTS_ATTR_JSON_H_

#include "semantics/base/json.h"
#include "semantics/ir/attr.h"

namespace palladion::reports {

void WriteAttrs(const AttrMap& attrs, JsonWriter& json);  // an object, in the order of the text

}  // namespace palladion::reports

#endif  // PALLADION_EMU_FRONT_REPORTS_ATTR_JSON_H_
