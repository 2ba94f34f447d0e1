"""Kernel text -> JAX -> kernel text, and what counts as the same text.

Names, labels, places, the producer and what the text says of its chip (`arch`, `options`) are not compared. Both texts
are in the form of jax_source/folding.py. What a text may leave out is filled in: the memory space of an operand is its
ref's, a block that is the whole array is none, and a slice of a whole dimension is `*`.
"""

import contextlib
import pathlib
import string
import sys

import jax
import numpy as np

import palladion
from palladion import _library
from palladion.base.scalars import numpy_dtype
from palladion.jax.jax_source import reading
from palladion.jax.jax_source.folding import count_uses, folded
from palladion.jax.jax_source.memory import backend_of
from palladion.jax.jax_source.value_ops import VALUE_OPS

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "conformance"))
import case_files  # noqa: E402 - it lies outside of the package

_WIDE = ("i64", "u64", "f64")


def kernel_text(case: str) -> str:
    """Of the case "folder/name"."""
    text = case_files.text_of(case).split("--- kernel\n", 1)[1]
    return text.split("--- inputs\n")[0].split("--- expect\n")[0]


def parsed_text(case: str) -> str | None:
    """None where the case is about a text that cannot be read."""
    text = kernel_text(case)
    try:
        _library.kernel_names(text)
    except _library.PalladionError:
        return None
    return text


def inputs(kernel: dict) -> list:
    return [o for o in kernel["operands"] if o["role"] in ("bound", "prefetch", "in")]


def input_types(kernel: dict) -> list:
    return [_abstract(o["type"]) for o in inputs(kernel)]


def _abstract(t):
    if t["kind"] == "key":
        impl = {"fry": "threefry2x32", "rbg": "rbg", "urbg": "unsafe_rbg"}[t["key"]]
        return jax.ShapeDtypeStruct(tuple(t["shape"]), jax.random.key(0, impl=impl).dtype)
    return jax.ShapeDtypeStruct(tuple(t["shape"]), numpy_dtype(t["dtype"]))


def wide(kernel: dict):
    """A context in which arrays of 64 bits are what they are, where the kernel has any."""
    needed = any(t.get("dtype") in _WIDE for t in reading.all_types(kernel))
    return jax.enable_x64(True) if needed else contextlib.nullcontext()


def again(text: str, name: str | None = None) -> str:
    """The text of what the text is in JAX."""
    kernel = reading.read_kernel(text, name)
    with wide(kernel):
        return palladion.export(palladion.to_jax(text, kernel=name), *input_types(kernel))


def normal(text: str, name: str | None = None) -> dict:
    """The kernel as plain data that is equal where the texts mean the same kernel."""
    kernel = folded(reading.read_kernel(text, name))
    return _Normal(kernel).kernel()


_EFFECTS = ("debug_print", "delay", "debug_barrier", "prng_seed", "prng_random_bits", "triton.elementwise_inline_asm")


def _is_pure(instr) -> bool:
    if instr["name"] in ("scan", "while", "cond"):
        return all(_is_pure(inner) for region in instr["regions"] for inner in region["body"])
    return instr["name"] == "get" or instr["name"] in VALUE_OPS and instr["name"] not in _EFFECTS


def _without_dead(region, uses):
    """JAX leaves out operations without effects, reads included, that have no used results."""
    kept = []
    for instr in reversed(region["body"]):
        if _is_pure(instr) and not any(uses.get(result, 0) for result in instr["results"]):
            gone = {}
            count_uses({"body": [instr], "results": []}, gone)
            for value, number in gone.items():
                uses[value] -= number
            continue
        kept.append(instr)
        for inner in instr["regions"]:
            _without_dead(inner, uses)
    region["body"] = kept[::-1]


class _Normal:
    def __init__(self, kernel):
        self.given = kernel
        self.numbers, self.types, self.uses, self.count = {}, {}, {}, 0
        for region in reading.all_regions(kernel):
            count_uses(region, self.uses)
        for region in reading.all_regions(kernel):
            _without_dead(region, self.uses)

    def number(self, value, value_type=None):
        if value_type is not None or value not in self.numbers:
            self.numbers[value], self.types[value] = self.count, value_type
            self.count += 1
        return self.numbers[value]

    def kernel(self):
        given = self.given
        operands = sorted(
            given["operands"], key=lambda o: ("bound", "prefetch", "in", "out", "scratch").index(o["role"])
        )
        for operand in operands:
            self.number(operand["name"], operand["type"])
        spaces = self._spaces(operands)
        return {
            "backend": backend_of(given),
            "params": given["params"],
            "other": {k: v for k, v in given["other"].items() if k not in ("options", "arrays")},
            "arrays": self._arrays(),
            "grid": [self.number(size) if isinstance(size, str) else size for size in given["grid"]],
            "grid_names": given["grid_names"],
            "vmapped": given["vmapped"],
            "mesh": given["mesh"],
            "mesh_attrs": given["mesh_attrs"],
            "operands": [self.operand(operand, space) for operand, space in zip(operands, spaces)],
            "bodies": [(body["mesh"], self.region(body["region"])) for body in given["bodies"]],
        }

    def _arrays(self):
        """Where the arrays of operands lie between kernels; the text has them by name."""
        arrays = self.given["other"].get("arrays", {})
        return {self.number(name): space.text for name, space in reading.attributes(arrays.get("map", arrays)).items()}

    def _spaces(self, operands):
        params = self.given["bodies"][0]["region"]["params"]
        own = [o for o in operands if o["role"] != "bound"]
        found = {o["name"]: param["type"].get("space") for o, param in zip(own, params)}
        return [operand["space"] or found.get(operand["name"]) for operand in operands]

    def operand(self, operand, space):
        block = operand["block"]
        if block and self.whole(block, operand["type"]["shape"]):
            block = None
        alias = None if operand["alias"] is None else self.number(operand["alias"])
        return (
            operand["role"],
            self.type(operand["type"]),
            space,
            alias,
            block
            and {
                "dims": block["dims"],
                "map": self.map(block["map"]),
                "view": self.view(block["view"], None),
                "buffered": block["buffered"],
            },
        )

    def map(self, region):
        """JAX makes its own numbers of what a map gives back: `0` may be weak."""
        region = self.region(region)
        return {
            **region,
            "results": [{**arg, "weak": None} if isinstance(arg, dict) else arg for arg in region["results"]],
        }

    @staticmethod
    def whole(block, shape):
        zero = all(arg["kind"] == "literal" and arg["number"] == "0" for arg in block["map"]["results"])
        sizes = [dim["size"] if dim["kind"] == "blocked" else None for dim in block["dims"]]
        return zero and sizes == list(shape) and not block["view"] and block["buffered"] is None

    def type(self, t):
        if "attrs" in t:
            t = {**t, "attrs": _attributes(t["attrs"])}
        return {**t, "shape": [self.number(d) if isinstance(d, str) else d for d in t["shape"]]}

    def region(self, region):
        params = [
            (self.number(p["name"], p["type"]), self.type(p["type"]), self.view(p["view"], None))
            for p in region["params"] or ()
        ]
        body = [self.instruction(instr) for instr in region["body"]]
        return {"params": params, "body": body, "results": [self.arg(arg) for arg in region["results"]]}

    def instruction(self, instr):
        given = [arg for arg in instr["args"] if not ("arg" in arg and arg["kind"] == "none")]
        args = [self.arg(arg) for arg in sorted(given, key=lambda arg: arg.get("arg") == "xs")]
        regions = [self.region(region) for region in instr["regions"]]
        used = [self.uses.get(result, 0) > 0 for result in instr["results"]]
        for result, result_type in zip(instr["results"], instr["types"]):
            if result is not None and self.uses.get(result, 0) > 0:
                self.number(result, result_type)
        return {
            "name": instr["name"],
            "attrs": _attributes(instr["attrs"]),
            "args": args,
            "regions": regions,
            "used": used,
            "types": [self.type(t) for t in instr["types"]],
        }

    def arg(self, arg):
        kind = arg["kind"]
        if kind == "value":
            shape = (self.types.get(arg["value"]) or {}).get("shape")
            return arg.get("arg"), self.number(arg["value"]), self.view(arg["view"], shape)
        if kind == "select":
            return arg.get("arg"), [self.arg(one) for one in arg["select"]]
        if arg.get("dtype") == "bool":  # as the index of a cond it is a number
            arg = {**arg, "dtype": "i32", "number": str(int(arg["number"] == "true")), "bytes": None}
        return {k: v for k, v in arg.items() if k not in ("const", "bytes")}

    def view(self, chain, shape):
        """`shape` is of the ref that the chain is of, None where it is not known."""
        out = []
        for t in chain:
            t = dict(t)
            if t["kind"] == "at":
                sizes = shape or [None] * len(t["indices"])
                t["indices"] = [self.index(index, size) for index, size in zip(t["indices"], sizes)]
                points = any(index["kind"] != "range" for index in t["indices"] if index["kind"] not in ("full",))
                shape = (
                    None
                    if points or shape is None
                    else [size if i["kind"] == "full" else i.get("length") for i, size in zip(t["indices"], sizes)]
                )
            else:
                t["indices"] = [self.index(index, None) for index in t["indices"]]
                shape = _shape_after(t, shape)
            if "peer" in t:
                t["peer"] = self.arg(t["peer"])
            out.append(t)
        return out

    def index(self, index, size):
        if index["kind"] == "full":
            return {"kind": "full"}
        if index["kind"] == "range" and index["stride"] == 1 and size is not None:
            start, length = (index[part].get("number") for part in ("start", "size"))
            if (start, length) == ("0", str(size)):
                return {"kind": "full"}
        return {key: self.index_part(value) if isinstance(value, dict) else value for key, value in index.items()}

    def index_part(self, arg):
        """Numbers are what they are in whatever type."""
        return int(arg["number"]) if arg["kind"] == "literal" else self.arg(arg)


_NONE = (None, False, [])
_DEFAULTS = {
    "device_id_type": "mesh",
    "oob_mode": "zeros",
    "commit_group": True,
}  # what JAX always says, and a text need not
_LABELS = ("what",)  # of get_global: the words of a message


def _attributes(attrs: dict) -> dict:
    """Without those that say nothing; the fields of a format have numbers."""
    words = {
        name: value["word"] if isinstance(value, dict) and "word" in value else value for name, value in attrs.items()
    }
    kept = {
        name: value
        for name, value in words.items()
        if value not in _NONE and value != _DEFAULTS.get(name) and name not in _LABELS
    }
    if "fmt" in kept:
        kept["fmt"] = _numbered(kept["fmt"])
    return kept


def _numbered(fmt: str) -> str:
    fields, count = [], 0
    for literal, field, spec, conversion in string.Formatter().parse(fmt):
        fields.append(literal)
        if field is not None:
            fields.append((int(field) if field.isdigit() else count, spec, conversion))
            count += 1
    return str(fields)


def _shape_after(transform, shape):
    """The shape behind a layout, None where it is not followed."""
    if shape is None or transform["kind"] in ("unswizzle", "swizzle", "peer", "cluster", "multicast"):
        return shape
    if transform["kind"] != "untile":
        return None
    count = len(transform["ints"])
    return [*shape[: -2 * count], *(a * b for a, b in zip(shape[-2 * count : -count], transform["ints"]))]


def arrays(kernel: dict, given: dict):
    """The inputs of a case, by name, in the order of the call."""
    return [
        np.asarray(given[o["name"]], numpy_dtype(o["type"]["dtype"])).reshape(o["type"]["shape"])
        for o in inputs(kernel)
    ]


def canonical(text: str) -> str:
    return _library.canonical(text)
