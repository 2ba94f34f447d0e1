// What a PreparedKernel holds: the text's module (for messages), the program, and its operands as arrays.
#ifndef PALLADION_EMU_KERNEL_PREPARED_KERNEL_H_
#define PALLADION_EMU_KERNEL_PREPARED_KERNEL_H_

#include <map>
#include <memory>
#include <mutex>
#include <typeindex>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "emu/emulate.h"
#include "semantics/base/finding.h"
#include "semantics/program/program.h"
#include "semantics/registry/verifier.h"
#include "semantics/simd/parallel.h"

namespace palladion {
class ShadowRules;  // semantics/program/frame_shadow.h
}  // namespace palladion

namespace palladion::kernel {

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
  // What a check makes of the kernel alone, kept with it: one value of each type, made at the first call.
  template <class T>
  const T& Kept(absl::FunctionRef<T()> make) const {
    const std::lock_guard<std::recursive_mutex> lock(kept_mutex_);
    std::shared_ptr<const void>& kept = kept_[typeid(T)];
    if (kept == nullptr) kept = std::make_shared<const T>(make());
    return *static_cast<const T*>(kept.get());
  }
  // How undefined elements flow through the program; made at the first call.
  absl::StatusOr<const ShadowRules*> shadow_rules() const;
  simd::Parallel* threads() const { return threads_.get(); }  // nullptr where no operation is large enough

 private:
  std::shared_ptr<const VerifiedModule> module_;
  std::shared_ptr<const Program> program_;
  const Kernel* text_ = nullptr;
  std::vector<OperandDescription> inputs_, outputs_;
  bool automatic_barriers_ = false;
  std::vector<ReportedRemark> remarks_;
  mutable std::recursive_mutex kept_mutex_;  // what is made may need what is kept
  mutable std::map<std::type_index, std::shared_ptr<const void>> kept_;
  mutable std::once_flag shadow_once_;
  mutable absl::StatusOr<std::shared_ptr<const ShadowRules>> shadow_rules_;
  std::unique_ptr<simd::Parallel> threads_;  // runs of one kernel take turns with them
};

// The same kernel, prepared once more for the same target. Errors as for palladion::Prepare.
absl::StatusOr<PreparedKernel> PreparedAgain(const PreparedKernel& kernel, const ProgramOptions& options);

}  // namespace palladion::kernel

#endif  // PALLADION_EMU_KERNEL_PREPARED_KERNEL_H_
