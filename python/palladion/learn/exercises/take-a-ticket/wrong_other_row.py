"""NONDET: it reads its own row, and writes where the ticket says."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton as plgpu

PROGRAMS = 4


def double(x, counter, rows):
    def kernel(x_ref, counter_before, rows_before, counter_ref, rows_ref):
        del counter_before, rows_before  # the same memory as counter_ref and rows_ref
        ticket = plgpu.atomic_add(counter_ref, (0,), 1)
        rows_ref[ticket, :] = x_ref[pl.program_id(0), :] * 2

    number = pl.BlockSpec((1,), lambda i: (0,))
    whole = pl.BlockSpec(x.shape, lambda i: (0, 0))
    return pl.pallas_call(
        kernel,
        grid=(PROGRAMS,),
        in_specs=[whole, number, whole],
        out_specs=[number, whole],
        out_shape=[jax.ShapeDtypeStruct((1,), jnp.int32), jax.ShapeDtypeStruct(x.shape, x.dtype)],
        input_output_aliases={1: 0, 2: 1},
    )(x, counter, rows)
