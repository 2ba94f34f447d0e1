"""Where the elements of an array lie, as SVG: registers of a warpgroup, shared memory with its banks, tiles of a TPU's
vector memory, tensor memory. The tables come from the library (emu/chip/layouts/layout_tables.h); large ones are cut,
and say so.
"""

import collections

from palladion.report.pictures.svg import MARGIN, Canvas

_TOP = 92
_MOST_ROWS, _MOST_COLUMNS = 32, 16


def layout_svg(table: dict) -> str:
    """Of a table of any kind."""
    canvas = Canvas()
    canvas.text(MARGIN, 32, f"{table['type']} in {_name(table)}", size=18, bold=True, width=900)
    canvas.text(MARGIN, 54, facts(table), size=12.5, fill="soft", width=920)
    {"registers": _registers, "smem": _shared, "vmem": _tiles, "tmem": _tensor}[table["kind"]](canvas, table)
    return canvas.svg(layout_text(table))


def layout_text(table: dict) -> str:
    """A line for people."""
    return f"{table['type']} in {_name(table)}: {facts(table)}"


def _name(table: dict) -> str:
    if table["kind"] == "smem":
        swizzle = f"swizzled by {table['swizzle']} bytes" if table["swizzle"] else "without a swizzle"
        tile = f", tiles of {tuple(table['tile'])}" if table["tile"] else ""
        return f"shared memory, {swizzle}{tile}"
    names = {"vmem": f"vector memory of {table.get('chip')}", "tmem": "tensor memory"}
    return names.get(table["kind"], f"registers, {table.get('name')}")


def facts(table: dict) -> str:
    """What the picture shows, in words."""
    if table["kind"] == "registers":
        copies = f"; {table['copies']} lanes hold each" if table["copies"] > 1 else ""
        return (
            f"lane:place of each element; a lane of the 128 of a warpgroup holds {table['held']}, "
            f"{table['vector']} side by side{copies}"
        )
    if table["kind"] == "vmem":
        rows, lanes = table["tile"]
        share = table["dense"] / table["bytes"]
        packed = f", {table['packing']} rows in a sublane" if table["packing"] > 1 else ""
        return f"tiles of {rows} x {lanes}{packed}; {table['bytes']} bytes, of which {share:.0%} are elements"
    if table["kind"] == "tmem":
        packed = f", {table['packing']} elements in a cell of 32 bits" if table["packing"] > 1 else ""
        return f"{table['columns']} of the 512 columns of 128 lanes{packed}"
    if "access" not in table:
        return f"{table['banks']} banks of {table['bank_bytes']} bytes; a cell is 16 bytes"
    if table["refused"]:
        return f"read in {table['access']}: JAX finds no order of registers without conflicts, and refuses it"
    more = table["turns"] - table["least"]
    conflicts = f"{more} of them because of bank conflicts" if more else "no bank conflicts"
    return f"read in {table['access']}: {table['turns']} turns of the port for a warpgroup, {conflicts}"


def _sizes(table: dict) -> tuple[int, int]:
    shape = table["shape"]
    return (1, shape[0]) if len(shape) == 1 else (shape[0], shape[1])


def _axes(canvas: Canvas, place: tuple, counts: tuple[int, int], cell: tuple[float, float]):
    """The indices of rows and columns beside a table."""
    (x, y), (rows, columns), (wide, high) = place, counts, cell
    for column in range(columns):
        canvas.text(x + (column + 0.5) * wide, y - 6, str(column), size=9.5, fill="soft", anchor="middle")
    for row in range(rows):
        canvas.text(x - 6, y + (row + 0.5) * high + 4, str(row), size=9.5, fill="soft", anchor="end")


def _cut(canvas: Canvas, y: float, shown: tuple[int, int], sizes: tuple[int, int]):
    if shown != sizes:
        words = f"the first {shown[0]} x {shown[1]} of {sizes[0]} x {sizes[1]} elements"
        canvas.text(MARGIN + 30, y + 18, words, size=11, fill="soft")


def _registers(canvas: Canvas, table: dict):
    cells: list = []
    sizes = _sizes(table)
    shown = (min(sizes[0], _MOST_ROWS), min(sizes[1], _MOST_COLUMNS))
    x, y, wide, high = MARGIN + 30, _TOP, min(880 / shown[1], 64), 19
    _axes(canvas, (x, y), shown, (wide, high))
    for row in range(shown[0]):
        for column in range(shown[1]):
            at = row * sizes[1] + column
            lane, slot = table["lane"][at], table["slot"][at]
            box = (x + column * wide, y + row * high, wide - 1.5, high - 1.5)
            cells.append((box, lane % 32 / 32, f"{lane}:{slot}", high - 5.5))
    canvas.cells(cells)
    _cut(canvas, y + shown[0] * high, shown, sizes)


def _shared(canvas: Canvas, table: dict):
    """Rows of 128 bytes, one for all banks, in pieces of 16 bytes: which elements each holds."""
    cells: list = []
    sizes, bits = _sizes(table), 8 * _element_bytes(table["type"])
    held = {byte: at for at, byte in enumerate(table["byte"])}
    in_piece = max(128 // int(bits), 1)
    rows = min((max(table["byte"]) // 128) + 1, 16)
    x, y, wide, high = MARGIN + 60, _TOP + 8, 108, 22
    for piece in range(8):
        words = f"banks {piece * 4}-{piece * 4 + 3}"
        canvas.text(x + (piece + 0.5) * wide, y - 6, words, size=9.5, fill="soft", anchor="middle")
    for row in range(rows):
        canvas.text(x - 6, y + (row + 0.5) * high + 4, f"{row * 128}", size=9.5, fill="soft", anchor="end", mono=True)
        for piece in range(8):
            at = held.get(row * 128 + piece * 16)
            if at is None:
                continue
            i, j = divmod(at, sizes[1])
            words = f"{i}, {j}:{j + in_piece}" if len(table["shape"]) > 1 else f"{j}:{j + in_piece}"
            box = (x + piece * wide, y + row * high, wide - 2, high - 2)
            cells.append((box, j // in_piece % 8 / 8, words, high - 6))
    canvas.cells(cells)
    y += rows * high
    words = "bytes down; colours are the columns of the array, in pieces of 16 bytes"
    canvas.text(x, y + 16, words, size=11, fill="soft")
    if "access" in table:
        _banks(canvas, table, y + 46)


def _element_bytes(kind: str) -> float:
    name = kind.partition("[")[0]
    digits = "".join(c for c in name.partition("e")[0] if c.isdigit())
    return 1 if name.startswith("bool") else int(digits or 32) / 8


def _banks(canvas: Canvas, table: dict, y: float):
    """Of the first vectors of the first warp: the words that each bank is asked for."""
    size, words = table["vector_bytes"], collections.defaultdict(set)
    together = max(1, 32 // max(1, size // table["bank_bytes"]))
    for byte in table["first"][:together]:
        for word in range(byte // table["bank_bytes"], (byte + max(size, 1) - 1) // table["bank_bytes"] + 1):
            words[word % table["banks"]].add(word)
    most = max(map(len, words.values()))
    lanes = "the 32 lanes of warp 0" if together == 32 else f"lanes 0 to {together - 1} of warp 0"
    heading = f"words that {lanes} ask each bank for, in the order of registers: {most} at most"
    canvas.text(MARGIN + 60, y, heading, size=12, bold=True)
    x, wide = MARGIN + 60, 864 / table["banks"]
    for bank in range(table["banks"]):
        count = len(words[bank])
        for number in range(min(count, 16)):
            colour = "read" if number == 0 else "bad"
            canvas.rect((x + bank * wide, y + 12 + number * 9, wide - 3, 7), colour, opacity=0.75, radius=1.5)
        canvas.text(
            x + (bank + 0.4) * wide, y + 24 + max(min(most, 16), 1) * 9, str(bank), size=9, fill="soft", anchor="middle"
        )


def _tiles(canvas: Canvas, table: dict):
    cells: list = []
    sizes, (tile_rows, lanes) = _sizes(table), table["tile"]
    if len(table["shape"]) == 1:
        tile_rows, lanes = 1, tile_rows * lanes
    down, across = -(-sizes[0] // tile_rows), -(-sizes[1] // lanes)
    shown = (min(down, 8), min(across, 4))
    x, y, wide, high = MARGIN + 30, _TOP + 8, min(430 / shown[1], 200), min(300 / shown[0], 64)
    canvas.text(x, y - 14, "the array, tile by tile", size=12, bold=True)
    for i in range(shown[0]):
        for j in range(shown[1]):
            rows, columns = min(tile_rows, sizes[0] - i * tile_rows), min(lanes, sizes[1] - j * lanes)
            box = (x + j * wide, y + i * high, wide - 3, high - 3)
            canvas.rect(box, stroke="soft", dash="3 3")
            part = (box[0], box[1], box[2] * columns / lanes, box[3] * rows / tile_rows)
            words = f"{i * tile_rows}:{i * tile_rows + rows}, {j * lanes}:{j * lanes + columns}"
            cells.append((part, (i + 3 * j) % 8 / 8, words if part[2] > 70 else "", min(part[3] / 2 + 4, 40)))
    end = y + shown[0] * high + 16
    canvas.text(
        x, end, "dashed: padding" + (", and more tiles" if shown != (down, across) else ""), size=11, fill="soft"
    )
    x, high = 520, 24
    canvas.text(x, y - 14, "rows of the first tile, by sublane", size=12, bold=True)
    for sublane in range(table["sublanes"]):
        if sublane * table["packing"] >= table["tile"][0]:
            break
        rows = range(sublane * table["packing"], (sublane + 1) * table["packing"])
        canvas.text(x + 66, y + sublane * high + 15, f"sublane {sublane}", size=10.5, fill="soft", anchor="end")
        wide = 330 / table["packing"]
        for part, row in enumerate(rows):
            words = f"row {row}"
            cells.append(((x + 74 + part * wide, y + sublane * high, wide - 2, high - 3), row % 8 / 8, words, high - 8))
    canvas.cells(cells)
    canvas.text(
        x + 74,
        y + (table["tile"][0] // table["packing"]) * high + 14,
        f"{table['tile'][1]} lanes: the columns",
        size=11,
        fill="soft",
    )


def _tensor(canvas: Canvas, table: dict):
    cells: list = []
    sizes = _sizes(table)
    x, y, wide, high = MARGIN + 40, _TOP + 16, 512 * 0.7, 128 * 1.1
    canvas.text(x, y - 20, "all of it: 128 lanes down, 512 columns across", size=12, bold=True)
    canvas.rect((x, y, wide, high), "cell")
    canvas.rect((x, y, table["columns"] * 0.7, high), "read", opacity=0.4, stroke="read")
    canvas.text(x, y + high + 14, f"columns 0:{table['columns']} of its allocation", size=11, fill="soft")
    held: dict[tuple[int, int], list[int]] = {}
    for at, where in enumerate(zip(table["lane"], table["column"])):
        held.setdefault(where, []).append(at)
    x, wide, high = 480, 88, 24
    canvas.text(x - 40, y - 20, "the first cells: row, column of the array", size=12, bold=True)
    for lane in range(8):
        canvas.text(x - 6, y + lane * high + 16, f"lane {lane}", size=9.5, fill="soft", anchor="end")
        for column in range(5):
            found = held.get((lane, column), [])
            if found:
                words = " | ".join(f"{at // sizes[1]}, {at % sizes[1]}" for at in found)
                cells.append(((x + column * wide, y + lane * high, wide - 2, high - 3), lane / 8, words, high - 8))
    canvas.cells(cells)
