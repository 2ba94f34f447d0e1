"""Correctly rounded float32 results of elementary functions, from MPFR through ctypes.

Each function is computed to 200 bits and then rounded once to float32; no float32 input is known that needs more.
"""

import ctypes
import ctypes.util

import numpy as np

PRECISION = 200
NEAREST = 0  # MPFR_RNDN


class _Number(ctypes.Structure):  # __mpfr_struct of mpfr.h
    _fields_ = [
        ("precision", ctypes.c_long),
        ("sign", ctypes.c_int),
        ("exponent", ctypes.c_long),
        ("limbs", ctypes.c_void_p),
    ]


def _library():
    name = ctypes.util.find_library("mpfr")
    if name is None:
        raise RuntimeError("libmpfr is not installed; on Debian: apt install libmpfr6")
    library = ctypes.CDLL(name)
    library.mpfr_get_flt.restype = ctypes.c_float
    library.mpfr_set_d.argtypes = [ctypes.c_void_p, ctypes.c_double, ctypes.c_int]
    return library


_MPFR = _library()


def _new(value=0.0):
    number = _Number()
    _MPFR.mpfr_init2(ctypes.byref(number), ctypes.c_long(PRECISION))
    _MPFR.mpfr_set_d(ctypes.byref(number), float(value), NEAREST)
    return number


def _rounded(number):
    return np.float32(_MPFR.mpfr_get_flt(ctypes.byref(number), NEAREST))


def _apply(name, *operands):
    result = _new()
    getattr(_MPFR, f"mpfr_{name}")(ctypes.byref(result), *(ctypes.byref(o) for o in operands), NEAREST)
    return result


def _one_over(x):
    result = _new()
    _MPFR.mpfr_ui_div(ctypes.byref(result), ctypes.c_ulong(1), ctypes.byref(x), NEAREST)
    return result


_NAMES = {"rsqrt": "rec_sqrt"}


def function(name):
    """The function of that JAX name over float32 arrays of one or two operands."""

    def scalar(*values):
        if name == "logistic":
            return _rounded(_one_over(_apply("add", _apply("exp", _new(-values[0])), _new(1.0))))
        return _rounded(_apply(_NAMES.get(name, name), *(_new(v) for v in values)))

    return lambda *arrays: np.array([scalar(*(float(v) for v in row)) for row in zip(*arrays)], np.float32)
