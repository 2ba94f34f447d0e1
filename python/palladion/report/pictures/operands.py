"""The operands of a kernel: an array as rows and columns, its blocks, and what one program touches."""

from palladion.report.pictures.accesses import KINDS, box_text, reach
from palladion.report.pictures.svg import MARGIN, WIDTH, Canvas, text_width

_MOST_VALUES = 4


def draw_operands(canvas: Canvas, data: dict, program: dict, place: tuple) -> float:
    left, top = place
    shown = [
        (number, one)
        for number, one in enumerate(data["operands"])
        if one["role"] in ("in", "out", "prefetch") or any(access[1] == number for access in program["a"])
    ]
    canvas.heading(left, top, "operands")
    width = WIDTH - MARGIN - left
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
        words = f"{KINDS[kind]}s " if kind < 2 else "updates "
        canvas.text(x, y, words, size=11.5, fill=KINDS[kind], bold=True)
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


def _array(canvas: Canvas, one: dict, accesses: list, place: tuple, *, held: bool = False) -> float:
    x, y, room = place
    shape = one["shape"]
    columns, rows = (shape[-1] if shape else 1), (shape[-2] if len(shape) > 1 else 1)
    ends = [reach(access, len(shape)) for access in accesses]
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
        colour = KINDS[access[0]]
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
    canvas.text(x, y, f"{KINDS[kind]}, the first of {kind_of}:", size=10.5, fill="soft", width=room)
    cell = room / max(shown_columns, 1)
    for row in range(shown_rows):
        y += 17
        for column in range(shown_columns):
            canvas.rect((x + column * cell, y - 12, cell - 2, 15), KINDS[kind], opacity=0.16)
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
