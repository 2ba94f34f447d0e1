"""VALUES: the block is set, and not added to."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

SIZE = 128


def product(x, y):
    def kernel(x_ref, y_ref, o_ref):
        o_ref[...] = jnp.dot(x_ref[...], y_ref[...], preferred_element_type=jnp.float32)

    (m, n), k = (x.shape[0], y.shape[1]), x.shape[1]
    return pl.pallas_call(
        kernel,
        grid=(m // SIZE, n // SIZE, k // SIZE),
        in_specs=[
            pl.BlockSpec((SIZE, SIZE), lambda i, j, k: (i, k)),
            pl.BlockSpec((SIZE, SIZE), lambda i, j, k: (k, j)),
        ],
        out_specs=pl.BlockSpec((SIZE, SIZE), lambda i, j, k: (i, j)),
        out_shape=jax.ShapeDtypeStruct((m, n), x.dtype),
    )(x, y)
