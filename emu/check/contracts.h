// Contracts between a kernel, its backend and its chip. What shapes, types and sizes break is known before anything
// runs. Rules: docs/spec/contracts.md.
#ifndef PALLADION_EMU_CHECK_CONTRACTS_H_
#define PALLADION_EMU_CHECK_CONTRACTS_H_

#include <optional>
#include <vector>

#include "emu/kernel/prepared_kernel.h"
#include "emu/report.h"
#include "semantics/base/finding.h"
#include "semantics/base/target.h"
#include "semantics/ir/module.h"

namespace palladion::check {

// What is known to be wrong before anything runs, and how much was looked at.
struct StaticReport {
  std::vector<Finding> findings;
  std::vector<CheckTally> tallies;
  // COMPILER: a kernel whose text JAX wrote gets warnings; one written by hand gets them only on request.
  std::vector<Finding> may_refuse = {};
  bool from_jax = false;
  std::optional<ReportedFidelity> fidelity = std::nullopt;
};

// Those of a kernel over a GPU mesh, or of a TPU's TensorCore, that was parsed and cannot be prepared, of operations
// that are not modelled yet: what its target refuses is said all the same. Of vector subcores what they hold alone.
// None on other targets.
std::vector<Finding> StaticFindingsOfParsed(const Kernel& kernel, const Target& target, std::string_view producer = {});

// ILLEGAL and CAPACITY, in the order of the text; none on `generic`, which has no limits. One tally for each check:
// "legality" counts operands, operations and accesses, "capacity" what is held. A PreparedKernelState keeps them.
StaticReport StaticFindings(const Module& module, const Program& program);
const StaticReport& StaticReportOf(const kernel::PreparedKernelState& kernel);
inline std::vector<Finding> StaticFindings(const kernel::PreparedKernelState& kernel) {
  return StaticReportOf(kernel).findings;
}

// What is said before a run: with kOff what is always found alone.
StaticReport KnownBefore(const kernel::PreparedKernelState& kernel, LegalityMode legality);

// Those of them that are looked for where contracts are not, in plain runs too: a TPU's loads, stores and blocks of
// HBM, which JAX's own interpreter refuses.
std::vector<Finding> DirectAccessFindings(const Module& module, const Program& program);
std::vector<Finding> DirectAccessFindings(const kernel::PreparedKernelState& kernel);

}  // namespace palladion::check

#endif  // PALLADION_EMU_CHECK_CONTRACTS_H_
