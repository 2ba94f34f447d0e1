"""The picture of `palladion.tune`: a bar for each candidate with a time, fastest first, with its uncertainty and the
least time that its limit allows. SVG without any dependency, which follows the reader's dark mode.
"""

import html
import math

_NAMES, _BARS, _ROW, _HEAD = 260, 560, 22, 46
_COLOURS = {"chosen": "var(--best)", "checked": "var(--right)", "timed": "var(--timed)"}
_STYLE = """
svg{--ink:#1b1f24;--paper:#fff;--grid:#d0d7de;--best:#1a7f37;--right:#4493f8;--timed:#8c959f;--wrong:#cf222e}
@media(prefers-color-scheme:dark){svg{--ink:#e6edf3;--paper:#0d1117;--grid:#30363d;--best:#3fb950;--wrong:#f85149}}
text{font:12px system-ui,sans-serif;fill:var(--ink)}
""".strip()


def plot_of(tuned) -> str:
    """`tuned`: a palladion.Tuned."""
    rows = sorted((one for one in tuned.rows if one.seconds is not None), key=lambda one: one.seconds)
    left_out = len(tuned.rows) - len(rows)
    most = max((one.seconds * (1 + (one.uncertainty or 0)) for one in rows), default=1e-6)
    height = _HEAD + _ROW * len(rows) + 30
    title = f"{len(rows)} of {len(tuned.rows)} candidates on {tuned.target}"
    title += f"; {left_out} have no time (the table says why)" if left_out else ""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_NAMES + _BARS + 120} {height}" role="img">',
        f"<title>{html.escape(title)}</title><style>{_STYLE}</style>",
        f'<rect width="100%" height="100%" fill="var(--paper)"/><text x="8" y="18">{html.escape(title)}</text>',
        *_axis(most, height),
        *(line for number, one in enumerate(rows) for line in _bar(one, _HEAD + number * _ROW, most)),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _axis(most: float, height: int) -> list[str]:
    step = 10 ** math.floor(math.log10(most * 1e6)) if most > 0 else 1
    step = next((step * part for part in (0.2, 0.5, 1, 2) if most * 1e6 / (step * part) <= 6), step)
    lines = []
    for number in range(int(most * 1e6 / step) + 1):
        x = _x(number * step * 1e-6, most)
        lines.append(f'<path d="M{x} {_HEAD - 6}V{height - 24}" stroke="var(--grid)"/>')
        lines.append(f'<text x="{x}" y="{height - 8}" text-anchor="middle">{number * step:g} us</text>')
    return lines


def _x(seconds: float, most: float) -> float:
    return round(_NAMES + _BARS * seconds / most, 1)


def _bar(one, top: int, most: float) -> list[str]:
    colour = _COLOURS.get(one.status, "var(--wrong)")
    end, middle = _x(one.seconds, most), top + _ROW / 2
    lines = [
        f'<g><title>{html.escape(str(one))}</title><text x="{_NAMES - 8}" y="{middle + 4}" text-anchor="end">'
        f"{html.escape(_short(one.name))}</text>",
        f'<rect x="{_NAMES}" y="{top + 4}" width="{round(end - _NAMES, 1)}" height="{_ROW - 8}" fill="{colour}"/>',
    ]
    if one.uncertainty is not None:
        low, high = (_x(one.seconds * (1 + sign * one.uncertainty), most) for sign in (-1, 1))
        lines.append(f'<path d="M{low} {middle}H{high}M{low} {top + 7}v{_ROW - 14}M{high} {top + 7}v{_ROW - 14}"')
        lines[-1] += ' stroke="var(--ink)" fill="none"/>'
    if one.least is not None:
        lines.append(f'<path d="M{_x(one.least, most)} {top + 2}v{_ROW - 4}" stroke="var(--wrong)" stroke-width="2"/>')
    label = f"{one.seconds * 1e6:.4g} us" + ("" if one.status in ("checked", "timed") else f", {one.status}")
    after = _x(one.seconds * (1 + (one.uncertainty or 0)), most) + 6
    lines.append(f'<text x="{after}" y="{middle + 4}">{html.escape(label)}</text></g>')
    return lines


def _short(name: str) -> str:
    return name if len(name) <= 40 else name[:39] + "…"
