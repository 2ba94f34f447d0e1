"""`palladion.fit`: what a function's kernels hold in the memories of a chip, and whether that fits
(docs/reference/fit.md). Nothing runs.
"""

import ctypes
import dataclasses
import html
import json
import os
from collections.abc import Callable, Sequence

from palladion import _library
from palladion.api import kernel_texts
from palladion.jax.interception import export

_UNITS = (("MiB", 1 << 20), ("KiB", 1 << 10))
_LANES_OF_SM = 2048


@dataclasses.dataclass(frozen=True)
class FitRow:
    """What is held under one name: `buffers` arrays `array` of `one` each, `amount` in all.

    `kind` is "operand", "scratch", "scope" (`run_scoped`, `emit_pipeline`), "internal", or "" of a GPU. `unpadded`:
    `one` without the padding to tiles. `why`: there are so many buffers. The unit is that of the memory.
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
    """One memory: "vmem", "smem", "vmem of a subcore", "shared memory", "tensor memory" or "registers of a lane".
    `unit`: "bytes", "columns" or "registers".

    `held` is certain, `estimate` what the compiler adds, uncertain by as much: `estimates` has its parts; of registers,
    those of `held` that spill. `limit` is the one that holds, `limit_from` says where it comes from,
    `other_limits` are the rest, as (what, amount).
    `verdict`: "fits", "does not fit" where `held` is over the limit, and "may not fit" where the limit lies between
    `held` and `held + 2 * estimate`.
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
    """Blocks of other sizes along some dimensions of the grid: `grid` has the programs now and then of each,
    by its number.

    `blocks` has the shapes before and after by operand, in elements; `held` and `estimate` are bytes of VMEM, `copied`
    those that the pipeline copies over the whole grid. `adds_grid`: the kernel has no grid, and this gives it one over
    the first dimension of its arrays, which is right if their rows do not depend on each other.
    """

    adds_grid: bool
    grid: dict[int, tuple[int, int]]
    held: int
    estimate: int
    copied: int | None
    verdict: str
    blocks: dict[str, tuple[tuple[int, ...], tuple[int, ...]]]


@dataclasses.dataclass(frozen=True)
class FitRefusal:
    """What the target refuses of a kernel, or its compiler may,
    whether or not it fits: `code` is ILLEGAL or COMPILER.
    """

    code: str
    place: str
    message: str


@dataclasses.dataclass(frozen=True)
class KernelFit:
    """One kernel on one target. `verdict`: the worst of its `memories`;
    `frames`: the Python lines of the call, (file, line, function), innermost first.

    `programs` are those of the grid (of a GPU its blocks; None where that is a number of the run), `refusals` what the
    target refuses of it. Of a TPU, `copied` is what the pipeline copies into and out of blocks, in bytes, `tries` are
    blocks of other sizes that were counted, `largest` the one of them that fits and copies least (None: none fits),
    `stops` why that is no larger, `not_tried` the dimensions of the grid that were left out, and why. Of a GPU,
    `blocks_of_sm` is how many blocks an SM holds, `blocks_limit` what limits them, `block_lanes` the lanes of one.
    `not_counted`: what is known to be missing. `advice`: what would make it fit, "" where it does.
    `data`: all of it, as `palladion fit --json` has it.
    """

    kernel: str
    target: str
    verdict: str
    frames: list[tuple[str, int, str]]
    programs: int | None
    copied: int | None
    memories: list[MemoryFit]
    tries: list[BlockTry]
    largest: BlockTry | None
    stops: list[str]
    not_tried: list[str]
    blocks_of_sm: int | None
    blocks_limit: str
    block_lanes: int | None
    advice: str
    refusals: list[FitRefusal]
    not_counted: list[str]
    data: dict

    @property
    def occupancy(self) -> float | None:
        """Of a GPU: which part of an SM's lanes its blocks have at once, 1.0 at most."""
        return None if self.blocks_of_sm is None else self.blocks_of_sm * self.block_lanes / _LANES_OF_SM

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
    """The kernels of a function or text, in its order: a sequence of KernelFit. str() is the table of `palladion fit`;
    notebooks show it as HTML.
    """

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
        """What `palladion fit --json` prints: docs/reference/fit.md has its members."""
        return json.dumps({"kernels": [one.data for one in self.kernels]})

    def _repr_html_(self) -> str:
        return "".join(map(_kernel_html, self.kernels))


def fit_of(f: Callable | str | os.PathLike, args: Sequence, target: str | None, kernel: str | None = None) -> Fit:
    """The kernels of a function or text on a target."""
    if (source := kernel_texts.source_of(f)) is not None:
        return _fit_of(source[1], kernel, target)
    kernel_texts.expect_function(kernel)
    return _fit_of(export(f, *args, target=target), None, target)


def _fit_of(text: str, kernel: str | None, target: str | None) -> Fit:
    library, encoded, text_out, error = _library.load(), text.encode(), ctypes.c_void_p(), _library._Error()
    names = [None if name is None else name.encode() for name in (kernel, target)]
    found = ctypes.c_void_p(
        library.palladion_fit(encoded, len(encoded), *names, ctypes.byref(text_out), ctypes.byref(error))
    )
    _library._expect(error, found.value, "palladion_fit failed without a message")
    kernels = json.loads(_library._take_text(library, found))["kernels"]
    return Fit([_kernel_fit(one) for one in kernels], _library._take_text(library, text_out))


def _memory_fit(data: dict) -> MemoryFit:
    return MemoryFit(
        data["memory"],
        data["unit"],
        data["verdict"],
        data["held"],
        data["estimate"],
        data["limit"]["amount"],
        data["limit"]["what"],
        [(one["what"], one["amount"]) for one in data["other_limits"]],
        [FitRow(**one) for one in data["rows"]],
        [FitEstimate(**one) for one in data["estimates"]],
    )


def _block_try(data: dict) -> BlockTry:
    blocks = {one["name"]: (tuple(one["before"]), tuple(one["after"])) for one in data["blocks"]}
    grid = {one["dimension"]: (one["programs_now"], one["programs"]) for one in data["grid"]}
    return BlockTry(**{**data, "grid": grid, "blocks": blocks})


def _kernel_fit(data: dict) -> KernelFit:
    search = data["block_search"] or {"tries": [], "largest": None, "stops": [], "not_tried": []}
    tries = [_block_try(one) for one in search["tries"]]
    of_sm = data["blocks_of_sm"]
    return KernelFit(
        kernel=data["kernel"],
        target=data["target"],
        verdict=data["verdict"],
        frames=[(one["file"], one["line"], one["function"]) for one in data["frames"]],
        programs=data["programs"],
        copied=data["copied"],
        memories=[_memory_fit(one) for one in data["memories"]],
        tries=tries,
        largest=None if search["largest"] is None else tries[search["largest"]],
        stops=search["stops"],
        not_tried=search["not_tried"],
        blocks_of_sm=of_sm and of_sm["count"],
        blocks_limit=of_sm["why"] if of_sm else "",
        block_lanes=of_sm and of_sm["lanes"],
        advice=data["advice"],
        refusals=[FitRefusal(**one) for one in data["refusals"]],
        not_counted=data["not_counted"],
        data=data,
    )


def amount_text(amount: int, unit: str = "bytes") -> str:
    if unit != "bytes":
        return f"{amount} {unit}"
    return next((f"{amount / size:.2f} {name}" for name, size in _UNITS if amount >= size), f"{amount} B")


def html_table(rows: list[tuple[str, ...]]) -> str:
    cells = ("".join(f"<td>{html.escape(cell)}</td>" for cell in row) for row in rows)
    return "<table>" + "".join(f"<tr>{row}</tr>" for row in cells) + "</table>"


def _memory_html(memory: MemoryFit) -> str:
    rows = [
        (f"{one.kind} {one.name}".strip(), one.array, f"x{one.buffers}", amount_text(one.amount, memory.unit), one.why)
        for one in memory.rows
    ]
    rows.append(("held", "", "", amount_text(memory.held, memory.unit), ""))
    rows += [
        ("estimate", "", "", amount_text(one.amount, memory.unit), f"{one.what} {one.place}".strip())
        for one in memory.estimates
    ]
    rows.append(("limit", "", "", amount_text(memory.limit, memory.unit), memory.limit_from))
    rows += [
        ("(another limit)", "", "", amount_text(amount, memory.unit), what) for what, amount in memory.other_limits
    ]
    return f"<p><b>{html.escape(memory.memory)}</b>: {html.escape(memory.verdict)}</p>{html_table(rows)}"


def _try_row(one: BlockTry) -> tuple[str, ...]:
    blocks = ", ".join(f"{name} {list(before)} to {list(after)}" for name, (before, after) in one.blocks.items())
    grid = ", ".join(
        f"{'a new one' if one.adds_grid else number}: {now} to {then}" for number, (now, then) in one.grid.items()
    )
    return (
        grid,
        blocks,
        amount_text(one.held + one.estimate),
        "" if one.copied is None else amount_text(one.copied),
        one.verdict,
    )


def _kernel_html(one: KernelFit) -> str:
    parts = [
        f"<p><b>@{html.escape(one.kernel)}</b> on {html.escape(one.target)}: <b>{html.escape(one.verdict)}</b></p>"
    ]
    parts += map(_memory_html, one.memories)
    if one.blocks_of_sm is not None:
        parts.append(f"<p>blocks of an SM: {one.blocks_of_sm}; {html.escape(one.blocks_limit)}</p>")
    if one.advice:
        parts.append(f"<p>to make it fit: {html.escape(one.advice)}</p>")
    if one.tries:
        parts.append(
            "<p>other blocks</p>"
            + html_table([("grid dimension", "blocks", "held and estimated", "copied", ""), *map(_try_row, one.tries)])
        )
    parts += [f"<p>no larger along {html.escape(why)}</p>" for why in one.stops]
    parts += [f"<p>not counted: {html.escape(what)}</p>" for what in one.not_counted]
    parts += [f"<p>{one.code} at {html.escape(one.place)}: {html.escape(one.message)}</p>" for one in one.refusals]
    return "".join(parts)
