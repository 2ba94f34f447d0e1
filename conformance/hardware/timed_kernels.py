"""The kernels whose time is recorded on hardware: JAX's own for Hopper at sizes that fill the chip, and small ones for one question each.

`kernels()` gives by name what makes (function, arguments in NumPy) when its turn comes, for as many SMs as are free. Arguments are random, since products of zeros take less
power and so less time at the same setting. Kernels with `semantics` are lowered by that one, the others as the installed JAX does.
"""

import dataclasses
import functools
import math
from collections.abc import Callable
from unittest import mock

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu
from jax.experimental.pallas.ops.gpu import attention_mgpu, hopper_matmul_mgpu, ragged_dot_mgpu

F16, F32 = jnp.float16, jnp.float32
SMS = 132


@dataclasses.dataclass(frozen=True)
class Timed:
    """`make(sms=132)` gives the kernel; it fills that many SMs, or (`fills` false) as many as there are."""

    name: str
    make: Callable
    fills: bool = True


def normal(seed, *shapes, dtype=np.float16):
    random = np.random.default_rng(seed)
    return tuple(random.standard_normal(shape, np.float32).astype(dtype) for shape in shapes)


def with_sms(sms, function):
    """Kernels of the wheel ask what is there how many SMs it has."""
    def call(*args):
        with mock.patch.object(hopper_matmul_mgpu, "get_num_sms", lambda: sms):
            return function(*args)
    return call


def _matmul(sizes, options, sms=SMS):
    m, n, k = sizes
    axes = {key: hopper_matmul_mgpu.MatmulDimension[value] for key, value in options.items() if isinstance(value, str)}
    config = hopper_matmul_mgpu.TuningConfig(**{**options, **axes})
    return with_sms(sms, lambda a, b: hopper_matmul_mgpu.matmul(a, b, None, config)), normal(1, (m, k), (k, n))


def _matmuls():
    """JAX's kernel; `wide` tiles of a block are 128 x 256, `square` ones 128 x 128."""
    wide = {"tile_m": 128, "tile_n": 128, "tile_k": 64, "max_concurrent_steps": 4, "grid_tile_width": 8, "grid_minor_dim": "M", "wg_dimension": "N"}
    square = {**wide, "tile_m": 64, "wg_dimension": "M"}
    pair = {"cluster_dimension": "M"}
    for label, sizes, options in (
            ("1024x4096x4096 square", (1024, 4096, 4096), square),
            ("1024x4096x4096 wide", (1024, 4096, 4096), wide),
            ("2048x2048x2048 wide", (2048, 2048, 2048), wide),
            ("4096x4096x4096 square", (4096, 4096, 4096), square),
            ("4096x4096x4096 wide", (4096, 4096, 4096), wide),
            ("4096x4096x4096 wide, 2 slots", (4096, 4096, 4096), {**wide, "max_concurrent_steps": 2}),
            ("4096x4096x4096 wide, 3 slots", (4096, 4096, 4096), {**wide, "max_concurrent_steps": 3}),
            ("4096x4096x4096 wide, pairs in M", (4096, 4096, 4096), {**wide, **pair}),
            ("4096x4096x4096 wide, pairs in N", (4096, 4096, 4096), {**wide, "cluster_dimension": "N"}),
            ("4096x4096x4096 wide, rows of tiles", (4096, 4096, 4096), {**wide, "grid_tile_width": 1, "grid_minor_dim": "N"}),
            ("4096x8192x4096 wide", (4096, 8192, 4096), wide),
            ("4096x8192x4096 wide, rows of tiles", (4096, 8192, 4096), {**wide, "grid_tile_width": 1, "grid_minor_dim": "N"}),
            ("4096x4096x4096 wide, whole epilogue, 3 slots", (4096, 4096, 4096), {**wide, "max_concurrent_steps": 3, "epi_tile_m": None, "epi_tile_n": None}),
            ("4096x4096x512 wide", (4096, 4096, 512), wide)):
        yield Timed(f"matmul {label}", functools.partial(_matmul, sizes, options))


def _attention(shape, kv_heads, options, emitter, sms=SMS):
    batch, length, heads, depth = shape
    config = attention_mgpu.TuningConfig(**options)
    q, k, v = normal(2, shape, (batch, length, kv_heads, depth), (batch, length, kv_heads, depth))
    name = "attention_with_pipeline_emitter" if emitter else "attention"
    return (lambda q, k, v: getattr(attention_mgpu, name)(q, k, v, config)), ((q / math.sqrt(depth)).astype(np.float16), k, v)


def _attentions():
    def tiles(q, kv, steps=2, **more):
        return {"block_q": q, "block_kv": kv, "max_concurrent_steps": steps, **more}

    for label, shape, kv_heads, options, emitter in (
            ("1x4096x16x64", (1, 4096, 16, 64), 16, tiles(64, 128), False),
            ("1x4096x16x64, wide", (1, 4096, 16, 64), 16, tiles(128, 128), False),
            ("1x4096x16x128", (1, 4096, 16, 128), 16, tiles(64, 128), False),
            ("1x4096x16x128, wide", (1, 4096, 16, 128), 16, tiles(128, 128), False),
            ("1x4096x16x128, 64 keys", (1, 4096, 16, 128), 16, tiles(128, 64), False),
            ("1x4096x16x128, 4 heads of keys", (1, 4096, 16, 128), 4, tiles(128, 128), False),
            ("1x4096x16x128, emitter", (1, 4096, 16, 128), 16, tiles(128, 128), True),
            ("1x4096x16x128, emitter, no schedule", (1, 4096, 16, 128), 16, tiles(128, 128, use_schedule_barrier=False), True)):
        yield Timed(f"attention {label}", functools.partial(_attention, shape, kv_heads, options, emitter), fills=False)


def _ragged(sizes, k, n, options, sms=SMS):
    lhs, rhs = normal(3, (sum(sizes), k), (len(sizes), k, n))
    return (lambda lhs, rhs, groups: ragged_dot_mgpu.ragged_dot(lhs, rhs, group_sizes=groups, **options)), \
        (lhs, rhs, np.asarray(sizes, np.int32))


def _ragged_dots():
    blocks = {"block_m": 128, "block_n": 128, "block_k": 64, "max_concurrent_steps": 4, "grid_block_n": 4}
    for label, sizes in (("equal", (512,) * 8), ("uneven", (100, 900, 512, 24, 1000, 536, 700, 324))):
        yield Timed(f"ragged_dot {label}", functools.partial(_ragged, sizes, 2048, 2048, blocks), fills=False)


def _copy(rows_of_block, columns, slots, tiles, sms=SMS, dtype=np.float16):
    """Blocks that copy `tiles` tiles each through shared memory, in slots, with one thread."""
    shape = (sms * tiles * rows_of_block, columns)

    def kernel(x_gmem, o_gmem, smem, loaded):
        first = lax.axis_index("block") * tiles

        def start(i):
            plgpu.copy_gmem_to_smem(x_gmem.at[pl.ds((first + i) * rows_of_block, rows_of_block)], smem.at[lax.rem(i, slots)], loaded.at[lax.rem(i, slots)])

        def begin(i, carry):
            start(i)
            return carry

        def turn(i, carry):
            slot = lax.rem(i, slots)
            plgpu.barrier_wait(loaded.at[slot])
            plgpu.copy_smem_to_gmem(smem.at[slot], o_gmem.at[pl.ds((first + i) * rows_of_block, rows_of_block)])

            @pl.when(i + slots < tiles)
            def _():
                plgpu.wait_smem_to_gmem(0, wait_read_only=True)
                start(i + slots)
            return carry

        lax.fori_loop(0, slots, begin, 0)
        lax.fori_loop(0, tiles, turn, 0)
        plgpu.wait_smem_to_gmem(0)

    return plgpu.kernel(kernel, out_type=jax.ShapeDtypeStruct(shape, dtype), grid=(sms,), grid_names=("block",),
                        scratch_types={"smem": plgpu.SMEM((slots, rows_of_block, columns), dtype),
                                       "loaded": plgpu.Barrier(num_barriers=slots)}), normal(4, shape, dtype=dtype)


def _copies():
    for slots in (1, 2, 4, 8):
        yield Timed(f"copy of 66 MiB, tiles of 16 KiB, {slots} slot{'s' * (slots > 1)}", functools.partial(_copy, 128, 64, slots, 32))
    yield Timed("copy of 264 MiB, tiles of 32 KiB, 4 slots", functools.partial(_copy, 128, 128, 4, 64))


RING_STEPS, RING_K = 64, 64
TILED = (plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128))


def _ring(slots, delayed, sms=SMS):
    """A product of 1408 x 1536 by 4096, a block of 128 x 128 on each SM: one warpgroup fetches into a ring of slots, one multiplies."""
    grid = (11, sms // 11)
    m, n, k = grid[0] * 128, grid[1] * 128, RING_STEPS * RING_K

    def kernel(a_gmem, b_gmem, o_gmem, a_smem, b_smem, o_smem, full, empty):
        wg = lax.axis_index("wg")
        rows, columns = pl.ds(lax.axis_index("m") * 128, 128), pl.ds(lax.axis_index("n") * 128, 128)

        @pl.when(wg == 1)
        def fetch():
            @pl.loop(0, RING_STEPS)
            def _(step):
                slot = lax.rem(step, slots)

                @pl.when(step >= slots)
                def _():
                    plgpu.barrier_wait(empty.at[slot])

                depth = pl.ds(step * RING_K, RING_K)
                plgpu.copy_gmem_to_smem(a_gmem.at[rows, depth], a_smem.at[slot], full.at[slot])
                plgpu.copy_gmem_to_smem(b_gmem.at[depth, columns], b_smem.at[slot], full.at[slot])

        @pl.when(wg == 0)
        def multiply():
            def body(acc_ref):
                @pl.loop(0, RING_STEPS)
                def _(step):
                    slot = lax.rem(step, slots)
                    plgpu.barrier_wait(full.at[slot])
                    plgpu.wgmma(acc_ref, a_smem.at[slot], b_smem.at[slot])
                    plgpu.wgmma_wait(delayed)

                    @pl.when(step >= delayed)
                    def _():
                        plgpu.barrier_arrive(empty.at[lax.rem(step - delayed, slots)])
                plgpu.wgmma_wait(0)
                for left in range(delayed):
                    plgpu.barrier_arrive(empty.at[(RING_STEPS - delayed + left) % slots])
                return acc_ref[...]

            acc = pl.run_scoped(body, plgpu.ACC((128, 128), F32))
            o_smem[...] = acc.astype(F16)
            plgpu.commit_smem()
            plgpu.copy_smem_to_gmem(o_smem, o_gmem.at[rows, columns])
            plgpu.wait_smem_to_gmem(0)

    function = plgpu.kernel(
        kernel, out_type=jax.ShapeDtypeStruct((m, n), F16), grid=grid, grid_names=("m", "n"), num_threads=2, thread_name="wg",
        scratch_types=[plgpu.SMEM((slots, 128, RING_K), F16, transforms=TILED), plgpu.SMEM((slots, RING_K, 128), F16, transforms=TILED),
                       plgpu.SMEM((128, 128), F16, transforms=TILED), plgpu.Barrier(num_arrivals=2, num_barriers=slots),
                       plgpu.Barrier(num_barriers=slots)])
    return function, normal(5, (m, k), (k, n))


def _rings():
    for slots, delayed in ((1, 0), (2, 0), (4, 0), (4, 1), (6, 1)):
        label = f"{slots} slot{'s' * (slots > 1)}, {'one product' if delayed else 'no product'} under way"
        yield Timed(f"ring {label}", functools.partial(_ring, slots, delayed))


def _elementwise(function, turns, sms=SMS):
    """Each SM has a block of 128 x 128 f32, and does `turns` times what `function` does."""
    shape = (sms * 128, 128)

    def kernel(x_gmem, o_gmem):
        rows = pl.ds(lax.axis_index("block") * 128, 128)
        o_gmem[rows] = lax.fori_loop(0, turns, lambda _, x: function(x), x_gmem[rows])

    return plgpu.kernel(kernel, out_type=jax.ShapeDtypeStruct(shape, F32), grid=(sms,), grid_names=("block",),
                        compiler_params=plgpu.CompilerParams(approx_math=True)), normal(6, shape, dtype=np.float32)


def _arithmetic():
    for label, function in (("x * 0.5 + 0.25", lambda x: x * 0.5 + 0.25), ("exp2", lambda x: jnp.exp2(x * 0.5)), ("tanh", jnp.tanh),
                            ("1 / (1 + x x)", lambda x: 1.0 / (1.0 + x * x)), ("sqrt", lambda x: jnp.sqrt(x * x + 1.0)),
                            ("rsqrt", lambda x: lax.rsqrt(x * x + 1.0)), ("log", lambda x: jnp.log(x * x + 1.0)), ("sin", lambda x: jnp.sin(x) * 2.0),
                            ("where and compare", lambda x: jnp.where(x > 0.5, x - 0.75, x + 0.5)), ("maximum", lambda x: jnp.maximum(x * 0.5, x + 0.5))):
        yield Timed(f"elementwise {label}", functools.partial(_elementwise, function, 200))


@functools.cache
def kernels():
    return {one.name: one for some in (_matmuls, _attentions, _ragged_dots, _copies, _rings, _arithmetic) for one in some()}
