"""A session's report as HTML for notebooks: a row for each kernel with a picture of its grid. Every text of the user's is escaped."""

import html

_COLOURS = {"proved": "#2e7d32", "clean": "#2e7d32", "ran": "#616161", "warning": "#e65100", "nondeterministic": "#e65100",
            "defect": "#c62828", "unsupported": "#6a1b9a", "none": "#616161"}
_MOST_CELLS, _CELL = 32, 10  # of one side; pixels


def report_html(report) -> str:
    rows = "".join(_row(call) for call in report.calls)
    head = "".join(f"<th style='text-align:left'>{title}</th>" for title in ("kernel", "grid", "verdict", "findings"))
    dropped = f"<p>and {report.dropped} calls whose reports there was no room for</p>" if report.dropped else ""
    body = f"<table><tr>{head}</tr>{rows}</table>{dropped}" if report.calls else "<p>no kernel ran</p>"
    return f"<div><b style='color:{_COLOURS[report.verdict]}'>{html.escape(report.verdict)}</b>, {report.count} kernel calls{body}</div>"


def _row(call) -> str:
    found = "".join(f"<div><b>{html.escape(f.severity)}[{html.escape(f.code)}]</b> {html.escape(f.message)}"
                    f"<br><small>{html.escape(f.source)}</small></div>" for f in call.findings)
    if call.error is not None:
        found += f"<div>{html.escape(call.error.message)}</div>"
    times = f" × {call.count}" if call.count > 1 else ""
    cells = (f"{html.escape(call.kernel)}{times}<br><small>{html.escape(call.target)}</small>", grid_svg(call.grid),
             f"<span style='color:{_COLOURS[call.verdict]}'>{html.escape(call.verdict)}</span>", found)
    return "<tr>" + "".join(f"<td style='text-align:left;vertical-align:top'>{cell}</td>" for cell in cells) + "</tr>"


def grid_svg(grid) -> str:
    """The last two dimensions as cells, the ones before them as a number of such sheets; at most 32 cells of a side are drawn."""
    sizes = [max(int(size), 0) for size in grid]
    rows, columns = ([1, 1] + sizes)[-2:]
    sheets = 1
    for size in sizes[:-2]:
        sheets *= size
    drawn_rows, drawn_columns = min(rows, _MOST_CELLS), min(columns, _MOST_CELLS)
    cells = "".join(f"<rect x='{c * _CELL}' y='{r * _CELL}' width='{_CELL - 1}' height='{_CELL - 1}' fill='#90caf9'/>"
                    for r in range(drawn_rows) for c in range(drawn_columns))
    label = "[" + ", ".join("?" if size < 0 else str(size) for size in grid) + "]" + (f": {sheets} sheets" if sheets > 1 else "")
    width, height = max(drawn_columns * _CELL, 8 * len(label)), drawn_rows * _CELL + 14
    return (f"<svg xmlns='http://www.w3.org/2000/svg' width='{width}' height='{height}'>{cells}"
            f"<text x='0' y='{height - 2}' font-size='11'>{html.escape(label)}</text></svg>")
