"""One program of a kernel as SVG: the grid, what it reads and writes of each operand, the source and its instructions.

The data is that of the page of programs (emu/tools/debug/trace_page.h), which shows every program; here one is chosen.
Lists that are long are cut, and say so. Needs no JAX.
"""

import dataclasses
import math
import operator
import re
from collections.abc import Iterable

from palladion.report.svg import Canvas, text_width

_KINDS = ("read", "write", "atomic")
_WIDTH, _LEFT, _SIDE = 960, 20, 236  # of the picture, its margin, the grid
_MOST_ROWS, _MOST_VALUES, _MOST_CELLS = 26, 4, 8192


def _along(grid: list[int]) -> int | None:
    """The only dimension along which there is more than one program; None: there are several, or none."""
    long = [d for d, size in enumerate(grid) if size != 1]
    return long[0] if len(long) == 1 else None


@dataclasses.dataclass(frozen=True)
class GridLayout:
    """The last dimension runs right, the one before it down, the others are sheets. A long grid of one dimension is
    wrapped into rows.
    """

    grid: tuple[int, ...]
    rows: int
    columns: int
    wrapped: bool

    @staticmethod
    def of(grid: list[int]) -> "GridLayout":
        last = max([1, *grid]) if _along(grid) is not None else grid[-1] if grid else 1
        if _along(grid) is not None and last > 16:
            columns = max(16, 2 ** math.ceil(math.log2(math.sqrt(last))))
            return GridLayout(tuple(grid), math.ceil(last / columns), columns, True)
        return GridLayout(tuple(grid), grid[-2] if len(grid) > 1 else 1, grid[-1] if grid else 1, False)

    def sheets(self) -> list[tuple[int, ...]]:
        found: list[tuple[int, ...]] = [()]
        for size in () if self.wrapped else self.grid[:-2]:
            found = [(*before, i) for before in found for i in range(size)]
        return found

    def place(self, index: list[int]) -> tuple[tuple[int, ...], int, int]:
        """(sheet, row, column)"""
        if self.wrapped:
            return (), *divmod(index[_along(list(self.grid))], self.columns)
        return tuple(index[:-2]), index[-2] if len(index) > 1 else 0, index[-1] if index else 0


def chosen_program(data: dict, program: int | tuple[int, ...] | None) -> int:
    """Its number in the order in which programs began. ValueError: there is no such one."""
    programs = data["programs"]
    if program is None:
        busy = [number for number, one in enumerate(programs) if one["a"]] or range(len(programs) or 1)
        return busy[len(busy) // 2]
    if hasattr(program, "__index__"):  # NumPy's numbers too
        program = operator.index(program)
        if 0 <= program < len(programs):
            return program
    index = list(program) if isinstance(program, Iterable) else [program]
    found = [number for number, one in enumerate(programs) if one["i"] == index]
    if found:
        return found[0]
    raise ValueError(
        f"program is one of the grid {tuple(data['grid'])}, as its index or its number from 0; found {program!r}"
        + (f" (the first {len(programs)} programs are drawn)" if data["dropped"] else "")
    )


def axes_text(data: dict) -> str:
    """ "(i: 2, j: 3)" """
    names = data["axes"] or [""] * len(data["grid"])
    return "(" + ", ".join(f"{name}: {size}" if name else str(size) for name, size in zip(names, data["grid"])) + ")"


def summary(data: dict) -> str:
    """A line for people."""
    counted, most = len(data["programs"]), math.prod(data["grid"])
    of = f" of {most}" if counted < most else ""  # a page has so many, and no more
    return (
        f"@{data['kernel']} on {data['target']}: grid {axes_text(data)}, {counted}{of} "
        f"program{'s' * (max(counted, most) != 1)}, "
        f"{len(data['operands'])} operands"
    )


def found(data: dict) -> list[str]:
    """ "RACE_WW: ...", of what is no note."""
    return [f"{one['code']}: {one['message']}" for one in data["findings"] if one["severity"] != "note"]


def program_svg(data: dict, number: int) -> str:
    """The picture of program `number` of the data."""
    canvas = Canvas(_WIDTH)
    program = data["programs"][number] if data["programs"] else {"i": [], "n": "no program", "a": []}
    canvas.text(_LEFT, 32, "@" + data["kernel"], size=18, bold=True, width=440)
    facts = f"{data['target']}  ·  grid {axes_text(data)}  ·  {program['n']}"
    canvas.text(_LEFT, 52, facts, fill="soft", size=12.5, width=_WIDTH - 2 * _LEFT)
    _legend(canvas, _WIDTH - _LEFT, 30)
    top = 76
    for words in found(data)[:2]:
        canvas.text(_LEFT, top - 6, words, size=12.5, fill="bad", bold=True, width=_WIDTH - 2 * _LEFT)
        top += 19
    grid_end = _grid(canvas, data, number, top)
    operands_end = _operands(canvas, data, program, (_LEFT + _SIDE + 26, top))
    _program(canvas, data, program, max(grid_end, operands_end) + 30)
    return canvas.svg(f"{summary(data)}; {program['n']} is shown")


def _legend(canvas: Canvas, right: float, y: float):
    for name in reversed(_KINDS):
        words = {"read": "reads", "write": "writes", "atomic": "atomic"}[name]
        right -= text_width(words, 12) + 4
        canvas.text(right, y, words, size=12, fill="soft")
        right -= 15
        canvas.rect((right, y - 9, 10, 10), name, radius=2)
        right -= 12


def _heading(canvas: Canvas, x: float, y: float, text: str):
    canvas.text(x, y, text.upper(), size=10.5, fill="soft", bold=True)


def _grid(canvas: Canvas, data: dict, number: int, top: float) -> float:
    _heading(canvas, _LEFT, top, "grid, in program order")
    layout = GridLayout.of(data["grid"])
    if not data["programs"]:
        canvas.text(_LEFT, top + 24, "it has no programs", size=12, fill="soft")
        return top + 24
    if layout.rows * layout.columns > _MOST_CELLS:
        return _large_grid(canvas, data, number, top)
    sheets = layout.sheets()
    shown = sheets[:12]
    if layout.place(data["programs"][number]["i"])[0] not in shown:
        shown[-1] = layout.place(data["programs"][number]["i"])[0]
    across = 1 if len(shown) == 1 else min(len(shown), 2 if layout.columns > 6 or len(shown) <= 4 else 3)
    gap, label = 14, 16 if len(sheets) > 1 else 0
    axis = 14  # for the names of axes
    room = (_SIDE - axis - gap * (across - 1)) / across
    cell = max(min(room / layout.columns, 220 / layout.rows, 30), 1.5)
    names = [*([""] * len(data["grid"])), *(data["axes"] or [""] * len(data["grid"]))][-max(len(data["grid"]), 1) :]
    order = {tuple(one["i"]): i for i, one in enumerate(data["programs"])}
    bottom = top
    for i, sheet in enumerate(shown):
        x = _LEFT + axis + (i % across) * (room + gap)
        y = top + 24 + (i // across) * (layout.rows * cell + label + gap) + label
        if label:
            words = ", ".join(f"{names[d]} = {at}" if names[d] else str(at) for d, at in enumerate(sheet))
            if text_width(words, 11, mono=True) > room + 10:
                words = ", ".join(map(str, sheet))
            canvas.text(x, y - 5, words, size=11, fill="soft", mono=True, width=room + 10)
        _sheet(canvas, layout, (x, y, cell), [(at, order.get(at)) for at in _cells(layout, sheet)], number)
        bottom = y + layout.rows * cell
        if i == 0 and data["grid"] and layout.wrapped:
            name = names[_along(data["grid"])]
            canvas.text(x + layout.columns * cell / 2, y - 5, name, size=11, fill="soft", anchor="middle")
        elif i == 0 and data["grid"]:
            canvas.text(x + layout.columns * cell / 2, y - 5 - label, names[-1], size=11, fill="soft", anchor="middle")
            if len(data["grid"]) > 1:
                canvas.text(x - 8, y + layout.rows * cell / 2 + 4, names[-2], size=11, fill="soft", anchor="middle")
    if len(sheets) > len(shown):
        bottom += 18
        canvas.text(_LEFT + axis, bottom, f"and {len(sheets) - len(shown)} more sheets", size=11, fill="soft")
    if layout.wrapped:
        bottom += 18
        canvas.text(_LEFT + axis, bottom, f"{layout.columns} programs in a row", size=11, fill="soft")
    return bottom


def _large_grid(canvas: Canvas, data: dict, number: int, top: float) -> float:
    """One sheet of a grid whose cells are too small to see, and where the program is in it."""
    layout = GridLayout.of(data["grid"])
    _, row, column = layout.place(data["programs"][number]["i"])
    height = min(max(_SIDE * layout.rows / layout.columns, 16), 220)
    canvas.rect((_LEFT, top + 24, _SIDE, height), "cell")
    at = (_LEFT + _SIDE * column / layout.columns, top + 24 + height * row / layout.rows)
    canvas.rect((at[0] - 1, at[1] - 1, 5, 5), "ink")
    words = f"{layout.rows} x {layout.columns} programs" + (" in a sheet" if len(data["grid"]) > 2 else "")
    canvas.text(_LEFT, top + height + 42, words, size=11, fill="soft")
    return top + height + 42


def _cells(layout: GridLayout, sheet: tuple[int, ...]) -> list[tuple[int, ...]]:
    if layout.wrapped:
        along, rank = _along(list(layout.grid)), len(layout.grid)
        return [tuple(i if d == along else 0 for d in range(rank)) for i in range(layout.grid[along])]
    rank = len(layout.grid)
    if rank == 0:
        return [()]
    if rank == 1:
        return [(i,) for i in range(layout.columns)]
    return [(*sheet, row, column) for row in range(layout.rows) for column in range(layout.columns)]


def _sheet(canvas: Canvas, layout: GridLayout, place: tuple, cells: list, number: int):
    """Cells are the dashes of a line for each row of a kind, so that thousands of them are small."""
    x, y, size = place
    gap = 2 if size > 9 else 1 if size > 4 else 0.4
    runs: dict[str, str] = {"none": "", "to come": "", "past": "", "now": ""}
    last, here = None, None
    for index, order in cells:
        _, row, column = layout.place(list(index))
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
                _, row, column = layout.place(list(index))
                middle = (x + (column + 0.5) * size - gap / 2, y + (row + 0.5) * size + 3)
                fill = "paper" if order == number else "soft"
                canvas.text(*middle, str(order), size=10, fill=fill, anchor="middle")


# Operands: an array as rows and columns, its blocks, and what the program touches.


def _operands(canvas: Canvas, data: dict, program: dict, place: tuple) -> float:
    left, top = place
    shown = [
        (number, one)
        for number, one in enumerate(data["operands"])
        if one["role"] in ("in", "out", "prefetch") or any(access[1] == number for access in program["a"])
    ]
    _heading(canvas, left, top, "operands")
    width = _WIDTH - _LEFT - left
    across = min(max(len(shown), 1), 3)
    room = (width - 24 * (across - 1)) / across
    bottom = y = top + 22
    for i, (number, one) in enumerate(shown[:9]):
        if i % across == 0 and i:
            y = bottom + 26
        end = _operand(canvas, data, (number, one, program), (left + (i % across) * (room + 24), y, room))
        bottom = max(bottom, end)
    rest = [one for one in data["operands"] if one["role"] == "scratch"]
    if len(shown) > 9:
        bottom += 20
        canvas.text(left, bottom, f"and {len(shown) - 9} more operands", size=11, fill="soft")
    if rest:
        bottom += 24
        words = "scratch: " + ", ".join(f"{one['ref'] or one['name']} {one['type']}" for one in rest)
        canvas.text(left, bottom, words, size=11.5, mono=True, fill="soft", width=width)
    return bottom


def _operand(canvas: Canvas, data: dict, which: tuple, place: tuple) -> float:
    number, one, program = which
    x, y, room = place
    name = one["ref"] or one["name"]
    canvas.text(x, y, name, size=14, mono=True, bold=True, width=room - 40)
    canvas.text(x + room, y, one["role"], size=11, fill="soft", anchor="end")
    accesses = [access for access in program["a"] if access[1] == number]
    held = [] if accesses else _held(data, program, number)
    lines = [one["type"]]
    if "map" in one:
        parameters, results = one["map"]
        lines.append(f"block {one['block'].partition(', copied')[0] or 'whole'}")
        whole = f"({', '.join(parameters)}) → ({', '.join(results)})"
        fits = text_width(whole, 11.5, mono=True) <= room
        lines += [whole] if fits else [f"({', '.join(parameters)})", f"  → ({', '.join(results)})"]
    for line in lines:
        y += 16
        canvas.text(x, y, line, size=11.5, mono=True, fill="soft", width=room)
    y = _array(canvas, one, accesses or held, (x, y + 18, room), held=bool(held))
    for kind, box in dict.fromkeys((access[0], box_text(access)) for access in accesses[:4]):
        y += 16
        words = f"{_KINDS[kind]}s " if kind < 2 else "updates "
        canvas.text(x, y, words, size=11.5, fill=_KINDS[kind], bold=True)
        canvas.text(x + text_width(words, 11.5) + 6, y, box, size=11.5, mono=True, width=room - 60)
    if not accesses:
        y += 16
        words = "stays here: " if held else "not touched"
        canvas.text(x, y, words, size=11.5, fill="soft", width=room)
        if held:
            at = x + text_width(words, 11.5)
            canvas.text(at, y, box_text(held[0]), size=11.5, mono=True, fill="soft", width=room - 70)
    return _values(canvas, values_of(data, program, name), (x, y, room))


def _held(data: dict, program: dict, number: int) -> list:
    """The block of the operand that was copied in earlier, or that goes out later, and is not copied now."""
    one, programs = data["operands"][number], data["programs"]
    if not one["resident"] or not programs:
        return []
    here, goes_in = programs.index(program), one["role"] != "out"
    for other in reversed(programs[:here]) if goes_in else programs[here:]:
        found = [access for access in other["a"] if access[1] == number and (access[0] == 0) == goes_in]
        if found:
            return found[-1:] if goes_in else found[:1]
    return []


def box_text(access: list) -> str:
    """ "[0:128, 3]" """
    parts = []
    for start, count, step in zip(access[4], access[5], access[6]):
        end = start + (count - 1) * step + 1
        parts.append(str(start) if count == 1 else f"{start}:{end}" + (f":{step}" if step != 1 else ""))
    return "[" + ", ".join(parts) + "]" + ("" if access[3] else " in part")


def _array(canvas: Canvas, one: dict, accesses: list, place: tuple, *, held: bool = False) -> float:
    x, y, room = place
    shape = one["shape"]
    columns, rows = (shape[-1] if shape else 1), (shape[-2] if len(shape) > 1 else 1)
    ends = [_reach(access, len(shape)) for access in accesses]
    across = max([columns, *(box[1] for box in ends)]) or 1
    down = max([rows, *(box[3] for box in ends)]) or 1
    width = room - 26
    height = 26 if down == 1 else min(max(width * down / across, 40), 150)
    if down > 1 and width * down / across > 150:
        width = max(min(width, 150 * across / down), 60)
    sx, sy = width / across, height / down
    if len(shape) > 2:
        page = accesses[0][4][: len(shape) - 2] if accesses else [0] * (len(shape) - 2)
        canvas.text(x, y - 2, f"[{', '.join(map(str, page))}, …]", size=11, fill="soft", mono=True)
        y += 16
    canvas.rect((x, y, columns * sx, rows * sy), "cell")
    _block_lines(canvas, one, (x, y, sx, sy, columns, rows))
    if across > columns or down > rows:
        canvas.rect((x, y, across * sx, down * sy), stroke="soft", dash="3 3")
    for access, (x0, x1, y0, y1) in zip(accesses, ends):
        colour = _KINDS[access[0]]
        box = (x + x0 * sx, y + y0 * sy, max((x1 - x0) * sx, 2), max((y1 - y0) * sy, 2))
        canvas.rect(box, colour, opacity=0.12 if held else 0.45, stroke=colour, dash="4 3" if held else "")
    if ends:
        x0, x1, y0, y1 = ends[-1]
        for at, anchor in ((x0, "start"), (x1, "end" if (x1 - x0) * sx > 40 else "start")):
            if at == x0 or (x1 - x0) * sx > 40:
                canvas.text(x + at * sx, y - 4, str(at), size=9.5, fill="soft", anchor=anchor)
        if len(shape) > 1:
            canvas.text(x + across * sx + 4, y + y0 * sy + 8, str(y0), size=9.5, fill="soft")
            if (y1 - y0) * sy > 24:
                canvas.text(x + across * sx + 4, y + y1 * sy, str(y1), size=9.5, fill="soft")
    return y + height + 4


def _reach(access: list, rank: int) -> tuple[int, int, int, int]:
    def span(d):
        if d < 0 or rank == 0:
            return 0, 1
        start = access[4][d]
        return start, start + (access[5][d] - 1) * access[6][d] + 1

    return *span(rank - 1), *span(rank - 2 if rank > 1 else -1)


def _block_lines(canvas: Canvas, one: dict, place: tuple):
    x, y, sx, sy, columns, rows = place
    sizes = one["sizes"]
    if not sizes or len(sizes) != len(one["shape"]):
        return
    path = ""
    if sizes[-1] * sx >= 4:
        path += "".join(
            f"M{x + at * sx:.1f} {y:.1f}v{rows * sy:.1f}" for at in range(0, columns + 1, max(sizes[-1], 1))
        )
    if len(sizes) > 1 and sizes[-2] * sy >= 4:
        path += "".join(
            f"M{x:.1f} {y + at * sy:.1f}h{columns * sx:.1f}" for at in range(0, rows + 1, max(sizes[-2], 1))
        )
    if path:
        canvas.path(path, "soft", width=0.8, opacity=0.55)


# Values, where they were asked for.


def values_of(data: dict, program: dict, ref: str) -> tuple | None:
    """The last value that the program read from or wrote to the ref: (kind, box, value)."""
    found = None
    for step in program.get("s", []):
        for kind, name, box in step[2]:
            if name == ref and len(step) > 3 and not data["instrs"][step[0]][4]:
                found = (kind, box, step[3][0])
    return found


def _values(canvas: Canvas, found: tuple | None, place: tuple) -> float:
    x, y, room = place
    if found is None:
        return y
    kind, box, (_, kind_of, rows, columns, elements) = found
    shown_rows, shown_columns = min(rows, _MOST_VALUES), min(columns, _MOST_VALUES)
    y += 20
    canvas.text(x, y, f"{_KINDS[kind]}, the first of {kind_of}:", size=10.5, fill="soft", width=room)
    cell = room / max(shown_columns, 1)
    for row in range(shown_rows):
        y += 17
        for column in range(shown_columns):
            canvas.rect((x + column * cell, y - 12, cell - 2, 15), _KINDS[kind], opacity=0.16)
            words = short_number(elements[row * columns + column])
            canvas.text(x + (column + 1) * cell - 6, y, words, size=10, mono=True, anchor="end", width=cell - 6)
    return y


def short_number(text: str) -> str:
    """ "265297920.0" as 2.65e8"""
    try:
        number = float(text)
    except ValueError:
        return text
    shown = f"{number:.6g}"
    shown = shown if len(shown) <= 6 else f"{number:.3g}"
    return shown.replace("e+0", "e").replace("e+", "e").replace("e-0", "e-")


# The source, and what the program does.


def _program(canvas: Canvas, data: dict, program: dict, top: float):
    left = _LEFT
    steps = _shown_steps(data, program)
    lines = _shown_lines(data, program)
    half = 540 if lines else 0
    if lines:
        canvas.path(f"M{_LEFT} {top - 12}H{_WIDTH - _LEFT}", "line")
        file = data["sources"][0][0]
        _heading(canvas, left, top + 8, "source")
        canvas.text(left + 60, top + 8, file.rpartition("/")[2], size=10.5, fill="soft", mono=True)
        _source(canvas, data, (program, lines), (left, top + 28, half - 30))
    if steps:
        at = left + half
        _heading(canvas, at, top + 8, f"what {program['n']} does")
        _steps(canvas, data, steps, (at, top + 28, _WIDTH - _LEFT - at))


def _shown_lines(data: dict, program: dict) -> list[tuple[str, int, str]]:
    """Of a long source those that this program runs, with their neighbours."""
    lines = [(file, number, text) for file, listed in data["sources"] for number, text in listed]
    if len(lines) > _MOST_ROWS:
        run = _line_kinds(data, program)
        touching = {at for at, kinds in run.items() if kinds != {3}}
        for wanted, reach in ((set(run), 2), (set(run), 1), (touching, 1), (touching, 0)):
            near = [one for one in lines if any((one[0], one[1] + d) in wanted for d in range(-reach, reach + 1))]
            if near and len(near) <= _MOST_ROWS:
                return near
    return lines[:_MOST_ROWS]


def _line_kinds(data: dict, program: dict) -> dict[tuple[str, int], set[int]]:
    """By (file, line): 0 read, 1 written, 2 atomic, 3 computed."""
    found: dict[tuple[str, int], set[int]] = {}
    for step in program.get("s", []):
        loc = data["instrs"][step[0]][2]
        if loc >= 0 and not data["instrs"][step[0]][4]:
            kinds = {access[0] for access in step[2]} or {3}
            found.setdefault(tuple(data["places"][loc]), set()).update(kinds)
    return found


def _source(canvas: Canvas, data: dict, what: tuple, place: tuple):
    program, lines = what
    x, y, width = place
    kinds = _line_kinds(data, program)
    indent = min((len(text) - len(text.lstrip()) for _, _, text in lines if text.strip()), default=0)
    for file, number, text in lines:
        done = kinds.get((file, number), set())
        for place_of, kind in enumerate(kind for kind in (0, 1, 2) if kind in done):
            canvas.rect((x + place_of * 4, y - 10, 3, 14), _KINDS[kind])
        fill = "ink" if done else "soft"
        canvas.text(x + 38, y, str(number), size=10.5, mono=True, fill="soft", anchor="end")
        canvas.text(x + 46, y, text[indent:].expandtabs(4), size=11.5, mono=True, fill=fill, width=width - 46)
        y += 17


def _shown_steps(data: dict, program: dict) -> list:
    """What touches memory, and what computes arrays; scalars are left out."""
    shown = []
    for step in program.get("s", []):
        name, _, _, made, _ = data["instrs"][step[0]]
        if step[2] or (made and not made.endswith("[]")):
            shown.append((name, step))
    return shown


def step_texts(data: dict, step: list) -> list[tuple[str, str]]:
    """(kind, words): "reads", "x_ref[0:128, 0:128]" ...; the kind of what only computes is ""."""
    name, _, _, made, around = data["instrs"][step[0]]
    verbs = ("reads", "writes", "updates")
    touched = step[2]
    if around and len(touched) == 2 and touched[0][1] == touched[1][1]:  # of a copy of a block, the array's side
        touched = touched[1:] if name.startswith("flush") else touched[:1]
    return [(verbs[kind], name + box) for kind, name, box in touched] or [("", made)]


def _steps(canvas: Canvas, data: dict, steps: list, place: tuple):
    x, y, width = place
    rows = 0
    for number, (name, step) in enumerate(steps):
        texts = step_texts(data, step)[:3]
        if rows + len(texts) > _MOST_ROWS:
            words = f"and {len(steps) - number} more instructions (the page has all)"
            canvas.text(x, y, words, size=11, fill="soft")
            break
        indent = min(12 * step[1], 60)
        canvas.text(x + indent, y, name, size=11.5, mono=True, width=128 - indent)
        for kind, words in texts:
            if kind:
                colour = {"reads": "read", "writes": "write"}.get(kind, "atomic")
                canvas.text(x + 134, y, kind, size=11, fill=colour, bold=True)
            fill = "ink" if kind else "soft"
            canvas.text(x + 184, y, words, size=11, mono=True, fill=fill, width=width - 184)
            y += 17
            rows += 1
