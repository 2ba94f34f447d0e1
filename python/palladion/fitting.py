"""`palladion.fit`: what a function's kernels hold in the memories of a chip, and whether that fits (docs/fit.md). Nothing runs."""

import ctypes
import dataclasses
import html
import json
import os
from collections.abc import Callable, Sequence
from typing import Any

from palladion import _library, kernel_texts, probes
from palladion.interception import export
from palladion.short_errors import short_errors

_UNITS = (("MiB", 1 << 20), ("KiB", 1 << 10))


@dataclasses.dataclass(frozen=True)
class FitRow:
    """What is held under one name: `buffers` arrays `array` of `one` each, `amount` in all.

    `kind` is "operand", "scratch", "scope" (`run_scoped`, `emit_pipeline`), "internal", or "" of a GPU. `unpadded`: `one` without the padding
    to tiles. `why`: there are so many buffers. The unit is that of the memory.
    """

    kind: str
    name: str
    array: str
    buffers: int
    one: int
    unpadded: int
    amount: int
    why: str


@dataclasses.dataclass(frozen=True)
class FitEstimate:
    """What a compiler adds, and where: `place` is a line of the user's Python, or "" for the kernel as a whole."""

    what: str
    amount: int
    place: str


@dataclasses.dataclass(frozen=True)
class MemoryFit:
    """One memory: "vmem", "smem", "shared memory", "tensor memory" or "registers of a lane". `unit`: "bytes", "columns" or "registers".

    `held` is certain, `estimate` what the compiler adds, uncertain by as much: `estimates` has its parts; of registers, those of
    `held` that spill. `limit` is the one that holds, `limit_from` says where it comes from, `other_limits` are the rest, as (what, amount).
    `verdict`: "fits", "does not fit" where `held` is over the limit, and "may not fit" where the limit lies between `held` and
    `held + 2 * estimate`.
    """

    memory: str
    unit: str
    verdict: str
    held: int
    estimate: int
    limit: int
    limit_from: str
    other_limits: list[tuple[str, int]]
    rows: list[FitRow]
    estimates: list[FitEstimate]


@dataclasses.dataclass(frozen=True)
class BlockTry:
    """Blocks of another size along one dimension of the grid, which then has `programs` instead of `programs_now`.

    `blocks` has the shapes before and after by operand, in elements; `held` and `estimate` are bytes of VMEM. `adds_grid`: the kernel has no
    grid, and this gives it one over the first dimension of its arrays, which is right if their rows do not depend on each other.
    """

    adds_grid: bool
    grid_dimension: int
    programs_now: int
    programs: int
    held: int
    estimate: int
    verdict: str
    blocks: dict[str, tuple[tuple[int, ...], tuple[int, ...]]]


@dataclasses.dataclass(frozen=True)
class KernelFit:
    """One kernel on one target. `verdict`: the worst of its `memories`; `frames`: the Python lines of the call, (file, line, function), innermost first.

    Of a TPU, `tries` are blocks of other sizes that were counted, `largest` the largest of them that fits (None: none does), `not_tried` the
    dimensions of the grid that were left out, and why. Of a GPU, `blocks_of_sm` is how many blocks an SM holds, `blocks_limit` what limits them.
    `advice`: what would make it fit, "" where it does. `data`: all of it, as `palladion fit --json` has it.
    """

    kernel: str
    target: str
    verdict: str
    frames: list[tuple[str, int, str]]
    memories: list[MemoryFit]
    tries: list[BlockTry]
    largest: BlockTry | None
    not_tried: list[str]
    blocks_of_sm: int | None
    blocks_limit: str
    advice: str
    data: dict

    @property
    def ok(self) -> bool:
        """It fits for certain, as far as it is counted."""
        return self.verdict == "fits"

    def memory(self, name: str) -> MemoryFit:
        """One of the memories; KeyError where the kernel has nothing there."""
        found = {one.memory: one for one in self.memories}
        if name not in found:
            raise KeyError(f"@{self.kernel} holds nothing in {name!r}; it has {', '.join(found)}")
        return found[name]


class Fit(Sequence):
    """The kernels of a function or text, in its order: a sequence of KernelFit. str() is the table of `palladion fit`; notebooks show it as HTML."""

    def __init__(self, kernels: list[KernelFit], text: str):
        self.kernels, self.text = kernels, text

    @property
    def ok(self) -> bool:
        """Every kernel fits for certain, as far as it is counted."""
        return all(one.ok for one in self.kernels)

    @property
    def verdict(self) -> str:
        """The worst: "fits", "may not fit" or "does not fit"."""
        order = ("fits", "may not fit", "does not fit")
        return max((one.verdict for one in self.kernels), key=order.index)

    def __getitem__(self, which):
        return self.kernels[which]

    def __len__(self) -> int:
        return len(self.kernels)

    def __str__(self) -> str:
        return self.text.rstrip("\n")

    def __repr__(self) -> str:
        return f"<Fit of {len(self)} kernel{'s' * (len(self) != 1)}: {self.verdict}>"

    def to_json(self) -> str:
        """What `palladion fit --json` prints: docs/fit.md has its members."""
        return json.dumps({"kernels": [one.data for one in self.kernels]})

    def _repr_html_(self) -> str:
        return "".join(map(_kernel_html, self.kernels))


@short_errors
def fit(f: Callable | str | os.PathLike, *args: Any, target: str | None = None, kernel: str | None = None) -> Fit:
    """Whether the kernels that `f(*args)` calls fit the memories of a chip: VMEM and SMEM of a TPU; shared and tensor memory and registers of a GPU.

    `args` may be arrays or jax.ShapeDtypeStruct, of any shape: nothing runs and nothing of the arrays' size is allocated. `f` may be a kernel
    text or the path of one; `kernel` then names one of several. `target`, or that of the `palladion.target` around the call, must name a chip:
    "v6e", "mosaic_gpu/h100". Sizes are in bytes, of tensor memory in columns, of registers in 32-bit registers of a lane.

    PalladionError: no chip is named, or a backend is not counted (Triton, SparseCores). ExportError: a kernel that kernel text cannot
    express, or an `f` without kernels. ValueError: `kernel` beside a function.
    """
    target = probes.given(target)
    if (source := kernel_texts.source_of(f)) is not None:
        return _fit_of(source[1], kernel, target)
    kernel_texts.expect_function(kernel)
    return _fit_of(export(f, *args, target=target), None, target)


def _fit_of(text: str, kernel: str | None, target: str | None) -> Fit:
    library, encoded, told, message = _library.load(), text.encode(), ctypes.c_void_p(), ctypes.c_void_p()
    names = [None if name is None else name.encode() for name in (kernel, target)]
    found = ctypes.c_void_p(library.palladion_fit(encoded, len(encoded), *names, ctypes.byref(told), ctypes.byref(message)))
    error = _library._take_text(library, message)
    if not found.value:
        raise _library.PalladionError(error or "palladion_fit failed without a message", _library._code_of(error))
    kernels = json.loads(_library._take_text(library, found))["kernels"]
    return Fit([_kernel_fit(one) for one in kernels], _library._take_text(library, told))


def _memory_fit(data: dict) -> MemoryFit:
    return MemoryFit(data["memory"], data["unit"], data["verdict"], data["held"], data["estimate"], data["limit"]["amount"],
                     data["limit"]["what"], [(one["what"], one["amount"]) for one in data["other_limits"]],
                     [FitRow(**one) for one in data["rows"]], [FitEstimate(**one) for one in data["estimates"]])


def _block_try(data: dict) -> BlockTry:
    blocks = {one["name"]: (tuple(one["before"]), tuple(one["after"])) for one in data["blocks"]}
    return BlockTry(**{**data, "blocks": blocks})


def _kernel_fit(data: dict) -> KernelFit:
    search = data["block_search"] or {"tries": [], "largest": None, "not_tried": []}
    tries = [_block_try(one) for one in search["tries"]]
    of_sm = data["blocks_of_sm"]
    return KernelFit(kernel=data["kernel"], target=data["target"], verdict=data["verdict"],
                     frames=[(one["file"], one["line"], one["function"]) for one in data["frames"]],
                     memories=[_memory_fit(one) for one in data["memories"]], tries=tries,
                     largest=None if search["largest"] is None else tries[search["largest"]], not_tried=search["not_tried"],
                     blocks_of_sm=of_sm and of_sm["count"], blocks_limit=of_sm["why"] if of_sm else "", advice=data["advice"], data=data)


def _amount(amount: int, unit: str) -> str:
    if unit != "bytes":
        return f"{amount} {unit}"
    return next((f"{amount / size:.2f} {name}" for name, size in _UNITS if amount >= size), f"{amount} B")


def _table(rows: list[tuple[str, ...]]) -> str:
    cells = ("".join(f"<td>{html.escape(cell)}</td>" for cell in row) for row in rows)
    return "<table>" + "".join(f"<tr>{row}</tr>" for row in cells) + "</table>"


def _memory_html(memory: MemoryFit) -> str:
    rows = [(f"{one.kind} {one.name}".strip(), one.array, f"x{one.buffers}", _amount(one.amount, memory.unit), one.why) for one in memory.rows]
    rows.append(("held", "", "", _amount(memory.held, memory.unit), ""))
    rows += [("estimate", "", "", _amount(one.amount, memory.unit), f"{one.what} {one.place}".strip()) for one in memory.estimates]
    rows.append(("limit", "", "", _amount(memory.limit, memory.unit), memory.limit_from))
    rows += [("(another limit)", "", "", _amount(amount, memory.unit), what) for what, amount in memory.other_limits]
    return f"<p><b>{html.escape(memory.memory)}</b>: {html.escape(memory.verdict)}</p>{_table(rows)}"


def _try_row(one: BlockTry) -> tuple[str, ...]:
    blocks = ", ".join(f"{name} {list(before)} to {list(after)}" for name, (before, after) in one.blocks.items())
    return ("a new one" if one.adds_grid else str(one.grid_dimension), f"{one.programs_now} to {one.programs}", blocks, _amount(one.held + one.estimate, "bytes"),
            one.verdict)


def _kernel_html(one: KernelFit) -> str:
    parts = [f"<p><b>@{html.escape(one.kernel)}</b> on {html.escape(one.target)}: <b>{html.escape(one.verdict)}</b></p>"]
    parts += map(_memory_html, one.memories)
    if one.blocks_of_sm is not None:
        parts.append(f"<p>blocks of an SM: {one.blocks_of_sm}; {html.escape(one.blocks_limit)}</p>")
    if one.advice:
        parts.append(f"<p>to make it fit: {html.escape(one.advice)}</p>")
    if one.tries:
        parts.append("<p>other blocks</p>" + _table([("grid dimension", "programs", "blocks", "held and estimated", ""), *map(_try_row, one.tries)]))
    return "".join(parts)
