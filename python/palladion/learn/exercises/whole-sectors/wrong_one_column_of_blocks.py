"""OUT_MISSING: the grid has one column of blocks."""

import jax
from jax.experimental import pallas as pl

ROWS, COLUMNS = 32, 32


def double(x):
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...] * 2

    block = pl.BlockSpec((ROWS, COLUMNS), lambda i, j: (i, j))
    return pl.pallas_call(
        kernel,
        grid=(x.shape[0] // ROWS, 1),
        in_specs=[block],
        out_specs=block,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
    )(x)
