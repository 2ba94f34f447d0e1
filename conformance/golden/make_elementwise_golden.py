"""Writes elementwise.txt: what NumPy and ml_dtypes answer for arithmetic and comparisons on every float type and on
integers.

Usage: make_elementwise_golden.py [--out FILE]      (default: elementwise.txt beside this script)

One line for each type and operation: type, operation, the hash of the outputs over the operand pairs, in order. The C++
test semantics/simd/elementwise_golden_test.cc makes the same pairs, computes them on every SIMD target and compares the
hashes.

Pairs: types of 8 bits and fewer, all; wider ones, 2^18 of random bits, every other one with like exponents. A NaN
counts as the type's quiet NaN; a zero that max or min gives counts as +0, since NumPy does not order the zeros, and so
does a zero of the types without NaN, where it may stand for one, with a sign that is this host's. f8e8m0fnu has no
zero: results that ml_dtypes loses below float32's range count as its smallest value. Does not catch: errors of wide
types outside the sample, division by zero of integers, shifts past the width (elementwise_test.cc has those).
"""

import argparse
import pathlib

import numpy as np
from make_dtype_golden import QUIET_NAN, TYPES, U64, fingerprint, np_dtype, raw, splitmix64

NO_NAN = ["f6e2m3fn", "f6e3m2fn", "f4e2m1fn"]
FLOATS = [name for name in TYPES if name[0] in "fb" and name != "bool"]
INTEGERS = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"]
LIKE_EXPONENT = {"f16": 0x8FFF, "bf16": 0x81FF, "f32": 0x81FFFFFF, "f64": 0x803FFFFFFFFFFFFF}  # bits that may differ
BINARY = {"add": np.add, "sub": np.subtract, "mul": np.multiply}
FLOAT_BINARY = {"div": np.divide, "rem": np.fmod}
INT_BINARY = {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}
EITHER = {
    "max": np.maximum,
    "min": np.minimum,
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}
FLOAT_UNARY = {"floor": np.floor, "ceil": np.ceil, "round_even": np.rint, "is_finite": np.isfinite}
BINARY_OF_E8M0 = {"mul": np.multiply, "div": np.divide}


def pairs(name):
    bits = TYPES[name][1]
    if bits <= 8:
        i = np.arange(2 ** (2 * bits), dtype=U64)
        a, b = i >> U64(bits), i & U64(2**bits - 1)
    else:
        i = np.arange(2**18, dtype=U64)
        a, b = splitmix64(i * U64(2)), splitmix64(i * U64(2) + U64(1))
        if name in LIKE_EXPONENT:
            b = np.where(i % U64(2) == U64(1), a ^ (b & U64(LIKE_EXPONENT[name])), b)
    dtype = np_dtype(name)
    unsigned = np.dtype(f"u{dtype.itemsize}")
    return a.astype(unsigned).view(dtype), b.astype(unsigned).view(dtype)


def outputs(name, op, result):
    if result.dtype == np.bool_:
        return result.astype(U64)
    bits = raw(result.astype(np_dtype(name), copy=False))
    values = result.astype(np.float64) if name in FLOATS else result
    if name in FLOATS and name not in NO_NAN:
        bits = np.where(np.isnan(values), U64(nan_of(name)), bits)
    if (op in ("max", "min") and name in FLOATS) or name in NO_NAN:
        bits = np.where(values == 0, U64(0), bits)
    return bits


def below_float32(name, op, a, b):
    """Where the exact result of f8e8m0fnu is positive and float32 has only zero for it."""
    if name != "f8e8m0fnu" or op not in ("mul", "div"):
        return False
    exact = BINARY_OF_E8M0[op](a.astype(np.float64), b.astype(np.float64))
    return exact <= 2.0**-150


def nan_of(name):
    return QUIET_NAN.get(name) or int(raw(np.array([np.nan]).astype(np_dtype(name)))[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path(__file__).with_name("elementwise.txt"))
    out = parser.parse_args().out
    lines = ["# type operation hash: made by make_elementwise_golden.py; do not edit."]
    with np.errstate(all="ignore"):
        for name in FLOATS + INTEGERS:
            a, b = pairs(name)
            lines.append(f"{name} inputs {fingerprint(raw(a) ^ (raw(b) << U64(1))):016x}")
            binary = BINARY | (FLOAT_BINARY if name in FLOATS else INT_BINARY) | EITHER
            for op, function in binary.items():
                bits = np.where(below_float32(name, op, a, b), U64(0), outputs(name, op, function(a, b)))
                lines.append(f"{name} {op} {fingerprint(bits):016x}")
            for op, function in (FLOAT_UNARY if name in FLOATS else {}).items():
                lines.append(f"{name} {op} {fingerprint(outputs(name, op, function(a))):016x}")
    out.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
