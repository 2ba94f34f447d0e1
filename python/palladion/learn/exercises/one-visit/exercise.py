"""A matrix product whose result is wrong. Mend the grid.

The sum over k is kept in the block of the result. A TPU flushes that block to main memory as soon as the next program
has another one, and fetches nothing back: the programs that share a block have to follow one another.
"""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

SIZE = 128


def product(x, y):
    def kernel(x_ref, y_ref, o_ref):
        @pl.when(pl.program_id(0) == 0)
        def clear():
            o_ref[...] = jnp.zeros_like(o_ref)

        o_ref[...] += jnp.dot(x_ref[...], y_ref[...], preferred_element_type=jnp.float32)

    (m, n), k = (x.shape[0], y.shape[1]), x.shape[1]
    return pl.pallas_call(
        kernel,
        grid=(k // SIZE, m // SIZE, n // SIZE),
        in_specs=[
            pl.BlockSpec((SIZE, SIZE), lambda k, i, j: (i, k)),
            pl.BlockSpec((SIZE, SIZE), lambda k, i, j: (k, j)),
        ],
        out_specs=pl.BlockSpec((SIZE, SIZE), lambda k, i, j: (i, j)),
        out_shape=jax.ShapeDtypeStruct((m, n), x.dtype),
    )(x, y)
