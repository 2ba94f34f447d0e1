// The registry: the rows of all families, in one array, found by dialect and name.
#include <algorithm>
#include <tuple>
#include <vector>

#include "semantics/ops/families.h"
#include "semantics/ops/gpu_families.h"
#include "semantics/registry/op_row.h"

namespace palladion {
namespace {

auto Key(const OpRow& row) { return std::tie(row.name, row.dialect); }

std::vector<OpRow> SortedRows() {
  std::vector<OpRow> rows;
  for (absl::Span<const OpRow> family :
       {ArithmeticOps(),  BitwiseOps(),    CallOps(),       CompareOps(),     ControlOps(),       ConvertOps(),
        DotOps(),         GatherOps(),     GpuBarrierOps(), GpuControlOps(),  GpuCopyOps(),       GpuMemoryOps(),
        GpuStoreOps(),    SemaphoreOps(),  GpuWarpOps(),    GpuWgmmaOps(),    GpuTcgen05Ops(),    GpuTmemOps(),
        IdentityOps(),    JoinOps(),       MathOps(),       Math2Ops(),       ProgramOps(),       RandomOps(),
        ReduceOps(),      RefOps(),        RoundingOps(),   ScatterOps(),     ScopeOps(),         ShapeOps(),
        SliceOps(),       SortOps(),       TpuBitOps(),     TpuCopyOps(),     TpuOps(),           RingOps(),
        UnsupportedOps(), TpuRandomOps(),  TpuMatrixOps(),  RegisterMmaOps(), ClusterCancelOps(), NamedBarrierOps(),
        MultimemOps(),    GpuTmemCopyOps()}) {
    rows.insert(rows.end(), family.begin(), family.end());
  }
  std::sort(rows.begin(), rows.end(), [](const OpRow& a, const OpRow& b) { return Key(a) < Key(b); });
  return rows;
}

}  // namespace

absl::Span<const OpRow> AllOps() {
  static const std::vector<OpRow>* const kRows = new std::vector<OpRow>(SortedRows());
  return *kRows;
}

const OpRow* FindOp(std::string_view dialect, std::string_view name) {
  const absl::Span<const OpRow> rows = AllOps();
  const auto wanted = std::tie(name, dialect);
  const auto found = std::lower_bound(rows.begin(), rows.end(), wanted,
                                      [](const OpRow& row, const auto& key) { return Key(row) < key; });
  return found != rows.end() && Key(*found) == wanted ? &*found : nullptr;
}

const OpRow& RowOf(const Instr& op) {
  static constexpr OpRow kUnknown;
  const OpRow* row = op.row != nullptr ? op.row : FindOp(op.dialect, op.name);
  return row != nullptr ? *row : kUnknown;
}

}  // namespace palladion
