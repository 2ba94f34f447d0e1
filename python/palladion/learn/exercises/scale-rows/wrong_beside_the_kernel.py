"""BESIDE: the kernel copies, and JAX multiplies."""

import jax
from jax.experimental import pallas as pl

ROWS, COLUMNS = 16, 32


def scale_kernel(x_ref, o_ref):
    o_ref[...] = x_ref[...]


def scale(x, factors):
    block = pl.BlockSpec((ROWS, COLUMNS), lambda i, j: (i, j))
    copied = pl.pallas_call(
        scale_kernel,
        grid=(x.shape[0] // ROWS, x.shape[1] // COLUMNS),
        in_specs=[block],
        out_specs=block,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
    )(x)
    return copied * factors
