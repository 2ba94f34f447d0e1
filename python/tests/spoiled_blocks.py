"""Mistakes of a program that runs blocks, made in NumPy (spoiled_outputs.py). Each draws a case and returns (function,
inputs, output).
"""

import jax.numpy as jnp
import numpy as np

from spoiled_kernels import (
    BF16,
    any_case,
    block_of,
    by_blocks,
    elementwise_case,
    normal,
    product,
    rows_of_ragged,
    scaled,
)


def transposed(rng):
    block, grid = (128, 128), (int(rng.integers(1, 3)), int(rng.integers(1, 3)))
    shape = (block[0] * grid[0], block[1] * grid[1])
    x, y = normal(rng, shape), normal(rng, shape)
    which = rng.integers(3)
    only = tuple(int(rng.integers(n)) for n in grid) if rng.integers(2) else None

    def value(i, j):
        a, b = block_of(x, (i, j), block), block_of(y, (i, j), block)
        if only not in (None, (i, j)):
            return a * 2 + b
        a, b = (a.T if which == 0 else a), (b.T if which == 1 else b)
        return (a * 2 + b).T if which == 2 else a * 2 + b

    return scaled(*shape, block, jnp.float32), (x, y), by_blocks(block, grid, shape, value)


def off_by_one(rng):
    f, (x, y), block, grid = elementwise_case(rng)
    axis, by = int(rng.integers(2)), int(rng.choice([-1, 1]))
    edge = rng.choice(["stays", "wraps", "garbage"])

    def moved(i, j):
        index = [i, j]
        index[axis] += by
        if edge == "garbage" and not 0 <= index[axis] < grid[axis]:
            return normal(rng, block) * 100
        index[axis] = index[axis] % grid[axis] if edge == "wraps" else min(max(index[axis], 0), grid[axis] - 1)
        return block_of(x, index, block)

    return f, (x, y), by_blocks(block, grid, x.shape, lambda i, j: moved(i, j) * 2 + block_of(y, (i, j), block))


def missing(rng):
    m, n, k, bk = 32, 256, 512, 128
    x, y = normal(rng, (m, k), BF16), normal(rng, (k, n), BF16)
    gone = (int(rng.integers(2)), int(rng.integers(2)), int(rng.integers(1, 4)))
    out = np.zeros((m, n), np.float32)
    for i in range(2):
        for j in range(2):
            for step in range(4):
                if (i, j, step) != gone:
                    a, b = (
                        block_of(x, (i, step), (16, bk)).astype(np.float32),
                        block_of(y, (step, j), (bk, 128)).astype(np.float32),
                    )
                    block_of(out, (i, j), (16, 128))[...] += a @ b
    return product(m, n, k, (16, 128, bk), jnp.float32), (x, y), out


def wrong_slot(rng):
    f, (x, y), block, grid = elementwise_case(rng)

    nothing_before = rng.choice([0.0, 1.0]) * normal(rng, block)

    def before(i, j):
        step = i * grid[1] + j - 1
        return nothing_before if step < 0 else block_of(x, (step // grid[1], step % grid[1]), block)

    return f, (x, y), by_blocks(block, grid, x.shape, lambda i, j: before(i, j) * 2 + block_of(y, (i, j), block))


def stale(rng):
    f, (x, y), block, grid = elementwise_case(rng)
    step = int(rng.integers(1, grid[0] * grid[1]))
    place = (step // grid[1], step % grid[1])
    before = ((step - 1) // grid[1], (step - 1) % grid[1])
    unwritten = rng.integers(2) == 0
    garbage = normal(rng, block) * 100

    def value(i, j):
        if (i, j) != place:
            return block_of(x, (i, j), block) * 2 + block_of(y, (i, j), block)
        return garbage if unwritten else block_of(x, before, block) * 2 + block_of(y, (i, j), block)

    return f, (x, y), by_blocks(block, grid, x.shape, value)


def padding(rng):
    block = 128
    length = int(rng.integers(1, 4)) * block + int(rng.integers(1, block))
    blocks = -(-length // block)
    x = (1 + 0.1 * rng.standard_normal((8, length))).astype(np.float32)
    padded = np.full((8, blocks * block), rng.choice([0.0, np.nan]), np.float32)
    if rng.integers(4) == 0:
        padded[...] = normal(rng, padded.shape)
    padded[:, :length] = x
    parts = padded.reshape(8, blocks, block).astype(np.float64).prod(axis=2).astype(np.float32)
    return rows_of_ragged(length, block), (x,), np.repeat(parts, 128, axis=1)


def transposed_output(rng):
    block = (128, 128)
    grid = (int(rng.integers(1, 3)), int(rng.integers(1, 3)))
    shape = (block[0] * grid[0], block[1] * grid[1])
    x, y = normal(rng, shape), normal(rng, shape)
    return scaled(*shape, block, jnp.float32), (x, y), (x * 2 + y).T.copy().reshape(shape)


def exchanged_tiles(rng):
    f, (x, y), block, grid = elementwise_case(rng)
    right = x * 2 + y
    tile = block if rng.integers(2) else (block[0] // 2 if block[0] > 8 else 8, 64)
    tiles = [size // t for size, t in zip(x.shape, tile)]
    one, other = rng.choice(tiles[0] * tiles[1], 2, replace=False)
    places = [(int(t) // tiles[1], int(t) % tiles[1]) for t in (one, other)]
    out = right.copy()
    block_of(out, places[0], tile)[...], block_of(out, places[1], tile)[...] = (
        block_of(right, places[1], tile),
        block_of(right, places[0], tile),
    )
    return f, (x, y), out


def noise(rng):
    """Values that no mistake of the program made: everywhere, here and there, or a handful."""
    f, inputs, right = any_case(rng)
    form = rng.choice(["added", "multiplied", "here and there", "a handful", "last bits"])
    random = rng.standard_normal(right.shape).astype(np.float32)
    size = np.float32(10.0 ** rng.uniform(-6, 0))
    if form == "added":
        return f, inputs, right + random * size
    if form == "multiplied":
        return f, inputs, right * (1 + random * size)
    if form == "last bits":
        return f, inputs, (right.view(np.int32) + rng.integers(-4, 5, right.shape).astype(np.int32)).view(np.float32)
    out = right.copy()
    share = rng.uniform(0.01, 0.3) if form == "here and there" else 4 / right.size
    where = rng.random(right.shape) < share
    out[where] += 10 * random[where]
    return f, inputs, out
