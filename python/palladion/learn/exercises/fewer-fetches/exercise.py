"""Make it 1.3 times faster. The kernel multiplies each block of `x` by row 0 of each of the `factors`.

`x` is [rows, columns], `factors` is [count, 8, columns], the result [count, rows, columns].

A block that the next program has too is not fetched again. Which of the two inputs is large, and how often is it
fetched? The grid's last axis runs fastest.
"""

import jax
from jax.experimental import pallas as pl

ROWS = 128


def scaled(x, factors):
    def kernel(x_ref, factors_ref, o_ref):
        o_ref[...] = x_ref[...] * factors_ref[:1, :]

    (rows, columns), count = x.shape, factors.shape[0]
    return pl.pallas_call(
        kernel,
        grid=(count, rows // ROWS),
        in_specs=[
            pl.BlockSpec((ROWS, columns), lambda j, i: (i, 0)),
            pl.BlockSpec((None, 8, columns), lambda j, i: (j, 0, 0)),
        ],
        out_specs=pl.BlockSpec((None, ROWS, columns), lambda j, i: (j, i, 0)),
        out_shape=jax.ShapeDtypeStruct((count, rows, columns), x.dtype),
    )(x, factors)
