"""RACE_RW: thread 1 does not wait."""

import jax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu


def swap(x):
    half = x.shape[0] // 2

    def kernel(x_ref, o_ref, smem, written):
        thread = jax.lax.axis_index("wg")
        own, other = pl.ds(thread * half, half), pl.ds((1 - thread) * half, half)
        smem[own, :] = x_ref[own, :]
        plgpu.barrier_arrive(written)

        @pl.when(thread == 0)
        def _():
            plgpu.barrier_wait(written)

        o_ref[own, :] = smem[other, :]

    return plgpu.kernel(
        kernel,
        out_type=jax.ShapeDtypeStruct(x.shape, x.dtype),
        scratch_types=[plgpu.SMEM(x.shape, x.dtype), plgpu.Barrier(num_arrivals=2)],
        num_threads=2,
        thread_name="wg",
    )(x)
