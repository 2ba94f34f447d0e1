"""`palladion.time`: how long the kernels of a function take on a chip that is not there (docs/explanation/time.md).

The model is C++ (emu/timing), behind the C ABI (time_requests.py); here is what it reports, as Python objects.
"""

import ctypes
import dataclasses
import os
from collections.abc import Callable, Mapping
from typing import Any

from palladion import _library
from palladion.api import kernel_texts, running
from palladion.api.time_requests import Request, Timeline, request_of
from palladion.base.check_options import whole
from palladion.jax import probes, tensors
from palladion.report.kernel_time import KernelTime, kernel_time
from palladion.report.pictures.time import time_html
from palladion.report.short_errors import short_errors


@dataclasses.dataclass(frozen=True)
class TimeReport:
    """The kernels in the order in which they ran, and what the function returned: None where that is not asked for."""

    kernels: list[KernelTime]
    results: Any

    @property
    def seconds(self) -> float:
        """Of all kernels together, one after the other; what XLA does between them is not in it."""
        return sum(one.seconds for one in self.kernels)

    def __str__(self) -> str:
        return "\n".join(str(one) for one in self.kernels)

    def _repr_html_(self) -> str:
        return "".join(map(time_html, self.kernels))


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
    results: bool = True,
    replay: str | None = None,
) -> TimeReport:
    """How long each kernel that `f(*args)` calls takes on the chip that `target` names;
    as for `palladion.run`, a chip is needed.

    changes: other numbers of that chip, `{"l2.size": "25 MiB"}` (palladion.machines.show).
    budget: as for `palladion.run`.
    timeline: the SM, or on a TPU the core, of which each kernel's `page` and `trace` show what happened when; None:
        neither is made. Of a kernel of several devices, (device, SM).
    compare: another run's `page`, which stands beside this run on each `page`.
    results: False where only times are wanted: `results` is then None, and where `f` runs one kernel its values are not
        computed, so `palladion.last_report()` has none of its findings. Of several kernels they are computed, since one
        may decide by what another gives.
    replay: a schedule that `palladion time --schedule` wrote: the timed run is that one, or a PalladionError says where
        it is another. The chip's times decide the order of a timed run (docs/explanation/time.md), so no other schedule
        has a time.

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
        request.kernel, request.replay = kernel and kernel.encode(), _encoded(replay)
        return TimeReport([_timed(request, kernel_texts.arrays_of(args))], None)
    kernel_texts.expect_function(kernel)
    how = running.How(budget=whole("budget", budget))

    def executed(kind):
        timed.clear()
        wanted = _Wanted(texts, drawn, replay)
        return running.execute(
            f, args, probes.given(target), how=how, program=lambda text, chip: kind(text, chip, wanted, timed)
        )

    if results:
        return TimeReport(timed, tensors_of(executed(_TimedProgram).results))
    try:
        executed(_OnlyTimedProgram)
    except _SeveralKernels:
        executed(_TimedProgram)
    return TimeReport(timed, None)


@dataclasses.dataclass(frozen=True)
class _Wanted:
    changes: list[str]
    timeline: Timeline | None
    replay: str | None


class _TimedProgram(_library.Program):
    """A kernel whose runs are timed beside."""

    def __init__(self, text, target, wanted, timed):
        super().__init__(text, None, target)
        self._text, self._target, self._wanted, self._timed = text, target, wanted, timed

    def run(self, inputs, outputs, budget=None, *how) -> tuple:
        request = request_of(self._text, self._target, self._wanted.changes, budget, self._wanted.timeline)
        request.replay = _encoded(self._wanted.replay)
        self._timed.append(_timed(request, inputs))
        return self._run(inputs, outputs, budget, *how)

    def _run(self, *call) -> tuple:
        return super().run(*call)


def _encoded(replay: str | None) -> bytes | None:
    return None if replay is None else replay.encode("utf-8", "replace")


class _SeveralKernels(Exception):
    """A kernel runs after one that was not computed."""


class _OnlyTimedProgram(_TimedProgram):
    """Leaves its outputs as they are, so it must be the only one and run once."""

    def run(self, inputs, outputs, budget=None, *how) -> tuple:
        if self._timed:
            raise _SeveralKernels
        return super().run(inputs, outputs, budget, *how)

    def _run(self, *_) -> tuple:
        return 0, {"kernel": self._timed[-1].kernel, "target": "", "findings": [], "notes": [], "error": None}


def _drawn(timeline: int | tuple[int, int] | None, compare: str | None) -> Timeline | None:
    if timeline is None:
        if compare is not None:
            raise ValueError("compare is part of a page, and none is made; say which SM or core: timeline=0")
        return None
    device, unit = timeline if isinstance(timeline, tuple) and len(timeline) == 2 else (0, timeline)
    return Timeline(whole("timeline", unit, least=0), whole("timeline", device, least=0), compare and compare.encode())


def _timed(request: Request, inputs) -> KernelTime:
    data, text = _library.answer("palladion_time", request, inputs)
    return kernel_time(data, text, *_pictures(request))


def _pictures(request: Request) -> tuple[str, str] | tuple[()]:
    if not request.timeline:
        return ()
    library, drawn = _library.load(), request.timeline.contents
    return _library._take_text(library, ctypes.c_void_p(drawn.page)), _library._take_text(
        library, ctypes.c_void_p(drawn.trace)
    )
