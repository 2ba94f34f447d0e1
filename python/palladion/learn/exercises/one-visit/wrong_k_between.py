"""OUT_REVISIT: k is the second axis, and j runs fastest."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

SIZE = 128


def product(x, y):
    def kernel(x_ref, y_ref, o_ref):
        @pl.when(pl.program_id(1) == 0)
        def clear():
            o_ref[...] = jnp.zeros_like(o_ref)

        o_ref[...] += jnp.dot(x_ref[...], y_ref[...], preferred_element_type=jnp.float32)

    (m, n), k = (x.shape[0], y.shape[1]), x.shape[1]
    return pl.pallas_call(
        kernel,
        grid=(m // SIZE, k // SIZE, n // SIZE),
        in_specs=[
            pl.BlockSpec((SIZE, SIZE), lambda i, k, j: (i, k)),
            pl.BlockSpec((SIZE, SIZE), lambda i, k, j: (k, j)),
        ],
        out_specs=pl.BlockSpec((SIZE, SIZE), lambda i, k, j: (i, j)),
        out_shape=jax.ShapeDtypeStruct((m, n), x.dtype),
    )(x, y)
