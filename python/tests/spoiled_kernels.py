"""Kernels whose outputs are spoiled on purpose (spoiled_outputs.py), and draws of their shapes and inputs."""

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
from jax.experimental import pallas as pl

BF16 = ml_dtypes.bfloat16


def block_of(array, index, shape):
    return array[tuple(slice(i * s, (i + 1) * s) for i, s in zip(index, shape))]


def scaled(rows, columns, block, dtype):
    """o = x * 2 + y, blocks of rows and columns."""

    def kernel(x_ref, y_ref, o_ref):
        o_ref[...] = x_ref[...] * 2 + y_ref[...]

    def f(x, y):
        spec = pl.BlockSpec(block, lambda i, j: (i, j))
        return pl.pallas_call(
            kernel,
            out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
            grid=(rows // block[0], columns // block[1]),
            in_specs=[spec, spec],
            out_specs=spec,
        )(x, y)

    return f


def product(m, n, k, block, out_type):
    """o = x y, accumulated over blocks of k in an f32 output, or rounded once where one block holds all of k."""
    bm, bn, bk = block

    def kernel(x_ref, y_ref, o_ref):
        part = jnp.dot(x_ref[...], y_ref[...], preferred_element_type=jnp.float32)
        if bk == k:
            o_ref[...] = part.astype(o_ref.dtype)
            return

        @pl.when(pl.program_id(2) == 0)
        def _():
            o_ref[...] = jnp.zeros_like(o_ref)

        o_ref[...] += part.astype(o_ref.dtype)

    def f(x, y):
        return pl.pallas_call(
            kernel,
            out_shape=jax.ShapeDtypeStruct((m, n), out_type),
            grid=(m // bm, n // bn, k // bk),
            in_specs=[pl.BlockSpec((bm, bk), lambda i, j, l: (i, l)), pl.BlockSpec((bk, bn), lambda i, j, l: (l, j))],
            out_specs=pl.BlockSpec((bm, bn), lambda i, j, l: (i, j)),
        )(x, y)

    return f


def rows_of_ragged(length, block):
    """The largest and the sum of x, of which the last block is masked: padding that leaks is seen."""

    def kernel(x_ref, o_ref):
        i = pl.program_id(0)
        at = i * block + jax.lax.broadcasted_iota(jnp.int32, (8, block), 1)
        x = jnp.where(at < length, x_ref[...], 1.0)
        o_ref[...] = jnp.prod(x, axis=1, keepdims=True) * jnp.ones((8, 128), jnp.float32)

    def f(x):
        return pl.pallas_call(
            kernel,
            out_shape=jax.ShapeDtypeStruct((8, 128 * -(-length // block)), jnp.float32),
            grid=(-(-length // block),),
            in_specs=[pl.BlockSpec((8, block), lambda i: (0, i))],
            out_specs=pl.BlockSpec((8, 128), lambda i: (0, i)),
        )(x)

    return f


def finished(m, n, k, block, scale):
    """o = max(x y scale + b, 0), or tanh of that where the scale is 1."""

    def kernel(x_ref, y_ref, b_ref, o_ref):
        product = jnp.dot(x_ref[...], y_ref[...], preferred_element_type=jnp.float32)
        if scale == 1:
            o_ref[...] = jnp.tanh(product + b_ref[...])
        else:
            o_ref[...] = jnp.maximum(product * scale + b_ref[...], 0)

    def f(x, y, b):
        return pl.pallas_call(
            kernel,
            out_shape=jax.ShapeDtypeStruct((m, n), jnp.float32),
            grid=(m // block[0], n // block[1]),
            in_specs=[
                pl.BlockSpec((block[0], k), lambda i, j: (i, 0)),
                pl.BlockSpec((k, block[1]), lambda i, j: (0, j)),
                pl.BlockSpec((1, block[1]), lambda i, j: (0, j)),
            ],
            out_specs=pl.BlockSpec(block, lambda i, j: (i, j)),
        )(x, y, b)

    return f


# ---- Draws


def normal(rng, shape, dtype=np.float32):
    return rng.standard_normal(shape).astype(dtype)


def elementwise_case(rng):
    block = (int(rng.choice([8, 16])), 128)
    grid = (int(rng.integers(2, 5)), int(rng.integers(2, 4)))
    shape = (block[0] * grid[0], block[1] * grid[1])
    x, y = normal(rng, shape), normal(rng, shape)
    return scaled(*shape, block, jnp.float32), (x, y), block, grid


def by_blocks(block, grid, shape, value):
    out = np.zeros(shape, np.float32)
    for i in range(grid[0]):
        for j in range(grid[1]):
            block_of(out, (i, j), block)[...] = value(i, j)
    return out


def product_case(rng, out_type=jnp.float32):
    m, n, k = 16, 128, int(rng.choice([64, 128, 256]))
    x, y = normal(rng, (m, k), BF16), normal(rng, (k, n), BF16)
    return product(m, n, k, (m, n, k), out_type), (x, y), k


def f32_product_case(rng):
    m, n, k = 16, 128, int(rng.choice([32, 64, 128, 256]))
    x, y = normal(rng, (m, k)), normal(rng, (k, n))
    return product(m, n, k, (m, n, k), jnp.float32), (x, y)


def any_case(rng):
    """A kernel, its inputs, and the right output."""
    if rng.integers(2):
        f, (x, y), _, _ = elementwise_case(rng)
        return f, (x, y), x * 2 + y
    f, (x, y), _ = product_case(rng)
    return f, (x, y), x.astype(np.float32) @ y.astype(np.float32)
