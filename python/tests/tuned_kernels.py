"""Functions with sizes for the tests of `palladion.tune`: kernels that JAX ships, and one that is wrong on purpose."""

import functools
import os
import pathlib

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu, triton as pltriton
from jax.experimental.pallas.ops.gpu import hopper_matmul_mgpu
from jax.experimental.pallas.ops.tpu import flash_attention as flash, matmul as shipped_matmul
from jax.experimental.pallas.ops.tpu.splash_attention import splash_attention_kernel, splash_attention_mask

import palladion


def environment():
    """For another process that imports this package."""
    return {**os.environ, "PYTHONPATH": str(pathlib.Path(palladion.__file__).parents[1])}


def random(shape, dtype=jnp.bfloat16, seed=0):
    return jax.random.normal(jax.random.key(seed), shape).astype(dtype)


def matmul(x, y, bm=128, bn=128, bk=128):
    return shipped_matmul.matmul(x, y, block_shape=(bm, bn), block_k=bk)


def flash_attention(q, k, v, block_q=128, block_k=128):
    sizes = flash.BlockSizes(block_q=block_q, block_k_major=block_k, block_k=block_k, block_b=1)
    return flash.flash_attention(q, k, v, causal=True, block_sizes=sizes)


def splash_attention(q, k, v, block_q=128, block_kv=128):
    mask = splash_attention_mask.MultiHeadMask([splash_attention_mask.CausalMask(q.shape[1:2] * 2)] * q.shape[0])
    sizes = splash_attention_kernel.BlockSizes(block_q=block_q, block_kv=block_kv, block_kv_compute=block_kv)
    make = splash_attention_kernel.make_splash_mha
    return make(mask=mask, block_sizes=sizes, head_shards=1, q_seq_shards=1)(q, k, v)


def hopper_matmul(a, b, tile_m=64, tile_n=64, stages=2):
    config = hopper_matmul_mgpu.TuningConfig(tile_m=tile_m, tile_n=tile_n, tile_k=64, max_concurrent_steps=stages)
    return hopper_matmul_mgpu.matmul(a, b, None, config)


# Which mistake a block size makes; a larger block is faster, so each mistake is faster than what is right.
RIGHT, WRONG_VALUES, RACE, OUT_OF_BOUNDS = 64, 128, 256, 512


def triple(x, block=RIGHT, mistakes=True):
    """3 * x, by rows, copied by hand: at some blocks with a mistake."""
    mistake = block if mistakes else RIGHT

    def body(x_ref, o_ref, part, done):
        first = pl.program_id(0) * block
        if mistake == OUT_OF_BOUNDS:
            first += 8
        copy = pltpu.make_async_copy(x_ref.at[pl.ds(first, block)], part, done)
        copy.start()
        if mistake != RACE:
            copy.wait()
        o_ref[...] = part[...] * (2.0 if mistake == WRONG_VALUES else 3.0)
        if mistake == RACE:
            copy.wait()

    return pl.pallas_call(
        body,
        grid=(x.shape[0] // block,),
        in_specs=[pl.BlockSpec(memory_space=pl.ANY)],
        out_specs=pl.BlockSpec((block, x.shape[1]), lambda i: (i, 0)),
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        scratch_shapes=[pltpu.VMEM((block, x.shape[1]), x.dtype), pltpu.SemaphoreType.DMA],
    )(x)


def _product(a_ref, b_ref, o_ref, *, deep):
    def step(i, total):
        return total + pltriton.dot(a_ref[:, pl.ds(i * deep, deep)], b_ref[pl.ds(i * deep, deep), :])

    total = jax.lax.fori_loop(0, a_ref.shape[1] // deep, step, jnp.zeros(o_ref.shape, jnp.float32))
    o_ref[...] = total.astype(o_ref.dtype)


def triton_product(a, b, tile=128, deep=64, **params):
    (rows, inner), columns = a.shape, b.shape[1]
    return pl.pallas_call(
        functools.partial(_product, deep=deep),
        grid=(rows // tile, columns // tile),
        in_specs=[pl.BlockSpec((tile, inner), lambda i, j: (i, 0)), pl.BlockSpec((inner, tile), lambda i, j: (0, j))],
        out_specs=pl.BlockSpec((tile, tile), lambda i, j: (i, j)),
        out_shape=jax.ShapeDtypeStruct((rows, columns), a.dtype),
        compiler_params=pltriton.CompilerParams(**params),
    )(a, b)
