// How faithful a run is to the chip of its target: which operations give the chip's own bits, which differ from the
// chip by rounding, and which the target refuses; and where an approximate value may decide something: a branch, an
// address, a synchronisation. Read from the text: an operation counts once, however often it runs, and what may reach a
// decision through memory counts as if it did. Based on: the numbers of each operation (docs/spec), which are
// correctly rounded in double where chips are not. Does not catch: products and sums that a compiler fuses, subnormals
// that a chip flushes.
#ifndef PALLADION_EMU_CHECK_LEGALITY_FIDELITY_H_
#define PALLADION_EMU_CHECK_LEGALITY_FIDELITY_H_

#include <optional>
#include <string>
#include <vector>

#include "emu/report.h"
#include "semantics/base/finding.h"
#include "semantics/base/target.h"
#include "semantics/ir/module.h"

namespace palladion::legality {

// `findings` are what is known to be wrong before it runs: its ILLEGAL operations are refused. None on `generic`.
std::optional<ReportedFidelity> FidelityOf(const Module& module, const Kernel& kernel, const Target& target,
                                           const std::vector<Finding>& findings);

// Why the results of an operation are no exact ones on a chip; "" where they are.
std::string_view WhyApproximate(const Kernel& kernel, const Instr& op);

}  // namespace palladion::legality

#endif  // PALLADION_EMU_CHECK_LEGALITY_FIDELITY_H_
