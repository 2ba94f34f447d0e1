#include "emu/check/legality/gpu/copy.h"

#include <algorithm>

#include "semantics/ir/view_type.h"
#include "semantics/registry/rule_rows.h"

namespace palladion::legality {

std::optional<std::int64_t> CopySite::PartitionedAxis() const {
  const Attr* attr = Find(op.attrs, "leader_tracked");
  const auto* map = attr == nullptr ? nullptr : std::get_if<AttrMap>(&attr->value);
  return map == nullptr ? std::nullopt : layouts::IntOf(*map, "axis");
}

Shape CopySite::Slice() const {
  Shape squeezed, kept;
  for (const GmemDim& dim : dims) (dim.squeezed ? squeezed : kept).push_back(dim.squeezed ? 1 : dim.size);
  const Shape tiled = layouts::TiledShape(kept, smem.tile);
  squeezed.insert(squeezed.end(), tiled.begin(), tiled.end());
  return squeezed;
}

namespace {

// One .at on what the indices before it left of the array.
void ApplyIndices(const std::vector<Index>& indices, const Kernel& kernel, CopySite& site) {
  std::size_t next = 0;
  for (std::size_t axis = 0; axis < site.dims.size(); ++axis) {
    GmemDim& dim = site.dims[axis];
    if (dim.squeezed) continue;
    if (next == indices.size()) break;
    const Index& index = indices[next++];
    if (index.stride != 1) site.strided = &index;
    if (index.kind == Index::Kind::kSlice) {
      const std::optional<std::int64_t> size = layouts::LiteralInt(index.size);
      site.followed = site.followed && size.has_value();
      dim.size = size.value_or(dim.size);
    } else if (index.kind == Index::Kind::kPoint) {
      const Type type = TypeOfArg(kernel, index.start);
      if (type.shape.empty()) {
        dim.squeezed = true;
      } else if (!site.gather.has_value()) {
        site.gather = type;
        if (index.start.kind == Arg::Kind::kValue) site.indices = index.start.value;
        site.gather_axis = axis;
        dim.size = type.shape[0];
      } else {
        site.followed = false;
      }
    } else if (index.kind == Index::Kind::kRef) {
      site.followed = false;
    }
  }
}

// What one block copies of a source whose parts go to several.
void TakePart(CopySite& site) {
  std::int64_t axis = site.PartitionedAxis().value_or(-1);
  for (GmemDim& dim : site.dims) {
    if (dim.squeezed || axis-- != 0) continue;
    if (dim.size % site.collective == 0) dim.size /= site.collective;
  }
}

}  // namespace

std::optional<CopySite> CopySiteOf(const GpuScope& scope, const Instr& op) {
  static const RuleRows kCopyIn("copy_gmem_to_smem");
  const bool to_smem = kCopyIn.Has(op);
  const Arg* gmem = layouts::ArgNamed(op, to_smem ? "src" : "dst");
  const Arg* smem = layouts::ArgNamed(op, to_smem ? "dst" : "src");
  const Kernel& kernel = *scope.facts->kernel;
  if (gmem == nullptr || smem == nullptr || !layouts::IsRefArg(kernel, *gmem) || !layouts::IsRefArg(kernel, *smem))
    return std::nullopt;
  CopySite site{.scope = scope,
                .op = op,
                .to_smem = to_smem,
                .gmem = layouts::GpuViewOf(kernel, *gmem),
                .smem = layouts::GpuViewOf(kernel, *smem)};
  for (const std::int64_t extent : site.gmem.ref.shape) site.dims.push_back({extent, extent, false});
  for (const Transform& transform : site.gmem.rest) {
    site.followed = site.followed && transform.kind == Transform::Kind::kAt;
    if (site.followed) ApplyIndices(transform.indices, kernel, site);
  }
  site.axes = layouts::NamesOf(op.attrs, "collective_axes");
  for (std::size_t i = 0; i < scope.facts->cluster_names.size() && i < scope.facts->cluster.size(); ++i) {
    if (std::find(site.axes.begin(), site.axes.end(), scope.facts->cluster_names[i]) != site.axes.end())
      site.collective *= scope.facts->cluster[i];
  }
  site.leader_tracked = layouts::IsGiven(op.attrs, "leader_tracked");
  TakePart(site);
  return site;
}

// Stores from one contiguous stretch into another need no tensor map.
bool IsBulk(const CopySite& site) {
  if (layouts::WordOf(site.op.attrs, "oob_mode") == "zeros" || site.smem.swizzle().has_value() ||
      !site.smem.tile.empty())
    return false;
  if (site.collective > 1 || layouts::IsGiven(site.op.attrs, "reduction_op")) return false;
  if (site.to_smem && layouts::WordOf(site.op.attrs, "oob_mode").empty()) return false;
  std::int64_t expected = 1, stride = 1;
  for (std::size_t i = site.dims.size(); i-- > 0;) {
    const std::int64_t size = site.dims[i].squeezed ? 1 : site.dims[i].size;
    if (size != 1 && stride != expected) return false;
    expected *= size;
    stride *= site.dims[i].extent;
  }
  return true;
}

}  // namespace palladion::legality
