"""Kernels whose outputs show a mistake of synchronisation, if the hardware makes use of it, and the same kernels
without the mistake.

The kernels of conformance/gpu_corpus throw away what a race may have spoilt, so that their results are known; these
store it.
"""

import functools

import from_corpus  # noqa: F401 - puts the corpus on the path
import jax.numpy as jnp
import numpy as np
from corpus import F16, F32, I32, kernel, load, ty
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu
from recorded import Recorded

ROWS = 32
TILE = ty(ROWS, 128)
SMEM = plgpu.SMEM((ROWS, 128), I32)
ALONE = {"threads": None}
X = np.arange(ROWS * 128, dtype=np.int32).reshape(ROWS, 128) + 1


def thread(index):
    return pl.when(lax.axis_index("wg") == index)


def load_without_wait(racy):
    """A copy's destination is read before the wait for it."""

    def body(x_ref, o_ref, smem, full):
        smem[...] = jnp.zeros((ROWS, 128), I32)
        plgpu.commit_smem()
        plgpu.copy_gmem_to_smem(x_ref, smem, full)
        if not racy:
            plgpu.barrier_wait(full)
        o_ref[...] = load(smem)
        if racy:
            plgpu.barrier_wait(full)

    return kernel(body, TILE, out=TILE, scratch={"smem": SMEM, "full": plgpu.Barrier()}, **ALONE), (X,), X


def store_without_fence(racy):
    """Ordinary stores are not made known to the copy that reads them."""

    def body(x_ref, o_ref, smem):
        for step in range(4):
            smem[...] = x_ref[...] + step
            if not racy:
                plgpu.commit_smem()
            plgpu.copy_smem_to_gmem(smem, o_ref.at[step])
            plgpu.wait_smem_to_gmem(0)

    right = np.stack([X + step for step in range(4)])
    return kernel(body, TILE, out=ty(4, ROWS, 128), scratch={"smem": SMEM}, **ALONE), (X,), right


def source_reused(racy):
    """The source of a copy is overwritten before the copy has read it."""

    def body(x_ref, o_ref, smem):
        smem[...] = x_ref[...]
        plgpu.commit_smem()
        plgpu.copy_smem_to_gmem(smem, o_ref)
        if not racy:
            plgpu.wait_smem_to_gmem(0, wait_read_only=True)
        smem[...] = jnp.zeros((ROWS, 128), I32)
        plgpu.wait_smem_to_gmem(0)

    return kernel(body, TILE, out=TILE, scratch={"smem": SMEM}, **ALONE), (X,), X


def read_back_early(racy):
    """What a copy writes to global memory is read before the wait for its writes."""

    def body(x_ref, o_ref, p_ref, smem):
        p_ref[...] = jnp.zeros((ROWS, 128), I32)
        smem[...] = x_ref[...]
        plgpu.commit_smem()
        plgpu.copy_smem_to_gmem(smem, p_ref)
        plgpu.wait_smem_to_gmem(0, wait_read_only=racy)
        o_ref[...] = p_ref[...]
        plgpu.wait_smem_to_gmem(0)

    return kernel(body, TILE, out=(TILE, TILE), scratch={"smem": SMEM}, **ALONE), (X,), (X, X)


def no_barrier(racy):
    """One warpgroup reads what another one stores."""

    def body(x_ref, o_ref, smem, begun, full):
        @thread(0)
        def _():
            smem[...] = jnp.zeros((ROWS, 128), I32)
            plgpu.barrier_arrive(begun)
            smem[...] = x_ref[...]
            if not racy:
                plgpu.barrier_arrive(full)

        @thread(1)
        def _():
            plgpu.barrier_wait(begun)
            if not racy:
                plgpu.barrier_wait(full)
            o_ref[...] = load(smem)

    return (
        kernel(body, TILE, out=TILE, scratch={"smem": SMEM, "begun": plgpu.Barrier(), "full": plgpu.Barrier()}),
        (X,),
        X,
    )


def ring_lapped(racy):
    """The producer of a ring of two slots does not wait until a slot has been read."""
    steps, slots = 16, 2

    def body(x_ref, o_ref, ring, full, empty):
        @thread(0)
        def _():
            def fill(i, _):
                slot = lax.rem(i, slots)
                if not racy:

                    @pl.when(i >= slots)
                    def _():
                        plgpu.barrier_wait(empty.at[slot])

                plgpu.copy_gmem_to_smem(x_ref.at[i], ring.at[slot], full.at[i])
                return _

            lax.fori_loop(0, steps, fill, None)

        @thread(1)
        def _():
            def drain(i, _):
                slot = lax.rem(i, slots)
                plgpu.barrier_wait(full.at[i])
                o_ref[i] = load(ring.at[slot])
                if not racy:
                    plgpu.commit_smem()
                    plgpu.barrier_arrive(empty.at[slot])
                return _

            lax.fori_loop(0, steps, drain, None)

    many = np.stack([X * 0 + i + 1 for i in range(steps)])
    made = kernel(
        body,
        ty(steps, ROWS, 128),
        out=ty(steps, ROWS, 128),
        scratch={
            "ring": plgpu.SMEM((slots, ROWS, 128), I32),
            "full": plgpu.Barrier(num_barriers=steps),
            "empty": plgpu.Barrier(num_barriers=slots),
        },
    )
    return made, (many,), many


def message_without_semaphore(racy):
    """One block reads what another one stores; the semaphore says that it is there."""

    def body(x_ref, o_ref, p_ref):
        begun, ready = pl.get_global(plgpu.SemaphoreType.REGULAR), pl.get_global(plgpu.SemaphoreType.REGULAR)

        @pl.when(lax.axis_index("b") == 0)
        def _():
            p_ref[...] = jnp.zeros((ROWS, 128), I32)
            pl.semaphore_signal(begun)
            p_ref[...] = x_ref[...]
            if not racy:
                pl.semaphore_signal(ready)

        @pl.when(lax.axis_index("b") == 1)
        def _():
            pl.semaphore_wait(begun)
            if not racy:
                pl.semaphore_wait(ready)
            o_ref[...] = p_ref[...]

    return kernel(body, TILE, out=(TILE, TILE), grid=(2,), grid_names=("b",), **ALONE), (X,), (X, X)


TILED = (plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128))
A16 = (np.arange(64 * 64).reshape(64, 64) % 7 - 3).astype(np.float16)


def product_operand_refilled(racy):
    """A copy overwrites an operand of a matrix product that has not been waited for."""

    def body(x_ref, z_ref, o_ref, a, b, full, again):
        plgpu.copy_gmem_to_smem(x_ref, a, full)
        plgpu.copy_gmem_to_smem(x_ref, b, full)
        plgpu.barrier_wait(full)

        def scope(acc):
            for _ in range(2):
                plgpu.wgmma(acc, a, b)
            plgpu.wgmma_wait(2 if racy else 0)
            plgpu.copy_gmem_to_smem(z_ref, a, again)
            plgpu.copy_gmem_to_smem(z_ref, b, again)
            plgpu.barrier_wait(again)
            return acc[...]

        o_ref[...] = pl.run_scoped(scope, plgpu.ACC((64, 64), F32))

    tile = plgpu.SMEM((64, 64), F16, transforms=TILED)
    made = kernel(
        body,
        ty(64, 64, dtype=F16),
        ty(64, 64, dtype=F16),
        out=ty(64, 64, dtype=F32),
        scratch={"a": tile, "b": tile, "full": plgpu.Barrier(num_arrivals=2), "again": plgpu.Barrier(num_arrivals=2)},
        **ALONE,
    )
    wide = A16.astype(np.float32)
    return made, (A16, np.zeros_like(A16)), 2 * (wide @ wide)


KERNELS = {
    "load_without_wait": (load_without_wait, "RACE_ASYNC"),
    "store_without_fence": (store_without_fence, "PROXY"),
    "source_reused": (source_reused, "RACE_ASYNC"),
    "read_back_early": (read_back_early, "RACE_ASYNC"),
    "no_barrier": (no_barrier, "RACE_RW"),
    "ring_lapped": (ring_lapped, "RACE_ASYNC"),
    "message_without_semaphore": (message_without_semaphore, "RACE_RW"),
    "product_operand_refilled": (product_operand_refilled, "RACE_RW"),
}


def right(make, racy):
    """(which kernel, its outputs) where nothing goes wrong."""
    values = make(racy)[2]
    return "itself", list(values) if isinstance(values, tuple) else [values]


def recorded():
    for name, (make, _) in KERNELS.items():
        for racy in (False, True):
            problem = functools.partial(lambda m, r: m(r)[:2], make, racy)
            run = functools.partial(lambda p: (p()[0].function, p()[1]), problem)
            yield Recorded(
                f"shown/{name}_{'racy' if racy else 'clean'}",
                run,
                "mosaic_gpu/h100",
                functools.partial(right, make, racy),
            )
