"""`Picture`: what `palladion.draw`, `draw_time`, `draw_layout` and `draw_schedule` return.

A picture is a static SVG, for slides, Markdown and notebooks, and a page that can be stepped through. Neither needs
anything from outside. Needs no JAX.
"""

import os

from palladion.base.whole_file import write_whole


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
        return f"<div style='max-width:100%;overflow-x:auto'>{self._svg}</div>"

    def __repr__(self) -> str:
        return self._text
