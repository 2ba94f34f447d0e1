"""008 to 014: copies between global and shared memory, and which thread has to wait for them."""

import numpy as np
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

from corpus import Case, I32, LANES, clean_and_racy, found, kernel, ty
from shared_memory import IOTA, ROW, thread

SPEC = "gpu-order.md#copies"
SMEM = plgpu.SMEM((LANES,), I32)
GIVEN = {"spec": SPEC, "inputs": {"x": "iota"}}


def load(mistake):
    """`mistake`: "" for none, "late": the wait comes after the read, "other": it is for another copy's barrier."""
    def body(x_ref, o_ref, smem, beside, seen, bars):
        plgpu.copy_gmem_to_smem(x_ref, smem, bars.at[0])  #@ copy
        plgpu.copy_gmem_to_smem(x_ref, beside, bars.at[1])
        before = {"": 0, "other": 1, "late": None}[mistake]
        if before is not None:
            plgpu.barrier_wait(bars.at[before])
        seen[...] = smem[...]  #@ get:read
        for index in range(2):
            if index != before:
                plgpu.barrier_wait(bars.at[index])
        o_ref[...] = x_ref[...] if mistake else seen[...]

    return kernel(body, ROW, out=ROW, threads=None, scratch={"smem": SMEM, "beside": SMEM, "seen": SMEM, "bars": plgpu.Barrier(num_barriers=2)})


def two_buffers(racy):
    def body(x_ref, y_ref, o_ref, a, b, seen, full):
        plgpu.copy_gmem_to_smem(x_ref, a, full)  #@ one
        plgpu.copy_gmem_to_smem(y_ref, b, full)  #@ two
        plgpu.barrier_wait(full)  #@ first
        seen[...] = a[...] + b[...]  #@ get:read
        if racy:
            plgpu.barrier_wait(full)  #@ second
        o_ref[...] = x_ref[...] if racy else seen[...]

    return kernel(body, ROW, ROW, out=ROW, threads=None, scratch={
        "a": SMEM, "b": SMEM, "seen": SMEM, "full": plgpu.Barrier(num_arrivals=1 if racy else 2)})


def six_stages(racy):
    def body(x_ref, o_ref, smem, seen, bars):
        for i in range(6):
            plgpu.copy_gmem_to_smem(x_ref.at[i], smem.at[i], bars.at[i])  #@ copy
        if not racy:
            for i in range(5):
                plgpu.barrier_wait(bars.at[i])
        plgpu.barrier_wait(bars.at[5])
        seen[...] = smem[0]  #@ get:read
        if racy:
            for i in range(5):
                plgpu.barrier_wait(bars.at[i])
        o_ref[...] = x_ref[0] if racy else seen[...]

    return kernel(body, ty(6, LANES), out=ROW, threads=None, scratch={
        "smem": plgpu.SMEM((6, LANES), I32), "seen": SMEM, "bars": plgpu.Barrier(num_barriers=6)})


def source_reuse(slots, remain, read_only):
    """Four tiles through `slots` places, each reused after a wait that lets `remain` groups go on."""
    def body(x_ref, o_ref, smem):
        for i in range(4):
            plgpu.wait_smem_to_gmem(remain, wait_read_only=read_only)
            smem[i % slots] = x_ref[i] + 1  #@ write
            plgpu.commit_smem()
            plgpu.copy_smem_to_gmem(smem.at[i % slots], o_ref.at[i])  #@ copy
        plgpu.wait_smem_to_gmem(0)

    return kernel(body, ty(4, LANES), out=ty(4, LANES), threads=None, scratch={"smem": plgpu.SMEM((slots, LANES), I32)})


def source_reuses():
    out = {"o": np.arange(4 * LANES, dtype=np.int32).reshape(4, LANES) + 1}
    for slots in (1, 2):
        for remain in range(3):
            for read_only in (False, True):
                name = f"011_tma_store_source_reuse_{slots}_{remain}_{'reads' if read_only else 'writes'}"
                about = (f"{slots} place(s) for four stores, reused after a wait that leaves {remain} group(s)"
                         f"{', of which it waits for the reads only' if read_only else ''}.")
                if remain < slots:
                    yield Case(f"{name}_clean", kernel=source_reuse(slots, remain, read_only), prose=about, outputs=out, **GIVEN)
                    continue
                pairs = tuple(found("RACE_ASYNC", f"copy#{j}", f"write#{i}")
                              for i in range(4) for j in range(max(0, i - remain), i) if (i - j) % slots == 0)
                yield Case(f"{name}_racy", kernel=source_reuse(slots, remain, read_only), findings=pairs, spec=SPEC,
                           inputs={"x": "full(0)"}, prose=f"{about} The place may still be read.")


def another_waits(racy):
    def body(x_ref, o_ref, smem, done):
        @thread(0)
        def _():
            smem[...] = x_ref[...] + 1
            plgpu.commit_smem()
            plgpu.copy_smem_to_gmem(smem, o_ref)  #@ copy
            if not racy:
                plgpu.wait_smem_to_gmem(0, wait_read_only=True)
            plgpu.barrier_arrive(done)
            if racy:
                plgpu.wait_smem_to_gmem(0, wait_read_only=True)

        @thread(1)
        def _():
            plgpu.barrier_wait(done)
            plgpu.wait_smem_to_gmem(0)
            smem[...] = x_ref[...] + 1  #@ write

    return kernel(body, ROW, out=ROW, scratch={"smem": SMEM, "done": plgpu.Barrier()})


def double_store(racy):
    half = LANES // 2

    def body(x_ref, o_ref, a, b):
        a[...] = x_ref[...] + 1
        b[...] = x_ref[...] + 1
        plgpu.commit_smem()
        plgpu.copy_smem_to_gmem(a, o_ref.at[pl.ds(0, LANES)])  #@ one
        plgpu.copy_smem_to_gmem(b, o_ref.at[pl.ds(half if racy else LANES, LANES)])  #@ two
        if racy:
            plgpu.wait_smem_to_gmem(0)
            plgpu.copy_smem_to_gmem(b, o_ref.at[pl.ds(LANES, LANES)])
        plgpu.wait_smem_to_gmem(0)

    return kernel(body, ROW, out=ty(2 * LANES), threads=None, scratch={"a": SMEM, "b": SMEM})


def store_then_load(racy):
    def body(x_ref, o_ref, p_ref, smem, back, seen, bar):
        smem[...] = x_ref[...] + 1
        plgpu.commit_smem()
        plgpu.copy_smem_to_gmem(smem, o_ref)  #@ store
        plgpu.wait_smem_to_gmem(0, wait_read_only=racy)
        plgpu.copy_gmem_to_smem(o_ref, back, bar)  #@ load
        plgpu.barrier_wait(bar)
        seen[...] = back[...]
        p_ref[...] = x_ref[...] if racy else seen[...]

    return kernel(body, ROW, out=(ROW, ROW), threads=None, scratch={"smem": SMEM, "back": SMEM, "seen": SMEM, "bar": plgpu.Barrier()})


def cases():
    yield Case("008_tma_load_no_wait_clean", kernel=load(""), outputs={"o": IOTA}, prose="A copy is awaited before its data are read.", **GIVEN)
    yield Case("008_tma_load_no_wait_other_racy", kernel=load("other"), findings=(found("RACE_ASYNC", "copy", "read"),),
               prose="Data are read after the wait for another copy's barrier, and before the one for their own.", **GIVEN)
    yield Case("008_tma_load_no_wait_late_racy", kernel=load("late"), findings=(found("RACE_ASYNC", "copy", "read"),),
               prose="Data are read before the wait for their copy.", **GIVEN)
    yield from clean_and_racy("009_tma_load_two_bufs_one_bar", "Two copies arrive at one barrier, which counts one arrival: the wait is satisfied by the first.",
                              two_buffers, (found("RACE_ASYNC", "one", "read#0"), found("RACE_ASYNC", "two", "read#1"), found("BAR_DOUBLE", "one", "two"),
                                            found("BAR_DOUBLE", "one", "first"), found("BAR_DOUBLE", "two", "first"), found("DEADLOCK", "second")),
                              spec=SPEC, inputs={"x": "iota", "y": "iota"}, outputs={"o": 2 * IOTA})
    yield from clean_and_racy("010_tma_six_stage_wait_last", "Six copies are in flight; the data of the first are read after a wait for the last.",
                              six_stages, (found("RACE_ASYNC", "copy#0", "read"),), outputs={"o": IOTA}, **GIVEN)
    yield from source_reuses()
    yield from clean_and_racy("012_tma_store_wait_other_thread", "A thread cannot wait for the store of another: it has no groups of its own.",
                              another_waits, (found("RACE_ASYNC", "copy", "write"),), outputs={"o": IOTA + 1}, **GIVEN)
    yield from clean_and_racy("013_tma_double_store_overlap", "Two stores in flight write the same elements of global memory.",
                              double_store, (found("RACE_WW", "one", "two"),), outputs={"o": np.concatenate([IOTA, IOTA]) + 1}, **GIVEN)
    yield from clean_and_racy("014_tma_store_then_load_gmem", "What a store wrote is loaded again after a wait for the store's reads only.",
                              store_then_load, (found("RACE_RW", "store", "load"),), outputs={"o": IOTA + 1, "p": IOTA + 1}, **GIVEN)
