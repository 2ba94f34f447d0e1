"""Kernels on TPUs whose time is published, as JAX's wheel has them, and plain ones for those that it has not.

Based on: profiles of SJTU-IFS/pallas-kernel-corpus, one TPU v6e, JAX 0.10.2, July and August 2026. Instruction tracing
was on when they were taken, so each is 0 to 25 % too long. Not here: kernels that are neither in the wheel nor a few
lines long, and those whose data, which decides the work, is not published. Inputs that decide nothing are zeros.
"""

import dataclasses
import functools
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu
from jax.experimental.pallas.ops.tpu import flash_attention as flash
from jax.experimental.pallas.ops.tpu import matmul as tiled
from jax.experimental.pallas.ops.tpu.megablox import gmm as megablox
from jax.experimental.pallas.ops.tpu.ragged_paged_attention import kernel as ragged
from jax.experimental.pallas.ops.tpu.splash_attention import splash_attention_kernel as splash
from jax.experimental.pallas.ops.tpu.splash_attention import splash_attention_mask as masks

BF16 = jnp.bfloat16


@dataclasses.dataclass(frozen=True)
class Published:
    name: str
    microseconds: float  # of the kernel's call, where that is given, else of the module
    make: Callable  # () -> (function, arguments)
    fitted: str = ""  # the constant of the chip that rests on it
    times: int = 1  # so often the kernel made here goes into the published one
    chip: str = "v6e"
    bound: str = ""  # what it is bound by, by its busiest unit


def zeros(*shape, dtype=BF16):
    return np.zeros(shape, dtype)


# ---- attention


def flash_attention(block_q=128, block_k_major=128, block_k=128, heads=8, length=1024, dim=128):
    blocks = flash.BlockSizes(block_q=block_q, block_k_major=block_k_major, block_k=block_k, block_b=1)
    q = zeros(1, heads, length, dim)
    return functools.partial(flash.flash_attention, causal=True, sm_scale=dim**-0.5, block_sizes=blocks), (q, q, q)


def splash_attention(block_q, block_kv, compute, q_heads=8, kv_heads=8, length=1024, dim=128, dim_v=128, full=None):
    """`full` (q, kv): blocks without a mask, none of them skipped, as many as another version of the kernel visits."""
    q_length, kv_length = full or (length, length)
    mask_of = masks.CausalMask if full is None else masks.FullMask
    mask = masks.MultiHeadMask([mask_of((q_length, kv_length)) for _ in range(q_heads)])
    blocks = splash.BlockSizes(block_q=block_q, block_kv=block_kv, block_kv_compute=compute)
    kernel = splash.make_splash_mha(mask=mask, block_sizes=blocks, head_shards=1, q_seq_shards=1)
    return kernel, (zeros(q_heads, q_length, dim), zeros(kv_heads, kv_length, dim), zeros(kv_heads, kv_length, dim_v))


def dense_attention(length=1024, dim=128, rows=128):
    """Rows of queries, all keys and values at once."""

    def body(q_ref, k_ref, v_ref, o_ref):
        s = jax.lax.dot_general(q_ref[...], k_ref[...], (((1,), (1,)), ((), ())), preferred_element_type=jnp.float32)
        p = jnp.exp(s - s.max(axis=1, keepdims=True))
        out = jnp.dot(p.astype(v_ref.dtype), v_ref[...], preferred_element_type=jnp.float32)
        o_ref[...] = (out / p.sum(axis=1, keepdims=True)).astype(o_ref.dtype)

    by_rows = pl.BlockSpec((rows, dim), lambda i: (i, 0))
    whole = pl.BlockSpec((length, dim), lambda i: (0, 0))
    array = zeros(length, dim)
    call = pl.pallas_call(
        body,
        out_shape=jax.ShapeDtypeStruct((length, dim), BF16),
        grid=(length // rows,),
        in_specs=[by_rows, whole, whole],
        out_specs=by_rows,
    )
    return call, (array, array, array)


def ragged_paged_attention(pages_of_block=64, queries_of_block=64, repeats=64):
    """One of 64 sequences, which are all alike: it goes `repeats` times into the published one."""
    length, page = 4096, 16
    tokens, sequences = 4096 // repeats, 64 // repeats
    pages = sequences * length // page
    q, cache = zeros(tokens, 64, 128), zeros(pages, page, 16, 128)
    lengths, indices = np.full(sequences, length, np.int32), np.arange(pages, dtype=np.int32).reshape(sequences, -1)
    starts = np.arange(sequences + 1, dtype=np.int32) * (tokens // sequences)
    call = functools.partial(
        ragged.ragged_paged_attention,
        sm_scale=128**-0.5,
        num_kv_pages_per_block=pages_of_block,
        num_queries_per_block=queries_of_block,
        vmem_limit_bytes=32 * 1024 * 1024,
    )
    return call, (q, cache, lengths, indices, starts, np.array([sequences], np.int32))


# ---- products


def grouped_matmul(tiling=(256, 1024, 1024), m=8192, k=4096, n=1536, groups=32):
    """As many groups make the published one of 128: `times` 4."""
    call = functools.partial(megablox, preferred_element_type=jnp.float32, tiling=tiling)
    return call, (zeros(m, k), zeros(groups, k, n), np.full(groups, m // groups, np.int32))


def int8_matmul(blocks=(1024, 1024, 4096), m=1024, k=4096, n=14336):
    """Scales of rows and columns, as quantised models have them."""
    bm, bn, bk = blocks

    def body(x_ref, w_ref, x_scale_ref, w_scale_ref, o_ref):
        acc = jax.lax.dot_general(x_ref[...], w_ref[...], (((1,), (1,)), ((), ())), preferred_element_type=jnp.int32)
        o_ref[...] = (acc.astype(jnp.float32) * x_scale_ref[...] * w_scale_ref[...]).astype(o_ref.dtype)

    assert bk == k
    call = pl.pallas_call(
        body,
        out_shape=jax.ShapeDtypeStruct((m, n), BF16),
        grid=(m // bm, n // bn),
        in_specs=[
            pl.BlockSpec((bm, bk), lambda i, j: (i, 0)),
            pl.BlockSpec((bn, bk), lambda i, j: (j, 0)),
            pl.BlockSpec((bm, 1), lambda i, j: (i, 0)),
            pl.BlockSpec((1, bn), lambda i, j: (0, j)),
        ],
        out_specs=pl.BlockSpec((bm, bn), lambda i, j: (i, j)),
        compiler_params=pltpu.CompilerParams(vmem_limit_bytes=64 * 1024 * 1024),
    )
    return call, (
        zeros(m, k, dtype=np.int8),
        zeros(n, k, dtype=np.int8),
        zeros(m, 1, dtype=np.float32),
        zeros(1, n, dtype=np.float32),
    )


def matmul(size=1024, block=128):
    call = functools.partial(tiled.matmul, block_shape=(block, block), block_k=block, out_dtype=jnp.float32)
    return call, (zeros(size, size), zeros(size, size))


# ---- copies


def cache_update(tokens=4096, heads=16, dim=128, slices=128, of_program=8):
    """New keys and values into a cache, through the core's memory, a slice a copy."""
    size = tokens // slices

    def body(places_ref, new_ref, cache_ref, o_ref, scratch, semaphore):
        base = pl.program_id(0) * of_program
        into = [
            pltpu.make_async_copy(new_ref.at[pl.ds((base + i) * size, size)], scratch.at[i], semaphore)
            for i in range(of_program)
        ]
        for copy in into:
            copy.start()
        for copy in into:
            copy.wait()
        back = [
            pltpu.make_async_copy(scratch.at[i], o_ref.at[pl.ds(places_ref[base + i] * size, size)], semaphore)
            for i in range(of_program)
        ]
        for copy in back:
            copy.start()
        for copy in back:
            copy.wait()

    anywhere = pl.BlockSpec(memory_space=pl.ANY)
    cache = zeros(tokens * 8, heads, dim)
    call = pl.pallas_call(
        body,
        out_shape=jax.ShapeDtypeStruct(cache.shape, BF16),
        grid_spec=pltpu.PrefetchScalarGridSpec(
            num_scalar_prefetch=1,
            grid=(slices // of_program,),
            in_specs=[anywhere, anywhere],
            out_specs=anywhere,
            scratch_shapes=[pltpu.VMEM((of_program, size, heads, dim), BF16), pltpu.SemaphoreType.DMA],
        ),
        input_output_aliases={2: 0},
    )
    return call, (np.arange(slices, dtype=np.int32), zeros(tokens, heads, dim), cache)


def copy(megabytes):
    """From main memory to main memory."""
    rows = int(megabytes * 1e6 / 2 / 4096)

    def body(x_ref, o_ref, semaphore):
        pltpu.async_copy(x_ref, o_ref, semaphore).wait()

    anywhere = pl.BlockSpec(memory_space=pl.ANY)
    call = pl.pallas_call(
        body,
        out_shape=jax.ShapeDtypeStruct((rows, 4096), BF16),
        in_specs=[anywhere],
        out_specs=anywhere,
        scratch_shapes=[pltpu.SemaphoreType.DMA],
    )
    return call, (zeros(rows, 4096),)


# ---- routing


def top_k(tokens=4096, experts=256, k=8, block=512):
    """Tokens along lanes: the largest of each column, `k` times."""

    def body(x_ref, values_ref, places_ref):
        x = x_ref[...].T
        rows = jax.lax.broadcasted_iota(jnp.int32, x.shape, 0)
        for i in range(k):
            best = x.max(axis=0, keepdims=True)
            place = jnp.where(x == best, rows, experts).min(axis=0, keepdims=True)
            values_ref[i : i + 1, :] = best
            places_ref[i : i + 1, :] = place
            x = jnp.where(rows == place, -jnp.inf, x)

    out = pl.BlockSpec((k, block), lambda i: (0, i))
    call = pl.pallas_call(
        body,
        out_shape=(jax.ShapeDtypeStruct((k, tokens), jnp.float32), jax.ShapeDtypeStruct((k, tokens), jnp.int32)),
        grid=(tokens // block,),
        in_specs=[pl.BlockSpec((block, experts), lambda i: (i, 0))],
        out_specs=(out, out),
    )
    return call, (zeros(tokens, experts, dtype=np.float32),)


def rows():
    """The published ones, those that a number of the chip rests on first."""
    part, splash_of = functools.partial, functools.partial(functools.partial, splash_attention)
    small, middle = splash_of(128, 128, 128, full=(768, 768)), splash_of(512, 512, 512, dim=192, full=(3072, 3072))
    large = splash_of(2048, 2048, 1024, dim=192, full=(2048, 6144))
    grouped_heads = splash_of(2048, 2048, 1024, q_heads=32, kv_heads=8, length=4096)
    return [
        Published("copy of 33.6 MB", 46.0, part(copy, 33.6), "HBM's share", bound="HBM"),
        Published("copy of 134.2 MB", 184.0, part(copy, 134.2), "HBM's share", bound="HBM"),
        Published(
            "flash attention, causal, 8 x 1024 x 128, blocks of 128", 207.817, flash_attention, "a step", bound="steps"
        ),
        Published("cache update, 8 slices of 131 KB a program", 41.995, cache_update, "a copy's way", bound="HBM"),
        Published(
            "gmm with its input read once (MaxText)",
            1360.6,
            part(grouped_matmul, (256, 2048, 1536)),
            "HBM's share",
            times=4,
            bound="HBM",
        ),
        Published("gmm v1, tiles (256, 1024, 1024)", 1812.415, grouped_matmul, times=4, bound="HBM"),
        Published("splash, blocks of 128 (Tokamax)", 174.302, small, bound="steps"),
        Published("attention, whole keys", 7.825, dense_attention, bound="steps"),
        Published("splash, 512 x 512 (Tokamax)", 34100, middle, times=128, bound="steps"),
        Published("splash, 2048 x 2048 by 1024 (Tokamax)", 22800, large, times=128, bound="unit"),
        Published("splash, 32 heads on 8, 2048 x 2048 by 1024", 761.7, grouped_heads, bound="unit"),
        Published(
            "ragged paged attention, 64 pages, 64 queries", 3544.28, ragged_paged_attention, times=64, bound="unit"
        ),
        Published("int8 matmul 1024 x 4096 x 14336", 87.46, int8_matmul, bound="unit"),
        Published("matmul of 1024, blocks of 128: 345 ns a step", 176.6, matmul, chip="v5e", bound="steps"),
        Published("top 8 of 256, 4096 tokens", 16.457, top_k, bound="unit"),
    ]
