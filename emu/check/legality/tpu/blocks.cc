// Launches, blocks and operands of a TPU kernel. Based on: JAX 0.10.2, jax/_src/pallas/mosaic/lowering.py
// (_check_block_mappings, MosaicGridMapping, lower_jaxpr_into_pipelined_module) and tpu_custom_call.py.
#include <algorithm>

#include "emu/check/legality/tpu/limits.h"
#include "semantics/base/cat.h"
#include "semantics/base/saturating.h"
#include "semantics/ir/view_type.h"
#include "semantics/registry/op_row.h"
#include "semantics/registry/rule_rows.h"

namespace palladion::legality {
namespace {

constexpr std::int64_t kLanes = 128, kSublanes = 8, kMostBuffers = 2;

std::optional<std::int64_t> IntOf(const AttrMap& attrs, std::string_view name) {
  const Attr* attr = Find(attrs, name);
  const auto* value = attr == nullptr ? nullptr : std::get_if<std::int64_t>(&attr->value);
  return value == nullptr ? std::nullopt : std::optional(*value);
}

bool IsHbm(Space space) { return space == Space::kAny || space == Space::kHbm; }

std::string Blocks(const TpuOperandSite& site) {
  return Cat(site.operand.block.has_value() ? TpuBlockText(*site.operand.block) : "the whole", " of ",
             ToString(site.array));
}

// Blocks that the lowering looks at: semaphores have none, and one in smem that never moves is free.
bool IsFree(const TpuOperandSite& site) {
  return site.space == Space::kSemaphore || (site.space == Space::kSmem && site.trivial);
}

// Sizes of block and array with the words of PRNG keys as a dimension of their own, as the lowering has it.
struct Blocked {
  Shape block, array;
};
Blocked PhysicalShapes(const TpuOperandSite& site) {
  Blocked shapes{.block = {}, .array = site.array.shape};
  const std::optional<BlockSpec>& block = site.operand.block;
  for (std::size_t d = 0; d < site.array.shape.size(); ++d)
    shapes.block.push_back(block.has_value() && d < block->dims.size() ? block->dims[d].size : site.array.shape[d]);
  if (WordsPerElement(site.array) > 1) {
    shapes.block.push_back(static_cast<std::int64_t>(WordsPerElement(site.array)));
    shapes.array.push_back(static_cast<std::int64_t>(WordsPerElement(site.array)));
  }
  return shapes;
}

std::optional<std::string> Hbm(const TpuOperandSite& site) {
  if (!IsHbm(site.space) || site.trivial || site.array.shape.empty()) return std::nullopt;
  return Cat(Blocks(site), " in ", Name(site.space));
}

std::optional<std::string> Rank(const TpuOperandSite& site) {
  if (IsFree(site) || !PhysicalShapes(site).array.empty()) return std::nullopt;
  return Cat(ToString(site.array), " in ", Name(site.space));
}

std::optional<std::string> NoGrid(const TpuOperandSite& site) {
  if (site.trivial || !site.legality.kernel().launch.grid.empty()) return std::nullopt;
  return Blocks(site);
}

std::optional<std::string> RankOne(const TpuOperandSite& site) {
  const auto [block, array] = PhysicalShapes(site);
  if (IsFree(site) || block.size() != 1) return std::nullopt;
  const DType dtype = site.array.dtype;
  const int bits = IsBool(dtype) ? 32 : Info(dtype).bits;  // a bool is an i32 in memory
  const std::int64_t n = block[0], tile = kLanes * std::max(1, 32 / bits);
  const bool power = n >= tile && (n & (n - 1)) == 0;
  if (n == array[0] || n % (kLanes * kSublanes) == 0 || power) return std::nullopt;
  return Cat(n, " of ", ToString(site.array), ", a tile of which is ", tile);
}

// The dimension so far from the end, which neither is all of the array's nor a multiple of `multiple`.
std::optional<std::string> NoTile(const TpuOperandSite& site, std::size_t from_end, std::int64_t multiple) {
  const auto [block, array] = PhysicalShapes(site);
  if (IsFree(site) || block.size() < 2) return std::nullopt;
  const std::int64_t n = block[block.size() - from_end], all = array[array.size() - from_end];
  if (n == all || n % multiple == 0) return std::nullopt;
  return Cat(n, " in ", Blocks(site), ": the next multiple is ", RoundUp(n, multiple));
}
std::optional<std::string> Sublanes(const TpuOperandSite& site) { return NoTile(site, 2, kSublanes); }
std::optional<std::string> Lanes(const TpuOperandSite& site) { return NoTile(site, 1, kLanes); }

bool HasKind(const TpuOperandSite& site, BlockDim::Kind kind) {
  const std::vector<BlockDim>& dims = site.operand.block->dims;
  return std::any_of(dims.begin(), dims.end(), [kind](const BlockDim& dim) { return dim.kind == kind; });
}

// What a pipeline of the TPU's compiler copies: not what stays in HBM, nothing without a grid.
bool IsPiped(const TpuOperandSite& site) {
  return site.operand.block.has_value() && !IsHbm(site.space) && site.space != Space::kSemaphore &&
         !site.legality.kernel().launch.grid.empty();
}

std::optional<std::string> Kind(const TpuOperandSite& site) {
  if (!IsPiped(site)) return std::nullopt;
  if (HasKind(site, BlockDim::Kind::kBoundedSlice)) return "a pl.BoundedSlice";
  if (HasKind(site, BlockDim::Kind::kIndirect)) return "a pl.Indirect";
  return std::nullopt;
}

std::optional<std::string> Elements(const TpuOperandSite& site) {
  if (!IsPiped(site) || !HasKind(site, BlockDim::Kind::kElement) || !HasKind(site, BlockDim::Kind::kBlocked))
    return std::nullopt;
  return Cat("both in ", Blocks(site));
}

// The block's pipeline mode; nullptr where there is none, or it is not looked at: a block in vmem that never moves.
const AttrMap* Mode(const TpuOperandSite& site) {
  if (!IsPiped(site) || !site.operand.block->buffered.has_value()) return nullptr;
  return site.space == Space::kVmem && site.trivial ? nullptr : &*site.operand.block->buffered;
}

std::optional<std::string> Lookahead(const TpuOperandSite& site) {
  const Attr* lookahead = Mode(site) == nullptr ? nullptr : Find(*Mode(site), "use_lookahead");
  if (lookahead == nullptr || !(lookahead->value == Attr{true}.value)) return std::nullopt;
  return "use_lookahead=True";
}

std::optional<std::string> Buffers(const TpuOperandSite& site) {
  if (Mode(site) == nullptr) return std::nullopt;
  const std::int64_t count = IntOf(*Mode(site), "buffer_count").value_or(kMostBuffers);
  if (count >= 1 && count <= kMostBuffers) return std::nullopt;
  return Cat(count);
}

std::optional<std::string> Revisit(const TpuOperandSite& site) {
  const Attr* revisit = Mode(site) == nullptr ? nullptr : Find(*Mode(site), "revisit");
  if (revisit == nullptr || !(revisit->value == Attr{AttrIdent{"any"}}.value)) return std::nullopt;
  const std::int64_t count = IntOf(*Mode(site), "buffer_count").value_or(kMostBuffers);
  return count > 1 ? std::optional(Cat(count)) : std::nullopt;
}

std::optional<std::string> WideOperand(const TpuOperandSite& site) {
  if (site.array.element != ElementKind::kData || Info(site.array.dtype).bits != 64) return std::nullopt;
  return ToString(site.array);
}

// JAX's lowering takes it for every chip; of chips without it its own table says so.
std::optional<std::string> NoCmem(const TpuOperandSite& site) {
  const machines::Chip* chip = site.legality.chip();
  if (site.space != Space::kCmem || chip == nullptr || chip->cmem_bytes > 0) return std::nullopt;
  return Cat(ToString(site.array), " in cmem on ", chip->name);
}

std::optional<std::string> OtherSpace(const TpuOperandSite& site) {
  if (site.space != Space::kGmem && site.space != Space::kTmem && site.space != Space::kRegs) return std::nullopt;
  return std::string(Name(site.space));
}

std::optional<std::string> Semantics(const Kernel& kernel) {
  const Attr* attr = Find(kernel.params, "dimension_semantics");
  const auto* list = attr == nullptr ? nullptr : std::get_if<AttrList>(&attr->value);
  if (list == nullptr) return std::nullopt;
  if (!kernel.launch.mesh.empty()) return "a kernel over a mesh, which has its own";
  const std::size_t dims = kernel.launch.grid.size() - kernel.launch.vmapped.size();
  if (list->size() == dims) return std::nullopt;
  return Cat(list->size(), " for a grid of ", dims, dims == 1 ? " dimension" : " dimensions");
}

bool UsesBarrierSemaphore(const Kernel& kernel) {
  static const RuleRows kBarrier("get_barrier_semaphore");
  bool uses = false;
  ForEachInstr(kernel.bodies[0].region, [&](const Instr& op) { uses = uses || kBarrier.Has(op); });
  return uses;
}

std::optional<std::string> CollectiveId(const Kernel& kernel) {
  const bool given = IntOf(kernel.params, "collective_id").has_value(), used = UsesBarrierSemaphore(kernel);
  const Attr* allowed = Find(kernel.params, "allow_collective_id_without_custom_barrier");
  if (used && !given) return "a barrier semaphore without a collective_id";
  if (used || !given || (allowed != nullptr && allowed->value == Attr{true}.value)) return std::nullopt;
  return "a collective_id without a barrier semaphore";
}

constexpr std::string_view kBlockSource = "lowering.py, _check_block_mappings";
constexpr std::string_view kPipelineSource = "lowering.py, lower_jaxpr_into_pipelined_module";

constexpr Limit<TpuOperandSite> kHbmBlockLimits[] = {
    {{"tpu.block.hbm", "a block in any or hbm is its whole array, with an index map of literal zeros", kBlockSource,
      "leave the block out and copy the part you need"},
     Hbm},
};

constexpr Limit<TpuOperandSite> kBlockLimits[] = {
    {{"tpu.block.rank", "a block outside of smem has rank 1 or more", kBlockSource, "put the scalar into smem"}, Rank},
    {{"tpu.block.grid", "in a kernel without a grid every block is its whole array", kPipelineSource,
      "give the kernel a grid, or leave the block out"},
     NoGrid},
    {{"tpu.block.tile-1d",
      "a block of rank 1 is all of its array, a multiple of 1024, or a power of two that fills a tile of 128 lanes of "
      "32 bits",
      kBlockSource, "use a multiple of 1024", false, false, About::kShape},
     RankOne},
    {{"tpu.block.sublanes", "the last but one dimension of a block is a multiple of 8 or all of its array's",
      kBlockSource, "use the next multiple of 8 as the last but one dimension", false, false, About::kShape},
     Sublanes},
    {{"tpu.block.lanes", "the last dimension of a block is a multiple of 128 or all of its array's", kBlockSource,
      "use the next multiple of 128 as the last dimension", false, false, About::kShape},
     Lanes},
    {{"tpu.block.kind", "dimensions of a block are sizes, pl.Element or None", kPipelineSource,
      "use emit_pipeline in the kernel"},
     Kind},
    {{"tpu.block.elements", "all dimensions of a block are pl.Element (or None), or none is", kPipelineSource,
      "make the others pl.Element too"},
     Elements},
    {{"tpu.block.lookahead", "a block of pallas_call has no lookahead", kPipelineSource,
      "use emit_pipeline in the kernel"},
     Lookahead},
    {{"tpu.block.buffers", "a block of pallas_call has 1 or 2 buffers", kPipelineSource,
      "use pl.Buffered(2), or emit_pipeline in the kernel"},
     Buffers},
    {{"tpu.block.revisit", "a block that may be visited again at any time (revisit=any) has 1 buffer", kPipelineSource,
      "use pl.Buffered(1, revisit=pl.RevisitMode.ANY)"},
     Revisit},
};

constexpr std::string_view kUseVmem = "use pltpu.VMEM";

constexpr Limit<TpuOperandSite> kOperandLimits[] = {
    {{"tpu.operand.bits", "there are no 64-bit numbers", "lowering.py, _convert_element_type_lowering_rule",
      "use 32-bit types", false, false, About::kType},
     WideOperand},
    {{"tpu.operand.space", "memory is vmem, smem, hbm, any or semaphores",
      "lowering.py, _memory_space_to_mosaic_attribute", "use a memory space of jax.experimental.pallas.tpu"},
     OtherSpace},
    {{"tpu.operand.cmem", "cmem is used only on chips that have it, such as v4", "tpu_info.py, cmem_capacity_bytes",
      kUseVmem},
     NoCmem},
};

// Written by the exporter; the compiler's own parameters have no such name.
std::optional<std::string> Partitioned(const Kernel& kernel) {
  const Attr* axes = Find(kernel.params, "partitioned");
  if (axes == nullptr) return std::nullopt;
  return Cat("a kernel for XLA to partition over ", ToString(*axes));
}

constexpr Limit<Kernel> kLaunchLimits[] = {
    {{"tpu.launch.partitioned",
      "a kernel is not partitioned by XLA: arrays over several devices reach it in a shard_map over all axes",
      "tpu_custom_call.py, _tpu_custom_call_lowering", "wrap the call in a jax.shard_map over all axes of the mesh"},
     Partitioned},
    {{"tpu.launch.semantics", "dimension_semantics has one entry for each dimension of the grid",
      "lowering.py, MosaicGridMapping", "give as many entries as the grid has dimensions"},
     Semantics},
    {{"tpu.launch.collective-id", "a kernel has a collective_id if and only if it gets the barrier semaphore",
      "tpu_custom_call.py, _lower_to_custom_call_config",
      "set collective_id of pltpu.CompilerParams for kernels that call get_barrier_semaphore"},
     CollectiveId},
};

}  // namespace

absl::Span<const Limit<TpuOperandSite>> TpuHbmBlockLimits() { return kHbmBlockLimits; }
absl::Span<const Limit<TpuOperandSite>> TpuBlockLimits() { return kBlockLimits; }
absl::Span<const Limit<TpuOperandSite>> TpuOperandLimits() { return kOperandLimits; }
absl::Span<const Limit<Kernel>> TpuLaunchLimits() { return kLaunchLimits; }

}  // namespace palladion::legality
