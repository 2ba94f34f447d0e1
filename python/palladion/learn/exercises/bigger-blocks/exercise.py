"""Make it 1.5 times faster: the kernel is right, and each of its programs has far too little to do.

Each step of a grid has a cost of its own, whatever its block. print(palladion.time(double, x, target="v5e")) says how
long the kernel takes.
"""

import jax
from jax.experimental import pallas as pl

ROWS = 8


def double(x):
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...] * 2

    block = pl.BlockSpec((ROWS, x.shape[1]), lambda i: (i, 0))
    return pl.pallas_call(
        kernel,
        grid=(x.shape[0] // ROWS,),
        in_specs=[block],
        out_specs=block,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
    )(x)
