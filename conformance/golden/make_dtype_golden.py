"""Writes dtypes.txt: what NumPy, ml_dtypes and JAX answer for every conversion between element types.

Usage: make_dtype_golden.py [--out FILE] [--every N]      (default: dtypes.txt beside this script)

With --every 3, the lines of every third type: a sample of the file.

One line for each pair: from, to, the hash of the outputs over the inputs of `from`, in order. The C++ test
semantics/tensor/convert_golden_test.cc makes the same inputs, converts them itself and compares the hashes.

Inputs: types of 16 bits and fewer, every code in order. Wider ones, a fixed sample (see the functions below) that
holds, for every type of up to 10 mantissa bits, each value, each midpoint of neighbours, and what lies one ulp beside
both.

Whose answer is taken, and why, is in answer(). NaN payloads are not compared: a NaN counts as the type's quiet NaN with
its sign. Does not catch: wrong conversions of wide values outside the samples.
"""

import argparse
import functools
import pathlib
import warnings

import jax
import ml_dtypes
import numpy as np

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_platforms", "cpu")

# Kernel text's name -> (NumPy's name, bits), in the order of semantics/base/dtype.h.
TYPES = {
    "bool": ("bool", 1),
    "i2": ("int2", 2),
    "i4": ("int4", 4),
    "i8": ("int8", 8),
    "i16": ("int16", 16),
    "i32": ("int32", 32),
    "i64": ("int64", 64),
    "u2": ("uint2", 2),
    "u4": ("uint4", 4),
    "u8": ("uint8", 8),
    "u16": ("uint16", 16),
    "u32": ("uint32", 32),
    "u64": ("uint64", 64),
    "f16": ("float16", 16),
    "bf16": ("bfloat16", 16),
    "f32": ("float32", 32),
    "f64": ("float64", 64),
    "f8e3m4": ("float8_e3m4", 8),
    "f8e4m3": ("float8_e4m3", 8),
    "f8e4m3fn": ("float8_e4m3fn", 8),
    "f8e4m3b11fnuz": ("float8_e4m3b11fnuz", 8),
    "f8e4m3fnuz": ("float8_e4m3fnuz", 8),
    "f8e5m2": ("float8_e5m2", 8),
    "f8e5m2fnuz": ("float8_e5m2fnuz", 8),
    "f8e8m0fnu": ("float8_e8m0fnu", 8),
    "f6e2m3fn": ("float6_e2m3fn", 6),
    "f6e3m2fn": ("float6_e3m2fn", 6),
    "f4e2m1fn": ("float4_e2m1fn", 4),
}
QUIET_NAN = {"f16": 0x7E00, "bf16": 0x7FC0, "f32": 0x7FC00000, "f64": 0x7FF8000000000000, "f8e5m2": 0x7E}
U64 = np.uint64


def np_dtype(name):
    spelled = TYPES[name][0]
    return np.dtype(getattr(ml_dtypes, spelled, spelled))


def raw(a):
    """The elements' bits as uint64; sub-byte types without the bits above their own."""
    bits = a.view(np.dtype(f"u{a.dtype.itemsize}")).astype(U64)
    name = next(n for n in TYPES if np_dtype(n) == a.dtype)
    return bits & U64(2 ** TYPES[name][1] - 1)


def splitmix64(x):
    x = (x + U64(0x9E3779B97F4A7C15)).astype(U64)
    x = (x ^ (x >> U64(30))) * U64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> U64(27))) * U64(0x94D049BB133111EB)
    return x ^ (x >> U64(31))


@functools.cache
def positions(size):
    """splitmix64(i) of every position: a handful of sizes, and hundreds of pairs of types."""
    return splitmix64(np.arange(size, dtype=U64))


def fingerprint(bits):
    """Sum over i of splitmix64(splitmix64(i) ^ bits[i]) modulo 2^64: depends on every output and its position."""
    return int(splitmix64(positions(bits.size) ^ bits).sum(dtype=U64))


def f32_sample():
    top = np.arange(2**20, dtype=np.uint32) << np.uint32(12)
    return np.stack([top, top + np.uint32(1), top + np.uint32(0xFFF)], axis=1).reshape(-1).view(np.float32)


def f64_sample():
    top = np.arange(2**20, dtype=np.uint32) << np.uint32(12)
    with np.errstate(invalid="ignore"):
        top = top[np.isfinite(top.view(np.float32))].view(np.float32).astype(np.float64).view(U64)
    half = U64(2**28)  # half an ulp of a normal float32
    near = np.stack([top, top + U64(1), top - U64(1), top + half, top + half + U64(1), top + half - U64(1)], axis=1)
    subnormal = ((np.arange(2**16) + 0.5) * 2.0**-149).view(U64)
    subnormal = np.stack([subnormal, subnormal + U64(1), subnormal - U64(1)], axis=1)
    random = splitmix64(np.arange(2**16, dtype=U64))
    return np.concatenate([near.reshape(-1), subnormal.reshape(-1), random]).view(np.float64)


def int_sample(dtype):
    """Random bits at random magnitudes, and both sides of every power of two."""
    random = splitmix64(np.arange(2**18, dtype=U64))
    random = random >> (splitmix64(random) % U64(64))
    power = U64(1) << np.arange(64, dtype=U64)
    near = np.concatenate([power, power - U64(1), power + U64(1)])
    both = np.concatenate([random, near])
    return np.concatenate([both, U64(0) - both]).astype(dtype)


def inputs(name):
    dtype, bits = np_dtype(name), TYPES[name][1]
    if bits <= 16:
        return np.arange(2**bits).astype(np.uint16 if bits == 16 else np.uint8).view(dtype)
    if name == "f32":
        return f32_sample()
    if name == "f64":
        return f64_sample()
    return int_sample(dtype)


def is_float(name):
    return name[0] == "f" or name == "bf16"


def jax_answer(x, to):
    x = jax.device_put(x)  # from 0.11 NumPy converts its own arrays, and some pairs of types it cannot
    once = {"xla_backend_optimization_level": 0}  # each pair runs once: compiling is what costs
    convert = jax.jit(lambda value: jax.lax.convert_element_type(value, np_dtype(to)), compiler_options=once)
    return np.asarray(convert(x))


def round_to_odd(x, narrow):
    """x as `narrow`, truncated, the last bit set where something was lost: what a second rounding cannot mistake."""
    near = x.astype(narrow)
    bits = near.view(np.dtype(f"u{near.dtype.itemsize}"))
    with np.errstate(invalid="ignore"):
        lost = np.isfinite(x) & (near.astype(x.dtype) != x)
        too_far = lost & (np.abs(near.astype(x.dtype)) > np.abs(x))
    return np.where(lost, (bits - too_far) | 1, bits).astype(bits.dtype).view(narrow)


def int_as_odd_f64(x):
    """A 64-bit integer as the double that every narrower type rounds alike."""
    negative = x < 0
    magnitude = np.where(negative, U64(0) - x.astype(U64), x.astype(U64))
    folded = (magnitude >> U64(11)) | (magnitude & U64(0x7FF) != 0).astype(U64)
    value = np.where(magnitude < U64(2**53), magnitude.astype(np.float64), folded.astype(np.float64) * 2048.0)
    return np.where(negative, -value, value)


def f64_answer(x, to):
    """f64 -> float, rounded once. NumPy's own types do that; ml_dtypes goes through float32, so that step is made
    harmless."""
    if to in ("f16", "f32", "f64"):
        return x.astype(np_dtype(to))
    y = round_to_odd(x, np.float32).astype(np_dtype(to))
    if to == "f4e2m1fn":  # NaN as XLA gives it from every type; its f64 -> f4 rounds twice
        y.view(np.uint8)[np.isnan(x)] = 0x8
    return y


def float_answer(x, frm, to):
    """Float -> float of at most 32 bits. ml_dtypes, but for what it gets wrong and JAX does not."""
    six_bit = ("f6e2m3fn", "f6e3m2fn")  # XLA's CPU backend has no six-bit types
    if frm == "f8e8m0fnu" or to == "f8e8m0fnu":
        # ml_dtypes 0.5 takes the step between this type and narrow ones for an overflow where either is subnormal.
        if frm in six_bit:
            return jax_answer(x.astype(np.float32), to)
        if to in six_bit:
            return x.astype(np.float32).astype(np_dtype(to))
        return jax_answer(x, to)
    if frm.endswith("uz") and is_float(to):  # one NaN without a sign; ml_dtypes reads its code's top bit as one
        if to in six_bit:
            y = x.astype(np_dtype(to))
            y.view(np.uint8)[np.isnan(x)] = 0x20
            return y
        return jax_answer(x, to)
    if to == "f4e2m1fn" and frm not in six_bit:
        return jax_answer(x, to)
    return x.astype(np_dtype(to))


def answer(x, frm, to):
    """The outputs our conversions must give; convert.h has the rules in words."""
    if to == "bool":
        return x.astype(np.float64 if TYPES[frm][1] < 64 else x.dtype) != 0  # XLA flushes subnormals first
    if is_float(frm) and not is_float(to):  # XLA saturates; NumPy and ml_dtypes leave it to the processor
        if frm in ("f4e2m1fn", "f6e2m3fn", "f6e3m2fn"):
            # No six-bit types in XLA; and from f4 it takes 6, the largest value, for one beyond every integer.
            x = x.astype(np.float32)
        return jax_answer(x, to)
    if not is_float(to):
        return x.astype(np.int64 if frm != "u64" else U64).astype(np_dtype(to))
    if frm == "f64":
        return f64_answer(x, to)
    if is_float(frm):
        return float_answer(x, frm, to)
    if to in ("f32", "f64"):
        return x.astype(np_dtype(to))
    x = int_as_odd_f64(x) if TYPES[frm][1] == 64 else x.astype(np.float64)
    return f64_answer(x, to)


def canonical(y, to):
    bits = raw(y)
    if to in QUIET_NAN:
        with np.errstate(invalid="ignore"):
            nan = np.isnan(y)
        sign = bits & U64(1 << (TYPES[to][1] - 1))
        bits = np.where(nan, sign | U64(QUIET_NAN[to]), bits)
    return bits


def golden_text(every=1):
    lines = ["# from to hash: made by make_dtype_golden.py; do not edit."]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # overflow and invalid are the point of these inputs
        for frm in list(TYPES)[::every]:
            x = inputs(frm)
            lines += [f"{frm} inputs {fingerprint(raw(x)):016x}"]
            lines += [f"{frm} {to} {fingerprint(canonical(answer(x, frm, to), to)):016x}" for to in TYPES if to != frm]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path(__file__).with_name("dtypes.txt"))
    parser.add_argument("--every", type=int, default=1, metavar="N")
    options = parser.parse_args()
    options.out.write_text(golden_text(options.every))


if __name__ == "__main__":
    main()
