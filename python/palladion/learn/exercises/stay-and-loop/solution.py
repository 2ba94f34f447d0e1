"""Turns of eight tiles, and the last one may not be full."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

BLOCKS, ROWS = 8, 16


def square(x):
    tiles = x.shape[0] // ROWS

    def kernel(x_ref, o_ref, taken_ref):
        block = jax.lax.axis_index("block")

        @pl.loop(0, pl.cdiv(tiles, BLOCKS))
        def _(turn):
            tile = turn * BLOCKS + block

            @pl.when(tile < tiles)
            def _():
                rows = pl.ds(tile * ROWS, ROWS)
                o_ref[rows, :] = x_ref[rows, :] * x_ref[rows, :]
                taken_ref[tile] = block

    return plgpu.kernel(
        kernel,
        out_type=[jax.ShapeDtypeStruct(x.shape, x.dtype), jax.ShapeDtypeStruct((tiles,), jnp.int32)],
        grid=(BLOCKS,),
        grid_names=("block",),
    )(x)
