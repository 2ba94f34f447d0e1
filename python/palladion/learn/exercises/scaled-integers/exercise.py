"""A product of integers of 8 bits with a scale for each row of `x` and for each column of `y`. Complete the kernel.

`x` is int8 [m, k] with scales [m, 1], `y` is int8 [k, n] with scales [1, n]; the result is float32 [m, n], the
integers' product times both scales. The largest product of two int8 is 16384, and there are k of them to be added up.
"""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

SIZE = 128


def product(x, x_scales, y, y_scales):
    def kernel(x_ref, x_scales_ref, y_ref, y_scales_ref, o_ref):
        o_ref[...] = jnp.dot(x_ref[...], y_ref[...]).astype(jnp.float32)  # the scales?

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
