"""192 and 193: arrays that share tensor memory: members of a union, which have the same columns, and batches, which follow each other there."""

import numpy as np
from jax.experimental.pallas import mosaic_gpu as plgpu

from corpus import Case, EVERY_INDEX, F16, F32, clean_and_racy, found, kernel, ty
from shared_memory import thread
from tensor_memory import GIVEN, ORDERS, SPEC, constant, undefined

ROWS, COLUMNS, BATCHES = 128, 32, 3
WHOLE, BATCH = ty(ROWS, COLUMNS, dtype=F32), plgpu.TMEM((BATCHES, ROWS, COLUMNS), F32)
ONE = {**GIVEN, "inputs": {"x": "iota"}}


def seen_as_another(racy):
    """What is stored through one member is loaded through another of half as wide elements."""
    def body(x_ref, o_ref, members):
        whole, halves = members
        value = plgpu.load(x_ref, *EVERY_INDEX, layout=plgpu.Layout.TCGEN05, optimized=False)
        plgpu.async_store_tmem(whole, value)  #@ async_store_tmem:store
        if not racy:
            plgpu.commit_tmem()
        o_ref[...] = plgpu.async_load_tmem(halves)  #@ async_load_tmem:load swap:out

    union = plgpu.RefUnion(plgpu.TMEM((ROWS, COLUMNS), F32), plgpu.TMEM((ROWS, 2 * COLUMNS), F16, packed=True))
    return kernel(body, WHOLE, out=ty(ROWS, 2 * COLUMNS, dtype=F16), threads=None, scratch={"members": union})


def members_of_two_threads(racy):
    """Thread 1 stores through the second of two members that lie side by side, thread 0 through the first; racy: through one that has the columns of both."""
    def body(o_ref, members, told):
        both, (first, second) = members
        mine, width = (both, 2 * COLUMNS) if racy else (first, COLUMNS)

        @thread(0)
        def _():
            plgpu.async_store_tmem(mine, constant(1, width))  #@ async_store_tmem:store
            plgpu.commit_tmem()
            plgpu.barrier_arrive(told)

        @thread(1)
        def _():
            plgpu.async_store_tmem(second, constant(2, COLUMNS))  #@ async_store_tmem:over
            plgpu.commit_tmem()
            plgpu.barrier_wait(told)
            o_ref[...] = plgpu.async_load_tmem(second)  #@ async_load_tmem:load swap:out

    one, two = (plgpu.TMEM((ROWS, n * COLUMNS), F32) for n in (1, 2))
    return kernel(body, out=WHOLE, scratch={"members": plgpu.RefUnion(two, [one, one]), "told": ORDERS})


def batches(racy):
    """Each of two threads has a batch of its own; racy: both have the last."""
    def body(x_ref, o_ref, p_ref, t):
        for me, out in ((0, o_ref), (1, p_ref)):
            mine = t.at[BATCHES - 1 if racy else BATCHES - 1 - me]

            @thread(me)
            def _():
                value = plgpu.load(x_ref, *EVERY_INDEX, layout=plgpu.Layout.TCGEN05, optimized=False)
                plgpu.async_store_tmem(mine, value + me)  #@ async_store_tmem:store
                plgpu.commit_tmem()
                out[...] = plgpu.async_load_tmem(mine)  #@ async_load_tmem:load swap:out

    return kernel(body, WHOLE, out=(WHOLE, WHOLE), scratch={"t": BATCH})


def halves():
    """Batches of 64 rows, which have a half of the lanes for each half of their columns."""
    def body(x_ref, o_ref, t):
        for batch in range(2):
            value = plgpu.load(x_ref, *EVERY_INDEX, layout=plgpu.Layout.WGMMA, optimized=False)
            plgpu.async_store_tmem(t.at[batch], value * (batch + 1))
        plgpu.commit_tmem()
        o_ref[...] = plgpu.async_load_tmem(t.at[0]) + plgpu.async_load_tmem(t.at[1])

    rows = ty(64, COLUMNS, dtype=F32)
    return kernel(body, rows, out=rows, threads=None, scratch={"t": plgpu.TMEM((2, 64, COLUMNS), F32)})


def cases():
    union = {**ONE, "spec": f"gpu-tmem.md#unions {SPEC}"}
    x = np.arange(ROWS * COLUMNS, dtype=np.float32).reshape(ROWS, COLUMNS)
    yield from clean_and_racy("192_tmem_union", "An array of f32 is seen as one of f16, two to a cell, the lower half of the bits first.", seen_as_another,
                              (found("RACE_RW", "store", "load"), found("NOT_AWAITED", "store"), *undefined("load")),
                              outputs={"o": x.view(np.float16)}, **union)
    yield from clean_and_racy("192_tmem_union_threads", "Two threads have a member each of a union in tensor memory.", members_of_two_threads,
                              (found("RACE_WW", "store", "over"), found("NONDET", "out")), outputs={"o": np.full((ROWS, COLUMNS), 2, np.float32)},
                              **{**union, "inputs": {}})
    batch = {**ONE, "spec": f"gpu-tmem.md#batch-dimensions {SPEC}"}
    yield from clean_and_racy("193_tmem_batch", "Batches of an array in tensor memory have cells of their own.", batches,
                              (found("RACE_WW", "store", "store#1"), found("RACE_RW", "store", "load#1"), found("RACE_RW", "load", "store#1"),
                               found("NONDET", "out#1")), outputs={"o": x, "p": x + 1}, **batch)
    yield Case("193_tmem_batch_half_clean", kernel=halves(), prose=halves.__doc__, outputs={"o": 3 * x[:64]}, **batch)
