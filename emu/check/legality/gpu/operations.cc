// Operations that the chip's generation does not have, and rules of single operations. Sources: PTX, "Target
// Architecture" of the instructions; JAX 0.10.2, jax/_src/pallas/mosaic_gpu/primitives.py (semaphore_signal,
// set_max_registers) and lowering.py (get_global, select_n, scan).
#include <algorithm>

#include "emu/check/legality/gpu/limits.h"
#include "emu/check/legality/scan_loops.h"
#include "emu/chip/layouts/register_facts.h"
#include "semantics/base/cat.h"
#include "semantics/registry/rule_rows.h"

namespace palladion::legality {
namespace {

constexpr std::int64_t kFewestRegisters = 24, kMostRegisters = 256, kRegisterStep = 8;
constexpr int kHopper = 9, kBlackwell = 10;

const machines::Chip* ChipOf(const OpSite& site) { return site.scope.facts->chip; }

std::optional<std::string> TensorMemory(const OpSite& site) {
  static const RuleRows kTensorCore5("tcgen05_mma", "tcgen05_commit_arrive", "commit_tmem", "async_load_tmem",
                                     "async_store_tmem", "wait_load_tmem", "async_copy_smem_to_tmem",
                                     "async_copy_scales_to_tmem", "async_copy_sparse_metadata_to_tmem");
  if (!kTensorCore5.Has(site.op) || ChipOf(site) == nullptr || ChipOf(site)->generation >= kBlackwell)
    return std::nullopt;
  return Cat("the target's chip ", ChipOf(site)->name);
}

std::optional<std::string> LaunchControl(const OpSite& site) {
  static const RuleRows kLaunchControl("try_cluster_cancel", "query_cluster_cancel");
  if (!kLaunchControl.Has(site.op) || ChipOf(site) == nullptr || ChipOf(site)->generation >= kBlackwell)
    return std::nullopt;
  return Cat("the target's chip ", ChipOf(site)->name);
}

std::optional<std::string> Wgmma(const OpSite& site) {
  static const RuleRows kProducts("wgmma", "wgmma_ref", "wgmma_wait", "wgmma_accumulator_deref",
                                  "wgmma_accumulator_store");
  if (!kProducts.Has(site.op) || ChipOf(site) == nullptr || ChipOf(site)->generation == kHopper) return std::nullopt;
  return Cat("the target's chip ", ChipOf(site)->name);
}

std::optional<std::string> RegisterCount(const OpSite& site) {
  if (!layouts::SetsRegisters(site.op) || site.op.args.empty()) return std::nullopt;
  const std::optional<std::int64_t> count = layouts::LiteralInt(site.op.args[0]);
  if (!count.has_value()) return "a number known only at run time";
  if (*count >= kFewestRegisters && *count <= kMostRegisters && *count % kRegisterStep == 0) return std::nullopt;
  return Cat(*count);
}

std::optional<std::string> State(const OpSite& site) {
  if (RowOf(site.op).allocates != Allocates::kState) return std::nullopt;
  if (site.op.args.empty()) return "no ref of its own";
  const bool uninitialized = std::any_of(site.op.args.begin(), site.op.args.end(),
                                         [](const Arg& arg) { return arg.kind == Arg::Kind::kNone; });
  return uninitialized ? std::optional<std::string>("a ref without a first value") : std::nullopt;
}

std::optional<std::string> Cases(const OpSite& site) {
  static const RuleRows kSelects("select_n");
  if (!kSelects.Has(site.op) || site.op.args.size() == 3) return std::nullopt;
  return Cat(site.op.args.size() - 1);
}

std::optional<std::string> Backward(const OpSite& site) { return ScansBackward(site.op); }
std::optional<std::string> Arrays(const OpSite& site) { return ScansArrays(site.op); }

// ---- semaphores

bool IsSignal(const Instr& op) {
  static const RuleRows kSignals("semaphore_signal");
  return kSignals.Has(op);
}

std::optional<std::string> CoreIndex(const OpSite& site) {
  if (!IsSignal(site.op) || layouts::ArgNamed(site.op, "core_index") == nullptr) return std::nullopt;
  return "a core_index";
}

std::optional<std::string> Scope(const OpSite& site) {
  if (!IsSignal(site.op) || layouts::ArgNamed(site.op, "device_id") == nullptr) return std::nullopt;
  if (layouts::WordOf(site.op.attrs, "memory_scope") != "gpu") return std::nullopt;
  return "memory_scope='gpu' with a device_id";
}

std::optional<std::string> OneSemaphore(const OpSite& site) {
  static const RuleRows kOfSemaphores("semaphore_signal", "semaphore_signal_parallel", "semaphore_signal_multicast",
                                      "semaphore_wait", "semaphore_read");
  if (!kOfSemaphores.Has(site.op)) return std::nullopt;
  const Kernel& kernel = *site.scope.facts->kernel;
  for (const Arg& arg : site.op.args) {
    if (arg.name != "ref" || !layouts::IsRefArg(kernel, arg)) continue;
    const layouts::GpuView view = layouts::GpuViewOf(kernel, arg);
    if (view.shape.has_value() && !view.shape->empty()) return Cat("semaphores of shape ", ToString(*view.shape));
  }
  return std::nullopt;
}

std::optional<std::string> Amount(const OpSite& site) {
  static const RuleRows kSignals("semaphore_signal", "semaphore_signal_parallel", "semaphore_signal_multicast");
  if (!kSignals.Has(site.op)) return std::nullopt;
  for (const Arg& arg : site.op.args) {
    if (arg.name == "inc" && arg.kind == Arg::Kind::kValue)
      return Cat("%", site.scope.facts->kernel->values[arg.value.index()].name);
  }
  return std::nullopt;
}

std::optional<std::string> GlobalSemaphores(const OpSite& site) {
  if (RowOf(site.op).allocates != Allocates::kGrid || site.op.types.empty()) return std::nullopt;
  const ElementKind element = site.op.types[0].element;
  if (element == ElementKind::kSem) return std::nullopt;
  return ToString(site.op.types[0]);
}

constexpr std::string_view kScan = "Mosaic GPU lowering, scan";
constexpr std::string_view kChooseTarget = "use what the chip has, or choose another target";

constexpr GpuLimit<OpSite> kOperationLimits[] = {
    {{"machine.tcgen05", "tcgen05 and tensor memory are Blackwell's (sm_100 and later)", "PTX, tcgen05", kChooseTarget},
     TensorMemory},
    {{"machine.cluster-launch-control", "cluster launch control is Blackwell's (sm_100 and later)",
      "PTX, clusterlaunchcontrol", kChooseTarget},
     LaunchControl},
    {{"machine.wgmma", "wgmma is Hopper's (sm_90a) alone", "PTX, wgmma", kChooseTarget}, Wgmma},
    {{"registers.count", "a thread requests a multiple of 8 registers, from 24 to 256, known at compile time",
      "PTX, setmaxnreg", "give another number"},
     RegisterCount},
    {{"state.refs", "run_state has at least one ref of its own, and each has a first value",
      "Mosaic GPU lowering, run_state", "begin with plgpu.ACC.init, or use pl.run_scoped"},
     State},
    {{"select.cases", "select_n has two cases", "Mosaic GPU lowering, select_n", "nest several jnp.where"}, Cases},
    {{"scan.reverse", "a scan runs forward", kScan, "use fori_loop and count down"}, Backward},
    {{"scan.arrays", "a scan only carries values: it neither goes through arrays nor stacks results", kScan,
      "use fori_loop, and index refs by its counter"},
     Arrays},
    {{"semaphore.core-index", "a GPU has no cores to name", "Mosaic GPU lowering, semaphore_signal",
      "leave core_index out"},
     CoreIndex},
    {{"semaphore.scope", "memory_scope='gpu' reaches the own device only", "Mosaic GPU lowering, semaphore_signal",
      "give memory_scope='sys'"},
     Scope},
    {{"semaphore.one", "an operation uses one semaphore, of shape ()", "pl.semaphore_signal, pl.semaphore_wait",
      "index the ref"},
     OneSemaphore},
    {{"semaphore.amount", "the number that a signal adds is known at compile time (the number of a wait need not be)",
      "Mosaic GPU lowering, semaphore_signal", "signal by 1 in a loop, or by each number in a branch of its own"},
     Amount},
    {{"semaphore.global", "pl.get_global allocates semaphores of SemaphoreType.REGULAR only",
      "Mosaic GPU lowering, get_global", "pass other memory as an operand, and count with a regular semaphore"},
     GlobalSemaphores},
};

}  // namespace

absl::Span<const GpuLimit<OpSite>> OperationLimits() { return kOperationLimits; }

}  // namespace palladion::legality
