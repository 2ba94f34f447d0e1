"""DEADLOCK: the barriers count two arrivals, and one comes."""

import jax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu


def pipeline(x):
    def kernel(x_ref, o_ref, smem, squared, added):
        thread = jax.lax.axis_index("wg")

        @pl.when(thread == 0)
        def square():
            smem[...] = x_ref[...] * x_ref[...]
            plgpu.barrier_arrive(squared)

        @pl.when(thread == 1)
        def add_one():
            plgpu.barrier_wait(squared)
            smem[...] = smem[...] + 1
            plgpu.barrier_arrive(added)

        @pl.when(thread == 2)
        def double():
            plgpu.barrier_wait(added)
            o_ref[...] = smem[...] * 2

    return plgpu.kernel(
        kernel,
        out_type=jax.ShapeDtypeStruct(x.shape, x.dtype),
        scratch_types=[
            plgpu.SMEM(x.shape, x.dtype),
            plgpu.Barrier(num_arrivals=2),
            plgpu.Barrier(num_arrivals=2),
        ],
        num_threads=3,
        thread_name="wg",
    )(x)
