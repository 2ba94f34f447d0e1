"""What the Python functions inside `plgpu.inline_mgpu` write, found by calling them, and code traced to stand in their
place. Private names of JAX, as in jax_versions.py.

Based on: JAX 0.10.2, `jax/experimental/mosaic/gpu`.
What it does not catch: a function that writes something else when it is called again.
"""

import re

from jax._src import api_util, linear_util
from jax._src.interpreters import mlir, partial_eval
from jax._src.state.types import TransformedRef
from jax.extend import core
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import func

INLINE_MODULE = "jax._src.pallas.mosaic_gpu.primitives"  # where plgpu.inline_mgpu's own functions are
WARPGROUP = "warpgroup"  # the operand of warpgroup_barrier's statement: the number of the warpgroup, plus one


def inline_statements(function, dtypes):
    """What `function(context, *numbers)` writes, as [(PTX statement, its operands: "$n" for number n,
    or None for others)].

    None: it writes something else than PTX, or cannot be called so: what it asks of its context or its arguments is not
    there.
    """
    try:
        operations = _written(function, dtypes)
    except Exception:  # it is the user's code, called with less than the compiler would give it
        return None
    return operations


def _written(function, dtypes):
    from jax.experimental.mosaic import gpu as mgpu
    from jax.experimental.mosaic.gpu import dialect

    context = mlir.make_ir_context()
    with context, ir.Location.unknown():
        context.load_all_available_dialects()
        dialect.register_dialect(context)
        module = _module()
        with ir.InsertionPoint(module.body):
            body = func.FuncOp(
                "inline", ([mgpu.utils.dtype_to_ir_type(dtype) for dtype in dtypes], [])
            ).add_entry_block()
        with ir.InsertionPoint(body):
            numbers = [
                mgpu.FragmentedArray.splat(a, (), is_signed=mgpu.utils.is_signed(dtype))
                for a, dtype in zip(body.arguments, dtypes)
            ]
            function(None, *numbers)
        if dtypes == [] and _text(body) == _warpgroup_barrier(mgpu):
            return [("bar.sync $0, 128", (WARPGROUP,))]
        statements = []
        for operation in body.operations:
            found = _statements(operation, list(body.arguments))
            if found is None:
                return None
            statements += found
        return statements


def _module():
    """Of the compute capability that code asks for since JAX 0.12; what it writes is not looked at by it."""
    module = ir.Module.create()
    for name, number in (("major", 10), ("minor", 0)):
        module.operation.attributes[f"mosaic_gpu.arch_{name}"] = ir.IntegerAttr.get(
            ir.IntegerType.get_signless(32), number
        )
    return module


def _text(body):
    return [str(operation) for operation in body.operations]


def _warpgroup_barrier(mgpu):
    module = _module()
    with ir.InsertionPoint(module.body):
        body = func.FuncOp("inline", ([], [])).add_entry_block()
    with ir.InsertionPoint(body):
        mgpu.warpgroup_barrier()
    return _text(body)


def _statements(operation, arguments):
    if operation.name == "nvvm.fence.proxy":
        kind, space = (
            re.search(r"proxy_kind<([\w.]+)>", str(operation)),
            re.search(r"shared_space<(\w+)>", str(operation)),
        )
        return [(f"fence.proxy.{kind[1]}::{space[1]}" if space else f"fence.proxy.{kind[1]}", ())] if kind else None
    if operation.name != "llvm.inline_asm" or any(str(result.type) != "!llvm.void" for result in operation.results):
        return None
    operands = tuple(f"${arguments.index(operand)}" if operand in arguments else None for operand in operation.operands)
    text = ir.StringAttr(operation.attributes["asm_string"]).value
    return [(" ".join(part.split()), operands) for part in text.split(";") if part.strip()]


def traced(function, avals, name):
    """What `function` does to arguments of these types, which may be refs, as a jaxpr."""
    info = api_util.debug_info(name, function, tuple(avals), {})
    jaxpr, _, constants = partial_eval.trace_to_jaxpr_dynamic(
        linear_util.wrap_init(function, debug_info=info), list(avals)
    )
    return core.ClosedJaxpr(jaxpr, constants)


def transformed(ref, transforms):
    """A ref seen through these transforms, as `ref.at[...]` makes it."""
    return TransformedRef(ref, tuple(transforms))
