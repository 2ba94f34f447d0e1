#include "emu/check/into_arrays.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "emu/kernel/arrays.h"
#include "emu/kernel/operand_check.h"
#include "semantics/base/status.h"

namespace palladion::check {

absl::StatusOr<std::vector<Tensor>> CopiesOf(const PreparedKernel& kernel, absl::Span<const ConstArray> inputs) {
  PALLADION_RETURN_IF_ERROR(kernel::CheckInputs(kernel, inputs));
  return kernel::TensorsOf(inputs);
}

absl::StatusOr<Report> CheckInto(const CheckCall& call) {
  if (!call.outputs.empty()) PALLADION_RETURN_IF_ERROR(kernel::CheckOutputs(call.kernel, call.outputs));
  PALLADION_ASSIGN_OR_RETURN(std::vector<Tensor> in, CopiesOf(call.kernel, call.inputs));
  std::vector<Tensor> out;
  PALLADION_ASSIGN_OR_RETURN(Report report, Check(call.kernel, in, call.options, &out));
  for (std::size_t i = 0; i < std::min(call.outputs.size(), out.size()); ++i) {
    if (out[i].num_bytes() > 0) std::memcpy(call.outputs[i].data, out[i].bytes(), out[i].num_bytes());
  }
  if (call.before != nullptr) *call.before = std::move(in);
  return report;
}

}  // namespace palladion::check
