// What GridChecks says of a conflict beside where it is: what each backend makes of it, and what to do.

#include <algorithm>
#include <string>
#include <string_view>

#include "emu/launch/grid_checks.h"
#include "semantics/base/cat.h"

namespace palladion::launch {
namespace {

// Does the kernel itself call the dimension parallel? On a TPU those without a word are in order.
bool SaysParallel(const Kernel& kernel, std::size_t dim) {
  const Attr* attr = Find(kernel.params, "dimension_semantics");
  const AttrList* words = attr == nullptr ? nullptr : std::get_if<AttrList>(&attr->value);
  if (words == nullptr) return false;
  const std::size_t skip = kernel.launch.grid.size() - std::min(kernel.launch.grid.size(), words->size());
  if (dim < skip || dim - skip >= words->size()) return false;
  const std::string* word = std::get_if<std::string>(&(*words)[dim - skip].value);
  return word != nullptr && word->ends_with("parallel");
}

}  // namespace

// On `generic`, where a conflict is no answer: what it would be on each backend.
std::string GridChecks::OnEachBackend(const memory_model::SweepConflict& conflict,
                                      absl::Span<const std::int64_t> other) const {
  const Kernel& kernel = kernel_.text();
  bool parallel = false;
  for (std::size_t d = 0; d < std::min(other.size(), conflict.program.size()); ++d)
    parallel |= dims_[d].parallel && other[d] != conflict.program[d] && SaysParallel(kernel, d);
  if (parallel) return "; it is a race on mosaic_tpu, triton and mosaic_gpu, as the dimension is parallel";
  if (conflict.rule == memory_model::ConflictRule::kInherited)
    return "; no target is named: on mosaic_tpu programs run in this order and share scratch, on triton and mosaic_gpu "
           "each has its own";
  return "; no target is named: on mosaic_tpu the two run in this order, on triton and mosaic_gpu it is a race";
}

// In a sequential grid, do programs lie between the two that may have another block? An output's block is written back
// then, and the second visit begins with nothing.
bool GridChecks::AreApart(absl::Span<const std::int64_t> a, absl::Span<const std::int64_t> b) const {
  if (a.size() != b.size()) return false;
  bool differs = false, apart = false;
  for (std::size_t d = 0; d < a.size(); ++d) {
    differs |= a[d] != b[d];
    apart |= differs && a[d] == b[d] && dims_[d].size > 1;
  }
  return apart;
}

std::string GridChecks::FixFor(const memory_model::SweepConflict& conflict,
                               absl::Span<const std::int64_t> other) const {
  const TargetBackend backend = kernel_.program().target.backend;
  bool parallel = false;
  for (std::size_t d = 0; d < dims_.size(); ++d) parallel |= SaysParallel(kernel_.text(), d);
  const std::string_view for_tpu =
      backend == TargetBackend::kGeneric && !parallel
          ? "for a TPU, name it as the target (\"v5e\") or say \"arbitrary\" for the dimension in dimension_semantics; "
            "for any target, "
          : "say \"arbitrary\" for the dimension in dimension_semantics, or ";
  if (conflict.rule == memory_model::ConflictRule::kInherited) return Cat(for_tpu, "initialise it in every program");
  if (backend == TargetBackend::kGeneric) return Cat(for_tpu, "give each program elements of its own");
  const bool resident = backend == TargetBackend::kMosaicTpu && OperandOf(conflict.buffer).mode == BlockMode::kResident;
  if (resident && AreApart(conflict.program, other))
    return "give each of the programs elements of its own; or put the dimension last in the grid, where the programs "
           "that share a block follow one another, and say \"arbitrary\" for it";
  if (backend == TargetBackend::kMosaicTpu)
    return "say \"arbitrary\" for the dimension in dimension_semantics, or give each of its programs elements of its "
           "own";
  return "give each program elements of its own, use atomics on both sides, or write in one launch and read in the "
         "next";
}

}  // namespace palladion::launch
