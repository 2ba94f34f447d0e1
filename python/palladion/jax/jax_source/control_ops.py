"""Control flow and scopes: regions become functions that close over the values around them."""

from palladion.jax.jax_source import reading
from palladion.jax.jax_source.memory import scratch_type
from palladion.jax.jax_source.spelling import tuple_text
from palladion.jax.jax_source.writer import Many, define_lines


def _cond(block, instr):
    """A bool chooses as `lax.cond` does, an integer as `lax.switch`, which clamps it."""
    index, branches = instr["args"][0], instr["regions"]
    if block.type_of(index)["dtype"] == "bool" and len(branches) == 2:
        otherwise, then = branches
        if not instr["results"] and not otherwise["body"]:
            name = block.function("then", then)
            return f"pl.when({block.arg(index)})({name})"
        otherwise, then = (block.function(hint, region) for hint, region in (("otherwise", otherwise), ("then", then)))
        return Many(f"lax.cond({block.arg(index)}, {then}, {otherwise})")
    names = [block.function(f"branch{number}", region) for number, region in enumerate(branches)]
    return Many(f"lax.switch({block.arg(index)}, [{', '.join(names)}])")


def _carries(block, instr, kind) -> str:
    return tuple_text([block.arg(arg) for arg in instr["args"] if arg.get("arg", "init") == kind])


def loop_function(block, hint, region, groups, returned=None) -> str:
    """A function of as many tuples as there are `groups`, whose members are the region's parameters."""
    name = block.context.names.fresh(hint)
    params, left, lines = [], list(region["params"]), []
    for group, count in groups:
        names = [block.define(param["name"], param["type"]) for param in left[:count]]
        del left[:count]
        params.append(group)
        if names:
            lines.append(f"{', '.join(names)}{',' if len(names) == 1 else ''} = {group}")
    block.lines += define_lines(name, params, lines + block.body(region, returned))
    return name


def _while(block, instr):
    condition, body = instr["regions"]
    count = len(instr["args"])
    condition = loop_function(block, "condition", condition, [("carry", count)], lambda texts: f"return {texts[0]}")
    body = loop_function(block, "loop", body, [("carry", count)], lambda texts: f"return {tuple_text(texts)}")
    return Many(f"lax.while_loop({condition}, {body}, {_carries(block, instr, 'init')})")


def _scan(block, instr):
    attrs = reading.attributes(instr["attrs"])
    carried = sum(arg.get("arg", "init") == "init" for arg in instr["args"])
    groups = [("carry", carried), ("element", len(instr["args"]) - carried)]

    def returned(texts):
        return f"return {tuple_text(texts[:carried])}, {tuple_text(texts[carried:])}"

    body = loop_function(block, "loop", instr["regions"][0], groups, returned)
    init, elements = _carries(block, instr, "init"), _carries(block, instr, "xs")
    unroll = f", unroll={attrs['unroll']}" if "unroll" in attrs else ""
    call = (
        f"lax.scan({body}, {init}, {elements}, length={attrs['length']}, reverse={attrs.get('reverse', False)}{unroll})"
    )
    if not instr["results"]:
        return call
    name = block.context.names.fresh("scanned")
    block.lines.append(f"{name} = {call}")
    return Many(f"(*{name}[0], *{name}[1])")


def _run_scoped(block, instr):
    region = instr["regions"][0]
    name = block.function("scope", region)
    types = [scratch_type(param["type"], block.context.backend) for param in region["params"] or ()]
    axes = reading.attributes(instr["attrs"]).get("collective_axes") or ()
    extra = [f"collective_axes={axes!r}"] if axes else []
    return Many(f"pl.run_scoped({', '.join([name, *types, *extra])})")


CONTROL_OPS = {"cond": _cond, "while": _while, "scan": _scan, "run_scoped": _run_scoped}
