#include "conformance/metamorphic/harmless.h"

namespace palladion::conformance {
namespace {

constexpr std::string_view kSignalAndWait =
    "semaphore_signal{device_id_type=mesh}(ref=%harmless, inc=1:i32, device_id=none, core_index=none); "
    "semaphore_wait(ref=%harmless, value=1:i32, decrement=true);";

// Nothing precedes what stands at the start of a body, so a wait there finds nothing to wait for, and a fence or a
// barrier nothing to order. Elsewhere they could mend a kernel.
constexpr Fact kOfAtomics[] = {Fact::kNoInteraction, Fact::kNothingDecides, Fact::kEverySchedule};
constexpr Fact kOfDecisions[] = {Fact::kNothingDecides};
constexpr Fact kOfWaits[] = {Fact::kDeterminateWaits};

constexpr Harmless kRows[] = {
    {.name = "unused_value",
     .backends = kEverywhere,
     .text = "%harmless_v = add(3:i32, 4:i32) : i32[];",
     .why = "an unused value (elementwise.md#add)"},
    {.name = "branch_never",
     .backends = kEverywhere,
     .text = "cond(false) { return; } { %harmless_v = add(3:i32, 4:i32) : i32[]; return; };",
     .why = "only the branch that is taken runs (control.md#1)"},
    {.name = "branch_computed",
     .backends = kEverywhere,
     .text = "$never cond(%harmless_never) { return; } { %harmless_v = add(3:i32, 4:i32) : i32[]; return; };",
     .why = "only the branch that is taken runs (control.md#1)"},
    {.name = "no_turns",
     .backends = kEverywhere,
     .text = "%harmless_s = scan{length=0, reverse=false}(init=0:i32) (%harmless_i: i32[]) "
             "{ %harmless_n = add(%harmless_i, 1:i32) : i32[]; return %harmless_n; } : i32[];",
     .why = "a scan of length 0 gives its carries back (control.md#scan)"},
    {.name = "while_never",
     .backends = kEverywhere,
     .text = "%harmless_w = while(init=0:i32) (%harmless_i: i32[]) "
             "{ %harmless_p = lt(%harmless_i, 0:i32) : bool[]; return %harmless_p; } "
             "(%harmless_j: i32[]) { %harmless_n = add(%harmless_j, 1:i32) : i32[]; return %harmless_n; } : i32[];",
     .why = "the body may run no time at all (control.md#while)"},
    {.name = "atomic_never",
     .backends = kGeneric | kTriton | kMosaicGpu,
     .text =
         "$never cond(%harmless_never) { return; } { _ = atomic_rmw{op=\"add\"}($counter, 1:i32) : i32[]; return; };",
     .why =
         "only the branch that is taken runs (control.md#1); the facts speak of the program, not of what ran, and "
         "programs with an atomic are tried in more orders, so more is seen of what a race does to values (checks.md)",
     .denies = kOfAtomics,
     .beside_conflicts = false},
    {.name = "jit_call",
     .backends = kEverywhere,
     .text = "jit{name=\"harmless\"}() () { return; };",
     .why = "a call of nothing (control.md#jit)"},
    {.name = "unused_array",
     .backends = kGeneric | kTriton | kMosaicTpu,
     .text = "%harmless_v = iota{dim=1}() : i32[8,128];",
     .why = "an unused value (shape.md#iota)"},
    {.name = "load_of_nothing",
     .backends = kGeneric | kTriton,
     .text = "%harmless_v = masked_load($counter, mask=false, other=0:i32) : i32[];",
     .why = "a lane that is masked off touches nothing (ref.md#masked_load)"},
    {.name = "update_of_nothing",
     .backends = kGeneric | kTriton,
     .text = "_ = atomic_rmw{op=\"add\"}($counter, 1:i32, mask=false) : i32[];",
     .why = "a lane that is masked off touches nothing (ref.md#atomic_rmw); the facts and orders are those of a "
            "program with "
            "an atomic, as for atomic_never",
     .denies = kOfAtomics,
     .beside_conflicts = false},
    {.name = "check_true",
     .backends = kGeneric | kMosaicTpu | kMosaicGpu,
     .text = "check{message=\"harmless\"}(true);",
     .why = "only a false predicate is a finding (program.md#check)"},
    {.name = "delay",
     .backends = kGeneric | kMosaicTpu | kMosaicGpu,
     .text = "delay(100:i32);",
     .why = "nothing happens to values (program.md#delay)"},
    {.name = "lanes_barrier",
     .backends = kTriton,
     .places = kAtStart,
     .text = "debug_barrier();",
     .why = "it orders the lanes of a program, which have done nothing yet (program.md#debug_barrier)"},

    {.name = "scope_unused",
     .backends = kGeneric | kMosaicTpu,
     .text = "run_scoped() (%harmless: ref<vmem,f32[8,128]>) { return; };",
     .why = "unused memory (ref.md#run_scoped)"},
    {.name = "scope_used",
     .backends = kGeneric | kMosaicTpu,
     .text = "run_scoped() (%harmless: ref<vmem,f32[8,128]>) "
             "{ %harmless_z = broadcast_in_dim{shape=[8,128], dims=[]}(0.0:f32) : f32[8,128]; "
             "_ = swap(%harmless, %harmless_z) : f32[8,128]; %harmless_g = get(%harmless) : f32[8,128]; return; };",
     .why = "memory of its own that it writes before it reads (ref.md#run_scoped)"},
    {.name = "scratch_unused",
     .backends = kGeneric | kMosaicTpu,
     .places = kAtStart,
     .scratch = "ref<vmem,f32[8,128]>",
     .text = "",
     .why = "unused memory"},

    {.name = "semaphore_scratch",
     .backends = kMosaicTpu,
     .places = kAtStart,
     .scratch = "ref<semaphore,sem[]>",
     .text = "",
     .why = "an unused semaphore is zero at the end (tpu-copies.md#dma_start)"},
    {.name = "dma_semaphore_scratch",
     .backends = kMosaicTpu,
     .places = kAtStart,
     .scratch = "ref<semaphore,dma_sem[]>",
     .text = "",
     .why = "an unused semaphore is zero at the end (tpu-copies.md#dma_start)"},
    {.name = "semaphore_scratch_used",
     .backends = kMosaicTpu,
     .scratch = "ref<semaphore,sem[]>",
     .text = kSignalAndWait,
     .why = "it waits for its own signal (gpu-semaphores.md#semaphore_wait), and no other core sees the semaphore"},
    {.name = "semaphore_scope",
     .backends = kMosaicTpu,
     .text = "run_scoped() (%harmless: ref<semaphore,sem[]>, %harmless_d: ref<semaphore,dma_sem[]>) { return; };",
     .why = "unused semaphores (ref.md#run_scoped)"},
    {.name = "semaphore_scope_used",
     .backends = kMosaicTpu,
     .text = "run_scoped() (%harmless: ref<semaphore,sem[]>) { "
             "semaphore_signal{device_id_type=mesh}(ref=%harmless, inc=1:i32, device_id=none, core_index=none); "
             "semaphore_wait(ref=%harmless, value=1:i32, decrement=true); return; };",
     .why = "it waits for its own signal (gpu-semaphores.md#semaphore_wait)"},
    {.name = "wait_for_zero",
     .backends = kMosaicTpu,
     .text = "run_scoped() (%harmless: ref<semaphore,sem[]>) "
             "{ semaphore_wait(ref=%harmless, value=0:i32, decrement=true); return; };",
     .why = "every count is at least 0 (gpu-semaphores.md#semaphore_wait)"},
    {.name = "semaphore_read",
     .backends = kMosaicTpu,
     .text = "run_scoped() (%harmless: ref<semaphore,sem[]>) "
             "{ %harmless_v = semaphore_read(ref=%harmless) : i32[]; return; };",
     .why = "an unused count (gpu-semaphores.md#semaphore_read)",
     .denies = kOfDecisions},
    {.name = "dma_never",
     .backends = kMosaicTpu,
     .text = "$never cond(%harmless_never) { return; } { run_scoped() (%harmless: ref<vmem,f32[8,128]>, "
             "%harmless_b: ref<vmem,f32[8,128]>, %harmless_d: ref<semaphore,dma_sem[]>) { "
             "dma_start{device_id_type=mesh, priority=0, add=false}(src=%harmless, dst=%harmless_b, "
             "dst_sem=%harmless_d, src_sem=none, device_id=none); "
             "dma_wait{device_id_type=mesh, insert_dummy_device=false}(src=%harmless, dst=%harmless_b, "
             "dst_sem=%harmless_d, src_sem=none, device_id=none); return; }; return; };",
     .why = "only the branch that is taken runs (control.md#1)"},
    {.name = "own_dma",
     .backends = kMosaicTpu,
     .text = "run_scoped() (%harmless: ref<vmem,f32[8,128]>, %harmless_b: ref<vmem,f32[8,128]>, "
             "%harmless_d: ref<semaphore,dma_sem[]>) { "
             "%harmless_z = broadcast_in_dim{shape=[8,128], dims=[]}(0.0:f32) : f32[8,128]; "
             "_ = swap(%harmless, %harmless_z) : f32[8,128]; "
             "dma_start{device_id_type=mesh, priority=0, add=false}(src=%harmless, dst=%harmless_b, "
             "dst_sem=%harmless_d, src_sem=none, device_id=none); "
             "dma_wait{device_id_type=mesh, insert_dummy_device=false}(src=%harmless, dst=%harmless_b, "
             "dst_sem=%harmless_d, src_sem=none, device_id=none); return; };",
     .why = "memory and a semaphore of its own, and the copy is awaited at once (tpu-copies.md#dma_wait)"},

    {.name = "smem_unused",
     .backends = kMosaicGpu,
     .places = kAtStart,
     .text = "run_scoped{collective_axes=$axes}() (%harmless: ref<smem,f32[128]>) { return; };",
     .why = "unused memory (gpu-threads.md#scopes); in a cluster another block's copy may land while the "
            "scope has "
            "the bytes (gpu-threads.md#memory)",
     .in_clusters = false},
    {.name = "barrier_unused",
     .backends = kMosaicGpu,
     .places = kAtStart,
     .text = "run_scoped{collective_axes=$axes}() "
             "(%harmless: ref<smem,barrier{arrivals=1, orders_tensor_core=false}[1]>) { return; };",
     .why = "a barrier without arrivals has nothing pending when its scope ends (gpu-barriers.md)"},
    {.name = "barrier_used",
     .backends = kMosaicGpu,
     .places = kAtStart,
     .text = "run_scoped{collective_axes=$axes}() "
             "(%harmless: ref<smem,barrier{arrivals=$threads, orders_tensor_core=false}[1]>) "
             "{ barrier_arrive(barrier=%harmless.at[0]); barrier_wait(barrier=%harmless.at[0]); return; };",
     .why =
         "each thread arrives once and waits for the one phase (gpu-barriers.md#barrier_wait); nothing was done before "
         "that it could order"},
    {.name = "barrier_never",
     .backends = kMosaicGpu,
     .places = kAtStart,
     .text =
         "run_scoped{collective_axes=$axes}() "
         "(%harmless: ref<smem,barrier{arrivals=1, orders_tensor_core=false}[1]>) "
         "{ $never cond(%harmless_never) { return; } { barrier_wait(barrier=%harmless.at[0]); return; }; return; };",
     .why = "only the branch that is taken runs (control.md#1)"},
    {.name = "commit_smem",
     .backends = kMosaicGpu,
     .places = kAtStart,
     .text = "commit_smem();",
     .why = "the thread knows of no access yet that it could publish (gpu-barriers.md#commit_smem)"},
    {.name = "wait_for_no_copy",
     .backends = kMosaicGpu,
     .places = kAtStart,
     .text = "wait_smem_to_gmem{wait_read_only=false}(0:~i32);",
     .why = "no group of the thread is in flight (gpu-copies.md#wait_smem_to_gmem)"},
    {.name = "empty_group",
     .backends = kMosaicGpu,
     .places = kAtStart,
     .text = "commit_group();",
     .why = "a group without copies, older than every other (gpu-copies.md#commit_group)"},
    {.name = "grid_semaphore",
     .backends = kMosaicGpu,
     .places = kAtStart,
     .text = "%harmless = get_global{what=\"sem\"}() : ref<gmem,sem[]>;",
     .why = "an unused semaphore (gpu-semaphores.md#get_global)"},
    {.name = "block_semaphore",
     .backends = kMosaicGpu,
     .places = kAtStart,
     .text = "run_scoped{collective_axes=$axes}() (%harmless: ref<gmem,sem[]>) { return; };",
     .why = "an unused semaphore (gpu-semaphores.md)"},
    {.name = "block_semaphore_used",
     .backends = kMosaicGpu,
     .places = kAtStart,
     .text = "run_scoped{collective_axes=$axes}() (%harmless: ref<gmem,sem[]>) { "
             "semaphore_signal{device_id_type=mesh}(ref=%harmless, inc=1:i32, device_id=none, core_index=none); "
             "semaphore_wait(ref=%harmless, value=1:i32, decrement=true); return; };",
     .why = "as many signals as waits, and nothing was done before that they could order; but any thread's signal may "
            "serve any thread's wait",
     .denies = kOfWaits},
};

}  // namespace

absl::Span<const Harmless> AllHarmless() { return kRows; }

}  // namespace palladion::conformance
