"""Make it 2 times faster: every number is added to the total by an atomic operation of its own.

Atomic operations on one address follow one another, all over the chip. What can a program do by itself before it
touches what it shares? The result is `start` with the sum of `x` added to it, in place.
"""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton as plgpu

SIZE = 1024


def total(x, start):
    def kernel(x_ref, start_ref, total_ref):
        del start_ref  # the same memory as total_ref
        plgpu.atomic_add(total_ref, (jnp.zeros((SIZE,), jnp.int32),), x_ref[...])

    return pl.pallas_call(
        kernel,
        grid=(x.shape[0] // SIZE,),
        in_specs=[pl.BlockSpec((SIZE,), lambda i: (i,)), pl.BlockSpec((1,), lambda i: (0,))],
        out_specs=pl.BlockSpec((1,), lambda i: (0,)),
        out_shape=jax.ShapeDtypeStruct((1,), x.dtype),
        input_output_aliases={1: 0},
    )(x, start)
