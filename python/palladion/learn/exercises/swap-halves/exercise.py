"""Two threads swap: each writes its half of `x` to shared memory, and then reads the half of the other.

Complete the kernel. Both have to have written before either reads, so the barrier has to count two arrivals.
"""

import jax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu


def swap(x):
    half = x.shape[0] // 2

    def kernel(x_ref, o_ref, smem, written):
        thread = jax.lax.axis_index("wg")
        own, other = pl.ds(thread * half, half), pl.ds((1 - thread) * half, half)
        smem[own, :] = x_ref[own, :]
        o_ref[own, :] = smem[other, :]

    return plgpu.kernel(
        kernel,
        out_type=jax.ShapeDtypeStruct(x.shape, x.dtype),
        scratch_types=[plgpu.SMEM(x.shape, x.dtype), plgpu.Barrier(num_arrivals=1)],
        num_threads=2,
        thread_name="wg",
    )(x)
