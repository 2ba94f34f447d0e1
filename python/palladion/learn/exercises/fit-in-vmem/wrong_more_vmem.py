"""LARGE: the compiler is asked for more VMEM, and the kernel is as large as before."""

import jax
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def add(x, y):
    def kernel(x_ref, y_ref, o_ref):
        o_ref[...] = x_ref[...] + y_ref[...]

    return pl.pallas_call(
        kernel,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        compiler_params=pltpu.CompilerParams(vmem_limit_bytes=32 << 20),
    )(x, y)
