"""BESIDE: the kernel has one block to do, and JAX does the rest."""

import jax
from jax.experimental import pallas as pl

ROWS = 128


def double(x):
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...] * 2

    block = pl.BlockSpec((ROWS, x.shape[1]), lambda i: (i, 0))
    first = pl.pallas_call(
        kernel,
        grid=(1,),
        in_specs=[block],
        out_specs=block,
        out_shape=jax.ShapeDtypeStruct((ROWS, x.shape[1]), x.dtype),
    )(x[:ROWS])
    return (x * 2).at[:ROWS].set(first)
