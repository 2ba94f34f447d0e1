"""WITHOUT: each block loads all rows for itself, as if there were no cluster."""

import jax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

SLOTS, ROWS = 2, 16


def add_number(x):
    steps = x.shape[0] // ROWS

    def kernel(x_ref, o_ref, smem, full, empty):
        block, thread = jax.lax.axis_index("pair"), jax.lax.axis_index("wg")

        @pl.when(thread == 0)
        def load():
            @pl.loop(0, steps)
            def _(step):
                slot = jax.lax.rem(step, SLOTS)

                @pl.when(step >= SLOTS)
                def _():
                    plgpu.barrier_wait(empty.at[slot])

                rows = x_ref.at[pl.ds(step * ROWS, ROWS)]
                plgpu.copy_gmem_to_smem(rows, smem.at[slot], full.at[slot])

        @pl.when(thread == 1)
        def compute():
            @pl.loop(0, steps)
            def _(step):
                slot = jax.lax.rem(step, SLOTS)
                plgpu.barrier_wait(full.at[slot])
                o_ref[block, pl.ds(step * ROWS, ROWS), :] = smem[slot] + block.astype(x.dtype)
                plgpu.commit_smem()

                @pl.when(step + SLOTS < steps)
                def _():
                    plgpu.barrier_arrive(empty.at[slot])

    return plgpu.kernel(
        kernel,
        out_type=jax.ShapeDtypeStruct((2, *x.shape), x.dtype),
        cluster=(2,),
        cluster_names=("pair",),
        num_threads=2,
        thread_name="wg",
        scratch_types=[
            plgpu.SMEM((SLOTS, ROWS, x.shape[1]), x.dtype),
            plgpu.Barrier(num_barriers=SLOTS),
            plgpu.Barrier(num_barriers=SLOTS),
        ],
    )(x)
