"""OUT_MISSING: fast, and most of the result is missing."""

import jax
from jax.experimental import pallas as pl

ROWS = 128


def scaled(x, factors):
    def kernel(x_ref, factors_ref, o_ref):
        o_ref[...] = x_ref[...] * factors_ref[:1, :]

    (rows, columns), count = x.shape, factors.shape[0]
    return pl.pallas_call(
        kernel,
        grid=(rows // ROWS, 1),
        in_specs=[
            pl.BlockSpec((ROWS, columns), lambda i, j: (i, 0)),
            pl.BlockSpec((None, 8, columns), lambda i, j: (j, 0, 0)),
        ],
        out_specs=pl.BlockSpec((None, ROWS, columns), lambda i, j: (j, i, 0)),
        out_shape=jax.ShapeDtypeStruct((count, rows, columns), x.dtype),
    )(x, factors)
