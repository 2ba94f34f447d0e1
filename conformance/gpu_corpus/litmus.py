"""Litmus tests: message passing, store buffering, independent reads of independent writes, and two writers of two places (2+2W).

Each over barriers and shared memory (threads of a block), and over semaphores and global memory (blocks), of both scopes. Where
synchronisation is there, the forbidden outcome must not appear under any schedule; where it is not, that is a race.
"""

import numpy as np
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

from corpus import Case, I32, LANES, found, kernel, ty
from shared_memory import IOTA, ROW

SPEC = "gpu-order.md#litmus"
REGULAR = plgpu.SemaphoreType.REGULAR


class Threads:
    """Threads of a block: places in shared memory, one barrier for each signal."""

    def __init__(self, count):
        self.count = count

    def kernel(self, run, places, results, signals, waiters):
        def body(o_ref, smem, bars):
            run(lambda i: pl.when(lax.axis_index("wg") == i), smem, o_ref,
                lambda s: plgpu.barrier_arrive(bars.at[s]), lambda s: plgpu.barrier_wait(bars.at[s]))

        del waiters  # a barrier signals all waiting threads
        return kernel(body, out=ty(results), threads=self.count, scratch={"smem": plgpu.SMEM((places,), I32), "bars": plgpu.Barrier(num_barriers=max(signals, 2))})


class Blocks:
    """Blocks of a grid: places in global memory, one semaphore for each signal and waiter."""

    def __init__(self, count, scope):
        self.count, self.scope = count, scope

    def kernel(self, run, places, results, signals, waiters):
        def body(o_ref, m_ref):
            sems = [pl.get_global(REGULAR) for _ in range(signals)]
            run(lambda i: pl.when(lax.axis_index("b") == i), m_ref, o_ref,
                lambda s: plgpu.semaphore_signal(sems[s], waiters, memory_scope=self.scope),
                lambda s: plgpu.semaphore_wait(sems[s], memory_scope=self.scope))

        return kernel(body, out=(ty(results), ty(places)), threads=None, grid=(self.count,), grid_names=("b",))


def message(on, racy):
    def run(agent, m, o, tell, wait):
        @agent(0)
        def _():
            m[0] = 1  #@ write
            tell(0)

        @agent(1)
        def _():
            if racy:
                m[0]  #@ get:read
            wait(0)
            o[0] = 1 if racy else m[0]

    return on(2).kernel(run, 1, 1, 1, 1)


def store_buffer(on, racy):
    def run(agent, m, o, tell, wait):
        for i in range(2):
            @agent(i)
            def _(i=i):
                m[i] = 1  #@ write
                tell(i)
                if not racy:
                    wait(1 - i)
                    o[i] = m[1 - i]
                else:
                    m[1 - i]  #@ get:read
                    wait(1 - i)
                    o[i] = 1

    return on(2).kernel(run, 2, 2, 2, 1)


def independent_reads(on, racy):
    """Agents 2 and 3 read the two places in opposite orders; what one has seen, the other may not miss."""
    def run(agent, m, o, tell, wait):
        for i in range(2):
            @agent(i)
            def _(i=i):
                m[i] = 1  #@ write
                tell(i)

            @agent(2 + i)
            def _(i=i):
                wait(i)
                o[2 * i] = m[i]
                if racy:
                    m[1 - i]  #@ get:read
                    wait(1 - i)
                    o[2 * i + 1] = 1
                else:
                    wait(1 - i)
                    o[2 * i + 1] = m[1 - i]

    return on(4).kernel(run, 2, 4, 2, 2)


def two_writers(on, racy):
    def run(agent, m, o, tell, wait):
        @agent(0)
        def _():
            m[0] = 1  #@ one
            m[1] = 2  #@ two
            tell(0)

        @agent(1)
        def _():
            if not racy:
                wait(0)
            m[1] = 1  #@ three
            m[0] = 2  #@ four
            if racy:
                wait(0)
            o[0] = 1 if racy else m[0]
            o[1] = 2 if racy else m[1]

    return on(2).kernel(run, 2, 2, 1, 1)


def credits():
    """Message passing with semaphores alone: data and flag are counters, read without waiting."""
    def body(o_ref):
        data, flag = pl.get_global(REGULAR), pl.get_global(REGULAR)
        me = lax.axis_index("b")

        @pl.when(me == 0)
        def _():
            pl.semaphore_signal(data)
            pl.semaphore_signal(flag)

        @pl.when(me == 1)
        def _():
            seen = pl.semaphore_read(flag)
            value = pl.semaphore_read(data)
            o_ref[0] = lax.select(seen > value, 1, 0)
            pl.semaphore_wait(data)
            pl.semaphore_wait(flag)

    return kernel(body, out=ty(1), threads=None, grid=(2,), grid_names=("b",))


def proxies(writer, wait_reads):
    """A message through global memory; written by plain stores or by a copy, read by a copy."""
    def body(x_ref, o_ref, m_ref, smem, bar):
        sem = pl.get_global(REGULAR)
        me = lax.axis_index("b")

        @pl.when(me == 0)
        def _():
            if writer == "store":
                m_ref[...] = x_ref[...] + 1  #@ write
            else:
                smem[...] = x_ref[...] + 1
                plgpu.commit_smem()
                plgpu.copy_smem_to_gmem(smem, m_ref)  #@ write
                plgpu.wait_smem_to_gmem(0, wait_read_only=wait_reads)
            pl.semaphore_signal(sem)

        @pl.when(me == 1)
        def _():
            pl.semaphore_wait(sem)
            plgpu.copy_gmem_to_smem(m_ref, smem, bar)  #@ read
            plgpu.barrier_wait(bar)
            o_ref[...] = x_ref[...] if wait_reads else smem[...]

    smem = plgpu.SMEM((LANES,), I32)
    return kernel(body, ROW, out=(ROW, ROW), threads=None, grid=(2,), grid_names=("b",), scratch={"smem": smem, "bar": plgpu.Barrier()})


def tests():
    """Name, what it shows, builder, outcome, racy pairs."""
    yield "mp", "What was written before a signal is read after the wait for it.", message, [1], [("RACE_RW", "write", "read")]
    pairs = [("RACE_RW", "write#0", "read#1"), ("RACE_RW", "write#1", "read#0")]
    yield "sb", "Two agents write a place each and read the other's: one write at least is seen.", store_buffer, [1, 1], pairs
    yield "iriw", "Two agents write a place each; two read both, in opposite orders, and agree.", independent_reads, [1, 1, 1, 1], pairs
    yield "2_2w", "Two agents write two places in opposite orders.", two_writers, [2, 1], [("RACE_WW", "one", "four"), ("RACE_WW", "two", "three")]


def cases():
    for name, prose, make, outcome, pairs in tests():
        for where, on in (("barrier", Threads), ("semaphore_gpu", lambda n: Blocks(n, "gpu")), ("semaphore_sys", lambda n: Blocks(n, "sys"))):
            through = "Through barriers." if where == "barrier" else f"Through semaphores of scope {where[-3:]}."
            places = {} if where == "barrier" else {"m": np.array({"mp": [1], "sb": [1, 1], "iriw": [1, 1], "2_2w": [2, 1]}[name], np.int32)}
            yield Case(f"litmus_{name}_{where}_clean", spec=SPEC, kernel=make(on, False), prose=f"{prose} {through}",
                       outputs={"o": np.array(outcome, np.int32), **places}, schedules=32)
            nondet = (found("NONDET", "one", "four"),) if name == "2_2w" and where != "barrier" else ()
            yield Case(f"litmus_{name}_{where}_racy", spec=SPEC, kernel=make(on, True), prose=f"{prose} {through[:-1]}, which are waited for too late.",
                       findings=tuple(found(*pair) for pair in pairs) + nondet, schedules=32)
    yield Case("litmus_mp_credits_clean", spec=SPEC, kernel=credits(), outputs={"o": np.array([0], np.int32)}, schedules=64,
               prose="Who reads the second of two signals without waiting has the first: 1 would say otherwise.")
    for writer in ("store", "copy"):
        yield Case(f"litmus_mp_proxy_{writer}_clean", spec=SPEC, kernel=proxies(writer, False), inputs={"x": "iota"}, outputs={"o": IOTA + 1, "m": IOTA + 1},
                   prose=f"A message through global memory, written by a {writer} and read by a copy of another block.")
    yield Case("litmus_mp_proxy_copy_racy", spec=SPEC, kernel=proxies("copy", True), inputs={"x": "iota"}, findings=(found("RACE_RW", "write", "read"),),
               prose="The writer waits only until its copy has read shared memory before it signals.")
