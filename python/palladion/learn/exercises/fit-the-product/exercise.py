"""Make it fit: a product whose programs each want all of the inner dimension in VMEM.

Add an axis of the grid along the inner dimension, and add up in the block of the result: it stays in VMEM while that
axis runs. No more than 4 MiB may be held; palladion.fit(product, x, y, target="v5e") shows what is.
"""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

ROWS, COLUMNS = 256, 256


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
