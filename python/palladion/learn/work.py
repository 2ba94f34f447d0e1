"""What an answer is made of: which operations its kernels have, and which JAX would do beside them.

Right values do not say that a kernel computed them: JAX may have done so before or after. A model of time sees kernels
alone, so that work beside them would cost nothing.
"""

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from palladion.learn.answers import Where, is_learners

_KERNELS = {"pallas_call", "mpmd_map", "core_map"}
# They only hold other operations. A loop or a scatter holds some too, of numbers, and does work with arrays.
_CALLS = {
    "closed_call",
    "custom_jvp_call",
    "custom_vjp_call",
    "custom_vmap_call",
    "jit",
    "pjit",
    "run_state",
    "shard_map",
}
# They give an array another shape, or are how a call of a kernel hands its arrays over.
_NO_WORK = {"axis_index", "broadcast_in_dim", "empty", "empty_ref", "freeze", "new_ref", "squeeze"}


@dataclasses.dataclass
class Work:
    inside: set[str] = dataclasses.field(default_factory=set)  # operations of the kernels
    beside: list[Any] = dataclasses.field(default_factory=list)  # equations with arrays, outside of them
    multiplied: set[str] = dataclasses.field(default_factory=set)  # types of the operands of products of arrays


def work_of(f: Callable, *args: Any) -> Work:
    work = Work()
    _add(jax.make_jaxpr(f)(*args).jaxpr, work, in_kernel=False)
    return work


def _add(jaxpr, work, in_kernel) -> None:
    for equation in jaxpr.eqns:
        name, inner = equation.primitive.name, _inner(equation)
        if in_kernel:
            _add_inside(equation, work)
        elif not _is_no_work(equation) and _has_arrays(equation):
            work.beside.append(equation)
        for one in inner:
            _add(one, work, in_kernel or name in _KERNELS)


def _is_no_work(equation) -> bool:
    name, params = equation.primitive.name, equation.params
    if name == "get":  # of all of a ref; with indices it is a gather
        return params["tree"].num_leaves == 0 and params["tree"].num_nodes <= 1
    if name == "reshape":  # with dimensions it is a transposition too
        return params["dimensions"] is None
    return name in _NO_WORK | _CALLS | _KERNELS


def _add_inside(equation, work) -> None:
    """Two names are not JAX's: what is asked for is an argument of an operation, or part of a reference."""
    name = equation.primitive.name
    work.inside.add(name)
    if name == "copy_gmem_to_smem" and equation.params.get("collective_axes"):
        work.inside.add("collective_copy")
    if "ClusterRefTransform" in str(equation.params.get("tree")):
        work.inside.add("cluster_ref")
    if name == "dot_general":
        work.multiplied |= {one.aval.dtype.name for one in equation.invars[:2]}


def _inner(equation) -> list:
    """The operations that an operation holds, as of a jit."""
    held = [getattr(one, "jaxpr", one) for one in jax.tree.leaves(list(equation.params.values()))]
    return [one for one in held if hasattr(one, "eqns")]


def _has_arrays(equation) -> bool:
    """Numbers are no work: the device's own in a ring, for one."""
    shapes = [getattr(one.aval, "shape", ()) for one in (*equation.invars, *equation.outvars)]
    return any(int(np.prod(shape)) > 1 for shape in shapes)


def place_of(equation, path) -> Where | None:
    """The learner's line that an equation comes from."""
    traceback = equation.source_info.traceback
    frames = traceback.frames if traceback else ()
    return next((Where(one.file_name, one.line_num) for one in frames if is_learners(one.file_name, path)), None)
