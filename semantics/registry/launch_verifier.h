// A kernel around its instructions: operands, launch, blocks, and the parameters that stand for operands in bodies and
// index maps. Based on: what pallas_call's GridMapping and BlockMapping require of each other.
#ifndef PALLADION_SEMANTICS_REGISTRY_LAUNCH_VERIFIER_H_
#define PALLADION_SEMANTICS_REGISTRY_LAUNCH_VERIFIER_H_

#include <string>

#include "semantics/base/status.h"
#include "semantics/ir/module.h"
#include "semantics/registry/error_places.h"

namespace palladion {

class LaunchVerifier {
 public:
  // Both outlive it.
  LaunchVerifier(const Kernel& kernel, const ErrorPlaces& places) : kernel_(kernel), places_(places) {}

  absl::Status CheckValues() const;  // their types; errors have their places
  absl::Status CheckLaunch() const;
  absl::Status CheckOperand(const Operand& operand) const;
  absl::Status CheckMapResults(const Operand& operand) const;  // of its block, whose map has been verified
  absl::Status CheckBodyParam(const Operand& operand, const Param& param) const;
  std::string NameOf(const Operand& operand) const;

 private:
  absl::Status CheckOperandType(const Operand& operand) const;
  absl::Status CheckAlias(const Operand& operand) const;
  absl::Status CheckBlock(const Operand& operand) const;
  absl::Status CheckBlockDims(const Operand& operand) const;
  absl::Status CheckMapParams(const Region& map) const;
  const Operand* FindOperand(ValueId value) const;
  const Type& TypeOf(ValueId value) const { return kernel_.values[value.index()].type; }

  const Kernel& kernel_;
  const ErrorPlaces& places_;
};

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_REGISTRY_LAUNCH_VERIFIER_H_
