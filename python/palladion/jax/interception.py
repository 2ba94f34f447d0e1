"""Catches every kernel that the lowering of a function reaches, and writes it as kernel text.

JAX lowers `jax.jit(f)` for platform cpu with rules of ours for the primitives that call kernels; scan, cond, vmap, grad
and the rest are JAX's own work. A kernel that two equations call is lowered, and so exported, twice; one that JAX
itself shares (the body of a jitted function that is called twice, the body of a loop) is exported once. What it does
not catch: kernels in functions that only run, such as host callbacks.
"""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from palladion import _library
from palladion.base.errors import ExportError
from palladion.jax import device_mesh, jax_gpu_calls, jax_programs, jax_versions, lowering, probes
from palladion.jax.carriers import from_carrier, is_key, storage
from palladion.jax.exporter.gpu_pipeline import gpu_call_text
from palladion.jax.exporter.kernel import infer_backend
from palladion.jax.exporter.mpmd import mpmd_map_text
from palladion.jax.exporter.types import semaphore_name
from palladion.jax.exporter.writer import TextFile
from palladion.report.short_errors import given_function, short_errors

_TEXT_OF = {"pallas_call": gpu_call_text, "mpmd_map": mpmd_map_text}


def lower_with(function, args, rule_of):
    """Lowers `function(*args)` for cpu; `rule_of(name)` is the lowering rule of the kernel call primitive `name`.

    A new wrapper each time, because JAX would answer a function that it knows from its caches, without our rules.
    """
    with lowering.answering(rule_of):
        try:
            return jax.jit(lambda *a: given_function(function, a)).trace(*args).lower(lowering_platforms=("cpu",))
        except (AssertionError, AttributeError, ValueError) as error:
            if (ours := probes.explained(error)) is None:
                raise
            raise ours from error


def call_place(context) -> str:
    """`file.py:12` of the user's call that a lowering rule was asked for, or ""."""
    place = TextFile().locations.as_caller(jax_versions.call_traceback(context))
    return place[2] if place else ""


def _bare_backend(target: str | None) -> str:
    """The backend of a kernel that names none, where it decides what the text is: Mosaic GPU makes a pipeline of the
    call.
    """
    backend, _, chip = (target or "").rpartition("/")
    if not backend and any(known["name"] == chip and not known["tpu"] for known in _library.chips()):
        backend = jax_gpu_calls.backend_of_bare_calls()
    return backend if backend == "mosaic_gpu" else ""


def write_kernel(file: TextFile, primitive_name: str, context, params, target: str | None = None):
    """Writes the kernel that a lowering rule was asked for; returns its KernelInfo.
    ExportError also for arrays that are no values.

    `target`: the one it is to run on, where that is known.
    """
    for role, avals in (("operand", context.avals_in), ("result", context.avals_out)):
        for number, aval in enumerate(avals):
            if jax_programs.is_extended(aval.dtype) and not is_key(aval.dtype) and not semaphore_name(aval.dtype):
                raise ExportError(
                    f"{role} {number} of the kernel is {aval.str_short()}; expected an array of numbers, of keys or of "
                    "semaphores",
                    call_place(context),
                )
    jaxprs = params["jaxprs"] if "jaxprs" in params else (params["jaxpr"],)
    mesh = params["meshes"][0] if "meshes" in params else params.get("mesh")
    on_tpu = infer_backend(params.get("compiler_params"), mesh, jaxprs[0]) == "mosaic_tpu"
    file.bare_backend = _bare_backend(target)
    file.devices = device_mesh.mesh_of(context, jaxprs, on_tpu, tuple(getattr(mesh, "shape", None) or ()))
    file.partitioned = jax_programs.partitioned_axes(context)
    return _TEXT_OF[primitive_name](file, params, context.avals_in, jax_versions.call_traceback(context))


def target_of(info, target: str | None) -> str | None:
    """What the library is to run a kernel on that `write_kernel` wrote for this target: one that still names no backend
    is no Mosaic GPU's.
    """
    return target if target is None or info.backend else _library.resolved_target(target)


def file_for(target: str | None) -> TextFile:
    """A text whose kernels say that they are for this target; None: what each says itself."""
    return TextFile(None if target is None else functools.partial(_target_of_kernel, target))


def _target_of_kernel(target: str, kernel: str, backend: str | None) -> str:
    try:
        return _library.resolved_target(target, backend)
    except _library.PalladionError as error:
        raise _library.PalladionError(str(error).replace("fit a kernel", f"fit kernel @{kernel}"), error.code) from None


@short_errors
def export(f: Callable, *args: Any, target: str | None = None) -> str:
    """The text of every kernel that the lowering of `f(*args)` reaches, in the order of lowering.

    `args` may be arrays or jax.ShapeDtypeStruct. Raises ExportError, with the user's file and line, for a kernel that
    kernel text cannot express, and for an `f` without kernels. `target`, or that of the `palladion.target` around the
    call, is what the text is for, and says so (`backend`, `arch`); it answers what kernels ask about the chip. Without
    one a kernel that names no backend is for any; on a GPU it is what the installed JAX makes of it.
    PalladionError where the target does not fit a kernel.
    """
    target = probes.given(target)
    file = file_for(target)

    def rule_of(name):
        def rule(context, *nodes, **params):
            write_kernel(file, name, context, params, target)
            return jax_versions.lower_function(lambda *_: [_zeros(aval) for aval in context.avals_out])(context, *nodes)

        return rule

    with probes.of_target(target):
        lower_with(f, args, rule_of)
    if not file.kernels:
        raise ExportError(
            f"no kernel was found in {getattr(f, '__name__', f)!r}: nothing it lowers to calls pallas_call"
        )
    return file.text()


def _zeros(aval):
    """A stand-in for a kernel's result while nothing runs."""
    if is_key(aval.dtype):
        return jax.random.wrap_key_data(
            jnp.zeros(aval.shape + aval.dtype._impl.key_shape, jnp.uint32), impl=aval.dtype._impl.name
        )
    if semaphore_name(aval.dtype):
        return from_carrier(jnp.zeros(*storage(aval)), aval)
    return jnp.zeros(aval.shape, aval.dtype)
