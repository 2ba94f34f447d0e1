"""LETTERS: nothing writes the input."""

import jax
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

ROWS = 8


def negate(x):
    steps = x.shape[0] // ROWS

    def kernel(x_ref, o_ref, vmem, gone):
        def copy(step):
            rows = o_ref.at[pl.ds(step * ROWS, ROWS)]
            return pltpu.make_async_copy(vmem.at[step % 2], rows, gone.at[step % 2])

        for step in range(steps):
            value = -x_ref[pl.ds(step * ROWS, ROWS), :]  # A
            vmem[step % 2] = value  # B
            if step >= 2:
                copy(step - 2).wait()  # C
            copy(step).start()  # D
        for step in range(max(steps - 2, 0), steps):
            copy(step).wait()  # E

    return pl.pallas_call(
        kernel,
        out_specs=pl.BlockSpec(memory_space=pl.ANY),
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        scratch_shapes=[pltpu.VMEM((2, ROWS, x.shape[1]), x.dtype), pltpu.SemaphoreType.DMA((2,))],
    )(x)


def racing():
    return {"A", "B"}
