"""ILLEGAL: a block of 100 rows has no whole tiles."""

import jax
from jax.experimental import pallas as pl

ROWS = 100


def add(x, y):
    def kernel(x_ref, y_ref, o_ref):
        o_ref[...] = x_ref[...] + y_ref[...]

    block = pl.BlockSpec((ROWS, x.shape[1]), lambda i: (i, 0))
    return pl.pallas_call(
        kernel,
        grid=(pl.cdiv(x.shape[0], ROWS),),
        in_specs=[block, block],
        out_specs=block,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
    )(x, y)
