// What GridChecks says of a conflict beside where it is: what each backend makes of it, and what to do.

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

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

// Do values of the set reach the argument?
bool Reaches(const std::set<ValueId>& values, const Arg& arg) {
  if (arg.kind == Arg::Kind::kValue && values.count(arg.value) != 0) return true;
  for (const Transform& transform : arg.transforms) {
    for (const Index& index : transform.indices) {
      if (Reaches(values, index.start) || Reaches(values, index.size)) return true;
    }
  }
  return false;
}

// Have all programs along the dimension the same block? What a map computes in regions is taken to depend on all.
bool MapIgnores(const Region& map, std::size_t dim) {
  if (dim >= map.params.size()) return false;
  std::set<ValueId> of_dim = {map.params[dim].value};
  const auto reached = [&of_dim](const Arg& arg) { return Reaches(of_dim, arg); };
  for (const Instr& instr : map.body) {
    if (!instr.regions.empty()) return false;
    if (std::any_of(instr.args.begin(), instr.args.end(), reached))
      of_dim.insert(instr.results.begin(), instr.results.end());
  }
  return std::none_of(map.results.begin(), map.results.end(), reached);
}

bool IsWhole(const Operand& operand, const Kernel& kernel) {
  const Shape& shape = kernel.values[operand.value.index()].type.shape;
  return operand.block.has_value() &&
         std::equal(shape.begin(), shape.end(), operand.block->dims.begin(), operand.block->dims.end(),
                    [](std::int64_t size, const BlockDim& dim) { return dim.size == size; });
}

}  // namespace

// The parallel dimensions in which two programs differ, as the kernel's own grid counts them.
std::vector<std::size_t> GridChecks::ParallelDims(absl::Span<const std::int64_t> a,
                                                  absl::Span<const std::int64_t> b) const {
  std::vector<std::size_t> differ;
  const std::size_t axes = kernel_.program().device_axes.size();
  for (std::size_t d = axes; d < std::min(a.size(), b.size()); ++d) {
    if (dims_[d].parallel && a[d] != b[d]) differ.push_back(d - axes);
  }
  return differ;
}

// Where the index map of a block gives programs the same one, it is the map that has to change.
std::string GridChecks::ElementsOfItsOwn(const memory_model::SweepConflict& conflict,
                                         absl::Span<const std::int64_t> other, std::string_view else_words) const {
  const OperandInfo& info = OperandOf(conflict.buffer);
  const std::vector<OperandInfo>& infos = kernel_.program().operand_infos;
  const auto at = std::find_if(infos.begin(), infos.end(), [&](const OperandInfo& one) { return &one == &info; });
  const Operand& operand = kernel_.text().operands[static_cast<std::size_t>(at - infos.begin())];
  const std::vector<std::size_t> dims = ParallelDims(conflict.program, other);
  const bool same_block =
      operand.block.has_value() && !dims.empty() &&
      std::all_of(dims.begin(), dims.end(), [&](std::size_t dim) { return MapIgnores(operand.block->map, dim); });
  // A view of the whole array needs no other map; a block of a TPU goes back as a whole.
  const bool view = kernel_.program().target.backend != TargetBackend::kMosaicTpu;
  if (view && IsWhole(operand, kernel_.text())) return std::string(else_words);
  if (!same_block) return std::string(else_words);
  return Cat("let the index map of '", NameOf(conflict.buffer), "' depend on grid dimension ", dims[0],
             ", along which all programs have the same block");
}

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
  constexpr std::string_view kOwn = "give each program elements of its own";
  const std::string own = ElementsOfItsOwn(conflict, other, kOwn);
  if (backend == TargetBackend::kGeneric) return Cat(for_tpu, own);
  const bool resident = backend == TargetBackend::kMosaicTpu && OperandOf(conflict.buffer).mode == BlockMode::kResident;
  if (resident && AreApart(conflict.program, other))
    return Cat(ElementsOfItsOwn(conflict, other, "give each of the programs elements of its own"),
               "; or put the dimension last in the grid, where the programs that share a block follow one another, and "
               "say \"arbitrary\" for it");
  if (backend == TargetBackend::kMosaicTpu)
    return Cat("say \"arbitrary\" for the dimension in dimension_semantics, or ",
               ElementsOfItsOwn(conflict, other, "give each of its programs elements of its own"));
  return Cat(own, own == kOwn ? "," : "; or",
             " use atomics on both sides, or write in one launch and read in the next");
}

// Where it is the word of the dimension that is to change.
Mend GridChecks::MendFor(const memory_model::SweepConflict& conflict, absl::Span<const std::int64_t> other) const {
  const TargetBackend backend = kernel_.program().target.backend;
  const std::vector<std::size_t> dims = ParallelDims(conflict.program, other);
  const bool words = backend == TargetBackend::kMosaicTpu || backend == TargetBackend::kGeneric;
  const bool resident = backend == TargetBackend::kMosaicTpu && OperandOf(conflict.buffer).mode == BlockMode::kResident;
  if (!words || dims.empty() || (resident && AreApart(conflict.program, other))) return {};
  return {.kind = Mend::Kind::kArbitrary, .object = {}, .amount = static_cast<std::int64_t>(dims[0])};
}

}  // namespace palladion::launch
