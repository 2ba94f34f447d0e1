"""A product whose sum over the inner dimension is rounded at each step. Mend it, with `acc`.

The result is bfloat16, which has 8 bits for its digits, and the block of the result is what the steps add to. `acc` is
a block of float32 in VMEM; it stays from program to program, and no pipeline moves it.
"""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

SIZE = 128


def product(x, y):
    (m, inner), n = x.shape, y.shape[1]

    def kernel(x_ref, y_ref, o_ref, acc):
        step = pl.program_id(2)

        @pl.when(step == 0)
        def clear():
            o_ref[...] = jnp.zeros_like(o_ref)

        part = jnp.dot(x_ref[...], y_ref[...], preferred_element_type=jnp.float32)
        o_ref[...] += part.astype(o_ref.dtype)

    return pl.pallas_call(
        kernel,
        grid=(m // SIZE, n // SIZE, inner // SIZE),
        in_specs=[
            pl.BlockSpec((SIZE, SIZE), lambda i, j, k: (i, k)),
            pl.BlockSpec((SIZE, SIZE), lambda i, j, k: (k, j)),
        ],
        out_specs=pl.BlockSpec((SIZE, SIZE), lambda i, j, k: (i, j)),
        out_shape=jax.ShapeDtypeStruct((m, n), jnp.bfloat16),
        scratch_shapes=[pltpu.VMEM((SIZE, SIZE), jnp.float32)],
    )(x, y)
