"""LARGE: blocks of 1024 along the inner dimension hold more than asked for."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

ROWS, COLUMNS, INNER = 256, 256, 1024


def product(x, y):
    def kernel(x_ref, y_ref, o_ref):
        @pl.when(pl.program_id(2) == 0)
        def clear():
            o_ref[...] = jnp.zeros_like(o_ref)

        o_ref[...] += jnp.dot(x_ref[...], y_ref[...], preferred_element_type=jnp.float32)

    (m, inner), n = x.shape, y.shape[1]
    return pl.pallas_call(
        kernel,
        grid=(m // ROWS, n // COLUMNS, inner // INNER),
        in_specs=[
            pl.BlockSpec((ROWS, INNER), lambda i, j, k: (i, k)),
            pl.BlockSpec((INNER, COLUMNS), lambda i, j, k: (k, j)),
        ],
        out_specs=pl.BlockSpec((ROWS, COLUMNS), lambda i, j, k: (i, j)),
        out_shape=jax.ShapeDtypeStruct((m, n), jnp.float32),
    )(x, y)
