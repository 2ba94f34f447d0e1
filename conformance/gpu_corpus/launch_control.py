"""189 and 190: cluster launch control: work that a block takes and does twice, and work of one of several devices."""

from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

import numpy as np
from corpus import F32, clean_and_racy, found, kernel, ty
from devices import on_devices, other

ROWS, HALF = 4, 64


def answer_used_twice(racy):
    """The answer is read at two lines: the first half of a row is done after the one, and all of it or the other half after the other."""
    def body(x_ref, o_ref, answer, told):
        def work(row, first, size):
            o_ref[row, pl.ds(first, size)] = x_ref[row, pl.ds(first, size)] + 1

        plgpu.try_cluster_cancel(answer, told)
        work(lax.axis_index("rows"), 0, 2 * HALF)
        plgpu.barrier_wait(told)
        (row,), taken = plgpu.query_cluster_cancel(answer, ("rows",))
        pl.when(taken)(lambda: work(row, 0, HALF))
        (again,), taken = plgpu.query_cluster_cancel(answer, ("rows",))  #@ query_cluster_cancel:again
        pl.when(taken)(lambda: work(again, 0 if racy else HALF, 2 * HALF if racy else HALF))

    return kernel(body, ty(ROWS, 2 * HALF, dtype=F32), out=ty(ROWS, 2 * HALF, dtype=F32), grid=(ROWS,), grid_names=("rows",), threads=None,
                  scratch={"answer": plgpu.TryClusterCancelResult(), "told": plgpu.Barrier()})


def answer_copied_twice(racy):
    """The same, where rows are stored by copies: once they all go to the array, once the second ones to another array."""
    def body(x_ref, o_ref, p_ref, answer, told, smem):
        def work(row, target):
            smem[...] = x_ref[row] + 1
            plgpu.commit_smem()
            plgpu.copy_smem_to_gmem(smem, target.at[row])
            plgpu.wait_smem_to_gmem(0)

        plgpu.try_cluster_cancel(answer, told)
        for target in (o_ref, p_ref):
            work(lax.axis_index("rows"), target)
        plgpu.barrier_wait(told)
        (row,), taken = plgpu.query_cluster_cancel(answer, ("rows",))
        pl.when(taken)(lambda: work(row, o_ref))
        if racy:
            pl.when(taken)(lambda: work(row, p_ref))
        (again,), taken = plgpu.query_cluster_cancel(answer, ("rows",))  #@ query_cluster_cancel:again
        pl.when(taken)(lambda: work(again, o_ref if racy else p_ref))

    rows = ty(ROWS, 2 * HALF, dtype=F32)
    scratch = {"answer": plgpu.TryClusterCancelResult(), "told": plgpu.Barrier(), "smem": plgpu.SMEM((2 * HALF,), F32)}
    return kernel(body, rows, out=(rows, rows), grid=(ROWS,), grid_names=("rows",), threads=None, scratch=scratch)


def work_of_devices(racy):
    """A block takes work of its own device, and does it there; racy: or on the other device, which does its own."""
    def body(x_ref, o_ref, answer, told):
        def work(row, array):
            array[row] = x_ref[row] + 1  #@ swap:work

        plgpu.try_cluster_cancel(answer, told)
        work(lax.axis_index("rows"), o_ref)
        plgpu.barrier_wait(told)
        (row,), taken = plgpu.query_cluster_cancel(answer, ("rows",))
        pl.when(taken)(lambda: work(row, plgpu.remote_ref(o_ref, other() if racy else lax.axis_index("d"))))

    rows = ty(ROWS, 2 * HALF, dtype=F32)
    return on_devices(body, rows, out=rows, grid=(ROWS,), grid_names=("rows",),
                      scratch={"answer": plgpu.TryClusterCancelResult(), "told": plgpu.Barrier()})


def cases():
    done = np.arange(ROWS * 2 * HALF, dtype=np.float32).reshape(ROWS, 2 * HALF) + 1
    given = {"inputs": {"x": "iota"}, "spec": "gpu-cluster-cancel.md#query_cluster_cancel", "target": "mosaic_gpu/b200"}
    twice = (found("LAUNCH_CONTROL", "again"),)
    yield from clean_and_racy("189_cancel_answer_used_twice", "One answer is read at two lines, and what is done after each is the same row's.",
                              answer_used_twice, twice, outputs={"o": done}, **given)
    yield from clean_and_racy("189_cancel_answer_copied_twice", "The same, where copies store the rows.", answer_copied_twice, twice,
                              outputs={"o": done, "p": done}, **given)
    of_devices = np.arange(2 * ROWS * 2 * HALF, dtype=np.float32).reshape(2, ROWS, 2 * HALF) + 1
    yield from clean_and_racy("190_xdev_work", "A block takes the work of another one of its device, as there is none of other devices to be had.",
                              work_of_devices, (found("RACE_XDEV", "work", "work#1"), found("PEER_LIFETIME", "/out %o", "work#1"),
                                                found("NONDET", "work", "work#1"), found("OUT_MISSING", "/out %o")), outputs={"o": of_devices},
                              **{**given, "spec": "gpu-cluster-cancel.md#try_cluster_cancel"})
