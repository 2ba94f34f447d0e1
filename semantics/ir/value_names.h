// The names of one kernel's values: each is visible from its definition to the end of its region, inner regions
// included, and may not be defined again where it is visible.
#ifndef PALLADION_SEMANTICS_IR_VALUE_NAMES_H_
#define PALLADION_SEMANTICS_IR_VALUE_NAMES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "semantics/base/status.h"
#include "semantics/ir/module.h"
#include "semantics/ir/text_cursor.h"

namespace palladion {

class ValueNames {
 public:
  explicit ValueNames(TextCursor& in) : in_(in) {}
  void BeginKernel(Kernel* kernel) { kernel_ = kernel; }  // whose values they are; none is visible

  absl::Status Define(const Token& name, Type type, std::string label, ValueId* id);
  absl::Status Lookup(const Token& name, ValueId* id) const;
  const Type& TypeOf(ValueId value) const { return kernel_->values[value.index()].type; }

  std::size_t mark() const { return scope_.size(); }
  void LeaveScope(std::size_t mark);  // what has been defined since then

 private:
  TextCursor& in_;
  Kernel* kernel_ = nullptr;
  absl::flat_hash_map<absl::string_view, std::int32_t> values_;  // visible now
  std::vector<absl::string_view> scope_;                         // their names in the order of definition
};

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_IR_VALUE_NAMES_H_
