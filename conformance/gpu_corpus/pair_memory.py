"""187 and 188: tensor memory that two blocks hold together: which block allocates it, and how long each block's memory is there.

188_pair_leaves_* have no finding but a note: JAX's launch waits for all blocks of the cluster before it frees collective tensor memory
(jax/experimental/mosaic/gpu/core.py of JAX 0.10.2, _launch: cluster_arrive and cluster_wait before alloc.dealloc), so what the product
still writes of the block that left belongs to no other block.
"""

import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

from corpus import Case, F16, F32, clean_and_racy, found, kernel, ty
from fences import TILED
from tensor_memory import B, GIVEN, K, M, MMA, N, pair_product

ACCUMULATOR = plgpu.TMEM((M, N), F32, collective=True)
SCRATCH = {"a": plgpu.SMEM((M, K), F16, transforms=TILED), "b": plgpu.SMEM((K, N // 2), F16, transforms=TILED), "full": plgpu.Barrier(num_arrivals=2),
           "here": plgpu.ClusterBarrier(collective_axes=("x",), orders_tensor_core=True), "done": plgpu.Barrier(orders_tensor_core=True)}


def of_pair(body, **scratch):
    return kernel(body, ty(2 * M, K, dtype=F16), B, out=ty(2 * M, N, dtype=F32), threads=None, cluster=(2,), cluster_names=("x",),
                  scratch={**SCRATCH, **scratch})


def fetch(x_ref, y_ref, a, b, full, here):
    """Both blocks have their operands, and the leader knows."""
    rank = lax.axis_index("x")
    plgpu.copy_gmem_to_smem(x_ref.at[pl.ds(rank * M, M)], a, full)
    plgpu.copy_gmem_to_smem(y_ref.at[:, pl.ds(rank * N // 2, N // 2)], b, full)
    plgpu.barrier_wait(full)
    plgpu.barrier_arrive(here)
    plgpu.barrier_wait(here)
    return rank


def zeros():
    return plgpu.layout_cast(jnp.zeros((M, N), F32), plgpu.Layout.TCGEN05)


def allocated(racy):
    def body(x_ref, y_ref, o_ref, a, b, full, here, done):
        rank = fetch(x_ref, y_ref, a, b, full, here)

        def multiply(acc):
            plgpu.tcgen05_mma(acc, a, b, done, accumulate=False, collective_axis="x")  #@ mma
            plgpu.barrier_wait(done)
            o_ref[pl.ds(rank * M, M)] = plgpu.async_load_tmem(acc)  #@ async_load_tmem:load
            plgpu.wait_load_tmem()

        if not racy:
            return pl.run_scoped(multiply, ACCUMULATOR)

        @pl.when(rank == 0)
        def _():
            pl.run_scoped(multiply, ACCUMULATOR)  #@ run_scoped:scope

        @pl.when(rank == 1)
        def _():
            plgpu.barrier_wait(done)
            o_ref[pl.ds(M, M)] = zeros()

    return of_pair(body)


def leaves(scoped):
    """The other block has nothing to do once its operands are there. Its accumulator is the kernel's, or a scope's that it leaves."""
    def body(x_ref, y_ref, o_ref, a, b, full, here, done, acc=None):
        rank = fetch(x_ref, y_ref, a, b, full, here)

        def multiply(acc):
            @pl.when(rank == 0)
            def _():
                plgpu.tcgen05_mma(acc, a, b, done, accumulate=False, collective_axis="x")  #@ mma
                plgpu.barrier_wait(done)
                o_ref[pl.ds(0, M)] = plgpu.async_load_tmem(acc)
                plgpu.wait_load_tmem()

            @pl.when(rank == 1)
            def _():
                o_ref[pl.ds(M, M)] = zeros()

        pl.run_scoped(multiply, ACCUMULATOR) if scoped else multiply(acc)

    return of_pair(body, **({} if scoped else {"acc": ACCUMULATOR}))


def taken(racy):
    """Columns of a scope are given to the next one, where the product of both blocks may still write the other block's."""
    def body(x_ref, y_ref, o_ref, a, b, full, here, done):
        rank = fetch(x_ref, y_ref, a, b, full, here)

        def multiply(acc):
            @pl.when(rank == 0)
            def _():
                plgpu.tcgen05_mma(acc, a, b, done, accumulate=False, collective_axis="x")  #@ mma
            if not racy:
                plgpu.barrier_wait(done)

        def store(t):
            plgpu.async_store_tmem(t, plgpu.layout_cast(jnp.ones((M, N), F32), plgpu.Layout.TCGEN05))  #@ async_store_tmem:store
            plgpu.commit_tmem()
            o_ref[pl.ds(rank * M, M)] = plgpu.async_load_tmem(t)  #@ async_load_tmem:load swap:out
            plgpu.wait_load_tmem()
            if racy:
                plgpu.barrier_wait(done)  #@ wait

        pl.run_scoped(multiply, ACCUMULATOR)
        pl.run_scoped(store, ACCUMULATOR)  #@ run_scoped:scope

    return of_pair(body)


def cases():
    product = {**GIVEN, "spec": f"{MMA} gpu-order.md#collective gpu-tmem.md#allocation"}
    yield from clean_and_racy("187_pair_allocates", "Two blocks allocate an accumulator together, or one of them alone.", allocated,
                              (found("COLL_MISMATCH", "scope", "scope"),), outputs={"o": pair_product()[0]}, **product)
    first = pair_product()[0] * (np.arange(2 * M) < M)[:, None]
    yield Case("188_pair_leaves_noted", kernel=leaves(False), prose="A block ends before the product that uses its memory: the kernel's stays until both end.",
               findings=(found("BAR_UNAWAITED", "/run_scoped", "mma"),), exit=0, outputs={"o": first}, **product)
    yield Case("188_pair_leaves_scope_noted", kernel=leaves(True), prose="A block leaves the scope of an accumulator that the product still writes: no other scope gets its columns.",
               findings=(found("BAR_UNAWAITED", "/run_scoped", "mma"),), exit=0, outputs={"o": first}, **product)
    yield from clean_and_racy("188_pair_scope_taken", "A scope's columns go to the next one, and the product of both blocks may still write them.", taken,
                              (found("PEER_LIFETIME", "mma"), found("DEADLOCK", "wait"), found("USE_AFTER_SCOPE", "mma", "scope"),
                               found("PEER_LIFETIME", "mma", "scope")), outputs={"o": np.ones((2 * M, N), np.float32)}, **product)
