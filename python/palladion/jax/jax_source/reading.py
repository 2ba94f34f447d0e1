"""Kernel text as Python sees it: the JSON of the library (docs/guides/to-jax.md),
and its constants and attributes as Python values.

C++ has the one parser; nothing here reads kernel text.
"""

import numpy as np

from palladion import _library
from palladion.base.errors import ToJaxError
from palladion.base.scalars import numpy_dtype
from palladion.jax.exporter.attributes import Word


def read_kernel(text: str, name: str | None = None) -> dict:
    """The kernel `name` of the text, or its only one; constants stand where they are used."""
    kernels = _library.text_json(text)["kernels"]
    if name is None and len(kernels) > 1:
        raise ToJaxError(
            f"the text has {len(kernels)} kernels ({', '.join(k['name'] for k in kernels)}); say which one with kernel="
        )
    found = [kernel for kernel in kernels if name in (None, kernel["name"].removeprefix("@"))]
    if not found:
        raise ToJaxError(f"the text has no kernel {name!r}; it has {', '.join(k['name'] for k in kernels)}")
    return found[0]


def attribute(value):
    """An attribute as a Python value: words are `Word`, lists are tuples."""
    if isinstance(value, list):
        return tuple(attribute(one) for one in value)
    if isinstance(value, dict):
        [(kind, inner)] = value.items()
        if kind == "word":
            return Word(inner)
        if kind == "float":
            return _float(inner)
        return {key: attribute(one) for key, one in inner.items()}
    return value


def _float(text: str) -> float:
    """A number of kernel text; 0x is the bits of an f64."""
    return np.array(int(text, 16), np.uint64).view(np.float64).item() if text.startswith("0x") else float(text)


def attributes(attrs: dict) -> dict:
    return {name: attribute(value) for name, value in attrs.items()}


def dense_array(dense: dict) -> np.ndarray:
    """The array constant, in its own type."""
    return np.frombuffer(bytes.fromhex(dense["bytes"]), numpy_dtype(dense["dtype"])).reshape(dense["shape"])


def literal_value(literal: dict) -> np.ndarray:
    return np.frombuffer(bytes.fromhex(literal["bytes"]), numpy_dtype(literal["dtype"])).reshape(())


def instructions(region: dict):
    """Every instruction of a region and of the regions inside it."""
    for instr in region["body"]:
        yield instr
        for inner in instr["regions"]:
            yield from instructions(inner)


def all_regions(kernel: dict):
    """The bodies and the index maps of a kernel, without the regions inside them."""
    yield from (body["region"] for body in kernel["bodies"])
    yield from (operand["block"]["map"] for operand in kernel["operands"] if operand["block"])


def all_types(kernel: dict):
    """The types of operands, parameters and results."""
    yield from (operand["type"] for operand in kernel["operands"])
    for region in all_regions(kernel):
        yield from _types_of(region)


def _types_of(region):
    yield from (param["type"] for param in region["params"] or ())
    for instr in region["body"]:
        yield from instr["types"]
        for inner in instr["regions"]:
            yield from _types_of(inner)
