"""The grid of a kernel as cells, and which of its programs is shown."""

import dataclasses
import itertools
import math
import re
from collections.abc import Sequence

from palladion.report.pictures.svg import MARGIN, Canvas, text_width

SIDE = 236  # of the grid
_MOST_CELLS = 8192


def axis_names(data: dict) -> list[str]:
    """A name for each dimension of the grid, "" where it has none."""
    names = data["axes"] or []
    return [""] * (len(data["grid"]) - len(names)) + names


@dataclasses.dataclass(frozen=True)
class GridLayout:
    """The last dimension runs right, the one before it down, the others are sheets. A long grid of one dimension is
    wrapped into rows.
    """

    grid: tuple[int, ...]
    rows: int
    columns: int
    wrapped: int | None = None  # the only dimension along which there is more than one program, where it is long

    @staticmethod
    def of(grid: list[int]) -> "GridLayout":
        more_than_one = [d for d, size in enumerate(grid) if size != 1]
        longest = max([1, *grid])
        if len(more_than_one) == 1 and longest > 16:
            columns = max(16, 2 ** math.ceil(math.log2(math.sqrt(longest))))
            return GridLayout(tuple(grid), math.ceil(longest / columns), columns, more_than_one[0])
        _, rows, columns = _padded(grid)
        return GridLayout(tuple(grid), rows, columns)

    def sheets(self) -> list[tuple[int, ...]]:
        return [()] if self.wrapped is not None else _indices(self.grid[:-2])

    def cells(self, sheet: tuple[int, ...]) -> list[tuple[int, ...]]:
        """The programs of a sheet."""
        if self.wrapped is not None:
            return _indices(self.grid)
        return [(*sheet, *index) for index in _indices(self.grid[-2:])]

    def place(self, index: Sequence[int]) -> tuple[tuple[int, ...], int, int]:
        """(sheet, row, column)"""
        if self.wrapped is not None:
            return (), *divmod(index[self.wrapped], self.columns)
        return _padded(index, 0)


def _padded(index: Sequence[int], missing: int = 1) -> tuple[tuple[int, ...], int, int]:
    """The dimensions before the last two, and these."""
    *before, row, column = [missing] * (2 - len(index)) + list(index)
    return tuple(before), row, column


def _indices(sizes: Sequence[int]) -> list[tuple[int, ...]]:
    return list(itertools.product(*map(range, sizes)))


def draw_grid(canvas: Canvas, data: dict, number: int, top: float) -> float:
    order = "the order of the schedule" if "schedule" in data else "program order"
    canvas.heading(MARGIN, top, f"grid, in {order}")
    layout = GridLayout.of(data["grid"])
    if not data["programs"]:
        canvas.text(MARGIN, top + 24, "it has no programs", size=12, fill="soft")
        return top + 24
    if layout.rows * layout.columns > _MOST_CELLS:
        return _large_grid(canvas, data, number, top)
    sheets = layout.sheets()
    shown, current = sheets[:12], layout.place(data["programs"][number]["i"])[0]
    if current not in shown:
        shown[-1] = current
    across = 1 if len(shown) == 1 else min(len(shown), 2 if layout.columns > 6 or len(shown) <= 4 else 3)
    gap, label = 14, 16 if len(sheets) > 1 else 0
    axis = 14  # for the names of axes
    room = (SIDE - axis - gap * (across - 1)) / across
    cell = max(min(room / layout.columns, 220 / layout.rows, 30), 1.5)
    names = axis_names(data)
    order = {tuple(one["i"]): i for i, one in enumerate(data["programs"])}
    bottom = top
    for i, sheet in enumerate(shown):
        x = MARGIN + axis + (i % across) * (room + gap)
        y = top + 24 + (i // across) * (layout.rows * cell + label + gap) + label
        if label:
            words = ", ".join(f"{names[d]} = {at}" if names[d] else str(at) for d, at in enumerate(sheet))
            if text_width(words, 11, mono=True) > room + 10:
                words = ", ".join(map(str, sheet))
            canvas.text(x, y - 5, words, size=11, fill="soft", mono=True, width=room + 10)
        _sheet(canvas, layout, (x, y, cell), [(at, order.get(at)) for at in layout.cells(sheet)], number)
        bottom = y + layout.rows * cell
        if i == 0 and names:
            right = names[-1 if layout.wrapped is None else layout.wrapped]
            canvas.text(x + layout.columns * cell / 2, y - 5 - label, right, size=11, fill="soft", anchor="middle")
        if i == 0 and len(names) > 1 and layout.wrapped is None:
            canvas.text(x - 8, y + layout.rows * cell / 2 + 4, names[-2], size=11, fill="soft", anchor="middle")
    if len(sheets) > len(shown):
        bottom += 18
        canvas.text(MARGIN + axis, bottom, f"and {len(sheets) - len(shown)} more sheets", size=11, fill="soft")
    if layout.wrapped is not None:
        bottom += 18
        canvas.text(MARGIN + axis, bottom, f"{layout.columns} programs in a row", size=11, fill="soft")
    return bottom


def _large_grid(canvas: Canvas, data: dict, number: int, top: float) -> float:
    """One sheet of a grid whose cells are too small to see, and where the program is in it."""
    layout = GridLayout.of(data["grid"])
    _, row, column = layout.place(data["programs"][number]["i"])
    height = min(max(SIDE * layout.rows / layout.columns, 16), 220)
    canvas.rect((MARGIN, top + 24, SIDE, height), "cell")
    at = (MARGIN + SIDE * column / layout.columns, top + 24 + height * row / layout.rows)
    canvas.rect((at[0] - 1, at[1] - 1, 5, 5), "ink")
    words = f"{layout.rows} x {layout.columns} programs" + (" in a sheet" if len(data["grid"]) > 2 else "")
    canvas.text(MARGIN, top + height + 42, words, size=11, fill="soft")
    return top + height + 42


def _sheet(canvas: Canvas, layout: GridLayout, place: tuple, cells: list, number: int):
    """Cells are the dashes of a line for each row of a kind, so that thousands of them are small."""
    x, y, size = place
    gap = 2 if size > 9 else 1 if size > 4 else 0.4
    runs: dict[str, str] = {"none": "", "to come": "", "past": "", "now": ""}
    last, here = None, None
    for index, order in cells:
        _, row, column = layout.place(index)
        kind = "none" if order is None else "past" if order < number else "now" if order == number else "to come"
        if kind == "now":
            here = (x + column * size, y + row * size)
        if last != (kind, row):
            runs[kind] += f"M{x + column * size:.1f} {y + (row + 0.5) * size - gap / 2:.1f}"
        runs[kind] += f"h{size:.2f}"
        last = (kind, row)
    looks = {"none": ("line", 0.4), "to come": ("cell", 1), "past": ("read", 0.4), "now": ("ink", 1)}
    for kind, (colour, opacity) in looks.items():
        if runs[kind]:
            d = re.sub(r"(?:h[\d.]+)+", lambda match: f"h{size * match[0].count('h') - gap:.1f}", runs[kind])
            dash = f"{size - gap:.2f} {gap:.2f}"
            canvas.path(d, colour, width=round(size - gap, 2), opacity=opacity, dash=dash)
    if here and size < 10:
        canvas.rect((here[0] - 3, here[1] - 3, size + 5, size + 5), stroke="ink", radius=2)
    if size >= 20:
        for index, order in cells:
            if order is not None:
                _, row, column = layout.place(index)
                middle = (x + (column + 0.5) * size - gap / 2, y + (row + 0.5) * size + 3)
                fill = "paper" if order == number else "soft"
                canvas.text(*middle, str(order), size=10, fill=fill, anchor="middle")
