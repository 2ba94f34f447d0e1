"""030 to 040: the rules of barriers, waits that no arrival satisfies, and collective allocation."""

import numpy as np
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

from corpus import Case, I32, LANES, clean_and_racy, found, kernel, ty
from shared_memory import IOTA, ROW, thread

SPEC = "gpu-order.md#barriers"
SMEM = plgpu.SMEM((LANES,), I32)
GIVEN = {"spec": SPEC, "inputs": {"x": "iota"}}
OUT = {"outputs": {"o": IOTA}}
STUCK = "gpu-order.md#waits"


def plain(run, threads=2, **scratch):
    """A kernel that copies its input, and does `run(refs)` besides."""
    names = ", ".join(scratch)
    body = eval(f"lambda x_ref, o_ref, {names}: run(x_ref, o_ref, {names})", {"run": run})
    return kernel(body, ROW, out=ROW, threads=threads, scratch=scratch)


def copy_by(index, x_ref, o_ref):
    @thread(index)
    def _():
        o_ref[...] = x_ref[...]


def twice(other_thread, racy):
    """`other_thread`: the second arrival is by another one than the first."""
    def run(x_ref, o_ref, bar, first, seen):
        @thread(0)
        def _():
            plgpu.barrier_arrive(bar)  #@ one
            if other_thread:
                plgpu.barrier_arrive(first)
            else:
                if not racy:
                    plgpu.barrier_wait(seen)
                plgpu.barrier_arrive(bar)  #@ two

        @thread(1)
        def _():
            if other_thread:
                plgpu.barrier_wait(first)
                if not racy:
                    plgpu.barrier_wait(seen)
                plgpu.barrier_arrive(bar)  #@ three

        @thread(2)
        def _():
            plgpu.barrier_wait(bar)  #@ first
            if not racy:
                plgpu.barrier_arrive(seen)
            plgpu.barrier_wait(bar)  #@ second
            o_ref[...] = x_ref[...]

    return plain(run, 3, bar=plgpu.Barrier(), first=plgpu.Barrier(), seen=plgpu.Barrier())


def unawaited(racy, at_end=False):
    """A barrier of a scope of its own, or of the whole kernel."""
    def use(bar):
        for step in range(2):
            plgpu.barrier_arrive(bar)  #@ arrive
            if not racy or step == 0:
                plgpu.barrier_wait(bar)

    def body(x_ref, o_ref, bar):
        if at_end:
            use(bar)
        else:
            pl.run_scoped(use, plgpu.Barrier())  #@ scope
            pl.run_scoped(lambda smem: None, SMEM)  #@ next
        o_ref[...] = x_ref[...]

    return kernel(body, ROW, out=ROW, threads=None, scratch={"bar": plgpu.Barrier()})


def pending(racy):
    def run(x_ref, o_ref, bar):
        plgpu.barrier_arrive(bar)  #@ arrive
        if not racy:
            plgpu.barrier_arrive(bar)
            plgpu.barrier_wait(bar)
        o_ref[...] = x_ref[...]

    return plain(run, None, bar=plgpu.Barrier(num_arrivals=2))


def alternate(racy):
    """Two phases; the waiters take turns, or both see each."""
    def run(x_ref, o_ref, bar, begun, go_on):
        @thread(0)
        def _():
            for phase in range(2):
                plgpu.barrier_arrive(bar)  #@ arrive
                plgpu.barrier_arrive(begun.at[phase])
                plgpu.barrier_wait(go_on.at[phase])

        for index in (1, 2):
            @thread(index)
            def _(index=index):
                for phase in range(2):
                    if racy and phase % 2 != index - 1:
                        continue
                    plgpu.barrier_wait(begun.at[phase])
                    plgpu.barrier_wait(bar)  #@ wait
                    plgpu.barrier_arrive(go_on.at[phase])
                if index == 1:
                    o_ref[...] = x_ref[...]

    return plain(run, 3, bar=plgpu.Barrier(), begun=plgpu.Barrier(num_barriers=2), go_on=plgpu.Barrier(num_barriers=2, num_arrivals=1 if racy else 2))


def under_arrival(arrivals):
    def run(x_ref, o_ref, bar):
        @thread(0)
        def _():
            for _ in range(arrivals):
                plgpu.barrier_arrive(bar)

        @thread(1)
        def _():
            plgpu.barrier_wait(bar)  #@ wait
            o_ref[...] = x_ref[...]

    return plain(run, bar=plgpu.Barrier(num_arrivals=2))


def warp_subset(racy):
    """All warps wait for the first phase, or all but one; then the whole thread waits for the second."""
    def run(x_ref, o_ref, bar):
        plgpu.barrier_arrive(bar)

        @pl.core_map(plgpu.WarpMesh(axis_name="warp"))
        def _():
            @pl.when(lax.axis_index("warp") < (3 if racy else 4))
            def _():
                plgpu.barrier_wait(bar)  #@ warps

        plgpu.barrier_arrive(bar)
        plgpu.barrier_wait(bar)  #@ wait
        o_ref[...] = x_ref[...]

    return plain(run, None, bar=plgpu.Barrier())


def cycle(racy):
    def run(x_ref, o_ref, b0, b1):
        @thread(0)
        def _():
            if not racy:
                plgpu.barrier_arrive(b0)
            plgpu.barrier_wait(b1)  #@ one
            if racy:
                plgpu.barrier_arrive(b0)
            o_ref[...] = x_ref[...]

        @thread(1)
        def _():
            plgpu.barrier_wait(b0)  #@ two
            plgpu.barrier_arrive(b1)

    return plain(run, b0=plgpu.Barrier(), b1=plgpu.Barrier())


def abba(racy):
    """Two locks, each a semaphore with one credit, taken in opposite orders."""
    def body(x_ref, o_ref):
        locks = [pl.get_global(plgpu.SemaphoreType.REGULAR) for _ in range(2)]
        ready = pl.get_global(plgpu.SemaphoreType.REGULAR)
        done = pl.get_global(plgpu.SemaphoreType.REGULAR)
        block = lax.axis_index("b")

        @pl.when(block == 0)
        def _():
            for lock in locks:
                pl.semaphore_signal(lock)
            pl.semaphore_signal(ready)

        @pl.when(block == 1)
        def _():
            pl.semaphore_wait(ready)

        @pl.when(block == 0)
        def _():
            pl.semaphore_wait(locks[0])
            pl.semaphore_wait(locks[1])  #@ one
            o_ref[0] = x_ref[...]
            pl.semaphore_signal(locks[1])
            pl.semaphore_signal(locks[0])

        @pl.when(block == 1)
        def _():
            first, second = (1, 0) if racy else (0, 1)
            pl.semaphore_wait(locks[first])
            pl.semaphore_wait(locks[second])  #@ two
            o_ref[1] = x_ref[...]
            pl.semaphore_signal(locks[second])
            pl.semaphore_signal(locks[first])
            pl.semaphore_signal(done)

        @pl.when(block == 0)
        def _():
            pl.semaphore_wait(done)
            for lock in locks:
                pl.semaphore_wait(lock)

    return kernel(body, ROW, out=ty(2, LANES), threads=None, grid=(2,), grid_names=("b",))


def partial_deadlock(racy):
    """Two of four threads wait for one another, the others end."""
    def run(x_ref, o_ref, b0, b1):
        for index, (mine, other) in enumerate(((b0, b1), (b1, b0))):
            @thread(index)
            def _(index=index, mine=mine, other=other):
                if racy or index == 0:
                    plgpu.barrier_wait(other)  #@ wait
                plgpu.barrier_arrive(mine)
                if not racy and index == 1:
                    plgpu.barrier_wait(other)

        for index in (2, 3):
            @thread(index)
            def _(index=index):
                half = pl.ds((index - 2) * LANES, LANES)
                o_ref[half] = x_ref[half]

    def body(x_ref, o_ref, b0, b1):
        run(x_ref, o_ref, b0, b1)

    return kernel(body, ty(2 * LANES), out=ty(2 * LANES), threads=4, scratch={"b0": plgpu.Barrier(), "b1": plgpu.Barrier()})


def divergent_scope(how):
    """`how`: "" for none, "missing": one thread does not call run_scoped, "other": it allocates something else."""
    def body(x_ref, o_ref, done):
        def scope(size):
            def use(smem):
                @thread(0)
                def _():
                    smem[pl.ds(0, LANES)] = x_ref[...]
                    o_ref[...] = smem[pl.ds(0, LANES)]

            pl.run_scoped(use, plgpu.SMEM((size,), I32), collective_axes="wg")  #@ scope

        if how == "":
            scope(LANES)
        else:
            @thread(0)
            def _():
                scope(LANES)

            if how == "other":
                @thread(1)
                def _():
                    scope(2 * LANES)

    return kernel(body, ROW, out=ROW, scratch={"done": plgpu.Barrier()})


def cases():
    for other, who in ((False, "same"), (True, "different")):
        pair = ("one", "three" if other else "two")
        yield Case(f"030_bar_double_complete_{who}_clean", kernel=twice(other, False), prose="A barrier completes again after a thread has waited for it.", **GIVEN, **OUT)
        yield Case(f"030_bar_double_complete_{who}_racy", kernel=twice(other, True), **GIVEN,
                   findings=(found("BAR_DOUBLE", *pair), found("BAR_DOUBLE", pair[1], "first"), found("DEADLOCK", "second")),
                   prose=f"A barrier completes twice with no wait that must come between; the arrivals are by {'two threads' if other else 'one thread'}.")
    yield from clean_and_racy("031_bar_unawaited_exit", "The last completion of a barrier that was waited for before is not waited for.", unawaited,
                              (found("BAR_UNAWAITED", "scope", "arrive#1"),), **GIVEN, **OUT)
    yield Case("031_bar_unawaited_exit_end_racy", kernel=unawaited(True, at_end=True), findings=(found("BAR_UNAWAITED", "/run_scoped", "arrive#1"),), exit=0,
               prose="The same of a barrier that lives as long as the block: nothing gets its memory, so it is a note.", **GIVEN, **OUT)
    yield from clean_and_racy("032_bar_pending_arrival_exit", "A barrier that counts two arrivals ends with one.", pending, (found("BAR_PENDING", "/run_scoped", "arrive"),), **GIVEN, **OUT)
    yield from clean_and_racy("033_bar_alternate_waiters", "Two threads wait for a barrier's phases in turns.", alternate,
                              (found("BAR_PHASE_SKIP", "arrive#1", "wait#1"), found("BAR_PHASE_SKIP", "arrive#1", "wait#0")), **GIVEN, **OUT)
    stuck = {**GIVEN, "spec": STUCK}
    for arrivals in (1, 2):
        yield Case(f"034_bar_under_arrival_{arrivals}_{'racy' if arrivals < 2 else 'clean'}", kernel=under_arrival(arrivals), outputs=OUT["outputs"] if arrivals == 2 else {},
                   prose=f"A barrier counts two arrivals, and {arrivals} ever come.", findings=() if arrivals == 2 else (found("DEADLOCK", "wait"),), **stuck)
    yield from clean_and_racy("035_bar_warp_subset", "Three of a thread's four warps wait for a phase; then the whole thread waits for the next.", warp_subset,
                              (found("BAR_PHASE_SKIP", "wait"),), **GIVEN, **OUT)
    yield from clean_and_racy("037_deadlock_cycle2", "Each of two threads waits for an arrival that the other makes after its own wait.", cycle, (found("DEADLOCK", "one"), found("DEADLOCK", "two")), **stuck, **OUT)
    yield from clean_and_racy("038_deadlock_abba_sem", "Two blocks take two locks in opposite orders.", abba, (found("DEADLOCK", "one"),), spec=STUCK, inputs={"x": "iota"},
                              outputs={"o": np.stack([IOTA, IOTA])}, schedules=64)
    yield from clean_and_racy("039_deadlock_partial", "Two of four threads wait for one another; the others end.", partial_deadlock, (found("DEADLOCK", "wait#0"), found("DEADLOCK", "wait#1")), **stuck,
                              outputs={"o": np.arange(2 * LANES, dtype=np.int32)})
    scope = {**GIVEN, "spec": "gpu-order.md#collective"}
    yield Case("040_scoped_alloc_divergent_clean", kernel=divergent_scope(""), prose="All threads of a block allocate together.", **scope, **OUT)
    yield Case("040_scoped_alloc_divergent_missing_racy", kernel=divergent_scope("missing"), findings=(found("COLL_MISMATCH", "scope", "scope"), found("DEADLOCK", "scope")),
               prose="One thread does not take part in a collective allocation.", **scope)
    yield Case("040_scoped_alloc_divergent_other_racy", kernel=divergent_scope("other"), findings=(found("COLL_MISMATCH", "scope#0", "scope#1"),),
               prose="The threads of a block allocate different things together.", **scope)
