"""Code of a kernel's own, `plgpu.inline_mgpu`: a Python function that writes MLIR while the kernel is compiled.

It is known by what it writes, not by its name: the function is called as the compiler would call it, on nothing but
numbers, and where all that it writes is PTX with a meaning here (named barriers, the barrier of a cluster, fences
between proxies), that is what stands in the kernel's text. For any other function the user says what it means
(`palladion.model_inline`): ordinary JAX code, which is written in its place. Based on: JAX 0.10.2,
`jax/_src/pallas/mosaic_gpu/primitives.py` (inline_mgpu), and PTX (bar, barrier.cluster, fence.proxy.async). Not
covered: functions that ask the compiler's launch context, or refs, for something, unless they have a model.
"""

import inspect
import re
from collections.abc import Callable

import jax

from palladion.base.errors import ExportError
from palladion.jax import jax_inline, jax_versions
from palladion.jax.exporter.parameters import knows, unflatten
from palladion.jax.exporter.views import view_text

_models = {}  # code of a function, or "module.qualname" -> what it means

_BAR = re.compile(r"(?:bar|barrier)(?:\.cta)?\.(sync|arrive)(?:\.aligned)? +(\$?\d+), *(\d+)$")
_CLUSTER_BARRIER = re.compile(r"barrier\.cluster\.(arrive|wait)(?:\.release|\.acquire)?(?:\.aligned)?$")
_PROXY_FENCE = re.compile(r"fence\.proxy\.async[\w.:]*$")


def model_inline(function: Callable | str) -> Callable[[Callable], Callable]:
    """Says what a function that was given to `plgpu.inline_mgpu` means; a decorator for ordinary JAX code.

    `function` is that function, what `plgpu.inline_mgpu(...)` made of it, or "module.qualname" of one that no
    import reaches, because it is made inside another. The decorated code has the arguments of the inlined call, refs
    and arrays, reads and writes refs as a kernel does, and returns what the call returns.
    Its accesses are checked as the kernel's own are.
    """
    if not isinstance(function, str):
        if not callable(function):
            raise TypeError(f'model_inline expects a function or its name, "module.qualname"; found {function!r}')
        function = _inlined(function).__code__

    def register(meaning: Callable) -> Callable:
        _models[function] = meaning
        return meaning

    return register


def _inlined(function):
    """What plgpu.inline_mgpu was given, if `function` is what it returned."""
    if getattr(function, "__module__", "") == jax_inline.INLINE_MODULE and "f" in function.__code__.co_freevars:
        return inspect.getclosurevars(function).nonlocals["f"]
    return function


def _model_of(function):
    code = getattr(function, "__code__", None)
    name = f"{getattr(function, '__module__', '')}.{getattr(function, '__qualname__', '')}"
    return _models.get(code) or _models.get(name)


@knows("flat_arg_types", "flat_ret_ty", "pytree_ret_ty", "pytree_args", "pytree_ref_transforms", "mgpu_fn")
def write_inline(writer, eqn, env):
    function = eqn.params["mgpu_fn"]
    name = getattr(function, "__qualname__", type(function).__name__)
    model = _model_of(function)
    if model is not None:
        _write_model(writer, eqn, env, model)
        return
    numbers = [v.aval for v in eqn.invars]
    plain = not eqn.params["flat_ret_ty"] and all(
        getattr(aval, "shape", None) == () and hasattr(aval, "dtype") for aval in numbers
    )
    statements = jax_inline.inline_statements(function, [aval.dtype for aval in numbers]) if plain else None
    written = None if statements is None else [_meaning(text, operands) for text, operands in statements]
    if written is None or None in written:
        _write_opaque(writer, eqn, env, name, statements)
        return
    texts = [writer.read(env, v) for v in eqn.invars]
    for operation, attrs, number in written:
        args = [] if number is None else [_barrier_number(writer, eqn, texts, number)]
        writer.emit(operation, attrs=attrs, args=args, loc=writer.location(eqn))


def _barrier_number(writer, eqn, texts, number):
    if number == jax_inline.WARPGROUP:
        return _warpgroup_number(writer, writer.location(eqn))
    return texts[int(number[1:])] if number.startswith("$") else f"{number}:i32"


def _warpgroup_number(writer, loc):
    """As the compiler numbers the barriers of its own: 0 is the block's."""
    if writer.file.thread_axis is None:
        return "1:i32"
    thread, number = writer.fresh(), writer.fresh()
    writer.emit("axis_index", attrs={"axis": writer.file.thread_axis}, results=[thread], types=["i32[]"], loc=loc)
    writer.emit("add", args=[thread, "1:i32"], results=[number], types=["i32[]"], loc=loc)
    return number


def _meaning(text, operands):
    """(operation, attributes, number of the barrier: "$n" for the call's argument n) of one statement;
    None: it has none here.
    """
    if _PROXY_FENCE.match(text):
        return "inline_mgpu", {"ptx": text + ";"}, None
    if of_cluster := _CLUSTER_BARRIER.match(text):
        return f"barrier_cluster_{of_cluster[1]}", {}, None
    bar = _BAR.match(text)
    if bar is None:
        return None
    number = operands[int(bar[2][1:])] if bar[2].startswith("$") else bar[2]
    return None if number is None else (f"named_barrier_{bar[1]}", {"lanes": int(bar[3])}, number)


def _write_opaque(writer, eqn, env, name, statements):
    """By its name and what it writes; the verifier refuses it."""
    count = len(eqn.params["flat_arg_types"])
    chains = unflatten(eqn.params["pytree_ref_transforms"], eqn.invars[count:])
    args = [view_text(atom, chain, writer.reader(env)) for atom, chain in zip(eqn.invars, chains)]
    attrs = {"function": name}
    if statements:
        attrs["ptx"] = " ".join(f"{text};" for text, _ in statements)
    writer.emit_equation(eqn, env, "inline_mgpu", attrs=attrs, args=args)


def _write_model(writer, eqn, env, model):
    params, count = eqn.params, len(eqn.params["flat_arg_types"])
    results = params["flat_ret_ty"]

    def meaning(*flat):
        chains = unflatten(params["pytree_ref_transforms"], flat[count:])
        args = [jax_inline.transformed(arg, chain) if chain else arg for arg, chain in zip(flat, chains)]
        returned = jax.tree.leaves(model(*jax.tree.unflatten(params["pytree_args"], args)))
        found = [(tuple(r.shape), str(r.dtype)) for r in returned]
        if found != [(tuple(r.shape), str(jax.numpy.dtype(r.dtype))) for r in results]:
            raise ExportError(
                f"its model returns {found}; expected what return_type of inline_mgpu says: {list(results)}"
            )
        return returned

    jaxpr = jax_inline.traced(meaning, [v.aval for v in eqn.invars], "the model of an inlined function")
    with writer.inside(eqn):
        texts = writer.inline(jaxpr, [writer.read(env, v) for v in eqn.invars])
    for variable, text in zip(eqn.outvars, texts):
        if not jax_versions.is_dropped(variable):
            env[variable] = text
