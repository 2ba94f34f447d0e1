"""Writes npy/*.npy as NumPy writes them, for semantics/tensor/npy_test.cc to read and to write alike.

Usage: make_npy_golden.py [--out DIR]      (default: the folder npy beside this script)
"""

import argparse
import pathlib

import ml_dtypes
import numpy as np


def arrays():
    """File name -> (array, format version or None for numpy.save's own choice)."""
    count = np.arange(24)
    return {
        "f32": (count[:6].reshape(2, 3).astype("<f4") - 2.5, None),
        "f32_fortran": (np.asfortranarray(count.reshape(2, 3, 4).astype("<f4")), None),
        "f64_rank0": (np.float64(0.1), None),
        "i64_v2": (count[:4].astype("<i8") - 2, (2, 0)),
        "i16_v3": (count[:4].astype("<i2") - 2, (3, 0)),
        "u16_empty": (np.zeros((2, 0), "<u2"), None),
        "bool": (np.array([True, False, True]), None),
        "bf16": (np.array([[1, -2], [np.nan, 0.5]], ml_dtypes.bfloat16), None),
        "f8e4m3fn": (np.array([1, -2, np.nan], ml_dtypes.float8_e4m3fn), None),
        "f8e5m2": (np.array([1, -2, np.nan], ml_dtypes.float8_e5m2), None),  # descr "<f1", which numpy.load refuses
        "i4": (np.arange(-8, 8).astype(ml_dtypes.int4), None),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path(__file__).with_name("npy"))
    out = parser.parse_args().out
    out.mkdir(exist_ok=True)
    for name, (array, version) in arrays().items():
        with open(out / f"{name}.npy", "wb") as file:
            np.lib.format.write_array(file, np.asanyarray(array), version=version)


if __name__ == "__main__":
    main()
