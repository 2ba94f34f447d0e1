"""`Picture`: what `palladion.draw`, `draw_time`, `draw_layout` and `draw_schedule` return.

A picture is a static SVG, for slides, Markdown and notebooks, and a page that can be stepped through. Neither needs
anything from outside. Those of several kernels become one: the SVGs below each other, the pages on one page.
"""

import html
import os
import re

from palladion.base.whole_file import write_whole
from palladion.report.pictures.svg import COLOURS, scrolled

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Palladion</title><style>
:root{{color-scheme:light dark}}body{{margin:0;font:15px/1.5 system-ui,"Segoe UI","DejaVu Sans",sans-serif}}
summary{{padding:8px 28px;font-weight:600;cursor:pointer}}iframe{{border:0;width:100%;height:94vh;display:block}}
</style></head><body>
{parts}
</body></html>
"""


class Picture:
    """A picture, as an SVG and as a page. Notebooks show the SVG; str() and repr() say in words what it shows.

    `svg`: a whole <svg> element, without scripts, readable on dark and light; `page`: a self-contained HTML page;
    `text`: one or a few lines.
    """

    def __init__(self, svg: str, page: str, text: str):
        self._svg, self._page, self._text = svg, page, text

    def svg(self) -> str:
        """The picture as SVG, a file by itself."""
        return self._svg

    def html(self) -> str:
        """The page, in one HTML file without anything from elsewhere."""
        return self._page

    def save(self, path: str | os.PathLike) -> None:
        """Writes the SVG to a path that ends with .svg, and the page to one that ends with .html.

        ValueError: another ending. OSError: the file cannot be written; what was there is left.
        """
        suffix = os.path.splitext(os.fspath(path))[1].lower()
        if suffix not in (".svg", ".html"):
            raise ValueError(f"a picture is saved as .svg or as a page, .html; this path has neither: {path}")
        write_whole(os.fspath(path), self._svg if suffix == ".svg" else self._page)

    def _repr_html_(self) -> str:
        return scrolled(self._svg)

    def __repr__(self) -> str:
        return self._text


def picture_of(pictures: list[Picture], names: list[str], wanted: str | None = None) -> Picture:
    """Of each kernel in a row; of one, its own. ValueError: none, as no kernel of `names` is the one that is wanted."""
    if not pictures:
        known = ", ".join(dict.fromkeys(names))
        raise ValueError(f"kernel names one of the kernels that ran: {known}; found {wanted!r}")
    if len(pictures) == 1:
        return pictures[0]
    texts = [repr(one) for one in pictures]
    parts = "\n".join(
        f"<details{' open' * (number == 0)}><summary>{html.escape(text)}</summary>"
        f'<iframe srcdoc="{html.escape(one.html())}" title="{html.escape(text)}"></iframe></details>'
        for number, (one, text) in enumerate(zip(pictures, texts))
    )
    return Picture(_stacked([one.svg() for one in pictures]), _PAGE.format(parts=parts), "\n".join(texts))


def page_of(svg: str, title: str) -> str:
    """A page that shows the one SVG."""
    light, dark = COLOURS["paper"]
    style = f"body{{background:{light}}}@media(prefers-color-scheme:dark){{body{{background:{dark}}}}}"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{html.escape(title)}</title><style>{style}</style></head><body>{svg}</body></html>\n"
    )


def _stacked(svgs: list[str]) -> str:
    """One SVG with the others below each other."""
    sizes = [tuple(map(int, re.search(r'viewBox="0 0 (\d+) (\d+)"', svg).groups())) for svg in svgs]
    width, height = max(size[0] for size in sizes), sum(size[1] + 8 for size in sizes) - 8
    placed, y = [], 0
    for svg, size in zip(svgs, sizes):
        placed.append(svg.strip().replace("<svg ", f'<svg y="{y}" ', 1))
        y += size[1] + 8
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" style="max-width:100%;height:auto">{"".join(placed)}</svg>\n'
    )
