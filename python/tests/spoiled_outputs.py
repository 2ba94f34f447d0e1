"""Outputs that are wrong on purpose, made by NumPy and ml_dtypes alone, and how often `palladion.compare` names their cause.

`python spoiled_outputs.py [--per-cause N] [--write]` prints the table of docs/compare.md; with --write it goes there. Each spoiled
output is what a program in NumPy gives that makes the mistake, with shapes, seeds and the form of the mistake drawn: what stands
where an index leaves the array, how many elements are summed at a time. Some forms no hypothesis has exactly: an index that wraps around,
garbage, the order of NumPy's BLAS, sums of 3. Named: the cause is among those that explain most, alone (first) or with others (tied).
"""

import argparse
import collections
import os
import sys
import tempfile

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
from jax.experimental import pallas as pl

import palladion

BF16 = ml_dtypes.bfloat16
PER_CAUSE = 20
HEADER = ("cause", "outputs", "named first", "named with others", "another named", "none named")


# ---- Kernels: each is (function, inputs, what NumPy computes of it by blocks).

def _block(array, index, shape):
    return array[tuple(slice(i * s, (i + 1) * s) for i, s in zip(index, shape))]


def scaled(rows, columns, block, dtype):
    """o = x * 2 + y, blocks of rows and columns."""
    def kernel(x_ref, y_ref, o_ref):
        o_ref[...] = x_ref[...] * 2 + y_ref[...]

    def f(x, y):
        spec = pl.BlockSpec(block, lambda i, j: (i, j))
        return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype), grid=(rows // block[0], columns // block[1]),
                              in_specs=[spec, spec], out_specs=spec)(x, y)
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
            kernel, out_shape=jax.ShapeDtypeStruct((m, n), out_type), grid=(m // bm, n // bn, k // bk),
            in_specs=[pl.BlockSpec((bm, bk), lambda i, j, l: (i, l)), pl.BlockSpec((bk, bn), lambda i, j, l: (l, j))],
            out_specs=pl.BlockSpec((bm, bn), lambda i, j, l: (i, j)))(x, y)
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
            kernel, out_shape=jax.ShapeDtypeStruct((8, 128 * -(-length // block)), jnp.float32), grid=(-(-length // block),),
            in_specs=[pl.BlockSpec((8, block), lambda i: (0, i))], out_specs=pl.BlockSpec((8, 128), lambda i: (0, i)))(x)
    return f


# ---- Mistakes. Each draws a case and returns (function, inputs, the spoiled output).

def _normal(rng, shape, dtype=np.float32):
    return rng.standard_normal(shape).astype(dtype)


def _elementwise_case(rng):
    block = (int(rng.choice([8, 16])), 128)
    grid = (int(rng.integers(2, 5)), int(rng.integers(2, 4)))
    shape = (block[0] * grid[0], block[1] * grid[1])
    x, y = _normal(rng, shape), _normal(rng, shape)
    return scaled(*shape, block, jnp.float32), (x, y), block, grid


def _by_blocks(block, grid, shape, value):
    out = np.zeros(shape, np.float32)
    for i in range(grid[0]):
        for j in range(grid[1]):
            _block(out, (i, j), block)[...] = value(i, j)
    return out


def transposed(rng):
    block, grid = (128, 128), (int(rng.integers(1, 3)), int(rng.integers(1, 3)))
    shape = (block[0] * grid[0], block[1] * grid[1])
    x, y = _normal(rng, shape), _normal(rng, shape)
    which = rng.integers(3)
    only = tuple(int(rng.integers(n)) for n in grid) if rng.integers(2) else None

    def value(i, j):
        a, b = _block(x, (i, j), block), _block(y, (i, j), block)
        if only not in (None, (i, j)):
            return a * 2 + b
        a, b = (a.T if which == 0 else a), (b.T if which == 1 else b)
        return (a * 2 + b).T if which == 2 else a * 2 + b
    return scaled(*shape, block, jnp.float32), (x, y), _by_blocks(block, grid, shape, value)


def off_by_one(rng):
    f, (x, y), block, grid = _elementwise_case(rng)
    axis, by = int(rng.integers(2)), int(rng.choice([-1, 1]))
    edge = rng.choice(["stays", "wraps", "garbage"])

    def moved(i, j):
        index = [i, j]
        index[axis] += by
        if edge == "garbage" and not 0 <= index[axis] < grid[axis]:
            return _normal(rng, block) * 100
        index[axis] = index[axis] % grid[axis] if edge == "wraps" else min(max(index[axis], 0), grid[axis] - 1)
        return _block(x, index, block)
    return f, (x, y), _by_blocks(block, grid, x.shape, lambda i, j: moved(i, j) * 2 + _block(y, (i, j), block))


def missing(rng):
    m, n, k, bk = 32, 256, 512, 128
    x, y = _normal(rng, (m, k), BF16), _normal(rng, (k, n), BF16)
    gone = (int(rng.integers(2)), int(rng.integers(2)), int(rng.integers(1, 4)))
    out = np.zeros((m, n), np.float32)
    for i in range(2):
        for j in range(2):
            for step in range(4):
                if (i, j, step) != gone:
                    a, b = _block(x, (i, step), (16, bk)).astype(np.float32), _block(y, (step, j), (bk, 128)).astype(np.float32)
                    _block(out, (i, j), (16, 128))[...] += a @ b
    return product(m, n, k, (16, 128, bk), jnp.float32), (x, y), out


def wrong_slot(rng):
    f, (x, y), block, grid = _elementwise_case(rng)

    nothing_before = rng.choice([0.0, 1.0]) * _normal(rng, block)

    def before(i, j):
        step = i * grid[1] + j - 1
        return nothing_before if step < 0 else _block(x, (step // grid[1], step % grid[1]), block)
    return f, (x, y), _by_blocks(block, grid, x.shape, lambda i, j: before(i, j) * 2 + _block(y, (i, j), block))


def stale(rng):
    f, (x, y), block, grid = _elementwise_case(rng)
    step = int(rng.integers(1, grid[0] * grid[1]))
    place = (step // grid[1], step % grid[1])
    before = ((step - 1) // grid[1], (step - 1) % grid[1])
    unwritten = rng.integers(2) == 0
    garbage = _normal(rng, block) * 100

    def value(i, j):
        if (i, j) != place:
            return _block(x, (i, j), block) * 2 + _block(y, (i, j), block)
        return garbage if unwritten else _block(x, before, block) * 2 + _block(y, (i, j), block)
    return f, (x, y), _by_blocks(block, grid, x.shape, value)


def padding(rng):
    block = 128
    length = int(rng.integers(1, 4)) * block + int(rng.integers(1, block))
    blocks = -(-length // block)
    x = (1 + 0.1 * rng.standard_normal((8, length))).astype(np.float32)
    padded = np.full((8, blocks * block), rng.choice([0.0, np.nan]), np.float32)
    if rng.integers(4) == 0:
        padded[...] = _normal(rng, padded.shape)
    padded[:, :length] = x
    parts = padded.reshape(8, blocks, block).astype(np.float64).prod(axis=2).astype(np.float32)
    return rows_of_ragged(length, block), (x,), np.repeat(parts, 128, axis=1)


def _summed(x, y, dtype, order, length=1):
    """x y with every sum rounded to the type, `length` products at a time, whose own sum is rounded once."""
    total = None
    for k in order:
        part = (x[:, k:k + length].astype(np.float64) @ y[k:k + length].astype(np.float64)).astype(np.float32).astype(dtype)
        total = part if total is None else (total.astype(np.float32) + part.astype(np.float32)).astype(dtype)
    return total.astype(np.float32)


def _sums_of_blocks(x, y, length):
    """x y in f32: the sums of `length` products each, added one after the other."""
    parts = [_summed(x[:, k:k + length], y[k:k + length], np.float32, range(length)) for k in range(0, x.shape[1], length)]
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


def _product_case(rng, out_type=jnp.float32):
    m, n, k = 16, 128, int(rng.choice([64, 128, 256]))
    x, y = _normal(rng, (m, k), BF16), _normal(rng, (k, n), BF16)
    return product(m, n, k, (m, n, k), out_type), (x, y), k


def lower_precision(rng):
    f, (x, y), k = _product_case(rng)
    length = int(rng.choice([1, 3, 8, 16]))
    return f, (x, y), _summed(x, y, rng.choice([BF16, np.float16]), range(0, k, length), length)


def other_order(rng):
    f, (x, y), k = _product_case(rng)
    which = rng.integers(4)
    if which < 2:
        return f, (x, y), _summed(x, y, np.float32, range(k) if which == 0 else range(k - 1, -1, -1))
    if which == 2:  # by blocks, as BLAS does; not BLAS itself, whose order is the host's
        return f, (x, y), _sums_of_blocks(x, y, int(rng.choice([4, 8, 16])))
    parts = [x[:, i, None].astype(np.float32) * y[None, i, :].astype(np.float32) for i in range(k)]
    while len(parts) > 1:
        parts = [a + b for a, b in zip(parts[::2], parts[1::2])]
    return f, (x, y), parts[0]


def flushed(rng):
    f, (x, y), block, grid = _elementwise_case(rng)
    scale = np.float32(2.0 ** -126)
    x, y = x * scale, y * scale
    small = np.float32(2.0 ** -126)

    def flush(a):
        return np.where(np.abs(a) < small, a * np.float32(0), a)
    operands = rng.integers(2) == 0
    a, b = (flush(x), flush(y)) if operands else (x, y)
    doubled = flush(a * np.float32(2))
    return f, (x, y), flush(doubled + b)


def _truncate(exact, mode):
    """f64 to bf16 by the bits of f32, whose own rounding is done the same way."""
    size = np.abs(exact)
    low = size.astype(np.float32)
    low = np.where(low > size, np.nextafter(low, np.float32(0)), low).view(np.uint32)  # toward zero
    odd = low.view(np.float32) != size
    bits = low & np.uint32(0xffff0000)
    if mode == "away":
        bits = np.where((low != bits) | odd, bits + np.uint32(0x10000), bits)
    elif mode == "ties away":
        bits = (low + np.uint32(0x8000)) & np.uint32(0xffff0000)
    return np.copysign(bits.view(np.float32), exact).astype(BF16)


def rounding(rng):
    f, (x, y), k = _product_case(rng, jnp.bfloat16)
    exact = (x.astype(np.float64) @ y.astype(np.float64)).astype(np.float32).astype(np.float64)
    if rng.integers(2):
        exact = _summed(x, y, np.float32, range(k)).astype(np.float64)
    return f, (x, y), _truncate(exact, rng.choice(["toward zero", "away"]))


MISTAKES = {
    "transposed block": transposed,
    "off-by-one block index": off_by_one,
    "program missing": missing,
    "wrong slot of a buffer": wrong_slot,
    "stale or unwritten block": stale,
    "padding leaked": padding,
    "lower precision of accumulation": lower_precision,
    "another order of summation": other_order,
    "flushed subnormals": flushed,
    "another rounding mode": rounding,
}


def named(comparison) -> list:
    """The causes that explain as much as the first does."""
    likely = comparison.report["causes"]["likely"]
    score = [(cause["explained"] - cause["spoiled"], cause["unwritten"]) for cause in likely]
    return sorted({cause["kind"] for cause, s in zip(likely, score) if s == score[0]})


def judge(kind, seed) -> str:
    """'first', 'tied', 'other' or 'none': what became of one spoiled output."""
    f, inputs, spoiled = MISTAKES[kind](np.random.default_rng([list(MISTAKES).index(kind), seed]))
    with tempfile.TemporaryDirectory() as folder:
        bundle, = palladion.golden(f, *map(jnp.asarray, inputs), out=os.path.join(folder, "bundle"))
        found = named(palladion.compare(bundle, spoiled))
    if kind in found:
        return "first" if len(found) == 1 else "tied"
    return "other" if found else "none"


def row_of(kind, per_cause) -> tuple:
    count = collections.Counter(judge(kind, seed) for seed in range(per_cause))
    return kind, per_cause, count["first"], count["tied"], count["other"], count["none"]


def table(rows) -> str:
    lines = ["| " + " | ".join(HEADER) + " |", "|" + "---|" * len(HEADER)]
    return "\n".join(lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows]) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--per-cause", type=int, default=PER_CAUSE)
    parser.add_argument("--only", default="", help="causes whose name has this")
    parser.add_argument("--write", metavar="FILE", help="the page whose table is replaced")
    options = parser.parse_args()
    rows = []
    for kind in MISTAKES:
        if options.only in kind:
            rows.append(row_of(kind, options.per_cause))
            print(rows[-1], flush=True)
    if options.write:
        sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools"))
        import measured_part
        measured_part.write(options.write, "spoiled-outputs", table(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
