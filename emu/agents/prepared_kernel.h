// What a PreparedKernel holds: the text's module (for messages), the program, and its operands as arrays.
#ifndef PALLADION_EMU_AGENTS_PREPARED_KERNEL_H_
#define PALLADION_EMU_AGENTS_PREPARED_KERNEL_H_

#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "emu/emulate.h"
#include "semantics/base/finding.h"
#include "semantics/program/program.h"
#include "semantics/registry/verifier.h"
#include "semantics/simd/parallel.h"

namespace palladion {
class ShadowRules;  // semantics/program/frame_shadow.h
}  // namespace palladion

namespace palladion::legality {
class LanesOfAccesses;  // emu/legality/lanes_of_accesses.h
}  // namespace palladion::legality

namespace palladion::agents {

// What is known to be wrong before anything runs, and how much was looked at.
struct StaticReport {
  std::vector<Finding> findings;
  std::vector<CheckTally> tallies;
  // COMPILER: of a kernel in a text that JAX wrote warnings, in one written by hand only where that is asked for.
  std::vector<Finding> may_refuse = {};
  bool from_jax = false;
  std::optional<ReportedFidelity> fidelity = std::nullopt;
};

class PreparedKernelState {
 public:
  // `remarks` are what every report of it says beside its findings.
  PreparedKernelState(std::shared_ptr<const VerifiedModule> module, std::shared_ptr<const Program> program,
                      std::vector<ReportedRemark> remarks = {});

  // The same kernel with another program made of its own.
  PreparedKernelState With(std::shared_ptr<const Program> program) const {
    return {module_, std::move(program), remarks_};
  }

  const Module& module() const { return module_->module(); }
  const Program& program() const { return *program_; }
  const Kernel& text() const { return *text_; }  // of the module, what the program was made of
  const std::vector<OperandDescription>& inputs() const { return inputs_; }
  const std::vector<OperandDescription>& outputs() const { return outputs_; }
  // JAX puts barriers around what a Mosaic GPU kernel's threads do: its compiler parameters do not say otherwise.
  bool automatic_barriers() const { return automatic_barriers_; }
  const std::vector<ReportedRemark>& remarks() const { return remarks_; }
  // What a run without legality says too, and is known before it (contracts.h).
  std::vector<Finding> always_found() const { return always_found_; }
  // What the target refuses (contracts.h), judged at the first call.
  const StaticReport& static_report() const;
  // How its accesses are spread over lanes, on Triton and Mosaic GPU; made at the first call.
  const legality::LanesOfAccesses& lanes_of_accesses() const;
  // How undefined elements flow through the program; made at the first call.
  absl::StatusOr<const ShadowRules*> shadow_rules() const;
  simd::Parallel* threads() const { return threads_.get(); }  // nullptr where no operation is large enough

 private:
  std::shared_ptr<const VerifiedModule> module_;
  std::shared_ptr<const Program> program_;
  const Kernel* text_ = nullptr;
  std::vector<OperandDescription> inputs_, outputs_;
  bool automatic_barriers_ = false;
  std::vector<Finding> always_found_;
  std::vector<ReportedRemark> remarks_;
  mutable std::once_flag lanes_once_;
  mutable std::shared_ptr<const legality::LanesOfAccesses> lanes_of_accesses_;
  mutable std::once_flag static_once_;
  mutable StaticReport static_report_;
  mutable std::once_flag shadow_once_;
  mutable absl::StatusOr<std::shared_ptr<const ShadowRules>> shadow_rules_;
  std::unique_ptr<simd::Parallel> threads_;  // runs of one kernel take turns with them
};

}  // namespace palladion::agents

#endif  // PALLADION_EMU_AGENTS_PREPARED_KERNEL_H_
