"""`palladion.draw`, `draw_time` and `draw_layout`: pictures of a function's kernels, of their time, and of where the
elements of an array lie (docs/guides/pictures.md).

What is drawn is recorded or computed in C++ (emu/tools/debug, emu/timing, emu/chip/layouts), behind the C ABI.
"""

import collections
import ctypes
import json
import os
import re
from collections.abc import Callable, Sequence
from typing import Any

from palladion import _library
from palladion.api import kernel_texts, running
from palladion.api.timing import time
from palladion.base.check_options import choice, whole
from palladion.base.scalars import NUMPY_NAMES, dtype_name
from palladion.jax import probes, tensors
from palladion.report.pictures.layout import layout_svg, layout_text
from palladion.report.pictures.picture import Picture, page_of, picture_of
from palladion.report.pictures.program import chosen_program, found, program_svg, summary
from palladion.report.pictures.time import time_svg, time_text
from palladion.report.rendering import cell_lines
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
        ("lines", ctypes.POINTER(_library._SourceLine)),
        ("n_lines", ctypes.c_size_t),
        ("options", ctypes.POINTER(ctypes.c_char_p)),
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
    replay: str | None = None,
    fill: str | None = None,
    proxy: str | None = None,
    links: str | None = None,
    bounds: str = "logical",
) -> Picture:
    """The kernels that `f(*args)` calls, as a picture: the grid, the blocks of each operand with their index maps, and
    what one program reads, computes and writes, instruction by instruction, beside the source.

    The SVG shows one program, by its index or its number; None: one in the middle of the grid. The page steps through
    all of them. Of several kernels each is drawn, the first call of each; `kernel` names one. `f` may be a kernel text
    or the path of one, as for `palladion.check`; `target` and `budget` are as for `palladion.run`.

    values: shows the first elements of what each instruction computes.
    check: the picture says what a check of one schedule finds, and the page marks it.
    replay: the schedule that a finding of `palladion.check` names, and with it `fill`, `proxy`, `links` and `bounds`,
        as for `palladion.run`: that run is drawn, its instructions in the order in which the programs' began; the page
        steps through them in that order. Of several kernels `kernel` says whose schedule it is.

    ValueError: no such kernel or program.
    PalladionError: the library refuses a kernel.
    """
    given = {"replay": replay, "fill": fill, "proxy": proxy, "links": links, "bounds": choice("bounds", bounds)}
    calls = _Calls(kernel, values, check, whole("budget", budget), given)
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
    return picture_of(calls.pictures(program), calls.names, kernel)


@short_errors
def draw_time(
    f: Callable | str | os.PathLike,
    *args: Any,
    target: str | None = None,
    kernel: str | None = None,
    unit: int | tuple[int, int] = 0,
    budget: int | None = None,
) -> Picture:
    """What happens when on one SM or core of the chip, as a picture: `palladion.time` with its timeline.

    The SVG has a lane for each thread, buffer, barrier, engine and unit, and the least time that each limit of the chip
    allows; the page is that of `palladion time --page` (docs/guides/timeline.md). Of several kernels each is drawn;
    `kernel` names one. unit: which SM or core; of a kernel of several devices, (device, SM). target, budget: as for
    `palladion.time`.
    """
    is_text = kernel_texts.source_of(f) is not None
    report = time(f, *args, target=target, budget=budget, timeline=unit, kernel=kernel if is_text else None)
    drawn = [one for one in report.kernels if is_text or kernel in (None, one.kernel)]
    pictures = [Picture(time_svg(one), one.page, time_text(one)) for one in drawn]
    return picture_of(pictures, [one.kernel for one in report.kernels], kernel)


class _LayoutRequest(ctypes.Structure):
    """palladion_layout_request."""

    _fields_ = [
        ("layout", ctypes.c_char_p),
        ("dtype", ctypes.c_char_p),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("rank", ctypes.c_int),
        ("chip", ctypes.c_char_p),
        ("tile", ctypes.POINTER(ctypes.c_int64)),
        ("swizzle", ctypes.c_int64),
        ("access", ctypes.c_char_p),
        ("packed", ctypes.c_int),
    ]


@short_errors
def draw_layout(
    layout: Any,
    shape: Sequence[int],
    dtype: Any,
    *,
    target: str | None = None,
    tile: Sequence[int] | None = None,
    swizzle: int | None = None,
    access: Any = None,
    packed: bool = False,
) -> Picture:
    """Where the elements of an array of one or two dimensions lie, as a picture.

    layout: registers of a warpgroup, as a `plgpu.Layout` or its name ("WGMMA", "TCGEN05", "WG_STRIDED", ...): which
        lane holds each element, and where among its own. Or a memory: "smem", "vmem", "tmem".
    tile: of "smem", that of plgpu.TilingTransform.
    swizzle: of "smem", 128, 64 or 32 bytes.
    access: of "smem", the layout of registers in which it is read, whose bank conflicts are drawn.
    target: of "vmem", the chip whose tiles are drawn.
    packed: of "tmem", as plgpu.TMEM has it.

    PalladionError: such an array has no such layout.
    """
    table = layout_table(layout, shape, dtype, target=target, tile=tile, swizzle=swizzle, access=access, packed=packed)
    svg, text = layout_svg(table), layout_text(table)
    return Picture(svg, page_of(svg, text), text)


def layout_table(
    layout: Any,
    shape: Sequence[int],
    dtype: Any,
    *,
    target: str | None = None,
    tile: Sequence[int] | None = None,
    swizzle: int | None = None,
    access: Any = None,
    packed: bool = False,
) -> dict:
    """What `draw_layout` draws: emu/chip/layouts/layout_tables.h."""
    if not isinstance(shape, Sequence) or not isinstance(tile, Sequence | None):
        raise TypeError(f"shape and tile have a size for each dimension, such as (64, 8); found {shape!r} and {tile!r}")
    if layout == "vmem" and target is None:
        raise _library.PalladionError('tiles of vector memory are a TPU\'s: target="v5e", for one, says which chip')
    if tile is not None and len(tile) != len(shape):
        raise ValueError(f"tile has a size for each dimension of shape; found {tuple(tile)} beside {tuple(shape)}")
    request = _LayoutRequest(
        str(layout).encode(),  # "Layout.WGMMA", as JAX prints one
        _type_name(dtype).encode(),
        _sizes(shape),
        len(shape),
        (target or "").rpartition("/")[2].encode(),
        None if tile is None else _sizes(tile),
        swizzle or 0,
        None if access is None else str(access).encode(),
        packed,
    )
    library, error = _library.load(), _library._Error()
    found = ctypes.c_void_p(library.palladion_layout(ctypes.byref(request), ctypes.byref(error)))
    _library._expect(error, found.value)
    return json.loads(_library._take_text(library, found))


def _sizes(shape: Sequence[int]) -> ctypes.Array:
    return (ctypes.c_int64 * max(len(shape), 1))(*shape)


def _type_name(dtype: Any) -> str:
    """As kernel text has it, which is how a str may have it, too."""
    return dtype if isinstance(dtype, str) and dtype in NUMPY_NAMES else dtype_name(dtype)


class _Calls:
    """What was drawn, in the order of the calls."""

    def __init__(self, kernel: str | None, values: bool, check: bool, budget: int | None, options: dict):
        self.kernel, self.values, self.check, self.budget = kernel, values, check, budget
        self.options = _library.options_list(options)
        self.names: list[str] = []  # of all kernels that ran
        self._drawn: dict[str, tuple[dict, str]] = {}  # of each text, its first call
        self._counts: collections.Counter[str] = collections.Counter()

    def call(self, text: str, target: str | None, inputs: list):
        """A kernel of a function: of its calls, the first is drawn."""
        name = re.search(r"^kernel @([^\s{(]+)", text, re.MULTILINE)
        self.names.append(name[1] if name else "kernel")
        self._counts[text] += 1
        if text not in self._drawn and self.kernel in (None, self.names[-1]):
            self.add(text, target, inputs, None)

    def add(self, text: str, target: str | None, inputs: list, kernel: str | None):
        encoded, lines = text.encode(), cell_lines(re.findall(r'^file #\S+ = "(.*)";$', text, re.MULTILINE))
        listed = _library.source_lines(lines)
        names = (kernel and kernel.encode(), target and target.encode())
        options = ctypes.cast(self.options, ctypes.POINTER(ctypes.c_char_p))
        how = (self.budget or 0, self.values, self.check, listed, len(lines), options)
        request = Request(encoded, len(encoded), *names, *how)
        self._drawn[text] = _library.answer("palladion_draw", request, inputs)

    def pictures(self, program: int | tuple[int, ...] | None) -> list[Picture]:
        pictures = []
        for text, (data, page) in self._drawn.items():
            count = self._counts[text]
            called = f"; called {count} times, the first is drawn" if count > 1 else ""
            words = "\n".join([summary(data) + called, *found(data)])
            pictures.append(Picture(program_svg(data, chosen_program(data, program)), page, words))
        return pictures


class _DrawnProgram(_library.Program):
    """A kernel whose runs are drawn beside."""

    def __init__(self, text, target, calls):
        super().__init__(text, None, target)
        self._text, self._target, self._calls = text, target, calls

    def run(self, inputs, outputs, budget=None, *how) -> tuple:
        self._calls.call(self._text, self._target, inputs)
        return super().run(inputs, outputs, budget, *how)
