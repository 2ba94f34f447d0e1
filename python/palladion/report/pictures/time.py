"""The time of a kernel as SVG: what happened when, and the limits beside it. The spans are those that the model of time
writes for Perfetto (emu/timing/timeline/trace.h); those that are too short to see are drawn as one.
"""

import html
import json
import re

from palladion.report.kernel_time import KernelTime
from palladion.report.pictures.svg import MARGIN, WIDTH, Canvas, scrolled

_NAMES, _ROW = 190, 17
_MOST_LANES, _MOST_LIMITS, _SEEN = 40, 5, 0.8  # pixels from which a gap is seen
_COLOURS = {
    "work": "good",
    "wait": "line",
    "phase": "line",
    "copy in": "read",
    "copy out": "write",
    "multiply": "atomic",
}


def time_text(kernel: KernelTime) -> str:
    """ "matmul on v5e: 10.1 us, give or take 18 %" """
    share = "how far that is off is not known"
    if kernel.uncertainty is not None:
        share = f"give or take {kernel.uncertainty:.0%}"
    return f"{kernel.kernel} on {kernel.machine}: {_seconds(kernel.seconds)}, {share}"


def time_svg(kernel: KernelTime) -> str:
    """The lanes where a timeline was asked for, and the least time that each limit allows."""
    canvas = Canvas()
    canvas.text(MARGIN, 32, kernel.kernel, size=18, bold=True, width=600)
    canvas.text(MARGIN, 52, time_text(kernel).partition(" on ")[2], size=12.5, fill="soft", width=600)
    y = 70
    if kernel.trace is not None:
        y = _lanes(canvas, json.loads(kernel.trace), y) + 22
    _limits(canvas, kernel, y)
    return canvas.svg(time_text(kernel))


def time_html(kernel: KernelTime) -> str:
    """For notebooks: the picture, and the text under it."""
    return (
        f"<div>{scrolled(time_svg(kernel))}<details><summary>all of it</summary>"
        f"<pre style='overflow-x:auto'>{html.escape(kernel.text)}</pre></details></div>"
    )


def _seconds(seconds: float) -> str:
    for unit, scale in (("s", 1), ("ms", 1e3), ("us", 1e6)):
        if seconds * scale >= 1:
            return f"{seconds * scale:.4g} {unit}"
    return f"{seconds * 1e9:.4g} ns"


def _lanes_of(trace: dict) -> list[tuple[str, str, list]]:
    """(group, name, spans): rows of one name, such as "program" and "program, 2", are one lane."""
    events = trace["traceEvents"]
    groups = {one["pid"]: one["args"]["name"] for one in events if one["name"] == "process_name"}
    names = {(one["pid"], one["tid"]): one["args"]["name"] for one in events if one["name"] == "thread_name"}
    lanes: dict[tuple[str, str], list] = {}
    lane_of = {}
    for (group, track), name in names.items():
        key = groups[group], re.sub(r", \d+$", "", name)
        lane_of[group, track] = lanes.setdefault(key, [])
    for one in events:
        if one["ph"] == "X":
            lane_of[one["pid"], one["tid"]].append(one)
    return [(group, name, spans) for (group, name), spans in lanes.items() if spans]


def _lanes(canvas: Canvas, trace: dict, top: float) -> float:
    lanes = _lanes_of(trace)
    end = max((one["ts"] + one["dur"] for _, _, spans in lanes for one in spans), default=0) or 1
    scale = (WIDTH - MARGIN - _NAMES) / end
    seen = {one.get("cat", "") for _, _, spans in lanes for one in spans}
    canvas.legend([(name, colour) for name, colour in _COLOURS.items() if name in seen and name != "phase"])
    y, before = top, None
    for group, name, spans in lanes[:_MOST_LANES]:
        if group != before:
            y += 14
            canvas.text(MARGIN, y, group.upper(), size=10, fill="soft", bold=True)
            y += 6
            before = group
        words = name if len(name) <= 25 else "…" + name[-24:]  # names of buffers differ at their ends
        canvas.text(MARGIN, y + 11, words, size=11, mono=True, width=_NAMES - MARGIN)
        _spans(canvas, spans, (_NAMES, y, scale))
        y += _ROW
    if len(lanes) > _MOST_LANES:
        y += 14
        canvas.text(MARGIN, y, f"and {len(lanes) - _MOST_LANES} more lanes (the page has all)", size=11, fill="soft")
    return _axis(canvas, end, scale, (top + 10, y + 4))


def _spans(canvas: Canvas, spans: list, place: tuple):
    x, y, scale = place
    runs: dict[str, list] = {}
    for one in sorted(spans, key=lambda span: span["ts"]):
        begin, end = one["ts"] * scale, (one["ts"] + one["dur"]) * scale
        found = runs.setdefault(_COLOURS.get(one.get("cat", ""), "line"), [])
        if found and begin - found[-1][1] < _SEEN:
            found[-1][1] = max(found[-1][1], end)
            found[-1][2] = ""
        else:
            found.append([begin, end, one["name"]])
    for colour in sorted(runs, key=lambda name: name != "line"):  # what waits lies below what works
        d = "".join(f"M{x + begin:.1f} {y + 7}h{max(end - begin, 0.6):.1f}" for begin, end, _ in runs[colour])
        canvas.path(d, colour, width=12, opacity=0.75)
    for colour, found in runs.items():
        for begin, end, name in found:
            if name and end - begin > 46 and len(name) * 5.6 < (end - begin) * 1.6:
                fill = "ink" if colour == "line" else "paper"
                canvas.text(x + begin + 4, y + 11, name, size=9.5, fill=fill, width=end - begin - 6)


def _axis(canvas: Canvas, end: float, scale: float, rows: tuple[float, float]) -> float:
    top, bottom = rows
    step = 10.0 ** len(str(int(end))) / 10 if end >= 1 else 0.1
    step = next((step * part for part in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2) if end / (step * part) <= 8), step)
    grid = ""
    for number in range(int(end / step) + 1):
        x = _NAMES + number * step * scale
        grid += f"M{x:.1f} {top}V{bottom}"
        anchor = "end" if x > WIDTH - 40 else "middle"
        canvas.text(
            x, bottom + 14, f"{number * step:.4g}" + (" us" * (number == 0)), size=10, fill="soft", anchor=anchor
        )
    canvas.path(grid, "soft", width=0.6, opacity=0.35)
    return bottom + 14


def _limits(canvas: Canvas, kernel: KernelTime, top: float):
    limits = sorted(kernel.roofline.items(), key=lambda one: -one[1])[:_MOST_LIMITS]
    if not limits:
        return
    y = top + 8
    canvas.path(f"M{MARGIN} {top - 6}H{WIDTH - MARGIN}", "line")
    canvas.text(MARGIN, y + 6, "THE LEAST TIME THAT EACH LIMIT ALLOWS", size=10, fill="soft", bold=True)
    most = max(kernel.seconds, *(seconds for _, seconds in limits))
    room = WIDTH - MARGIN - 330 - 130
    for name, seconds in [("all of it", kernel.seconds), *limits]:
        y += 19
        canvas.text(MARGIN, y + 10, name, size=11.5, width=300)
        canvas.rect(
            (330, y, max(room * seconds / most, 1), 12), "ink" if name == "all of it" else "read", opacity=0.6, radius=2
        )
        words = f"{_seconds(seconds)}, {seconds / kernel.seconds:.0%}"
        canvas.text(336 + room * seconds / most, y + 10, words, size=11, fill="soft")
