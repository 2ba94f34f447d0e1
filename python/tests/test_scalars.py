"""Constants keep their bits: every 8-bit and 16-bit value against ml_dtypes, read back by Python's number parser."""

import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest

from palladion.base.errors import ExportError
from palladion.base.scalars import DTYPE_NAMES, dtype_name, literal_text, numpy_dtype


def read_back(text: str) -> np.ndarray:
    """An independent reader of one literal."""
    number, name = text.rsplit(":", 1)
    dtype = numpy_dtype(name.removeprefix("~"))
    if number.startswith("0x"):
        return np.frombuffer(int(number, 16).to_bytes(dtype.itemsize, "little"), dtype)[0]
    return np.asarray(int(number) if dtype_name(dtype)[0] in "iu" else float(number), dtype)


ONE_BYTE = [n for n in DTYPE_NAMES if n.startswith("float") and numpy_dtype(DTYPE_NAMES[n]).itemsize == 1]


@pytest.mark.parametrize("name", [*ONE_BYTE, "float16", "bfloat16"])
def test_every_value(name):
    dtype = numpy_dtype(DTYPE_NAMES[name])
    bits = {"float4_e2m1fn": 16, "float6_e2m3fn": 64, "float6_e3m2fn": 64}.get(name, 256**dtype.itemsize)
    for value in np.arange(bits, dtype=f"u{dtype.itemsize}").view(dtype):
        text = literal_text(value, dtype)
        assert read_back(text).tobytes() == value.tobytes(), text


def test_floats_are_short():
    assert literal_text(0.1, np.float32) == "0.1:f32"
    assert literal_text(np.float32(1) / 3, np.float32) == "0.33333334:f32"
    assert literal_text(-0.0, np.float32) == "-0.0:f32"
    assert literal_text(1e30, jnp.bfloat16, weak=True) == "1e+30:~bf16"
    assert literal_text(float(np.finfo(np.float32).max), np.float32) == "3.4028235e+38:f32"
    assert literal_text(5e-324, np.float64) == "5e-324:f64"
    assert literal_text(-np.inf, np.float32) == "-inf:f32"
    assert literal_text(np.nan, np.float32) == "nan:f32"
    payload = np.frombuffer(np.uint32(0xFFC00123).tobytes(), np.float32)[0]
    assert literal_text(payload, np.float32) == "0xffc00123:f32"


def test_random_floats_of_each_width():
    words = np.random.default_rng(0).integers(0, 2**64, 3000, dtype=np.uint64)
    for dtype, unsigned in ((np.float32, np.uint32), (np.float64, np.uint64)):
        for value in words.astype(unsigned).view(dtype):
            assert read_back(literal_text(value, dtype)).tobytes() == value.tobytes()


def test_integers_and_bools():
    assert literal_text(-8, ml_dtypes.int4) == "-8:i4"
    assert literal_text(2**64 - 1, np.uint64) == "18446744073709551615:u64"
    assert literal_text(True, np.bool_) == "true"


def test_types_without_a_name_are_refused():
    with pytest.raises(ExportError, match="complex64"):
        dtype_name(np.complex64)
