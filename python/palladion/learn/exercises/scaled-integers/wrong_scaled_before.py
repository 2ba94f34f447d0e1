"""VALUES: scaled operands are rounded to bfloat16, and their products differ."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

SIZE = 128


def product(x, x_scales, y, y_scales):
    def kernel(x_ref, x_scales_ref, y_ref, y_scales_ref, o_ref):
        left = (x_ref[...].astype(jnp.float32) * x_scales_ref[...]).astype(jnp.bfloat16)
        right = (y_ref[...].astype(jnp.float32) * y_scales_ref[...]).astype(jnp.bfloat16)
        o_ref[...] = jnp.dot(left, right, preferred_element_type=jnp.float32)

    (m, inner), n = x.shape, y.shape[1]
    return pl.pallas_call(
        kernel,
        grid=(m // SIZE, n // SIZE),
        in_specs=[
            pl.BlockSpec((SIZE, inner), lambda i, j: (i, 0)),
            pl.BlockSpec((SIZE, 1), lambda i, j: (i, 0)),
            pl.BlockSpec((inner, SIZE), lambda i, j: (0, j)),
            pl.BlockSpec((1, SIZE), lambda i, j: (0, j)),
        ],
        out_specs=pl.BlockSpec((SIZE, SIZE), lambda i, j: (i, j)),
        out_shape=jax.ShapeDtypeStruct((m, n), jnp.float32),
    )(x, x_scales, y, y_scales)
