"""Reports as objects, and rendered as the command does: what reports.py and report_html.py are made of."""

import linecache
import os
from collections.abc import Iterable

from palladion import _library
from palladion.base.printable import one_line


class Fields:
    """An object of a report: each member of the JSON is an attribute, in the objects inside it too."""

    def __init__(self, members: dict):
        for name, value in members.items():
            setattr(self, name, _wrapped(value))

    def _more(self) -> dict:
        """Members of the JSON that are no attributes."""
        return {}

    def __repr__(self) -> str:
        members = ", ".join(f"{name}={value!r}" for name, value in vars(self).items() if not name.startswith("_"))
        return one_line(f"{type(self).__name__}({members})", 160)


def _wrapped(value):
    if isinstance(value, dict):
        return Fields(value)
    return [_wrapped(v) for v in value] if isinstance(value, list) else value


def many(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")


def plain(value):
    """An object of a report as JSON has it."""
    if isinstance(value, Fields):
        return {
            **{name: plain(member) for name, member in vars(value).items() if not name.startswith("_")},
            **value._more(),
        }
    return [plain(v) for v in value] if isinstance(value, (list, tuple)) else value


def as_calls(reports) -> list:
    """KernelReports as JSON, for another process; `calls_of` reads them there."""
    return [
        {"report": plain(report), "count": getattr(report, "count", 1), "replay": list(report._replay)}
        for report in reports
    ]


def calls_of(written: list) -> list:
    """What `as_calls` of another process gave, to be rendered."""
    return [
        _library.RenderedCall(_library.read_report(call["report"]), call["count"], call["replay"]) for call in written
    ]


def render(reports, form: str = "text", *, replay: tuple = (), **more) -> str:
    """KernelReports as the command prints them: `_library.render` has the forms, and what `more` may hold."""
    source = next((source for report in reports if (source := getattr(report, "_source", None))), ("", ""))
    calls = [
        _library.RenderedCall(report.handle, getattr(report, "count", 1), replay or report._replay)
        for report in reports
    ]
    return _library.render(form, calls, source=source, lines=_lines_of(reports), **more)


def frames_of(finding) -> list:
    """Of a finding and of its two sides."""
    return [frame for part in (finding, finding.first, finding.second) for frame in getattr(part, "frames", ())]


def cell_lines(files: Iterable[str]) -> list[tuple[str, int, str]]:
    """(file, line, text): all lines of the files that Python knows and no disk has: the cells of notebooks."""
    return [
        (file, number, line.rstrip("\r\n"))
        for file in dict.fromkeys(files)
        if not os.path.exists(file)
        for number, line in enumerate(linecache.getlines(file), 1)
    ]


def _lines_of(reports) -> list[tuple[str, int, str]]:
    """Those that a finding names."""
    frames = [frame for report in reports for finding in report.findings for frame in frames_of(finding)]
    named = {(frame.file, frame.line) for frame in frames}
    return [one for one in cell_lines(frame.file for frame in frames) if one[:2] in named]
