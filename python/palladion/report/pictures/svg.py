"""A small SVG writer for pictures from Python: shapes and text in named colours, light in their attributes, so that
slides and editors without CSS show them, and dark by a rule of CSS. Widths of text are estimated.
"""

import colorsys
import html

COLOURS = {  # name: (light, dark); those of emu/tools/debug/page/trace_page.html
    "paper": ("#ffffff", "#14171f"),
    "ink": ("#1d2433", "#e8eaf0"),
    "soft": ("#5d6679", "#99a2b5"),
    "line": ("#d5d2c8", "#3a4254"),
    "cell": ("#efede7", "#262c39"),
    "read": ("#2f6fdb", "#6aa0ff"),
    "write": ("#c8630c", "#ffab5c"),
    "atomic": ("#8a4fd0", "#b98cff"),
    "bad": ("#c8323c", "#ff6b73"),
    "good": ("#2c7a4b", "#6fcf97"),
}
WIDTH, MARGIN = 960, 20  # of each picture
SANS = "system-ui,'Segoe UI','DejaVu Sans',sans-serif"
MONO = "ui-monospace,'SF Mono','DejaVu Sans Mono',monospace"
_WIDTHS = {True: 0.605, False: 0.56}  # of a letter, as a share of the size; by whether it is of MONO


def text_width(text: str, size: float, mono: bool = False) -> float:
    return len(text) * size * _WIDTHS[mono]


def fitted(text: str, width: float, size: float, mono: bool = False) -> str:
    """The text, cut where it would be wider."""
    most = max(int(width / (size * _WIDTHS[mono])), 1)
    return text if len(text) <= most else text[: most - 1] + "…"


class Canvas:
    """Collects shapes; `svg(title)` is the picture."""

    def __init__(self) -> None:
        self.height = 0.0
        self._parts: list[str] = []

    def rect(self, box, fill: str = "", *, opacity: float = 1, stroke: str = "", radius: float = 0, dash: str = ""):
        """box: (x, y, width, height)."""
        x, y, width, height = (round(value, 1) for value in box)
        self.height = max(self.height, y + height)
        more = f' rx="{radius}"' if radius else ""
        more += f' fill-opacity="{opacity}"' if opacity != 1 and fill else ""
        more += f' stroke-dasharray="{dash}"' if dash else ""
        self._parts.append(f'<rect x="{x}" y="{y}" width="{width}" height="{height}"{more}{_painted(fill, stroke)}/>')

    def cells(self, cells: list):
        """(box, hue, words, baseline) of the cells of a table: in many colours, `hue` from 0 to 1, with their texts in
        the middle; one path for each colour, as tables have many.
        """
        paths: dict[str, str] = {}
        texts = []
        for (x, y, width, height), hue, words, baseline in cells:
            colour = "#" + "".join(f"{round(part * 255):02x}" for part in colorsys.hls_to_rgb(hue, 0.55, 0.6))
            paths[colour] = paths.get(colour, "") + f"M{x:.1f} {y:.1f}h{width:.1f}v{height:.1f}h-{width:.1f}z"
            self.height = max(self.height, y + height)
            if words:
                shown = html.escape(fitted(words, width + 4, 10, mono=True), quote=False)
                texts.append(f'<text x="{x + width / 2:.1f}" y="{y + baseline:.1f}">{shown}</text>')
        self._parts.append('<g fill-opacity="0.35">')
        self._parts += [f'<path d="{d}" fill="{colour}"/>' for colour, d in paths.items()]
        self._parts.append(
            f'</g><g font-family="{MONO}" font-size="10" text-anchor="middle" fill="{COLOURS["ink"][0]}" '
            f'class="f-ink">{"".join(texts)}</g>'
        )

    def text(self, x: float, y: float, text: str, *, size: float = 12, fill: str = "ink", **more):
        """`more`: mono, bold, anchor ("middle", "end"), width: the text is cut there."""
        mono, width = more.get("mono", False), more.get("width")
        shown = text if width is None else fitted(text, width, size, mono)
        kind = f' class="f-{fill}"'
        style = ' font-weight="600"' if more.get("bold") else ""
        style += f' text-anchor="{more["anchor"]}"' if "anchor" in more else ""
        family = f' font-family="{MONO}"' if mono else ""
        self.height = max(self.height, y + size * 0.3)
        self._parts.append(
            f'<text x="{round(x, 1)}" y="{round(y, 1)}" font-size="{size}" fill="{COLOURS[fill][0]}"{kind}{style}'
            f'{family} xml:space="preserve">{html.escape(shown, quote=False)}</text>'
        )

    def heading(self, x: float, y: float, text: str):
        self.text(x, y, text.upper(), size=10.5, fill="soft", bold=True)

    def legend(self, entries: list[tuple[str, str]]):
        """(words, colour) of each, from left to right, at the top on the right."""
        right, y = WIDTH - MARGIN, 30
        for words, colour in reversed(entries):
            right -= text_width(words, 12) + 4
            self.text(right, y, words, size=12, fill="soft")
            right -= 15
            self.rect((right, y - 9, 10, 10), colour, radius=2)
            right -= 12

    def path(self, d: str, stroke: str, *, width: float = 1, opacity: float = 1, dash: str = ""):
        more = f' stroke-opacity="{opacity}"' if opacity != 1 else ""
        more += f' stroke-dasharray="{dash}"' if dash else ""
        self._parts.append(
            f'<path d="{d}" fill="none" stroke-width="{width}"{more} stroke="{COLOURS[stroke][0]}" class="s-{stroke}"/>'
        )

    def title(self, text: str):
        """Of the last shape: shown where a pointer rests on it."""
        last = self._parts.pop()
        tag = last[1 : last.index(" ")]
        self._parts.append(f"{last[:-2]}><title>{html.escape(text, quote=False)}</title></{tag}>")

    def svg(self, title: str) -> str:
        height = round(self.height + 14)
        dark = "".join(
            f".pd .f-{name}{{fill:{dark}}}.pd .s-{name}{{stroke:{dark}}}" for name, (_, dark) in COLOURS.items()
        )
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="pd" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
            f'height="{height}" role="img" font-family="{SANS}" style="max-width:100%;height:auto">'
            f"<title>{html.escape(title, quote=False)}</title>"
            f"<style>@media(prefers-color-scheme:dark){{{dark}}}</style>"
            f'<rect width="{WIDTH}" height="{height}" rx="8" fill="{COLOURS["paper"][0]}" class="f-paper"/>'
            f"{''.join(self._parts)}</svg>\n"
        )


def scrolled(svg: str) -> str:
    """For notebooks: in a narrow window a picture is scrolled, as letters of 12 pixels out of 960 would have four."""
    return f"<div style='max-width:100%;overflow-x:auto'><div style='min-width:704px'>{svg}</div></div>"


def _painted(fill: str, stroke: str) -> str:
    classes = " ".join([f"f-{fill}"] * bool(fill) + [f"s-{stroke}"] * bool(stroke))
    painted = f' fill="{COLOURS[fill][0]}"' if fill else ' fill="none"'
    painted += f' stroke="{COLOURS[stroke][0]}" stroke-width="1.2"' if stroke else ""
    return f'{painted} class="{classes}"'
