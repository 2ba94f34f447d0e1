"""Kernel text with what JAX writes otherwise put in JAX's form, so that text and source have one shape.

- A call (`jit`, `closed_call`, ...) is what it calls: the exporter writes calls in line, too.
- `cond` on a bool that was converted to i32 first is a cond on the bool, and one on a clamped index is one on the
  index: `lax.cond` and `lax.switch` convert and clamp by themselves, and `cond` of kernel text does as well.
- An integer beside arrays of indices is itself; JAX stretches it by a broadcast_to.
- Over a mesh, a ref of an output that shares an input's memory is that input's ref.
- A dimension of the grid that jax.vmap has made is one like any other, and `program_id` counts it.
- A conversion of a number that the new type has is the number, `num_programs` of a grid whose size the text has is that
  number, and `expand_dims` a `broadcast_in_dim`.
"""

import copy
import dataclasses

import numpy as np

from palladion.base.errors import ToJaxError
from palladion.base.scalars import literal_text, numpy_dtype
from palladion.jax.jax_source.reading import instructions, literal_value
from palladion.jax.jax_source.unique_names import name_uniquely

_CALLS = (
    "jit",
    "pjit",
    "closed_call",
    "core_call",
    "custom_jvp_call",
    "custom_vjp_call",
    "checkpoint",
    "remat",
    "stage_call",
)


def folded(kernel: dict) -> dict:
    """A copy of the kernel in that form."""
    kernel = copy.deepcopy(kernel)
    name_uniquely(kernel)
    _count_vmapped(kernel)
    for body in kernel["bodies"]:
        _inline_calls(body["region"], _Known(_shared_refs(kernel, body["region"]), kernel["grid"]))
        uses = {}
        count_uses(body["region"], uses)
        _fold_indices(body["region"], {}, uses)
    for operand in kernel["operands"]:
        if operand["block"]:
            _inline_calls(operand["block"]["map"], _Known({}, kernel["grid"]))
    return kernel


def _count_vmapped(kernel):
    own = [axis for axis in range(len(kernel["grid"])) if axis not in kernel["vmapped"]]
    if not kernel["vmapped"]:
        return
    kernel["vmapped"] = []
    for body in kernel["bodies"]:
        for instr in instructions(body["region"]):
            if instr["name"] in ("program_id", "num_programs"):
                axis = instr["attrs"]["axis"]
                if not 0 <= axis < len(own):
                    raise ToJaxError(
                        f"the grid has {len(own)} dimensions that count, and no axis {axis}",
                        instr["name"],
                        instr["line"],
                    )
                instr["attrs"]["axis"] = own[axis]


def _shared_refs(kernel, region) -> dict:
    """Over a mesh an output that shares an input's memory is the input's ref, which JAX's function has once."""
    if not kernel["mesh"]:
        return {}
    names = {o["name"]: param["name"] for o, param in zip(kernel["operands"], region["params"] or ())}
    return {
        names[o["name"]]: {"kind": "value", "value": names[o["alias"]], "view": []}
        for o in kernel["operands"]
        if o["alias"] is not None and o["name"] in names and o["alias"] in names
    }


def _args_of(instr):
    """Every operand of an instruction, those in views included."""
    for arg in instr["args"]:
        yield from _inside(arg)


def _inside(arg):
    yield arg
    for one in arg.get("select", ()):
        yield from _inside(one)
    for transform in arg.get("view", ()):
        if "peer" in transform:
            yield from _inside(transform["peer"])
        for index in transform["indices"]:
            for part in ("start", "size"):
                if part in index:
                    yield from _inside(index[part])


def _substitute(arg, renamed):
    """A value is its replacement; a view goes on from the replacement's own."""
    for one in list(_inside(arg)):
        if one["kind"] == "value" and one["value"] in renamed:
            new = copy.deepcopy(renamed[one["value"]])
            view, name = one["view"], one.get("arg")
            one.clear()
            one.update(new)
            one.pop("arg", None)
            if name is not None:
                one["arg"] = name
            if view:
                one["view"] = one["view"] + view


@dataclasses.dataclass(frozen=True)
class _Known:
    """What values stand for (value -> operand), the sizes of the grid, and the shapes of values."""

    renamed: dict
    grid: list
    broadcast: dict = dataclasses.field(default_factory=dict)  # value -> the operand that was stretched to it
    shapes: dict = dataclasses.field(default_factory=dict)


def _points(instr):
    """The indices of each `.at` of an instruction that are no slices."""
    for arg in _args_of(instr):
        for transform in arg.get("view", ()):
            yield [index for index in transform["indices"] if index["kind"] == "point"]


def _unstretch(points, known):
    """Points that were stretched to the shape that they have together are what they were."""

    def together(args):
        shapes = [
            arg.get("dense", {}).get("shape", ()) if arg["kind"] != "value" else known.shapes[arg["value"]]
            for arg in args
        ]
        try:
            return np.broadcast_shapes(*shapes)
        except ValueError:
            return None

    given = [point["start"] for point in points]
    before = [known.broadcast.get(arg.get("value"), arg) for arg in given]
    if before != given and together(before) == together(given):
        for point, arg in zip(points, before):
            point["start"] = copy.deepcopy(arg)


def _constant(instr, grid):
    """The operand that the instruction's result is where JAX knows it: the size of the grid, a number in its own type;
    else None.
    """
    if instr["name"] == "convert_element_type" and instr["args"][0]["kind"] == "literal":
        return _converted(instr["args"][0], instr["attrs"]["to"]["word"])
    if instr["name"] != "num_programs" or not isinstance(size := grid[instr["attrs"]["axis"]], int):
        return None
    return {
        "kind": "literal",
        "dtype": "i32",
        "weak": False,
        "number": str(size),
        "bytes": size.to_bytes(4, "little").hex(),
    }


def _converted(literal, dtype):
    """The number in another type, where that has it."""
    value = literal_value(literal)
    with np.errstate(over="ignore", invalid="ignore"):
        converted = value.astype(numpy_dtype(dtype))
    if float(converted) != float(value):
        return None
    return {
        "kind": "literal",
        "dtype": dtype,
        "weak": False,
        "number": literal_text(converted, converted.dtype).split(":")[0],
        "bytes": converted.tobytes().hex(),
    }


def _as_broadcast(instr):
    """JAX writes expand_dims as a broadcast_in_dim."""
    shape = instr["types"][0]["shape"]
    new = {axis % len(shape) for axis in instr["attrs"]["dims"]}
    instr["name"] = "broadcast_in_dim"
    instr["attrs"] = {"shape": shape, "dims": [axis for axis in range(len(shape)) if axis not in new]}


def _inline_calls(region, known):
    renamed, body = known.renamed, []
    known.shapes.update((param["name"], param["type"]["shape"]) for param in region["params"] or ())
    for instr in region["body"]:
        for arg in instr["args"]:
            _substitute(arg, renamed)
        if instr["name"] in _CALLS and len(instr["regions"]) == 1:
            inner = instr["regions"][0]
            renamed.update(zip((param["name"] for param in inner["params"] or ()), instr["args"]))
            _inline_calls(inner, known)
            body += inner["body"]
            renamed.update((name, arg) for name, arg in zip(instr["results"], inner["results"]) if name is not None)
            continue
        for points in _points(instr):
            _unstretch(points, known)
        if instr["name"] == "broadcast_to" and instr["results"][0] is not None:
            known.broadcast[instr["results"][0]] = instr["args"][0]
        known.shapes.update((name, t["shape"]) for name, t in zip(instr["results"], instr["types"]))
        if (constant := _constant(instr, known.grid)) is not None:
            renamed.update((name, constant) for name in instr["results"] if name is not None)
            continue
        if instr["name"] == "expand_dims":
            _as_broadcast(instr)
        for inner in instr["regions"]:
            _inline_calls(inner, known)
        body.append(instr)
    region["body"] = body
    for arg in region["results"]:
        _substitute(arg, renamed)


def count_uses(region, uses):
    for instr in region["body"]:
        for arg in _args_of(instr):
            if arg["kind"] == "value":
                uses[arg["value"]] = uses.get(arg["value"], 0) + 1
        for inner in instr["regions"]:
            count_uses(inner, uses)
    for result in region["results"]:
        for arg in _inside(result):
            if arg["kind"] == "value":
                uses[arg["value"]] = uses.get(arg["value"], 0) + 1


def _fold_indices(region, made, uses):
    """`made`: value -> the instruction that made it."""
    for instr in region["body"]:
        made.update((result, instr) for result in instr["results"] if result is not None)
        if instr["name"] == "cond":
            _fold_index(instr, made, uses)
        for inner in instr["regions"]:
            _fold_indices(inner, made, uses)
    region["body"] = [instr for instr in region["body"] if not instr.get("folded")]


def _fold_index(cond, made, uses):
    while (index := cond["args"][0])["kind"] == "value" and index["value"] in made:
        maker = made[index["value"]]
        if (
            maker["name"] == "convert_element_type"
            and maker["attrs"].get("to") == {"word": "i32"}
            and len(cond["regions"]) == 2
        ):
            source = maker["args"][0]
            if source["kind"] != "value" or not _is_bool(source, made):
                return
        elif maker["name"] == "clamp" and _clamps_to(maker, len(cond["regions"])):
            source = maker["args"][1]
        else:
            return
        cond["args"][0] = copy.deepcopy(source)
        uses[index["value"]] -= 1
        if uses[index["value"]] == 0:
            maker["folded"] = True
        elif source["kind"] == "value":
            uses[source["value"]] += 1


def _is_bool(arg, made) -> bool:
    maker = made.get(arg["value"])
    if maker is None:
        return False
    return maker["types"][maker["results"].index(arg["value"])]["dtype"] == "bool"


def _clamps_to(clamp, branches) -> bool:
    low, _, high = clamp["args"]
    return low["kind"] == high["kind"] == "literal" and (low["number"], high["number"]) == ("0", str(branches - 1))
