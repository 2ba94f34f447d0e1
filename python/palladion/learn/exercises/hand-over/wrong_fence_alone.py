"""RACE_RW: a fence makes no thread wait."""

import jax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu


def pipeline(x):
    def kernel(x_ref, o_ref, smem, squared, added):
        thread = jax.lax.axis_index("wg")

        @pl.when(thread == 0)
        def square():
            smem[...] = x_ref[...] * x_ref[...]
            plgpu.commit_smem()

        @pl.when(thread == 1)
        def add_one():
            smem[...] = smem[...] + 1
            plgpu.commit_smem()

        @pl.when(thread == 2)
        def double():
            o_ref[...] = smem[...] * 2

    return plgpu.kernel(
        kernel,
        out_type=jax.ShapeDtypeStruct(x.shape, x.dtype),
        scratch_types=[
            plgpu.SMEM(x.shape, x.dtype),
            plgpu.Barrier(num_arrivals=1),
            plgpu.Barrier(num_arrivals=1),
        ],
        num_threads=3,
        thread_name="wg",
    )(x)
