"""A product of tiles on the tensor core that overwrites its own operands. Mend it.

plgpu.wgmma returns at once, and reads its operands from shared memory afterwards. plgpu.wgmma_wait(n) waits until at
most n of them are still under way.
"""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

TILE = 64


def product(x, y):
    steps = x.shape[1] // TILE

    def kernel(x_ref, y_ref, o_ref, x_smem, y_smem, full):
        def multiply(acc):
            @pl.loop(0, steps)
            def _(step):
                inner = pl.ds(step * TILE, TILE)
                plgpu.copy_gmem_to_smem(x_ref.at[:, inner], x_smem, full)
                plgpu.copy_gmem_to_smem(y_ref.at[inner, :], y_smem, full)
                plgpu.barrier_wait(full)
                plgpu.wgmma(acc, x_smem, y_smem)

            return acc[...]

        o_ref[...] = pl.run_scoped(multiply, plgpu.ACC((TILE, TILE), jnp.float32))

    tiles = (plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128))
    tile = plgpu.SMEM((TILE, TILE), jnp.float16, transforms=tiles)
    return plgpu.kernel(
        kernel,
        out_type=jax.ShapeDtypeStruct((TILE, TILE), jnp.float32),
        scratch_types=[tile, tile, plgpu.Barrier(num_arrivals=2)],
    )(x, y)
