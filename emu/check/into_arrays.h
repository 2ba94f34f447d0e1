// Check on arrays that the caller owns.
#ifndef PALLADION_EMU_CHECK_INTO_ARRAYS_H_
#define PALLADION_EMU_CHECK_INTO_ARRAYS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "emu/check.h"

namespace palladion::check {

struct CheckCall {
  const PreparedKernel& kernel;
  absl::Span<const ConstArray> inputs;
  absl::Span<const MutableArray> outputs;
  const CheckOptions& options;
  std::vector<Tensor>* before = nullptr;  // gets the inputs as they were, which outputs may have replaced since
};

// As Check. `outputs` get those of the first schedule or of the replayed one, or are none. They may be the memory of
// inputs: those are copied first.
absl::StatusOr<Report> CheckInto(const CheckCall& call);

// The inputs as tensors; the error says which array does not fit the kernel.
absl::StatusOr<std::vector<Tensor>> CopiesOf(const PreparedKernel& kernel, absl::Span<const ConstArray> inputs);

}  // namespace palladion::check

#endif  // PALLADION_EMU_CHECK_INTO_ARRAYS_H_
