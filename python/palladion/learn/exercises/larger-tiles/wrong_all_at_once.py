"""LARGE: one tile of everything does not fit."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

SIZE = 1024


def product(x, y):
    def kernel(x_ref, y_ref, o_ref):
        o_ref[...] = jnp.dot(x_ref[...], y_ref[...], preferred_element_type=jnp.float32)

    (m, inner), n = x.shape, y.shape[1]
    rows, columns = min(m, SIZE), min(n, SIZE)
    return pl.pallas_call(
        kernel,
        grid=(m // rows, n // columns),
        in_specs=[
            pl.BlockSpec((rows, inner), lambda i, j: (i, 0)),
            pl.BlockSpec((inner, columns), lambda i, j: (0, j)),
        ],
        out_specs=pl.BlockSpec((rows, columns), lambda i, j: (i, j)),
        out_shape=jax.ShapeDtypeStruct((m, n), jnp.float32),
    )(x, y)
