"""WITHOUT: thread 2 does all of it, and nothing is handed over."""

import jax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu


def pipeline(x):
    def kernel(x_ref, o_ref, smem, squared, added):
        thread = jax.lax.axis_index("wg")

        @pl.when(thread == 0)
        def square():
            smem[...] = x_ref[...] * x_ref[...]

        @pl.when(thread == 1)
        def add_one():
            pass

        @pl.when(thread == 2)
        def double():
            o_ref[...] = (x_ref[...] * x_ref[...] + 1) * 2

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
