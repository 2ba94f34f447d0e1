"""ILLEGAL: a block of 64 columns is no whole tile."""

import jax
from jax.experimental import pallas as pl

ROWS = 128


def double(x):
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...] * 2

    block = pl.BlockSpec((x.shape[0], 64), lambda i: (0, i))
    return pl.pallas_call(
        kernel,
        grid=(x.shape[1] // 64,),
        in_specs=[block],
        out_specs=block,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
    )(x)
