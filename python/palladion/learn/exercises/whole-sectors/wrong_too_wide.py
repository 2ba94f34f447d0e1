"""OUT_MISSING: some arrays have fewer columns than the block, and get no program."""

import jax
from jax.experimental import pallas as pl

ROWS, COLUMNS = 16, 64


def double(x):
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...] * 2

    block = pl.BlockSpec((ROWS, COLUMNS), lambda i, j: (i, j))
    return pl.pallas_call(
        kernel,
        grid=(x.shape[0] // ROWS, x.shape[1] // COLUMNS),
        in_specs=[block],
        out_specs=block,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
    )(x)
