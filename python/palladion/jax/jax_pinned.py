"""Pinned buffers (JAX's `pin`, `unpin`, `create_linear`): values that XLA must not copy. Private names of JAX, as in
jax_versions.py.

XLA has them on TPUs and GPUs, not on a CPU. In a program whose kernels run here a pinned buffer is the array that it
holds: which buffer XLA takes changes no value. A buffer that nothing has written holds NaN, the most negative integer,
the largest unsigned one or true, as poison is.
"""

from collections.abc import Callable

import numpy as np
from jax._src.interpreters import mlir
from jax._src.state import primitives, types
from jax.core import ShapedArray

_LinVal = getattr(types, "AbstractLinVal", None)  # an older JAX has none


def hold(are_arrays: Callable[[], bool]) -> Callable[[], None]:
    """Pinned buffers are arrays on platform cpu where `are_arrays()` in the thread that lowers;
    returns what undoes it.
    """
    if _LinVal is None:
        return lambda: None
    type_of, of_cpu = mlir.ir_type_handlers[_LinVal], mlir._platform_specific_lowerings["cpu"]
    array_type = mlir.ir_type_handlers[ShapedArray]
    mlir.ir_type_handlers[_LinVal] = lambda aval: array_type(aval.inner_aval) if are_arrays() else type_of(aval)
    held = []
    for name, as_array in (("pin_p", _passed_on), ("unpin_p", _passed_on), ("create_linear_p", _unwritten)):
        primitive = getattr(primitives, name, None)
        if primitive in mlir._lowerings and primitive not in of_cpu:
            held.append(primitive)
            mlir.register_lowering(primitive, _choice(as_array, mlir._lowerings[primitive], are_arrays), platform="cpu")

    def put_back():
        mlir.ir_type_handlers[_LinVal] = type_of
        for primitive in held:
            of_cpu.pop(primitive, None)

    return put_back


def _choice(as_array, entry, are_arrays):
    own = getattr(entry, "rule", entry)

    def rule(context, *nodes, **params):
        return (as_array if are_arrays() else own)(context, *nodes, **params)

    return rule


def _passed_on(context, node, **_):
    return [node]


def _unwritten(context, **_):
    array = context.avals_out[0].inner_aval
    if np.issubdtype(array.dtype, np.integer):
        limits = np.iinfo(array.dtype)
        poison = limits.min or limits.max
    else:
        poison = array.dtype == bool or np.nan
    return [mlir.full_like_aval(context, poison, array)]


def without(context):
    """The context of a lowering rule with arrays for the pinned buffers among its operands and results.

    It is the same object where there are none: a rule says in it what JAX asks afterwards (tokens of effects).
    """
    if _LinVal is None or not any(isinstance(aval, _LinVal) for aval in (*context.avals_in, *context.avals_out)):
        return context

    def arrays(avals):
        return [aval.inner_aval if isinstance(aval, _LinVal) else aval for aval in avals]

    return context.replace(avals_in=arrays(context.avals_in), avals_out=arrays(context.avals_out))
