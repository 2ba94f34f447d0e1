"""The numbers of a conformance case (docs/spec/cases.md), read in Python, for tests that run a case's kernel elsewhere
than in Palladion.

Not read: keys, `either`, hashes and printed lines.
"""

import pathlib
import re
import sys

import numpy as np

from palladion.base.scalars import numpy_dtype

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "conformance"))
import case_files  # noqa: E402 - it lies outside of the package

_CALL = re.compile(r"(\w+)(?:\((.*)\))?$")


class Unread(Exception):
    """What this reader does not know, or what makes a case no question of numbers."""


def _sections(case: str) -> dict:
    parts = re.split(r"^--- (\w+)\n", case_files.text_of(case), flags=re.MULTILINE)
    return {"header": parts[0], **dict(zip(parts[1::2], parts[2::2]))}


def _assignments(section: str) -> dict:
    text = "\n".join(line.partition("//")[0] for line in section.splitlines())
    return dict(
        re.findall(
            r"^(?:hash )?(\w+) (?:= |either )((?:\[[^\]]*\]|[^\[\n]+)(?: *\| *\[[^\]]*\])*[^\n]*)",
            text,
            flags=re.MULTILINE,
        )
    )


def _element(word: str, dtype: np.dtype):
    if word.startswith("0x"):
        return np.array(int(word, 16), f"u{dtype.itemsize}").view(dtype)[()]
    if word in ("true", "false"):
        return np.array(word == "true", dtype)[()]
    return np.array(int(word) if dtype.kind in "iu" or dtype.name.startswith(("int", "uint")) else float(word), dtype)[
        ()
    ]


def _splitmix(seed: int, count: int) -> np.ndarray:
    with np.errstate(over="ignore"):
        z = np.uint64(seed) + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def _made(name: str, arguments: str, count: int, dtype: np.dtype) -> np.ndarray:
    if name == "zeros":
        return np.zeros(count, dtype)
    if name == "iota":
        return np.arange(count, dtype=np.int64).astype(dtype)
    if name == "full":
        return np.full(count, _element(arguments, dtype))
    if name == "random":
        given = dict(pair.strip().split("=") for pair in arguments.split(","))
        unit = (_splitmix(int(given["seed"]), count) >> np.uint64(11)).astype(np.float64) / 2.0**53
        low, high = float(given["lo"]), float(given["hi"])
        return (low + (high - low) * unit).astype(dtype)
    if name == "random_bits":
        bits = _splitmix(int(arguments), count)
        if dtype == np.bool_:
            return (bits & np.uint64(1)).astype(np.bool_)
        return bits.astype(f"u{dtype.itemsize}").view(dtype)
    raise Unread(f"the value {name}")


def _array(text: str, operand: dict) -> np.ndarray:
    if operand["type"]["kind"] != "array":
        raise Unread("keys and semaphores")
    dtype, shape = numpy_dtype(operand["type"]["dtype"]), operand["type"]["shape"]
    count = int(np.prod(shape))
    text = text.strip()
    if text.startswith("["):
        words = [word.strip() for word in text[1 : text.index("]")].split(",") if word.strip()]
        return np.array([_element(word, dtype) for word in words], dtype).reshape(shape)
    call = _CALL.match(text)
    return _made(call[1], call[2] or "", count, dtype).reshape(shape)


def inputs_of(case: str, kernel: dict) -> list:
    """The inputs, in the order of a call."""
    given = _assignments(_sections(case).get("inputs", ""))
    return [_array(given[o["name"]], o) for o in kernel["operands"] if o["role"] in ("bound", "prefetch", "in")]


def expected_of(case: str, kernel: dict) -> list:
    """(array, ulps that it may be away) of each output. Unread for cases that end otherwise than with numbers, and
    those without.
    """
    sections = _sections(case)
    if re.search(r"^# (exit|finding|error):", sections["header"], flags=re.MULTILINE):
        raise Unread("a case of what is wrong")
    found = _assignments(sections.get("expect", ""))
    outputs = [o for o in kernel["operands"] if o["role"] == "out"]
    if not outputs or any(not found.get(o["name"], "").startswith("[") or "|" in found[o["name"]] for o in outputs):
        raise Unread("no outputs as lists")
    return [
        (_array(found[o["name"]], o), int(([*re.findall(r"\] ulp (\d+)", found[o["name"]])] or [0])[0]))
        for o in outputs
    ]


def ulps_apart(found: np.ndarray, expected: np.ndarray) -> int:
    """The most steps between two numbers; NaNs are equal, and infinitely far from all else."""
    if found.dtype != expected.dtype or found.shape != expected.shape:
        return -1
    if expected.dtype.kind in "biu" or expected.dtype.name.startswith(("int", "uint")):
        return 0 if np.array_equal(found, expected) else 2**62
    size = expected.dtype.itemsize
    nan = np.isnan(expected.astype(np.float64))
    if not np.array_equal(nan, np.isnan(found.astype(np.float64))):
        return 2**62

    def steps(array):
        bits = np.ascontiguousarray(array).view(f"i{size}").astype(object)
        return np.where(bits < 0, -(bits + 2 ** (8 * size - 1)), bits)

    apart = np.abs(steps(found) - steps(expected))
    apart = np.where(nan, 0, apart)
    zero = (found.astype(np.float64) == 0) & (expected.astype(np.float64) == 0)
    signs = np.signbit(found.astype(np.float64)) == np.signbit(expected.astype(np.float64))
    return 2**62 if np.any(zero & ~signs & ~nan) else int(apart.max(initial=0))
