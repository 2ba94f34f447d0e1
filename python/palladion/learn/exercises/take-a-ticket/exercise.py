"""Programs take rows of `x` by tickets from a counter, and double them. Some schedules mix the rows up: mend it.

An addition by plgpu.atomic_add returns what was there before, so that each ticket is given out once; which program gets
which is open. A launch goes on where the one before has stopped: `counter` is the number of the first row that is not
done yet, PROGRAMS rows are done now, into `rows`, and all others stay. Nothing races here, and the result still depends
on the order.
"""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton as plgpu

PROGRAMS = 4


def double(x, counter, rows):
    def kernel(x_ref, counter_before, rows_before, counter_ref, rows_ref):
        del counter_before, rows_before  # the same memory as counter_ref and rows_ref
        ticket = plgpu.atomic_add(counter_ref, (0,), 1)
        rows_ref[pl.program_id(0), :] = x_ref[ticket, :] * 2

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
