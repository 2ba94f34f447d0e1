"""LARGE: few rows and columns, and still all of the inner dimension."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

ROWS, COLUMNS = 32, 128


def product(x, y):
    def kernel(x_ref, y_ref, o_ref):
        o_ref[...] = jnp.dot(x_ref[...], y_ref[...], preferred_element_type=jnp.float32)

    (m, inner), n = x.shape, y.shape[1]
    return pl.pallas_call(
        kernel,
        grid=(m // ROWS, n // COLUMNS),
        in_specs=[
            pl.BlockSpec((ROWS, inner), lambda i, j: (i, 0)),
            pl.BlockSpec((inner, COLUMNS), lambda i, j: (0, j)),
        ],
        out_specs=pl.BlockSpec((ROWS, COLUMNS), lambda i, j: (i, j)),
        out_shape=jax.ShapeDtypeStruct((m, n), jnp.float32),
    )(x, y)
