"""One program of a kernel as SVG: the grid, what it reads and writes of each operand, the source and its instructions.

The data is that of the page of programs (emu/tools/debug/trace_page.h), which shows every program; here one is chosen.
Lists that are long are cut, and say so.
"""

import math
import operator
from collections.abc import Iterable

from palladion.report.pictures.accesses import KINDS
from palladion.report.pictures.grid import SIDE, axis_names, draw_grid
from palladion.report.pictures.instructions import draw_instructions
from palladion.report.pictures.operands import draw_operands
from palladion.report.pictures.svg import MARGIN, WIDTH, Canvas

_KIND_WORDS = {"read": "reads", "write": "writes", "atomic": "atomic"}


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
    named = zip(axis_names(data), data["grid"])
    return "(" + ", ".join(f"{name}: {size}" if name else str(size) for name, size in named) + ")"


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
    canvas = Canvas()
    program = data["programs"][number] if data["programs"] else {"i": [], "n": "no program", "a": []}
    canvas.text(MARGIN, 32, "@" + data["kernel"], size=18, bold=True, width=440)
    facts = f"{data['target']}  ·  grid {axes_text(data)}  ·  {program['n']}"
    canvas.text(MARGIN, 52, facts, fill="soft", size=12.5, width=WIDTH - 2 * MARGIN)
    canvas.legend([(_KIND_WORDS[kind], kind) for kind in KINDS])
    top = 76
    for words in found(data)[:2]:
        canvas.text(MARGIN, top - 6, words, size=12.5, fill="bad", bold=True, width=WIDTH - 2 * MARGIN)
        top += 19
    grid_end = draw_grid(canvas, data, number, top)
    operands_end = draw_operands(canvas, data, program, (MARGIN + SIDE + 26, top))
    draw_instructions(canvas, data, program, max(grid_end, operands_end) + 30)
    return canvas.svg(f"{summary(data)}; {program['n']} is shown")
