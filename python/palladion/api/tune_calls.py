"""The kernel calls of a function with the arrays of each: what `palladion.tune` has timed, and how often they run.

A function that calls one kernel once needs no values: it is stopped at the call, and the kernel is timed without
computing them, which is most of the work. Any other function runs with its kernels in Palladion, because a later kernel
may read what an earlier one wrote. Based on: the jaxpr of the function. What it does not see: kernels in host
callbacks, and how often a loop turns; such a function counts as one whose calls are not known.
"""

import dataclasses
from collections.abc import Callable, Sequence

import jax
import numpy as np

from palladion import _library
from palladion.api import running
from palladion.jax import jax_versions, probes

# Equations whose one inner jaxpr runs once.
_ONCE = ("jit", "pjit", "closed_call", "core_call", "custom_jvp_call", "custom_vjp_call", "custom_vjp_call_jaxpr")


@dataclasses.dataclass(frozen=True)
class KernelCall:
    """One execution of one kernel, as plain data: a worker on another machine can time it."""

    text: str
    target: str | None
    inputs: list[np.ndarray]


def runs_of_kernels(f: Callable, args: Sequence, target: str | None) -> int | None:
    """How many kernels `f(*args)` runs; None where that depends on values, or is not seen."""
    with probes.of_target(target):
        return _runs_in(jax_versions.open_jaxpr(jax.make_jaxpr(f)(*args)))


def _runs_in(jaxpr) -> int | None:
    total = 0
    for eqn in jaxpr.eqns:
        runs = _runs_of(eqn)
        if runs is None:
            return None
        total += runs
    return total


def _runs_of(eqn) -> int | None:
    if eqn.primitive.name in jax_versions.kernel_call_primitives():
        return 1
    inner = [_runs_in(one) for one in jax_versions.inner_jaxprs(eqn)]
    if not any(runs is None or runs for runs in inner):
        return 0
    return inner[0] if eqn.primitive.name in _ONCE and len(inner) == 1 else None


class _Stopped(Exception):
    """The call that was wanted is there."""


class _StoppingProgram:
    """Stands for a kernel whose values are not needed."""

    def __init__(self, text, target, calls):
        self._text, self._target, self._calls = text, target, calls

    def run(self, inputs, *_):
        self._calls.append(_call(self._text, self._target, inputs))
        raise _Stopped


class _CapturingProgram(_library.Program):
    """A kernel that runs, and whose arrays are kept."""

    def __init__(self, text, target, calls):
        super().__init__(text, None, target)
        self._text, self._target, self._calls = text, target, calls

    def run(self, inputs, *how) -> tuple:
        self._calls.append(_call(self._text, self._target, inputs))
        return super().run(inputs, *how)


def _call(text, target, inputs) -> KernelCall:
    # XLA's buffers are its own again once the call returns.
    return KernelCall(text, target, [np.array(one, order="C") for one in inputs])


def calls_of(f: Callable, args: Sequence, target: str | None, once: bool) -> list[KernelCall]:
    """The kernel calls of `f(*args)` in their order. `once`: it is known that there is one (runs_of_kernels)."""
    calls: list[KernelCall] = []
    program = _StoppingProgram if once else _CapturingProgram
    try:
        running.execute(f, args, target, program=lambda text, chip: program(text, chip, calls))
    except _Stopped:
        pass
    return calls


class SharedInputs:
    """Candidates mostly have the same inputs: each array is kept once."""

    def __init__(self):
        self._known: dict[tuple, list[np.ndarray]] = {}

    def of(self, calls: list[KernelCall]) -> list[KernelCall]:
        return [dataclasses.replace(one, inputs=[self._kept(array) for array in one.inputs]) for one in calls]

    def _kept(self, array: np.ndarray) -> np.ndarray:
        known = self._known.setdefault((array.shape, array.dtype.str, array.dtype.name), [])
        for one in known:
            if one.tobytes() == array.tobytes():
                return one
        known.append(array)
        return array
