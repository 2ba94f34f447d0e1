"""Hopper kernels that `./dev bench peers` runs here and in JAX's GPU interpreter: shipped ones, unchanged,
and three of our own.

Sizes are small, because the interpreter makes a callback of every access. Our own kernels keep within what it has: no
semaphores, no predicated copies, and no barrier whose last completion has no wait.
"""

import dataclasses
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu
from jax.experimental.pallas.ops.gpu import (
    attention_mgpu,
    hopper_matmul_mgpu,
    hopper_mixed_type_matmul_mgpu,
    ragged_dot_mgpu,
    transposed_ragged_dot_mgpu,
)

F16, F32 = np.float16, np.float32
TILES = {"tile_m": 64, "tile_n": 64, "tile_k": 64, "max_concurrent_steps": 2}
BLOCKS = {"block_m": 64, "block_n": 64, "block_k": 64, "max_concurrent_steps": 2, "grid_block_n": 1}
STEPS, ROWS = 8, 64  # of the pipelines


@dataclasses.dataclass(frozen=True)
class GpuCase:
    name: str
    function: Callable
    shapes: tuple  # ((shape, dtype), ...) or arrays
    quick: bool = False

    def args(self) -> tuple:
        random = np.random.default_rng(1)

        def make(given):
            if isinstance(given, np.ndarray):
                return jnp.asarray(given)
            shape, dtype = given
            if np.issubdtype(dtype, np.integer):
                return jnp.asarray(random.integers(-4, 4, shape), dtype)
            return jnp.asarray(random.standard_normal(shape), dtype)

        return tuple(make(given) for given in self.shapes)


def matmul(**options):
    config = hopper_matmul_mgpu.TuningConfig(**{**TILES, **options})
    return lambda a, b: hopper_matmul_mgpu.matmul(a, b, None, config)


def ragged(transpose_rhs):
    return lambda lhs, rhs, groups: ragged_dot_mgpu.ragged_dot(
        lhs, rhs, group_sizes=groups, transpose_rhs=transpose_rhs, **BLOCKS
    )


def mixed(a, b):
    return hopper_mixed_type_matmul_mgpu.mixed_matmul_kernel(
        a, b, out_dtype=jnp.float16, config=hopper_mixed_type_matmul_mgpu.TuningConfig(**TILES)
    )


def attention(q, k, v):
    return attention_mgpu.attention(
        q, k, v, attention_mgpu.TuningConfig(block_q=64, block_kv=64, max_concurrent_steps=2)
    )


def transposed_ragged(lhs, rhs, groups):
    return transposed_ragged_dot_mgpu.transposed_ragged_dot(lhs, rhs, group_sizes=groups, **BLOCKS)


# ---- our own


def copy_and_barrier(x):
    """Each block fetches its tile, adds one and stores it."""

    def kernel(x_gmem, o_gmem, tile, barrier):
        rows = pl.ds(lax.axis_index("x") * ROWS, ROWS)
        plgpu.copy_gmem_to_smem(x_gmem.at[rows], tile, barrier)
        plgpu.barrier_wait(barrier)
        tile[...] = tile[...] + 1
        plgpu.commit_smem()
        plgpu.copy_smem_to_gmem(tile, o_gmem.at[rows])
        plgpu.wait_smem_to_gmem(0)

    return plgpu.kernel(
        kernel,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        grid=(x.shape[0] // ROWS,),
        grid_names=("x",),
        scratch_shapes=[plgpu.SMEM((ROWS, x.shape[1]), x.dtype), plgpu.Barrier()],
    )(x)


def warp_specialised(x):
    """One thread fetches tiles into a ring of two, the other doubles and stores them."""

    def kernel(x_gmem, o_gmem, ring, out, ready, free):
        thread = lax.axis_index("wg")

        @pl.when(thread == 0)
        def produce():
            @pl.loop(0, STEPS)
            def step(i):
                slot = lax.rem(i, 2)

                @pl.when(i >= 2)
                def wait():
                    plgpu.barrier_wait(free.at[slot])

                plgpu.copy_gmem_to_smem(x_gmem.at[pl.ds(i * ROWS, ROWS)], ring.at[slot], ready.at[slot])

        @pl.when(thread == 1)
        def consume():
            @pl.loop(0, STEPS)
            def step(i):
                slot = lax.rem(i, 2)
                plgpu.barrier_wait(ready.at[slot])
                plgpu.wait_smem_to_gmem(0)
                out[...] = ring[slot] * 2

                @pl.when(i < STEPS - 2)
                def release():
                    plgpu.barrier_arrive(free.at[slot])

                plgpu.commit_smem()
                plgpu.copy_smem_to_gmem(out, o_gmem.at[pl.ds(i * ROWS, ROWS)])

            plgpu.wait_smem_to_gmem(0)

    tile = (ROWS, x.shape[1])
    return plgpu.kernel(
        kernel,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        num_threads=2,
        thread_name="wg",
        scratch_shapes=[
            plgpu.SMEM((2, *tile), x.dtype),
            plgpu.SMEM(tile, x.dtype),
            plgpu.Barrier(num_barriers=2),
            plgpu.Barrier(num_barriers=2),
        ],
    )(x)


def hand_over(x):
    """Two threads hand one tile to and fro in shared memory, each adding to it,
    by loads and stores and barriers alone.
    """

    def kernel(x_gmem, o_gmem, tile, there, back):
        thread = lax.axis_index("wg")

        @pl.when(thread == 0)
        def first():
            tile[...] = x_gmem[...]
            plgpu.barrier_arrive(there)

            @pl.loop(0, STEPS)
            def step(i):
                plgpu.barrier_wait(back)
                tile[...] = tile[...] * 2

                @pl.when(i < STEPS - 1)
                def again():
                    plgpu.barrier_arrive(there)

            o_gmem[...] = tile[...]

        @pl.when(thread == 1)
        def second():
            @pl.loop(0, STEPS)
            def step(i):
                plgpu.barrier_wait(there)
                tile[...] = tile[...] + 1
                plgpu.barrier_arrive(back)

    return plgpu.kernel(
        kernel,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        num_threads=2,
        thread_name="wg",
        scratch_shapes=[plgpu.SMEM(x.shape, x.dtype), plgpu.Barrier(), plgpu.Barrier()],
    )(x)


def all_cases() -> list:
    square = ((128, 128), F16)
    groups = np.array([70, 58], np.int32)
    return [
        GpuCase("hopper_matmul f16 [128,128]x[128,128]", matmul(), (square, square), quick=True),
        GpuCase(
            "hopper_matmul f16 [128,128]x[128,128], cluster in M",
            matmul(cluster_dimension=hopper_matmul_mgpu.MatmulDimension.M),
            (square, square),
        ),
        GpuCase(
            "ragged_dot f16 [128,128]x[2,128,128]", ragged(False), (((128, 128), F16), ((2, 128, 128), F16), groups)
        ),
        GpuCase(
            "ragged_dot f16 [128,128]x[2,128,128], transposed",
            ragged(True),
            (((128, 128), F16), ((2, 128, 128), F16), groups),
        ),
        GpuCase(
            "transposed_ragged_dot f16 [128,128]x[128,128]",
            transposed_ragged,
            (((128, 128), F16), ((128, 128), F16), groups),
        ),
        GpuCase(
            "hopper_mixed_type_matmul i8xf16 [256,128]x[128,256]", mixed, (((256, 128), np.int8), ((128, 256), F16))
        ),
        GpuCase("attention_mgpu f16 [1,256,2,64]", attention, tuple(((1, 256, heads, 64), F16) for heads in (2, 1, 1))),
        GpuCase("copy and barrier f32 [512,128]", copy_and_barrier, (((512, 128), F32),), quick=True),
        GpuCase("warp-specialised ring f32 [512,128]", warp_specialised, (((STEPS * ROWS, 128), F32),)),
        GpuCase("two threads hand over f32 [64,128]", hand_over, (((64, 128), F32),)),
    ]
