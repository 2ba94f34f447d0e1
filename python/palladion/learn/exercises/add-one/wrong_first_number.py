"""OUT_MISSING: one number is written."""

import jax
from jax.experimental import pallas as pl


def add_one(x):
    def kernel(x_ref, o_ref):
        first = (0,) * len(x_ref.shape)
        o_ref[first] = x_ref[first] + 1

    return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(x)
