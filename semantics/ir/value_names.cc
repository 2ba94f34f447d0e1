#include "semantics/ir/value_names.h"

#include <utility>

#include "semantics/base/cat.h"

namespace palladion {

absl::Status ValueNames::Define(const Token& name, Type type, std::string label, ValueId* id) {
  PALLADION_RETURN_IF_ERROR(in_.CountNode());
  const auto value = static_cast<std::int32_t>(kernel_->values.size());
  if (!values_.emplace(ToAbsl(name.text), value).second) {
    return in_.Error(name,
                     Cat("expected a new name, found ", Describe(name), ", which is visible here already; rename one"));
  }
  scope_.push_back(ToAbsl(name.text));
  kernel_->values.push_back({std::string(name.text), std::move(type), std::move(label)});
  id->value = value;
  return absl::OkStatus();
}

absl::Status ValueNames::Lookup(const Token& name, ValueId* id) const {
  const auto found = values_.find(ToAbsl(name.text));
  if (found == values_.end()) {
    return in_.Error(name, Cat("expected a value that is defined before and visible here, found ", Describe(name),
                               "; define it in this region or in one around it"));
  }
  id->value = found->second;
  return absl::OkStatus();
}

void ValueNames::LeaveScope(std::size_t mark) {
  for (std::size_t i = mark; i < scope_.size(); ++i) values_.erase(scope_[i]);
  scope_.resize(mark);
}

}  // namespace palladion
