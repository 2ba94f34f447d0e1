// The limits of a GPU kernel, each a row (limit_row.h). `palladion explain ILLEGAL` lists them, docs/spec/gpu-limits.md
// is made of them, and a finding carries the name. Only what is known from the text is judged here; values are checked
// during a run. Does not catch: what ptxas refuses (registers of one thread), what inline_mgpu does.
#ifndef PALLADION_EMU_CHECK_LEGALITY_GPU_LIMITS_H_
#define PALLADION_EMU_CHECK_LEGALITY_GPU_LIMITS_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "emu/check/legality/legality.h"
#include "emu/check/legality/limit_row.h"
#include "emu/chip/layouts/gpu_facts.h"

namespace palladion::legality {

template <class Site>
using GpuLimit = Limit<Site>;

// Where the walk over the body stands.
struct GpuScope {
  const layouts::GpuFacts* facts = nullptr;
  const Instr* warp = nullptr;          // the core_map over warps that the instruction is in
  std::vector<bool> defined_in_warp{};  // by value
};

// ---- what rules are about

struct KernelSite {
  const layouts::GpuFacts& facts;
};
struct AllocatedRefSite {  // one parameter of run_scoped or run_state
  const layouts::GpuFacts& facts;
  const Instr& op;
  const ValueInfo& value;
};
struct BarrierSite {  // one group of barriers, of any owner
  const layouts::GpuFacts& facts;
  const Type& type;
};
struct OpSite {
  const GpuScope& scope;
  const Instr& op;
};
struct ViewSite {  // one ref operand of any operation
  const layouts::GpuFacts& facts;
  const Instr& op;
  const layouts::GpuView& view;
};
struct AccessSite {  // get, swap, mgpu.load and the like: the ref that is read or written
  const GpuScope& scope;
  const Instr& op;
  const layouts::GpuView& view;
};

// ---- the tables, one for each file of this folder
absl::Span<const GpuLimit<KernelSite>> MeshLimits();
absl::Span<const GpuLimit<KernelSite>> RegisterLimits();
absl::Span<const GpuLimit<AllocatedRefSite>> AllocationLimits();
absl::Span<const GpuLimit<BarrierSite>> BarrierLimits();
absl::Span<const GpuLimit<OpSite>> BarrierUseLimits();  // of operations at barriers, and of cluster launch control
absl::Span<const GpuLimit<OpSite>> DeviceLimits();      // of stores to all devices and loads of all
absl::Span<const GpuLimit<OpSite>> PeerLimits();        // of refs of another device
absl::Span<const GpuLimit<OpSite>> OperationLimits();   // semaphores, operations of other generations
absl::Span<const GpuLimit<OpSite>> ValueLimits();       // arithmetic of element types
absl::Span<const GpuLimit<OpSite>> WarpLimits();
absl::Span<const GpuLimit<ViewSite>> ViewLimits();
absl::Span<const GpuLimit<AccessSite>> AccessLimits();
absl::Span<const GpuLimit<OpSite>> PrefetchLimits();
absl::Span<const GpuLimit<AllocatedRefSite>> TmemAllocationLimits();
absl::Span<const GpuLimit<ViewSite>> TmemViewLimits();
absl::Span<const GpuLimit<OpSite>> PairLimits();  // of operations of two blocks together
// A copy and a matrix product have much to look up, which their files keep to themselves.
void CheckCopy(Legality& legality, const GpuScope& scope, const Instr& op);
void CheckWgmma(Legality& legality, const GpuScope& scope, const Instr& op);
void CheckTcgen05(Legality& legality, const GpuScope& scope, const Instr& op);
void CheckTmemCopy(Legality& legality, const GpuScope& scope, const Instr& op);
void ListCopyLimits(std::vector<LimitText>& texts);
void ListRowLimits(std::vector<LimitText>& texts);  // of copies by arrays of indices
void ListWgmmaLimits(std::vector<LimitText>& texts);
void ListTcgen05Limits(std::vector<LimitText>& texts);
void ListTmemCopyLimits(std::vector<LimitText>& texts);
// Loads and stores of tensor memory and the layouts of their values: the whole body at once.
void CheckTmemTransfers(Legality& legality, const layouts::GpuFacts& facts);
void ListTmemTransferLimits(std::vector<LimitText>& texts);
// Reads in a layout that the kernel names: the whole body at once.
void CheckReads(Legality& legality, const layouts::GpuFacts& facts);
void ListReadLimits(std::vector<LimitText>& texts);
// Layouts of values: the whole body at once.
void CheckLayouts(Legality& legality, const layouts::GpuFacts& facts);
void ListLayoutLimits(std::vector<LimitText>& texts);  // and of strided accesses
// Of one access with lane semantics to what has no tiles, by a value of `type` in the strided layout.
enum class StridedUse : std::uint8_t { kRead, kWrite, kWriteSplat, kUpdate };
void CheckStrided(Legality& legality, const layouts::GpuFacts& facts, const Instr& op, const Type& type,
                  StridedUse use);
void ListStridedLimits(std::vector<LimitText>& texts);

std::vector<LimitText> AllGpuLimits();

template <class Site>
void Judge(Legality& legality, const Instr& op, absl::Span<const GpuLimit<Site>> limits, const Site& site) {
  for (const GpuLimit<Site>& limit : limits) {
    if (limit.text.until_jax_0_10 && legality.jax_0_11) continue;
    if (limit.text.only_from_jax && !legality.jax) continue;
    const std::optional<std::string> found = limit.found(site);
    if (found.has_value())
      legality.Illegal(op, op.name + ": " + MessageOf(limit.text, *found), std::string(limit.text.fix),
                       limit.text.about);
  }
}

// The tables, on a kernel of Mosaic GPU.
void CheckGpuLimits(Legality& legality);

}  // namespace palladion::legality

#endif  // PALLADION_EMU_CHECK_LEGALITY_GPU_LIMITS_H_
