"""SLOW: the ring has one slot."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

TILE, SLOTS = 64, 1


def product(x, y):
    steps = x.shape[1] // TILE

    def kernel(x_ref, y_ref, o_ref, x_smem, y_smem, full):
        def load(step):
            slot, inner = jax.lax.rem(step, SLOTS), pl.ds(step * TILE, TILE)
            plgpu.copy_gmem_to_smem(x_ref.at[:, inner], x_smem.at[slot], full.at[slot])
            plgpu.copy_gmem_to_smem(y_ref.at[inner, :], y_smem.at[slot], full.at[slot])

        def multiply(acc):
            for step in range(min(SLOTS, steps)):
                load(step)

            @pl.loop(0, steps)
            def _(step):
                slot = jax.lax.rem(step, SLOTS)
                plgpu.barrier_wait(full.at[slot])
                plgpu.wgmma(acc, x_smem.at[slot], y_smem.at[slot])
                plgpu.wgmma_wait(0)

                @pl.when(step + SLOTS < steps)
                def _():
                    load(step + SLOTS)

            return acc[...]

        o_ref[...] = pl.run_scoped(multiply, plgpu.ACC((TILE, TILE), jnp.float32))

    tiles = (plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128))
    slots = plgpu.SMEM((SLOTS, TILE, TILE), jnp.float16, transforms=tiles)
    return plgpu.kernel(
        kernel,
        out_type=jax.ShapeDtypeStruct((TILE, TILE), jnp.float32),
        scratch_types=[slots, slots, plgpu.Barrier(num_arrivals=2, num_barriers=SLOTS)],
    )(x, y)
