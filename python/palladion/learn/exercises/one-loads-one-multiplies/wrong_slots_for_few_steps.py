"""RACE_RW: five slots are enough for five steps, and not for more."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

TILE, SLOTS = 64, 5


def product(x, y):
    steps = x.shape[1] // TILE

    def kernel(x_ref, y_ref, o_ref, x_smem, y_smem, full, empty):
        thread = jax.lax.axis_index("wg")

        @pl.when(thread == 0)
        def load():
            @pl.loop(0, steps)
            def _(step):
                slot, inner = jax.lax.rem(step, SLOTS), pl.ds(step * TILE, TILE)

                @pl.when(step >= SLOTS)
                def _():
                    plgpu.barrier_wait(empty.at[slot])

                plgpu.copy_gmem_to_smem(x_ref.at[:, inner], x_smem.at[slot], full.at[slot])
                plgpu.copy_gmem_to_smem(y_ref.at[inner, :], y_smem.at[slot], full.at[slot])

        @pl.when(thread == 1)
        def compute():
            def multiply(acc):
                @pl.loop(0, steps)
                def _(step):
                    slot = jax.lax.rem(step, SLOTS)
                    plgpu.barrier_wait(full.at[slot])
                    plgpu.wgmma(acc, x_smem.at[slot], y_smem.at[slot])
                    plgpu.barrier_arrive(empty.at[slot])

                return acc[...]

            o_ref[...] = pl.run_scoped(multiply, plgpu.ACC((TILE, TILE), jnp.float32))

    tiles = (plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128))
    slots = plgpu.SMEM((SLOTS, TILE, TILE), jnp.float16, transforms=tiles)
    return plgpu.kernel(
        kernel,
        out_type=jax.ShapeDtypeStruct((TILE, TILE), jnp.float32),
        scratch_types=[
            slots,
            slots,
            plgpu.Barrier(num_arrivals=2, num_barriers=SLOTS),
            plgpu.Barrier(num_barriers=SLOTS),
        ],
        num_threads=2,
        thread_name="wg",
    )(x, y)
