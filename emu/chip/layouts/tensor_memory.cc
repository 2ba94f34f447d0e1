#include "emu/chip/layouts/tensor_memory.h"

#include <utility>

#include "semantics/base/cat.h"
#include "semantics/ir/tmem_layout.h"
#include "semantics/registry/op_row.h"

namespace palladion::layouts {
namespace {

constexpr std::int64_t kFewestColumns = 32, kColumnsOfRef = 8;

std::int64_t Columns(const std::vector<TensorMemoryPart>& parts) {
  std::int64_t columns = 0;
  for (const TensorMemoryPart& part : parts) columns += part.columns;
  return columns;
}

void AddAllocated(const Region& region, const Kernel& kernel, std::vector<TensorMemoryPart>* parts) {
  for (const Param& param : region.params) {
    const ValueInfo& value = kernel.values[param.value.index()];
    const Type& type = value.type;
    if (!type.is_ref() || type.space != Space::kTmem || type.element != ElementKind::kData) continue;
    const std::int64_t columns = (TmemColumns(type) + kColumnsOfRef - 1) / kColumnsOfRef * kColumnsOfRef;
    parts->push_back({Cat("'", value.label.empty() ? value.name : value.label, "' (", ToString(type), ")"), columns});
  }
}

std::vector<TensorMemoryPart> Most(const Region& region, const Kernel& kernel) {
  std::vector<TensorMemoryPart> most;
  for (const Instr& op : region.body) {
    std::vector<TensorMemoryPart> here;
    for (const Region& inner : op.regions) {
      std::vector<TensorMemoryPart> of_inner = Most(inner, kernel);
      if (Columns(of_inner) > Columns(here)) here = std::move(of_inner);
    }
    if (RowOf(op).allocates == Allocates::kScope && !op.regions.empty()) AddAllocated(op.regions[0], kernel, &here);
    if (Columns(here) > Columns(most)) most = std::move(here);
  }
  return most;
}

}  // namespace

std::vector<TensorMemoryPart> TensorMemoryOfScopes(const Kernel& kernel) {
  return Most(kernel.bodies[0].region, kernel);
}

std::int64_t AllocatedColumns(const std::vector<TensorMemoryPart>& parts) {
  const std::int64_t columns = Columns(parts);
  if (columns == 0) return 0;
  std::int64_t allocated = kFewestColumns;
  while (allocated < columns) allocated *= 2;
  return allocated;
}

}  // namespace palladion::layouts
