"""046 to 053: semaphores, what blocks of one grid share, and a grid that begins before the one before it has ended."""

import numpy as np
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

from corpus import Case, I32, LANES, clean_and_racy, found, kernel, ty
from shared_memory import IOTA, ROW

SPEC = "gpu-order.md#semaphores"
BLOCKS = "gpu-order.md#blocks"
GIVEN = {"spec": SPEC, "inputs": {"x": "iota"}}
MESH = {"threads": None, "grid": (2,), "grid_names": ("b",)}
REGULAR = plgpu.SemaphoreType.REGULAR


def block(index):
    return pl.when(lax.axis_index("b") == index)


def leak(amount):
    def body(x_ref, o_ref):
        sem = pl.get_global(REGULAR)  #@ sem

        @block(0)
        def _():
            pl.semaphore_signal(sem, amount)  #@ signal

        @block(1)
        def _():
            pl.semaphore_wait(sem, 2)
            o_ref[...] = x_ref[...]

    return kernel(body, ROW, out=ROW, **MESH)


def over_wait(racy):
    def body(x_ref, o_ref):
        sem = pl.get_global(REGULAR)

        @block(0)
        def _():
            pl.semaphore_signal(sem)
            pl.semaphore_signal(sem)

        @block(1)
        def _():
            pl.semaphore_wait(sem, 3 if racy else 2)  #@ wait
            o_ref[...] = x_ref[...]

    return kernel(body, ROW, out=ROW, **MESH)


def masked_credit(racy):
    """A credit from before the first write satisfies the wait that should follow it."""
    def body(x_ref, o_ref):
        sem, begun = pl.get_global(REGULAR), pl.get_global(REGULAR)

        @block(0)
        def _():
            if racy:
                pl.semaphore_signal(sem)
            pl.semaphore_signal(begun)
            o_ref[...] = x_ref[...] + 1  #@ one
            pl.semaphore_signal(sem)

        @block(1)
        def _():
            pl.semaphore_wait(begun)
            pl.semaphore_wait(sem)
            o_ref[...] = x_ref[...] + 2  #@ two
            if racy:
                pl.semaphore_wait(sem)

    return kernel(body, ROW, out=ROW, **MESH)


def reused_wait(racy):
    """A wait that leaves the credit is satisfied by the same one in the next round."""
    def body(x_ref, o_ref, p_ref):
        sem, read = pl.get_global(REGULAR), pl.get_global(REGULAR)

        @block(0)
        def _():
            for i in range(2):
                if i > 0:
                    pl.semaphore_wait(read)
                o_ref[...] = x_ref[...] + (0 if racy else i)  #@ write
                pl.semaphore_signal(sem)

        @block(1)
        def _():
            for i in range(2):
                pl.semaphore_wait(sem, decrement=not racy)
                p_ref[...] = o_ref[...]  #@ get:read
                if i == 0:
                    pl.semaphore_signal(read)
            if racy:
                pl.semaphore_wait(sem, 2)

    return kernel(body, ROW, out=(ROW, ROW), **MESH)


def guarded_init(racy):
    """Every block stores into one row after one of them has initialised it; or each into its own."""
    def body(x_ref, o_ref):
        me = lax.axis_index("b")

        @block(0)
        def _():
            o_ref[0] = x_ref[...]  #@ init

        @pl.when(me >= 0)
        def _():
            o_ref[0 if racy else me] = x_ref[...] + me  #@ store

    return kernel(body, ROW, out=ty(2, LANES), **MESH)


def flag(racy):
    """Block 0 signals block 1 through a semaphore of the whole grid; racy: it signals before it has written."""
    def body(x_ref, o_ref, p_ref, seen):
        sem = pl.get_global(REGULAR)

        @block(0)
        def _():
            if racy:
                pl.semaphore_signal(sem)
            o_ref[...] = x_ref[...] + 1  #@ write
            if not racy:
                pl.semaphore_signal(sem)

        @block(1)
        def _():
            pl.semaphore_wait(sem)
            seen[...] = o_ref[...]  #@ get:read
            p_ref[...] = x_ref[...] if racy else seen[...]

    return kernel(body, ROW, out=(ROW, ROW), scratch={"seen": plgpu.SMEM((LANES,), I32)}, **MESH)


def accumulate(racy):
    """Each block adds to one row: by a load and a store, or atomically."""
    def body(x_ref, o_ref, sem):
        ready = pl.get_global(REGULAR)

        @block(0)
        def _():
            o_ref[...] = x_ref[...]
            pl.semaphore_signal(ready, 2)

        pl.semaphore_wait(ready)
        if racy:
            o_ref[...] = o_ref[...] + 1  #@ get:read swap:write
        else:
            plgpu.atomic_add(o_ref, x_ref[...])

    def plain(x_ref, o_ref):
        body(x_ref, o_ref, None)

    return kernel(plain, ROW, out=ROW, **MESH)


def dependent(how):
    """`how` the input is read before the wait for the kernel that wrote it: "" for not at all, "load" or "copy"."""
    def body(x_ref, o_ref, smem, bar):
        if how == "load":
            smem[...] = x_ref[...]  #@ get:read
        if how == "copy":
            plgpu.copy_gmem_to_smem(x_ref, smem, bar)  #@ read
            plgpu.barrier_wait(bar)
        plgpu.griddepcontrol_wait()  #@ wait
        o_ref[...] = x_ref[...]
        plgpu.griddepcontrol_launch_dependents()

    return kernel(body, ROW, out=ROW, threads=None, scratch={"smem": plgpu.SMEM((LANES,), I32), "bar": plgpu.Barrier()})


def cases():
    yield Case("046_sem_leak_nonzero_regular_clean", kernel=leak(2), prose="A semaphore is zero again at the end.", outputs={"o": IOTA}, **GIVEN)
    yield Case("046_sem_leak_nonzero_regular_racy", kernel=leak(3), prose="A semaphore is signalled once more than it is waited for.",
               outputs={"o": IOTA}, findings=(found("SEM_LEAK", "signal"),), **GIVEN)
    yield from clean_and_racy("047_sem_overwait", "A block waits for more than is ever signalled.", over_wait, (found("DEADLOCK", "wait"),), outputs={"o": IOTA}, **GIVEN)
    yield from clean_and_racy("048_sem_credit_masked", "A spare credit satisfies the wait that should come after a write.", masked_credit,
                              (found("RACE_WW", "one", "two"), found("NONDET", "one", "two")), outputs={"o": IOTA + 2}, **GIVEN)
    yield from clean_and_racy("049_sem_nodecrement_reuse", "A wait that takes nothing is satisfied by the same credit in the next round.", reused_wait,
                              (found("RACE_RW", "write#1", "read#1"),), outputs={"o": IOTA + 1, "p": IOTA + 1}, **GIVEN)
    shared = {"spec": BLOCKS, "inputs": {"x": "iota"}}
    yield Case("050_gmem_block_ww_clean", kernel=guarded_init(False), outputs={"o": np.stack([IOTA, IOTA + 1])}, prose="Every block stores into a row of its own.", **shared)
    yield Case("050_gmem_block_ww_racy", kernel=guarded_init(True), findings=(found("RACE_WW", "init", "store"), found("RACE_WW", "store", "store"), found("OUT_MISSING", "/^  out"), found("NONDET", "store")),
               prose="Every block stores into one row, which one of them has initialised.", **shared)
    yield from clean_and_racy("051_gmem_get_global_flag", "A block reads what another wrote, after a signal.", flag, (found("RACE_RW", "write", "read"),),
                              outputs={"o": IOTA + 1, "p": IOTA + 1}, **shared)
    yield from clean_and_racy("052_grid_order_accumulate", "Each block adds to one row with a load and a store.", accumulate,
                              (found("RACE_RW", "read", "write"), found("RACE_WW", "write", "write"), found("NONDET", "write")), outputs={"o": 3 * IOTA}, **shared)
    yield Case("053_pdl_missing_wait_clean", kernel=dependent(""), outputs={"o": IOTA}, prose="What the kernel before this one wrote is read after the wait for it.", **shared)
    for how, code in (("load", "RACE_RW"), ("copy", "RACE_ASYNC")):
        yield Case(f"053_pdl_missing_wait_{how}_racy", kernel=dependent(how), findings=(found(code, "read"),),
                   prose=f"A {how} reads what the kernel before this one wrote, before the wait for it.", **shared)
