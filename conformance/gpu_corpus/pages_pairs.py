"""The examples of JAX's page on Mosaic GPU kernels in which two blocks work together, or a block takes the work of others (see pages.py)."""

import numpy as np
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

from corpus import F16, F32, found, kernel, ty
from pages_blackwell import ALONE, TILED, racy, single


def pair_reuse(meets=True):
    """Two blocks multiply together, twice into one accumulator: both have read it before it is written again."""
    def body(x_ref, y_ref, o_ref, a, b, full, acc, done, read):
        block = lax.axis_index("x")

        def product(i):
            @pl.when(block == 0)
            def _():
                plgpu.tcgen05_mma(acc, a.at[i], b.at[i], done.at[i], accumulate=False, collective_axis="x")  #@ M
            plgpu.barrier_wait(done.at[i])
            o_ref[i, pl.ds(block * 128, 128)] = plgpu.async_load_tmem(acc)  #@ async_load_tmem:L
            plgpu.wait_load_tmem()

        for i in range(2):
            plgpu.copy_gmem_to_smem(x_ref.at[i], a.at[i], full, collective_axes="x", leader_tracked=plgpu.CopyPartition.PARTITIONED(0))
            plgpu.copy_gmem_to_smem(y_ref.at[i], b.at[i], full, collective_axes="x", leader_tracked=plgpu.CopyPartition.PARTITIONED(1))

        @pl.when(block == 0)
        def _():
            plgpu.barrier_wait(full)
        product(0)
        if meets:
            plgpu.barrier_arrive(read)
            plgpu.barrier_wait(read)
        product(1)

    scratch = {"a": plgpu.SMEM((2, 128, 64), F16, transforms=TILED), "b": plgpu.SMEM((2, 64, 64), F16, transforms=TILED),
               "full": plgpu.Barrier(num_arrivals=4), "acc": plgpu.TMEM((128, 128), F32, collective=True), "done": plgpu.Barrier(num_barriers=2, orders_tensor_core=True),
               "read": plgpu.ClusterBarrier(collective_axes=("x",), orders_tensor_core=True)}
    return kernel(body, ty(2, 256, 64, dtype=F16), ty(2, 64, 128, dtype=F16), out=ty(2, 256, 128, dtype=F32), scratch=scratch, cluster=(2,),
                  cluster_names=("x",), **ALONE)


def partitioned_copy():
    """Each block of a pair gets its half; the first block's barrier counts both halves."""
    def body(x_ref, o_ref, smem, full, told):
        block = lax.axis_index("x")
        plgpu.copy_gmem_to_smem(x_ref, smem, full, collective_axes="x", leader_tracked=plgpu.CopyPartition.PARTITIONED(0))

        @pl.when(block == 0)
        def _():
            plgpu.barrier_wait(full)
        plgpu.barrier_arrive(told)
        plgpu.barrier_wait(told)
        o_ref[pl.ds(block * 64, 64)] = smem[...]

    scratch = {"smem": plgpu.SMEM((64, 128), F32), "full": plgpu.Barrier(), "told": plgpu.ClusterBarrier(collective_axes=("x",))}
    return kernel(body, ty(128, 128, dtype=F32), out=ty(128, 128, dtype=F32), scratch=scratch, cluster=(2,), cluster_names=("x",), **ALONE)


def cancelled():
    """A block takes the work of others, one after another, and adds one to each row."""
    def body(x_ref, o_ref):
        @plgpu.dynamic_scheduling_loop(grid_names=("rows",))
        def _(loop):
            (row,) = loop.index
            o_ref[row] = x_ref[row] + 1

    return kernel(body, ty(4, 128, dtype=F32), out=ty(4, 128, dtype=F32), grid=(4,), grid_names=("rows",), **ALONE)


def cancelled_once():
    """The same by hand: a block requests another one's work once."""
    def body(x_ref, o_ref, answer, told):
        def work(row):
            o_ref[row] = x_ref[row] + 1

        plgpu.try_cluster_cancel(answer, told)
        work(lax.axis_index("rows"))
        plgpu.barrier_wait(told)
        (row,), taken = plgpu.query_cluster_cancel(answer, ("rows",))
        pl.when(taken)(lambda: work(row))

    return kernel(body, ty(2, 128, dtype=F32), out=ty(2, 128, dtype=F32), grid=(2,), grid_names=("rows",),
                  scratch={"answer": plgpu.TryClusterCancelResult(), "told": plgpu.Barrier()}, **ALONE)


def cases():
    both = {"x": "full(2)", "y": "full(0.5)"}
    yield single("tcgen05_pair_reuse", pair_reuse(), "Two blocks multiply together and read before they multiply again.", both, o=np.full((2, 256, 128), 64, np.float32))
    yield racy("tcgen05_pair_reuse", pair_reuse(False), "The second product may write what the other block still reads.", both, found("RACE_RW", "L", "M#1"))
    yield single("partitioned_copy", partitioned_copy(), "A copy that is partitioned over two blocks.", {"x": "iota"}, o=np.arange(128 * 128, dtype=np.float32).reshape(128, 128))
    yield single("cluster_cancel", cancelled(), "Blocks that take work until there is none.", {"x": "iota"}, o=np.arange(4 * 128, dtype=np.float32).reshape(4, 128) + 1)
    yield single("cluster_cancel_once", cancelled_once(), "A block that asks once.", {"x": "iota"}, o=np.arange(2 * 128, dtype=np.float32).reshape(2, 128) + 1)
