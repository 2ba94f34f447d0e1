"""Reports as objects, and in the words of the command: what reports.py and picture.py are made of."""

import linecache
import os

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


def as_calls(reports, replay: tuple = ()) -> list:
    """KernelReports as `_library.tell` takes them; `replay` where it is to be another than the reports' own."""
    return [
        {
            "report": plain(report),
            "count": getattr(report, "count", 1),
            "grid": list(getattr(report, "grid", ())),
            "replay": list(replay or report._replay),
        }
        for report in reports
    ]


def tell(reports, form: str = "text", *, replay: tuple = (), **more) -> str:
    """KernelReports in the words and the shape of the command: emu/front/reports/report_from_json.h has the forms,
    and what `more` may hold.
    """
    calls = as_calls(reports, replay)
    path, text = next((source for report in reports if (source := getattr(report, "_source", None))), ("", ""))
    return _library.tell({"path": path, "text": text, "form": form, "calls": calls, "lines": _lines_of(calls), **more})


def _lines_of(calls) -> dict:
    """Lines of what Python knows and no file has: the cells of notebooks."""
    lines = {}
    for call in calls:
        for finding in call["report"]["findings"]:
            for part in (finding, finding.get("first"), finding.get("second")):
                for frame in (part or {}).get("frames", ()):
                    text = "" if os.path.exists(frame["file"]) else linecache.getline(frame["file"], frame["line"])
                    if text:
                        lines.setdefault(frame["file"], {})[str(frame["line"])] = text.rstrip("\r\n")
    return lines
