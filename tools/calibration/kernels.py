"""Micro-kernels that keep one unit of a GPU busy, for `./dev calibrate`: Pallas for Mosaic GPU, one block or all SMs.

Each function gives a kernel without arguments (or with the one array that it reads); its time minus that of a shorter
one is that of the operations in between. What compilers may leave out or join is kept apart: every operation needs the
one before it.
Limits: what a compiler makes of a kernel is not looked at;
two lengths have the same loops, so what these take falls out.
"""

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

F16, F32 = jnp.float16, jnp.float32
ROWS, DEEP = 64, 64  # of the left operand of products


def tiled(columns):
    """Of both operands of a product in f16, which have one swizzle: as wide as the narrower one allows."""
    swizzle = plgpu.find_swizzle(min(columns, DEEP) * 16)
    return plgpu.TilingTransform((8, swizzle // 2)), plgpu.SwizzleTransform(swizzle)


def elementwise(operation, elements, turns, each, dtype=F32):
    """`each` operations one after another on an array of `elements` for each lane, `turns` times."""
    shape = (128 * elements,)

    def kernel(x_gmem, o_gmem):
        def turn(_, x):
            for _ in range(each):
                x = operation(x)
            return x

        o_gmem[...] = lax.fori_loop(0, turns, turn, x_gmem[...])

    return plgpu.kernel(kernel, out_type=jax.ShapeDtypeStruct(shape, dtype)), (jnp.zeros(shape, dtype),)


def shared_memory(elements, turns, each):
    """Loads and stores of shared memory by a warpgroup, of so many f32 for each lane."""
    shape = (128 * elements,)

    def kernel(x_gmem, o_gmem, smem):
        smem[...] = x_gmem[...]

        def turn(_, carry):
            for _ in range(each):
                smem[...] = smem[...] + 1.0
            return carry

        lax.fori_loop(0, turns, turn, 0)
        o_gmem[...] = smem[...]

    return plgpu.kernel(
        kernel, out_type=jax.ShapeDtypeStruct(shape, F32), scratch_types={"smem": plgpu.SMEM(shape, F32)}
    ), (jnp.zeros(shape, F32),)


def wgmma(columns, turns, each):
    """Products of 64 rows and 64 of depth, four instructions each, one after another into one accumulator."""

    def kernel(o_gmem, a, b, acc):
        def turn(_, carry):
            for _ in range(each):
                plgpu.wgmma(acc, a, b)
            return carry

        lax.fori_loop(0, turns, turn, 0)
        plgpu.wgmma_wait(0)
        o_gmem[...] = acc[...]

    return plgpu.kernel(
        kernel,
        out_type=jax.ShapeDtypeStruct((ROWS, columns), F32),
        scratch_types={
            "a": plgpu.SMEM((ROWS, DEEP), F16, transforms=tiled(columns)),
            "b": plgpu.SMEM((DEEP, columns), F16, transforms=tiled(columns)),
            "acc": plgpu.ACC((ROWS, columns), F32),
        },
    ), ()


def tcgen05(columns, turns, each):
    """Products of 128 rows and 64 of depth by one SM, four instructions each, into tensor memory."""

    def kernel(o_gmem, a, b, acc, done):
        def turn(_, carry):
            for _ in range(each):
                plgpu.tcgen05_mma(acc, a, b, accumulate=True)
            return carry

        lax.fori_loop(0, turns, turn, 0)
        plgpu.tcgen05_commit_arrive(done)
        plgpu.barrier_wait(done)
        o_gmem[...] = plgpu.async_load_tmem(acc)

    return plgpu.kernel(
        kernel,
        out_type=jax.ShapeDtypeStruct((128, columns), F32),
        scratch_types={
            "a": plgpu.SMEM((128, DEEP), F16, transforms=tiled(columns)),
            "b": plgpu.SMEM((DEEP, columns), F16, transforms=tiled(columns)),
            "acc": plgpu.TMEM((128, columns), F32),
            "done": plgpu.Barrier(orders_tensor_core=True),
        },
    ), ()


def copies(blocks, of_block, slots, rows=128, columns=64):
    """Every block copies `of_block` tiles of 16 KB of its own from main memory, `slots` of them in flight."""
    shape = (blocks * of_block * rows, columns)

    def kernel(x_gmem, o_gmem, smem, loaded):
        first = lax.axis_index("block") * of_block

        def start(i):
            tile = pl.ds((first + i) * rows, rows)
            slot = lax.rem(i, slots)
            plgpu.copy_gmem_to_smem(x_gmem.at[tile], smem.at[slot], loaded.at[slot])

        def begin(i, carry):
            start(i)
            return carry

        def turn(i, carry):
            plgpu.barrier_wait(loaded.at[lax.rem(i, slots)])

            @pl.when(i + slots < of_block)
            def _():
                start(i + slots)

            return carry

        lax.fori_loop(0, slots, begin, 0)
        lax.fori_loop(0, of_block, turn, 0)
        o_gmem[...] = jnp.zeros((128,), F32)

    return plgpu.kernel(
        kernel,
        out_type=jax.ShapeDtypeStruct((128,), F32),
        grid=(blocks,),
        grid_names=("block",),
        scratch_types={"smem": plgpu.SMEM((slots, rows, columns), F16), "loaded": plgpu.Barrier(num_barriers=slots)},
    ), (jnp.zeros(shape, F16),)


def empty(blocks=128):
    def kernel(o_gmem):
        pass

    return plgpu.kernel(kernel, out_type=jax.ShapeDtypeStruct((128,), F32), grid=(blocks,), grid_names=("block",)), ()
