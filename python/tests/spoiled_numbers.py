"""Mistakes with numbers, made in NumPy (spoiled_outputs.py). Each draws a case and returns (function, inputs, the
spoiled output).
"""

import jax.numpy as jnp
import numpy as np

from spoiled_kernels import BF16, any_case, elementwise_case, f32_product_case, finished, normal, product_case


def _summed(x, y, dtype, order, length=1):
    """x y with every sum rounded to the type, `length` products at a time, whose own sum is rounded once."""
    total = None
    for k in order:
        part = (
            (x[:, k : k + length].astype(np.float64) @ y[k : k + length].astype(np.float64))
            .astype(np.float32)
            .astype(dtype)
        )
        total = part if total is None else (total.astype(np.float32) + part.astype(np.float32)).astype(dtype)
    return total.astype(np.float32)


def _sums_of_blocks(x, y, length):
    """x y in f32: the sums of `length` products each, added one after the other."""
    parts = [
        _summed(x[:, k : k + length], y[k : k + length], np.float32, range(length))
        for k in range(0, x.shape[1], length)
    ]
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


def lower_precision(rng):
    f, (x, y), k = product_case(rng)
    length = int(rng.choice([1, 3, 8, 16]))
    return f, (x, y), _summed(x, y, rng.choice([BF16, np.float16]), range(0, k, length), length)


def other_order(rng):
    f, (x, y), k = product_case(rng)
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
    f, (x, y), block, grid = elementwise_case(rng)
    scale = np.float32(2.0**-126)
    x, y = x * scale, y * scale
    small = np.float32(2.0**-126)

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
    bits = low & np.uint32(0xFFFF0000)
    if mode == "away":
        bits = np.where((low != bits) | odd, bits + np.uint32(0x10000), bits)
    elif mode == "ties away":
        bits = (low + np.uint32(0x8000)) & np.uint32(0xFFFF0000)
    return np.copysign(bits.view(np.float32), exact).astype(BF16)


def rounding(rng):
    f, (x, y), k = product_case(rng, jnp.bfloat16)
    exact = (x.astype(np.float64) @ y.astype(np.float64)).astype(np.float32).astype(np.float64)
    if rng.integers(2):
        exact = _summed(x, y, np.float32, range(k)).astype(np.float64)
    return f, (x, y), _truncate(exact, rng.choice(["toward zero", "away"]))


def _tf32(x, mode):
    bits = x.view(np.uint32)
    if mode == "nearest":
        bits = bits + np.uint32(0xFFF) + (bits >> np.uint32(13) & np.uint32(1))
    elif mode == "ties away":
        bits = bits + np.uint32(0x1000)
    return (bits & np.uint32(0xFFFFE000)).view(np.float32)


def _narrow(x, how):
    return x.astype(BF16).astype(np.float32) if how == "bf16" else _tf32(x, how)


def rounded_operands(rng):
    how = rng.choice(["bf16", "nearest", "toward zero", "ties away"])
    if rng.integers(3) == 0:
        f, (x, y), _, _ = elementwise_case(rng)
        return f, (x, y), _narrow(x, how) * 2 + _narrow(y, how)
    f, (x, y) = f32_product_case(rng)
    sides = rng.choice([1, 2, 3], p=[0.15, 0.15, 0.7])
    return f, (x, y), (_narrow(x, how) if sides & 1 else x) @ (_narrow(y, how) if sides & 2 else y)


def three_passes(rng):
    f, (x, y) = f32_product_case(rng)
    how = rng.choice(["bf16", "nearest"])
    high = [_narrow(one, how) for one in (x, y)]
    low = [_narrow(one - narrow, how) for one, narrow in zip((x, y), high)]
    return f, (x, y), (high[0] @ low[1] + low[0] @ high[1]) + high[0] @ high[1]


def constant_factor(rng):
    f, inputs, right = any_case(rng)
    return (
        f,
        inputs,
        right * np.float32(rng.choice([0.5, 2.0, 0.125, 1 / 3, 1 / np.sqrt(128), 64.0, rng.uniform(0.2, 3)])),
    )


def constant_offset(rng):
    f, inputs, right = any_case(rng)
    return f, inputs, right + np.float32(rng.choice([1.0, -1.0, 0.5, 1e-2, rng.uniform(-3, 3)]))


def missing_epilogue(rng):
    block, grid, k = (16, 128), (int(rng.integers(1, 4)), int(rng.integers(1, 3))), int(rng.choice([32, 64]))
    m, n, scale = block[0] * grid[0], block[1] * grid[1], float(rng.choice([1, 0.125, 0.25]))
    x, y, b = normal(rng, (m, k), BF16), normal(rng, (k, n), BF16), normal(rng, (1, n))
    if scale == 1:
        x = (x.astype(np.float32) / 16).astype(BF16)  # so that tanh does something, and not everywhere the same
    ab = x.astype(np.float32) @ y.astype(np.float32)
    forms = {
        "scale": lambda: np.maximum(ab + b, 0),
        "bias": lambda: np.maximum(ab * np.float32(scale), 0),
        "last": lambda: ab * np.float32(scale) + b,
        "all": lambda: ab,
    }
    if scale == 1:
        forms = {"bias": lambda: np.tanh(ab), "last": lambda: ab + b, "all": lambda: ab}
    return finished(m, n, k, block, scale), (x, y, b), forms[rng.choice(list(forms))]()


def wrong_sign(rng):
    if rng.integers(2):
        f, inputs, right = any_case(rng)
        return f, inputs, -right
    f, (x, y), _, _ = elementwise_case(rng)
    return f, (x, y), (x * 2 - y if rng.integers(2) else y - x * 2)
