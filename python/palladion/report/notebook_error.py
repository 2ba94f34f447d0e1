"""What a notebook shows of a DefectError: one screen, however much was found.

IPython asks an exception for `_render_traceback_`, and shows what that returns instead of frames and text. A text that
fits stays whole. Of a longer one: the first finding without its symptoms, a line for each other, the verdict, and where
the rest is. The report's text parts its findings by blank lines, the worst first; that order is kept. Does not catch:
lines that are wider than the window, which it wraps.
"""

import linecache
import os
import re
import traceback

from palladion.base.printable import one_line
from palladion.report.frames import LIBRARIES, frames_of, is_of

MOST_LINES = 36  # of the text
_FIRST, _OTHERS, _END = 21, 7, 3  # at most so many lines of each part
_WIDTH = 110


def rendered(error: BaseException) -> list[str]:
    """The lines of the error: the user's frames, and its text."""
    if os.environ.get("PALLADION_TRACEBACK") == "full":
        return "".join(traceback.format_exception(type(error), error, error.__traceback__)).splitlines()
    lines = [f"{type(error).__name__}  Traceback (most recent call last)"]
    for one in frames_of(error.__traceback__):
        frame, number = one.tb_frame, one.tb_lineno
        if frame.f_locals.get("__tracebackhide__") or is_of(frame, LIBRARIES):
            continue
        file = frame.f_code.co_filename
        lines.append(f"{file}, line {number}, in {frame.f_code.co_name}")
        lines.append(f"----> {linecache.getline(file, number, frame.f_globals).strip()}")
    return [*lines, *f"{type(error).__name__}: {shortened_text(str(error))}".splitlines()]


def shortened_text(text: str) -> str:
    """At most MOST_LINES of it, and how to see the rest."""
    if text.count("\n") < MOST_LINES:
        return text
    first, *rest = re.split(r"\n{2,}", text.strip("\n"))
    end = next((place for place, block in enumerate(rest) if block.startswith("verdict: ")), len(rest))
    lines = _cut(first.partition("\n  symptoms of it:")[0].splitlines(), _FIRST, "lines")
    others = [_headline(block) for block in rest[:end] if re.match(r"\w+\[", block)]
    if others:
        lines += ["", *_cut(others, _OTHERS, "findings")]
    for block in rest[end : end + 1]:
        lines += ["", *_cut(block.splitlines(), _END, "lines")]
    return "\n".join([*lines, "all of it: print(palladion.last_report()), or the report itself as a page"])


def _cut(lines: list[str], most: int, noun: str) -> list[str]:
    return lines if len(lines) <= most else [*lines[: most - 1], f"  ... and {len(lines) - most + 1} more {noun}"]


def _headline(block: str) -> str:
    """A finding's first line and its first place, as long as a line of text."""
    head, *rest = block.splitlines()
    place = next((line.strip().partition(" in ")[0] for line in rest if line.strip().startswith("at ")), "")
    return f"{one_line(head, _WIDTH - len(place) - 3)} ({place})" if place else one_line(head, _WIDTH)
