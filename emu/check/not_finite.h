// NaN and infinities that come out of a kernel whose operands have none: where the first was made.
#ifndef PALLADION_EMU_CHECK_NOT_FINITE_H_
#define PALLADION_EMU_CHECK_NOT_FINITE_H_

#include <vector>

#include "absl/types/span.h"
#include "emu/emulate.h"
#include "semantics/tensor/tensor.h"

namespace palladion::check {

// "'o'[3] is nan and every operand is finite: div made the first nan in program (0)", as a remark of the report with
// the place of the div. Nothing where all outputs are finite, an operand is not, or what came out was never written.
// `outputs` are those of program order, which is run once more where one of them is not finite. What it does not see:
// what atomics make in memory.
void SayWhereNotFinite(const PreparedKernel& kernel, absl::Span<const ConstArray> inputs,
                       const std::vector<Tensor>& outputs, const RunOptions& run, Report* report);

}  // namespace palladion::check

#endif  // PALLADION_EMU_CHECK_NOT_FINITE_H_
