"""Operations that read and write refs."""

from palladion.base.errors import ToJaxError
from palladion.jax.jax_source import reading, spelling
from palladion.jax.jax_source.control_ops import loop_function
from palladion.jax.jax_source.memory import scratch_type
from palladion.jax.jax_source.spelling import tuple_text
from palladion.jax.jax_source.views import access_text, view_text
from palladion.jax.jax_source.writer import Many


def _get(block, instr):
    return access_text(block, instr["args"][0])


def _swap(block, instr):
    view, value = instr["args"]
    if instr["results"] and instr["results"][0] is not None:
        return f"jax.ref.swap({view_text(block, view)}, ..., {block.arg(value)})"
    block.lines.append(f"{access_text(block, view)} = {block.arg(value)}")
    return None


def _addupdate(block, instr):
    view, value = instr["args"]
    return f"jax.ref.addupdate({view_text(block, view)}, ..., {block.arg(value)})"


def _named(block, instr) -> str:
    """`, mask=..., other=...` of the operands that have names, and the attributes."""
    words = {"is_volatile": "volatile"}
    text = "".join(f", {arg['arg']}={block.arg(arg)}" for arg in instr["args"] if "arg" in arg)
    return text + "".join(
        f", {words.get(name, name)}={value!r}" for name, value in reading.attributes(instr["attrs"]).items()
    )


def _masked_load(block, instr):
    return f"pl_primitives.load({view_text(block, instr['args'][0])}, None{_named(block, instr)})"


def _masked_swap(block, instr):
    view, value = instr["args"][:2]
    return f"pl_primitives.swap({view_text(block, view)}, None, {block.arg(value)}{_named(block, instr)})"


def _atomic_rmw(block, instr):
    op = reading.attributes(instr["attrs"])["op"]
    op = getattr(op, "text", op)
    view, value = instr["args"][:2]
    masks = [block.arg(arg) for arg in instr["args"][2:]]
    mask = f", mask={masks[0]}" if masks else ""
    return f"pltriton.atomic_{op}({view_text(block, view)}, None, {block.arg(value)}{mask})"


def _atomic_cas(block, instr):
    view, *values = instr["args"]
    if view["view"]:
        raise ToJaxError("JAX compares and swaps whole refs of one element, not views")
    return f"pltriton.atomic_cas({', '.join([view_text(block, view), *(block.arg(v) for v in values)])})"


def _new_ref(block, instr):
    return f"jax.new_ref({block.arg(instr['args'][0])})"


def _empty_ref(block, instr):
    t = instr["types"][0]
    if t["space"] != "default":
        raise ToJaxError(f"an empty ref in {t['space']} is not written")
    return (
        f"jax.ref.empty_ref(jax.ShapeDtypeStruct({spelling.shape_text(t['shape'])}, {spelling.dtype_text(t['dtype'])}))"
    )


def _run_state(block, instr):
    """Its refs begin with the operands, or with nothing, and their last contents are the results."""
    region = instr["regions"][0]
    name = loop_function(block, "state", region, [("refs", len(region["params"] or ()))])
    given = instr["args"] or [{"kind": "none"}] * len(region["params"] or ())
    firsts = [_first(block, param["type"], arg) for param, arg in zip(region["params"] or (), given)]
    return Many(f"pl.run_state({name})({tuple_text(firsts)})")


def _first(block, ref, arg) -> str:
    if arg["kind"] == "none":
        return scratch_type(ref, block.context.backend)
    return f"plgpu.ACC.init({block.arg(arg)})" if ref["space"] == "regs" else block.arg(arg)


def _freeze(block, instr):
    return f"jax.ref.freeze({view_text(block, instr['args'][0])})"


REF_OPS = {
    "get": _get,
    "swap": _swap,
    "addupdate": _addupdate,
    "masked_load": _masked_load,
    "masked_swap": _masked_swap,
    "atomic_rmw": _atomic_rmw,
    "atomic_cas": _atomic_cas,
    "new_ref": _new_ref,
    "empty_ref": _empty_ref,
    "freeze": _freeze,
    "run_state": _run_state,
}
