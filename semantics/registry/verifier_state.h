// The verifier of one kernel, spread over verifier*.cc by subject. Private to them.
#ifndef PALLADION_SEMANTICS_REGISTRY_VERIFIER_STATE_H_
#define PALLADION_SEMANTICS_REGISTRY_VERIFIER_STATE_H_

#include <string>
#include <vector>

#include "semantics/base/status.h"
#include "semantics/ir/module.h"

namespace palladion {

// Unimplemented for a dimension known only at run time, ResourceExhausted past the limits of an array.
absl::Status CheckType(const Type& type);

class KernelVerifier {
 public:
  KernelVerifier(const Module& module, Kernel& kernel)
      : module_(module), kernel_(kernel), state_(kernel.values.size(), State::kUndefined) {}
  absl::Status Run();

 private:
  enum class State : std::uint8_t { kUndefined, kVisible, kLeft, kOperand };

  // Places (verifier.cc). An error that has a place already is left alone.
  absl::Status At(int line, LocId loc, const std::string& what, const absl::Status& status) const;
  absl::Status At(const Instr& instr, const absl::Status& status) const;

  // The kernel around its instructions (verifier_kernel.cc).
  absl::Status CheckValues() const;
  absl::Status CheckOperand(const Operand& operand);
  absl::Status CheckOperandType(const Operand& operand) const;
  absl::Status CheckAlias(const Operand& operand) const;
  absl::Status CheckLaunch() const;
  absl::Status CheckBlock(const Operand& operand);
  absl::Status CheckBlockDims(const Operand& operand) const;
  absl::Status CheckMapParams(const Region& map) const;
  absl::Status CheckMapResults(const Operand& operand) const;
  absl::Status CheckBodies();
  absl::Status CheckBodyParam(const Operand& operand, const Param& param) const;
  const Operand* FindOperand(ValueId value) const;
  std::string NameOf(const Operand& operand) const;

  // Instructions (verifier.cc).
  absl::Status CheckRegion(Region& region, LocId owner);
  absl::Status CheckInstr(Instr& instr);
  absl::Status FindRow(Instr& instr) const;
  absl::Status CheckArg(const Arg& arg, int depth) const;
  absl::Status CheckUse(ValueId value) const;
  absl::Status CheckLoc(LocId loc) const;
  absl::Status CheckResultTypes(const Instr& instr) const;
  absl::Status CheckRegionResult(const Arg& arg) const;
  absl::StatusOr<Type> OperandType(const Instr& instr, std::size_t i, const Arg& arg) const;
  absl::StatusOr<Type> SelectType(const Instr& instr, std::size_t i, const Arg& arg) const;
  absl::StatusOr<std::vector<Type>> OperandTypes(const Instr& instr) const;
  absl::Status Define(ValueId value);
  void Leave(std::size_t mark);

  const Type& TypeOf(ValueId value) const { return kernel_.values[value.index()].type; }
  bool InRange(ValueId value) const { return value.valid() && value.index() < kernel_.values.size(); }

  const Module& module_;
  Kernel& kernel_;
  std::vector<State> state_;
  std::vector<ValueId> scope_;
  int depth_ = 0;
};

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_REGISTRY_VERIFIER_STATE_H_
