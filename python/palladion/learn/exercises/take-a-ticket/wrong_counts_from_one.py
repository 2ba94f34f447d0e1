"""OOB: the ticket is what was there before, so that the first one is zero."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton as plgpu


def double(x, counter):
    def kernel(x_ref, start_ref, counter_ref, o_ref):
        del start_ref  # the same memory as counter_ref
        ticket = plgpu.atomic_add(counter_ref, (0,), 1)
        o_ref[ticket - 1, :] = x_ref[ticket - 1, :] * 2

    number = pl.BlockSpec((1,), lambda i: (0,))
    whole = pl.BlockSpec(x.shape, lambda i: (0, 0))
    return pl.pallas_call(
        kernel,
        grid=(x.shape[0],),
        in_specs=[whole, number],
        out_specs=[number, whole],
        out_shape=[jax.ShapeDtypeStruct((1,), jnp.int32), jax.ShapeDtypeStruct(x.shape, x.dtype)],
        input_output_aliases={1: 0},
    )(x, counter)
