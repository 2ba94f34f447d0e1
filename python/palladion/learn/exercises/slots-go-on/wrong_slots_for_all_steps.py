"""RACE_WW: twelve slots are enough for four tiles of three steps, and not for longer ones."""

import jax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

BLOCKS, TURNS, SLOTS, ROWS = 2, 4, 12, 16


def double(x):
    steps = x.shape[1] // ROWS  # of one tile: x is [tiles, rows, columns]

    def kernel(x_ref, o_ref, smem, full, empty):
        block, thread = jax.lax.axis_index("block"), jax.lax.axis_index("wg")

        @pl.when(thread == 0)
        def load():
            @pl.loop(0, TURNS)
            def _(turn):
                @pl.loop(0, steps)
                def _(step):
                    used = turn * steps + step
                    slot = jax.lax.rem(used, SLOTS)

                    rows = x_ref.at[turn * BLOCKS + block, pl.ds(step * ROWS, ROWS)]
                    plgpu.copy_gmem_to_smem(rows, smem.at[slot], full.at[slot])

        @pl.when(thread == 1)
        def compute():
            @pl.loop(0, TURNS)
            def _(turn):
                @pl.loop(0, steps)
                def _(step):
                    slot = jax.lax.rem(turn * steps + step, SLOTS)
                    plgpu.barrier_wait(full.at[slot])
                    o_ref[turn * BLOCKS + block, pl.ds(step * ROWS, ROWS), :] = smem[slot] * 2
                    plgpu.commit_smem()
                    plgpu.barrier_arrive(empty.at[slot])

    return plgpu.kernel(
        kernel,
        out_type=jax.ShapeDtypeStruct(x.shape, x.dtype),
        grid=(BLOCKS,),
        grid_names=("block",),
        num_threads=2,
        thread_name="wg",
        scratch_types=[
            plgpu.SMEM((SLOTS, ROWS, x.shape[2]), x.dtype),
            plgpu.Barrier(num_barriers=SLOTS),
            plgpu.Barrier(num_barriers=SLOTS),
        ],
    )(x)
