"""Program (i, j) sees block (i, j) of `x` and of the result, and block (i, 0) of `factors`."""

import jax
from jax.experimental import pallas as pl

ROWS, COLUMNS = 16, 32


def scale_kernel(x_ref, factors_ref, o_ref):
    o_ref[...] = x_ref[...] * factors_ref[...]


def scale(x, factors):
    block = pl.BlockSpec((ROWS, COLUMNS), lambda i, j: (i, j))
    return pl.pallas_call(
        scale_kernel,
        grid=(x.shape[0] // ROWS, x.shape[1] // COLUMNS),
        in_specs=[block, pl.BlockSpec((ROWS, 1), lambda i, j: (i, 0))],
        out_specs=block,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
    )(x, factors)
