// Which values of a kernel are visible where the verifier is: each is defined once, and gone when its region is left.
#ifndef PALLADION_SEMANTICS_REGISTRY_VALUE_SCOPES_H_
#define PALLADION_SEMANTICS_REGISTRY_VALUE_SCOPES_H_

#include <vector>

#include "semantics/base/status.h"
#include "semantics/ir/module.h"

namespace palladion {

inline bool InRange(const Kernel& kernel, ValueId value) {
  return value.valid() && value.index() < kernel.values.size();
}

class ValueScopes {
 public:
  // It outlives this.
  explicit ValueScopes(const Kernel& kernel) : kernel_(kernel), state_(kernel.values.size(), State::kUndefined) {}

  absl::Status Define(ValueId value);
  absl::Status DefineOperand(ValueId value);  // which bodies and maps know by their parameters only
  absl::Status CheckUse(ValueId value) const;

  // What was defined since Enter gave the mark is visible no more.
  std::size_t Enter() const { return scope_.size(); }
  void Leave(std::size_t mark);

 private:
  enum class State : std::uint8_t { kUndefined, kVisible, kLeft, kOperand };

  const Kernel& kernel_;
  std::vector<State> state_;
  std::vector<ValueId> scope_;
};

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_REGISTRY_VALUE_SCOPES_H_
