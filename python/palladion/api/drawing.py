"""`palladion.draw`: the grid, the blocks and each program of a function's kernels as pictures (docs/pictures.md).

What is drawn is recorded in C++ (emu/tools/debug), behind the C ABI.
"""

import ctypes
import linecache
import os
import re
from collections.abc import Callable
from typing import Any

from palladion import _abi, _library
from palladion.api import kernel_texts, running
from palladion.api.time_requests import timed_call
from palladion.base.check_options import whole
from palladion.jax import probes, tensors
from palladion.report.drawing import Picture
from palladion.report.pictures import picture_of
from palladion.report.program_picture import chosen_program, program_svg, summary
from palladion.report.short_errors import short_errors


class Request(ctypes.Structure):
    """palladion_draw_request."""

    _fields_ = [
        ("text", ctypes.c_char_p),
        ("size", ctypes.c_size_t),
        ("kernel", ctypes.c_char_p),
        ("target", ctypes.c_char_p),
        ("budget", ctypes.c_int64),
        ("values", ctypes.c_int),
        ("check", ctypes.c_int),
        ("lines", ctypes.POINTER(_abi._SourceLine)),
        ("n_lines", ctypes.c_size_t),
    ]


@short_errors
def draw(
    f: Callable | str | os.PathLike,
    *args: Any,
    target: str | None = None,
    kernel: str | None = None,
    program: int | tuple[int, ...] | None = None,
    values: bool = False,
    check: bool = True,
    budget: int | None = None,
) -> Picture:
    """The kernels that `f(*args)` calls, as a picture: the grid, the blocks of each operand with their index maps, and
    what one program reads, computes and writes, instruction by instruction, beside the source.

    The SVG shows one program, by its index or its number; None: one in the middle of the grid. The page steps through
    all of them. Of several kernels each is drawn, the first call of each; `kernel` names one.
    values: the first elements of what each instruction computes. check: what a check of one schedule finds is marked on
    the page. target, budget: as for `palladion.run`. `f` may be a kernel text or the path of one, as for
    `palladion.check`.
    ValueError: no such kernel or program. PalladionError: the library refuses a kernel.
    """
    calls = _Calls(kernel, values, check, whole("budget", budget))
    args, _ = tensors.as_arrays(args)
    if (source := kernel_texts.source_of(f)) is not None:
        calls.add(source[1], probes.given(target), kernel_texts.arrays_of(args), kernel)
    else:
        running.execute(
            f,
            args,
            probes.given(target),
            how=running.How(budget=calls.budget),
            program=lambda text, chip: _DrawnProgram(text, chip, calls),
        )
    return picture_of([calls.picture(number, program) for number in range(len(calls.drawn))], calls.names)


class _Calls:
    """What was drawn, in the order of the calls."""

    def __init__(self, kernel: str | None, values: bool, check: bool, budget: int | None):
        self.kernel, self.values, self.check, self.budget = kernel, values, check, budget
        self.names: list[str] = []  # of all kernels that ran
        self.drawn: list[tuple[dict, str]] = []
        self._counts: dict[str, int] = {}
        self._texts: list[str] = []

    def call(self, text: str, target: str | None, inputs: list):
        """A kernel of a function: of its calls, the first is drawn."""
        name = re.search(r"^kernel @([^\s{(]+)", text, re.MULTILINE)
        self.names.append(name[1] if name else "kernel")
        self._counts[text] = self._counts.get(text, 0) + 1
        if self._counts[text] == 1 and self.kernel in (None, self.names[-1]):
            self.add(text, target, inputs, None)

    def add(self, text: str, target: str | None, inputs: list, kernel: str | None):
        encoded, lines = text.encode(), _notebook_lines(text)
        listed = (_abi._SourceLine * max(len(lines), 1))(*lines)
        names = (kernel and kernel.encode(), target and target.encode())
        request = Request(encoded, len(encoded), *names, self.budget or 0, self.values, self.check, listed, len(lines))
        self.drawn.append(timed_call("palladion_draw", request, inputs))
        self._texts.append(text)

    def picture(self, number: int, program: int | tuple[int, ...] | None) -> Picture:
        data, page = self.drawn[number]
        count = self._counts.get(self._texts[number], 1)
        called = f"; called {count} times, the first is drawn" if count > 1 else ""
        return Picture(program_svg(data, chosen_program(data, program)), page, summary(data) + called)


class _DrawnProgram(_library.Program):
    """A kernel whose runs are drawn beside."""

    def __init__(self, text, target, calls):
        super().__init__(text, None, target)
        self._text, self._target, self._calls = text, target, calls

    def run(self, inputs, outputs, budget=None, *how) -> tuple:
        self._calls.call(self._text, self._target, inputs)
        return super().run(inputs, outputs, budget, *how)


def _notebook_lines(text: str) -> list[tuple[bytes, int, bytes]]:
    """Of files that the text names and no disk has: the cells of notebooks."""
    lines = []
    for file in re.findall(r'^file #\S+ = "(.*)";$', text, re.MULTILINE):
        if not os.path.exists(file):
            for number, line in enumerate(linecache.getlines(file), 1):
                lines.append((file.encode(), number, line.rstrip("\r\n").encode("utf-8", "replace")))
    return lines
