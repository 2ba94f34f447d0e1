"""VALUES: where there are many columns, some tiles are taken twice and others never."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

BLOCKS, TILE = 8, 64


def place(tile, rows, columns):
    """Row and column of a tile among rows * columns of them; rows are a multiple of 4."""
    band, inside = tile // (4 * columns), tile % (4 * columns)
    return band * 4 + inside % 4, inside // 4 % 8


def product(x, y):
    rows, columns, inner = x.shape[0] // TILE, y.shape[1] // TILE, x.shape[1]

    def kernel(x_ref, y_ref, o_ref, x_smem, y_smem, o_smem, full):
        @pl.loop(0, rows * columns // BLOCKS)
        def _(turn):
            row, column = place(turn * BLOCKS + jax.lax.axis_index("block"), rows, columns)
            at, to = pl.ds(row * TILE, TILE), pl.ds(column * TILE, TILE)
            plgpu.copy_gmem_to_smem(x_ref.at[at], x_smem, full)
            plgpu.copy_gmem_to_smem(y_ref.at[:, to], y_smem, full)
            plgpu.barrier_wait(full)

            def multiply(acc):
                plgpu.wgmma(acc, x_smem, y_smem)
                return acc[...]

            result = pl.run_scoped(multiply, plgpu.ACC((TILE, TILE), jnp.float32))
            plgpu.wait_smem_to_gmem(0)
            o_smem[...] = result.astype(jnp.float16)
            plgpu.commit_smem()
            plgpu.copy_smem_to_gmem(o_smem, o_ref.at[at, to])

        plgpu.wait_smem_to_gmem(0)

    tiles = (plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128))
    return plgpu.kernel(
        kernel,
        out_type=jax.ShapeDtypeStruct((x.shape[0], y.shape[1]), jnp.float16),
        grid=(BLOCKS,),
        grid_names=("block",),
        scratch_types=[
            plgpu.SMEM((TILE, inner), jnp.float16, transforms=tiles),
            plgpu.SMEM((inner, TILE), jnp.float16, transforms=tiles),
            plgpu.SMEM((TILE, TILE), jnp.float16, transforms=tiles),
            plgpu.Barrier(num_arrivals=2),
        ],
    )(x, y)
