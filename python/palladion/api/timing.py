"""`palladion.time`: how long the kernels of a function take on a chip that is not there (docs/time.md).

The model is C++ (emu/timing); this file makes the C ABI's request and turns the answer into Python objects.
"""

import ctypes
import dataclasses
import functools
import json
import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from palladion import _library
from palladion.api import kernel_texts, running
from palladion.base.check_options import whole
from palladion.jax import probes, tensors
from palladion.report.kernel_time import KernelTime, kernel_time
from palladion.report.short_errors import short_errors


class _Timeline(ctypes.Structure):
    _fields_ = [
        ("unit", ctypes.c_int64),
        ("device", ctypes.c_int64),
        ("compare", ctypes.c_char_p),
        ("page", ctypes.c_void_p),
        ("trace", ctypes.c_void_p),
    ]


class Request(ctypes.Structure):
    """palladion_time_request."""

    _fields_ = [
        ("text", ctypes.c_char_p),
        ("size", ctypes.c_size_t),
        ("kernel", ctypes.c_char_p),
        ("target", ctypes.c_char_p),
        ("changes", ctypes.POINTER(ctypes.c_char_p)),
        ("n_changes", ctypes.c_size_t),
        ("budget", ctypes.c_int64),
        ("timeline", ctypes.POINTER(_Timeline)),
    ]


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


@short_errors
def time(
    f: Callable | str | os.PathLike,
    *args: Any,
    target: str | None = None,
    changes: Mapping[str, str | float] | None = None,
    budget: int | None = None,
    timeline: int | tuple[int, int] | None = None,
    compare: str | None = None,
    kernel: str | None = None,
) -> TimeReport:
    """How long each kernel that `f(*args)` calls takes on the chip that `target` names;
    as for `palladion.run`, a chip is needed.

    `changes` are other numbers of that chip, `{"l2.size": "25 MiB"}` (palladion.machines.show).
    budget: as for `palladion.run`.
    timeline: the SM, or on a TPU the core, of which each kernel's `page` and `trace` show what happened when; None:
    neither is made. Of a kernel of several devices, (device, SM).
    compare: another run's `page`, which stands beside this run on each `page`.
    `f` may be a kernel text or the path of one, `kernel` names one of several, as for `palladion.check`; nothing is
    returned by such an `f`.
    PalladionError: a kernel or chip that the model of time does not know, with the line; a change that is wrong.
    """
    timed: list[KernelTime] = []
    texts = [f"{number}={value}" for number, value in (changes or {}).items()]
    args, tensors_of = tensors.as_arrays(args)
    drawn = _drawn(timeline, compare)
    if (source := kernel_texts.source_of(f)) is not None:
        request = request_of(source[1], probes.given(target), texts, whole("budget", budget), drawn)
        request.kernel = kernel and kernel.encode()
        return TimeReport([_timed(request, kernel_texts.arrays_of(args))], None)
    kernel_texts.expect_function(kernel)
    how = running.How(budget=whole("budget", budget))
    execution = running.execute(
        f,
        args,
        probes.given(target),
        how=how,
        program=lambda text, chip: _TimedProgram(text, chip, _Wanted(texts, drawn), timed),
    )
    return TimeReport(timed, tensors_of(execution.results))


@dataclasses.dataclass(frozen=True)
class _Wanted:
    changes: list[str]
    timeline: _Timeline | None


class _TimedProgram(_library.Program):
    """A kernel whose runs are timed beside."""

    def __init__(self, text, target, wanted, timed):
        super().__init__(text, None, target)
        self._text, self._target, self._wanted, self._timed = text, target, wanted, timed

    def run(self, inputs, outputs, budget=None, *how) -> tuple:
        request = request_of(self._text, self._target, self._wanted.changes, budget, self._wanted.timeline)
        self._timed.append(_timed(request, inputs))
        return super().run(inputs, outputs, budget, *how)


def _drawn(timeline: int | tuple[int, int] | None, compare: str | None) -> _Timeline | None:
    if timeline is None:
        if compare is not None:
            raise ValueError("compare is part of a page, and none is made; say which SM or core: timeline=0")
        return None
    device, unit = timeline if isinstance(timeline, tuple) and len(timeline) == 2 else (0, timeline)
    return _Timeline(whole("timeline", unit, least=0), whole("timeline", device, least=0), compare and compare.encode())


def _timed(request: Request, inputs) -> KernelTime:
    data, text = timed_call("palladion_time", request, inputs)
    return kernel_time(data, text, *_pictures(request))


def request_of(text, target, changes, budget, timeline=None) -> Request:
    encoded = text.encode()
    listed = (ctypes.c_char_p * len(changes))(*(change.encode() for change in changes))
    drawn = None if timeline is None else ctypes.pointer(_Timeline(timeline.unit, timeline.device, timeline.compare))
    return Request(encoded, len(encoded), None, target and target.encode(), listed, len(changes), budget or 0, drawn)


@functools.cache
def _function(name):
    library = _library.load()
    function, text_out, error = getattr(library, name), ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(_library._Error)
    function.restype = ctypes.c_void_p
    function.argtypes = [ctypes.c_void_p, ctypes.POINTER(_library._Array), ctypes.c_size_t, text_out, error]
    return library, function


def timed_call(name: str, request: ctypes.Structure, inputs) -> tuple[dict, str]:
    """The answer of a function of the C ABI that takes a request and arrays: its JSON, and its text for people."""
    (library, function), held = _function(name), []
    text, error = ctypes.c_void_p(), _library._Error()
    arrays = [np.asarray(one, order="C") for one in inputs]
    described = _library._listed(arrays, held)
    result = ctypes.c_void_p(
        function(ctypes.byref(request), described, len(arrays), ctypes.byref(text), ctypes.byref(error))
    )
    _library._expect(error, result.value)
    return json.loads(_library._take_text(library, result)), _library._take_text(library, text)


def _pictures(request: Request) -> tuple[str, str] | tuple[()]:
    if not request.timeline:
        return ()
    library, drawn = _library.load(), request.timeline.contents
    return _library._take_text(library, ctypes.c_void_p(drawn.page)), _library._take_text(
        library, ctypes.c_void_p(drawn.trace)
    )
