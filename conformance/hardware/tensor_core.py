"""What Hopper's tensor cores compute, bit for bit: a model in NumPy, held against the recordings by
python/tests/test_hardware.py.

Each instruction adds L products and the accumulator in one step ("truncated fused dot-product-add"): all terms are
aligned to the largest exponent among them, bits more than F below it are dropped, the rest is added exactly, and the
sum is rounded once. From MMA-Sim (arXiv 2511.10909). Subnormal numbers have the exponent of the smallest normal one and
are not normalised; a product of two significands of which each is in [1, 2) is not normalised either. A longer
contraction is a chain of instructions, lowest k first.
"""

import inputs
import numpy as np

# Of an operand: bits of the mantissa, exponent of the smallest normal number.
FORMATS = {
    "float16": (10, -14),
    "bfloat16": (7, -126),
    "float32": (10, -126),
    "float8_e4m3fn": (3, -6),
    "float8_e5m2": (2, -14),
}
ACCUMULATORS = {"float16": (10, -14), "float32": (23, -126)}
LENGTH = 32  # bytes of each operand that one instruction contracts
ZERO = {"float16": -21, "float32": -133}  # the exponent of a term that is zero: what is F bits below is lost


def kept_bits(dtype):
    """F: 8-bit operands are multiplied by a narrower unit."""
    return 13 if np.dtype(dtype).itemsize == 1 else 25


def operand(x):
    """As f64; f32 is TensorFloat-32 there: the last 13 bits are cut off before anything else."""
    x = np.asarray(x)
    if x.dtype == inputs.F32:
        x = (x.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)
    return x.astype(np.float64)


def parts(x, mantissa, least):
    """(signed significand as an integer, exponent) of finite numbers in f64; 0 has the exponent `least`."""
    with np.errstate(divide="ignore"):
        exponent = np.frexp(x)[1] - 1
    exponent = np.maximum(np.where(x == 0, least, exponent), least).astype(np.int64)
    return np.ldexp(x, mantissa - exponent).astype(np.int64), exponent


def shifted(significand, places):
    """significand times 2^places, toward zero."""
    size = np.abs(significand)
    left, right = np.clip(places, 0, 40), np.clip(-places, 0, 62)
    return np.sign(significand) * ((size << left) >> right)


def step(a, b, c, types, kept):
    """One instruction: a [M, L], b [N, L], c [M, N] in f64; the exact sum of what is kept, in f64."""
    mantissa, least = FORMATS[types[0]]
    am, ae = parts(a, mantissa, least)
    bm, be = parts(b, mantissa, least)
    cm, ce = parts(c, *ACCUMULATORS[types[1]])
    products, exponents = am[:, None] * bm[None], ae[:, None] + be[None]
    zero = ZERO[types[1]]
    largest = np.where(products != 0, exponents, zero).max(axis=2)
    largest = np.maximum(largest, np.where(cm != 0, ce, zero))
    total = shifted(products, kept - 2 * mantissa - (largest[..., None] - exponents)).sum(axis=2)
    total += shifted(cm, kept - ACCUMULATORS[types[1]][0] - (largest - ce))
    return np.ldexp(total.astype(np.float64), largest - kept)


def toward_zero(x, bits):
    """f64 to f32 with `bits` of mantissa, toward zero; from 2^128 on infinity."""
    exponent = np.maximum(np.frexp(x)[1] - 1, -126)
    cut = np.ldexp(np.trunc(np.ldexp(x, bits - exponent)), exponent - bits)
    return np.where(np.abs(x) >= 2.0**128, np.copysign(np.inf, x), cut)


def rounded(x, result, kept):
    """What underflows is +0."""
    if result == "float16":
        with np.errstate(over="ignore"):
            return x.astype(np.float16).astype(np.float64) + 0.0
    return toward_zero(x, 13 if kept == 13 else 23) + 0.0


def special(a, b, c):
    """NaN where a term is NaN or infinities of both signs meet, an infinity where there is one, else 0."""
    with np.errstate(invalid="ignore", over="ignore"):
        products = a[:, None] * b[None]
        strange = ~(np.isfinite(a)[:, None] & np.isfinite(b)[None])
        total = np.where(strange, products, 0).sum(axis=2) + np.where(np.isfinite(c), 0, c)
    return total


def product(a, b, result, c=None):
    """a [M, K] times b [N, K] transposed, plus c, as wgmma computes it."""
    types, kept = (np.asarray(a).dtype.name, np.dtype(result).name), kept_bits(np.asarray(a).dtype)
    length = LENGTH // np.asarray(a).dtype.itemsize
    a, b = operand(a), operand(b)
    c = np.zeros((len(a), len(b))) if c is None else np.asarray(c).astype(np.float64)
    for k in range(0, a.shape[1], length):
        left, right = a[:, k : k + length], b[:, k : k + length]
        strange = special(left, right, c)
        plain = step(*[np.where(np.isfinite(x), x, 0) for x in (left, right, c)], types, kept)
        c = np.where(strange == 0, rounded(plain, types[1], kept), strange)
    return canonical(c.astype(result))


def canonical(x):
    """With the one NaN that GPUs make."""
    words = x.view(inputs.WORDS[x.dtype.itemsize])
    words[np.isnan(x)] = np.iinfo(words.dtype).max >> 1
    return x


# What a product of Pallas becomes on Hopper, by the name of its arithmetic.
ARITHMETIC = {
    "wgmma": "a tensor core keeps 25 bits (of 8-bit floats 13) below the largest term of an instruction's sum, and "
    "rounds toward zero after each",
    "mma": "a tensor core keeps 25 bits (of 8-bit floats 13) below the largest term of an instruction's sum, and "
    "rounds toward zero after each",
    "tf32": "a tensor core that keeps 25 bits, of operands rounded to TensorFloat-32",
    "halves": "8-bit floats are multiplied as f16: of each 32 products first those with k mod 4 in 0 and 1, then the "
    "others",
    "fma": "fused multiply-adds of f32, lowest k first",
}


def to_tf32(x):
    """Rounded, halves away from zero (cvt.rna.tf32)."""
    word = np.ascontiguousarray(x).view(np.uint32).astype(np.uint64) + np.uint64(0x1000)
    return (word & np.uint64(0xFFFFE000)).astype(np.uint32).view(np.float32)


def chain(a, b, result):
    total = np.zeros((len(a), len(b)), result)
    with np.errstate(all="ignore"):
        for k in range(a.shape[1]):
            total = (a[:, k].astype(np.float64)[:, None] * b[:, k].astype(np.float64)[None] + total).astype(result)
    return canonical(total)


def halves(a, b, result):
    """mma.sync of 8-bit floats on Hopper is two of f16."""
    k = np.arange(a.shape[1]).reshape(-1, 8, 4)
    order = np.concatenate([np.concatenate([block[:, :2].ravel(), block[:, 2:].ravel()]) for block in k])
    return product(a[:, order].astype(np.float16), b[:, order].astype(np.float16), result)


def computed(arithmetic, a, b, result, c=None):
    """What the GPU gives for a [M, K] times b, which is [N, K] for wgmma, else [K, N]."""
    if arithmetic != "wgmma":
        b = np.ascontiguousarray(b.T)
    if arithmetic == "fma":
        return chain(a, b, result)
    if arithmetic == "halves":
        return halves(a, b, result)
    if arithmetic == "tf32":
        a, b = to_tf32(a), to_tf32(b)
    return product(a, b, result, c)


def largest_error(a, b, c=None, dtype=None, arithmetic="wgmma"):
    """How far the exact sum can be from the above, at each element: what K / L instructions cut off and round, of sums
    that are at most as large as the terms' sizes together; infinite where those overflow, for then an order may
    overflow too. b is [N, K] for wgmma, else [K, N].
    """
    if arithmetic != "wgmma":
        b = b.T
    kept = kept_bits(a.dtype) if arithmetic in ("wgmma", "mma") else 25
    length = a.shape[1] if arithmetic == "fma" else LENGTH // a.dtype.itemsize
    with np.errstate(invalid="ignore", over="ignore"):
        size = np.abs(a.astype(np.float64)) @ np.abs(b.astype(np.float64)).T + (
            0 if c is None else np.abs(c.astype(np.float64))
        )
    info = inputs.ml_dtypes.finfo(dtype)
    links = -(-a.shape[1] // length)
    cut = a.shape[1] * 2.0**-24 if arithmetic == "fma" else 2 * links * (length + 1) * 2.0**-kept
    rounding = links * max(float(info.eps), 2.0**-13 if kept == 13 else 0.0)
    operands = 2.0**-9 if a.dtype == inputs.F32 and arithmetic != "fma" else 0.0
    room = size * (cut + rounding + operands) + (links + 1) * max(
        float(info.smallest_subnormal), 2.0**-139 if kept == 13 else 0.0
    )
    if a.dtype == inputs.F32 and arithmetic != "fma":  # a subnormal operand loses as much as the smallest normal one
        with np.errstate(invalid="ignore"):
            room += 2.0**-136 * (
                np.abs(a.astype(np.float64)).sum(axis=1)[:, None] + np.abs(b.astype(np.float64)).sum(axis=1)[None]
            )
    room += 2.0 ** (ZERO[np.dtype(dtype).name] - kept) * a.shape[1] * links
    return np.where(np.isfinite(size) & (size * 1.01 < float(info.max)), room, np.inf)
