#include "emu/check/not_finite.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "emu/check/into_arrays.h"
#include "emu/check/plain_run.h"
#include "emu/kernel/arrays.h"
#include "emu/kernel/prepared_kernel.h"
#include "emu/run/launch/launch.h"
#include "emu/run/watch/trap.h"
#include "emu/values.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/prepare/prepare.h"
#include "semantics/registry/verifier.h"
#include "semantics/tensor/element.h"
#include "semantics/tensor/element_index.h"

namespace palladion::check {
namespace {

// The first of n elements of which `is` says so; n: none.
template <class Is>
std::size_t FirstOf(DType dtype, const std::byte* data, std::size_t n, const Is& is) {
  return VisitDType(dtype, [&](auto tag) {
    using E = Element<decltype(tag)::value>;
    if constexpr (E::kIsFloat) {
      const auto* elements = reinterpret_cast<const typename E::Storage*>(data);
      for (std::size_t i = 0; i < n; ++i) {
        if (is(static_cast<double>(E::ToDouble(elements[i])))) return i;
      }
    }
    return n;
  });
}

bool IsFinite(const ConstArray& array) {
  std::size_t n = 1;
  for (const std::int64_t size : array.shape) n *= static_cast<std::size_t>(size);
  return FirstOf(array.dtype, array.data, n, [](double x) { return !std::isfinite(x); }) == n;
}

struct Found {
  std::size_t output = 0, element = 0;
};

template <class Is>
std::optional<Found> FirstIn(const std::vector<Tensor>& outputs, const Is& is) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto n = static_cast<std::size_t>(outputs[i].num_elements());
    const std::size_t at = FirstOf(outputs[i].dtype(), outputs[i].bytes(), n, is);
    if (at < n) return Found{i, at};
  }
  return std::nullopt;
}

// Of one more run of program order, in which every instruction can be seen.
absl::StatusOr<std::optional<watch::TrapHit>> FirstMade(const PreparedKernel& kernel,
                                                        absl::Span<const ConstArray> inputs, RunOptions run,
                                                        watch::TrapKind kind) {
  PALLADION_ASSIGN_OR_RETURN(VerifiedModule checked, Verify(Module(kernel.state().module())));
  auto verified = std::make_shared<const VerifiedModule>(std::move(checked));
  const Program& program = kernel.state().program();
  const std::vector<Kernel>& kernels = verified->module().kernels;
  const auto named =
      std::find_if(kernels.begin(), kernels.end(), [&](const Kernel& one) { return one.name == program.kernel_name; });
  PALLADION_ASSIGN_OR_RETURN(std::shared_ptr<const Program> observable,
                             Prepare(*verified, *named, program.target, {.observable = true}));
  const PreparedKernel seen(
      std::make_shared<const kernel::PreparedKernelState>(std::move(verified), std::move(observable)));
  PALLADION_ASSIGN_OR_RETURN(const std::vector<Tensor> tensors, check::CopiesOf(seen, inputs));
  run.session = nullptr;
  run.legality = LegalityMode::kOff;
  watch::Trap trap(seen.state(), kind);
  PALLADION_RETURN_IF_ERROR(check::RunWatched(seen, tensors, {.run = run, .observers = {&trap}}).status());
  PALLADION_RETURN_IF_ERROR(trap.status());
  return trap.hit();
}

std::optional<ReportedRemark> WhereNotFinite(const PreparedKernel& kernel, absl::Span<const ConstArray> inputs,
                                             const std::vector<Tensor>& outputs, const RunOptions& run) {
  const auto is_nan = [](double x) { return std::isnan(x); };
  std::optional<Found> found = FirstIn(outputs, is_nan);
  const watch::TrapKind kind = found.has_value() ? watch::TrapKind::kNaN : watch::TrapKind::kInf;
  if (!found.has_value()) found = FirstIn(outputs, [](double x) { return std::isinf(x); });
  if (!found.has_value() || !std::all_of(inputs.begin(), inputs.end(), IsFinite)) return std::nullopt;
  const absl::StatusOr<std::optional<watch::TrapHit>> made = FirstMade(kernel, inputs, run, kind);
  if (!made.ok() || !made->has_value()) return std::nullopt;  // never written, or not to be seen: findings say more
  const watch::TrapHit& hit = **made;
  const OperandDescription& output = kernel.outputs()[found->output];
  const auto element = static_cast<std::int64_t>(found->element);
  return ReportedRemark{
      .name = "not-finite",
      .words = Cat("'", output.name, "'", IndexText(output.shape, element), " is ",
                   ElementText(outputs[found->output], element), " and every operand is finite: ", hit.op,
                   " made the first ", kind == watch::TrapKind::kNaN ? "nan" : "inf", " in ", hit.program),
      .source = hit.source,
      .text_line = hit.text_line,
      .frames = hit.frames};
}

}  // namespace

void SayWhereNotFinite(const PreparedKernel& kernel, absl::Span<const ConstArray> inputs,
                       const std::vector<Tensor>& outputs, const RunOptions& run, Report* report) {
  if (report->interrupted || report->error.has_value()) return;
  if (std::optional<ReportedRemark> remark = WhereNotFinite(kernel, inputs, outputs, run))
    report->remarks.push_back(*std::move(remark));
}

}  // namespace palladion::check
