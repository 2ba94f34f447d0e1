"""Values of kernel text as Python source: element types, constants, attributes, names."""

import builtins
import keyword

import numpy as np

from palladion.base.scalars import NUMPY_NAMES
from palladion.jax.exporter.attributes import Word
from palladion.jax.exporter.names import sanitized

_PLAIN = {"f32": "np.float32", "f64": "np.float64", "f16": "np.float16"}
_WEAK = ("f32", "i32")  # what JAX makes of Python's own numbers


def dtype_text(name: str) -> str:
    """`jnp.float32`; types that jax.numpy does not export are those of ml_dtypes, by name."""
    numpy_name = NUMPY_NAMES[name]
    return f"jnp.{numpy_name}" if numpy_name != "bool" else "jnp.bool_"


def number_text(value: np.ndarray, name: str) -> str:
    """A scalar of its own type; every bit of it."""
    if name == "bool":
        return str(bool(value))
    if name[0] in "iu":
        scalar = str(int(value))
        return f"np.{NUMPY_NAMES[name]}({scalar})" if int(name[1:]) >= 8 else f"np.array({scalar}, {dtype_text(name)})"
    number = float(value)
    if not np.isfinite(number):
        same = np.asarray(number, value.dtype).tobytes() == value.tobytes()
        if not same:
            bits = int.from_bytes(value.tobytes(), "little")
            return f"np.array({bits:#x}, np.uint{8 * value.dtype.itemsize}).view({dtype_text(name)})"
        scalar = "np.nan" if np.isnan(number) else "np.inf" if number > 0 else "-np.inf"
    else:
        scalar = repr(number)
    return f"{_PLAIN[name]}({scalar})" if name in _PLAIN else f"np.array({scalar}, {dtype_text(name)})"


def literal_text(value: np.ndarray, name: str, weak: bool) -> str:
    """A weak one is one of Python's numbers, where JAX gives those the same type."""
    if weak and name in _WEAK and np.isfinite(float(value)):
        return repr(value.item()) if name == "i32" else repr(float(value))
    return number_text(value, name)


def dense_text(array: np.ndarray, name: str) -> str:
    if name[0] in "iub":
        return f"np.array({array.tolist()}, {dtype_text(name)})"
    words = array.view(f"u{array.dtype.itemsize}").tolist() if array.size else []
    finite = array.size and np.isfinite(array.astype(np.float64)).all()
    if finite or not array.size:
        return f"np.array({array.astype(np.float64).tolist()}, {dtype_text(name)}).reshape({tuple(array.shape)})"
    return f"np.array({words}, np.uint{8 * array.dtype.itemsize}).view({dtype_text(name)})"


def shape_text(shape) -> str:
    return repr(tuple(shape))


class PythonNames:
    """Names of Python's own for the values of a kernel: `%0` is `v0`, `%lambda` is `lambda_`,
    one for each value's name.
    """

    def __init__(self, taken):
        self._taken = set(taken) | set(keyword.kwlist) | set(dir(builtins))
        self._given = {}

    def of(self, name: str) -> str:
        if name not in self._given:
            self._given[name] = self.fresh(name)
        return self._given[name]

    def fresh(self, hint: str) -> str:
        base = sanitized(hint).replace("$", "_") or "v"
        base = base if not base[0].isdigit() else "v" + base
        name, number = base, 0
        while name in self._taken:
            number += 1
            name = f"{base}_{number}" if number > 1 or base[-1] == "_" else base + "_"
        self._taken.add(name)
        return name


def tuple_text(texts) -> str:
    return f"({', '.join(texts)}{',' if len(texts) == 1 else ''})"


def attribute_text(value) -> str:
    """An attribute as Python source: words are element types, or strings for a caller that knows what they are."""
    if isinstance(value, Word):
        return dtype_text(value.text) if value.text in NUMPY_NAMES else repr(value.text)
    if isinstance(value, tuple):
        return tuple_text([attribute_text(one) for one in value])
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {attribute_text(one)}" for key, one in value.items()) + "}"
    if isinstance(value, float) and value != value:
        return "float('nan')"
    return repr(value)
