"""WITHOUT: what is left is not rounded, so that two products are of float32."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl


def multiply(x, y):
    return jnp.dot(x, y, preferred_element_type=jnp.float32)


def halves(x):
    high = x.astype(jnp.bfloat16)
    return high, x - high.astype(jnp.float32)


def product(x, y):
    def kernel(x_ref, y_ref, o_ref):
        (x_high, x_low), (y_high, y_low) = halves(x_ref[...]), halves(y_ref[...])
        o_ref[...] = multiply(x_high, y_high) + multiply(x_high, y_low) + multiply(x_low, y_high)

    return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct((x.shape[0], y.shape[1]), jnp.float32))(x, y)
