"""`palladion.time`: how long the kernels of a function take on a chip that is not there (docs/time.md).

The model is C++ (emu/time); here are the C ABI's request, and what it tells as Python objects.
"""

import ctypes
import dataclasses
import functools
import json
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from palladion import _library, probes, running, tensors
from palladion.check_options import whole
from palladion.kernel_time import KernelTime, kernel_time


class Request(ctypes.Structure):
    """palladion_time_request."""

    _fields_ = [("text", ctypes.c_char_p), ("size", ctypes.c_size_t), ("kernel", ctypes.c_char_p), ("target", ctypes.c_char_p),
                ("changes", ctypes.POINTER(ctypes.c_char_p)), ("n_changes", ctypes.c_size_t), ("budget", ctypes.c_int64)]


@dataclasses.dataclass(frozen=True)
class TimeReport:
    """The kernels in the order in which they ran, and what the function returned."""

    kernels: list[KernelTime]
    results: Any

    @property
    def seconds(self) -> float:
        """Of all kernels together, one after the other; what XLA does between them is not in it."""
        return sum(one.seconds for one in self.kernels)

    def __str__(self) -> str:
        return "\n".join(str(one) for one in self.kernels)


def time(f: Callable, *args: Any, target: str | None = None, changes: Mapping[str, str | float] | None = None,
         budget: int | None = None) -> TimeReport:
    """How long each kernel that `f(*args)` calls takes on the chip that `target` names; as for `palladion.run`, a chip is needed.

    `changes` are other numbers of that chip, `{"l2.size": "25 MiB"}` (palladion.machines.show). budget: as for `palladion.run`.
    PalladionError: a kernel or chip that the model of time does not know, with the line; a change that is wrong.
    """
    timed: list[KernelTime] = []
    texts = [f"{number}={value}" for number, value in (changes or {}).items()]
    args, tensors_of = tensors.as_arrays(args)
    how = running.How(budget=whole("budget", budget))
    execution = running.execute(f, args, probes.given(target), how=how,
                                program=lambda text, chip: _TimedProgram(text, chip, texts, timed))
    return TimeReport(timed, tensors_of(execution.results))


class _TimedProgram(_library.Program):
    """A kernel whose runs are timed beside."""

    def __init__(self, text, target, changes, timed):
        super().__init__(text, None, target)
        self._text, self._target, self._changes, self._timed = text, target, changes, timed

    def run(self, inputs, outputs, budget=None) -> tuple:
        data, text = told("palladion_time", request_of(self._text, self._target, self._changes, budget), inputs)
        self._timed.append(kernel_time(data, text))
        return super().run(inputs, outputs, budget)


def request_of(text, target, changes, budget) -> Request:
    encoded = text.encode()
    listed = (ctypes.c_char_p * len(changes))(*(change.encode() for change in changes))
    return Request(encoded, len(encoded), None, target and target.encode(), listed, len(changes), budget or 0)


@functools.cache
def _function(name):
    library = _library.load()
    function, text_out = getattr(library, name), ctypes.POINTER(ctypes.c_void_p)
    function.restype = ctypes.c_void_p
    function.argtypes = [ctypes.c_void_p, ctypes.POINTER(_library._Array), ctypes.c_size_t, text_out, text_out]
    return library, function


def told(name: str, request: ctypes.Structure, inputs) -> tuple[dict, str]:
    """What a function of the C ABI that takes a request and arrays tells: its JSON, and its text for people."""
    (library, function), held = _function(name), []
    text, message = ctypes.c_void_p(), ctypes.c_void_p()
    arrays = [np.asarray(one, order="C") for one in inputs]
    described = (_library._Array * max(len(arrays), 1))(*[_library._described(one, held) for one in arrays])
    result = ctypes.c_void_p(function(ctypes.byref(request), described, len(arrays), ctypes.byref(text), ctypes.byref(message)))
    error = _library._take_text(library, message)
    if error:
        raise _library.PalladionError(error, _library._code_of(error))
    return json.loads(_library._take_text(library, result)), _library._take_text(library, text)
