// What a GPU kernel allocates, and how. Sources: JAX 0.10.2, jax/_src/pallas/mosaic_gpu/lowering.py
// (_run_scoped_lowering_rule, its resource estimator, _is_block_local_scope), jax/experimental/mosaic/gpu/wgmma.py
// (WGMMAAccumulator.zero). Sizes are checked in capacity.cc.
#include "absl/strings/str_join.h"
#include "emu/check/legality/gpu/limits.h"
#include "semantics/base/cat.h"
#include "semantics/registry/op_row.h"

namespace palladion::legality {
namespace {

constexpr std::int64_t kMinRowsOfProduct = 64, kMinColumnsOfProduct = 8;

bool IsScope(const AllocatedRefSite& site) { return RowOf(site.op).allocates == Allocates::kScope; }

bool IsSemaphore(const Type& type) { return type.element == ElementKind::kSem; }

bool IsAccumulator(const Type& type) { return type.element == ElementKind::kData && type.space == Space::kRegs; }

std::vector<std::string> AxesOf(const AllocatedRefSite& site) {
  return layouts::NamesOf(site.op.attrs, "collective_axes");
}

std::string AxesText(const AllocatedRefSite& site) {
  return Cat("collective_axes=[", absl::StrJoin(AxesOf(site), ", "), "]");
}

bool IsThreadCollective(const AllocatedRefSite& site) {
  const std::vector<std::string> axes = AxesOf(site);
  return site.facts.threads.has_value() && axes.size() == 1 && axes[0] == site.facts.thread_name;
}

std::optional<std::string> Collective(const AllocatedRefSite& site) {
  if (!IsScope(site) || AxesOf(site).empty() || IsThreadCollective(site)) return std::nullopt;
  return Cat(AxesText(site), site.facts.threads.has_value()
                                 ? Cat(" where the threads' axis is '", site.facts.thread_name, "'")
                                 : " in a kernel without an axis of threads");
}

std::optional<std::string> ThreadCollective(const AllocatedRefSite& site) {
  if (!IsScope(site) || !site.facts.threads.has_value() || !AxesOf(site).empty() || IsAccumulator(site.value.type))
    return std::nullopt;
  return Cat(ToString(site.value.type), " with ", AxesText(site));
}

std::optional<std::string> Accumulator(const AllocatedRefSite& site) {
  if (!IsScope(site) || !IsAccumulator(site.value.type) || AxesOf(site).empty()) return std::nullopt;
  return Cat(ToString(site.value.type), " with ", AxesText(site));
}

std::optional<std::string> AccumulatorShape(const AllocatedRefSite& site) {
  const Type& type = site.value.type;
  if (!IsScope(site) || !IsAccumulator(type)) return std::nullopt;
  if (type.shape.size() == 2 && type.shape[0] % kMinRowsOfProduct == 0 && type.shape[1] % kMinColumnsOfProduct == 0)
    return std::nullopt;
  return ToString(type);
}

std::optional<std::string> AccumulatorType(const AllocatedRefSite& site) {
  const DType dtype = site.value.type.dtype;
  if (!IsAccumulator(site.value.type) || !(IsUnsigned(dtype) || IsBool(dtype))) return std::nullopt;
  return ToString(site.value.type);
}

std::optional<std::string> GlobalMemory(const AllocatedRefSite& site) {
  const Type& type = site.value.type;
  if (!IsScope(site) || IsSemaphore(type)) return std::nullopt;
  const bool on_chip = type.space == Space::kSmem || type.space == Space::kTmem || type.space == Space::kRegs;
  if (on_chip) return std::nullopt;
  return ToString(type);
}

std::optional<std::string> WholeBytes(const AllocatedRefSite& site) {
  const Type& type = site.value.type;
  if (type.element != ElementKind::kData || type.space != Space::kSmem) return std::nullopt;
  if (NumElements(type.shape) * Info(type.dtype).bits % 8 == 0 || IsBool(type.dtype)) return std::nullopt;
  return ToString(type);
}

std::optional<std::string> TensorMemory(const AllocatedRefSite& site) {
  if (site.value.type.space != Space::kTmem || site.facts.chip == nullptr || site.facts.chip->generation >= 10)
    return std::nullopt;
  return Cat(ToString(site.value.type), " on ", site.facts.chip->name);
}

constexpr std::string_view kLowering = "Mosaic GPU lowering, run_scoped";

constexpr GpuLimit<AllocatedRefSite> kAllocationLimits[] = {
    {{"scope.collective", "collective_axes of run_scoped is empty, or the axis of the threads alone", kLowering,
      "give collective_axes=() or the mesh's thread_name; pl.get_global allocates semaphores for the grid"},
     Collective},
    {{"scope.thread-collective",
      "in a kernel with an axis of threads, all threads allocate together whatever is not an accumulator", kLowering,
      "give collective_axes the mesh's thread_name"},
     ThreadCollective},
    {{"scope.accumulator", "a thread allocates its accumulator alone", kLowering,
      "allocate it in a run_scoped without collective_axes"},
     Accumulator},
    {{"scope.accumulator-shape", "an accumulator has a multiple of 64 rows and of 8 columns",
      "Mosaic GPU, WGMMAAccumulator.zero", "use a shape that wgmma has"},
     AccumulatorShape},
    {{"scope.accumulator-type", "an accumulator of integers is signed", "Mosaic GPU, WGMMAAccumulator.zero", "use i32"},
     AccumulatorType},
    {{"scope.gmem", "run_scoped allocates in SMEM, TMEM and registers; in GMEM only regular semaphores",
      "Mosaic GPU lowering, run_scoped's resource estimator", "pass the memory as an operand"},
     GlobalMemory},
    {{"scope.bytes", "an allocation in SMEM fills whole bytes", "plgpu.RefUnion, Mosaic GPU's shared memory",
      "make the shape larger"},
     WholeBytes},
    {{"machine.tmem", "tensor memory is Blackwell's (sm_100 and later)", "PTX, tcgen05",
      "accumulate in registers with wgmma, or choose another target"},
     TensorMemory},
};

}  // namespace

absl::Span<const GpuLimit<AllocatedRefSite>> AllocationLimits() { return kAllocationLimits; }

}  // namespace palladion::legality
