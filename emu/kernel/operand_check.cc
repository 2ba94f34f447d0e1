#include "emu/kernel/operand_check.h"

#include <algorithm>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"

namespace palladion::kernel {
namespace {

absl::Status CheckArray(const OperandDescription& expected, DType dtype, absl::Span<const std::int64_t> shape,
                        const std::byte* data) {
  const bool empty = std::find(shape.begin(), shape.end(), 0) != shape.end();
  if (expected.dtype == dtype && std::equal(shape.begin(), shape.end(), expected.shape.begin(), expected.shape.end())) {
    if (data != nullptr || empty) return absl::OkStatus();
    return absl::InvalidArgumentError(
        Cat("operand '", expected.name, "' (", expected.label, ") has no data: the pointer is null"));
  }
  return absl::InvalidArgumentError(Cat("operand '", expected.name, "' (", expected.label, ") must be ",
                                        TypeString(expected.dtype, expected.shape), "; found ",
                                        TypeString(dtype, shape)));
}

absl::Status CheckCount(std::size_t expected, std::size_t found, std::string_view what) {
  if (expected == found) return absl::OkStatus();
  return absl::InvalidArgumentError(Cat("the kernel has ", expected, " ", what, "; found ", found));
}

}  // namespace

absl::Status CheckInputs(const PreparedKernel& kernel, absl::Span<const ConstArray> inputs) {
  PALLADION_RETURN_IF_ERROR(CheckCount(kernel.inputs().size(), inputs.size(), "inputs"));
  for (std::size_t i = 0; i < inputs.size(); ++i)
    PALLADION_RETURN_IF_ERROR(CheckArray(kernel.inputs()[i], inputs[i].dtype, inputs[i].shape, inputs[i].data));
  return absl::OkStatus();
}

absl::Status CheckOutputs(const PreparedKernel& kernel, absl::Span<const MutableArray> outputs) {
  PALLADION_RETURN_IF_ERROR(CheckCount(kernel.outputs().size(), outputs.size(), "outputs"));
  for (std::size_t i = 0; i < outputs.size(); ++i)
    PALLADION_RETURN_IF_ERROR(CheckArray(kernel.outputs()[i], outputs[i].dtype, outputs[i].shape, outputs[i].data));
  return absl::OkStatus();
}

}  // namespace palladion::kernel
