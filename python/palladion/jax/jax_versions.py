"""Everything that differs between JAX versions, and every private JAX name that Palladion uses, in one place.

Its other parts: jax_deprecated.py (names that JAX deprecates), jax_gpu_calls.py (Mosaic GPU's pallas_call),
jax_inline.py (plgpu.inline_mgpu), jax_devices.py (what devices answer), jax_semaphores.py, jax_tensor_memory.py
(layouts of TMEM), jax_interpreters.py (what JAX's own interpreters answer).
Supported: JAX 0.8 to 0.12. No other file of this package imports from `jax._src` or asks for a version.
What it does not catch: a version that keeps a name and changes its meaning;
`exporter/` refuses parameters it does not know.
"""

import contextlib
import importlib
import inspect
import os
import warnings

import jax
import numpy as np
from jax._src import config, core, source_info_util
from jax._src.interpreters import mlir

# a newer one is tried, what it has changed is named where it is met: tools/jax_release.py lists it
OLDEST, NEWEST = (0, 8), (0, 12)


def _text(version) -> str:
    return ".".join(map(str, version))


if jax.__version_info__[:2] < OLDEST:
    raise ImportError(
        f"Palladion needs JAX {_text(OLDEST)} or later, found {jax.__version__}. Install one, such as "
        f"`pip install 'jax>={_text(OLDEST)}'`"
    )


def is_from(version: tuple) -> bool:
    """This JAX is `version`, such as (0, 11), or later."""
    return jax.__version_info__[:2] >= version


def newer_note() -> str:
    """What is said of a name that Palladion has never seen, with JAX newer than the newest that it knows;
    else nothing.
    """
    if jax.__version_info__[:2] <= NEWEST:
        return ""
    return f"; this JAX ({jax.__version__}) is newer than Palladion knows ({_text(NEWEST)})"


if newer_note():
    warnings.warn(
        f"JAX {jax.__version__} is newer than the newest that this Palladion knows, {_text(NEWEST)}: kernels are tried "
        "all the same, and a primitive or parameter that it does not know is refused by its name and line. A newer "
        f"Palladion may know it; `pip install 'jax<{NEWEST[0]}.{NEWEST[1] + 1}'` is what this one was tested with",
        stacklevel=2,
    )

KERNEL_CALL_MODULES = (
    ("jax._src.pallas.pallas_call", "pallas_call_p"),
    ("jax._src.pallas.mpmd", "mpmd_map_p"),  # from 0.9.2
)


def jax_version() -> str:
    return jax.__version__


def primitive_name(primitive) -> str:
    """JAX's name; some ended in `_p` until 0.10, as the Python variable that holds the primitive does."""
    return primitive.name.removesuffix("_p")


def arrival_has_predicate() -> bool:
    """Does a false predicate of a copy also keep its barrier from the arrival? Until 0.11 the barrier got it all the
    same.
    """
    return jax.__version_info__ >= (0, 12)


def default_gpu_params():
    """What Mosaic GPU's lowering takes where a call has no compiler parameters."""
    from jax.experimental.pallas import mosaic_gpu

    return mosaic_gpu.CompilerParams()


def kernel_call_primitives() -> dict:
    """The primitives that call a kernel, by name: those this JAX has."""
    found = {}
    for module_name, attribute in KERNEL_CALL_MODULES:
        try:
            primitive = getattr(importlib.import_module(module_name), attribute)
        except (ImportError, AttributeError):
            continue
        found[primitive.name] = primitive
    return found


def register_kernel_rules(platform: str, make_rule):
    """Puts `make_rule(name, fallback)` in place for each kernel call primitive;
    returns a function that puts back what was there.

    `fallback` is the rule that would apply without it. The rules are uncacheable,
    so that each call keeps its own source lines.
    """
    options = {"cacheable": False} if "cacheable" in inspect.signature(mlir.register_lowering).parameters else {}
    uncacheable = getattr(mlir, "_uncacheable_primitives", set())
    undo = []
    for name, primitive in kernel_call_primitives().items():
        newly_uncacheable = primitive not in uncacheable
        before = {p: mlir._platform_specific_lowerings[p].get(primitive) for p in _platforms(platform)}
        entry = next((e for e in before.values() if e is not None), None) or mlir._lowerings.get(primitive)
        mlir.register_lowering(primitive, make_rule(name, getattr(entry, "rule", entry)), platform=platform, **options)
        undo.append((primitive, before, newly_uncacheable))

    def put_back():
        for primitive, before, newly_uncacheable in undo:
            for one, entry in before.items():
                if entry is None:
                    mlir._platform_specific_lowerings[one].pop(primitive, None)
                else:
                    mlir._platform_specific_lowerings[one][primitive] = entry
            if newly_uncacheable:
                uncacheable.discard(primitive)

    return put_back


def _platforms(platform: str) -> tuple:
    return ("cuda", "rocm") if platform == "gpu" else (platform,)


def swap_interpret_configuration(value):
    """Sets what JAX passes as `interpret` to every kernel of this thread; returns what was set.
    It is part of jit's key.
    """
    return config.pallas_tpu_interpret_mode_context_manager.swap_local(value)


def interpret_configuration():
    """What is set in this thread. A kernel function got what was set when `pl.pallas_call` made it,
    not what is set when it is called.
    """
    return config.pallas_tpu_interpret_mode_context_manager.value


def restore_interpret_configuration(value):
    config.pallas_tpu_interpret_mode_context_manager.set_local(value)


def lower_function(function):
    """A lowering rule that inlines what `function(*arrays) -> list of arrays` does."""
    return mlir.lower_fun(function, multiple_results=True)


def emit_python_callback(context, callback, operands, operand_avals, result_avals, has_side_effect):
    """Calls `callback(*numpy arrays) -> arrays` from compiled code.
    It never builds jax arrays, so it cannot deadlock.
    """
    try:
        from jax._src.callback import emit_python_callback as emit
    except ImportError:
        emit = mlir.emit_python_callback
    results, _, keepalive = (
        emit(
            context,
            callback,
            None,
            list(operands),
            list(operand_avals),
            list(result_avals),
            has_side_effect=has_side_effect,
            returns_token=False,
        )
        if "returns_token" in inspect.signature(emit).parameters
        else emit(
            context,
            callback,
            None,
            list(operands),
            list(operand_avals),
            list(result_avals),
            has_side_effect=has_side_effect,
        )
    )
    if keepalive is not None:
        context.module_context.add_keepalive(keepalive)
    return results


# Jaxprs. From 0.11 ClosedJaxpr and Jaxpr are one class.


def open_jaxpr(jaxpr):
    return getattr(jaxpr, "jaxpr", jaxpr)


def jaxpr_consts(jaxpr):
    return tuple(getattr(jaxpr, "consts", ()))


def is_literal(atom) -> bool:
    return isinstance(atom, core.Literal)


def is_array(value) -> bool:
    """A constant that stands in a tree of operands by itself: NumPy's, or JAX's array with a type (0.8)."""
    return isinstance(value, (np.ndarray, np.generic)) or type(value).__name__ == "TypedNdArray"


def is_dropped(variable) -> bool:
    return type(variable).__name__ == "DropVar"


def inner_jaxprs(eqn):
    """The jaxprs among the parameters of an equation."""
    for value in eqn.params.values():
        for one in value if isinstance(value, (tuple, list)) else (value,):
            if hasattr(open_jaxpr(one), "eqns"):
                yield open_jaxpr(one)


def all_jaxprs(jaxpr):
    """A jaxpr and all that are inside it."""
    inner = open_jaxpr(jaxpr)
    yield inner
    for eqn in inner.eqns:
        for one in inner_jaxprs(eqn):
            yield from all_jaxprs(one)


def all_parameters(jaxpr):
    """The abstract values of the parameters of a jaxpr and of all jaxprs inside it."""
    for inner in all_jaxprs(jaxpr):
        for variable in (*inner.invars, *inner.constvars):
            yield variable.aval


def argument_names(jaxpr):
    """The user's names of the parameters of a traced function, or () where JAX kept none."""
    debug_info = getattr(open_jaxpr(jaxpr), "debug_info", None)
    names = getattr(debug_info, "arg_names", None) if debug_info is not None else None
    return tuple("" if name is None else str(name) for name in names or ())


def function_name(jaxpr) -> str:
    debug_info = getattr(open_jaxpr(jaxpr), "debug_info", None)
    return getattr(debug_info, "func_name", "") or "kernel"


# Before 0.10 the lowering of axis_index (mosaic_gpu/lowering.py) gave a warp's number in its block, not in its thread.
WARPS_ARE_COUNTED_THROUGH_THE_BLOCK = not is_from((0, 10))

TRACEBACKS_END_AT_THE_TRACED_FUNCTION = jax.__version_info__[:2] >= (0, 9)


def traced_function(jaxpr):
    """(file, function, first line) of the Python that was traced, the user's or JAX's own,
    or None where JAX does not know it.
    """
    debug_info = getattr(open_jaxpr(jaxpr), "debug_info", None)
    function, at, place = (getattr(debug_info, "func_src_info", None) or "").partition(" at ")
    file_name, colon, line = place.rpartition(":")
    return (file_name, function, int(line)) if at and colon and line.isdigit() else None


def function_frame(jaxpr):
    """(file, function, line, 0) of the user's Python function that was traced, or None: JAX keeps no column, here 0."""
    place = traced_function(jaxpr)
    return (*place, 0) if place and is_user_file(place[0]) else None


def scan_groups(params) -> tuple[int, int]:
    """(number of constants, number of carries) of a scan."""
    if "num_consts" in params:
        return params["num_consts"], params["num_carry"]
    consts, carry, _ = params["ft_in"].unpack()  # from 0.11
    return len(consts), len(carry)


def is_dynamic_grid_dimension(size) -> bool:
    return not isinstance(size, int)


# Source locations.


def call_traceback(context):
    """Where the call was made that a lowering rule is asked for, or None."""
    return getattr(context, "traceback", None)


# Files of Palladion that call JAX's kernel helpers for the user, whose line is the one of the call around them.
_WRITE_CALLS = frozenset((__file__, os.path.join(os.path.dirname(__file__), "jax_gpu_calls.py")))


def user_frames(traceback):
    """(file, function, line, column) of each frame of the user's Python and of JAX's kernel helpers, innermost first.

    All other files of JAX are hidden, except the kernels it ships.
    """
    frames = []
    codes, instructions = traceback.raw_frames()
    for code, instruction in zip(codes, instructions):
        if not (is_user_file(code.co_filename) or is_helper_file(code.co_filename)) or code.co_filename in _WRITE_CALLS:
            continue
        frame = source_info_util.raw_frame_to_frame(code, instruction)
        frames.append((frame.file_name, frame.function_name, frame.start_line, frame.start_column + 1))
    return frames


_PALLAS = os.path.join(os.path.dirname(jax.__file__), "_src", "pallas")
# What they write into a kernel (emit_pipeline, nd_loop, ...) waits,
# copies and signals: two findings there have two lines.
_HELPERS = frozenset(
    os.path.join(_PALLAS, backend, name)
    for backend in ("mosaic", "mosaic_gpu")
    for name in ("pipeline.py", "helpers.py")
)
_SHIPPED_KERNELS = os.path.join(os.path.dirname(jax.__file__), "experimental", "pallas", "ops") + os.sep


def is_user_file(file_name: str) -> bool:
    return file_name.startswith(_SHIPPED_KERNELS) or source_info_util.is_user_filename(file_name)


def is_helper_file(file_name: str) -> bool:
    """JAX's own Python that writes parts of kernels for its users."""
    return file_name in _HELPERS


@contextlib.contextmanager
def own_lines():
    """What is traced meanwhile has the lines that write it, not the line of the call that is being lowered."""
    place = getattr(source_info_util, "_source_info_context", None)
    if place is None:
        yield
        return
    before, place.context = place.context, source_info_util.new_source_info()
    try:
        yield
    finally:
        place.context = before
