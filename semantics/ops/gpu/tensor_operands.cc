#include "semantics/ops/gpu/tensor_operands.h"

#include <string>
#include <utility>
#include <variant>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/ops/scope/scope_objects.h"
#include "semantics/registry/attrs.h"

namespace palladion {

absl::StatusOr<TensorView> PlanTensorView(const Instr& op, std::string_view name, Builder& builder) {
  const Arg& arg = *FindOperand(op, name);
  PALLADION_ASSIGN_OR_RETURN(ViewPlan plan, builder.PlanView(arg));
  const bool tensor = builder.TypeOf(arg.value).space == Space::kTmem;
  return TensorView{std::move(plan), tensor ? Proxy::kTensorCore : Proxy::kAsync};
}

AsyncOperand TensorOperandOf(const ViewPlan& plan, Proxy proxy, const Step& step, Frame& frame) {
  AsyncOperand operand = OperandOf(plan, Outside::kError, step, frame);
  operand.proxy = proxy;
  return operand;
}

absl::StatusOr<std::optional<std::size_t>> PairAxis(const Instr& op, const Builder& builder) {
  if (!HasAttr(op, "collective_axis")) return std::nullopt;
  PALLADION_ASSIGN_OR_RETURN(const std::string name, StringAttr(op, "collective_axis"));
  PALLADION_ASSIGN_OR_RETURN(const std::size_t dim, ClusterAxis(name, builder));
  return dim;
}

bool Issues(const std::optional<std::size_t>& pair, const Frame& frame) {
  return !pair.has_value() || frame.grid_index()[*pair] == 0;
}

bool AddOfOther(std::size_t axis, const Site& site, Frame& frame, std::vector<AsyncOperand>* operands) {
  const PeerCoordinate other{axis, 1};
  const std::size_t mine = operands->size();
  for (std::size_t i = 0; i < mine; ++i) {
    AsyncOperand theirs = (*operands)[i];
    const BufferId here = theirs.buffer();
    const BufferId buffer = frame.machine().PeerBuffer(here, {&other, 1}, site);
    if (buffer == here) return false;
    std::visit([&](auto& places) { places.buffer = buffer; }, theirs.where);
    operands->push_back(std::move(theirs));
  }
  return true;
}

}  // namespace palladion
