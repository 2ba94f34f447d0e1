"""Inputs of recorded kernels: the same bits on every host and with every NumPy, so that only outputs need keeping.

Random bits are SplitMix64's, as in conformance cases (docs/spec/cases.md, Values); all else is exact arithmetic on
them.
"""

import hashlib
import re

import ml_dtypes
import numpy as np

BF16, F16, F32, F64 = np.dtype(ml_dtypes.bfloat16), np.dtype(np.float16), np.dtype(np.float32), np.dtype(np.float64)
E4M3, E5M2 = np.dtype(ml_dtypes.float8_e4m3fn), np.dtype(ml_dtypes.float8_e5m2)
WORDS = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


def words(seed, count):
    """SplitMix64's outputs 0 to count - 1."""
    with np.errstate(over="ignore"):
        z = np.uint64(seed) + (np.arange(count, dtype=np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def bits(seed, shape, dtype):
    """Random storage bits: every number of a type, its NaNs, infinities and subnormals."""
    dtype = np.dtype(dtype)
    return words(seed, int(np.prod(shape))).astype(WORDS[dtype.itemsize]).view(dtype).reshape(shape)


def uniform(seed, shape, low, high, dtype=F32):
    """Rounded to the type once, from double."""
    u = (words(seed, int(np.prod(shape))) >> np.uint64(11)).astype(np.float64) / 2**53
    return (low + (high - low) * u).astype(dtype).reshape(shape)


def powers(seed, shape, least, most, dtype=F32):
    """Both signs, mantissas of all bits, exponents evenly from `least` to `most`."""
    w = words(seed, int(np.prod(shape)))
    mantissa = 1 + (w >> np.uint64(12)).astype(np.float64) / 2**52
    exponent = least + (w & np.uint64(0x7FF)).astype(np.int64) % (most - least + 1)
    sign = np.where(w & np.uint64(0x800), -1.0, 1.0)
    return np.ldexp(sign * mantissa, exponent).astype(dtype).reshape(shape)


def edges(dtype):
    """The numbers at which an implementation of a float type goes wrong, both signs of each."""
    info, one = ml_dtypes.finfo(dtype), np.ones((), dtype)
    small = [
        0,
        info.smallest_subnormal,
        info.smallest_subnormal * np.asarray(3, dtype),
        info.smallest_normal,
        info.tiny,
    ]
    big = [info.max, info.max / np.asarray(2, dtype), np.inf, np.nan]
    near = [
        1,
        1 + float(info.eps),
        1 - float(info.eps) / 2,
        0.5,
        1.5,
        2,
        2.5,
        3,
        10,
        88,
        89,
        104,
        126.5,
        128,
        149,
        256,
        65504,
        65520,
    ]
    with np.errstate(over="ignore", invalid="ignore"):  # 65520 is no f16
        values = np.array([np.asarray(v).astype(dtype) for v in (*small, *big, *near)], dtype=dtype)
        return np.concatenate([values, (-values.astype(np.float64)).astype(dtype), one[None]])


def mixed(seed, count, dtype, span=10.0):
    """Edges, then a quarter each of random bits, all exponents in reach, and numbers within `span`; shuffled by
    nothing."""
    first = edges(dtype)
    rest = count - len(first)
    a, b = rest // 4, rest // 4
    return np.concatenate(
        [
            first,
            bits(seed, (a,), dtype),
            powers(seed + 1, (b,), -12, 12, dtype),
            uniform(seed + 2, (rest - a - b,), -span, span, dtype),
        ]
    )


def integers(seed, count, dtype):
    """The limits and small numbers of an integer type, then random bits with a third of them small."""
    info = np.iinfo(dtype)
    known = [0, 1, 2, 3, 7, info.max, info.max - 1, info.min, *((-1, -2, -3, info.min + 1) if info.min else ())]
    known = np.array([v for v in known], dtype=dtype)
    rest = bits(seed, (count - len(known),), dtype)
    rest[::3] = rest[::3] % np.asarray(11, dtype)
    return np.concatenate([known, rest])


def called(value, shape, dtype):
    """What an input of a conformance case means: "zeros", "iota", "full(v)", "random(seed=, lo=, hi=)"."""
    if value == "zeros":
        return np.zeros(shape, dtype)
    if value == "iota":
        return np.arange(int(np.prod(shape))).astype(dtype).reshape(shape)
    if match := re.fullmatch(r"full\((.*)\)", value):
        return np.full(shape, float(match[1])).astype(dtype)
    if match := re.fullmatch(r"random\(seed=(\d+), lo=([-\d.]+), hi=([-\d.]+)\)", value):
        return uniform(int(match[1]), shape, float(match[2]), float(match[3]), dtype)
    if match := re.fullmatch(r"\[(.*)\]", value):
        return np.array([float(v) for v in match[1].split(",")]).astype(dtype).reshape(shape)
    raise ValueError(f"no way to make the input {value!r}: expected zeros, iota, full, random or a list")


def digest(arrays):
    """Of types, shapes and bits."""
    hashed = hashlib.sha256()
    for array in arrays:
        array = np.asarray(array)
        hashed.update(f"{array.dtype.name}{list(array.shape)}".encode())
        hashed.update(np.ascontiguousarray(array).tobytes())
    return hashed.hexdigest()[:16]
