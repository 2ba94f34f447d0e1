"""`palladion.fit` and its `over`: a function of block sizes, traced and judged with each candidate;
nothing runs (docs/reference/fit.md).
"""

import dataclasses
import html
import itertools
import json
import math
import numbers
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from palladion.api import kernel_texts
from palladion.api.fitting import Fit, amount_text, fit_of, html_table
from palladion.jax import probes
from palladion.report.short_errors import short_errors


@dataclasses.dataclass(frozen=True)
class Candidate:
    """The kernels of `f(*args, **sizes)`. `fit` is None where they could not be traced or counted,
    and `error` says why.

    `copied`: of a TPU, the bytes that the pipelines copy, of all kernels; `programs`: of all their grids;
        None where that is not known.
    `occupancy`: of a GPU, which part of an SM's lanes is taken, of the kernel that takes least.
    """

    sizes: dict[str, Any]
    fit: Fit | None
    error: str = ""

    @property
    def verdict(self) -> str:
        """ "fits", "may not fit", "does not fit"; "refused" by the function, JAX or the target;
        "may be refused" by the target's compiler.
        """
        if self.fit is None or self._is_empty() or any(one.code == "ILLEGAL" for one in self._refusals()):
            return "refused"
        if self.fit.ok and self._refusals():
            return "may be refused"
        return self.fit.verdict

    @property
    def ok(self) -> bool:
        """It fits for certain, as far as it is counted, and nothing of it is known to be refused."""
        return self.verdict == "fits"

    @property
    def why(self) -> str:
        """Why it is refused, or may be, or which memory it does not fit; "" of one that fits."""
        empty = "its grid has no programs" if self._is_empty() else ""
        refused = next((f"{one.code} at {one.place}: {one.message}" for one in self._refusals()), "")
        return self.error or empty or refused or ", ".join(self._too_small())

    @property
    def copied(self) -> int | None:
        return _sum(one.copied for one in self.fit or ())

    @property
    def programs(self) -> int | None:
        return _sum(one.programs for one in self.fit or ())

    @property
    def occupancy(self) -> float | None:
        known = [one.occupancy for one in self.fit or () if one.occupancy is not None]
        return min(known, default=None)

    def _is_empty(self) -> bool:
        """What a block larger than its array makes of `size // block`: a kernel that does nothing, which JAX takes."""
        return any(one.programs == 0 for one in self.fit or ())

    def _too_small(self) -> list[str]:
        memories = [memory for one in self.fit or () for memory in one.memories if memory.verdict != "fits"]
        return [f"{memory.memory}: {amount_text(memory.limit, memory.unit)} at most" for memory in memories]

    def _refusals(self) -> list:
        return [refusal for one in self.fit or () for refusal in one.refusals]


class FitOver(Sequence):
    """What `palladion.fit(f, *args, over=...)` returns: the candidates, in their order. str() is a table of them;
    notebooks show it as HTML.

    largest: of the candidates that fit, the one that copies the fewest bytes (of a TPU), of these the one with the
        fewest programs, and of these the one with the largest sizes. None where none fits.
    most_resident: of a GPU, the one whose blocks take the largest part of an SM's lanes, and of these the one with the
        fewest programs. None where none fits.
    """

    def __init__(self, candidates: list[Candidate]):
        self.candidates = candidates
        fitting = [one for one in candidates if one.ok]
        resident = [one for one in fitting if one.occupancy is not None]
        self.largest: Candidate | None = min(fitting, key=_by_work, default=None)
        self.most_resident: Candidate | None = min(
            resident, key=lambda one: (-one.occupancy, _by_work(one)), default=None
        )

    def __getitem__(self, which):
        return self.candidates[which]

    def __len__(self) -> int:
        return len(self.candidates)

    def __str__(self) -> str:
        rows = [self._row(one) for one in self.candidates]
        widths = [max(map(len, column)) for column in zip(*(row[:-1] for row in rows))]
        lines = [
            "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths)), row[-1]]).rstrip() for row in rows
        ]
        return "\n".join([self._head(), *(f"  {line}" for line in lines), *self._named()])

    def __repr__(self) -> str:
        return f"<FitOver {len(self)} candidates: {sum(one.ok for one in self)} fit>"

    def to_json(self) -> str:
        """One object: docs/reference/fit.md has its members."""
        judged = [
            {
                "sizes": one.sizes,
                "verdict": one.verdict,
                "why": one.why,
                "kernels": [kernel.data for kernel in one.fit or ()],
            }
            for one in self.candidates
        ]
        return json.dumps(
            {
                "candidates": judged,
                "largest": self._number(self.largest),
                "most_resident": self._number(self.most_resident),
            },
            default=str,
        )

    def _repr_html_(self) -> str:
        named = "".join(f"<p>{html.escape(line)}</p>" for line in self._named())
        return f"<p>{html.escape(self._head())}</p>{html_table(list(map(self._row, self.candidates)))}{named}"

    def _number(self, candidate: Candidate | None) -> int | None:
        return next((number for number, one in enumerate(self.candidates) if one is candidate), None)

    def _head(self) -> str:
        targets = sorted({kernel.target for one in self.candidates for kernel in one.fit or ()})
        return f"{len(self)} candidates on {', '.join(targets)}: {sum(one.ok for one in self)} fit"

    def _named(self) -> list[str]:
        if self.largest is None:
            return ["none fits"]
        lines = [f"the largest that fits: {_sizes_text(self.largest)}"]
        if self.most_resident is not None:
            lines.append(f"most lanes of an SM: {_sizes_text(self.most_resident)}, {self.most_resident.occupancy:.0%}")
        return lines

    def _row(self, one: Candidate) -> tuple[str, ...]:
        return (
            _sizes_text(one),
            *_counted(one),
            one.verdict + (", the largest" if one is self.largest else "") + (f": {one.why}" if one.why else ""),
        )


@short_errors
def fit(
    f: Callable | str | os.PathLike,
    *args: Any,
    target: str | None = None,
    kernel: str | None = None,
    over: Mapping[str, Iterable] | Iterable[Mapping[str, Any]] | None = None,
) -> Fit | FitOver:
    """Whether the kernels that `f(*args)` calls fit the memories of a chip: VMEM and SMEM of a TPU;
    shared and tensor memory and registers of a GPU.

    `args` may be arrays or jax.ShapeDtypeStruct, of any shape: nothing runs and nothing of the arrays' size is
    allocated. `f` may be a kernel text or the path of one; `kernel` then names one of several. `target`, or that of the
    `palladion.target` around the call, must name a chip: "v6e", "mosaic_gpu/h100". Sizes are in bytes, of tensor memory
    in columns, of registers in 32-bit registers of a lane.

    With `over`, `f(*args, **sizes)` is judged with each of several sizes: every combination of {"bm": [64, 128], "bn":
    [64, 128]}, or those of a list, [{"bm": 64, "bn": 128}, ...]. The result is a FitOver, which names the largest that
    fits. Sizes that `f` or JAX refuses are candidates too, and say why.

    PalladionError: no chip is named, or a backend is not counted (SparseCores).
    ExportError: a kernel that kernel text cannot express, or an `f` without kernels.
    ValueError: `kernel` beside a function, `over` beside a text or without sizes. With `over` an error of all
        candidates is that of the first.
    """
    target = probes.given(target)
    if over is None:
        return fit_of(f, args, target, kernel)
    if kernel_texts.source_of(f) is not None:
        raise ValueError("over gives a function its sizes; found a kernel text, whose sizes are fixed")
    kernel_texts.expect_function(kernel)
    candidates, errors = [], []
    for sizes in candidates_of(over, "over"):
        try:
            candidates.append(Candidate(sizes, fit_of(lambda *given, sizes=sizes: f(*given, **sizes), args, target)))
        except Exception as error:  # of the function itself, too: what it says of these sizes
            errors.append(error)
            candidates.append(Candidate(sizes, None, first_line(error)))
    if len(errors) == len(candidates):
        raise errors[0]
    return FitOver(candidates)


def candidates_of(over: Mapping[str, Iterable] | Iterable[Mapping[str, Any]], option: str) -> list[dict[str, Any]]:
    """Every combination of the sizes, or those of the list; ValueError, with the option's name, for none."""
    if not isinstance(over, Mapping):
        found = [dict(one) for one in over]
    else:
        lists = {name: list(sizes) for name, sizes in over.items()}
        found = [dict(zip(lists, sizes)) for sizes in itertools.product(*lists.values())] if lists else []
    if not found:
        raise ValueError(f"{option} has the sizes to try, {{'bm': [64, 128]}}; found none in {over!r}")
    return found


def first_line(error: Exception) -> str:
    """What is wrong, without the frames and notes below it."""
    return f"{type(error).__name__}: {(str(error).strip() or 'without a message').splitlines()[0]}"


def _sum(amounts: Iterable[int | None]) -> int | None:
    known = list(amounts)
    return None if not known or None in known else sum(known)


def _by_work(one: Candidate) -> tuple:
    sizes = math.prod(size for size in one.sizes.values() if isinstance(size, numbers.Number))
    return (one.copied or 0, one.programs or 0, -sizes)


def _sizes_text(one: Candidate) -> str:
    return " ".join(f"{name}={size}" for name, size in one.sizes.items())


def _counted(one: Candidate) -> tuple[str, str]:
    """Each memory of the kernel that has most in it, and how much work there is."""
    memories = {}
    for memory in (memory for kernel in one.fit or () for memory in kernel.memories):
        known = memories.get(memory.memory)
        if known is None or memory.held + memory.estimate > known.held + known.estimate:
            memories[memory.memory] = memory
    held = ", ".join(_memory_text(memory) for memory in memories.values())
    work = [] if one.programs is None else [f"{one.programs} programs"]
    work += [] if one.copied is None else [f"copies {amount_text(one.copied)}"]
    work += [] if one.occupancy is None else [f"{one.occupancy:.0%} of an SM"]
    return held, ", ".join(work)


def _memory_text(memory) -> str:
    held = amount_text(memory.held if memory.unit == "registers" else memory.held + memory.estimate, memory.unit)
    name = "" if memory.unit == "registers" else f" of {memory.memory}"
    return f"{held}{name}"
