"""Kernel text with what JAX writes otherwise put in JAX's form, so that text and source have one shape.

- A call (`jit`, `closed_call`, ...) is what it calls: the exporter writes calls in line, too.
- `cond` on a bool that was converted to i32 first is a cond on the bool, and one on a clamped index is one on the index: `lax.cond` and
  `lax.switch` convert and clamp by themselves, and `cond` of kernel text does as well.
"""

import copy

_CALLS = ("jit", "pjit", "closed_call", "core_call", "custom_jvp_call", "custom_vjp_call", "checkpoint", "remat", "stage_call")


def folded(kernel: dict) -> dict:
    """A copy of the kernel in that form."""
    kernel = copy.deepcopy(kernel)
    for body in kernel["bodies"]:
        _inline_calls(body["region"], {})
        uses = {}
        _count_uses(body["region"], uses)
        _fold_indices(body["region"], {}, uses)
    for operand in kernel["operands"]:
        if operand["block"]:
            _inline_calls(operand["block"]["map"], {})
    return kernel


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


def _inline_calls(region, renamed):
    body = []
    for instr in region["body"]:
        for arg in instr["args"]:
            _substitute(arg, renamed)
        if instr["name"] in _CALLS and len(instr["regions"]) == 1:
            inner = instr["regions"][0]
            renamed.update(zip((param["name"] for param in inner["params"] or ()), instr["args"]))
            _inline_calls(inner, renamed)
            body += inner["body"]
            renamed.update((name, arg) for name, arg in zip(instr["results"], inner["results"]) if name is not None)
            continue
        for inner in instr["regions"]:
            _inline_calls(inner, renamed)
        body.append(instr)
    region["body"] = body
    for arg in region["results"]:
        _substitute(arg, renamed)


def _count_uses(region, uses):
    for instr in region["body"]:
        for arg in _args_of(instr):
            if arg["kind"] == "value":
                uses[arg["value"]] = uses.get(arg["value"], 0) + 1
        for inner in instr["regions"]:
            _count_uses(inner, uses)
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
        if maker["name"] == "convert_element_type" and maker["attrs"].get("to") == {"word": "i32"} and len(cond["regions"]) == 2:
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
