"""LETTERS: what comes before the arrival is ordered."""

import jax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu


def reduce_halves(x):
    half = x.shape[0] // 2

    def kernel(x_ref, o_ref, smem, first):
        thread = jax.lax.axis_index("wg")

        @pl.when(thread == 1)
        def give():
            smem[0] = x_ref[pl.ds(half, half), :]  # A
            smem[1] = x_ref[pl.ds(half, half), :] * 0  # B
            plgpu.barrier_arrive(first)  # C
            smem[1] = x_ref[pl.ds(half, half), :] * 0  # D

        @pl.when(thread == 0)
        def take():
            plgpu.barrier_wait(first)
            o_ref[...] = x_ref[pl.ds(0, half), :] + smem[0] + smem[1]  # E

    return plgpu.kernel(
        kernel,
        out_type=jax.ShapeDtypeStruct((half, x.shape[1]), x.dtype),
        scratch_types=[plgpu.SMEM((2, half, x.shape[1]), x.dtype), plgpu.Barrier()],
        num_threads=2,
        thread_name="wg",
    )(x)


def racing():
    return {"A", "E"}
