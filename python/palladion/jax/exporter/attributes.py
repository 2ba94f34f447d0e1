"""Attributes of instructions and kernels: Python values as kernel text spells them."""

import dataclasses
import enum
import re

import numpy as np

from palladion.base.errors import ExportError
from palladion.base.scalars import DTYPE_NAMES, dtype_name

IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z_0-9]*\Z")


@dataclasses.dataclass(frozen=True)
class Word:
    """A bare word in the text: an enumerator, a name of an element type."""

    text: str


def string_text(text: str) -> str:
    escaped = (
        text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t").replace("\r", "\\r")
    )
    return f'"{escaped}"'


def word_of_enum(value: enum.Enum) -> Word:
    """Enumerators are their Python names in lower case: Precision.HIGHEST is `highest`."""
    return Word(value.name.lower())


def _is_dtype(value) -> bool:
    if isinstance(value, np.dtype):
        return True
    if not isinstance(value, type):
        return hasattr(value, "dtype") and not hasattr(value, "shape")
    try:
        return np.dtype(value).name in DTYPE_NAMES
    except TypeError:
        return False


def attr_text(value) -> str:
    """Raises ExportError for a value that has no spelling, such as a Python function."""
    if value is None:
        return "none"
    if isinstance(value, Word):
        return value.text
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, enum.Enum):
        return word_of_enum(value).text
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        if not np.isfinite(float(value)):
            return string_text(repr(float(value)))
        return repr(float(value))
    if isinstance(value, str):
        return string_text(value)
    if _is_dtype(value):
        return dtype_name(getattr(value, "dtype", value) if not isinstance(value, (np.dtype, type)) else value)
    if isinstance(value, (tuple, list)):
        return "[" + ",".join(attr_text(v) for v in value) + "]"
    if isinstance(value, dict) or hasattr(value, "items"):
        return map_text(dict(value.items()))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return map_text({f.name: getattr(value, f.name) for f in dataclasses.fields(value)})
    raise ExportError(f"a value of Python type {type(value).__name__} ({value!r}) has no spelling as an attribute")


def map_text(attrs: dict) -> str:
    """`{a=1, b=[2,3]}`; keys that are not identifiers are written as a list of pairs under `entries`."""
    if not all(IDENTIFIER.match(str(key)) for key in attrs):
        attrs = {"entries": [[str(key), value] for key, value in attrs.items()]}
    return "{" + ", ".join(f"{key}={attr_text(value)}" for key, value in attrs.items()) + "}"


def attrs_text(attrs: dict) -> str:
    """As map_text, but nothing at all for no attributes."""
    return map_text(attrs) if attrs else ""
