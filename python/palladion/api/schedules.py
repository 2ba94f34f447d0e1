"""`palladion.draw_schedule`: the run that shows a finding, as a picture (docs/guides/schedule-pictures.md).

The replay, the choice of what is shown and the drawing are C++ (emu/tools/schedule); here are the C ABI's request,
and which of a report's findings is drawn.
"""

import ctypes
import json
import os
from collections.abc import Callable
from typing import Any

from palladion import _library
from palladion.api import checking
from palladion.base.check_options import OPTIONS
from palladion.bridge.session_report import SessionReport
from palladion.report.pictures.picture import Picture
from palladion.report.rendering import cell_lines, frames_of
from palladion.report.reports import DefectError, Finding, KernelReport, Launched, Report
from palladion.report.short_errors import short_errors

_REPORTS = (KernelReport, Report, SessionReport)
_SEVERITIES = ("note", "warning", "defect")


class _Request(ctypes.Structure):
    """palladion_schedule_request."""

    _fields_ = [
        ("text", ctypes.c_char_p),
        ("size", ctypes.c_size_t),
        ("kernel", ctypes.c_char_p),
        ("target", ctypes.c_char_p),
        ("launches", ctypes.c_int64),
        ("check", ctypes.POINTER(ctypes.c_char_p)),
        ("code", ctypes.c_char_p),
        ("text_line", ctypes.c_int),
        ("first_line", ctypes.c_int),
        ("second_line", ctypes.c_int),
        ("lines", ctypes.POINTER(_library._SourceLine)),
        ("n_lines", ctypes.c_size_t),
    ]


@short_errors
def draw_schedule(
    found: Finding | KernelReport | Report | SessionReport | DefectError | Callable | str | os.PathLike,
    *args: Any,
    finding: str | None = None,
    **options: Any,
) -> Picture:
    """The run that shows a finding, as a picture: agents as lanes, what each did in which order, what waited for what,
    and the edge that is missing in red.

    found: a finding, or a report or a DefectError, of `palladion.check` or of a session (`palladion.emulate`): its
        worst finding is drawn, or that with the code `finding` ("RACE_RW"). Or a function (a kernel text, or the path
        of one), which is checked first: `args` and `options` are those of `palladion.check`, `replay` among them.

    ValueError: nothing was found, no schedule shows it, or its inputs were too large to be kept: the message says how
        to draw it then.
    """
    if not isinstance(found, (Finding, DefectError, *_REPORTS)):
        found = checking.check(found, *args, **options)
    elif args or options:
        raise TypeError("arguments and options of a check go with a function; a finding or a report has its own")
    drawn = found if isinstance(found, Finding) else _worst(_kernels_of(found), finding)
    return _drawn(drawn)


def _kernels_of(found: DefectError | KernelReport | Report | SessionReport) -> list[KernelReport]:
    report = found.report if isinstance(found, DefectError) else found
    if isinstance(report, KernelReport):
        return [report]
    return list(report.kernels if isinstance(report, Report) else report.calls)


def _worst(kernels: list[KernelReport], code: str | None) -> Finding:
    """A mistake rather than its symptoms, what a schedule shows rather than what is known before."""
    of_code = [one for kernel in kernels for one in kernel.findings if code in (None, one.code)]
    if not of_code:
        codes = ", ".join(sorted({one.code for kernel in kernels for one in kernel.findings}))
        if not codes:
            raise ValueError(
                "nothing was found, so there is no failing run to draw; palladion.draw draws a run that is right"
            )
        raise ValueError(f"nothing was found with the code {code}, so there is no failing run to draw; found: {codes}")
    return max(of_code, key=lambda one: (bool(one.replay), one.cause is None, _SEVERITIES.index(one.severity)))


def _drawn(finding: Finding) -> Picture:
    if not finding.replay:
        raise ValueError(f"{finding.code} is known before anything runs, so no schedule shows it: {finding.message}")
    kept = finding.call and finding.call.launched
    if kept is None:
        raise ValueError(
            f"the kernel and the inputs of this {finding.code} were not kept: a report keeps up to 256 MiB of them, "
            f"and none of another process; draw it from the function: palladion.draw_schedule(f, *args, "
            f'target="{getattr(finding.call, "target", "")}", replay="{finding.replay}")'
        )
    return Picture(**_answer(kept, finding))


def _answer(kept: Launched, finding: Finding) -> dict:
    names = [name for name, option in OPTIONS.items() if option.replays]
    check = _library.options_list({name: kept.options.get(name) for name in names} | {"replay": finding.replay})
    encoded, lines = kept.text.encode(), cell_lines(frame.file for frame in frames_of(finding))
    sides = [0 if side is None else side.text_line for side in (finding.first, finding.second)]
    request = _Request(
        encoded,
        len(encoded),
        kept.kernel and kept.kernel.encode(),
        kept.target and kept.target.encode(),
        kept.launches,
        ctypes.cast(check, ctypes.POINTER(ctypes.c_char_p)),
        finding.code.encode(),
        finding.text_line,
        *sides,
        _library.source_lines(lines),
        len(lines),
    )
    held, error, library = [], _library._Error(), _library.load()
    inputs = _library._listed(_library._contiguous(kept.inputs), held)
    drawn = ctypes.c_void_p(
        library.palladion_draw_schedule(ctypes.byref(request), inputs, len(kept.inputs), ctypes.byref(error))
    )
    _library._expect(error, drawn.value)
    return json.loads(_library._take_text(library, drawn))
