"""A kernel over a mesh: `plgpu.kernel`, which allocates scratch around its body,
or `pl.kernel` where there is no such scope.
"""

from palladion.base.errors import ToJaxError
from palladion.jax.jax_source import reading
from palladion.jax.jax_source.compiler_params import call_options
from palladion.jax.jax_source.memory import scratch_type
from palladion.jax.jax_source.pallas_call import shape_dtype
from palladion.jax.jax_source.spelling import attribute_text, tuple_text
from palladion.jax.jax_source.writer import Block, define_lines


def lines(context) -> list:
    """The statements of `kernel`."""
    kernel = context.kernel
    if kernel["mesh"] != "gpu" or len(kernel["bodies"]) != 1:
        raise ToJaxError(
            f"a kernel over a mesh {kernel['mesh']} is not written; expected one body over a mesh gpu",
            "mesh",
            kernel["line"],
        )
    block = Block(context)
    outputs = [o for o in kernel["operands"] if o["role"] == "out"]
    inputs = [o for o in kernel["operands"] if o["role"] == "in"]
    if len(inputs) + len(outputs) != len(kernel["operands"]) or any(o["block"] for o in kernel["operands"]):
        raise ToJaxError(
            "a kernel over a mesh has whole arrays in and out, and its scratch in scopes", "mesh", kernel["line"]
        )
    for operand in inputs:
        block.define(operand["name"], operand["type"])
    mesh = reading.attributes(kernel["mesh_attrs"])
    region = kernel["bodies"][0]["region"]
    shared = {o["name"]: o["alias"] for o in outputs if o["alias"] is not None}
    scope = None if shared else _scope(region, mesh)  # plgpu.kernel takes no refs of its caller
    refs = {name: context.names.fresh(f"{block.name(name)}_ref") for name in shared.values()}
    arguments = ", ".join(refs.get(o["name"], block.name(o["name"])) for o in inputs)
    types = f"    out_type=[{', '.join(shape_dtype(o) for o in outputs if o['name'] not in shared)}],"
    kept = [param for o, param in zip(kernel["operands"], region["params"] or ()) if o["name"] not in shared]
    options = [f"    {option}," for option in call_options(context)]
    if scope is None:
        name = block.function(kernel["bodies"][0]["name"], region, kept)
        call = ["pl.kernel(", f"    {name},", types, f"    mesh=plgpu.Mesh({', '.join(_mesh(mesh))}),"]
    else:
        inner = scope["regions"][0]
        params = [*kept, *(inner["params"] or ())]
        name = block.function(kernel["bodies"][0]["name"], inner, params)
        scratch = ", ".join(scratch_type(param["type"], context.backend) for param in inner["params"] or ())
        options = [option for option in options if not option.startswith("    name=")]
        call = ["plgpu.kernel(", f"    {name},", types, f"    scratch_types=[{scratch}],"]
        call += [f"    {option}," for option in (*_mesh(mesh), f"kernel_name={kernel['name']!r}")]
    call += [*options, "    interpret=interpret,", f")({arguments})"]
    if not shared:
        return [*block.lines, "return tuple(" + call[0], *call[1:-1], call[-1] + ")"]
    made = [f"{refs[name]} = jax.new_ref({block.name(name)}, memory_space=plgpu.GMEM)" for name in refs]
    call[0] = "made = iter(" + call[0]
    given = [f"jax.ref.freeze({refs[shared[o['name']]]})" if o["name"] in shared else "next(made)" for o in outputs]
    inner = define_lines(
        "call",
        [block.name(o["name"]) for o in inputs],
        [*made, *call[:-1], call[-1] + ")", f"return {tuple_text(given)}"],
    )
    # JAX makes refs in a memory space under jit alone.
    return [*block.lines, *inner, f"return jax.jit(call)({', '.join(block.name(o['name']) for o in inputs)})"]


def _mesh(mesh) -> list:
    given = [
        ("grid", "grid"),
        ("grid_names", "grid_names"),
        ("cluster", "cluster"),
        ("cluster_names", "cluster_names"),
        ("num_threads", "threads"),
        ("thread_name", "thread_name"),
    ]
    return [f"{option}={attribute_text(mesh[name])}" for option, name in given if mesh.get(name) not in (None, ())]


def _scope(region, mesh):
    """The scope that is all of the body, as plgpu.kernel makes it; None where there is another body."""
    body = region["body"]
    if [instr["name"] for instr in body] != ["run_scoped"] or region["results"] or body[0]["results"]:
        return None
    axes = tuple(reading.attributes(body[0]["attrs"]).get("collective_axes") or ())
    own = () if mesh.get("thread_name") is None else (mesh["thread_name"],)
    return body[0] if axes == own else None
