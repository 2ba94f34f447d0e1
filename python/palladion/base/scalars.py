"""Element types and constants as kernel text spells them (docs/spec/kernel-text.md).

Every constant keeps its bits: decimals are the shortest that read back to the same bits of their type, other NaNs than
the type's own quiet one are written as storage bits.
"""

import ml_dtypes  # noqa: F401  registers bfloat16 and its kin with NumPy
import numpy as np

from palladion.base.errors import ExportError

DTYPE_NAMES = {
    "bool": "bool",
    "int2": "i2",
    "int4": "i4",
    "int8": "i8",
    "int16": "i16",
    "int32": "i32",
    "int64": "i64",
    "uint2": "u2",
    "uint4": "u4",
    "uint8": "u8",
    "uint16": "u16",
    "uint32": "u32",
    "uint64": "u64",
    "float16": "f16",
    "bfloat16": "bf16",
    "float32": "f32",
    "float64": "f64",
    "float8_e3m4": "f8e3m4",
    "float8_e4m3": "f8e4m3",
    "float8_e4m3fn": "f8e4m3fn",
    "float8_e4m3b11fnuz": "f8e4m3b11fnuz",
    "float8_e4m3fnuz": "f8e4m3fnuz",
    "float8_e5m2": "f8e5m2",
    "float8_e5m2fnuz": "f8e5m2fnuz",
    "float8_e8m0fnu": "f8e8m0fnu",
    "float6_e2m3fn": "f6e2m3fn",
    "float6_e3m2fn": "f6e3m2fn",
    "float4_e2m1fn": "f4e2m1fn",
}
NUMPY_NAMES = {text: numpy for numpy, text in DTYPE_NAMES.items()}

SHORT_LIST = 16  # integer arrays up to this size are written as lists, all others as hex


def dtype_name(dtype) -> str:
    name = np.dtype(dtype).name
    if name not in DTYPE_NAMES:
        raise ExportError(f"element type {name} has no kernel-text type; expected one of {', '.join(DTYPE_NAMES)}")
    return DTYPE_NAMES[name]


def numpy_dtype(name: str) -> np.dtype:
    """The NumPy (or ml_dtypes) type of a kernel-text type name."""
    numpy_name = NUMPY_NAMES[name]
    return np.dtype(getattr(ml_dtypes, numpy_name)) if hasattr(ml_dtypes, numpy_name) else np.dtype(numpy_name)


def _storage_bits(value: np.ndarray) -> int:
    return int.from_bytes(value.tobytes(), "little")


def _shortest_decimal(value: np.ndarray) -> str:
    """The shortest decimal that reads back to the bits of the finite scalar `value`."""
    exact = float(value)
    with np.errstate(over="ignore"):  # a short decimal near the largest value may round to infinity
        for digits in range(1, 18):
            text = f"{exact:.{digits}g}"
            if np.asarray(float(text), value.dtype).tobytes() == value.tobytes():
                break
    if "e" in text or "." in text:
        return text
    return text + ".0"


def literal_text(value, dtype, weak: bool = False) -> str:
    """One scalar, with its type: `1.0:f32`, `-3:i32`, `true`, `nan:bf16`, `0x7fc00001:f32`."""
    name = dtype_name(dtype)
    if name == "bool":
        return "true" if bool(value) else "false"
    suffix = f":{'~' if weak else ''}{name}"
    if name[0] in "iu":
        return f"{int(value)}{suffix}"
    scalar = np.asarray(value, dtype)
    number = float(scalar)
    if np.isnan(number):
        same = scalar.tobytes() == np.asarray(np.nan, dtype).tobytes()
        return f"nan{suffix}" if same else f"0x{_storage_bits(scalar):x}{suffix}"
    if np.isinf(number):
        return f"{'-' if number < 0 else ''}inf{suffix}"
    return _shortest_decimal(scalar) + suffix


def dims_text(shape) -> str:
    return "[" + ",".join(str(d) for d in shape) + "]"


def dense_text(array) -> str:
    """A constant array written in place."""
    array = np.ascontiguousarray(array)
    name = dtype_name(array.dtype)
    head = f"dense<{name}{dims_text(np.shape(array))} "
    if name[0] in "iu" and array.size <= SHORT_LIST:
        return head + "[" + ",".join(str(int(x)) for x in array.reshape(-1)) + "]>"
    return head + f'hex "{array.tobytes().hex()}">'
