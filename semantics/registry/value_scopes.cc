#include "semantics/registry/value_scopes.h"

#include <string>

#include "semantics/base/cat.h"

namespace palladion {

absl::Status ValueScopes::Define(ValueId value) {
  if (!InRange(kernel_, value))
    return absl::InvalidArgumentError("expected a value of this kernel, found an id out of range");
  if (state_[value.index()] != State::kUndefined) {
    return absl::InvalidArgumentError(
        Cat("expected a new value, found %", kernel_.values[value.index()].name, ", which is defined twice"));
  }
  state_[value.index()] = State::kVisible;
  scope_.push_back(value);
  return absl::OkStatus();
}

absl::Status ValueScopes::DefineOperand(ValueId value) {
  PALLADION_RETURN_IF_ERROR(Define(value));
  scope_.pop_back();  // it is never left
  state_[value.index()] = State::kOperand;
  return absl::OkStatus();
}

absl::Status ValueScopes::CheckUse(ValueId value) const {
  if (!InRange(kernel_, value))
    return absl::InvalidArgumentError("expected a value of this kernel, found an id out of range");
  const std::string& name = kernel_.values[value.index()].name;
  switch (state_[value.index()]) {
    case State::kVisible:
      return absl::OkStatus();
    case State::kOperand:
      return absl::InvalidArgumentError(Cat("expected a value of this body or map, found the kernel's operand %", name,
                                            "; use the parameter that stands for it"));
    case State::kUndefined:
    case State::kLeft:
      break;
  }
  return absl::InvalidArgumentError(Cat("expected a value that is defined before and visible here, found %", name));
}

void ValueScopes::Leave(std::size_t mark) {
  for (std::size_t i = mark; i < scope_.size(); ++i) state_[scope_[i].index()] = State::kLeft;
  scope_.resize(mark);
}

}  // namespace palladion
