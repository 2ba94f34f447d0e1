"""Make it 1.5 times faster. The kernel is right, and no copy is under way while it computes.

One slot is filled, waited for, and used, step by step. With several slots the next ones are filled meanwhile: a slot
has its own barrier, and may be filled again when the thread has read it. print(palladion.time(add_one, x,
target="h100")) says what the time goes to.
"""

import jax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

ROWS = 64


def add_one(x):
    steps = x.shape[0] // ROWS

    def kernel(x_ref, o_ref, smem, full):
        @pl.loop(0, steps)
        def _(step):
            plgpu.copy_gmem_to_smem(x_ref.at[pl.ds(step * ROWS, ROWS)], smem, full)
            plgpu.barrier_wait(full)
            o_ref[pl.ds(step * ROWS, ROWS), :] = smem[...] + 1
            plgpu.commit_smem()

    return plgpu.kernel(
        kernel,
        out_type=jax.ShapeDtypeStruct(x.shape, x.dtype),
        scratch_types=[plgpu.SMEM((ROWS, x.shape[1]), x.dtype), plgpu.Barrier()],
    )(x)
