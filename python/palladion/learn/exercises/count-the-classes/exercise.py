"""Count how often each class occurs in `x`: the result is `start` with the counts added to it, in place.

Each program sees 16 numbers of `x`, each from 0 to 7, and all of `counts_ref`, which all programs share. Complete the
kernel. An atomic operation of jax.experimental.pallas.triton takes a ref, a tuple of indices and a value; an index and
a value may be arrays, of the same shape.
"""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

SIZE = 16


def count(x, start):
    def kernel(x_ref, start_ref, counts_ref):
        del start_ref  # the same memory as counts_ref
        raise NotImplementedError("add one to the class of each of the numbers")

    return pl.pallas_call(
        kernel,
        grid=(x.shape[0] // SIZE,),
        in_specs=[pl.BlockSpec((SIZE,), lambda i: (i,)), pl.BlockSpec((8,), lambda i: (0,))],
        out_specs=pl.BlockSpec((8,), lambda i: (0,)),
        out_shape=jax.ShapeDtypeStruct((8,), jnp.int32),
        input_output_aliases={1: 0},
    )(x, start)
