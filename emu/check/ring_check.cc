#include "emu/check/ring_check.h"

#include <cstring>
#include <memory>

#include "emu/kernel/prepared_kernel.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/prepare/prepare.h"
#include "semantics/prepare/ring_module.h"

namespace palladion::check {
namespace {

absl::StatusOr<PreparedKernel> RingOf(const kernel::PreparedKernelState& state) {
  const Module& module = state.module();
  for (const Kernel& kernel : module.kernels) {
    if (kernel.name != state.program().kernel_name) continue;
    const Target target = state.program().target;
    PALLADION_ASSIGN_OR_RETURN(Module ring, RingModule(module, kernel, target));
    PALLADION_ASSIGN_OR_RETURN(VerifiedModule checked, Verify(std::move(ring)));
    auto verified = std::make_shared<const VerifiedModule>(std::move(checked));
    PALLADION_ASSIGN_OR_RETURN(std::shared_ptr<const Program> program,
                               Prepare(*verified, verified->module().kernels[0], target));
    return PreparedKernel(std::make_shared<const kernel::PreparedKernelState>(std::move(verified), std::move(program)));
  }
  return absl::InternalError("cannot happen: a prepared kernel is not in its module");
}

absl::StatusOr<RingAnswer> AnswerInRing(const PreparedKernel& kernel, absl::Span<const ConstArray> inputs,
                                        const RunInRing& run) {
  PALLADION_ASSIGN_OR_RETURN(const PreparedKernel ring, RingOf(kernel.state()));
  std::vector<Tensor> words;
  for (const ConstArray& array : inputs) {
    PALLADION_ASSIGN_OR_RETURN(Tensor floats,
                               Tensor::CreateUninitialized(array.dtype, {array.shape.begin(), array.shape.end()}));
    if (floats.num_bytes() > 0) std::memcpy(floats.bytes(), array.data, floats.num_bytes());
    PALLADION_ASSIGN_OR_RETURN(Tensor in_ring, RingTensor(floats));
    words.push_back(std::move(in_ring));
  }
  PALLADION_ASSIGN_OR_RETURN(const std::vector<Tensor> first, run(ring, words, false));
  PALLADION_ASSIGN_OR_RETURN(const std::vector<Tensor> second, run(ring, words, true));
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (!first[i].BitwiseEquals(second[i])) return RingAnswer::kDefect;
  }
  return RingAnswer::kRounding;
}

}  // namespace

RingVerdict JudgeInRing(const PreparedKernel& kernel, absl::Span<const ConstArray> inputs, const RunInRing& run) {
  const absl::StatusOr<RingAnswer> answer = AnswerInRing(kernel, inputs, run);
  if (answer.ok()) return {*answer, ""};
  return {RingAnswer::kUndecided, std::string(answer.status().message())};
}

}  // namespace palladion::check
