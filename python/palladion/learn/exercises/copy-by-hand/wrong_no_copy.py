"""ILLEGAL: a core computes nothing on main memory."""

import jax
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def triple(x):
    def kernel(x_ref, o_ref, vmem, arrived):
        copy = pltpu.make_async_copy(x_ref, vmem, arrived)
        copy.start()
        copy.wait()
        o_ref[...] = x_ref[...] * 3

    return pl.pallas_call(
        kernel,
        in_specs=[pl.BlockSpec(memory_space=pl.ANY)],
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        scratch_shapes=[pltpu.VMEM(x.shape, x.dtype), pltpu.SemaphoreType.DMA],
    )(x)
