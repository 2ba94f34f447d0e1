"""Reports as HTML for notebooks: a summary, each finding with its places and its picture, a row for each kernel. All of
it is text, SVG and <details>: no scripts, nothing from outside.
Colours are of the middle, so that they can be read on dark and on light.

The content and its order come from the library (emu/front/reports/report_view.h), as they do for text; its texts are
printable, and every one of them is escaped here.
"""

import html
import json
import re

from palladion.report.rendering import render

_COLOURS = {
    "proved": "#3a9d40",
    "clean": "#3a9d40",
    "ran": "#808080",
    "warning": "#d9730d",
    "nondeterministic": "#d9730d",
    "defect": "#e04848",
    "unsupported": "#9a5bc4",
    "none": "#808080",
    "error": "#e04848",
    "note": "#3b8fc4",
}
_CELL = "#7aa7d0"
_SIDES = ("#d9730d", "#9a5bc4")  # the first access and the second
_BOTH = "#e04848"
_MOST_CELLS, _PIXELS = 32, 10  # of one side
CODE = (
    "margin:2px 0 2px 1em;padding:4px 8px;border-left:3px solid "
    "#80808080;background:#80808018;overflow-x:auto;white-space:pre"
)


def report_html(calls, dropped: int = 0, difference: str = "") -> str:
    """KernelReports with what was found, worst first."""
    if not calls:
        return "<div>no kernel ran</div>"
    parts = json.loads(render(calls, "parts", dropped=dropped, difference=difference))
    number = parts["calls"] + dropped
    lines = [
        f"<div>{_coloured(parts['verdict'], parts['verdict'])}{_after(': ', parts['tally'])}, {number} kernel "
        f"call{'s' * (number != 1)}</div>"
    ]
    lines += [
        _finding(finding, calls[finding["call"]], is_open=place < 3) for place, finding in enumerate(parts["findings"])
    ]
    lines += [f"<div>{_coloured('error', 'error')} {_text(error)}</div>" for error in parts["errors"]]
    lines += [f"<div><b>fidelity</b>: {_text(line)}</div>" for line in parts["fidelity"]]
    lines += [f"<div><b>remark</b>: {_text(remark)}</div>" for remark in parts["remarks"]]
    lines.append(_kernel_table(calls, parts))
    end = render(calls, "end", dropped=dropped, difference=difference)
    lines.append(f"<details><summary>what was checked</summary><pre style='{CODE}'>{_text(end)}</pre></details>")
    if dropped:
        lines.append(f"<div>and {dropped} calls whose reports there was no room for</div>")
    if difference:
        lines.append(f"<div>differs from the reference: {_text(difference)}</div>")
    return page_html(lines)


def finding_html(call) -> str:
    """The one finding of a report."""
    parts = json.loads(render([call], "parts"))
    return page_html([_finding(finding, call, is_open=True) for finding in parts["findings"]])


def link_html(link: str) -> str:
    """Of the page of a code: without a site it is a file of Palladion's repository, which no notebook can follow."""
    return f"<a href='{_text(link)}'>{_text(link)}</a>" if link.startswith("http") else _text(link)


def page_html(lines) -> str:
    return f"<div style='text-align:left;line-height:1.4'>{''.join(lines)}</div>"


def _text(value) -> str:
    return html.escape(str(value))


def _after(before: str, value: str) -> str:
    return before + _text(value) if value else ""


def _coloured(colour: str, value: str) -> str:
    return f"<b style='color:{_COLOURS[colour]}'>{_text(value)}</b>"


def _finding(finding: dict, call, is_open: bool) -> str:
    severity = finding["severity"]
    word = "suppressed" if finding["suppressed"] else severity
    colour = "none" if finding["suppressed"] else severity
    head = f"{_coloured(colour, word + '[' + finding['code'] + ']')}: {_text(finding['message'])}"
    marks = [mark for mark in (finding["repeated"], "allowed" if finding["allowed"] else "") if mark]
    head += f" <small>({_text('; '.join(marks))})</small>" if marks else ""
    body = [f"<div>in kernel {_text(finding['kernel'])}</div>"] if finding["kernel"] else []
    body += [_place(place) for place in finding["places"]]
    body.append(conflict_svg(call, finding))
    body += [
        f"<div><b>{name}</b>: {_text(finding[name])}</div>" for name in ("why", "fix", "confidence") if finding[name]
    ]
    if finding["replay"]:
        body.append(f"<div><b>replay</b>: <pre style='{CODE}'>{_text(finding['replay'])}</pre></div>")
    body += [
        f"<div><b>symptom</b>, which goes with it: {_finding(symptom, call, is_open=False)}</div>"
        for symptom in finding["symptoms"]
    ]
    if finding["suppressed"]:
        body.append(f"<div><b>reason</b>: {_text(finding['suppressed'])}</div>")
    body.append(
        f"<div><small><b>rule</b>: {_text(finding['rule'])} (palladion.explain(\"{_text(finding['code'])}\"); "
        f"{link_html(finding['link'])})</small></div>"
    )
    return (
        f"<details{' open' if is_open else ''} style='margin:4px 0'><summary>{head}</summary>"
        f"<div style='margin-left:1.5em'>{''.join(body)}</div></details>"
    )


def _place(place: dict) -> str:
    lines = []
    if place["number"]:
        colour = _SIDES[place["number"] - 1]
        same = ", at the same place" if place["same_place"] else ""
        lines.append(f"<div><b style='color:{colour}'>({place['number']})</b> {_text(place['what'])}{same}</div>")
    where = place["at"] or place["text_place"]
    if where:
        lines.append(f"<div style='margin-left:1em'><small>at {_text(where)}</small></div>")
    if place["line"]:
        number = f"{place['line']['number']:>4} | "
        caret = " " * (len(number) - 2) + "| " + " " * place["line"]["caret"] + "^"
        lines.append(f"<pre style='{CODE}'>{_text(number + place['line']['text'])}\n{caret}</pre>")
    callers = [place["folded"]] * bool(place["folded"]) + [f"called from {caller}" for caller in place["callers"]]
    callers += [f"and {place['more_callers']} more"] * bool(place["more_callers"])
    if callers:
        listed = "".join(f"<div><small>{_text(caller)}</small></div>" for caller in callers)
        lines.append(f"<details style='margin-left:1em'><summary><small>callers</small></summary>{listed}</details>")
    return "".join(lines)


def _kernel_table(calls, parts) -> str:
    grids = {}
    for call in calls:
        grids.setdefault((call.kernel, call.target), getattr(call, "grid", ()))
    names = ("kernel", "target", "grid", "calls", "verdict", "schedules", "findings")
    rows = ["".join(f"<th style='text-align:left'>{name}</th>" for name in names)]
    plain_names = {(_key(kernel), _key(target)): grid for (kernel, target), grid in grids.items()}
    for kernel in parts["kernels"]:
        least, most = kernel["least_schedules"], kernel["most_schedules"]
        grid = plain_names.get((_key(kernel["kernel"]), _key(kernel["target"])), ())
        cells = (
            "@" + _text(kernel["kernel"]),
            _text(kernel["target"]),
            grid_svg(grid),
            str(kernel["calls"]),
            _coloured(kernel["verdict"], kernel["verdict"]),
            str(most) if least == most else f"{least}-{most}",
            _text(kernel["findings"]),
        )
        rows.append("".join(f"<td style='text-align:left;vertical-align:top'>{cell}</td>" for cell in cells))
    table = "".join(f"<tr>{row}</tr>" for row in rows)
    return f"<details{'' if parts['findings'] else ' open'}><summary>kernels</summary><table>{table}</table></details>"


def _key(name: str) -> str:
    """The library shows what is no letter as an escape."""
    return re.sub(r"\\x..|\\u....|[^\x20-\x7e]", "", name)


# Pictures. A finding names its agents and boxes in words, which are read here; what cannot be read is not drawn.


def grid_svg(grid, marks=()) -> str:
    """The last two dimensions as cells, the ones before them as a number of such sheets;
    at most 32 cells of a side are drawn.

    `marks` are pairs of coordinates and a colour.
    """
    sizes = [max(int(size), 0) for size in grid]
    rows, columns = ([1, 1] + sizes)[-2:]
    sheets = 1
    for size in sizes[:-2]:
        sheets *= size
    drawn_rows, drawn_columns = min(rows, _MOST_CELLS), min(columns, _MOST_CELLS)
    colours = {tuple(([0, 0] + list(place))[-2:]): colour for place, colour in marks}
    cells = "".join(
        f"<rect x='{c * _PIXELS}' y='{r * _PIXELS}' width='{_PIXELS - 1}' height='{_PIXELS - 1}' "
        f"fill='{colours.get((r, c), _CELL)}'/>"
        for r in range(drawn_rows)
        for c in range(drawn_columns)
    )
    label = (
        "["
        + ", ".join("?" if size < 0 else str(size) for size in grid)
        + "]"
        + (f": {sheets} sheets" if sheets > 1 else "")
    )
    return _svg(cells, label, drawn_columns * _PIXELS, drawn_rows * _PIXELS)


def _svg(shapes: str, label: str, width, height) -> str:
    width, height = max(width, 7 * len(label)), height + 17
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' width='{width}' height='{height}' style='margin:2px 12px 2px "
        f"0'>{shapes}<text x='0' y='{height - 5}' font-size='11' fill='currentColor'>{html.escape(label)}</text></svg>"
    )


def conflict_svg(call, finding: dict) -> str:
    """Which programs and which elements a finding is about; nothing where its words have neither."""
    sides = [(finding[name], colour) for name, colour in zip(("first", "second"), _SIDES) if finding[name]]
    grid = [int(size) for size in getattr(call, "grid", ())]
    marks = []
    for side, colour in sides:
        place = _numbers(r"(?:program|block) \(([\d, ]+)\)", side["agent"])
        # a block: without its threads
        if place and len(place) <= len(grid) and all(0 <= i < size for i, size in zip(place, grid)):
            marks.append((place, colour))
    pictures = grid_svg(grid[: len(marks[0][0])], marks) if marks else ""
    boxes = [(_box(side["box"]), colour) for side, colour in sides]
    if boxes and all(box for box, _ in boxes):
        pictures += _boxes_svg(sides[0][0]["object"], boxes)
    return f"<div>{pictures}</div>" if pictures else ""


def _numbers(pattern: str, text: str) -> list:
    found = re.search(pattern, text)
    return [int(part) for part in found[1].split(",") if part.strip()] if found else []


def _box(text: str) -> list:
    """[(first, end), ...] of "[0:64, 3]"; empty where it has other words."""
    parts = re.fullmatch(r"\[([\d:, ]+)\]", text)
    if not parts:
        return []
    ranges = []
    for part in parts[1].split(","):
        first, colon, end = part.strip().partition(":")
        if not first or (colon and not end) or ":" in end:
            return []
        ranges.append((int(first), int(end) if colon else int(first) + 1))
    return ranges


def _boxes_svg(name: str, boxes) -> str:
    """The two boxes in their last two dimensions, in one frame around both, and what they share."""
    flat = [(([(0, 1), (0, 1)] + box)[-2:], colour) for box, colour in boxes]
    if len({len(box) for box, _ in boxes}) != 1:
        return ""
    lows = [min(box[d][0] for box, _ in flat) for d in (0, 1)]
    highs = [max(box[d][1] for box, _ in flat) for d in (0, 1)]
    sizes = [max(high - low, 1) for low, high in zip(lows, highs)]
    scale = [min(24.0, 160 / size) for size in sizes]
    shapes = (
        f"<rect x='0' y='0' width='{sizes[1] * scale[1]:.1f}' height='{sizes[0] * scale[0]:.1f}' fill='{_CELL}' "
        "fill-opacity='0.25'/>"
    )
    for box, colour in flat:
        shapes += _box_rect(box, lows, scale, f"fill='{colour}' fill-opacity='0.35' stroke='{colour}'")
    shared = [(max(box[d][0] for box, _ in flat), min(box[d][1] for box, _ in flat)) for d in (0, 1)]
    if len(flat) == 2 and all(first < end for first, end in shared):
        shapes += _box_rect(shared, lows, scale, f"fill='{_BOTH}' fill-opacity='0.8'")
    spans = [f"{low}:{high}" for low, high in zip(lows, highs)]
    label = f"{name}[{', '.join(spans if len(boxes[0][0]) > 1 else spans[1:])}]"
    return _svg(shapes, label, sizes[1] * scale[1], sizes[0] * scale[0])


def _box_rect(box, lows, scale, style: str) -> str:
    x, y = (box[1][0] - lows[1]) * scale[1], (box[0][0] - lows[0]) * scale[0]
    width, height = (box[1][1] - box[1][0]) * scale[1], (box[0][1] - box[0][0]) * scale[0]
    return f"<rect x='{x:.1f}' y='{y:.1f}' width='{max(width, 1):.1f}' height='{max(height, 1):.1f}' {style}/>"
