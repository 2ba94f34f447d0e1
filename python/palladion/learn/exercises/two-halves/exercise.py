"""A product of float32 on a unit that multiplies bfloat16: split each number in two. Complete the kernel.

A bfloat16 has 8 bits for its digits. A float32 is nearly the sum of two of them: the number rounded to bfloat16, and
what that leaves, rounded too. The product of two such sums is four products of bfloat16, and the smallest of them may
be left out. The operands of every product have to be bfloat16; sums are float32. One product alone is off by a few
thousandths.
"""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl


def multiply(x, y):
    return jnp.dot(x, y, preferred_element_type=jnp.float32)


def halves(x):
    high = x.astype(jnp.bfloat16)
    return high, jnp.zeros_like(high)  # what is left of x?


def product(x, y):
    def kernel(x_ref, y_ref, o_ref):
        (x_high, _), (y_high, _) = halves(x_ref[...]), halves(y_ref[...])
        o_ref[...] = multiply(x_high, y_high)

    return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct((x.shape[0], y.shape[1]), jnp.float32))(x, y)
