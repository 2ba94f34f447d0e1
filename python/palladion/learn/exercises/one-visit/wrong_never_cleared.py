"""VALUES: cleared by the second step, and not by the first."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

SIZE = 128


def product(x, y):
    def kernel(x_ref, y_ref, o_ref):
        @pl.when(pl.program_id(2) == 1)
        def clear():
            o_ref[...] = jnp.zeros_like(o_ref)

        o_ref[...] += jnp.dot(x_ref[...], y_ref[...], preferred_element_type=jnp.float32)

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
